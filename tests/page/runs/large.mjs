// Runs with very many events, an empty run, and a small one without failures.
import { FLAG, KIND, PageBuilder, summaryOf } from '../make-page.mjs';

const START = Date.UTC(2026, 5, 1, 9, 30, 0);
const WORDS = 'order client token page import batch retry shipped pending error schema column index provider staging refund invoice ledger queue worker'.split(' ');

/** A generator with a seed, so that every run of the tests sees the same page. */
function random(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** About this many events: per turn a prompt, then model calls, tool calls and answers. */
export function huge(events, needles = 37) {
  const page = new PageBuilder(START);
  const next = random(7);
  const sentence = (words) => Array.from({ length: words }, () => WORDS[Math.floor(next() * WORDS.length)]).join(' ');
  let now = 0;
  let context = 9000;
  let planted = 0;
  let failures = 0;
  let toolCalls = 0;
  let prompts = 0;
  let firstFailure = -1;
  let peak = 0;
  let compactions = 0;
  const every = Math.floor(events / needles);
  for (let number = 0; page.items.length < events; number += 1) {
    if (number % 400 === 0) {
      now += 60000;
      page.prompt(now, `Migrate crate ${number / 400} to the new edition. ${sentence(12)}`);
      prompts += 1;
    }
    const took = 500 + Math.floor(next() * 2500);
    const fresh = 300 + Math.floor(next() * 900);
    if (context > 180000) {
      page.say(now, `Summary of the work so far. ${sentence(30)}`, KIND.compaction, 0, { duration: 4000 });
      compactions += 1;
      context = 30000;
    }
    page.model(now, took, 'gpt-5.4', context, fresh, 120, 0.004);
    peak = Math.max(peak, context + fresh + 120);
    context += fresh + 120;
    now += took;
    for (let call = 0; call < 3 && page.items.length < events; call += 1) {
      const bad = toolCalls % 317 === 316;
      const mark = planted < needles && page.items.length >= planted * every ? ` planted-needle` : '';
      if (mark) planted += 1;
      const duration = 100 + Math.floor(next() * 1500);
      const output = Array.from({ length: 6 }, () => sentence(10)).join('\n') + mark;
      const item = page.call(now, duration, call === 2 ? 'read' : 'shell', call === 2 ? { path: `src/crate_${number}/lib.rs` } : { command: `cargo test -p crate_${number}` }, output,
        { exitCode: bad ? 101 : 0, words: bad ? 'exit 101' : '', flags: bad ? FLAG.failed : 0 });
      if (bad) {
        failures += 1;
        if (firstFailure < 0) firstFailure = item;
      }
      toolCalls += 1;
      now += duration;
    }
    if (page.items.length < events) page.say(now, `Crate ${number} ${sentence(18)}.`);
  }
  const facts = { items: page.items.length, planted, failures, toolCalls, prompts, peak, firstFailure, modelCalls: page.calls.length, compactions };
  const usage = { calls: page.calls.length, inputTokens: 62_000_000, cachedTokens: 48_000_000, cacheWriteTokens: 0, outputTokens: 458_000, reasoningTokens: 0, cost: 24.35, costOrigin: 'stated', currency: 'USD' };
  const html = page.build({
    title: 'Migrate the workspace to edition 2024',
    summary: summaryOf({
      startedAt: new Date(START).toISOString(), durationMillis: now, events: page.rows.length, turns: prompts,
      calls: { calls: toolCalls, errors: failures, declined: 0, interrupted: 0, timedOut: 0, unanswered: 0, longestMillis: 1600, totalMillis: now / 2 },
      context: { compactions, firstTokens: 9000, lastTokens: context, peakTokens: peak }, models: { 'gpt-5.4': page.calls.length }, usage, usageByModel: { 'gpt-5.4': usage },
      time: { modelMillis: now * 0.5, toolMillis: now * 0.4, personMillis: now * 0.06, idleMillis: now * 0.04 },
    }),
    overview: {
      failure: { item: firstFailure, tool: 'shell', command: 'cargo test -p crate_105', outcome: 'failed', inWords: 'exit 101', exitCode: 101, error: null, lastLines: ['test result: FAILED. 12 passed; 1 failed'], outputLines: 6, passedLater: null },
      worth: [{ kind: 'failure', text: `${failures} calls failed`, item: firstFailure }, { kind: 'compaction', text: `Compacted ${compactions} times`, item: null }],
    },
  });
  return { html, facts };
}

export function empty() {
  const page = new PageBuilder(START);
  return { html: page.build({ title: 'An empty session', summary: summaryOf({ status: null }), overview: { endedHow: 'open' } }), facts: { items: 0 } };
}

/** Nothing failed, nothing is timed, nothing is priced. */
export function small() {
  const page = new PageBuilder(START);
  page.prompt(undefined, 'Say hello.');
  page.say(undefined, 'Hello.');
  return { html: page.build({ title: 'Say hello', summary: summaryOf({ turns: 1, events: 2 }) }), facts: { items: 2 } };
}
