/** What the model saw at each call: read from the index, with values from the branch. */
import type { ChunkStart, ChunkStore } from './chunks';
import { isRecord } from './content';

const BRANCH = 'session-branch.json';

interface Part {
  basis: 'frame' | 'message' | 'answer';
  check: 'verified' | 'differs' | 'redacted' | 'missing';
  at: [number, number][];
}

export interface Request {
  base: number | null;
  keep: number;
  tail: number[];
  frame: number | null;
  settings: number;
  since?: { before: number; kept: number; dropped: number; frame: boolean; settings: boolean };
}

interface Document {
  chunks: ChunkStart[];
  settings: string[];
  parts: Part[];
  requests: Request[];
  rows: [number, number][];
}

export class Contexts {
  private readonly data: Document | null;
  private readonly byRow: Map<number, number>;

  constructor(bytes: Uint8Array, private readonly store: ChunkStore) {
    this.data = bytes.length > 0 ? JSON.parse(new TextDecoder().decode(bytes)) as Document : null;
    this.byRow = new Map(this.data?.rows);
  }

  /** The request that a row of events.jsonl answers. */
  ofRow(row: number): Request | undefined {
    return this.data?.requests[this.byRow.get(row) ?? -1];
  }

  /** A row that answers this request; undefined if none does. */
  rowOf(request: number): number | undefined {
    return this.data?.rows.find(([, answered]) => answered === request)?.[0];
  }

  settings(request: Request): unknown {
    return JSON.parse(this.data?.settings[request.settings] || 'null');
  }

  /** The parts that a request consisted of, in order. */
  messages(request: Request): number[] {
    const chain: Request[] = [];
    for (let at: Request | undefined = request; at; at = this.data?.requests[at.base ?? -1]) chain.push(at);
    const messages: number[] = [];
    for (const one of chain.reverse()) {
      messages.length = Math.min(messages.length, one.keep);
      for (const part of one.tail) messages.push(part);
    }
    return messages;
  }

  check(part: number): Part['check'] {
    return this.data?.parts[part]?.check ?? 'missing';
  }

  /** A message, or the system prompt and the tools. Null if it is missing. */
  async value(number: number): Promise<Record<string, unknown> | null> {
    const part = this.data?.parts[number];
    if (!this.data || !part || part.at.length === 0) return null;
    const rows: Record<string, unknown>[] = [];
    for (const [from, to] of part.at) {
      const entry: unknown = JSON.parse(await this.store.span(BRANCH, from, to, this.data.chunks));
      const row = isRecord(entry) ? entry['data'] : null;
      const inner = isRecord(row) ? row[part.basis === 'frame' ? 'shape' : 'message'] : null;
      if (isRecord(inner)) rows.push(inner);
    }
    if (part.basis !== 'answer') return rows[0] ?? null;
    return { role: 'assistant', content: rows.flatMap((row) => row['content']) };
  }
}
