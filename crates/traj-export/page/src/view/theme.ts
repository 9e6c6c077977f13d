/** Light and dark: the system's choice until somebody makes another. */
import { forgetColours } from '../plot/canvas';

const dark = window.matchMedia('(prefers-color-scheme: dark)');
let chosen: 'light' | 'dark' | null = null;

function current(): 'light' | 'dark' {
  return chosen ?? (dark.matches ? 'dark' : 'light');
}

function apply(name: 'light' | 'dark', changed: () => void): void {
  document.documentElement.dataset['theme'] = name;
  forgetColours();
  changed();
}

export function startTheme(changed: () => void): void {
  document.documentElement.dataset['theme'] = current();
  dark.addEventListener('change', () => apply(current(), changed));
}

export function toggleTheme(changed: () => void): void {
  chosen = current() === 'dark' ? 'light' : 'dark';
  apply(chosen, changed);
}

/** Paper is light, whatever the screen shows. Returns what undoes it. */
export function lightForPrint(changed: () => void): () => void {
  const before = current();
  apply('light', changed);
  return () => apply(before, changed);
}
