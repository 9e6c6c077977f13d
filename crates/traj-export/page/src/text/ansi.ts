/** Terminal colours: select graphic rendition only; every other sequence is dropped. */
import { appendText } from './chips';

/** The look of the text that follows. Colours are 0 to 15; -1 is the default. */
export interface Look {
  colour: number;
  back: number;
  bold: boolean;
  dim: boolean;
  italic: boolean;
  underline: boolean;
  inverse: boolean;
}

export const PLAIN: Readonly<Look> = {
  colour: -1, back: -1, bold: false, dim: false, italic: false, underline: false, inverse: false,
};

const SEQUENCE = /\x1b(?:\[([0-?]*)([ -/]*[@-~])|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])/g;

/** The nearest of the 16 colours to one of the 256. */
function nearest256(number: number): number {
  if (number < 16) return number;
  if (number >= 232) return number < 238 ? 8 : number < 250 ? 7 : 15;
  const cube = number - 16;
  return nearestRgb((Math.floor(cube / 36) * 255) / 5, ((Math.floor(cube / 6) % 6) * 255) / 5, ((cube % 6) * 255) / 5);
}

function nearestRgb(red: number, green: number, blue: number): number {
  const most = Math.max(red, green, blue);
  if (most < 48) return 0;
  if (most - Math.min(red, green, blue) < 32) return most < 140 ? 8 : 7;
  const bit = (value: number, place: number) => (value > most * 0.6 ? place : 0);
  return bit(red, 1) | bit(green, 2) | bit(blue, 4) | (most > 190 ? 8 : 0);
}

/** Reads an extended colour; returns the colour and how many numbers it took. */
function extended(codes: number[], at: number): [number, number] {
  if (codes[at + 1] === 5) return [nearest256(codes[at + 2] ?? 0), 2];
  if (codes[at + 1] === 2) return [nearestRgb(codes[at + 2] ?? 0, codes[at + 3] ?? 0, codes[at + 4] ?? 0), 4];
  return [-1, 1];
}

function apply(look: Look, parameters: string): Look {
  const next = { ...look };
  const codes = parameters === '' ? [0] : parameters.split(/[;:]/).map(Number);
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at];
    if (code === 0) Object.assign(next, PLAIN);
    else if (code === 1) next.bold = true;
    else if (code === 2) next.dim = true;
    else if (code === 3) next.italic = true;
    else if (code === 4) next.underline = true;
    else if (code === 7) next.inverse = true;
    else if (code === 22) next.bold = next.dim = false;
    else if (code === 23) next.italic = false;
    else if (code === 24) next.underline = false;
    else if (code === 27) next.inverse = false;
    else if (code >= 30 && code <= 37) next.colour = code - 30;
    else if (code >= 90 && code <= 97) next.colour = code - 90 + 8;
    else if (code === 39) next.colour = -1;
    else if (code >= 40 && code <= 47) next.back = code - 40;
    else if (code >= 100 && code <= 107) next.back = code - 100 + 8;
    else if (code === 49) next.back = -1;
    else if (code === 38 || code === 48) {
      const [colour, used] = extended(codes, at);
      if (code === 38) next.colour = colour;
      else next.back = colour;
      at += used;
    }
  }
  return next;
}

function classes(look: Look): string {
  const names: string[] = [];
  if (look.colour >= 0) names.push(`f${look.colour}`);
  if (look.back >= 0) names.push(`g${look.back}`);
  if (look.bold) names.push('ab');
  if (look.dim) names.push('ad');
  if (look.italic) names.push('ai');
  if (look.underline) names.push('au');
  if (look.inverse) names.push('an');
  return names.join(' ');
}

function appendStyled(parent: Node, text: string, look: Look): void {
  if (text === '') return;
  const name = classes(look);
  if (name === '') return appendText(parent, text);
  const span = document.createElement('span');
  span.className = name;
  appendText(span, text);
  parent.appendChild(span);
}

/** Appends a line and returns the look that the next line begins with. */
export function appendAnsi(parent: Node, text: string, look: Readonly<Look>): Readonly<Look> {
  if (!text.includes('\x1b')) {
    appendStyled(parent, text, look);
    return look;
  }
  let current = look;
  let from = 0;
  for (const match of text.matchAll(SEQUENCE)) {
    appendStyled(parent, text.slice(from, match.index), current);
    if (match[2] === 'm') current = apply(current, match[1] ?? '');
    from = match.index + match[0].length;
  }
  appendStyled(parent, text.slice(from), current);
  return current;
}

/** The look after a line, without drawing it. */
export function lookAfter(text: string, look: Readonly<Look>): Readonly<Look> {
  if (!text.includes('\x1b')) return look;
  let current = look;
  for (const match of text.matchAll(SEQUENCE)) if (match[2] === 'm') current = apply(current, match[1] ?? '');
  return current;
}
