/** The index: what each item of the story is, in columns. Decided by traj, only read here. */
import { inflate, parsed } from './chunks';

export const NONE = 0xffffffff;
export const NO_EXIT_CODE = 0x7fffffff;
const MAGIC = 0x544a5031;

export const Kind = {
  prompt: 1, text: 2, reasoning: 3, call: 4, model: 5, approval: 6, compaction: 7, changed: 8, error: 9,
  lost: 10, ended: 11, started: 12, context: 13, attachment: 14, hook: 15, other: 16, turnEnd: 17, branches: 18,
} as const;

export const KIND_NAMES: Record<number, string> = {
  1: 'Prompt', 2: 'Answer', 3: 'Reasoning', 4: 'Tool call', 5: 'Model call', 6: 'Approval', 7: 'Compaction',
  8: 'Change', 9: 'Error', 10: 'Lost events', 11: 'Run ended', 12: 'Run started', 13: 'Context', 14: 'Attachment',
  15: 'Hook', 16: 'Other event', 17: 'Turn ended', 18: 'Branches',
};

export const Flag = {
  failed: 1, declined: 2, interrupted: 4, unanswered: 8, redacted: 16, truncated: 32, edit: 64, firstFailure: 128,
  recovered: 256, skipped: 512, images: 1024, startsAgent: 2048, timedOut: 4096,
} as const;

export type PathStep = string | number | { json: true };

/** Reads columns one after the other; each begins at a multiple of eight bytes. */
class Columns {
  private at = 32;

  constructor(private readonly buffer: ArrayBuffer) {}

  private take(length: number): number {
    const start = this.at;
    if (start + length > this.buffer.byteLength) throw new Error('the index is too short');
    this.at = start + length + ((8 - (length % 8)) % 8);
    return start;
  }

  f64(length: number): Float64Array { return new Float64Array(this.buffer, this.take(length * 8), length); }
  u32(length: number): Uint32Array { return new Uint32Array(this.buffer, this.take(length * 4), length); }
  i32(length: number): Int32Array { return new Int32Array(this.buffer, this.take(length * 4), length); }
  u16(length: number): Uint16Array { return new Uint16Array(this.buffer, this.take(length * 2), length); }
  u8(length: number): Uint8Array { return new Uint8Array(this.buffer, this.take(length), length); }
}

export class Index {
  readonly length: number;
  readonly start: Float64Array;
  readonly duration: Float64Array;
  readonly row: Uint32Array;
  readonly resultRow: Uint32Array;
  readonly label: Uint32Array;
  readonly callId: Uint32Array;
  readonly turn: Uint32Array;
  readonly words: Uint32Array;
  readonly exitCode: Int32Array;
  readonly bytes: Uint32Array;
  readonly path: Uint16Array;
  readonly commandPath: Uint16Array;
  readonly resultPath: Uint16Array;
  readonly thread: Uint16Array;
  readonly flags: Uint16Array;
  readonly kind: Uint8Array;
  readonly calls: {
    length: number; item: Uint32Array; at: Float64Array; cached: Uint32Array; fresh: Uint32Array;
    output: Uint32Array; cost: Float64Array; model: Uint32Array; thread: Uint16Array;
  };
  readonly threads: { length: number; name: Uint32Array; parent: Uint16Array; startItem: Uint32Array };
  /** The first item of each turn; turn 0 is what comes before the first prompt. */
  private readonly turns: Uint32Array;
  readonly paths: PathStep[][];
  /** What the model saw at each call, as JSON; empty if the agent does not record it. */
  readonly contexts: Uint8Array;
  private readonly stringEnds: Uint32Array;
  private readonly stringBytes: Uint8Array;
  private readonly strings: (string | undefined)[] = [];
  private ordinals: Map<number, number> | undefined;

  constructor(buffer: ArrayBuffer) {
    const header = new Uint32Array(buffer, 0, 8);
    if (header[0] !== MAGIC) throw new Error('the index is damaged');
    const [, n, m, stringSize, pathSize, t, u, contextSize] = header;
    const columns = new Columns(buffer);
    this.length = n;
    this.start = columns.f64(n);
    this.duration = columns.f64(n);
    this.row = columns.u32(n);
    this.resultRow = columns.u32(n);
    this.label = columns.u32(n);
    this.callId = columns.u32(n);
    this.turn = columns.u32(n);
    this.words = columns.u32(n);
    this.exitCode = columns.i32(n);
    this.bytes = columns.u32(n);
    this.path = columns.u16(n);
    this.commandPath = columns.u16(n);
    this.resultPath = columns.u16(n);
    this.thread = columns.u16(n);
    this.flags = columns.u16(n);
    this.kind = columns.u8(n);
    this.calls = {
      length: m, item: columns.u32(m), at: columns.f64(m), cached: columns.u32(m), fresh: columns.u32(m),
      output: columns.u32(m), cost: columns.f64(m), model: columns.u32(m), thread: columns.u16(m),
    };
    this.threads = { length: t, name: columns.u32(t), parent: columns.u16(t), startItem: columns.u32(t) };
    this.turns = columns.u32(u);
    const strings = columns.u8(stringSize);
    const total = new DataView(buffer, strings.byteOffset).getUint32(0, true);
    this.stringEnds = new Uint32Array(buffer, strings.byteOffset + 4, total);
    this.stringBytes = strings.subarray(4 + total * 4);
    const paths = columns.u8(pathSize);
    this.paths = JSON.parse(new TextDecoder().decode(paths.subarray(4))) as PathStep[][];
    this.contexts = columns.u8(contextSize);
  }

  string(number: number): string {
    let text = this.strings[number];
    if (text === undefined) {
      const from = number === 0 ? 0 : this.stringEnds[number - 1];
      text = new TextDecoder().decode(this.stringBytes.subarray(from, this.stringEnds[number]));
      this.strings[number] = text;
    }
    return text;
  }

  labelOf(item: number): string { return this.string(this.label[item]); }
  wordsOf(item: number): string { return this.string(this.words[item]); }
  has(item: number, flag: number): boolean { return (this.flags[item] & flag) !== 0; }

  /** The end of an item: its start if the duration is not known. */
  end(item: number): number {
    const length = this.duration[item];
    return this.start[item] + (Number.isNaN(length) ? 0 : length);
  }

  /** When an item belongs in the story: a turn's end covers the whole turn, but happens when it ends. */
  time(item: number): number {
    return this.kind[item] === Kind.turnEnd ? this.end(item) : this.start[item];
  }

  /** How many turns there are; they are counted from 1. */
  get turnCount(): number {
    return Math.max(0, this.turns.length - 1);
  }

  /** The first item of a turn, or NONE if the turn has no item. */
  turnStart(turn: number): number {
    return this.turns[turn];
  }

  /** The item after the last one of a turn. */
  turnEnd(turn: number): number {
    for (let next = turn + 1; next < this.turns.length; next += 1) if (this.turns[next] !== NONE) return this.turns[next];
    return this.length;
  }

  /** The number of a model call's record, from 0; -1 if the item has none. */
  ordinal(item: number): number {
    if (!this.ordinals) {
      this.ordinals = new Map();
      for (let call = 0; call < this.calls.length; call += 1) this.ordinals.set(this.calls.item[call], call);
    }
    return this.ordinals.get(item) ?? -1;
  }

  threadName(thread: number): string {
    return thread === 0 ? 'main' : this.string(this.threads.name[thread]) || `sub-agent ${thread}`;
  }

  /** How deeply a thread is nested: 0 for the main one. */
  depth(thread: number): number {
    let depth = 0;
    for (let at = thread; at !== 0 && depth < 8; at = this.threads.parent[at]) depth += 1;
    return depth;
  }

  /** The story's failures, in order. */
  failures(): Uint32Array {
    let total = 0;
    for (let item = 0; item < this.length; item += 1) total += this.flags[item] & Flag.failed;
    const result = new Uint32Array(total);
    let at = 0;
    for (let item = 0; item < this.length; item += 1) if (this.flags[item] & Flag.failed) result[at++] = item;
    return result;
  }
}

/** Reads the index as soon as the parser has passed it. */
export async function readIndex(chunks: number): Promise<Index> {
  const parts: Uint8Array[] = [];
  for (let chunk = 0; chunk < chunks; chunk += 1) {
    parts.push(await inflate((await parsed(`i${chunk}`)).textContent ?? ''));
  }
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return new Index(all.buffer);
}
