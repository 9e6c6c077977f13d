/** One line per item, for runs with very many: a fixed height, opened in the details. */
import { append, el } from '../base/dom';
import { clock, duration, short } from '../base/format';
import { icon } from '../base/icons';
import { nameOf, type Run } from '../base/run';
import { Flag, Kind } from '../data/index';
import { appendText } from '../text/chips';
import { withoutAnsi } from '../data/content';
import { outcomeTag } from './calls';
import { iconOf, titleOf } from './items';

export const ROW_HEIGHT = 30;

/** The text of the row: what was called, said or done. */
function lineOf(run: Run, item: number): string {
  const { index } = run;
  if (index.kind[item] === Kind.model) {
    const call = index.ordinal(item);
    if (call < 0) return index.labelOf(item);
    const { cached, fresh, output, model } = index.calls;
    return `${index.string(model[call])} · ${short(cached[call] + fresh[call])} in, ${short(cached[call])} cached · ${short(output[call])} out`;
  }
  const line = run.content.ready(item) ? withoutAnsi(run.content.line(item)) : '';
  return index.kind[item] === Kind.call ? line : [index.labelOf(item), line].filter(Boolean).join(' · ');
}

export function drawRow(run: Run, item: number, select: () => void): HTMLElement {
  const { index } = run;
  const bad = index.has(item, Flag.failed);
  const row = el('div', { class: `ev row${bad ? ' bad' : ''}${run.selected === item ? ' sel' : ''}`, 'data-item': item });
  const text = el('span.cm.txt');
  appendText(text, lineOf(run, item));
  if (index.thread[item] !== 0) text.classList.add('nested');
  append(row, [
    el('a.id', { href: `#${nameOf(item)}`, 'aria-label': `${titleOf(run, item)}, event ${nameOf(item)}` }, nameOf(item)),
    el('span.mono.at', null, clock(index.time(item))),
    icon(index.kind[item] === Kind.model ? 'spark' : iconOf(run, item)),
    el('span.nm', null, titleOf(run, item)),
    text,
    outcomeTag(run, item) ?? el('span'),
    el('span.dur', null, duration(index.duration[item])),
  ]);
  row.addEventListener('click', select);
  return row;
}
