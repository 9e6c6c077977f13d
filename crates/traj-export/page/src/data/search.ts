/**
 * Find over everything: every row of the run and every blob, shown or not.
 *
 * A chunk is decoded and searched as raw text first. Rows that may match are
 * parsed, and the matches are counted in the strings as the page shows them.
 * The work is cut into slices, so that the page stays responsive and a new
 * query can replace an old one.
 */
import { type Content, withoutAnsi } from './content';
import { Kind, NONE } from './index';

const SLICE_MILLIS = 8;
const REPORT_MILLIS = 100;

export interface Progress {
  done: number;
  of: number;
  finished: boolean;
}

/** Gives the browser a turn without the delay of a timer. */
export function breathe(): Promise<void> {
  return new Promise((resolve) => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => {
      channel.port1.close();
      resolve();
    };
    channel.port2.postMessage(null);
  });
}

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

export function pattern(query: string): RegExp {
  return new RegExp(escape(query), 'gi');
}

function occurrences(text: string, expression: RegExp): number {
  expression.lastIndex = 0;
  let total = 0;
  while (expression.test(text)) total += 1;
  return total;
}

/**
 * The longest part of a query that JSON never escapes. A row without it cannot
 * match. Empty if there is none; then every row is parsed.
 */
function needle(query: string): string {
  let best = '';
  for (const part of query.toLowerCase().split(/[^a-z0-9 _.:,;=+*()[\]{}!?#$%@^|~-]+/)) {
    if (part.length > best.length) best = part;
  }
  return best;
}

/** Which items a row belongs to, as two linked lists in arrays. */
class RowItems {
  private readonly first: Int32Array;
  private readonly next: Int32Array;

  constructor(content: Content, rows: number) {
    const { row, resultRow, length } = content.index;
    this.first = new Int32Array(rows).fill(-1);
    this.next = new Int32Array(length * 2).fill(-1);
    for (let item = length - 1; item >= 0; item -= 1) {
      this.link(row[item], item * 2, rows);
      if (resultRow[item] !== row[item]) this.link(resultRow[item], item * 2 + 1, rows);
    }
  }

  private link(row: number, entry: number, rows: number): void {
    if (row === NONE || row >= rows) return;
    this.next[entry] = this.first[row];
    this.first[row] = entry;
  }

  /** Calls back with the item and whether the row is its result. */
  each(row: number, act: (item: number, isResult: boolean) => void): void {
    for (let entry = this.first[row]; entry >= 0; entry = this.next[entry]) act(entry >> 1, (entry & 1) === 1);
  }
}

/** The first item that a row belongs to, or -1. */
export function itemOfRow(content: Content, row: number): number {
  const at = content.index.row.indexOf(row);
  return at >= 0 ? at : content.index.resultRow.indexOf(row);
}

export class Search {
  /** Matches by item, in the order of the story. */
  readonly counts: Uint32Array;
  /** All matches, without those in rows that repeat others, unless nothing else matches. */
  private regular = 0;
  private others = 0;
  /** Whether such rows count like all others. */
  withOthers = false;
  query = '';
  private run = 0;
  private told = 0;
  private rowItems: RowItems | undefined;

  constructor(
    private readonly content: Content,
    private readonly rows: number,
    private readonly firstRows: readonly number[],
    private readonly report: (progress: Progress) => void,
  ) {
    this.counts = new Uint32Array(content.index.length);
  }

  /** Stops what is running and forgets its matches. */
  clear(): void {
    this.run += 1;
    this.query = '';
    this.counts.fill(0);
    this.regular = 0;
    this.others = 0;
  }

  get total(): number {
    return this.withOthers || this.regular === 0 ? this.regular + this.others : this.regular;
  }

  /** Matches that steps leave out. */
  get left(): number {
    return this.regular + this.others - this.total;
  }

  get onlyOthers(): boolean {
    return this.regular === 0 && this.others > 0;
  }

  private counted(item: number): boolean {
    return this.counts[item] > 0 && (this.left === 0 || this.content.index.kind[item] !== Kind.other);
  }

  private add(item: number, found: number): void {
    if (found === 0) return;
    this.counts[item] += found;
    if (this.content.index.kind[item] === Kind.other) this.others += found;
    else this.regular += found;
  }

  /** Reports progress, but not so often that drawing it takes longer than finding. */
  private tell(done: number, of: number): void {
    const now = performance.now();
    if (now - this.told < REPORT_MILLIS) return;
    this.told = now;
    this.report({ done, of, finished: false });
  }

  async start(query: string): Promise<void> {
    this.clear();
    this.query = query;
    const run = this.run;
    if (!query) return;
    const expression = pattern(query);
    const filter = prefilter(query);
    this.rowItems ??= new RowItems(this.content, this.rows);
    const of = this.firstRows.length;
    const later: { item: number; blob: string }[] = [];
    let slice = performance.now();
    let next = of > 0 ? this.content.store.rowText(0) : null;
    for (let chunk = 0; chunk < of; chunk += 1) {
      const text = await (next as Promise<string>);
      next = chunk + 1 < of ? this.content.store.rowText(chunk + 1) : null;
      if (run !== this.run) return void next?.catch(() => undefined);
      for (const [row, line] of candidates(text, filter, this.firstRows[chunk])) {
        this.searchRow(row, line, expression, later);
        if (performance.now() - slice > SLICE_MILLIS) {
          this.tell(chunk, of);
          await breathe();
          if (run !== this.run) return;
          slice = performance.now();
        }
      }
      if (performance.now() - slice > SLICE_MILLIS) {
        this.tell(chunk + 1, of);
        await breathe();
        if (run !== this.run) return;
        slice = performance.now();
      }
    }
    for (const { item, blob } of later) {
      const text = await this.content.store.blob(blob);
      if (run !== this.run) return;
      if (text !== null) this.add(item, occurrences(withoutAnsi(text), expression));
    }
    this.report({ done: of, of, finished: true });
  }

  private searchRow(row: number, line: string, expression: RegExp, later: { item: number; blob: string }[]): void {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      value = line;
    }
    this.rowItems?.each(row, (item, isResult) => {
      const blobs: string[] = [];
      this.add(item, occurrences(this.content.textIn(value, row, item, isResult, blobs), expression));
      for (const blob of blobs) later.push({ item, blob });
    });
  }

  /** The item of a match that follows or precedes, and which match of the item it is. */
  step(item: number, match: number, direction: 1 | -1): { item: number; match: number } | null {
    const { counts } = this;
    if (item >= 0 && this.counted(item)) {
      const within = match + direction;
      if (within >= 0 && within < counts[item]) return { item, match: within };
    }
    const length = counts.length;
    for (let moved = 1; moved <= length; moved += 1) {
      const at = (((item + direction * moved) % length) + length) % length;
      if (this.counted(at)) return { item: at, match: direction > 0 ? 0 : counts[at] - 1 };
    }
    return null;
  }

  /** The place of a match among all, from 1. */
  place(item: number, match: number): number {
    let before = 0;
    for (let at = 0; at < item; at += 1) if (this.counted(at)) before += this.counts[at];
    return before + match + 1;
  }
}

/** Rows that are always read: colours may stand inside a word, and a blob is in another file. */
const ALWAYS = '\\\\u001b|"blob":"';

/** Finds rows that may match, in raw text; null if every row may. */
function prefilter(query: string): RegExp | null {
  const word = needle(query);
  return word === '' ? null : new RegExp(`${escape(word)}|${ALWAYS}`, 'gi');
}

/** The rows of a chunk that may match, with their numbers. */
function* candidates(text: string, filter: RegExp | null, first: number): Generator<[number, string]> {
  let row = first;
  let lineStart = 0;
  while (lineStart < text.length) {
    let at = lineStart;
    if (filter) {
      filter.lastIndex = lineStart;
      const match = filter.exec(text);
      if (!match) return;
      at = match.index;
    }
    let end = text.indexOf('\n', lineStart);
    while (end >= 0 && end < at) {
      lineStart = end + 1;
      row += 1;
      end = text.indexOf('\n', lineStart);
    }
    if (end < 0) end = text.length;
    yield [row, text.slice(lineStart, end)];
    lineStart = end + 1;
    row += 1;
  }
}
