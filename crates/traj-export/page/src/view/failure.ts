/** What went wrong: the first failure with its last lines, and what else is worth a look. */
import { button, el, replace } from '../base/dom';
import { count, duration, position } from '../base/format';
import { icon, type IconName } from '../base/icons';
import { nameOf, type Run } from '../base/run';
import { searchable } from '../data/content';
import type { Failure, Head } from '../data/head';
import { NO_EXIT_CODE } from '../data/index';
import { appendAnsi, PLAIN } from '../text/ansi';
import { appendText } from '../text/chips';
import { TextLines } from '../text/output';
import { commandOf, outcomeOf } from '../story/calls';

const LAST_LINES = 7;

function lines(texts: string[]): HTMLElement {
  const box = el('pre', { tabindex: 0, role: 'group', 'aria-label': 'Last lines of the output' });
  let look = PLAIN;
  texts.forEach((text, at) => {
    const line = el('span');
    look = appendAnsi(line, text, look);
    box.appendChild(line);
    if (at < texts.length - 1) box.appendChild(document.createTextNode('\n'));
  });
  return box;
}

/** Drops empty lines at the end and keeps the last ones. */
function lastLines(texts: string[]): string[] {
  let end = texts.length;
  while (end > 0 && texts[end - 1].trim() === '') end -= 1;
  return texts.slice(Math.max(0, end - LAST_LINES), end);
}

export class FailureCard {
  readonly element = el('section.card.failc', { 'aria-label': 'First failure' });
  private run: Run | null = null;
  private at = 0;

  constructor(private readonly head: Head, private readonly go: (item: number) => void) {
    const { failure } = head.overview;
    if (failure) this.draw(failure, 'First failure', false);
  }

  /** Lets the card step through all failures, once the index is read. */
  attach(run: Run): void {
    this.run = run;
    const { failure } = this.head.overview;
    if (!failure) return;
    this.at = Math.max(0, run.failures.indexOf(failure.item));
    this.draw(failure, 'First failure', false);
  }

  private draw(failure: Failure, name: string, later: boolean): void {
    const { run } = this;
    const total = run ? run.failures.length : 0;
    const words = failure.inWords || failure.outcome;
    const tag = words || (typeof failure.exitCode === 'number' ? `exit ${failure.exitCode}` : 'failed');
    const when = run ? this.when(failure.item) : '';
    const command = el('code');
    appendText(command, failure.command || failure.error || failure.tool);
    const shown = lastLines(failure.lastLines.length > 0 ? failure.lastLines : failure.error && failure.error !== failure.command ? failure.error.split('\n') : []);
    replace(this.element,
      el('header', null, icon('cross'), el('h2.h2', null, name), el('span.tag.bad', null, tag), el('span.grow'),
        when ? el('span.x.muted', null, when) : null,
        total > 1 ? el('span.pg.num', null, `${this.at + 1} of ${total}`) : null,
        total > 1 ? button('btn q ic', 'Previous failure', () => this.step(-1), icon('up')) : null,
        total > 1 ? button('btn q ic', 'Next failure', () => this.step(1), icon('down')) : null),
      el('div.cmd', null, el('span.p', null, failure.command ? '$' : failure.tool ? '' : '!'), command),
      lines(shown),
      el('footer', null, button('btn', null, () => this.go(failure.item), `Open ${nameOf(failure.item)}`),
        later ? null : this.later(failure),
        el('span.grow'), failure.outputLines > 0 ? el('span.num', null, `${count(failure.outputLines, 'line')} of output`) : null));
  }

  private later(failure: Failure): HTMLElement {
    if (typeof failure.passedLater !== 'number') return el('span', null, 'The same command did not pass later.');
    const name = nameOf(failure.passedLater);
    return el('span', null, icon('check'), ' The same command passed later, in ', el('a', { href: `#${name}` }, name));
  }

  private when(item: number): string {
    const { index, firstStart } = this.run as Run;
    const start = index.start[item];
    if (Number.isNaN(start)) return '';
    const took = duration(index.duration[item]);
    return `started ${position(start - firstStart)}${took ? `, ran ${took}` : ''}`;
  }

  private step(direction: 1 | -1): void {
    const { run } = this;
    if (!run) return;
    const total = run.failures.length;
    this.at = (this.at + direction + total) % total;
    const item = run.failures[this.at];
    const first = this.head.overview.failure;
    if (first && first.item === item) return this.draw(first, 'First failure', false);
    void run.content.load(item).then(() => this.draw(this.describe(run, item), 'Failure', true));
  }

  /** A later failure, from its own rows. */
  private describe(run: Run, item: number): Failure {
    const { index } = run;
    const text = searchable(run.content.result(item) ?? run.content.body(item), []);
    const all = new TextLines(text);
    const last: string[] = [];
    for (let at = Math.max(0, all.length - LAST_LINES * 2); at < all.length; at += 1) last.push(all.line(at));
    return {
      item, tool: index.labelOf(item), command: commandOf(run, item), outcome: 'failed', inWords: outcomeOf(run, item),
      exitCode: index.exitCode[item] === NO_EXIT_CODE ? null : index.exitCode[item], error: null, lastLines: last, outputLines: all.length,
    };
  }
}

const WORTH: Record<string, [IconName, string]> = {
  failure: ['cross', 'f'], contextJump: ['steps', 'm'], longestWait: ['clock', 'w'], compaction: ['compact', 'm'], retry: ['retry', 'w'],
  loss: ['warning', 'w'], unknown: ['flag', ''], redaction: ['lock', 'r'],
};

/** A list of at most seven things; the last is what the summary warns of, if it does. */
export function worthCard(head: Head, go: (item: number) => void, openReport: () => void): HTMLElement {
  const list = el('ul.look');
  const entry = (name: IconName, look: string, text: string, note: string, act: () => void): void => {
    const words = el('span');
    appendText(words, text);
    for (const chip of words.querySelectorAll('button')) chip.replaceWith(chip.textContent ?? '');
    list.appendChild(el('li', null, button('', null, act, icon(name, look), words, el('span.num', null, note))));
  };
  const { warnings, problems, lostEvents } = head.summary;
  const notes = warnings.length + problems.length + (lostEvents > 0 ? 1 : 0);
  for (const worth of head.overview.worth.slice(0, notes > 0 ? 6 : 7)) {
    const [name, look] = WORTH[worth.kind] ?? ['flag', ''];
    const { item } = worth;
    entry(name, look, worth.text, item === null ? '' : nameOf(item), () => (item === null ? openReport() : go(item)));
  }
  if (notes > 0) entry('warning', 'w', count(notes, 'warning and loss', 'warnings and losses'), 'read', openReport);
  if (list.childElementCount === 0) list.appendChild(el('li.calm', null, 'Nothing stands out.'));
  return el('section.card.worth', null, el('div.hd', null, el('h2.h2', null, 'Worth a look')), list);
}
