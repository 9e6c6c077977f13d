/** The chosen item in full: outcome, times, where it is recorded, tokens, and the rows themselves. */
import { append, button, type Child, copy, el, replace } from '../base/dom';
import { bytes, count, duration, moment, money, position, whole } from '../base/format';
import { icon } from '../base/icons';
import { nameOf, type Run } from '../base/run';
import { searchable } from '../data/content';
import { Flag, Kind, NONE, NO_EXIT_CODE } from '../data/index';
import { appendText } from '../text/chips';
import { appendCode } from '../text/highlight';
import { TextLines } from '../text/output';
import { callBody, commandOf, outcomeOf } from './calls';
import { contextOf } from './context';
import { drawBody, titleOf } from './items';

export interface DetailsActions {
  step(direction: 1 | -1): void;
  close(): void;
  copyLink(): void;
}

const OUTCOMES: [number, string][] = [
  [Flag.timedOut, 'timed out'], [Flag.failed, 'failed'], [Flag.declined, 'declined'], [Flag.interrupted, 'interrupted'],
  [Flag.unanswered, 'no result'],
];

export class Details {
  readonly element = el('aside.det.card', { 'aria-label': 'Details', tabindex: -1 });
  /** Whether the body of the item is shown here, because the list has only lines. */
  withBody = false;
  private drawn = -1;

  constructor(private readonly run: Run, private readonly actions: DetailsActions) {
    this.element.hidden = true;
  }

  get open(): boolean {
    return this.element.classList.contains('open');
  }

  show(open: boolean): void {
    this.element.classList.toggle('open', open);
  }

  draw(): void {
    const item = this.run.selected;
    this.element.hidden = item < 0;
    if (item < 0) return;
    if (this.run.content.ready(item)) return this.fill(item);
    this.drawn = item;
    this.run.content.load(item).then(() => {
      if (this.drawn === item && this.run.selected === item) this.fill(item);
    }, () => undefined);
  }

  private fill(item: number): void {
    this.drawn = item;
    const { run, actions } = this;
    const { index } = run;
    const title = el('h2.h2');
    const bad = index.has(item, Flag.failed);
    const call = index.kind[item] === Kind.call;
    appendText(title, `${bad ? 'Failed: ' : ''}${titleOf(run, item)}${call ? ` ${commandOf(run, item)}` : ''}`.slice(0, 300));
    for (const chip of title.querySelectorAll('button')) chip.replaceWith(chip.textContent ?? '');
    const text = call ? commandOf(run, item) : searchable(run.content.body(item), []);
    replace(this.element,
      el('div.dh', null, el('span.mono.muted', null, nameOf(item)), title,
        button('btn q ic', 'Previous event', () => actions.step(-1), icon('up')),
        button('btn q ic', 'Next event', () => actions.step(1), icon('down')),
        button('btn q ic close', 'Close the details', () => actions.close(), icon('close'))),
      el('div.sec.acts', null,
        button('btn', null, () => actions.copyLink(), icon('link'), 'Copy link'),
        text ? button('btn', null, () => void copy(text, call ? 'Command' : 'Text'), icon('copy'), call ? 'Copy command' : 'Copy text') : null),
      el('div.sec', null, this.facts(item)),
      this.tokens(item),
      contextOf(run, item),
      this.passedLater(item),
      this.withBody ? this.body(item) : null,
      this.recorded(item));
  }

  private facts(item: number): HTMLElement {
    const { run } = this;
    const { index } = run;
    const list = el('dl');
    const fact = (name: string, ...value: Child[]): void => append(list, [el('dt', null, name), el('dd', null, ...value)]);
    const outcome = this.outcome(item);
    if (outcome) fact('Outcome', outcome);
    const start = index.start[item];
    fact(index.kind[item] === Kind.turnEnd ? 'Turn began' : 'Started', Number.isNaN(start) ? 'unknown' : `${moment(start)}, ${position(start - run.firstStart)} in`);
    if (!Number.isNaN(index.duration[item])) fact('Duration', duration(index.duration[item]));
    if (index.turn[item] > 0) fact('Turn', String(index.turn[item]));
    if (index.threads.length > 1) fact('Agent', index.threadName(index.thread[item]));
    const model = index.kind[item] === Kind.call ? this.modelCallBefore(item) : -1;
    if (model >= 0) fact('After', el('a', { href: `#${nameOf(model)}` }, titleOf(run, model).toLowerCase()));
    if (index.kind[item] === Kind.call) fact('Tool', index.labelOf(item) || 'unnamed');
    const result = searchable(run.content.result(item), []);
    if (result) fact('Output', `${count(new TextLines(result).length, 'line')}, ${bytes(index.bytes[item] || result.length)}`);
    if (index.callId[item]) fact('Call id', el('code', null, index.string(index.callId[item])));
    const rows = [index.row[item], index.resultRow[item]].filter((row, at, all) => row !== NONE && all.indexOf(row) === at);
    if (rows.length > 0) fact('Seen in', ...rows.flatMap((row, at) => [at > 0 ? el('br') : null, el('code', null, `events.jsonl:${row + 1}`)]));
    const notes: [number, string][] = [[Flag.redacted, 'something was redacted'], [Flag.truncated, 'cut by the source'], [Flag.recovered, 'the run recovered'], [Flag.skipped, 'skipped']];
    const said = notes.filter(([flag]) => index.has(item, flag)).map(([, words]) => words);
    if (said.length > 0) fact('Note', said.join(', '));
    return list;
  }

  private outcome(item: number): HTMLElement | string | null {
    const { index } = this.run;
    const words = outcomeOf(this.run, item);
    const state = OUTCOMES.find(([flag]) => index.has(item, flag))?.[1] ?? '';
    const text = state && words && !words.includes(state) ? `${state}, ${words}` : words || state;
    if (index.has(item, Flag.failed)) return el('span.tag.bad', null, text);
    if (text) return text;
    if (index.kind[item] !== Kind.call) return null;
    return index.exitCode[item] === NO_EXIT_CODE ? 'worked' : `exit ${index.exitCode[item]}`;
  }

  /** The nearest model call of the same thread before an item. */
  private modelCallBefore(item: number): number {
    const { kind, thread } = this.run.index;
    for (let at = item - 1; at >= 0 && item - at < 2000; at -= 1) {
      if (kind[at] === Kind.model && thread[at] === thread[item]) return at;
    }
    return -1;
  }

  /** Tokens of a model call and how they differ from the call before. */
  private tokens(item: number): HTMLElement | null {
    const { index, head } = this.run;
    const { calls } = index;
    const call = index.ordinal(item);
    if (call < 0) return null;
    let before = call - 1;
    while (before >= 0 && calls.thread[before] !== calls.thread[call]) before -= 1;
    const list = el('dl.toks');
    const line = (name: string, column: Uint32Array): void => {
      const change = before >= 0 ? column[call] - column[before] : NaN;
      const sign = change > 0 ? '+' : '\u2212';
      append(list, [el('dt', null, name), el('dd.num', null, whole(column[call]),
        Number.isNaN(change) || change === 0 ? null : el('span.muted', null, ` ${sign}${whole(Math.abs(change))}`))]);
    };
    line('Cached', calls.cached);
    line('New', calls.fresh);
    line('Output', calls.output);
    append(list, [el('dt', null, 'Cost'), el('dd.num', null, Number.isNaN(calls.cost[call]) ? 'unknown' : money(calls.cost[call], head.summary.usage.currency))]);
    return el('div.sec', null, el('h3.h3', null, before >= 0 ? 'Tokens, and change since the previous call' : 'Tokens'), list);
  }

  private passedLater(item: number): HTMLElement | null {
    const failure = this.run.head.overview.failure;
    if (!failure || failure.item !== item || typeof failure.passedLater !== 'number') return null;
    const name = nameOf(failure.passedLater);
    return el('div.sec', null, icon('check'), ' The same command passed in ', el('a', { href: `#${name}` }, name));
  }

  private body(item: number): HTMLElement {
    const options = { run: this.run, item, prose: false, redraw: () => this.draw() };
    if (this.run.index.kind[item] === Kind.call) {
      const command = el('code.txt');
      appendText(command, commandOf(this.run, item));
      return el('div.sec.body', null, el('div.cmdline', null, command), callBody(options));
    }
    const body = drawBody(options);
    for (const box of [body, ...body.querySelectorAll('details')]) if (box instanceof HTMLDetailsElement) box.open = true;
    return el('div.sec.body', null, body);
  }

  /** The rows as they stand in the bundle. */
  private recorded(item: number): HTMLElement | null {
    const rows = this.run.content.rows(item).filter((row, at, all) => all.indexOf(row) === at);
    if (rows.length === 0) return null;
    const box = el('details.cx.sec', null, el('summary', null, icon('right', 'chev'), 'As recorded'));
    box.addEventListener('toggle', () => {
      if (!box.open || box.childElementCount > 1) return;
      for (const row of rows) {
        const code = el('code');
        appendCode(code, JSON.stringify(this.run.store.rowNow(row), null, 2)?.slice(0, 100_000) ?? '', 'json');
        append(box, [
          el('div.rowhead', null, `events.jsonl:${row + 1}`,
            button('btn q ic', 'Copy the row', () => void this.run.store.rowLine(row).then((line) => copy(line, 'Row')), icon('copy'))),
          el('pre', { tabindex: 0, role: 'group', 'aria-label': `Row ${row + 1}` }, code),
        ]);
      }
    });
    return box;
  }
}
