/**
 * Markers that stand for what was taken out: secrets become chips, media
 * become marks. Equal chips light up together.
 */
import { bytes } from '../base/format';
import { button, el } from '../base/dom';
import { icon } from '../base/icons';

const MARKER = /<redacted:([a-z0-9-]{1,64}):([0-9a-f]{6})>|<media:([^;<>\s]{1,100});bytes=(\d{1,15});sha256=([0-9a-f]{6,64})>/g;

let lit = '';

/** Appends text to an element, with chips in place of markers. */
export function appendText(parent: Node, text: string): void {
  if (!text.includes('<redacted:') && !text.includes('<media:')) {
    parent.appendChild(document.createTextNode(text));
    return;
  }
  let from = 0;
  for (const match of text.matchAll(MARKER)) {
    if (match.index > from) parent.appendChild(document.createTextNode(text.slice(from, match.index)));
    parent.appendChild(match[1] ? chip(match[1], match[2]) : mediaMark(match[3], Number(match[4]), match[5]));
    from = match.index + match[0].length;
  }
  if (from < text.length) parent.appendChild(document.createTextNode(text.slice(from)));
}

function chip(kind: string, hex: string): HTMLElement {
  const marker = `${kind}:${hex}`;
  return el('button', {
    type: 'button',
    class: marker === lit ? 'rx on' : 'rx',
    'data-marker': marker,
    'aria-label': `redacted ${kind}, ${hex}`,
  }, icon('lock'), marker);
}

/** A picture, a sound or a document that is not in the bundle. */
export function mediaMark(type: string, size: number | null, digest: string | null, note = 'not in this bundle'): HTMLElement {
  return el('span.media', null,
    el('span.ph', null, icon('image')),
    el('span', null,
      el('b', null, type), size === null ? null : ` · ${bytes(size)}`,
      el('br'), note, digest ? ` · sha256 ${digest.slice(0, 12)}` : null));
}

const PICTURES = /^image\/(png|jpeg|gif|webp)$/;

function member(value: Record<string, unknown>, ...names: string[]): string {
  for (const name of names) {
    const found = value[name];
    if (typeof found === 'string') return found;
  }
  return '';
}

/** An image block: the picture if the bundle has its data, otherwise a mark. */
export function imageBlock(value: Record<string, unknown>): HTMLElement {
  const source = typeof value['source'] === 'object' && value['source'] !== null ? (value['source'] as Record<string, unknown>) : value;
  let data = member(source, 'data', 'image_url', 'url');
  let type = member(source, 'media_type', 'mediaType', 'mimeType', 'mime_type');
  const marker = [...data.matchAll(MARKER)].find((match) => match[3]);
  if (marker) return mediaMark(marker[3], Number(marker[4]), marker[5]);
  const uri = /^data:([a-z]+\/[a-z0-9.+-]+);base64,/.exec(data);
  if (uri) {
    type = uri[1];
    data = data.slice(uri[0].length);
  }
  if (PICTURES.test(type) && /^[A-Za-z0-9+/]+={0,2}$/.test(data)) {
    const picture = el('img.picture', { alt: member(value, 'alt', 'name', 'fileName') || 'image from the run' });
    picture.loading = 'lazy';
    picture.src = `data:${type};base64,${data}`;
    return picture;
  }
  const size = value['bytes'] ?? source['bytes'];
  return mediaMark(type || String(value['type'] ?? 'media'), typeof size === 'number' ? size : null, member(source, 'sha256') || null);
}

/** A link of the data: its address as text and a button that copies it. */
export function inertLink(address: string, copyText: (text: string) => void): HTMLElement {
  return button('btn q ic cplink', `Copy link ${address}`, () => copyText(address), icon('link'));
}

function light(marker: string): void {
  if (marker === lit) return;
  lit = marker;
  for (const chipElement of document.querySelectorAll<HTMLElement>('.rx')) {
    chipElement.classList.toggle('on', marker !== '' && chipElement.dataset['marker'] === marker);
  }
}

export interface ChipWatcher {
  /** A chip was pointed at: `null` when the pointer leaves. */
  over(marker: string | null, chip: HTMLElement | null): void;
  /** A chip was activated. */
  next(marker: string, chip: HTMLElement): void;
}

/** Makes chips react, wherever they are drawn. */
export function watchChips(watcher: ChipWatcher): void {
  const find = (event: Event): HTMLElement | null =>
    event.target instanceof Element ? event.target.closest<HTMLElement>('.rx') : null;
  const enter = (event: Event): void => {
    const chipElement = find(event);
    if (!chipElement) return;
    light(chipElement.dataset['marker'] ?? '');
    watcher.over(lit, chipElement);
  };
  const leave = (event: Event): void => {
    if (!find(event)) return;
    light('');
    watcher.over(null, null);
  };
  document.addEventListener('mouseover', enter);
  document.addEventListener('focusin', enter);
  document.addEventListener('mouseout', leave);
  document.addEventListener('focusout', leave);
  document.addEventListener('click', (event) => {
    const chipElement = find(event);
    if (chipElement) watcher.next(chipElement.dataset['marker'] ?? '', chipElement);
  });
}
