/** Dialogs: help with the keys, the report of warnings and redactions, files, and licences. */
import { append, button, copy, el } from '../base/dom';
import { bytes, count, whole } from '../base/format';
import { icon } from '../base/icons';
import type { Head } from '../data/head';
import type { ChunkStore } from '../data/chunks';
import { drawOutput } from '../text/output';

const KEYS: [string[], string][] = [
  [['j', 'k'], 'next, previous event'], [[']', '['], 'next, previous prompt'], [['e', 'E'], 'next, previous failure'],
  [['Enter'], 'open or close the event'], [['/', 'Ctrl F'], 'find in everything'], [['n', 'p'], 'next, previous match'],
  [['w', 's'], 'zoom in, zoom out'], [['a', 'd'], 'move left, right'], [['0'], 'show the whole run'], [['c'], 'shorten waits'],
  [['x'], 'expand or collapse all'], [['y'], 'copy a link to the event'], [['t'], 'light or dark'], [['g'], 'back to the summary'],
  [['?'], 'this help'], [['Esc'], 'clear find, range, details'],
];

export const shortcuts = { on: true };

function dialog(name: string, ...content: Node[]): HTMLDialogElement {
  const box = el('dialog', { 'aria-label': name });
  append(box, [
    el('div.dh', null, el('h2.h2', null, name), button('btn q ic', 'Close', () => box.close(), icon('close'))),
    el('div.in', { tabindex: 0, role: 'group', 'aria-label': name }, ...content),
  ]);
  box.addEventListener('click', (event) => {
    if (event.target === box) box.close();
  });
  box.addEventListener('close', () => box.remove());
  document.body.appendChild(box);
  box.showModal();
  return box;
}

/** The dialog that is open, if any. */
export function openDialog(): HTMLDialogElement | null {
  return document.querySelector('dialog[open]');
}

export function showHelp(head: Head, store: ChunkStore, notices: string): void {
  const keys = el('div.keys');
  for (const [names, text] of KEYS) keys.appendChild(el('div', null, el('span', null, text), el('span', null, ...names.map((name) => el('kbd', null, name)))));
  const box = el('input', { type: 'checkbox', id: 'keyson' });
  box.checked = shortcuts.on;
  box.addEventListener('change', () => { shortcuts.on = box.checked; });
  dialog('Help', keys,
    el('p.opt', null, el('label', { for: 'keyson' }, box, ' Shortcuts of a single key')),
    el('p', null, 'Drag over the timeline to show only that time. The wheel zooms with Ctrl, or when the timeline has the focus. Links and addresses in the run are text; a button beside them copies.'),
    el('p.mono.digest', null, `sha256:${head.digest}`),
    el('p.muted', null, 'The digest of the manifest. ', el('code', null, 'traj verify'), ' checks this page against it. Nothing on this page leaves your computer, and the page loads nothing.'),
    el('p.acts', null,
      button('btn', null, () => void copy(head.digest, 'Digest'), icon('copy'), 'Copy digest'),
      button('btn', null, () => showFiles(head, store), 'Files in this page'),
      button('btn', null, () => dialog('Licences', el('pre.lic', null, notices)), 'Licences')),
    el('p.muted', null, head.generator));
}

/** Every file of the bundle, each readable in full. */
export function showFiles(head: Head, store: ChunkStore): void {
  const table = el('table.rlist', null, el('tr', null, el('th', { scope: 'col' }, 'File'), el('th', { scope: 'col' }, 'Size'), el('th', { scope: 'col' }, 'SHA-256')));
  for (const file of head.files.slice(0, 500)) {
    const open = button('lnk', null, () => {
      const whole = { full: true, failed: false, expand: () => undefined };
      void store.text(file.path).then((text) => dialog(file.path, drawOutput(text, whole)));
    }, file.path);
    table.appendChild(el('tr', null, el('td', null, open), el('td.num', null, bytes(file.bytes)), el('td.mono', null, file.sha256.slice(0, 16))));
  }
  dialog('Files in this page', table, head.files.length > 500 ? el('p.muted', null, `and ${count(head.files.length - 500, 'more file')}`) : el('span'));
}

function section(name: string, ...rows: [string, string][]): HTMLElement | null {
  if (rows.length === 0) return null;
  const table = el('table.rlist.pairs');
  for (const [left, right] of rows) table.appendChild(el('tr', null, el('td', null, left), el('td', null, right)));
  return el('section', null, el('h3.h3', null, name), table);
}

/** Warnings, losses, unknown events, branches and redactions. */
export function showReport(head: Head): void {
  const { summary } = head;
  const parts = [
    section('Losses', ...(summary.lostEvents > 0 ? [['Events that the recorder states to be missing', whole(summary.lostEvents)] as [string, string]] : []),
      ...(head.omittedRows ? [['Rows that are too long or damaged', whole(head.omittedRows)] as [string, string]] : [])),
    section('Warnings', ...summary.warnings.map((warning): [string, string] => [
      warning.message, `${count(warning.count, 'time')}${warning.rows.some((row) => row > 0) ? `, row ${warning.rows.filter((row) => row > 0).slice(0, 8).join(', ')} of the ${warning.source}` : ''}`])),
    section('Damage', ...summary.problems.map((problem): [string, string] => [problem.problem, `${problem.file}${problem.line ? `:${problem.line}` : ''}`])),
    section('Unknown events', ...Object.entries(summary.unknown).map(([name, number]): [string, string] => [name, whole(number)])),
    section('Other branches', ...(summary.otherBranches > 0 ? [[count(summary.otherBranches, 'branch', 'branches'), count(summary.otherBranchEntries, 'entry', 'entries')] as [string, string]] : [])),
    section('Redactions', ...(summary.redaction ? [
      ...summary.redaction.rules.map(({ rule, count: number }): [string, string] => [rule, whole(number)]),
      ...(summary.redaction.media > 0 ? [['media', whole(summary.redaction.media)] as [string, string]] : []),
      ...(summary.redaction.paths > 0 ? [['paths and names', whole(summary.redaction.paths)] as [string, string]] : []),
    ] : [])),
  ].filter((part) => part !== null);
  dialog('Warnings, losses and redactions', ...(parts.length > 0 ? parts : [el('p', null, 'Nothing to report.')]));
}
