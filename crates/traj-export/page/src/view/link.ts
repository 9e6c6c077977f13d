/** Links to events: `#e12` is the twelfth item of the story. */
import { copy, toast } from '../base/dom';
import { nameOf, type Run } from '../base/run';

/** The item that the address names, or -1. */
export function itemInAddress(length: number): number {
  const match = /^#e(\d{1,9})$/.exec(window.location.hash);
  const item = match ? Number(match[1]) - 1 : -1;
  return item < length ? item : -1;
}

/** Puts the chosen item into the address without a new entry in the history. */
export function writeAddress(run: Run): void {
  if (run.selected < 0) return;
  try {
    window.history.replaceState(null, '', `#${nameOf(run.selected)}`);
  } catch {
    // A page inside a mail client may not have a history.
  }
}

export function copyLink(run: Run): void {
  if (run.selected < 0) return toast('Choose an event first');
  const address = window.location.href.replace(/#.*$/, '');
  void copy(`${address}#${nameOf(run.selected)}`, 'Link');
}

/** Follows links on this page, also those to the item that the address already names. */
export function watchLinks(length: number, go: (item: number) => void): void {
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a[href^="#e"]') : null;
    if (!link || link.classList.contains('id')) return;
    const match = /^#e(\d{1,9})$/.exec(link.getAttribute('href') ?? '');
    if (!match) return;
    event.preventDefault();
    go(Number(match[1]) - 1);
  });
  window.addEventListener('hashchange', () => {
    const item = itemInAddress(length);
    if (item >= 0) go(item);
  });
}
