/** What an item says: follows the index's paths into the rows and yields text or blocks. */
import type { ChunkStore } from './chunks';
import { Index, NONE, type PathStep } from './index';

/** A string that the recorder or the exporter moved to a file of its own. */
export interface BlobReference {
  blob: string;
  preview: string;
  bytes: number | null;
}

export type Block =
  | { kind: 'text'; text: string }
  | { kind: 'image'; value: Record<string, unknown> }
  | { kind: 'blob'; reference: BlobReference }
  | { kind: 'json'; value: unknown };

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Follows a path; undefined if it leads nowhere. */
export function follow(value: unknown, path: readonly PathStep[]): unknown {
  let at = value;
  for (const step of path) {
    if (typeof step === 'object') {
      if (typeof at !== 'string') continue;
      try {
        at = JSON.parse(at);
      } catch {
        return at;
      }
    } else if (Array.isArray(at) && typeof step === 'number') at = at[step];
    else if (isRecord(at) && Object.hasOwn(at, step)) at = at[step];
    else return undefined;
  }
  return at;
}

/** Whether a value is a list of strings without line ends, such as a command line. */
export function isWords(value: unknown): value is string[] {
  return Array.isArray(value) && value.length > 0 && value.every((part) => typeof part === 'string' && !part.includes('\n'));
}

export function asBlob(value: unknown): BlobReference | null {
  if (!isRecord(value) || typeof value['blob'] !== 'string') return null;
  const digest = /[0-9a-f]{64}/.exec(value['blob'])?.[0];
  if (!digest) return null;
  const size = value['bytes'] ?? value['originalBytes'];
  return {
    blob: digest,
    preview: typeof value['preview'] === 'string' ? value['preview'] : '',
    bytes: typeof size === 'number' ? size : null,
  };
}

function isImage(value: Record<string, unknown>): boolean {
  const type = value['type'];
  return type === 'image' || type === 'input_image' || type === 'image_url' || type === 'document' || type === 'audio';
}

function block(value: unknown): Block {
  if (typeof value === 'string') return { kind: 'text', text: value };
  const reference = asBlob(value);
  if (reference) return { kind: 'blob', reference };
  if (isRecord(value)) {
    if (isImage(value)) return { kind: 'image', value };
    const text = value['text'];
    const type = value['type'];
    if (typeof text === 'string' && (type === undefined || String(type).includes('text'))) return { kind: 'text', text };
    const inner = asBlob(text);
    if (inner) return { kind: 'blob', reference: inner };
    if (type === 'thinking' && typeof value['thinking'] === 'string') return { kind: 'text', text: value['thinking'] };
  }
  return { kind: 'json', value };
}

/** The blocks of a value as found at a path. */
export function blocks(value: unknown): Block[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value) && value.some((entry) => isRecord(entry) && typeof entry['type'] === 'string')) {
    return value.map(block);
  }
  return [block(value)];
}

export function json(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? '';
}

/** The items' content, by item number. */
export class Content {
  constructor(readonly index: Index, readonly store: ChunkStore) {}

  /** The rows that an item needs. */
  rows(item: number): number[] {
    const { row, resultRow } = this.index;
    return [row[item], resultRow[item]].filter((number) => number !== NONE);
  }

  ready(item: number): boolean {
    return this.rows(item).every((row) => this.store.rowNow(row) !== undefined);
  }

  async load(item: number): Promise<void> {
    for (const row of this.rows(item)) await this.store.row(row);
  }

  private at(row: number, path: number): unknown {
    if (row === NONE) return undefined;
    return follow(this.store.rowNow(row), this.index.paths[path] ?? []);
  }

  /** The prompt, the answer, the arguments, the summary… */
  body(item: number): unknown {
    return this.at(this.index.row[item], this.index.path[item]);
  }

  result(item: number): unknown {
    const { resultRow, resultPath } = this.index;
    return resultPath[item] === 0 ? undefined : this.at(resultRow[item], resultPath[item]);
  }

  /** The one line that names what a call does; empty if the index names none. */
  command(item: number): string {
    const path = this.index.commandPath[item];
    if (path === 0) return '';
    const value = this.at(this.index.row[item], path);
    if (typeof value === 'string') return value;
    if (Array.isArray(value) && value.every((part) => typeof part === 'string')) return value.join(' ');
    return value === undefined || value === null ? '' : json(value);
  }

  /** The member of the arguments that the command was taken from. */
  commandMember(item: number): PathStep | null {
    const { paths, path, commandPath } = this.index;
    const inside = paths[commandPath[item]] ?? [];
    const outside = paths[path[item]] ?? [];
    return commandPath[item] !== 0 && inside.length > outside.length ? inside[outside.length] : null;
  }

  /** The text of an item in one of its rows, given the parsed row. */
  textIn(value: unknown, row: number, item: number, isResult: boolean, blobs: string[]): string {
    const { paths, path, resultPath, resultRow } = this.index;
    const parts: string[] = [];
    if (!isResult) parts.push(searchable(follow(value, paths[path[item]] ?? []), blobs));
    if (resultRow[item] === row && resultPath[item] !== 0) {
      parts.push(searchable(follow(value, paths[resultPath[item]] ?? []), blobs));
    }
    return parts.join('\n');
  }

  /** One line for a list: the command, or the start of the content. */
  line(item: number): string {
    const command = this.command(item);
    if (command) return firstLine(command);
    const value = this.body(item);
    for (const part of blocks(value)) {
      if (part.kind === 'text' && part.text.trim()) return firstLine(part.text);
      if (part.kind === 'blob') return firstLine(part.reference.preview);
      if (part.kind === 'json') return JSON.stringify(part.value)?.slice(0, 300) ?? '';
      if (part.kind === 'image') return 'image';
    }
    return '';
  }
}

export function firstLine(text: string): string {
  const start = text.trimStart().slice(0, 300);
  const end = start.indexOf('\n');
  return end < 0 ? start : start.slice(0, end);
}

/** Members of an object in the order and the form in which the page shows them. */
export function members(value: unknown): [string, unknown][] | null {
  return isRecord(value) ? Object.entries(value) : null;
}

const ANSI = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])/g;

export function withoutAnsi(text: string): string {
  return text.includes('\x1b') ? text.replace(ANSI, '') : text;
}

/** All of a value's text as the page shows it, for find. Blobs are reported, not loaded. */
export function searchable(value: unknown, blobs: string[]): string {
  const parts: string[] = [];
  const leaf = (inner: unknown): void => {
    const reference = asBlob(inner);
    if (reference) blobs.push(reference.blob);
    else if (typeof inner === 'string') parts.push(withoutAnsi(inner));
    else if (isWords(inner)) parts.push(inner.join(' '));
    else if (inner !== null && inner !== undefined) parts.push(json(inner));
  };
  for (const part of blocks(value)) {
    if (part.kind === 'text') parts.push(withoutAnsi(part.text));
    else if (part.kind === 'blob') blobs.push(part.reference.blob);
    else if (part.kind === 'json' && isRecord(part.value)) {
      for (const [name, inner] of Object.entries(part.value)) {
        parts.push(name);
        leaf(inner);
      }
    } else if (part.kind === 'json') leaf(part.value);
    else parts.push(json(part.value));
  }
  return parts.join('\n');
}
