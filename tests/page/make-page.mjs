// Writes pages in the format of docs/format/page-v1.md from runs with known
// values, so that the browser tests can compare what they see with what was
// planted. `node write-pages.mjs DIRECTORY` writes every page.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deflateRawSync } from 'node:zlib';

const here = dirname(fileURLToPath(import.meta.url));
const assets = join(here, '../../crates/traj-export/src/page/assets');

export const KIND = {
  prompt: 1, text: 2, reasoning: 3, call: 4, model: 5, approval: 6, compaction: 7, changed: 8, error: 9, lost: 10,
  ended: 11, started: 12, context: 13, attachment: 14, hook: 15, other: 16, turnEnd: 17, branches: 18,
};
export const FLAG = {
  failed: 1, declined: 2, interrupted: 4, unanswered: 8, redacted: 16, truncated: 32, edit: 64, firstFailure: 128,
  recovered: 256, skipped: 512, images: 1024, startsAgent: 2048, timedOut: 4096,
};
const NONE = 0xffffffff;
const CHUNK = 256 * 1024;
const INDEX_CHUNK = 1024 * 1024;

const sha256 = (data, form = 'hex') => createHash('sha256').update(data).digest(form);

export function summaryOf(changes = {}) {
  return {
    agent: 'openclaw', dialect: 'openclaw', sessionId: 'session-1', sessionKey: 'nightly-import', status: 'success',
    startedAt: null, endedAt: null, durationMillis: 0, events: 0, turns: 0, lostEvents: 0, otherBranches: 0, otherBranchEntries: 0,
    approvalsAsked: 0, approvalsDenied: 0, endings: [], errors: [], failed: [], kinds: {}, slowest: [], subRuns: {}, timeline: [], tools: {},
    calls: { calls: 0, errors: 0, declined: 0, interrupted: 0, timedOut: 0, unanswered: 0, longestMillis: 0, totalMillis: 0 },
    context: { compactions: 0, firstTokens: 0, lastTokens: 0, peakTokens: 0 },
    time: { idleMillis: 0, modelMillis: 0, personMillis: 0, toolMillis: 0 },
    usage: { calls: 0, inputTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 0, reasoningTokens: 0, cost: null, costOrigin: null, currency: null },
    usageByModel: {}, models: {}, redaction: null, warnings: [], problems: [], unknown: {},
    ...changes,
  };
}

/** Collects rows and items, then writes the page. */
export class PageBuilder {
  constructor(start) {
    this.start = start;
    this.rows = [];
    this.items = [];
    this.calls = [];
    this.threads = [{ name: '', parent: 0, startItem: NONE }];
    this.turns = [];
    this.strings = [''];
    this.stringNumbers = new Map([['', 0]]);
    this.paths = [[]];
    this.pathNumbers = new Map([['[]', 0]]);
    this.files = [];
  }

  string(text = '') {
    let number = this.stringNumbers.get(text);
    if (number === undefined) {
      number = this.strings.push(text) - 1;
      this.stringNumbers.set(text, number);
    }
    return number;
  }

  path(steps) {
    if (!steps) return 0;
    const key = JSON.stringify(steps);
    let number = this.pathNumbers.get(key);
    if (number === undefined) {
      number = this.paths.push(steps) - 1;
      this.pathNumbers.set(key, number);
    }
    return number;
  }

  row(type, data, at) {
    return this.rows.push(JSON.stringify({ seq: this.rows.length + 1, ts: at === undefined ? null : new Date(this.start + at).toISOString(), type, data })) - 1;
  }

  item(kind, values = {}) {
    const at = values.at;
    const number = this.items.push({
      kind, start: at === undefined ? NaN : this.start + at, duration: values.duration ?? NaN, row: values.row ?? NONE, resultRow: values.resultRow ?? NONE,
      label: this.string(values.label), callId: this.string(values.callId), turn: this.turns.length, words: this.string(values.words),
      exitCode: values.exitCode ?? 0x7fffffff, bytes: values.bytes ?? 0, path: this.path(values.path), commandPath: this.path(values.commandPath),
      resultPath: this.path(values.resultPath), thread: values.thread ?? 0, flags: values.flags ?? 0,
    }) - 1;
    return number;
  }

  prompt(at, text, flags = 0) {
    this.turns.push(this.items.length);
    const row = this.row('user.message', { content: text }, at);
    return this.item(KIND.prompt, { at, row, path: ['data', 'content'], bytes: JSON.stringify(text).length, flags });
  }

  say(at, text, kind = KIND.text, thread = 0, values = {}) {
    const row = this.row('assistant.message', { content: text }, at);
    return this.item(kind, { at, row, path: ['data', 'content'], bytes: JSON.stringify(text).length, thread, ...values });
  }

  model(at, duration, model, cached, fresh, output, cost, thread = 0, values = {}) {
    const row = this.row('model.usage', { model, cached, fresh, output }, at);
    const item = this.item(KIND.model, { at, duration, row, path: ['data'], label: model, thread, ...values });
    this.calls.push({ item, at: this.start + at, cached, fresh, output, cost: cost ?? NaN, model: this.string(model), thread });
    return item;
  }

  call(at, duration, tool, args, output, values = {}) {
    const callId = values.callId ?? `call_${this.items.length}`;
    const row = this.row('tool.call', { name: tool, callId, arguments: args }, at);
    const resultRow = output === undefined ? NONE : this.row('tool.result', { callId, output }, at + duration);
    const command = typeof args === 'object' && args && ['command', 'path', 'pattern'].find((name) => name in args);
    return this.item(KIND.call, {
      at, duration: output === undefined ? NaN : duration, row, resultRow, label: tool, callId,
      path: ['data', 'arguments'], commandPath: command ? ['data', 'arguments', command] : undefined,
      resultPath: output === undefined ? undefined : ['data', 'output'], bytes: JSON.stringify(output ?? '').length, ...values,
    });
  }

  agent(name, startItem, parent = 0) {
    return this.threads.push({ name, parent, startItem }) - 1;
  }

  addFile(path, text) {
    this.files.push({ path, data: Buffer.from(text) });
  }

  /** The first item of each turn; turn 0 is what comes before the first prompt. */
  turnColumn() {
    return [this.items.length > 0 && this.turns[0] !== 0 ? 0 : NONE, ...this.turns];
  }

  index() {
    const { items, calls, threads } = this;
    const turns = this.turnColumn();
    const ends = [];
    const texts = this.strings.map((text) => Buffer.from(text));
    texts.reduce((sum, text) => (ends.push(sum + text.length), sum + text.length), 0);
    const strings = Buffer.concat([u32([texts.length]), u32(ends), ...texts]);
    const paths = Buffer.concat([u32([this.paths.length]), Buffer.from(JSON.stringify(this.paths))]);
    const parts = [u32([0x544a5031, items.length, calls.length, strings.length, paths.length, threads.length, turns.length, 0])];
    const column = (data) => parts.push(data, Buffer.alloc((8 - (data.length % 8)) % 8));
    const of = (list, name) => list.map((entry) => entry[name]);
    for (const name of ['start', 'duration']) column(f64(of(items, name)));
    for (const name of ['row', 'resultRow', 'label', 'callId', 'turn', 'words']) column(u32(of(items, name)));
    column(Buffer.from(Int32Array.from(of(items, 'exitCode')).buffer));
    column(u32(of(items, 'bytes')));
    for (const name of ['path', 'commandPath', 'resultPath', 'thread', 'flags']) column(u16(of(items, name)));
    column(Buffer.from(Uint8Array.from(of(items, 'kind'))));
    column(u32(of(calls, 'item')));
    column(f64(of(calls, 'at')));
    for (const name of ['cached', 'fresh', 'output']) column(u32(of(calls, name)));
    column(f64(of(calls, 'cost')));
    column(u32(of(calls, 'model')));
    column(u16(of(calls, 'thread')));
    column(u32(threads.map((thread) => this.string(thread.name))));
    column(u16(of(threads, 'parent')));
    column(u32(of(threads, 'startItem')));
    column(u32(turns));
    column(strings);
    column(paths);
    return Buffer.concat(parts);
  }

  /** Splits the events at row ends and the other files anywhere. */
  chunks() {
    const files = [];
    const chunks = [];
    const rowChunks = [];
    const add = (path, pieces, data) => {
      files.push({ path, bytes: data.reduce((sum, part) => sum + part.length, 0), sha256: sha256(Buffer.concat(data)), chunk: chunks.length, chunks: pieces.length });
      chunks.push(...pieces);
    };
    add('manifest.json', [Buffer.from('{}\n')], [Buffer.from('{}\n')]);
    const pieces = [];
    let part = [];
    let size = 0;
    this.rows.forEach((row, number) => {
      const line = Buffer.from(`${row}\n`);
      if (size > 0 && size + line.length > CHUNK) {
        pieces.push(Buffer.concat(part));
        part = [];
        size = 0;
      }
      if (size === 0) rowChunks.push(number);
      part.push(line);
      size += line.length;
    });
    if (size > 0) pieces.push(Buffer.concat(part));
    add('events.jsonl', pieces, pieces);
    for (const { path, data } of this.files) {
      const split = [];
      for (let at = 0; at < data.length || split.length === 0; at += CHUNK) split.push(data.subarray(at, at + CHUNK));
      add(path, split, [data]);
    }
    return { files, chunks, rowChunks };
  }

  build({ title, summary, overview, review, reviewFindings, staticText }) {
    // Strings of threads must be known before the block of strings is written.
    for (const thread of this.threads) this.string(thread.name);
    const index = this.index();
    const indexChunks = [];
    for (let at = 0; at < index.length; at += INDEX_CHUNK) indexChunks.push(index.subarray(at, at + INDEX_CHUNK));
    const { files, chunks, rowChunks } = this.chunks();
    const times = this.items.filter((item) => !Number.isNaN(item.start));
    const startedAt = times.length > 0 ? this.start : null;
    const head = {
      format: 'traj-page/1', generator: 'traj 0.1.0', review: Boolean(review), ...(review ? { reviewFindings: reviewFindings ?? [] } : {}),
      title, summary, digest: sha256('{}\n'), files, rows: this.rows.length, rowChunks, indexChunks: indexChunks.length, items: this.items.length,
      modelCalls: this.calls.length, threads: this.threads.length, turns: this.turns.length + 1, startedAt,
      endedAt: startedAt === null ? null : startedAt + summary.durationMillis,
      overview: { failure: null, worth: [], endedHow: 'success', endedText: '', ...overview },
    };
    return assemble(head, indexChunks, chunks, staticText ?? escapeHtml(title));
  }
}

const u32 = (values) => Buffer.from(Uint32Array.from(values).buffer);
const u16 = (values) => Buffer.from(Uint16Array.from(values).buffer);
const f64 = (values) => Buffer.from(Float64Array.from(values).buffer);
const escapeHtml = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
const packed = (data) => deflateRawSync(data, { level: 6 }).toString('base64');

/** Puts the parts of the page together, exactly in the order of the format. */
function assemble(head, indexChunks, chunks, staticText) {
  const script = readFileSync(join(assets, 'page.js'), 'utf8');
  const style = readFileSync(join(assets, 'page.css'), 'utf8');
  const policy = `default-src 'none'; script-src 'sha256-${sha256(script, 'base64')}'; style-src 'sha256-${sha256(style, 'base64')}'; img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'`;
  const json = JSON.stringify(head).replace(/[<>&\u2028\u2029]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return [
    '<!doctype html>\n<html lang="en"><head>\n<meta charset="utf-8">\n',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">\n`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
    '<meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer"><meta name="robots" content="noindex">\n',
    `<title>${escapeHtml(head.title)}</title>\n<style>${style}</style></head>\n<body>\n`,
    `<div id="static"><h1>${staticText}</h1><dl><dt>Ended</dt><dd>${escapeHtml(head.overview.endedHow)}</dd></dl></div>\n`,
    `<script type="application/json" id="head">${json}</script>\n<script>${script}</script>\n`,
    ...indexChunks.map((chunk, number) => `<script type="text/plain" id="i${number}">${packed(chunk)}</script>\n`),
    ...chunks.map((chunk, number) => `<script type="text/plain" id="c${number}">${packed(chunk)}</script>\n`),
    '<script type="text/plain" id="end"></script>\n</body></html>\n',
  ].join('');
}
