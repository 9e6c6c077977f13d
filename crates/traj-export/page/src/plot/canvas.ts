/** A canvas that follows the size of its box and the theme of the page. */
import { el } from '../base/dom';

export interface Palette {
  bg: string; surface: string; line: string; line2: string; text: string; text2: string; text3: string; accent: string;
  model: string; tool: string; wait: string; fail: string; idle: string; cached: string; new: string; out: string; find: string;
}

const NAMES: (keyof Palette)[] = [
  'bg', 'surface', 'line', 'line2', 'text', 'text2', 'text3', 'accent', 'model', 'tool', 'wait', 'fail', 'idle', 'cached',
  'new', 'out', 'find',
];

let palette: Palette | null = null;

export function colours(): Palette {
  if (!palette) {
    const style = getComputedStyle(document.documentElement);
    palette = Object.fromEntries(NAMES.map((name) => [name, style.getPropertyValue(name === 'find' ? '--find-on' : `--${name}`).trim()])) as unknown as Palette;
  }
  return palette;
}

/** Reads the colours again, after the theme changed. */
export function forgetColours(): void {
  palette = null;
}

export class Surface {
  readonly canvas = el('canvas', { 'aria-hidden': 'true' });
  readonly pen: CanvasRenderingContext2D;
  width = 0;
  height = 0;
  private frame = 0;

  constructor(height: number, private readonly paint: () => void) {
    const pen = this.canvas.getContext('2d');
    if (!pen) throw new Error('no canvas');
    this.pen = pen;
    this.height = height;
    this.canvas.style.height = `${height}px`;
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  schedule(): void {
    if (this.frame !== 0) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  /** Draws now. Does nothing while the canvas is hidden. */
  draw(): void {
    const box = this.canvas.getBoundingClientRect();
    const ratio = Math.max(window.devicePixelRatio || 1, 1);
    if (box.width === 0) return;
    this.width = box.width;
    const wide = Math.round(box.width * ratio);
    const high = Math.round(this.height * ratio);
    if (this.canvas.width !== wide || this.canvas.height !== high) {
      this.canvas.width = wide;
      this.canvas.height = high;
    }
    this.pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.pen.clearRect(0, 0, this.width, this.height);
    this.pen.font = '11px system-ui, "Segoe UI", Roboto, Arial, sans-serif';
    this.pen.textBaseline = 'middle';
    this.paint();
  }

  text(text: string, x: number, y: number, colour: string, align: CanvasTextAlign = 'left', bold = false): void {
    const { pen } = this;
    pen.fillStyle = colour;
    pen.textAlign = align;
    if (bold) pen.font = `600 ${pen.font}`;
    pen.fillText(text, x, y);
    if (bold) pen.font = pen.font.replace(/^(600|bold) /, '');
  }

  /** Text cut to a width; nothing if there is no room for three letters. */
  fitted(text: string, x: number, y: number, room: number, colour: string): void {
    const { pen } = this;
    if (room < 24) return;
    let cut = text;
    if (pen.measureText(cut).width > room) {
      let keep = Math.min(cut.length, Math.floor(room / 4));
      while (keep > 0 && pen.measureText(`${cut.slice(0, keep)}…`).width > room) keep -= 1;
      if (keep < 3) return;
      cut = `${cut.slice(0, keep)}…`;
    }
    this.text(cut, x, y, colour);
  }

  line(x0: number, y0: number, x1: number, y1: number, colour: string, dash: number[] = []): void {
    const { pen } = this;
    pen.strokeStyle = colour;
    pen.lineWidth = 1;
    pen.setLineDash(dash);
    pen.beginPath();
    pen.moveTo(x0, y0);
    pen.lineTo(x1, y1);
    pen.stroke();
    pen.setLineDash([]);
  }

  /** Stripes, so that waits differ from work without colour. */
  hatch(colour: string, light: string): CanvasPattern | string {
    const tile = document.createElement('canvas');
    tile.width = tile.height = 8;
    const pen = tile.getContext('2d');
    if (!pen) return colour;
    pen.fillStyle = light;
    pen.fillRect(0, 0, 8, 8);
    pen.fillStyle = colour;
    pen.beginPath();
    for (const shift of [-8, 0, 8]) {
      pen.moveTo(shift, 8);
      pen.lineTo(shift + 8, 0);
      pen.lineTo(shift + 12, 0);
      pen.lineTo(shift + 4, 8);
    }
    pen.fill();
    return this.pen.createPattern(tile, 'repeat') ?? colour;
  }
}

/** Mixes two colours of the form #rrggbb. */
export function mix(a: string, b: string, part: number): string {
  const parse = (text: string) => [1, 3, 5].map((at) => parseInt(text.length === 4 ? text[(at + 1) / 2].repeat(2) : text.slice(at, at + 2), 16));
  const [x, y] = [parse(a), parse(b)];
  return `rgb(${x.map((value, at) => Math.round(value * (1 - part) + y[at] * part)).join(' ')})`;
}
