/**
 * Long text by lines: first and last lines with a gap, then everything. Above
 * a limit only the lines in sight are drawn.
 */
import { button, copy, el, size } from '../base/dom';
import { count, whole } from '../base/format';
import { icon } from '../base/icons';
import { appendAnsi, lookAfter, PLAIN, type Look } from './ansi';

const WINDOW_ABOVE = 1500;
const LINE_HEIGHT = 18;
const LONG_LINE = 4000;

/** The lines of a text by offset, so that a large text is not copied. */
export class TextLines {
  readonly length: number;
  private readonly ends: Uint32Array;
  private looks: Readonly<Look>[] | undefined;

  constructor(readonly text: string) {
    const ends: number[] = [];
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) ends.push(at);
    if (ends.length === 0 || ends[ends.length - 1] !== text.length - 1) ends.push(text.length);
    this.ends = Uint32Array.from(ends);
    this.length = text === '' ? 0 : ends.length;
  }

  start(line: number): number {
    return line === 0 ? 0 : this.ends[line - 1] + 1;
  }

  line(line: number): string {
    const raw = this.text.slice(this.start(line), this.ends[line]);
    return raw.endsWith('\r') ? raw.slice(0, -1) : raw;
  }

  /** The look with which a line begins: colours go on over line ends. */
  look(line: number): Readonly<Look> {
    if (!this.text.includes('\x1b')) return PLAIN;
    if (!this.looks) {
      this.looks = [PLAIN];
      for (let at = 0; at < this.length; at += 1) this.looks.push(lookAfter(this.line(at), this.looks[at]));
    }
    return this.looks[line];
  }

  /** The line that has this offset of the text. */
  lineAt(offset: number): number {
    let low = 0;
    let high = this.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.ends[middle] < offset) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function drawLine(lines: TextLines, number: number): HTMLElement {
  const line = el('span.ln');
  // A carriage return would move the cursor; its sign keeps what came before readable.
  const text = lines.line(number).replaceAll('\r', '\u240d');
  if (text.length <= LONG_LINE) {
    appendAnsi(line, text, lines.look(number));
    return line;
  }
  appendAnsi(line, text.slice(0, LONG_LINE), lines.look(number));
  const more = button('more', null, () => {
    line.textContent = '';
    appendAnsi(line, text, lines.look(number));
  }, ` ⋯ ${count(text.length - LONG_LINE, 'more character')}`);
  line.appendChild(more);
  return line;
}

/** Draws the lines in sight of a scrolling box; lines do not wrap there. */
class OutputWindow {
  readonly element: HTMLElement;
  private readonly inner = el('div.lines');
  private from = -1;
  private to = -1;

  constructor(private readonly lines: TextLines) {
    this.element = el('div.out.win.txt', { tabindex: 0, role: 'group', 'aria-label': `Output, ${count(lines.length, 'line')}` }, this.inner);
    size(this.inner, { height: `${lines.length * LINE_HEIGHT}px` });
    this.element.addEventListener('scroll', () => this.draw(), { passive: true });
    new ResizeObserver(() => this.draw()).observe(this.element);
    this.draw();
  }

  private draw(): void {
    const height = this.element.clientHeight || 480;
    const from = Math.max(0, Math.floor(this.element.scrollTop / LINE_HEIGHT) - 20);
    const to = Math.min(this.lines.length, Math.ceil((this.element.scrollTop + height) / LINE_HEIGHT) + 20);
    if (from === this.from && to === this.to) return;
    this.from = from;
    this.to = to;
    this.inner.textContent = '';
    const block = el('div.blk');
    size(block, { top: `${from * LINE_HEIGHT}px` });
    for (let at = from; at < to; at += 1) block.appendChild(drawLine(this.lines, at));
    this.inner.appendChild(block);
    this.element.dispatchEvent(new CustomEvent('redrawn', { bubbles: true }));
  }

  /** Scrolls to a match and returns which of the drawn matches it is. */
  reveal(expression: RegExp, match: number): number {
    expression.lastIndex = 0;
    let line = -1;
    for (let at = 0; at <= match; at += 1) {
      const found = expression.exec(this.lines.text);
      if (!found) return -1;
      line = this.lines.lineAt(found.index);
    }
    this.element.scrollTop = Math.max(0, line * LINE_HEIGHT - this.element.clientHeight / 2);
    this.draw();
    expression.lastIndex = this.lines.start(this.from);
    let before = 0;
    for (let at = expression.exec(this.lines.text); at && this.lines.lineAt(at.index) < line; at = expression.exec(this.lines.text)) before += 1;
    let first = match;
    expression.lastIndex = 0;
    for (let at = expression.exec(this.lines.text); at && this.lines.lineAt(at.index) < line; at = expression.exec(this.lines.text)) first -= 1;
    return before + first;
  }
}

const windows = new WeakMap<Element, OutputWindow>();

/** The window of an element, if its output is long and shown whole. */
export function windowOf(element: Element): OutputWindow | undefined {
  return windows.get(element);
}

export interface OutputOptions {
  failed: boolean;
  /** Whether everything is shown. */
  full: boolean;
  /** Called when somebody asks for everything. */
  expand: () => void;
}

/** The lines that are shown at first: how many from the start and from the end. */
function ends(total: number, failed: boolean): [number, number] {
  if (total <= 24) return [total, 0];
  return failed ? [4, 14] : [10, 6];
}

/** Draws output with colours, chips and a button that copies it. */
export function drawOutput(text: string, options: OutputOptions): HTMLElement {
  const lines = new TextLines(text);
  const box = el('div.outbox', { 'data-lines': lines.length });
  const [head, tail] = options.full ? [lines.length, 0] : ends(lines.length, options.failed);
  if (options.full && lines.length > WINDOW_ABOVE) {
    const view = new OutputWindow(lines);
    windows.set(view.element, view);
    box.appendChild(el('div.outnote', null, `All ${whole(lines.length)} lines; only those in sight are drawn`));
    box.appendChild(view.element);
  } else {
    const drawn = el('pre.out.txt', { tabindex: 0, role: 'group', 'aria-label': `Output, ${count(lines.length, 'line')}` });
    for (let at = 0; at < head; at += 1) drawn.appendChild(drawLine(lines, at));
    const hidden = lines.length - head - tail;
    box.appendChild(drawn);
    if (hidden > 0) {
      box.appendChild(button('gap', null, options.expand, el('span', null, `⋯ ${count(hidden, 'line')} hidden`), el('u', null, 'Show all')));
      const last = el('pre.out.txt', { tabindex: 0, role: 'group', 'aria-label': 'Last lines of the output' });
      for (let at = lines.length - tail; at < lines.length; at += 1) last.appendChild(drawLine(lines, at));
      box.appendChild(last);
    }
  }
  box.appendChild(button('btn ic cp', 'Copy output', () => void copy(text, 'Output'), icon('copy')));
  return box;
}
