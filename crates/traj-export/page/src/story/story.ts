/** The conversation: filters above, turns at the left, events, details at the right. */
import { button, el, replace, toast } from '../base/dom';
import { count, whole } from '../base/format';
import { nameOf, type Run } from '../base/run';
import { Kind } from '../data/index';
import { FilterBar } from './bar';
import { Details } from './details';
import { Filter } from './filter';
import { drawItem, estimate, turnHead } from './items';
import { VirtualList } from './list';
import { Rail } from './rail';
import { drawRow, ROW_HEIGHT } from './rows';

/** Longer lists have rows of one line. */
const COMPACT_ABOVE = 5000;
const INDENT = 28;
const TOP_BAR = 48;
const MINI = 20;

export class Story {
  readonly element: HTMLElement;
  readonly filter = new Filter();
  readonly details: Details;
  readonly bar: HTMLElement;
  shown: Uint32Array;
  compact = false;
  private readonly filterBar: FilterBar;
  private readonly rail: Rail;
  private readonly list: VirtualList;
  private readonly host = el('div.list', { role: 'list', 'aria-label': 'Events' });
  private readonly empty = el('div.none', { hidden: true });
  private readonly hint = el('p.hint', { hidden: true });
  private readonly loading = new Set<number>();

  constructor(private readonly run: Run, mini: HTMLElement | null, copyLink: () => void) {
    this.shown = this.filter.apply(run);
    this.filterBar = new FilterBar(run, this.filter, {
      changed: () => this.refilter(),
      nextFailure: () => this.nextFailure(1),
      expand: () => this.expandAll(),
    });
    this.bar = el('div.conv-bar', null, this.filterBar.element, mini);
    this.rail = new Rail(run);
    this.details = new Details(run, {
      step: (direction) => this.move(direction),
      close: () => this.details.show(false),
      copyLink,
    });
    this.list = new VirtualList(this.host, {
      draw: (position) => this.draw(position),
      estimate: (position) => estimate(run, this.shown[position]) + (this.startsTurn(position) ? 42 : 0),
      seen: (first, last) => this.seen(first, last),
    }, () => this.barBottom());
    this.element = el('section.story', { 'aria-label': 'Conversation', id: 'conversation' }, this.bar, this.hint,
      el('div.conv', null, this.rail.element, el('div.events', null, this.host, this.empty), this.details.element));
    this.host.addEventListener('click', (event) => this.clicked(event));
  }

  /** Draws for the first time, once the element is on the page. */
  start(): void {
    this.relist();
    this.rail.mark(1);
    new ResizeObserver(() => this.list.schedule()).observe(this.element);
  }

  barBottom(): number {
    // The small timeline appears when the bar sticks; its height counts before.
    return TOP_BAR + this.filterBar.element.offsetHeight + MINI;
  }

  private startsTurn(at: number): boolean {
    const { turn } = this.run.index;
    return turn[this.shown[at]] > 0 && (at === 0 || turn[this.shown[at - 1]] !== turn[this.shown[at]]);
  }

  private redrawItem(item: number): void {
    const at = this.positionOf(item);
    if (at >= 0) this.list.redraw(at);
  }

  private ask(item: number): void {
    if (this.loading.has(item)) return;
    this.loading.add(item);
    this.run.content.load(item).then(() => {
      this.loading.delete(item);
      this.redrawItem(item);
      this.run.tell('find');
    }, () => this.loading.delete(item));
  }

  private draw(at: number): HTMLElement {
    const { run } = this;
    const item = this.shown[at];
    if (!run.content.ready(item)) this.ask(item);
    if (this.compact) return drawRow(run, item, () => undefined);
    const row = el('div.slot');
    if (this.startsTurn(at)) row.appendChild(turnHead(run, run.index.turn[item]));
    const thread = run.index.thread[item];
    if (thread !== 0 && (at === 0 || run.index.thread[this.shown[at - 1]] !== thread)) {
      row.appendChild(this.indent(el('p.agent', null, `↳ ${run.index.threadName(thread)}`), thread));
    }
    row.appendChild(this.indent(drawItem({ run, item, prose: false, redraw: () => this.redrawItem(item) }), thread));
    return row;
  }

  private indent(element: HTMLElement, thread: number): HTMLElement {
    if (thread !== 0) {
      element.classList.add('nested');
      element.style.marginLeft = `${this.run.index.depth(thread) * INDENT}px`;
    }
    return element;
  }

  /** Draws an item for print: in the flow of the page. */
  drawForPrint(at: number): HTMLElement {
    const compact = this.compact;
    this.compact = false;
    const row = this.draw(at);
    this.compact = compact;
    return row;
  }

  positionOf(item: number): number {
    let low = 0;
    let high = this.shown.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      if (this.shown[middle] === item) return middle;
      if (this.shown[middle] < item) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }

  /** The element of an item, if it is drawn. In a list of lines its body is in the details. */
  elementOf(item: number): HTMLElement | null {
    if (this.compact) return this.run.selected === item ? this.details.element : null;
    return this.host.querySelector<HTMLElement>(`[data-item="${item}"]`);
  }

  get drawnItems(): HTMLElement {
    return this.host;
  }

  private seen(first: number, last: number): void {
    const { index } = this.run;
    this.run.inSight = { from: this.shown[first], to: this.shown[last] };
    this.rail.mark(Math.max(1, index.turn[this.shown[first]]));
    this.run.tell('scrolled');
  }

  private relist(): void {
    const length = this.shown.length;
    this.compact = length > COMPACT_ABOVE;
    this.details.withBody = this.compact;
    this.element.classList.toggle('compact', this.compact);
    this.hint.hidden = !this.compact;
    this.hint.textContent = this.compact ? `${whole(length)} events, one line each; only those in sight are drawn. Choose one to read it in full, or narrow the list to ${whole(COMPACT_ABOVE)} to read the conversation.` : '';
    this.empty.hidden = length > 0;
    replace(this.empty, ...(this.run.index.length === 0
      ? [el('b', null, 'This run has no events')]
      : [el('b', null, 'No event passes the filters'), button('btn', null, () => this.clearFilters(), 'Show all events')]));
    this.list.reset(length, this.compact ? ROW_HEIGHT : 0);
    this.filterBar.draw(length);
  }

  /** Applies the filters again and keeps the chosen item in sight. */
  refilter(): void {
    this.shown = this.filter.apply(this.run);
    this.relist();
    const at = this.positionOf(this.run.selected);
    const stuck = this.element.getBoundingClientRect().top < 48;
    if (stuck) this.list.show(Math.max(at, 0), true);
    this.run.tell('filter');
  }

  clearFilters(): void {
    this.filter.clear();
    this.refilter();
  }

  private clicked(event: MouseEvent): void {
    const target = event.target as Element;
    if (String(getSelection()) !== '') return;
    const row = target.closest<HTMLElement>('[data-item]');
    if (!row || target.closest('.rx, .btn, .gap, .more')) return;
    const id = target.closest('a.id');
    if (id) event.preventDefault();
    this.select(Number(row.dataset['item']), false);
    if (id || this.compact) this.details.show(true);
  }

  /** Chooses an item, and brings it into sight if asked to. */
  select(item: number, scroll: boolean, always = false): void {
    if (item < 0 || item >= this.run.index.length) return;
    if (this.positionOf(item) < 0) {
      const filtered = this.filter.active;
      this.filter.clear();
      if (this.run.index.kind[item] === Kind.other) this.filter.others = true;
      this.refilter();
      if (filtered) toast(`Filters removed to show ${nameOf(item)}`);
    }
    this.run.selected = item;
    for (const row of this.host.querySelectorAll<HTMLElement>('.ev')) row.classList.toggle('sel', Number(row.dataset['item']) === item);
    if (scroll) this.list.show(this.positionOf(item), always);
    this.details.draw();
    this.run.tell('select');
  }

  /** Opens an item, with all of its output if asked to, and draws it again. */
  open(item: number, full: boolean): void {
    this.run.opened.set(item, true);
    if (full) this.run.whole.add(item);
    this.redrawItem(item);
    if (this.compact) this.details.draw();
  }

  toggle(item: number): void {
    if (item < 0) return;
    if (this.compact) return this.details.show(!this.details.open);
    this.run.opened.set(item, !this.run.isOpen(item));
    this.redrawItem(item);
  }

  expandAll(): void {
    this.run.allOpen = this.run.allOpen !== true;
    this.run.opened.clear();
    this.list.redrawAll();
    this.filterBar.draw(this.shown.length);
    toast(this.run.allOpen ? 'All events are open' : 'All events are closed');
  }

  /** Chooses the next or previous shown item. */
  move(direction: 1 | -1): void {
    const at = this.positionOf(this.run.selected);
    const from = at < 0 ? (direction > 0 ? -1 : this.shown.length) : at;
    const next = Math.min(this.shown.length - 1, Math.max(0, from + direction));
    if (next >= 0 && next < this.shown.length) this.select(this.shown[next], true);
  }

  movePrompt(direction: 1 | -1): void {
    const { kind } = this.run.index;
    let at = this.positionOf(this.run.selected);
    if (at < 0) at = direction > 0 ? -1 : this.shown.length;
    for (at += direction; at >= 0 && at < this.shown.length; at += direction) {
      if (kind[this.shown[at]] === Kind.prompt) return this.select(this.shown[at], true, true);
    }
    toast(direction > 0 ? 'No later prompt' : 'No earlier prompt');
  }

  nextFailure(direction: 1 | -1): void {
    const item = this.run.failureFrom(this.run.selected, direction);
    if (item < 0) return toast('Nothing failed');
    this.select(item, true, true);
    const place = this.run.failures.indexOf(item) + 1;
    toast(`Failure ${whole(place)} of ${count(this.run.failures.length, 'failure')}`.replace(/ failures?$/, ''));
  }

  redrawAll(): void {
    this.list.redrawAll();
  }
}
