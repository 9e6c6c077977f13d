/** Edits as differences by line, from the forms in which tools state them. */
import { count } from '../base/format';
import { el } from '../base/dom';
import { isRecord } from '../data/content';
import { appendText } from './chips';

export interface DiffLine {
  sign: '+' | '-' | ' ' | '@';
  text: string;
  before: number | null;
  after: number | null;
}

export interface FileDiff {
  path: string;
  lines: DiffLine[];
}

const LINE_LIMIT = 4000;
const EDIT_LIMIT = 600;

function split(text: string): string[] {
  const lines = text.split('\n');
  if (lines.length > 1 && lines[lines.length - 1] === '') lines.pop();
  return lines;
}

/** The shortest edit script between two lists of lines, or all removed and all added. */
export function compare(before: string, after: string): DiffLine[] {
  const old = before === '' ? [] : split(before);
  const now = after === '' ? [] : split(after);
  const result: DiffLine[] = [];
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < old.length - head && tail < now.length - head && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail += 1;
  const same = (at: number, shift: number): DiffLine => ({ sign: ' ', text: old[at], before: at + 1, after: at + 1 + shift });
  for (let at = 0; at < head; at += 1) result.push(same(at, 0));
  result.push(...middle(old.slice(head, old.length - tail), now.slice(head, now.length - tail), head));
  for (let at = old.length - tail; at < old.length; at += 1) result.push(same(at, now.length - old.length));
  return result;
}

/** The longest common subsequence by a table; large inputs are not compared further. */
function middle(old: string[], now: string[], offset: number): DiffLine[] {
  const removed = (at: number): DiffLine => ({ sign: '-', text: old[at], before: offset + at + 1, after: null });
  const added = (at: number): DiffLine => ({ sign: '+', text: now[at], before: null, after: offset + at + 1 });
  const result: DiffLine[] = [];
  if (old.length > EDIT_LIMIT || now.length > EDIT_LIMIT) {
    for (let at = 0; at < old.length; at += 1) result.push(removed(at));
    for (let at = 0; at < now.length; at += 1) result.push(added(at));
    return result;
  }
  const width = now.length + 1;
  const table = new Uint16Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = now.length - 1; j >= 0; j -= 1) {
      table[i * width + j] = old[i] === now[j]
        ? table[(i + 1) * width + j + 1] + 1
        : Math.max(table[(i + 1) * width + j], table[i * width + j + 1]);
    }
  }
  let i = 0;
  let j = 0;
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      result.push({ sign: ' ', text: old[i], before: offset + i + 1, after: offset + j + 1 });
      i += 1;
      j += 1;
    } else if (j >= now.length || (i < old.length && table[(i + 1) * width + j] >= table[i * width + j + 1])) result.push(removed(i++));
    else result.push(added(j++));
  }
  return result;
}

/** Reads a unified diff or a patch with `*** Update File:` heads. Null if it is neither. */
export function parsePatch(text: string): FileDiff[] | null {
  if (!/^(@@|diff --git |\*\*\* (Begin Patch|Update File|Add File)|--- )/m.test(text)) return null;
  const files: FileDiff[] = [];
  let file: FileDiff | null = null;
  let before: number | null = null;
  let after: number | null = null;
  const open = (path: string): FileDiff => {
    const opened = { path, lines: [] };
    files.push(opened);
    return opened;
  };
  for (const line of split(text)) {
    const head = /^\*\*\* (Update|Add|Delete) File: (.*)$/.exec(line) ?? /^diff --git (a\/)(.*?) b\/.*$/.exec(line);
    if (head) {
      file = open(head[2]);
      [before, after] = head[1] === 'Add' ? [null, 1] : [null, null];
      continue;
    }
    if (/^(\*\*\* |index |--- |\+\+\+ |new file|deleted file|similarity)/.test(line)) {
      const named = /^\+\+\+ (?:b\/)?(.*)$/.exec(line);
      if (named && (!file || file.lines.length > 0)) file = open(named[1]);
      continue;
    }
    file ??= open('');
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(line);
    if (line.startsWith('@@')) {
      [before, after] = hunk ? [Number(hunk[1]), Number(hunk[2])] : [null, null];
      file.lines.push({ sign: '@', text: line, before: null, after: null });
      continue;
    }
    const sign = line[0] === '+' || line[0] === '-' ? line[0] : ' ';
    file.lines.push({
      sign,
      text: /^[+\- ]/.test(line) ? line.slice(1) : line,
      before: sign === '+' ? null : before,
      after: sign === '-' ? null : after,
    });
    if (before !== null && sign !== '+') before += 1;
    if (after !== null && sign !== '-') after += 1;
  }
  return files.length > 0 ? files : null;
}

function text(value: Record<string, unknown>, ...names: string[]): string | null {
  for (const name of names) if (typeof value[name] === 'string') return value[name];
  return null;
}

/** The differences that the arguments of an edit state. Null if they have no known form. */
export function editsOf(value: unknown): FileDiff[] | null {
  if (typeof value === 'string') return parsePatch(value);
  if (!isRecord(value)) return null;
  const path = text(value, 'file_path', 'filePath', 'path', 'file', 'filename') ?? '';
  const pair = (from: Record<string, unknown>): FileDiff | null => {
    const old = text(from, 'old_string', 'oldText', 'oldString', 'old_str', 'old_text', 'old');
    const now = text(from, 'new_string', 'newText', 'newString', 'new_str', 'new_text', 'new');
    return old === null && now === null ? null : { path: text(from, 'file_path', 'path') ?? path, lines: compare(old ?? '', now ?? '') };
  };
  const one = pair(value);
  if (one) return [one];
  for (const name of ['patch', 'diff', 'unified_diff', 'input', 'command']) {
    const stated = text(value, name);
    const files = stated === null ? null : parsePatch(stated);
    if (files) return files.map((file) => ({ ...file, path: file.path || path }));
  }
  for (const name of ['edits', 'changes']) {
    const list = value[name];
    if (Array.isArray(list)) {
      const all = list.filter(isRecord).map(pair).filter((entry) => entry !== null);
      if (all.length > 0) return all;
    } else if (isRecord(list)) {
      const all = Object.entries(list).flatMap(([file, change]) => (editsOf(change) ?? []).map((entry) => ({ ...entry, path: entry.path || file })));
      if (all.length > 0) return all;
    }
  }
  const whole = text(value, 'content', 'contents', 'file_text', 'new_content');
  return whole === null ? null : [{ path, lines: compare('', whole) }];
}

/** How many lines an edit adds and removes. */
export function counts(files: FileDiff[]): { added: number; removed: number } {
  let added = 0;
  let removed = 0;
  for (const file of files) {
    for (const line of file.lines) {
      if (line.sign === '+') added += 1;
      if (line.sign === '-') removed += 1;
    }
  }
  return { added, removed };
}

const LOOK = { '+': 'p', '-': 'm', ' ': '', '@': 'h' };
const SIGN = { '+': '+', '-': '\u2212', ' ': '', '@': '' };

function drawLine(line: DiffLine): HTMLElement {
  const code = el('span.txt');
  appendText(code, line.text);
  return el('span', { class: `l ${LOOK[line.sign]}` },
    el('s', null, line.before ?? ''), el('s', null, line.after ?? ''), el('em', null, SIGN[line.sign]), code, '\n');
}

export function drawDiff(files: FileDiff[], showPaths: boolean): HTMLElement {
  const box = el('div.diffs');
  for (const file of files) {
    if (file.path && showPaths) box.appendChild(el('div.file.txt', null, file.path));
    const pre = el('pre.diff', { tabindex: 0, role: 'group', 'aria-label': `Changes${file.path ? ` of ${file.path}` : ''}` });
    for (const line of file.lines.slice(0, LINE_LIMIT)) pre.appendChild(drawLine(line));
    box.appendChild(pre);
    const rest = file.lines.length - LINE_LIMIT;
    if (rest > 0) box.appendChild(el('div.file', null, `${count(rest, 'more line')}; the whole edit is in “As recorded”`));
  }
  return box;
}
