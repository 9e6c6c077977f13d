/** The time axis that lanes and context share: zoom, position and shortened waits. */
import type { Range } from '../base/run';

/** A shortened wait takes this part of the other time. */
const SHORT_PART = 0.02;

export class TimeAxis {
  /** What is in sight, in units of the axis. */
  private low = 0;
  private high = 1;
  private points: { time: number; unit: number }[] = [];
  shortened = false;

  constructor(readonly first: number, readonly last: number, private readonly waits: Range[]) {
    this.lay();
    this.fit();
  }

  /** Lays time out on the axis: a list of points between which it runs evenly. */
  private lay(): void {
    this.points = [{ time: this.first, unit: 0 }];
    if (this.shortened) {
      const all = this.last - this.first;
      const long = this.waits.filter((wait) => wait.to - wait.from > all * SHORT_PART * 1.5);
      const waited = long.reduce((sum, wait) => sum + wait.to - wait.from, 0);
      const length = Math.max(1, (all - waited) * SHORT_PART);
      let time = this.first;
      let unit = 0;
      for (const wait of long) {
        if (wait.from < time) continue;
        unit += wait.from - time;
        this.points.push({ time: wait.from, unit });
        unit += length;
        this.points.push({ time: wait.to, unit });
        time = wait.to;
      }
      this.points.push({ time: this.last, unit: unit + this.last - time });
    } else this.points.push({ time: this.last, unit: this.last - this.first });
  }

  private get length(): number {
    return this.points[this.points.length - 1].unit;
  }

  private unit(time: number): number {
    const { points } = this;
    let low = 0;
    let high = points.length - 2;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (points[middle].time <= time) low = middle;
      else high = middle - 1;
    }
    const a = points[low];
    const b = points[low + 1];
    return a.unit + ((time - a.time) / (b.time - a.time || 1)) * (b.unit - a.unit);
  }

  private time(unit: number): number {
    const { points } = this;
    let at = 0;
    while (at < points.length - 2 && points[at + 1].unit < unit) at += 1;
    const a = points[at];
    const b = points[at + 1];
    return a.time + ((unit - a.unit) / (b.unit - a.unit || 1)) * (b.time - a.time);
  }

  /** Where a time lies, from 0 at the left to 1 at the right. */
  place(time: number): number {
    return (this.unit(time) - this.low) / (this.high - this.low);
  }

  timeAt(place: number): number {
    return this.time(this.low + place * (this.high - this.low));
  }

  get view(): Range {
    return { from: this.timeAt(0), to: this.timeAt(1) };
  }

  get zoomed(): boolean {
    return this.low > 0 || this.high < this.length;
  }

  /** Which part of the axis is in sight, from 0 to 1. */
  get part(): Range {
    return { from: this.low / this.length, to: this.high / this.length };
  }

  fit(): void {
    this.low = 0;
    this.high = this.length;
  }

  private set(low: number, high: number): void {
    const least = Math.min(this.length, Math.max(this.length / 200_000, 20));
    const size = Math.min(this.length, Math.max(least, high - low));
    const start = Math.min(this.length - size, Math.max(0, high - low < least ? (low + high - size) / 2 : low));
    this.low = start;
    this.high = start + size;
  }

  /** Makes the part in sight larger or smaller around a place. */
  zoom(factor: number, around: number): void {
    const centre = this.low + around * (this.high - this.low);
    this.set(centre - (centre - this.low) * factor, centre + (this.high - centre) * factor);
  }

  /** Moves by a part of what is in sight. */
  pan(part: number): void {
    const by = part * (this.high - this.low);
    const moved = Math.min(this.length - this.high, Math.max(-this.low, by));
    this.low += moved;
    this.high += moved;
  }

  show(range: Range): void {
    const low = this.unit(range.from);
    const high = this.unit(range.to);
    const margin = (high - low) * 0.15;
    this.set(low - margin, high + margin);
  }

  shorten(on: boolean): void {
    const view = this.view;
    const whole = !this.zoomed;
    this.shortened = on;
    this.lay();
    if (whole) this.fit();
    else this.set(this.unit(view.from), this.unit(view.to));
  }

  /** Round times for labels, at most this many. */
  ticks(most: number): number[] {
    const { from, to } = this.view;
    const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400].map((seconds) => seconds * 1000);
    const step = [100, 200, 500, ...steps].find((candidate) => (to - from) / candidate <= most) ?? Math.ceil((to - from) / most / 86_400_000) * 86_400_000;
    const result: number[] = [];
    for (let at = Math.ceil((from - this.first) / step) * step; this.first + at <= to && result.length < 400; at += step) result.push(this.first + at);
    return result;
  }
}
