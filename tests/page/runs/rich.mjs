// A run with one of everything, and the values that tests look for in it.
import { FLAG, KIND, PageBuilder, summaryOf } from '../make-page.mjs';

const START = Date.UTC(2026, 5, 1, 9, 30, 1);
const PAT = '<redacted:github-pat:3f9a1c>';
const OPENAI = '<redacted:openai-key:67a134>';
const E = '\x1b[';

function testOutput() {
  const lines = [
    `${E}1m${E}32m   Compiling${E}0m importer v0.8.2 ($WORKSPACE_DIR)`,
    `${E}1m${E}32m    Finished${E}0m \`test\` profile in 9.84s`,
    `${E}1m${E}32m     Running${E}0m unittests src/lib.rs`,
    'running 326 tests',
  ];
  for (let test = 0; test < 311; test += 1) {
    lines.push(`test orders::case_${String(test).padStart(3, '0')} ... ok${test === 200 ? ' needle-in-hidden-lines' : ''}`);
  }
  lines.push(
    `test client::token::refreshes_a_stale_token ... ${E}31mFAILED${E}0m`, '', 'failures:', '',
    `${E}1m---- client::token::refreshes_a_stale_token stdout ----${E}0m`,
    "thread 'client::token' panicked at src/client.rs:58:10:",
    `${E}31mtoken has expired: rotate it with \`importer login\`${E}0m`,
    `${E}90mnote: run with \`RUST_BACKTRACE=1\` for a backtrace${E}0m`, '',
    `test result: ${E}31mFAILED${E}0m. 325 passed; 1 failed; finished in 0.41s`,
    `${E}1m${E}31merror${E}0m: test failed, to rerun pass \`--lib\``,
  );
  return lines.join('\n');
}

const LONG_LINES = 5000;

/** Output that is drawn in a window once it is shown whole. */
function longOutput() {
  const lines = [];
  for (let line = 1; line <= LONG_LINES; line += 1) lines.push(line === 3777 ? `row ${line} planted-far-down` : `row ${line} order ${line * 7919 % 10007} shipped`);
  return lines.join('\n');
}

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

export function rich(options = {}) {
  const page = new PageBuilder(START);
  const at = {};
  const started = page.row('session.started', { agent: 'openclaw', version: '2026.6.1', model: 'gpt-5.4' }, 0);
  at.started = page.item(KIND.started, { at: 0, row: started, path: ['data'], label: 'gpt-5.4' });
  const system = page.row('session.context', { system: 'You are a careful engineer. The workspace is $WORKSPACE_DIR.\nExplain what you found before you change anything.', tools: [{ name: 'shell', description: 'Runs a command' }, { name: 'edit', description: 'Changes a file' }] }, 20);
  at.system = page.item(KIND.context, { at: 20, row: system, path: ['data', 'system'], label: 'system prompt' });
  at.tools = page.item(KIND.context, { at: 20, row: system, path: ['data', 'tools'], label: '2 tools' });

  at.prompt1 = page.prompt(100, 'The nightly import of orders fails since yesterday. Find out why and fix it.');
  at.model1 = page.model(200, 3100, 'gpt-5.4', 0, 5200, 96, 0.007);
  at.reasoning = page.say(3300, 'Look at the configuration and the last log first. If the API refuses us, the token is the first suspect; the job ran fine until the 31st.', KIND.reasoning, 0, { duration: 1900 });
  at.env = page.call(4200, 500, 'shell', { command: 'head -50 .env logs/import.log' }, [
    '==> .env <==', 'DATABASE_URL=postgres://importer:<redacted:url-password:9c41e2>@db.internal.example:5432/orders', `OPENAI_API_KEY=${OPENAI}`, `GITHUB_TOKEN=${PAT}`, 'BATCH_SIZE=500', '',
    '==> logs/import.log <==', '2026-06-01T02:00:03Z ERROR 401 Unauthorized: GET https://api.shop.example/v2/orders?page=1', `2026-06-01T02:00:03Z ERROR Authorization: Bearer ${PAT}`,
  ].join('\n'), { exitCode: 0, flags: FLAG.redacted });
  at.model2 = page.model(4900, 4300, 'gpt-5.4', 5200, 700, 118, 0.003);
  at.answer1 = page.say(9300, 'The API refuses the call, and the client writes its bearer token into the log. Let me see what the client’s tests say.');
  at.failure = page.call(8000, 12400, 'shell', { command: 'cargo test --lib client' }, testOutput(), { exitCode: 101, words: 'exit 101', flags: FLAG.failed | FLAG.firstFailure, callId: 'call_1cvsXk' });
  at.model3 = page.model(20500, 9800, 'gpt-5.4', 5900, 3500, 612, 0.011);
  at.markdown = page.say(30400, [
    'Found it. The token in `.env` expired on 31 May, and **nothing refreshes it**: `Client::pages` asks for the first page with whatever it has.', '',
    '```rust', 'let token = self.token.as_str(); // never checked', 'let page = self.get("/orders", token)?;', '```', '',
    '| step | state |', '|---|---|', '| read the log | done |', '| refresh the token | ~~open~~ next |', '',
    '1. Refresh the token', '2. Add a test', '', '- [x] reproduce', '- [ ] fix', '',
    '> The provider rotates tokens every 30 days.', '', `See [the provider's page](https://provider.example/rotate?x=1) and ${PAT}.`,
  ].join('\n'));

  at.prompt2 = page.prompt(95000, [{ type: 'text', text: 'Yes, use the rotating provider. This is what the dashboard shows:' }, { type: 'image', mimeType: 'image/png', data: `<media:image/png;bytes=48213;sha256=${'ab'.repeat(32)}>` }]);
  at.model4 = page.model(95200, 6000, 'gpt-5.4', 9400, 132000, 900, 0.09);
  at.edit = page.call(102000, 80, 'edit', { path: 'src/client.rs', old_string: 'fn pages(&self) {\n    let token = self.token.as_str();\n    self.get(token)\n}', new_string: 'fn pages(&self) {\n    let token = self.provider.fresh()?;\n    self.get(&token)\n}' }, 'The file was changed.', { flags: FLAG.edit });
  at.passed = page.call(104000, 11000, 'shell', { command: 'cargo test --lib client' }, 'test result: ok. 326 passed; 0 failed', { exitCode: 0 });
  at.picture = page.say(116000, [{ type: 'text', text: 'The graph after the change:' }, { type: 'image', source: { media_type: 'image/png', data: PIXEL } }], KIND.text, 0, { flags: FLAG.images });

  at.prompt3 = page.prompt(212000, 'Do other callers log the header too? Let a sub-agent look.');
  at.model5 = page.model(212500, 5600, 'gpt-5.4', 141000, 1000, 380, 0.023);
  at.agent = page.call(218500, 74000, 'task', { command: 'audit-callers: who logs an Authorization header?' }, 'Two more places.', { flags: FLAG.startsAgent });
  const audit = page.agent('audit-callers', at.agent);
  at.agentModel1 = page.model(219000, 9200, 'qwen3-coder', 0, 6100, 210, null, audit);
  at.agentCall = page.call(229000, 400, 'shell', { command: 'rg -n "Authorization" --glob "!target"' }, 'src/sync/push.rs:88: debug!("Authorization: {}", header)', { thread: audit, exitCode: 0 });
  const nested = page.agent('read-scripts', at.agentCall, audit);
  at.nestedCall = page.call(240000, 200, 'read', { path: 'scripts/replay.sh' }, `curl -H "Authorization: Bearer ${PAT}"`, { thread: nested, flags: FLAG.redacted });
  at.agentModel2 = page.model(250000, 41800, 'qwen3-coder', 24800, 6400, 840, null, audit);
  at.agentAnswer = page.say(292000, 'Two more places: `src/sync/push.rs:88` logs it at debug level, `scripts/replay.sh:9` has a token written into it.', KIND.text, audit);
  at.model6 = page.model(293000, 18400, 'gpt-5.4', 142000, 25000, 1310, 0.062);
  at.compaction = page.say(311800, 'The run so far: the token expired, the client now refreshes it, two callers log the header.', KIND.compaction, 0, { duration: 11200, words: '168k to 31.4k tokens' });

  at.prompt4 = page.prompt(357000, 'Rotate the token in staging, then run the import once with 50 orders.');
  at.model7 = page.model(357500, 6800, 'gpt-5.4', 0, 32100, 160, 0.042);
  const asked = page.row('approval', { command: './bin/import rotate --env staging', decision: 'allow-once' }, 364500);
  at.approval = page.item(KIND.approval, { at: 364500, duration: 222000, row: asked, path: ['data'], commandPath: ['data', 'command'], words: 'allowed once', label: 'shell' });
  at.long = page.call(587000, 48000, 'shell', { command: './bin/import run --env staging --limit 50' }, longOutput(), { exitCode: 0 });
  at.declined = page.call(640000, 10, 'shell', { command: 'git push --force' }, 'Declined by the person.', { flags: FLAG.declined, words: 'declined' });
  at.timedOut = page.call(641000, 30000, 'shell', { command: 'cargo bench' }, 'no output for 30 s', { flags: FLAG.failed | FLAG.timedOut, words: 'timed out' });
  at.unanswered = page.call(672000, 0, 'shell', { command: 'sleep 1000' }, undefined, { flags: FLAG.unanswered });
  at.error = page.say(673000, 'overloaded_error: 529', KIND.error, 0, { label: 'model', words: 'retried', flags: FLAG.recovered });
  const digest = 'c0'.repeat(32);
  page.addFile(`blobs/${digest}.txt`, `first line of the blob\n${'filler line of the blob\n'.repeat(400)}planted-in-a-blob\n`);
  at.blob = page.call(674000, 300, 'read', { path: 'logs/all.log' }, { blob: digest, preview: 'first line of the blob', bytes: 9653 }, {});
  const hook = page.row('hook.finished', { name: 'format', exitCode: 0, output: 'nothing to format' }, 676000);
  at.hook = page.item(KIND.hook, { at: 676000, row: hook, path: ['data'], label: 'format' });
  const odd = page.row('ui.hint', { text: 'press ? for help', planted: 'planted-in-unknown-row' }, 677000);
  at.other = page.item(KIND.other, { at: 677000, row: odd, label: 'ui.hint' });
  const lost = page.row('recorder.lost', { events: 3 }, 678000);
  at.lost = page.item(KIND.lost, { at: 678000, row: lost, path: ['data'], label: '3 events' });
  const branches = page.row('session.branch_summary', { summary: 'An earlier try used the old provider.' }, 679000);
  at.branches = page.item(KIND.branches, { at: 679000, row: branches, path: ['data', 'summary'], label: '1 other branch, 4 entries' });
  at.codex = page.call(680000, 90, 'apply_patch', { input: '*** Begin Patch\n*** Update File: src/sync/push.rs\n@@\n-    debug!("Authorization: {}", header);\n+    debug!("sending");\n*** End Patch' }, 'Done', { flags: FLAG.edit });
  at.prompt5 = page.prompt(700000, `Commit and open a pull request.\n\n${'This paragraph belongs to a pasted document. '.repeat(300)}planted-at-the-end`);
  at.model8 = page.model(700500, 8000, 'gpt-5.4', 36000, 900, 420, 0.012);
  at.failure2 = page.call(709000, 900, 'shell', { command: 'gh pr create --fill' }, 'error: not logged in to any hosts', { exitCode: 1, words: 'exit 1', flags: FLAG.failed });
  at.last = page.say(712000, 'The branch is pushed; the pull request needs you to log in.');
  const ended = page.row('session.ended', { status: 'success' }, 740000);
  at.ended = page.item(KIND.ended, { at: 740000, row: ended, path: ['data'], words: 'success' });

  const sum = (name) => page.calls.reduce((all, call) => all + call[name], 0);
  const main = page.calls.filter((call) => call.thread === 0);
  const size = (call) => call.cached + call.fresh + call.output;
  const peak = main.reduce((best, call) => (size(call) > size(best) ? call : best));
  const failed = page.items.filter((item) => item.flags & FLAG.failed).length;
  const toolCalls = page.items.filter((item) => item.kind === KIND.call).length;
  const facts = {
    at, items: page.items.length, others: 1, shown: page.items.length - 1, rows: page.rows.length, turns: page.turns.length, modelCalls: page.calls.length, toolCalls, failed,
    prompts: page.turns.length, answers: page.items.filter((item) => item.kind === KIND.text).length,
    edits: page.items.filter((item) => item.flags & FLAG.edit).length, peak: size(peak), longLines: LONG_LINES,
    testLines: testOutput().split('\n').length, pat: 4, chip: 'github-pat:3f9a1c', digest, start: START,
    tokens: sum('cached') + sum('fresh') + sum('output'), cached: sum('cached'), title: 'The nightly import of orders fails since yesterday. Find out why and fix it.',
  };
  const usage = { calls: page.calls.length, inputTokens: sum('cached') + sum('fresh'), cachedTokens: sum('cached'), cacheWriteTokens: 0, outputTokens: sum('output'), reasoningTokens: 0, cost: 0.25, costOrigin: 'stated', currency: 'USD' };
  const html = page.build({
    title: facts.title,
    summary: summaryOf({
      agent: 'OpenClaw', startedAt: new Date(START).toISOString(), endedAt: new Date(START + 740000).toISOString(), durationMillis: 740000, events: page.rows.length, turns: page.turns.length,
      calls: { calls: toolCalls, errors: failed, declined: 1, interrupted: 0, timedOut: 1, unanswered: 1, longestMillis: 74000, totalMillis: 177000 },
      context: { compactions: 1, firstTokens: 5296, lastTokens: 37320, peakTokens: facts.peak },
      time: { modelMillis: 172000, toolMillis: 164000, personMillis: 397000, idleMillis: 7000 },
      models: { 'gpt-5.4': 8, 'qwen3-coder': 2 }, usage, usageByModel: { 'gpt-5.4': { ...usage }, 'qwen3-coder': { ...usage, cost: null } },
      lostEvents: 3, otherBranches: 1, otherBranchEntries: 4, unknown: { 'ui.hint': 1 },
      redaction: { total: 8, media: 1, paths: 12, rules: [{ rule: 'github-pat', count: 4 }, { rule: 'openai-key', count: 1 }, { rule: 'url-password', count: 1 }] },
      warnings: [{ code: 'runtime-not-utf8', count: 2, message: 'bytes that are not UTF-8 were replaced', rows: [4, 9], source: 'runtime' }],
    }),
    overview: {
      failure: {
        item: at.failure, tool: 'shell', command: 'cargo test --lib client', outcome: 'failed', inWords: 'exit 101', exitCode: 101, error: null,
        lastLines: testOutput().split('\n').slice(-12), outputLines: facts.testLines, passedLater: at.passed,
      },
      worth: [
        { kind: 'failure', text: 'gh pr create failed and did not pass later', item: at.failure2 },
        { kind: 'contextJump', text: 'One read filled the context, +118k tokens', item: at.model4 },
        { kind: 'longestWait', text: 'Longest wait, 3m 42s for an approval', item: at.approval },
        { kind: 'compaction', text: 'Compacted once, 168k to 31.4k tokens', item: at.compaction },
        { kind: 'retry', text: 'A model call was retried', item: at.error },
        { kind: 'unknown', text: '1 row of unknown type was kept', item: at.other },
        { kind: 'redaction', text: '8 secrets were redacted', item: null },
      ],
      endedHow: 'success', endedText: '',
    },
    ...options,
  });
  return { html, facts };
}

/** The same run as a review copy. */
export function review() {
  return rich({ review: true, reviewFindings: [{ rule: 'high-entropy', file: 'events.jsonl', row: 4, count: 2 }, { rule: 'uuid-like', file: 'metadata.json', row: -1, count: 1 }] });
}
