/** The card with lanes and context: legend, buttons, pointer, wheel and keys. */
import { append, button, type Child, el, replace } from '../base/dom';
import { count, duration, position, short, whole } from '../base/format';
import { icon } from '../base/icons';
import type { Range, Run } from '../base/run';
import { Kind } from '../data/index';
import { commandOf, outcomeOf } from '../story/calls';
import { titleOf } from '../story/items';
import { TimeAxis } from './axis';
import { ContextPlot } from './context';
import { entryAt, isModel, type LaneData } from './lanedata';
import { LanesDrawing } from './lanes';

export interface TimelineActions {
  /** Chooses an item, and goes to it if asked to. */
  select(item: number, go: boolean): void;
  brush(range: Range | null): void;
}

const DOUBLE_CLICK_MILLIS = 280;

function legend(...entries: [string, string][]): HTMLElement {
  return el('span.leg', null, ...entries.map(([look, text]) => el('span', null, el('i', { class: `sw c-${look}` }), text)));
}

export class Timeline {
  readonly element: HTMLElement;
  readonly axis: TimeAxis;
  readonly lanes: LanesDrawing;
  readonly context: ContextPlot;
  private readonly box: HTMLElement;
  private readonly tip = el('div.tip', { hidden: true });
  private readonly spoken = el('div.vh', { role: 'status' });
  private readonly shortenButton: HTMLButtonElement;
  private drag: { place: number; time: number; pan: boolean; moved: boolean } | null = null;
  private keyLane = 1;
  private leaving = 0;

  constructor(private readonly run: Run, private readonly data: LaneData, private readonly actions: TimelineActions) {
    this.axis = new TimeAxis(run.firstStart, run.lastEnd, data.waits);
    const left = (): number => (window.innerWidth < 600 ? 74 : 128);
    this.lanes = new LanesDrawing(run, data, this.axis, left);
    this.context = new ContextPlot(run, this.axis, left);
    this.shortenButton = button('btn q', null, () => this.shorten(), icon('compact'), 'Shorten waits');
    this.shortenButton.setAttribute('aria-pressed', 'false');
    this.shortenButton.hidden = data.waits.length === 0;
    this.box = el('div.lw', { tabindex: 0, role: 'group', 'aria-label': `Timeline of the run, ${duration(run.lastEnd - run.firstStart)}. Arrow keys step through the calls.` }, this.lanes.surface.canvas);
    this.element = el('section.card.inst', { 'aria-label': 'Timeline and context' },
      el('div.hd', null, el('h2.h2', null, 'Timeline'), legend(['model', 'Model'], ['tool', 'Tool'], ['wait', 'Waiting'], ['fail', 'Failed']),
        el('span.grow'), this.shortenButton,
        el('span.seg', { role: 'group', 'aria-label': 'Zoom' },
          button('', 'Zoom out', () => this.zoom(1.6), '−'), button('', 'Zoom in', () => this.zoom(0.625), '+'),
          button('', 'Fit the whole run', () => this.fit(), 'Fit'))),
      this.box, ...(this.context.empty ? [] : this.contextParts()), this.tip, this.spoken);
    this.listen();
    for (const topic of ['select', 'filter', 'theme'] as const) run.on(topic, () => this.draw());
  }

  private contextParts(): HTMLElement[] {
    const modes = el('span.seg', { role: 'group', 'aria-label': 'Axis of the context plot' });
    const pick = (byTime: boolean): void => {
      this.context.byTime = byTime;
      modes.querySelectorAll('button').forEach((mode, at) => mode.setAttribute('aria-pressed', String((at === 0) === byTime)));
      this.context.surface.schedule();
    };
    append(modes, [button('', null, () => pick(true), 'By time'), button('', null, () => pick(false), 'By call')]);
    const { canvas } = this.context.surface;
    const { context } = this.run.head.summary;
    const box = el('div.cw', { role: 'img', 'aria-label': `Context by model call: ${count(context.compactions, 'compaction')}, peak ${whole(context.peakTokens)} tokens` }, canvas);
    canvas.addEventListener('mousemove', (event) => this.overContext(event));
    canvas.addEventListener('mouseleave', () => this.leave());
    canvas.addEventListener('click', (event) => {
      const call = this.context.callAt(event.offsetX);
      if (call >= 0) this.actions.select(this.run.index.calls.item[call], true);
    });
    pick(true);
    return [el('div.sub', null, el('h2.h2', null, 'Context'), legend(['cached', 'Cached'], ['new', 'New'], ['out', 'Output']), el('span.grow'), modes), box];
  }

  draw(): void {
    this.lanes.surface.schedule();
    this.context.surface.schedule();
  }

  /** Draws at once, for print. */
  drawNow(): void {
    this.lanes.surface.draw();
    this.context.surface.draw();
  }

  zoom(factor: number, around = 0.5): void {
    this.axis.zoom(factor, around);
    this.draw();
  }

  pan(part: number): void {
    this.axis.pan(part);
    this.draw();
  }

  fit(): void {
    this.axis.fit();
    this.draw();
  }

  shorten(): void {
    this.axis.shorten(!this.axis.shortened);
    this.shortenButton.setAttribute('aria-pressed', String(this.axis.shortened));
    this.draw();
  }

  setBrush(range: Range | null): void {
    this.lanes.brush = range;
    this.draw();
  }

  /** The item under the pointer, or -1. */
  private itemAt(x: number, y: number): number {
    const number = this.lanes.laneAt(y);
    if (number < 0) return -1;
    const lane = this.data.lanes[number];
    const upper = ((y - 24) % 29) < 15;
    const wanted = (item: number): boolean => lane.kind !== 'agent' || isModel(this.run, item) === upper;
    const entry = entryAt(lane, this.axis.timeAt(this.lanes.placeAt(x)), this.lanes.pixel * 4, wanted);
    return entry < 0 ? -1 : lane.items[entry];
  }

  private listen(): void {
    const { canvas } = this.lanes.surface;
    canvas.addEventListener('pointerdown', (event) => this.down(event));
    canvas.addEventListener('pointermove', (event) => this.pointer(event));
    canvas.addEventListener('pointerup', (event) => this.up(event));
    canvas.addEventListener('pointercancel', () => { this.drag = null; });
    canvas.addEventListener('pointerleave', () => this.leave());
    canvas.addEventListener('dblclick', (event) => {
      clearTimeout(this.leaving);
      const item = this.itemAt(event.offsetX, event.offsetY);
      if (item < 0) return this.fit();
      this.axis.show({ from: this.run.index.start[item], to: Math.max(this.run.index.end(item), this.run.index.start[item] + 50) });
      this.draw();
    });
    this.box.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
    this.box.addEventListener('keydown', (event) => this.key(event));
  }

  private down(event: PointerEvent): void {
    if (event.button !== 0) return;
    const place = this.lanes.placeAt(event.offsetX);
    this.drag = { place, time: this.axis.timeAt(place), pan: event.pointerType === 'touch', moved: false };
    this.lanes.surface.canvas.setPointerCapture(event.pointerId);
  }

  private pointer(event: PointerEvent): void {
    const place = Math.min(1, Math.max(0, this.lanes.placeAt(event.offsetX)));
    if (!this.drag) return this.hover(event);
    if (!this.drag.moved && Math.abs(place - this.drag.place) * this.lanes.surface.width < 5) return;
    this.drag.moved = true;
    if (this.drag.pan) {
      this.pan(this.drag.place - place);
      this.drag.place = place;
      return;
    }
    const time = this.axis.timeAt(place);
    this.lanes.brush = { from: Math.min(time, this.drag.time), to: Math.max(time, this.drag.time) };
    this.lanes.surface.schedule();
  }

  private up(event: PointerEvent): void {
    const { drag } = this;
    this.drag = null;
    if (!drag) return;
    if (drag.moved) {
      if (!drag.pan) this.actions.brush(this.lanes.brush);
      return;
    }
    const item = this.itemAt(event.offsetX, event.offsetY);
    if (item >= 0) this.choose(item);
    else if (this.lanes.brush) this.actions.brush(null);
  }

  /** Chooses at once, and goes there unless a second click follows. */
  private choose(item: number): void {
    this.actions.select(item, false);
    clearTimeout(this.leaving);
    this.leaving = window.setTimeout(() => this.actions.select(item, true), DOUBLE_CLICK_MILLIS);
  }

  private hover(event: PointerEvent): void {
    const item = this.itemAt(event.offsetX, event.offsetY);
    if (item !== this.lanes.hovered) {
      this.lanes.hovered = item;
      this.lanes.surface.schedule();
    }
    if (item < 0) this.tip.hidden = true;
    else this.showTip(event, ...this.describe(item));
  }

  private leave(): void {
    this.tip.hidden = true;
    if (this.lanes.hovered >= 0 || this.context.hovered >= 0) {
      this.lanes.hovered = -1;
      this.context.hovered = -1;
      this.draw();
    }
  }

  private overContext(event: MouseEvent): void {
    const call = this.context.callAt(event.offsetX);
    if (call !== this.context.hovered) {
      this.context.hovered = call;
      this.context.surface.schedule();
    }
    if (call < 0) return void (this.tip.hidden = true);
    const { cached, fresh, output } = this.run.index.calls;
    this.showTip(event, el('b', null, `Model call ${call + 1}`), el('br'),
      `${short(cached[call])} cached, ${short(fresh[call])} new, ${whole(output[call])} out`);
  }

  private describe(item: number): Child[] {
    const { run } = this;
    const { index } = run;
    const call = index.kind[item] === Kind.call;
    const name = index.kind[item] === Kind.prompt ? 'Waited for a reply' : titleOf(run, item);
    const text = call && run.content.ready(item) ? ` ${commandOf(run, item).slice(0, 160)}` : '';
    if (call && !run.content.ready(item)) void run.content.load(item);
    const facts = [position(index.start[item] - run.firstStart), duration(index.duration[item]), call ? outcomeOf(run, item) : ''];
    return [el('b', null, name + text), el('br'), facts.filter(Boolean).join(' · ')];
  }

  private showTip(event: MouseEvent, ...children: Child[]): void {
    replace(this.tip, ...children);
    this.tip.hidden = false;
    const { width, height } = this.tip.getBoundingClientRect();
    this.tip.style.left = `${Math.max(8, Math.min(window.innerWidth - width - 8, event.clientX + 12))}px`;
    this.tip.style.top = `${Math.min(window.innerHeight - height - 8, event.clientY + 16)}px`;
  }

  /** Zooms with Ctrl or when the lanes have the focus; otherwise the page scrolls. */
  private wheel(event: WheelEvent): void {
    const focused = document.activeElement === this.box;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      return this.pan((event.deltaX || event.deltaY) / 800);
    }
    if (!event.ctrlKey && !event.metaKey && !focused) return;
    event.preventDefault();
    this.zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) / 200), Math.min(1, Math.max(0, this.lanes.placeAt(event.offsetX))));
  }

  private key(event: KeyboardEvent): void {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const lane = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined && lane === undefined) return;
    event.preventDefault();
    const { lanes } = this.data;
    if (lane !== undefined) {
      this.keyLane = Math.min(lanes.length - 1, Math.max(0, this.keyLane + lane));
      this.spoken.textContent = `${lanes[this.keyLane].name}, ${count(lanes[this.keyLane].items.length, 'entry', 'entries')}`;
      return;
    }
    const { items } = lanes[this.keyLane];
    if (items.length === 0) return;
    const at = items.indexOf(this.run.selected);
    const next = items[Math.min(items.length - 1, Math.max(0, at < 0 ? 0 : at + (step ?? 0)))];
    this.actions.select(next, false);
    this.spoken.textContent = this.describe(next).map((part) => (part instanceof Node ? part.textContent : part)).join(' ');
  }
}
