/** The small document at the start of the page: all that the first screen needs. */

export interface CallSummary {
  tool: string;
  outcome: string;
  seq: number;
  command?: string | null;
  exitCode?: number | null;
  millis?: number | null;
}

export interface Usage {
  calls: number;
  inputTokens: number;
  cachedTokens: number;
  cacheWriteTokens: number;
  outputTokens: number;
  reasoningTokens: number;
  cost?: number | null;
  costOrigin?: string | null;
  currency?: string | null;
}

export interface Warning {
  code: string;
  count: number;
  message: string;
  rows: number[];
  source: string;
}

export interface ToolSummary {
  calls: number;
  errors: number;
  declined: number;
  interrupted: number;
  timedOut: number;
  unanswered: number;
}

/** The members of `traj inspect --json` that the page shows. */
export interface Summary {
  agent?: string | null;
  dialect?: string | null;
  sessionId?: string | null;
  sessionKey?: string | null;
  status?: string | null;
  startedAt?: string | null;
  endedAt?: string | null;
  durationMillis: number;
  events: number;
  turns: number;
  lostEvents: number;
  otherBranches: number;
  otherBranchEntries: number;
  calls: ToolSummary;
  context: { compactions: number; firstTokens: number; lastTokens: number; peakTokens: number };
  time: { idleMillis: number; modelMillis: number; personMillis: number; toolMillis: number };
  usage: Usage;
  usageByModel: Record<string, Usage>;
  models: Record<string, number>;
  redaction?: { total: number; media: number; paths: number; rules: { rule: string; count: number }[] } | null;
  warnings: Warning[];
  problems: { file: string; line?: number | null; problem: string }[];
  unknown: Record<string, number>;
}

export interface BundleFile {
  path: string;
  bytes: number;
  sha256: string;
  chunk: number;
  chunks: number;
  /** `copies` if parts of rows of events.jsonl stand for strings. */
  encoding?: string;
}

export interface Failure {
  item: number;
  tool: string;
  command?: string | null;
  outcome: string;
  inWords: string;
  exitCode?: number | null;
  error?: string | null;
  lastLines: string[];
  outputLines: number;
  passedLater?: number | null;
}

export interface Worth {
  kind: string;
  text: string;
  item: number | null;
}

export interface ReviewFinding {
  rule: string;
  file: string;
  row: number;
  count: number;
}

export interface Head {
  format: string;
  generator: string;
  review: boolean;
  reviewFindings?: ReviewFinding[];
  title: string;
  summary: Summary;
  digest: string;
  files: BundleFile[];
  rows: number;
  /** Rows that are too long or damaged; their items say nothing. */
  omittedRows?: number;
  rowChunks: number[];
  indexChunks: number;
  items: number;
  modelCalls: number;
  threads: number;
  turns: number;
  startedAt: number | null;
  endedAt: number | null;
  overview: { failure: Failure | null; worth: Worth[]; endedHow: string; endedText: string };
}

/** Reads the document. It is the only one whose text stands in the page unpacked. */
export function readHead(): Head {
  const head = JSON.parse(document.getElementById('head')?.textContent ?? '') as Head;
  if (head.format !== 'traj-page/1') throw new Error(`unknown format ${head.format}`);
  return head;
}
