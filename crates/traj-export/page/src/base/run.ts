/** The run that the page shows, and what is chosen and open in it. Parts of the page talk through it. */
import type { ChunkStore } from '../data/chunks';
import type { Content } from '../data/content';
import { Contexts } from '../data/contexts';
import type { Head } from '../data/head';
import { Flag, type Index, Kind } from '../data/index';

export type Topic = 'select' | 'filter' | 'theme' | 'find' | 'scrolled';

export interface Range {
  from: number;
  to: number;
}

/** The name of an item in links: items are counted from 1 there. */
export function nameOf(item: number): string {
  return `e${item + 1}`;
}

export class Run {
  /** The chosen item, or -1. */
  selected = -1;
  /** Items that somebody opened or closed. */
  readonly opened = new Map<number, boolean>();
  /** Items whose output is shown whole. */
  readonly whole = new Set<number>();
  allOpen: boolean | null = null;
  /** The items in sight, for the small timeline. */
  inSight: Range | null = null;
  readonly failures: Uint32Array;
  readonly firstStart: number;
  readonly lastEnd: number;
  /** What the model saw at each call. */
  readonly contexts: Contexts;
  private readonly listeners = new Map<Topic, (() => void)[]>();

  constructor(readonly head: Head, readonly index: Index, readonly store: ChunkStore, readonly content: Content) {
    this.failures = index.failures();
    this.contexts = new Contexts(index.contexts, store);
    let first = head.startedAt ?? Infinity;
    let last = head.endedAt ?? -Infinity;
    for (let item = 0; item < index.length; item += 1) {
      const start = index.start[item];
      if (Number.isNaN(start)) continue;
      if (start < first) first = start;
      const end = index.end(item);
      if (end > last) last = end;
    }
    this.firstStart = first;
    this.lastEnd = Math.max(last, first);
  }

  /** Whether any time is known at all. */
  get timed(): boolean {
    return Number.isFinite(this.firstStart) && this.lastEnd > this.firstStart;
  }

  on(topic: Topic, act: () => void): void {
    const list = this.listeners.get(topic) ?? [];
    list.push(act);
    this.listeners.set(topic, list);
  }

  tell(topic: Topic): void {
    for (const act of this.listeners.get(topic) ?? []) act();
  }

  private threadSizes: Uint32Array | undefined;

  /** How many items a thread has. */
  threadSize(thread: number): number {
    if (!this.threadSizes) {
      this.threadSizes = new Uint32Array(this.index.threads.length);
      for (const number of this.index.thread) this.threadSizes[number] += 1;
    }
    return this.threadSizes[thread];
  }

  failed(item: number): boolean {
    return this.index.has(item, Flag.failed);
  }

  /** Failed calls, edits and pictures are open at first. */
  isOpen(item: number): boolean {
    const said = this.opened.get(item);
    if (said !== undefined) return said;
    if (this.allOpen !== null) return this.allOpen;
    const kind = this.index.kind[item];
    return (kind === Kind.call && this.index.has(item, Flag.failed | Flag.edit)) || (kind === Kind.attachment && this.index.has(item, Flag.images));
  }

  /** The nearest failure after or before an item; wraps around. -1 if there is none. */
  failureFrom(item: number, direction: 1 | -1): number {
    const list = this.failures;
    if (list.length === 0) return -1;
    if (direction > 0) return list.find((other) => other > item) ?? list[0];
    return list.findLast((other) => other < item) ?? list[list.length - 1];
  }
}
