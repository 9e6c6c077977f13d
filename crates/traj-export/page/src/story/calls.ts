/** Draws a tool call: command, outcome and duration in the head; arguments and result in the body. */
import { el } from '../base/dom';
import { count, duration } from '../base/format';
import { icon, type IconName } from '../base/icons';
import type { Run } from '../base/run';
import { blocks, isRecord } from '../data/content';
import { Flag, NO_EXIT_CODE, NONE } from '../data/index';
import { appendText } from '../text/chips';
import { counts, drawDiff, editsOf } from '../text/diff';
import { drawContent, drawJson, drawMembers, type DrawOptions } from './blocks';

export function callIcon(run: Run, item: number): IconName {
  const { index } = run;
  if (index.has(item, Flag.failed)) return 'close';
  if (index.has(item, Flag.startsAgent)) return 'branch';
  if (index.has(item, Flag.edit)) return 'pencil';
  return /read|view|open|glob|grep|search|fetch/i.test(index.labelOf(item)) ? 'page' : 'terminal';
}

/** The outcome in words; empty for a call that simply worked. */
export function outcomeOf(run: Run, item: number): string {
  const { index } = run;
  const words = index.wordsOf(item);
  if (words) return words;
  const code = index.exitCode[item];
  if (code !== NO_EXIT_CODE && code !== 0) return `exit ${code}`;
  if (index.has(item, Flag.timedOut)) return 'timed out';
  if (index.has(item, Flag.failed)) return 'failed';
  if (index.has(item, Flag.declined)) return 'declined';
  if (index.has(item, Flag.interrupted)) return 'interrupted';
  if (index.has(item, Flag.unanswered)) return 'no result';
  return '';
}

export function outcomeTag(run: Run, item: number): HTMLElement | null {
  const words = outcomeOf(run, item);
  const { index } = run;
  if (!words || (words === 'ok' && !index.has(item, Flag.failed))) return null;
  if (index.has(item, Flag.failed)) return el('span.tag.bad', null, words);
  const odd = index.has(item, Flag.declined | Flag.interrupted | Flag.unanswered);
  return el(odd ? 'span.tag.odd' : 'span.tag', null, words);
}

function lineTag(run: Run, item: number): HTMLElement | null {
  if (!run.index.has(item, Flag.edit)) return null;
  const files = editsOf(run.content.body(item));
  if (!files) return null;
  const { added, removed } = counts(files);
  return el('span.tag.num', null, el('span.p', null, `+${added}`), ' ', el('span.m', null, `\u2212${removed}`));
}

/** What the head of the call says: the command, or the start of the arguments. */
export function commandOf(run: Run, item: number): string {
  return run.content.command(item) || run.content.line(item);
}

function drawArguments(parent: HTMLElement, options: DrawOptions): void {
  const { run, item } = options;
  const value = run.content.body(item);
  const command = run.content.command(item);
  if (run.index.has(item, Flag.edit)) {
    const files = editsOf(value);
    if (files) {
      const one = files.length === 1 && files[0].path === command;
      parent.appendChild(drawDiff(files, !one));
      return;
    }
  }
  if (isRecord(value)) {
    const shown = run.content.commandMember(item);
    const rest = Object.entries(value).filter(([name, inner]) => name !== shown && inner !== null);
    if (rest.length > 0) parent.appendChild(drawMembers(rest, options));
  } else if (typeof value === 'string') {
    if (value !== command) drawContent(parent, value, options);
  } else if (value !== undefined && value !== null && !Array.isArray(value)) parent.appendChild(drawJson(value));
  else if (Array.isArray(value) && value.join(' ') !== command) parent.appendChild(drawJson(value));
}

function drawResult(parent: HTMLElement, options: DrawOptions): void {
  const { run, item } = options;
  const { index } = run;
  const value = run.content.result(item);
  if (index.resultRow[item] === NONE) {
    parent.appendChild(el('p.note', null, 'No result is recorded.'));
    return;
  }
  const before = parent.childElementCount;
  drawContent(parent, value, options);
  if (parent.childElementCount === before || blocks(value).every((part) => part.kind === 'text' && part.text === '')) {
    parent.appendChild(el('p.note', null, 'The result is empty.'));
  }
  if (index.has(item, Flag.truncated)) {
    parent.appendChild(el('p.note', null, 'The source had already cut this text when it was recorded.'));
  }
}

/** The body of a call, wherever it is shown. */
export function callBody(options: DrawOptions): HTMLElement {
  const body = el('div.bod');
  drawArguments(body, options);
  drawResult(body, options);
  return body;
}

/** Draws a call that opens and closes. */
export function drawCall(options: DrawOptions): HTMLElement {
  const { run, item } = options;
  const { index } = run;
  const command = el('code.cm.txt');
  appendText(command, commandOf(run, item));
  const members = index.has(item, Flag.startsAgent) ? agentNote(run, item) : null;
  const head = el('summary', null,
    icon('right', 'chev'),
    el('span.nm', null, index.has(item, Flag.startsAgent) ? 'sub-agent' : index.labelOf(item) || 'tool'),
    command, members, lineTag(run, item), outcomeTag(run, item),
    el('span.dur', null, duration(index.duration[item])));
  const box = el('details.tc', null, head);
  const fill = (): void => {
    if (box.open && box.childElementCount === 1) box.appendChild(callBody(options));
  };
  box.open = run.isOpen(item);
  fill();
  box.addEventListener('toggle', () => {
    run.opened.set(item, box.open);
    fill();
  });
  return box;
}

/** How much a sub-agent did. */
function agentNote(run: Run, item: number): HTMLElement | null {
  const number = run.index.threads.startItem.indexOf(item);
  if (number <= 0) return null;
  return el('span.tag', null, `${run.index.threadName(number)}, ${count(run.threadSize(number), 'event')}`);
}
