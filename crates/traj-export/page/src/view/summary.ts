/** The first screen's upper part: title, how the run ended, and where time, tokens and money went. */
import { append, type Child, el, size } from '../base/dom';
import { count, duration, money, percent, short, span, whole } from '../base/format';
import { icon, type IconName } from '../base/icons';
import type { Head } from '../data/head';
import { appendText } from '../text/chips';

type Look = 'bad' | 'good' | 'odd';

function succeeded(head: Head): boolean {
  return ['success', 'completed', 'ok'].includes(head.overview.endedHow);
}

/** How the run ended, in words, with a sign. */
function status(head: Head): { text: string; look: Look; sign: IconName } {
  const failed = head.summary.calls.errors;
  const calls = failed > 0 ? `, ${count(failed, 'call')} failed` : '';
  if (succeeded(head)) return failed > 0 ? { text: `Finished${calls}`, look: 'bad', sign: 'cross' } : { text: 'Finished', look: 'good', sign: 'check' };
  switch (head.overview.endedHow) {
    case 'error': case 'failed': case 'failure':
      return { text: `Failed${calls}`, look: 'bad', sign: 'cross' };
    case 'interrupted': case 'aborted': case 'cancelled': case 'canceled':
      return { text: `Interrupted${calls}`, look: 'odd', sign: 'stop' };
    case 'open':
      return { text: `Not finished${calls}`, look: 'odd', sign: 'clock' };
    case '': case 'unknown':
      return { text: `End not recorded${calls}`, look: failed > 0 ? 'bad' : 'odd', sign: failed > 0 ? 'cross' : 'flag' };
    default:
      return { text: `Ended: ${head.overview.endedHow}${calls}`, look: failed > 0 ? 'bad' : 'odd', sign: failed > 0 ? 'cross' : 'flag' };
  }
}

export function pill(head: Head): HTMLElement {
  const { text, look, sign } = status(head);
  return el('span', { class: `pill ${look}` }, icon(sign), text);
}

export function title(head: Head): HTMLElement {
  const { summary } = head;
  const heading = el('h1', { id: 'title' });
  appendText(heading, head.title || 'A run without a title');
  const models = Object.entries(summary.models).sort((a, b) => b[1] - a[1]).map(([name]) => name);
  const meta = el('div.meta', null, pill(head));
  if (summary.agent) meta.appendChild(el('b', null, summary.agent));
  if (models.length > 0) meta.appendChild(el('span', null, el('b', null, models[0]), models.length > 1 ? `, ${models.slice(1, 4).join(', ')}${models.length > 4 ? ` and ${models.length - 4} more` : ''}` : null));
  if (head.startedAt !== null && head.endedAt !== null) meta.appendChild(el('span.num', null, span(head.startedAt, head.endedAt)));
  meta.appendChild(el('span', null, [count(summary.turns, 'turn'), count(summary.usage.calls || head.modelCalls, 'model call'), count(summary.calls.calls, 'tool call')].join(', ')));
  const { endedText } = head.overview;
  const ended = el('p.ended');
  appendText(ended, endedText);
  return el('header.title', null, heading, meta, endedText && !succeeded(head) ? ended : null);
}

interface Part {
  look: string;
  value: number;
}

function bar(parts: Part[]): HTMLElement {
  const box = el('div.sbar', { 'aria-hidden': 'true' });
  for (const part of parts) {
    if (part.value <= 0) continue;
    const piece = el('i', { class: `c-${part.look}` });
    size(piece, { flexGrow: String(part.value) });
    box.appendChild(piece);
  }
  return box;
}

function fact(name: string, figure: string, note: Child, parts: Part[], ...caption: Child[]): HTMLElement {
  return el('div.fact', null, el('dt', null, name),
    el('dd', null, el('div.v', null, figure, note ? el('small', null, ' ', note) : null), bar(parts), el('div.leg', null, ...caption)));
}

function timeFact(head: Head): HTMLElement {
  const { time, durationMillis } = head.summary;
  const parts: [string, string, number][] = [
    ['model', 'Model', time.modelMillis], ['tool', 'Tools', time.toolMillis], ['wait', 'Waiting', time.personMillis], ['idle', 'Idle', time.idleMillis],
  ];
  const all = parts.reduce((sum, [, , millis]) => sum + millis, 0);
  const known = head.startedAt !== null;
  return fact('Time', known ? duration(durationMillis) : 'unknown', null, known ? parts.map(([look, , value]) => ({ look, value })) : [{ look: 'unk', value: 1 }],
    ...(known ? parts.filter(([, , millis]) => millis > 0).map(([look, name, millis]) =>
      el('span', null, el('i', { class: `sw c-${look}` }), `${name} `, el('b', null, duration(millis)), ` ${percent(millis, all)}`)) : ['The source states no times']));
}

function tokenFact(head: Head): HTMLElement {
  const { usage } = head.summary;
  const all = usage.inputTokens + usage.outputTokens;
  if (all === 0) return fact('Tokens', 'unknown', null, [{ look: 'unk', value: 1 }], 'The source states none');
  const fresh = usage.inputTokens - usage.cachedTokens;
  return fact('Tokens', short(all), `${percent(usage.cachedTokens, all)} cached`,
    [{ look: 'cached', value: usage.cachedTokens }, { look: 'new', value: fresh }, { look: 'out', value: usage.outputTokens }],
    el('span', null, `${short(fresh)} new`), el('span', null, `${short(usage.outputTokens)} out`),
    usage.reasoningTokens > 0 ? el('span', null, `${short(usage.reasoningTokens)} reasoning`) : null);
}

function contextFact(head: Head): HTMLElement {
  const { context } = head.summary;
  if (context.peakTokens === 0) return fact('Context peak', 'unknown', null, [{ look: 'unk', value: 1 }], 'The source states none');
  return fact('Context peak', short(context.peakTokens), null,
    [{ look: 'new', value: context.peakTokens }],
    el('span', null, `from ${short(context.firstTokens)} to ${short(context.lastTokens)}`),
    el('span', null, context.compactions === 0 ? 'not compacted' : `compacted ${context.compactions === 1 ? 'once' : `${whole(context.compactions)} times`}`));
}

function costFact(head: Head): HTMLElement {
  const { usage, usageByModel } = head.summary;
  const unpriced = Object.entries(usageByModel).filter(([, used]) => typeof used.cost !== 'number' && used.inputTokens + used.outputTokens > 0).map(([name]) => name);
  const origin = usage.costOrigin ? (usage.costOrigin.includes('price') || usage.costOrigin.includes('computed') ? 'tokens times price' : 'as stated by the source') : null;
  if (typeof usage.cost !== 'number') {
    return fact('Cost', 'unknown', null, [{ look: 'unk', value: 1 }], unpriced.length > 0 ? `no price for ${unpriced.slice(0, 3).join(', ')}` : 'The source states none');
  }
  return fact('Cost', money(usage.cost, usage.currency), unpriced.length > 0 ? '+ unknown' : null,
    [{ look: 'known', value: 12 }, { look: 'unk', value: unpriced.length > 0 ? 1 : 0 }],
    unpriced.length > 0 ? `no price for ${unpriced.slice(0, 3).join(', ')}` : origin);
}

export function facts(head: Head): HTMLElement {
  const list = el('dl.facts.card', { 'aria-label': 'Time, tokens, context and cost' });
  append(list, [timeFact(head), tokenFact(head), contextFact(head), costFact(head)]);
  return list;
}
