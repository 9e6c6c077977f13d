/** The run on one line, under the filters: where you are, what failed, what matches. */
import { el } from '../base/dom';
import type { Run } from '../base/run';
import { colours, Surface } from './canvas';
import { type Lane, type LaneData, lookOf } from './lanedata';

const HEIGHT = 16;

export class MiniTimeline {
  readonly element: HTMLElement;
  readonly surface: Surface;
  matches: Uint32Array | null = null;

  constructor(private readonly run: Run, private readonly data: LaneData, go: (time: number) => void) {
    this.surface = new Surface(HEIGHT, () => this.paint());
    this.element = el('div.mini', { 'aria-hidden': 'true' }, this.surface.canvas);
    this.element.addEventListener('click', (event) => {
      const box = this.surface.canvas.getBoundingClientRect();
      go(run.firstStart + ((event.clientX - box.left) / box.width) * (run.lastEnd - run.firstStart));
    });
    for (const topic of ['scrolled', 'select', 'find', 'filter', 'theme'] as const) run.on(topic, () => this.surface.schedule());
  }

  private x(time: number): number {
    const { firstStart, lastEnd } = this.run;
    return ((time - firstStart) / (lastEnd - firstStart)) * (this.surface.width - 2) + 1;
  }

  private paint(): void {
    const { pen, width } = this.surface;
    const colour = colours();
    pen.fillStyle = colour.line;
    pen.fillRect(1, 6, width - 2, 4);
    for (const name of ['Waiting', 'Model', 'Tools']) {
      const lane = this.data.lanes.find((entry) => entry.name === name);
      if (lane) this.lane(lane);
    }
    this.found();
    this.failures();
    this.sight();
  }

  private lane(lane: Lane): void {
    const { pen } = this.surface;
    const colour = colours();
    let edge = -Infinity;
    for (let at = 0; at < lane.items.length; at += 1) {
      const x1 = Math.max(this.x(lane.starts[at]) + 1, this.x(lane.ends[at]));
      if (x1 <= edge) continue;
      const x0 = Math.max(edge, this.x(lane.starts[at]));
      const look = lookOf(this.run, lane, lane.items[at]);
      pen.fillStyle = look === 'hollow' ? colour.idle : colour[look];
      pen.globalAlpha = look === 'wait' ? 0.6 : 1;
      edge = Math.ceil(x1);
      pen.fillRect(x0, 6, (x1 - x0 < 2 ? edge : x1) - x0, 4);
    }
    pen.globalAlpha = 1;
  }

  private failures(): void {
    const { pen } = this.surface;
    pen.fillStyle = colours().fail;
    let edge = -Infinity;
    for (const item of this.run.failures) {
      const x = this.x(this.run.index.end(item));
      if (Number.isNaN(x) || x - edge < 2) continue;
      edge = x;
      if (this.run.failures.length > 40) {
        pen.fillRect(Math.floor(x), 1, 2, 4);
        continue;
      }
      pen.beginPath();
      pen.moveTo(x - 4, 0);
      pen.lineTo(x + 4, 0);
      pen.lineTo(x, 6);
      pen.fill();
    }
  }

  private found(): void {
    if (!this.matches) return;
    const { pen } = this.surface;
    pen.fillStyle = colours().find;
    let edge = -Infinity;
    for (let item = 0; item < this.matches.length; item += 1) {
      if (this.matches[item] === 0) continue;
      const x = Math.round(this.x(this.run.index.time(item)));
      if (x > edge) pen.fillRect(x, 11, 2, 4);
      edge = Math.max(edge, x + 1);
    }
  }

  /** The part of the run that is in sight. */
  private sight(): void {
    const seen = this.run.inSight;
    if (!seen) return;
    const { pen } = this.surface;
    const x0 = this.x(this.run.index.time(seen.from));
    const x1 = this.x(this.run.index.time(seen.to));
    if (Number.isNaN(x0) || Number.isNaN(x1)) return;
    const colour = colours();
    pen.beginPath();
    pen.roundRect(Math.min(x0, x1) - 0.5, 2.5, Math.max(6, Math.abs(x1 - x0)), 11, 3);
    pen.globalAlpha = 0.16;
    pen.fillStyle = colour.accent;
    pen.fill();
    pen.globalAlpha = 1;
    pen.strokeStyle = colour.accent;
    pen.lineWidth = 1.5;
    pen.stroke();
  }
}
