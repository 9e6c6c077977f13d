/** Draws the items of the story, each as an icon, a body and a link to itself. */
import { append, el } from '../base/dom';
import { clock, count, duration, money, short, whole } from '../base/format';
import { icon, type IconName } from '../base/icons';
import { nameOf, type Run } from '../base/run';
import { firstLine } from '../data/content';
import { Flag, KIND_NAMES, Kind } from '../data/index';
import { appendText } from '../text/chips';
import { drawContent, type DrawOptions } from './blocks';
import { callIcon, drawCall } from './calls';

const ICONS: Record<number, IconName> = {
  1: 'person', 2: 'spark', 3: 'dots', 6: 'clock', 7: 'compact', 8: 'gear', 9: 'warning', 10: 'flag', 11: 'stop',
  12: 'play', 13: 'page', 14: 'image', 15: 'gear', 16: 'dots', 17: 'check', 18: 'branch',
};

const CLASSES: Record<number, string> = {
  1: 'prompt', 2: 'text', 3: 'reason', 4: 'tool', 5: 'model', 6: 'wait', 7: 'comp', 9: 'err', 10: 'loss',
};

export function iconOf(run: Run, item: number): IconName {
  const kind = run.index.kind[item];
  return kind === Kind.call ? callIcon(run, item) : ICONS[kind] ?? 'dots';
}

/** The tokens and the cost of a model call in words. */
export function modelFacts(run: Run, item: number): string[] {
  const { index } = run;
  const { calls } = index;
  const call = index.ordinal(item);
  const facts: string[] = [];
  const model = call >= 0 ? index.string(calls.model[call]) : index.labelOf(item);
  if (model) facts.push(model);
  const took = duration(index.duration[item]);
  if (took) facts.push(took);
  if (call < 0) return facts;
  facts.push(`${short(calls.cached[call] + calls.fresh[call])} in, ${short(calls.cached[call])} cached`);
  facts.push(`${whole(calls.output[call])} out`);
  facts.push(Number.isNaN(calls.cost[call]) ? 'cost unknown' : money(calls.cost[call], run.head.summary.usage.currency));
  return facts;
}

export function titleOf(run: Run, item: number): string {
  const { index } = run;
  const kind = index.kind[item];
  if (kind === Kind.model) {
    const call = index.ordinal(item);
    return call >= 0 ? `Model call ${call + 1}` : 'Model call';
  }
  if (kind === Kind.call) return index.labelOf(item) || 'Tool call';
  return KIND_NAMES[kind] ?? 'Event';
}

function modelLine(run: Run, item: number): HTMLElement {
  const line = el('div.line', null, el('b', null, titleOf(run, item)));
  for (const fact of modelFacts(run, item)) append(line, [' · ', fact]);
  const words = run.index.wordsOf(item);
  if (words) append(line, [' · ', el(run.failed(item) ? 'span.tag.bad' : 'span', null, words)]);
  return line;
}

function prompt(options: DrawOptions): HTMLElement {
  const box = el('div.promptb');
  drawContent(box, options.run.content.body(options.item), { ...options, prose: true });
  if (options.run.index.has(options.item, Flag.skipped)) box.appendChild(el('p.note', null, 'This prompt was skipped.'));
  return box;
}

function answer(options: DrawOptions): HTMLElement {
  const box = el('div.answer');
  drawContent(box, options.run.content.body(options.item), { ...options, prose: true });
  return box;
}

/** A part that is closed at first: reasoning, the system prompt, summaries, other rows. */
function closed(options: DrawOptions, head: (Node | string)[], className: string, prose: boolean): HTMLElement {
  const { run, item } = options;
  const box = el('details', { class: className }, el('summary', null, icon('right', 'chev'), ...head));
  const fill = (): void => {
    if (!box.open || box.childElementCount > 1) return;
    const inner = el('div.in');
    drawContent(inner, run.content.body(item), { ...options, prose });
    drawContent(inner, run.content.result(item), { ...options, prose });
    if (inner.childElementCount === 0) inner.appendChild(el('p.note', null, 'Nothing else is recorded.'));
    box.appendChild(inner);
  };
  box.open = run.isOpen(item);
  fill();
  box.addEventListener('toggle', () => {
    run.opened.set(item, box.open);
    fill();
  });
  return box;
}

/** Title, label, words and duration of an item, for its closed head. */
function headOf(run: Run, item: number): (Node | string)[] {
  const { index } = run;
  const parts: (Node | string)[] = [el('b', null, titleOf(run, item))];
  const label = el('span.txt');
  appendText(label, index.labelOf(item));
  if (label.textContent) parts.push(' ', label);
  const words = index.wordsOf(item);
  if (words && words !== label.textContent) parts.push(' · ', words);
  const took = duration(index.duration[item]);
  if (took) parts.push(el('span.dur', null, took));
  return parts;
}

function approval(options: DrawOptions): HTMLElement {
  const { run, item } = options;
  const { index } = run;
  const what = run.content.command(item) || index.labelOf(item) || firstLine(run.content.line(item));
  const code = el('code.txt');
  appendText(code, what);
  return el('div.waitb', null, el('b', null, 'Asked for approval'), what ? ' of ' : null, what ? code : null,
    index.wordsOf(item) ? ` · ${index.wordsOf(item)}` : null,
    el('span.dur', null, duration(index.duration[item])));
}

function problem(options: DrawOptions): HTMLElement {
  const { run, item } = options;
  const box = el('div.errb', null, el('div.line', null, el('b', null, titleOf(run, item)),
    run.index.wordsOf(item) ? ` · ${run.index.wordsOf(item)}` : null,
    run.index.has(item, Flag.recovered) ? ' · recovered' : null));
  const before = box.childElementCount;
  drawContent(box, run.content.body(item), { ...options, prose: false });
  // The label is the start of the text; it stands in where the text is missing.
  if (box.childElementCount === before) drawContent(box, run.index.labelOf(item), { ...options, prose: false });
  return box;
}

export function drawBody(options: DrawOptions): HTMLElement {
  const { run, item } = options;
  switch (run.index.kind[item]) {
    case Kind.prompt: return prompt(options);
    case Kind.text: return answer(options);
    case Kind.call: return drawCall(options);
    case Kind.model: return modelLine(run, item);
    case Kind.approval: return approval(options);
    case Kind.error: return problem(options);
    case Kind.reasoning: return closed(options, headOf(run, item), 'cx', true);
    case Kind.compaction: return closed(options, headOf(run, item), 'cmpb', true);
    case Kind.attachment: return closed(options, headOf(run, item), 'cx', true);
    default: return closed(options, headOf(run, item), 'cx', false);
  }
}

/** The height that an item will probably have, before it is drawn. */
export function estimate(run: Run, item: number): number {
  const { index } = run;
  const size = index.bytes[item];
  switch (index.kind[item]) {
    case Kind.model: return 38;
    case Kind.prompt: return 58 + Math.min(40, Math.floor(size / 90)) * 22;
    case Kind.text: return 42 + Math.min(120, Math.floor(size / 80)) * 22;
    case Kind.call: return run.isOpen(item) ? 80 + Math.min(20, size / 50) * 18 : 40;
    case Kind.error: return 70;
    default: return 40;
  }
}

/** One item with its icon and link. The body is empty until its rows are decoded. */
export function drawItem(options: DrawOptions): HTMLElement {
  const { run, item } = options;
  const { index } = run;
  const kind = index.kind[item];
  const bad = index.has(item, Flag.failed);
  const row = el('div', { class: `ev ${CLASSES[kind] ?? 'plain'}${bad ? ' bad' : ''}${run.selected === item ? ' sel' : ''}`, 'data-item': item });
  const mark = el('span.k', { title: titleOf(run, item) }, kind === Kind.model ? null : icon(iconOf(run, item)));
  const body = el('div.b');
  if (run.content.ready(item)) body.appendChild(drawBody(options));
  else {
    body.classList.add('wait');
    body.style.minHeight = `${estimate(run, item) - 8}px`;
  }
  append(row, [mark, body, el('a.id', { href: `#${nameOf(item)}`, 'aria-label': `${titleOf(run, item)}, event ${nameOf(item)}` }, nameOf(item))]);
  return row;
}

/** The heading of a turn. */
export function turnHead(run: Run, turn: number): HTMLElement {
  const { index } = run;
  const from = index.turnStart(turn);
  const to = index.turnEnd(turn);
  let calls = 0;
  let failed = 0;
  let end = NaN;
  for (let item = from; item < to; item += 1) {
    if (index.kind[item] === Kind.call) calls += 1;
    if (index.flags[item] & Flag.failed) failed += 1;
    const at = index.end(item);
    if (!(at <= end)) end = at;
  }
  const facts = [clock(index.start[from]), duration(end - index.start[from]), count(calls, 'tool call')].filter(Boolean).join(' · ');
  return el('h3.turn', null, `Turn ${turn}`, el('span', null, facts, failed > 0 ? ' · ' : null, failed > 0 ? el('b', null, `${whole(failed)} failed`) : null));
}
