/** How full the context was at each model call: cached, new and output tokens, stacked. */
import { short } from '../base/format';
import type { Run } from '../base/run';
import { Kind } from '../data/index';
import type { TimeAxis } from './axis';
import { colours, Surface } from './canvas';
import { RIGHT } from './lanes';

const HEIGHT = 104;
const TOP = 20;
const BOTTOM = 6;
/** More compactions than this are marked by ticks only. */
const MANY = 14;

interface Bar {
  call: number;
  x0: number;
  x1: number;
}

export class ContextPlot {
  readonly surface: Surface;
  byTime = true;
  hovered = -1;
  /** Calls of the main thread: only they share one context. */
  private readonly calls: Uint32Array;
  private readonly peak: number;
  private readonly most: number;
  private readonly compactions: number[] = [];

  constructor(private readonly run: Run, private readonly axis: TimeAxis, private readonly left: () => number) {
    const { calls, kind, thread } = run.index;
    const main: number[] = [];
    for (let call = 0; call < calls.length; call += 1) if (calls.thread[call] === 0) main.push(call);
    this.calls = Uint32Array.from(main);
    let peak = -1;
    for (const call of main) if (peak < 0 || this.tokens(call) > this.tokens(peak)) peak = call;
    this.peak = peak;
    this.most = peak < 0 ? 1 : Math.max(1, this.tokens(peak));
    for (let item = 0; item < kind.length; item += 1) if (kind[item] === Kind.compaction && thread[item] === 0) this.compactions.push(item);
    this.surface = new Surface(HEIGHT, () => this.paint());
  }

  get empty(): boolean {
    return this.calls.length === 0;
  }

  private tokens(call: number): number {
    const { cached, fresh, output } = this.run.index.calls;
    return cached[call] + fresh[call] + output[call];
  }

  private get room(): number {
    return this.surface.width - this.left() - RIGHT;
  }

  /** Where the bars lie. By time, a bar lasts until the next call. */
  private *bars(): Generator<Bar> {
    const { calls } = this;
    const { at } = this.run.index.calls;
    const { start } = this.run.index;
    let cut = 0;
    for (let number = 0; number < calls.length; number += 1) {
      const call = calls[number];
      if (!this.byTime) {
        const wide = this.room / calls.length;
        yield { call, x0: this.left() + number * wide, x1: this.left() + (number + 1) * wide };
        continue;
      }
      if (Number.isNaN(at[call])) continue;
      let next = number + 1 < calls.length ? at[calls[number + 1]] : this.axis.last;
      // A compaction ends what the call before it had filled.
      while (cut < this.compactions.length && start[this.compactions[cut]] <= at[call]) cut += 1;
      if (cut < this.compactions.length && start[this.compactions[cut]] < next) next = start[this.compactions[cut]];
      yield { call, x0: this.x(at[call]), x1: this.x(Number.isNaN(next) ? at[call] : next) };
    }
  }

  private x(time: number): number {
    return this.left() + this.axis.place(time) * this.room;
  }

  private y(tokens: number): number {
    return HEIGHT - BOTTOM - (tokens / this.scale) * (HEIGHT - TOP - BOTTOM);
  }

  /** The highest label of the axis: a round number not below the peak. */
  private get scale(): number {
    const power = 10 ** Math.floor(Math.log10(this.most));
    return [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((value) => value >= this.most) ?? power * 10;
  }

  private paint(): void {
    const { surface } = this;
    const colour = colours();
    for (const part of [0, 0.5, 1]) {
      const y = Math.round(this.y(this.scale * part)) + 0.5;
      surface.line(this.left(), y, surface.width - RIGHT, y, colour.line, part === 1 ? [3, 3] : []);
      surface.text(part === 0 ? '0' : short(this.scale * part), this.left() - 8, y, colour.text3, 'right');
    }
    surface.pen.save();
    surface.pen.beginPath();
    surface.pen.rect(this.left(), 0, this.room + RIGHT, HEIGHT);
    surface.pen.clip();
    this.columns();
    this.marks();
    surface.pen.restore();
  }

  /** Stacks of tokens. Of the calls that share a pixel column, the largest is drawn. */
  private columns(): void {
    const { surface } = this;
    let column = NaN;
    let largest: Bar | null = null;
    for (const bar of this.bars()) {
      if (bar.x1 < this.left() || bar.x0 > surface.width) continue;
      if (bar.x1 - bar.x0 >= 2) {
        if (largest) this.stack(largest);
        largest = null;
        this.stack(bar);
        continue;
      }
      const at = Math.floor(bar.x0);
      if (at !== column) {
        if (largest) this.stack(largest);
        largest = bar;
        column = at;
      } else if (!largest || this.tokens(bar.call) > this.tokens(largest.call)) largest = bar;
    }
    if (largest) this.stack(largest);
  }

  private stack(bar: Bar): void {
    const { pen } = this.surface;
    const colour = colours();
    const { cached, fresh, output } = this.run.index.calls;
    const { call } = bar;
    const gap = bar.x1 - bar.x0 > 4 ? 1 : 0;
    const wide = Math.max(1.5, bar.x1 - bar.x0 - gap);
    const part = (from: number, to: number, fill: string): void => {
      pen.fillStyle = fill;
      pen.fillRect(bar.x0, this.y(to), wide, this.y(from) - this.y(to));
    };
    const base = cached[call] + fresh[call];
    part(0, cached[call], colour.cached);
    part(cached[call], base, colour.new);
    pen.fillStyle = colour.out;
    const high = Math.max(1.5, this.y(base) - this.y(base + output[call]));
    pen.fillRect(bar.x0, this.y(base) - high, wide, high);
    if (this.run.index.calls.item[call] === this.run.selected || call === this.hovered) {
      pen.strokeStyle = colour.text;
      pen.lineWidth = 1.5;
      pen.strokeRect(bar.x0 - 0.5, this.y(base + output[call]) - 2, wide + 1, this.y(0) - this.y(base + output[call]) + 2);
    }
  }

  /** The largest call and the compactions. */
  private marks(): void {
    const { surface, run } = this;
    const { index } = run;
    const colour = colours();
    let free = -Infinity;
    const places = this.compactions.map((item) => ({ item, x: Math.round(this.compactionX(item)) + 0.5 }))
      .filter(({ x }) => x >= this.left() && x <= surface.width);
    for (const { item, x } of places) {
      if (places.length > MANY) {
        surface.line(x, TOP - 6, x, TOP, colour.text2);
        continue;
      }
      surface.line(x, 4, x, HEIGHT - BOTTOM, colour.text2, [3, 2]);
      const words = index.wordsOf(item) ? `compacted, ${index.wordsOf(item)}` : 'compacted';
      const wide = surface.pen.measureText(words).width;
      if (x > free && x + wide + 8 < surface.width) {
        surface.text(words, x + 5, 10, colour.text2);
        free = x + wide + 20;
      }
    }
    if (this.peak < 0) return;
    const bar = [...this.bars()].find((entry) => entry.call === this.peak);
    if (!bar || bar.x1 < this.left() || bar.x0 > surface.width) return;
    const label = `peak ${short(this.most)}`;
    const wide = surface.pen.measureText(label).width + 6;
    const right = Math.max(this.left() + wide, Math.min(bar.x1, surface.width - RIGHT));
    surface.pen.fillStyle = colour.surface;
    surface.pen.fillRect(right - wide - 8, Math.max(9, this.y(this.most) - 9) - 7, wide + 8, 13);
    surface.text(label, right - 3, Math.max(9, this.y(this.most) - 9), colour.text, 'right', true);
  }

  private compactionX(item: number): number {
    const { index } = this.run;
    if (this.byTime) return this.x(index.start[item]);
    let before = 0;
    for (const call of this.calls) if (index.calls.item[call] < item) before += 1;
    return this.left() + (before / Math.max(1, this.calls.length)) * this.room;
  }

  /** The record of the call at a position, or -1. */
  callAt(x: number): number {
    let best = -1;
    let distance = 6;
    for (const bar of this.bars()) {
      const away = x < bar.x0 ? bar.x0 - x : x > bar.x1 ? x - bar.x1 : 0;
      if (away < distance || (away === 0 && distance === 0)) {
        best = bar.call;
        distance = away;
      }
    }
    return best;
  }
}
