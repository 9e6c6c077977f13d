/**
 * The files of the bundle, unpacked on demand.
 *
 * The page carries each file as compressed chunks in inert script elements. A
 * chunk is decoded when something of it is wanted, and the most recently used
 * ones are kept.
 */
import type { BundleFile, Head } from './head';

/** Files without rows are cut at multiples of this. */
const CHUNK_BYTES = 256 * 1024;
/** What a reference to a part of a row begins with. */
const COPY = 1;
const KEPT_CHUNKS = 64;
const KEPT_ROWS = 600;

type WithFromBase64 = { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> };

function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  const native = (Uint8Array as unknown as WithFromBase64).fromBase64;
  if (native) return native.call(Uint8Array, text);
  const binary = atob(text);
  const result = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at += 1) result[at] = binary.charCodeAt(at);
  return result;
}

/** Decodes the content of one chunk element. */
export async function inflate(text: string): Promise<Uint8Array<ArrayBuffer>> {
  const packed = new Blob([decodeBase64(text.trim())]);
  const stream = packed.stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Resolves when the parser has passed the element with this id. */
export function parsed(id: string): Promise<HTMLElement> {
  const ready = (): HTMLElement | null => {
    const found = document.getElementById(id);
    const complete = found && (found.nextElementSibling !== null || document.readyState !== 'loading');
    return complete ? found : null;
  };
  return new Promise((resolve, reject) => {
    const at = ready();
    if (at) return resolve(at);
    const watch = new MutationObserver(() => look());
    const look = (): void => {
      const found = ready();
      if (!found && document.readyState === 'loading') return;
      watch.disconnect();
      document.removeEventListener('readystatechange', look);
      if (found) resolve(found);
      else reject(new Error(`the page ends before ${id}`));
    };
    watch.observe(document.body, { childList: true });
    document.addEventListener('readystatechange', look);
    look();
  });
}

/** A map that forgets what was not used for longest. */
class Recent<Value> {
  private readonly map = new Map<number, Value>();

  constructor(private readonly limit: number) {}

  get(key: number): Value | undefined {
    const value = this.map.get(key);
    if (value !== undefined) {
      this.map.delete(key);
      this.map.set(key, value);
    }
    return value;
  }

  set(key: number, value: Value): void {
    this.map.set(key, value);
    if (this.map.size > this.limit) this.map.delete(this.map.keys().next().value as number);
  }
}

/** The rows of one chunk of events.jsonl. */
interface RowChunk {
  first: number;
  lines: string[];
}

/** Where a chunk of an encoded file begins in the file, after the rest of a reference. */
export interface ChunkStart {
  skip: number;
  offset: number;
}

export class ChunkStore {
  readonly events: BundleFile | undefined;
  private readonly byPath = new Map<string, BundleFile>();
  private readonly rowChunks = new Recent<RowChunk>(KEPT_CHUNKS);
  private readonly loading = new Map<number, Promise<RowChunk>>();
  private readonly rows = new Recent<{ value: unknown }>(KEPT_ROWS);
  private readonly blobs = new Map<string, string>();

  constructor(private readonly head: Head) {
    for (const file of head.files) this.byPath.set(file.path, file);
    this.events = this.byPath.get('events.jsonl');
  }

  file(path: string): BundleFile | undefined {
    return this.byPath.get(path);
  }

  /** The bytes of one chunk, decoded. */
  async bytes(chunk: number): Promise<Uint8Array<ArrayBuffer>> {
    const element = await parsed(`c${chunk}`);
    return inflate(element.textContent ?? '');
  }

  /** The number of the chunk of events.jsonl that has this row, from 0. */
  private chunkOf(row: number): number {
    const firsts = this.head.rowChunks;
    let low = 0;
    let high = firsts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (firsts[middle] <= row) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** The text of one chunk of events.jsonl; not kept. */
  async rowText(chunk: number): Promise<string> {
    const events = this.events;
    if (!events) return '';
    return new TextDecoder().decode(await this.bytes(events.chunk + chunk));
  }

  private load(chunk: number): Promise<RowChunk> {
    const under = this.loading.get(chunk);
    if (under) return under;
    const work = this.rowText(chunk).then((text) => {
      const result = { first: this.head.rowChunks[chunk], lines: text.split('\n') };
      this.rowChunks.set(chunk, result);
      return result;
    }).finally(() => this.loading.delete(chunk));
    this.loading.set(chunk, work);
    return work;
  }

  private parse(row: number, from: RowChunk): unknown {
    let value: unknown = null;
    try {
      value = JSON.parse(from.lines[row - from.first] ?? 'null');
    } catch {
      value = from.lines[row - from.first];
    }
    this.rows.set(row, { value });
    return value;
  }

  /** The parsed row if its chunk is at hand, otherwise undefined. */
  rowNow(row: number): unknown {
    const known = this.rows.get(row);
    if (known) return known.value;
    const chunk = this.rowChunks.get(this.chunkOf(row));
    return chunk ? this.parse(row, chunk) : undefined;
  }

  async row(row: number): Promise<unknown> {
    const known = this.rows.get(row);
    if (known) return known.value;
    const number = this.chunkOf(row);
    return this.parse(row, this.rowChunks.get(number) ?? (await this.load(number)));
  }

  /** The row as it stands in the file. */
  async rowLine(row: number): Promise<string> {
    const number = this.chunkOf(row);
    const chunk = this.rowChunks.get(number) ?? (await this.load(number));
    return chunk.lines[row - chunk.first] ?? '';
  }

  /** A whole file as text. */
  async text(path: string): Promise<string> {
    const file = this.byPath.get(path);
    if (!file) throw new Error(`${path} is not in this page`);
    if (file.encoding) return this.span(path, 0, file.bytes, []);
    const decoder = new TextDecoder();
    const parts: string[] = [];
    for (let at = 0; at < file.chunks; at += 1) {
      parts.push(decoder.decode(await this.bytes(file.chunk + at), { stream: true }));
    }
    parts.push(decoder.decode());
    return parts.join('');
  }

  /** A part of a file, by its bytes; `starts` says where its chunks begin, if it is encoded. */
  async span(path: string, from: number, to: number, starts: ChunkStart[]): Promise<string> {
    const file = this.byPath.get(path);
    if (!file) throw new Error(`${path} is not in this page`);
    const decoder = new TextDecoder();
    const parts: string[] = [];
    let chunk = file.encoding ? 0 : Math.floor(from / CHUNK_BYTES);
    while (chunk + 1 < starts.length && starts[chunk + 1].offset <= from) chunk += 1;
    let offset = starts[chunk]?.offset ?? (file.encoding ? 0 : chunk * CHUNK_BYTES);
    let bytes = new Uint8Array(0);
    let at = starts[chunk]?.skip ?? 0;
    const give = (part: Uint8Array): void => {
      const used = part.subarray(Math.max(0, from - offset), Math.max(0, to - offset));
      if (used.length > 0) parts.push(decoder.decode(used, { stream: true }));
      offset += part.length;
    };
    while (offset < to) {
      // A reference takes at most 16 bytes, and may end in the next chunk.
      if (bytes.length - at < 16 && chunk < file.chunks) {
        const next = await this.bytes(file.chunk + chunk);
        const joined = new Uint8Array(Math.max(0, bytes.length - at) + next.length);
        joined.set(bytes.subarray(at));
        joined.set(next, joined.length - next.length);
        if (bytes.length > 0) at = 0;
        bytes = joined;
        chunk += 1;
        continue;
      }
      if (at >= bytes.length) break;
      if (!file.encoding || bytes[at] !== COPY) {
        const copy = file.encoding ? bytes.indexOf(COPY, at) : -1;
        const end = copy < 0 ? bytes.length : copy;
        give(bytes.subarray(at, end));
        at = end;
        continue;
      }
      at += 1;
      const number = (): number => {
        let value = 0;
        for (let factor = 1; ; factor *= 128) {
          const byte = bytes[at++] ?? 0;
          value += (byte & 127) * factor;
          if (byte < 128) return value;
        }
      };
      const [row, start, length] = [number(), number(), number()];
      give(new TextEncoder().encode(await this.rowLine(row)).subarray(start, start + length));
    }
    return parts.join('') + decoder.decode();
  }

  blobNow(digest: string): string | undefined {
    return this.blobs.get(digest);
  }

  blobFile(digest: string): BundleFile | undefined {
    return this.byPath.get(`blobs/${digest}.txt`) ?? this.byPath.get(`blobs/${digest}`);
  }

  /** The text of a blob, kept if it is small. Null if the bundle does not have it. */
  async blob(digest: string): Promise<string | null> {
    const known = this.blobs.get(digest);
    if (known !== undefined) return known;
    const file = this.blobFile(digest);
    if (!file) return null;
    const text = await this.text(file.path);
    if (text.length < 4_000_000) this.blobs.set(digest, text);
    if (this.blobs.size > 12) this.blobs.delete(this.blobs.keys().next().value as string);
    return text;
  }

  /** Decodes all rows of a small bundle ahead of time, so that printing needs no wait. */
  async warm(): Promise<boolean> {
    if (this.head.rowChunks.length > KEPT_CHUNKS / 2) return false;
    for (let chunk = 0; chunk < this.head.rowChunks.length; chunk += 1) {
      if (!this.rowChunks.get(chunk)) await this.load(chunk);
    }
    return true;
  }
}
