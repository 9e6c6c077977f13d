/** The banner of a review copy, with strings that look like secrets. Such a page is not for sending. */
import { el } from '../base/dom';
import { count } from '../base/format';
import { icon } from '../base/icons';
import { nameOf, type Run } from '../base/run';
import type { Head } from '../data/head';
import { itemOfRow } from '../data/search';

const AT_MOST = 200;

export function reviewBanner(head: Head): HTMLElement | null {
  if (!head.review) return null;
  const findings = head.reviewFindings ?? [];
  const places = findings.reduce((sum, finding) => sum + finding.count, 0);
  const table = el('table.rlist', null, el('tr', null,
    el('th', { scope: 'col' }, 'Looks like'), el('th', { scope: 'col' }, 'Where'), el('th', { scope: 'col' }, 'Times'), el('th', { scope: 'col' }, 'Event')));
  for (const finding of findings.slice(0, AT_MOST)) {
    table.appendChild(el('tr', { 'data-row': finding.file === 'events.jsonl' ? finding.row : null },
      el('td', null, el('code', null, finding.rule)), el('td', null, `${finding.file}${finding.row >= 0 ? `:${finding.row + 1}` : ''}`),
      el('td.num', null, finding.count), el('td.go')));
  }
  return el('section.review', { 'aria-label': 'Review copy' },
    el('p', null, icon('warning'), el('b', null, 'Review copy, not for sending. '),
      findings.length === 0 ? 'No string looks like a secret that the rules missed.' : `${count(places, 'string')} in ${count(findings.length, 'place')} look like secrets that the rules missed.`),
    findings.length > 0 ? el('details', null, el('summary', null, icon('right', 'chev'), 'Strings to review'), table) : null);
}

/** Adds links to the events, once the index is read. */
export function linkReview(run: Run): void {
  for (const row of document.querySelectorAll<HTMLElement>('.review tr[data-row]')) {
    const item = itemOfRow(run.content, Number(row.dataset['row']));
    const cell = row.querySelector('.go');
    if (item >= 0 && cell) cell.appendChild(el('a', { href: `#${nameOf(item)}` }, nameOf(item)));
  }
}
