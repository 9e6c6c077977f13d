/** Draws the lanes: the whole run on one axis, one rectangle per pixel, lane and colour. */
import { position } from '../base/format';
import type { Range, Run } from '../base/run';
import { Kind } from '../data/index';
import type { TimeAxis } from './axis';
import { colours, mix, Surface } from './canvas';
import { firstIn, isModel, type Lane, type LaneData, lookOf } from './lanedata';

const AXIS = 24;
const LANE = 29;
const FOOT = 20;
const BAR = 16;
const MANY_FAILURES = 40;
const MANY_TURNS = 150;
export const RIGHT = 12;

/** Whole hours and half hours where the view is long, otherwise a position. */
function axisLabel(millis: number, view: number): string {
  if (view < 3 * 3_600_000) return position(millis);
  const minutes = Math.round(millis / 60_000);
  const rest = minutes % 60;
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h${rest > 0 ? ` ${rest}` : ''}`;
}

type Look = 'model' | 'tool' | 'wait' | 'fail' | 'hollow';

export class LanesDrawing {
  readonly surface: Surface;
  hovered = -1;
  brush: Range | null = null;
  private hatching: CanvasPattern | string = '';

  constructor(private readonly run: Run, private readonly data: LaneData, private readonly axis: TimeAxis, readonly left: () => number) {
    this.surface = new Surface(AXIS + data.lanes.length * LANE + FOOT, () => this.paint());
  }

  private get room(): number {
    return this.surface.width - this.left() - RIGHT;
  }

  x(time: number): number {
    return this.left() + this.axis.place(time) * this.room;
  }

  /** The place on the axis of a position in the element. */
  placeAt(x: number): number {
    return (x - this.left()) / this.room;
  }

  /** The lane at a height, or -1. */
  laneAt(y: number): number {
    const lane = Math.floor((y - AXIS) / LANE);
    return lane >= 0 && lane < this.data.lanes.length ? lane : -1;
  }

  /** Milliseconds of one pixel in the middle of the view. */
  get pixel(): number {
    return Math.abs(this.axis.timeAt(0.5 + 1 / this.room) - this.axis.timeAt(0.5));
  }

  private paint(): void {
    const { surface, data } = this;
    const colour = colours();
    this.hatching = surface.hatch(colour.wait, mix(colour.wait, colour.surface, 0.42));
    this.grid();
    surface.pen.save();
    surface.pen.beginPath();
    surface.pen.rect(this.left(), 0, this.room + RIGHT, surface.height);
    surface.pen.clip();
    this.turnLines();
    data.lanes.forEach((lane, at) => this.lane(lane, AXIS + at * LANE));
    this.failures();
    this.brushed();
    surface.pen.restore();
    this.names();
    if (this.axis.zoomed) this.scrollMark();
  }

  private names(): void {
    const { surface, data } = this;
    const colour = colours();
    surface.pen.clearRect(0, AXIS + 1, this.left() - 1, data.lanes.length * LANE);
    data.lanes.forEach((lane, at) => {
      const y = AXIS + at * LANE;
      surface.line(0, y + 0.5, surface.width, y + 0.5, colour.line);
      surface.fitted(lane.name, 12, y + LANE / 2 + 1, this.left() - 18, colour.text2);
    });
  }

  private grid(): void {
    const { surface, axis, run } = this;
    const colour = colours();
    const bottom = AXIS + this.data.lanes.length * LANE;
    let free = 0;
    for (const time of axis.ticks(Math.max(2, Math.floor(this.room / 90)))) {
      const x = Math.round(this.x(time)) + 0.5;
      // Times lie close together inside a shortened wait.
      if (x < free) continue;
      surface.line(x, AXIS, x, bottom, colour.line);
      const label = axisLabel(time - run.firstStart, axis.view.to - axis.view.from);
      const wide = surface.pen.measureText(label).width;
      free = x + wide + 8;
      if (x + wide / 2 < surface.width - 2) surface.text(label, Math.max(x, this.left() + wide / 2 - 2), AXIS / 2, colour.text3, 'center');
    }
    surface.line(0, bottom + 0.5, surface.width, bottom + 0.5, colour.line);
  }

  private turnLines(): void {
    const { surface, run } = this;
    const { index } = run;
    const colour = colours();
    const bottom = AXIS + this.data.lanes.length * LANE;
    if (index.turnCount > MANY_TURNS) return;
    let free = -Infinity;
    for (let turn = 1; turn <= index.turnCount; turn += 1) {
      const start = index.start[index.turnStart(turn)];
      if (!(start >= 0)) continue;
      const x = Math.round(this.x(start)) + 0.5;
      if (x < this.left() || x > surface.width) continue;
      if (x - free < 3) continue;
      surface.line(x, AXIS, x, bottom + FOOT, colour.line2);
      const long = `Turn ${turn}`;
      const after = index.start[index.turnEnd(turn)];
      const next = after >= 0 ? this.x(after) : surface.width;
      const label = next - x > surface.pen.measureText(long).width + 8 ? long : String(turn);
      if (next - x > surface.pen.measureText(label).width + 6) surface.text(label, x + 4, bottom + FOOT / 2 + 1, colour.text3);
      free = x;
    }
  }

  private lane(lane: Lane, top: number): void {
    for (const wanted of ['wait', 'model', 'tool', 'hollow', 'fail'] as Look[]) {
      if (lane.kind === 'wait' ? wanted !== 'wait' : wanted === 'wait') continue;
      this.bars(lane, top, wanted);
    }
  }

  /** All bars of one colour. Bars that fall on a pixel that is already painted are left out. */
  private bars(lane: Lane, top: number, wanted: Look): void {
    const { run, axis } = this;
    const { from, to } = axis.view;
    const edges = [-Infinity, -Infinity];
    for (let at = firstIn(lane, from); at < lane.starts.length && lane.starts[at] <= to; at += 1) {
      if (lane.ends[at] < from) continue;
      const item = lane.items[at];
      if (lookOf(run, lane, item) !== wanted) continue;
      const x0 = this.x(lane.starts[at]);
      const x1 = Math.max(x0 + 2, this.x(lane.ends[at]) - 1);
      const half = lane.kind === 'agent' && !isModel(run, item) ? 1 : 0;
      if (x1 <= edges[half]) continue;
      const narrow = x1 - x0 < 4;
      const start = narrow ? Math.max(Math.floor(x0), edges[half]) : x0;
      edges[half] = Math.ceil(x1);
      const wide = narrow ? edges[half] - start : x1 - start;
      const small = lane.kind === 'agent';
      const y = small ? top + 5 + half * 10 : top + (LANE - BAR) / 2;
      this.bar(item, wanted, start, y, wide, small ? 8 : BAR);
    }
  }

  private bar(item: number, look: Look, x: number, y: number, wide: number, high: number): void {
    const { pen } = this.surface;
    const colour = colours();
    const chosen = item === this.run.selected || item === this.hovered;
    pen.globalAlpha = this.hovered >= 0 && !chosen ? 0.55 : 1;
    pen.fillStyle = look === 'wait' ? this.hatching : look === 'hollow' ? colour.surface : colour[look];
    const radius = wide >= 5 ? 3 : 0;
    pen.beginPath();
    pen.roundRect(x, y, wide, high, radius);
    pen.fill();
    if (look === 'hollow') {
      pen.strokeStyle = colour.model;
      pen.lineWidth = 1.5;
      pen.stroke();
    }
    if (chosen) {
      pen.beginPath();
      pen.roundRect(x - 2.5, y - 2.5, wide + 5, high + 5, radius + 2);
      pen.strokeStyle = colour.text;
      pen.lineWidth = 1.5;
      pen.stroke();
    }
    if (high === BAR && wide > 44) this.label(item, look, Math.max(x, this.left()), y, x + wide);
    pen.globalAlpha = 1;
  }

  private label(item: number, look: Look, x: number, y: number, end: number): void {
    const { surface } = this;
    const colour = colours();
    const text = this.nameOf(item, look);
    if (look === 'wait') {
      const wide = surface.pen.measureText(text).width + 10;
      if (wide > end - x - 10) return;
      surface.pen.fillStyle = colour.surface;
      surface.pen.beginPath();
      surface.pen.roundRect(x + 4, y + 2, wide, BAR - 4, 3);
      surface.pen.fill();
      surface.text(text, x + 9, y + BAR / 2 + 0.5, colour.text2);
    } else surface.fitted(text, x + 7, y + BAR / 2 + 0.5, end - x - 12, look === 'hollow' ? colour.text2 : colour.surface);
  }

  private nameOf(item: number, look: Look): string {
    const { index, content } = this.run;
    if (look === 'wait') return index.kind[item] === Kind.approval ? 'approval' : 'reply';
    if (index.kind[item] === Kind.compaction) return 'compaction';
    if (index.kind[item] === Kind.model) return `call ${index.ordinal(item) + 1}`;
    return (content.ready(item) && content.command(item).split('\n')[0]) || index.labelOf(item);
  }

  /** A triangle and a line for each failure, or a strip where there are too many. */
  private failures(): void {
    const { surface, run, axis } = this;
    const colour = colours();
    const { from, to } = axis.view;
    const places: number[] = [];
    for (const item of run.failures) {
      const at = run.index.end(item);
      if (at >= from && at <= to) places.push(this.x(at));
    }
    const bottom = AXIS + this.data.lanes.length * LANE;
    const { pen } = surface;
    for (const x of places) {
      pen.fillStyle = colour.fail;
      if (places.length > MANY_FAILURES) {
        pen.fillRect(Math.floor(x), AXIS - 6, 2, 6);
        continue;
      }
      pen.beginPath();
      pen.moveTo(x - 5, AXIS - 7);
      pen.lineTo(x + 5, AXIS - 7);
      pen.lineTo(x, AXIS);
      pen.fill();
      surface.line(Math.round(x) + 0.5, AXIS, Math.round(x) + 0.5, bottom, mix(colour.fail, colour.surface, 0.4));
    }
  }

  private brushed(): void {
    if (!this.brush) return;
    const { pen, height } = this.surface;
    const colour = colours();
    const x0 = this.x(this.brush.from);
    const x1 = this.x(this.brush.to);
    pen.globalAlpha = 0.13;
    pen.fillStyle = colour.accent;
    pen.fillRect(x0, AXIS, x1 - x0, height - AXIS);
    pen.globalAlpha = 1;
    this.surface.line(Math.round(x0) + 0.5, AXIS, Math.round(x0) + 0.5, height, colour.accent);
    this.surface.line(Math.round(x1) + 0.5, AXIS, Math.round(x1) + 0.5, height, colour.accent);
  }

  private scrollMark(): void {
    const { pen, height } = this.surface;
    const colour = colours();
    const { from, to } = this.axis.part;
    pen.fillStyle = colour.line;
    pen.fillRect(this.left(), height - 3, this.room, 3);
    pen.fillStyle = colour.text3;
    pen.fillRect(this.left() + from * this.room, height - 3, Math.max(8, (to - from) * this.room), 3);
  }
}
