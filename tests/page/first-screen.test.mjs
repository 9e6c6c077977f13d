// The first screen: how the run ended, what failed first, and where time, tokens and money went.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Browser } from './browser.mjs';
import { empty, small } from './runs/large.mjs';
import { review, rich } from './runs/rich.mjs';

let browser;
const { html, facts } = rich();
before(async () => { browser = await Browser.start(); });
after(() => browser.stop());

const opened = async (page, options) => {
  const tab = await browser.open(page, options);
  assert.deepEqual(tab.log.errors, []);
  return tab;
};

test('the title, the end, the models, the time and the counts are shown', async () => {
  const tab = await opened(html);
  assert.equal(await tab.text('h1'), facts.title);
  assert.equal(await tab.text('.pill'), `Finished, ${facts.failed} calls failed`);
  const meta = await tab.text('.meta');
  assert.match(meta, /OpenClaw/);
  assert.match(meta, /gpt-5\.4, qwen3-coder/);
  assert.match(meta, /1 Jun 2026, 09:30–09:42 UTC/);
  assert.ok(meta.includes(`${facts.turns} turns, ${facts.modelCalls} model calls, ${facts.toolCalls} tool calls`));
  assert.equal(await tab.page.title(), `${facts.title} · traj`);
  await tab.close();
});

test('time, tokens, context and cost have the planted values', async () => {
  const tab = await opened(html);
  const [time, tokens, context, cost] = await tab.texts('.fact');
  assert.match(time, /12m 20s/);
  for (const part of ['Model 2m 52s', 'Tools 2m 44s', 'Waiting 6m 37s', 'Idle 7.0 s']) assert.ok(time.includes(part), part);
  assert.ok(tokens.includes(`${Math.round(facts.tokens / 1000)}k`), tokens);
  assert.ok(tokens.includes(`${Math.round((facts.cached / facts.tokens) * 100)} % cached`), tokens);
  assert.match(context, /168k/);
  assert.match(context, /compacted once/);
  assert.match(cost, /\$0\.25 \+ unknown/);
  assert.match(cost, /no price for qwen3-coder/);
  await tab.close();
});

test('the bars of the facts stand in one line', async () => {
  const tab = await opened(html);
  const tops = await tab.page.$$eval('.fact .sbar', (bars) => bars.map((bar) => bar.getBoundingClientRect().top));
  assert.deepEqual(new Set(tops).size, 1, tops.join(' '));
  await tab.close();
});

test('unknown values say unknown and never 0', async () => {
  const tab = await opened(small().html);
  const list = await tab.texts('.fact .v');
  assert.deepEqual(list, ['unknown', 'unknown', 'unknown', 'unknown']);
  assert.equal(await tab.text('.pill'), 'Finished');
  assert.equal(await tab.count('.failc'), 0);
  assert.equal(await tab.count('.inst'), 0, 'no timeline without times');
  await tab.close();
});

test('the first failure shows command, exit code, last lines and where it passed later', async () => {
  const tab = await opened(html);
  assert.equal(await tab.text('.failc h2'), 'First failure');
  assert.equal(await tab.text('.failc .tag'), 'exit 101');
  assert.equal(await tab.text('.failc .cmd code'), 'cargo test --lib client');
  const lines = await tab.page.$eval('.failc pre', (pre) => pre.innerText.split('\n'));
  assert.equal(lines.length, 7);
  assert.equal(lines[2], 'token has expired: rotate it with `importer login`');
  assert.equal(lines.at(-1), 'error: test failed, to rerun pass `--lib`');
  assert.equal(await tab.count('.failc pre .f1'), 3, 'red output is red');
  const foot = await tab.text('.failc footer');
  assert.ok(foot.includes(`passed later, in e${facts.at.passed + 1}`), foot);
  assert.ok(foot.includes(`${facts.testLines} lines of output`), foot);
  await tab.clickText('.failc footer .btn', 'Open');
  assert.equal(await tab.hash(), `#e${facts.at.failure + 1}`);
  await tab.close();
});

test('the failure card steps through all failures', async () => {
  const tab = await opened(html);
  assert.equal(await tab.text('.failc .pg'), `1 of ${facts.failed}`);
  await tab.click('.failc [aria-label="Next failure"]');
  assert.equal(await tab.text('.failc .pg'), `2 of ${facts.failed}`);
  assert.equal(await tab.text('.failc .cmd code'), 'cargo bench');
  assert.equal(await tab.text('.failc .tag'), 'timed out');
  await tab.click('.failc [aria-label="Previous failure"]');
  assert.equal(await tab.text('.failc h2'), 'First failure');
  await tab.close();
});

test('every line worth a look leads to its event', async () => {
  const tab = await opened(html);
  assert.equal(await tab.count('.look li'), 7, 'six lines of the run, then its warnings');
  await tab.clickText('.look button', 'Longest wait');
  assert.equal(await tab.hash(), `#e${facts.at.approval + 1}`);
  await tab.clickText('.look button', 'Compacted once');
  assert.equal(await tab.hash(), `#e${facts.at.compaction + 1}`);
  await tab.close();
});

test('warnings, losses, unknown events, branches and redactions are listed', async () => {
  const tab = await opened(html);
  await tab.clickText('.look button', 'warnings and losses');
  const text = await tab.text('dialog[open]');
  for (const part of ['missing 3', 'bytes that are not UTF-8 were replaced 2 times, row 4, 9', 'ui.hint 1', '1 branch 4 entries', 'github-pat 4', 'media 1', 'paths and names 12']) assert.ok(text.includes(part), `${part} in ${text}`);
  const lefts = await tab.page.$$eval('dialog[open] td:last-child', (cells) => cells.map((cell) => cell.getBoundingClientRect().left));
  assert.equal(new Set(lefts).size, 1, 'the second columns of all tables stand in one line');
  await tab.close();
});

test('a review copy says that it is not for sending and lists what looks like a secret', async () => {
  const page = review();
  const tab = await opened(page.html);
  assert.match(await tab.text('.review'), /Review copy, not for sending\. 3 strings in 2 places/);
  await tab.click('.review summary');
  assert.match(await tab.text('.review table'), /high-entropy events\.jsonl:5 2/);
  assert.equal(await tab.count('.review td.go a'), 1);
  await tab.close();
  const other = await opened(html);
  assert.equal(await other.count('.review'), 0);
  await other.close();
});

test('a run without events says so', async () => {
  const tab = await opened(empty().html);
  assert.equal(await tab.text('.pill'), 'Not finished');
  assert.equal(await tab.text('.none b'), 'This run has no events');
  await tab.close();
});

test('without script the summary is plain HTML, and with script it is removed', async () => {
  const plain = await browser.open(html, { script: false });
  assert.equal(await plain.page.$eval('#static h1', (element) => element.textContent), facts.title);
  await plain.close();
  const tab = await opened(html);
  assert.equal(await tab.count('#static'), 0);
  await tab.close();
});

test('the first screen is drawn before the chunks have arrived', async () => {
  const cut = html.slice(0, html.indexOf('<script type="text/plain" id="i0">'));
  const tab = await browser.open(cut, { ready: false });
  assert.equal(await tab.text('h1'), facts.title);
  assert.equal(await tab.text('.failc .cmd code'), 'cargo test --lib client');
  await tab.page.waitForFunction(() => document.documentElement.dataset.ready === 'failed');
  assert.match(await tab.text('.loading'), /The run cannot be read: the page ends before i0/);
  await tab.close();
});
