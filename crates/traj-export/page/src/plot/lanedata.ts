/** What the lanes show, sorted by time: model, tools, waits, and both again for each sub-agent. */
import type { Range, Run } from '../base/run';
import { Flag, Kind, NONE } from '../data/index';

export interface Lane {
  name: string;
  kind: 'model' | 'tool' | 'wait' | 'agent';
  items: Uint32Array;
  starts: Float64Array;
  ends: Float64Array;
  /** The longest entry, which bounds how far back a search must go. */
  longest: number;
}

export const AGENT_LANES = 5;

function lane(run: Run, name: string, kind: Lane['kind'], entries: { item: number; from: number; to: number }[]): Lane {
  entries.sort((a, b) => a.from - b.from);
  const items = new Uint32Array(entries.length);
  const starts = new Float64Array(entries.length);
  const ends = new Float64Array(entries.length);
  let longest = 0;
  entries.forEach((entry, at) => {
    items[at] = entry.item;
    starts[at] = entry.from;
    ends[at] = Math.max(entry.from, Math.min(entry.to, run.lastEnd));
    longest = Math.max(longest, ends[at] - entry.from);
  });
  return { name, kind, items, starts, ends, longest };
}

/** Waits of the main thread between the end of a turn and the next prompt. */
function replies(run: Run): { item: number; from: number; to: number }[] {
  const { index } = run;
  const found: { item: number; from: number; to: number }[] = [];
  for (let turn = 2; turn <= index.turnCount; turn += 1) {
    const prompt = index.turnStart(turn);
    const before = index.turnStart(turn - 1);
    if (prompt === NONE || before === NONE) continue;
    let end = -Infinity;
    for (let item = before; item < prompt; item += 1) {
      const at = index.end(item);
      if (index.thread[item] === 0 && at > end) end = at;
    }
    if (index.start[prompt] > end && Number.isFinite(end)) found.push({ item: prompt, from: end, to: index.start[prompt] });
  }
  return found;
}

export interface LaneData {
  lanes: Lane[];
  waits: Range[];
  /** Threads that have no lane of their own. */
  merged: number;
}

type Entry = { item: number; from: number; to: number };

export function laneData(run: Run): LaneData {
  const { index } = run;
  const model: Entry[] = [];
  const tools: Entry[] = [];
  const waits: Entry[] = replies(run);
  const agents: Entry[][] = [];
  for (let item = 0; item < index.length; item += 1) {
    const from = index.start[item];
    if (Number.isNaN(from)) continue;
    const kind = index.kind[item];
    const entry = { item, from, to: index.end(item) };
    const thread = index.thread[item];
    if (kind === Kind.approval) waits.push(entry);
    else if (thread > 0 && (kind === Kind.model || kind === Kind.call)) (agents[Math.min(thread, AGENT_LANES + 1)] ??= []).push(entry);
    else if (kind === Kind.model || kind === Kind.compaction) model.push(entry);
    else if (kind === Kind.call) tools.push(entry);
  }
  const lanes = [lane(run, 'Model', 'model', model), lane(run, 'Tools', 'tool', tools), lane(run, 'Waiting', 'wait', waits)];
  const merged = Math.max(0, index.threads.length - 1 - AGENT_LANES);
  for (let thread = 1; thread <= AGENT_LANES + 1; thread += 1) {
    const entries = agents[thread];
    if (!entries) continue;
    const name = thread <= AGENT_LANES ? `${'\u2003'.repeat(Math.max(0, index.depth(thread) - 1))}↳ ${index.threadName(thread)}` : `↳ ${merged} more`;
    lanes.push(lane(run, name, 'agent', entries));
  }
  const sorted = waits.map(({ from, to }) => ({ from, to })).sort((a, b) => a.from - b.from);
  return { lanes, waits: merge(sorted), merged };
}

function merge(ranges: Range[]): Range[] {
  const result: Range[] = [];
  for (const range of ranges) {
    const last = result[result.length - 1];
    if (last && range.from <= last.to) last.to = Math.max(last.to, range.to);
    else result.push({ ...range });
  }
  return result;
}

/** The first entry of a lane that can reach into the range. */
export function firstIn(data: Lane, from: number): number {
  let low = 0;
  let high = data.starts.length;
  const limit = from - data.longest;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (data.starts[middle] < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The entry nearest to a time within a tolerance, or -1. Later entries lie above earlier ones. */
export function entryAt(data: Lane, time: number, tolerance: number, wanted: (item: number) => boolean): number {
  let best = -1;
  let distance = tolerance;
  for (let at = firstIn(data, time - tolerance); at < data.starts.length && data.starts[at] <= time + tolerance; at += 1) {
    if (!wanted(data.items[at])) continue;
    const away = time < data.starts[at] ? data.starts[at] - time : time > data.ends[at] ? time - data.ends[at] : 0;
    if (away <= distance) {
      best = at;
      distance = away;
    }
  }
  return best;
}

/** Whether an entry of a sub-agent's lane belongs to its upper half, the model's. */
export function isModel(run: Run, item: number): boolean {
  return run.index.kind[item] !== Kind.call;
}

/** The colour of an entry: failures are red wherever they are. */
export function lookOf(run: Run, data: Lane, item: number): 'model' | 'tool' | 'wait' | 'fail' | 'hollow' {
  if (data.kind === 'wait') return 'wait';
  if (run.index.has(item, Flag.failed)) return 'fail';
  if (run.index.kind[item] === Kind.compaction) return 'hollow';
  if (data.kind === 'agent') return isModel(run, item) ? 'model' : 'tool';
  return data.kind;
}
