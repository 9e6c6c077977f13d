/** The bar above the conversation: filters, and buttons to move and to open. */
import { button, el, replace } from '../base/dom';
import { count, position, whole } from '../base/format';
import { icon } from '../base/icons';
import type { Run } from '../base/run';
import { type Filter, OUTCOMES, type Outcome, segmentCounts, SEGMENTS, toolsByUse } from './filter';

export interface BarActions {
  changed(): void;
  nextFailure(): void;
  expand(): void;
}

function select(label: string, options: [string, string][], change: (value: string) => void): HTMLSelectElement {
  const box = el('select', { 'aria-label': label });
  for (const [value, text] of options) box.appendChild(el('option', { value }, text));
  box.addEventListener('change', () => change(box.value));
  return box;
}

export class FilterBar {
  readonly element: HTMLElement;
  private readonly segments = new Map<string, HTMLButtonElement>();
  private readonly chips = el('span.fchips');
  private readonly tool: HTMLSelectElement;
  private readonly outcome: HTMLSelectElement;
  private readonly thread: HTMLSelectElement | null;
  private readonly others: HTMLButtonElement;
  private readonly expandButton: HTMLButtonElement;
  private readonly note = el('span.vh', { role: 'status' });

  constructor(private readonly run: Run, private readonly filter: Filter, private readonly actions: BarActions) {
    const counts = segmentCounts(run);
    const segments = el('div.seg.kinds', { role: 'group', 'aria-label': 'Kinds of events' });
    for (const [segment, name] of SEGMENTS) {
      if (segment !== 'all' && counts[segment] === 0) continue;
      const pick = button('', null, () => {
        filter.segment = segment;
        this.apply();
      }, name, ' ', el('span.num', null, whole(counts[segment])));
      this.segments.set(segment, pick);
      segments.appendChild(pick);
    }
    const tools = toolsByUse(run).slice(0, 200).map(([label, calls]): [string, string] =>
      [String(label), `${run.index.string(label) || 'unnamed'} (${whole(calls)})`]);
    this.tool = select('Tool', [['-1', 'Any tool'], ...tools], (value) => {
      filter.tool = Number(value);
      this.apply();
    });
    this.outcome = select('Outcome', OUTCOMES, (value) => {
      filter.outcome = value as Outcome;
      this.apply();
    });
    this.thread = this.threads();
    const failure = button('btn q nf', null, () => actions.nextFailure(), icon('cross'), 'Next failure', el('kbd', null, 'e'));
    failure.hidden = run.failures.length === 0;
    this.others = button('btn q oth', null, () => {
      filter.others = !filter.others;
      this.apply();
    }, 'Other rows ', el('span.num.muted', null, whole(counts.others)));
    this.others.title = 'Rows of unknown types, and rows that repeat what others state';
    this.others.hidden = counts.others === 0;
    this.expandButton = button('btn q ex', null, () => actions.expand(), 'Expand all', el('kbd', null, 'x'));
    this.element = el('div.row', null,
      el('h2.h2', null, 'Conversation'), segments, tools.length > 0 ? this.tool : null, tools.length > 0 ? this.outcome : null, this.thread, this.others, this.chips,
      el('span.grow'), failure, this.expandButton, this.note);
    this.draw(counts.all);
  }

  private threads(): HTMLSelectElement | null {
    const { threads } = this.run.index;
    if (threads.length < 2) return null;
    const names: [string, string][] = [['-1', 'All agents'], ['0', 'main']];
    for (let thread = 1; thread < Math.min(threads.length, 500); thread += 1) {
      names.push([String(thread), `${'\u00a0\u00a0'.repeat(this.run.index.depth(thread) - 1)}↳ ${this.run.index.threadName(thread)}`]);
    }
    return select('Agent', names, (value) => {
      this.filter.thread = Number(value);
      this.apply();
    });
  }

  private apply(): void {
    this.actions.changed();
  }

  private chip(text: string, remove: () => void): HTMLElement {
    return button('btn range', `Remove the filter: ${text}`, () => {
      remove();
      this.apply();
    }, text, icon('close'));
  }

  /** Shows the state of the filter and how many items pass. */
  draw(shown: number): void {
    const { filter, run } = this;
    for (const [segment, pick] of this.segments) pick.setAttribute('aria-pressed', String(segment === filter.segment));
    this.tool.value = String(filter.tool);
    this.outcome.value = filter.outcome;
    this.others.setAttribute('aria-pressed', String(filter.others));
    if (this.thread) this.thread.value = String(filter.thread);
    const chips: HTMLElement[] = [];
    if (filter.range) {
      const { from, to } = filter.range;
      chips.push(this.chip(`${position(from - run.firstStart)}–${position(to - run.firstStart)}`, () => { filter.range = null; }));
    }
    if (filter.matches) chips.push(this.chip('Only matches', () => { filter.matches = null; }));
    if (filter.active) chips.push(el('span.muted.num', null, `${whole(shown)} shown`));
    replace(this.chips, ...chips);
    this.note.textContent = filter.active ? `${count(shown, 'event')} shown` : '';
    const open = run.allOpen === true;
    this.expandButton.firstChild?.replaceWith(open ? 'Collapse all' : 'Expand all');
  }
}
