/** The icons of the page: strokes on a grid of 16 units. */
import { svg } from './dom';

const PATHS = {
  search: ['M7 11.5a4.5 4.5 0 1 1 0-9 4.5 4.5 0 0 1 0 9Z', 'm10.4 10.4 3.6 3.6'],
  moon: ['M13.4 9.6A5.8 5.8 0 0 1 6.4 2.6 5.8 5.8 0 1 0 13.4 9.6Z'],
  help: ['M8 14.2A6.2 6.2 0 1 1 8 1.8a6.2 6.2 0 0 1 0 12.4Z', 'M6.2 6.3c.1-2.4 3.7-2.3 3.6 0 0 1.4-1.8 1.5-1.8 2.9', 'M8 11.3v.1'],
  cross: ['M8 14.2A6.2 6.2 0 1 1 8 1.8a6.2 6.2 0 0 1 0 12.4Z', 'm5.8 5.8 4.4 4.4', 'm10.2 5.8-4.4 4.4'],
  close: ['m4 4 8 8', 'm12 4-8 8'],
  check: ['m3 8.6 3.2 3.2L13 4.6'],
  up: ['m4 10 4-4 4 4'],
  down: ['m4 6 4 4 4-4'],
  right: ['m6 4 4 4-4 4'],
  clock: ['M8 14.2A6.2 6.2 0 1 1 8 1.8a6.2 6.2 0 0 1 0 12.4Z', 'M8 4.6V8l2.4 1.6'],
  steps: ['M2 13h3.6V9.4h3.6V5.8h3.6V3'],
  compact: ['M8 1.6v4', 'm6 4 2 2 2-2', 'M8 14.4v-4', 'm6 12 2-2 2 2', 'M2.6 8h10.8'],
  retry: ['M13 8a5 5 0 1 1-1.5-3.6', 'M13.2 2.2v3h-3'],
  flag: ['M3.6 14.4V2', 'M3.6 2.6h8.8l-2 3 2 3H3.6'],
  lock: ['M3.8 7.2h8.4v6.4H3.8Z', 'M5.6 7V5a2.4 2.4 0 0 1 4.8 0v2'],
  link: ['M6.6 9.4a2.4 2.4 0 0 0 3.5 0l2.6-2.6a2.5 2.5 0 0 0-3.5-3.5l-.9.9', 'M9.4 6.6a2.4 2.4 0 0 0-3.5 0L3.3 9.2a2.5 2.5 0 0 0 3.5 3.5l.9-.9'],
  copy: ['M5.6 5.6h8v8h-8Z', 'M3.4 10.4h-1v-8h8v1'],
  person: ['M8 8a2.6 2.6 0 1 1 0-5.2A2.6 2.6 0 0 1 8 8Z', 'M3.2 13.6c.6-4 9-4 9.6 0'],
  spark: ['M8 2.4 9.4 6.6 13.6 8 9.4 9.4 8 13.6 6.6 9.4 2.4 8l4.2-1.4Z'],
  dots: ['M3.4 8h.1', 'M8 8h.1', 'M12.6 8h.1'],
  terminal: ['m3.4 5 3 3-3 3', 'M8.4 11.4h4.2'],
  page: ['M4 2h5.2L12 4.8V14H4Z', 'M9 2.2V5h2.8'],
  pencil: ['M3 13l.7-3L10.4 3.3l2.3 2.3L6 12.3Z'],
  branch: ['M4.4 2.4v7a3 3 0 0 0 3 3h2', 'M4.4 5.4h5', 'M11.6 7a1.6 1.6 0 1 1 0-3.2 1.6 1.6 0 0 1 0 3.2Z', 'M11.6 14a1.6 1.6 0 1 1 0-3.2 1.6 1.6 0 0 1 0 3.2Z'],
  image: ['M2.4 3h11.2v10H2.4Z', 'm2.8 11.4 3.2-3.2 2.4 2.4 2-2 3 3', 'M10.4 6v.1'],
  gear: ['M8 10.2a2.2 2.2 0 1 1 0-4.4 2.2 2.2 0 0 1 0 4.4Z', 'M8 1.8v2', 'M8 12.2v2', 'M1.8 8h2', 'M12.2 8h2', 'm3.6 3.6 1.4 1.4', 'm11 11 1.4 1.4', 'm12.4 3.6-1.4 1.4', 'm5 11-1.4 1.4'],
  warning: ['M8 2.4 14.4 13.4H1.6Z', 'M8 6.4v3.2', 'M8 11.5v.1'],
  play: ['M5 3.4v9.2L12.4 8Z'],
  stop: ['M4 4h8v8H4Z'],
  print: ['M4.4 6V2.4h7.2V6', 'M4.4 11.4H2.6V6h10.8v5.4h-1.8', 'M4.4 9.4h7.2v4.2H4.4Z'],
} as const;

export type IconName = keyof typeof PATHS;

export function icon(name: IconName, className = ''): SVGSVGElement {
  return svg(PATHS[name], `i ${className}`.trim());
}

/** The sign of traj: a path with one mark on it. */
export function sign(): SVGSVGElement {
  const drawing = svg(['M2 12.4C5 12.4 5.2 4 7.6 4s2.8 6.4 6.4 6.8'], 'i sign');
  const mark = document.createElementNS('http://www.w3.org/2000/svg', 'circle');
  for (const [name, value] of [['cx', '7.6'], ['cy', '4'], ['r', '1.9'], ['class', 'mark']]) mark.setAttribute(name, value);
  drawing.appendChild(mark);
  return drawing;
}
