/** What the model saw at a call, and what changed since the call before. */
import { append, type Child, el, replace } from '../base/dom';
import { count } from '../base/format';
import { icon } from '../base/icons';
import { nameOf, type Run } from '../base/run';
import type { Request } from '../data/contexts';
import { drawContent, drawJson } from './blocks';

/** A box that is filled when it is opened. */
function box(open: boolean, title: Child[], fill: (body: HTMLElement) => void): HTMLDetailsElement {
  const body = el('div.bod');
  const element = el('details.cx', { open }, el('summary', null, icon('right', 'chev'), ...title), body);
  const act = (): void => {
    if (element.open && body.childElementCount === 0) fill(body);
  };
  act();
  element.addEventListener('toggle', act);
  return element;
}

/** The parts of a context; undefined if the agent did not record it. */
export function contextOf(run: Run, item: number): HTMLElement | null {
  const request = run.contexts.ofRow(run.index.row[item]);
  if (!request) return null;
  const messages = run.contexts.messages(request);
  const since = request.since;
  const added = since ? messages.length - since.kept : 0;
  const size = count(messages.length, 'message') + (since ? `, ${added} new` : '');
  const element = box(false, ['What the model saw', el('span.tag', null, size)], (body) => fill(body, run, item, request, messages));
  element.classList.add('sec', 'ctx');
  return element;
}

function fill(body: HTMLElement, run: Run, item: number, request: Request, messages: number[]): void {
  const { contexts } = run;
  const { since, frame } = request;
  const parts = frame === null ? messages : [frame, ...messages];
  const checks = parts.map((part) => contexts.check(part));
  const kept = since?.kept ?? 0;
  append(body, [since ? changes(run, request, messages.length) : null, el('p.note', null, hashes(checks))]);
  if (frame !== null) body.appendChild(partBox(run, item, frame, 'System prompt and tools', since?.frame ?? false));
  body.appendChild(box(since?.settings ?? false, ['Settings'], (inner) => inner.appendChild(drawJson(contexts.settings(request)))));
  const draw = (parent: Node, from: number, to: number, open: boolean): void => {
    for (let at = from; at < to; at += 1) parent.appendChild(partBox(run, item, messages[at], `Message ${at + 1}`, open));
  };
  if (kept > 0) body.appendChild(box(false, [`${count(kept, 'message')} as before`], (inner) => draw(inner, 0, kept, false)));
  draw(body, kept, messages.length, since !== undefined && messages.length - kept < 20);
}

function changes(run: Run, request: Request, total: number): HTMLElement {
  const { since } = request;
  const row = since ? run.contexts.rowOf(since.before) : undefined;
  const before = row === undefined ? -1 : run.index.row.indexOf(row);
  const words = [
    `${since?.kept} kept`, since?.dropped ? `${since.dropped} gone or replaced` : '', `${total - (since?.kept ?? 0)} new`,
    since?.frame ? 'another system prompt or other tools' : '', since?.settings ? 'other settings' : '',
  ].filter(Boolean).join(', ');
  return el('p', null, 'Since the ', before >= 0 ? el('a', { href: `#${nameOf(before)}` }, 'call before') : 'request before', `: ${words}.`);
}

/** Whether the parts are what was sent, in words. */
function hashes(checks: string[]): string {
  const of = (check: string): number => checks.filter((one) => one === check).length;
  const [verified, redacted, other] = [of('verified'), of('redacted'), of('differs') + of('missing')];
  if (verified === checks.length) return `All ${count(checks.length, 'part')} have the SHA-256 that the agent recorded.`;
  return `${verified} of ${count(checks.length, 'part')} have the SHA-256 that the agent recorded.`
    + (redacted > 0 ? ` ${redacted} changed when secrets and paths were hidden, so that this cannot be verified.` : '')
    + (other > 0 ? ` ${other} are missing or differ.` : '');
}

function partBox(run: Run, item: number, part: number, name: string, open: boolean): HTMLElement {
  const check = run.contexts.check(part);
  const tag = check === 'verified' ? null : el('span.tag', null, check);
  const element = box(open && check !== 'missing', [name, tag], (body) => {
    const redraw = (): void => {
      run.contexts.value(part).then((value) => {
        replace(body);
        if (!value) return body.appendChild(el('p.note', null, 'The session does not contain it.'));
        const options = { run, item, prose: value['role'] === 'assistant', redraw };
        if (typeof value['role'] === 'string') element.querySelector('summary .role')?.replaceChildren(` ${value['role']}`);
        drawContent(body, value['role'] === undefined ? value['system'] : value['content'], options);
        if (value['tools'] !== undefined) body.appendChild(drawJson(value['tools']));
        return body;
      }).catch(() => replace(body, el('p.note', null, 'This cannot be decoded.')));
    };
    body.appendChild(el('p.note', null, 'Reading…'));
    redraw();
  });
  element.querySelector('summary')?.appendChild(el('span.role.muted'));
  return element;
}
