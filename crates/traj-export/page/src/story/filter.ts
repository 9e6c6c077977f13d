/** Which items are shown: by kind, tool, outcome, thread, time and text. */
import type { Range, Run } from '../base/run';
import { Flag, Kind } from '../data/index';

export type Segment = 'all' | 'prompts' | 'answers' | 'reasoning' | 'tools' | 'edits' | 'failed';
export type Outcome = '' | 'ok' | 'failed' | 'declined' | 'interrupted' | 'timedOut' | 'unanswered';

export const SEGMENTS: [Segment, string][] = [
  ['all', 'All'], ['prompts', 'Prompts'], ['answers', 'Answers'], ['reasoning', 'Reasoning'], ['tools', 'Tools'],
  ['edits', 'Edits'], ['failed', 'Failed'],
];

export const OUTCOMES: [Outcome, string][] = [
  ['', 'Any outcome'], ['ok', 'Worked'], ['failed', 'Failed'], ['timedOut', 'Timed out'], ['declined', 'Declined'],
  ['interrupted', 'Interrupted'], ['unanswered', 'No result'],
];

const ODD = Flag.failed | Flag.declined | Flag.interrupted | Flag.unanswered | Flag.timedOut;

function inSegment(segment: Segment, kind: number, flags: number): boolean {
  switch (segment) {
    case 'all': return true;
    case 'prompts': return kind === Kind.prompt;
    case 'answers': return kind === Kind.text;
    case 'reasoning': return kind === Kind.reasoning;
    case 'tools': return kind === Kind.call;
    case 'edits': return kind === Kind.call && (flags & Flag.edit) !== 0;
    case 'failed': return (flags & Flag.failed) !== 0;
  }
}

function hasOutcome(outcome: Outcome, kind: number, flags: number): boolean {
  if (outcome === '') return true;
  if (kind !== Kind.call) return false;
  if (outcome === 'ok') return (flags & ODD) === 0;
  return (flags & Flag[outcome]) !== 0;
}

export class Filter {
  segment: Segment = 'all';
  /** Number of the tool's name, or -1 for any. */
  tool = -1;
  outcome: Outcome = '';
  /** Number of a thread, or -1 for any. */
  thread = -1;
  range: Range | null = null;
  /** Whether rows that state nothing new are shown: unknown ones, and those that repeat others. */
  others = false;
  /** Matches of find by item, if only those are shown. */
  matches: Uint32Array | null = null;
  /** Whether nothing but such rows matches. */
  onlyOthersMatch = false;

  get active(): boolean {
    return this.segment !== 'all' || this.tool >= 0 || this.outcome !== '' || this.thread >= 0 || this.range !== null || this.matches !== null;
  }

  clear(): void {
    this.segment = 'all';
    this.tool = -1;
    this.outcome = '';
    this.thread = -1;
    this.range = null;
    this.matches = null;
  }

  passes(run: Run, item: number): boolean {
    const { index } = run;
    const kind = index.kind[item];
    const flags = index.flags[item];
    if (kind === Kind.other && !this.others && !(this.matches && this.onlyOthersMatch)) return false;
    if (!inSegment(this.segment, kind, flags)) return false;
    if (this.tool >= 0 && (kind !== Kind.call || index.label[item] !== this.tool)) return false;
    if (!hasOutcome(this.outcome, kind, flags)) return false;
    if (this.thread >= 0 && index.thread[item] !== this.thread) return false;
    if (this.matches && this.matches[item] === 0) return false;
    if (this.range) {
      if (!(Math.min(index.time(item), index.end(item)) <= this.range.to && index.end(item) >= this.range.from)) return false;
    }
    return true;
  }

  /** The items that pass, in the order of the story. */
  apply(run: Run): Uint32Array {
    const result = new Uint32Array(run.index.length);
    let at = 0;
    for (let item = 0; item < result.length; item += 1) if (this.passes(run, item)) result[at++] = item;
    return result.slice(0, at);
  }
}

export function segmentCounts(run: Run): Record<Segment | 'others', number> {
  const counts = { others: 0, all: 0, prompts: 0, answers: 0, reasoning: 0, tools: 0, edits: 0, failed: 0 };
  const { kind, flags, length } = run.index;
  for (let item = 0; item < length; item += 1) {
    if (kind[item] === Kind.other) {
      counts.others += 1;
      continue;
    }
    for (const [segment] of SEGMENTS) if (inSegment(segment, kind[item], flags[item])) counts[segment] += 1;
  }
  return counts;
}

/** The tools by how often they were called: number of the name and calls. */
export function toolsByUse(run: Run): [number, number][] {
  const counts = new Map<number, number>();
  const { kind, label, length } = run.index;
  for (let item = 0; item < length; item += 1) {
    if (kind[item] === Kind.call) counts.set(label[item], (counts.get(label[item]) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1]);
}
