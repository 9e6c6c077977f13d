// The conversation: Markdown, code, differences, colours, output, media, sub-agents, details.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Browser } from './browser.mjs';
import { rich } from './runs/rich.mjs';

let browser;
let tab;
const { html, facts } = rich();
const { at } = facts;
before(async () => {
  browser = await Browser.start();
  tab = await browser.open(html);
});
after(() => browser.stop());

const inItem = (item, selector = '') => `[data-item="${item}"] ${selector}`.trim();

test('Markdown becomes elements', async () => {
  await tab.go(at.markdown);
  assert.equal(await tab.text(inItem(at.markdown, 'strong')), 'nothing refreshes it');
  assert.deepEqual(await tab.texts(inItem(at.markdown, '.md > p > code')), ['.env', 'Client::pages']);
  assert.deepEqual(await tab.texts(inItem(at.markdown, 'th')), ['step', 'state']);
  assert.equal(await tab.text(inItem(at.markdown, 'del')), 'open');
  assert.deepEqual(await tab.texts(inItem(at.markdown, 'ol li')), ['Refresh the token', 'Add a test']);
  assert.deepEqual(await tab.texts(inItem(at.markdown, 'li.task')), ['☑ reproduce', '☐ fix']);
  assert.match(await tab.text(inItem(at.markdown, 'blockquote')), /rotates tokens/);
});

test('code is highlighted by its language', async () => {
  await tab.go(at.markdown);
  assert.deepEqual(await tab.texts(inItem(at.markdown, 'pre .kw')), ['let', 'self', 'let', 'self']);
  assert.equal(await tab.text(inItem(at.markdown, 'pre .co')), '// never checked');
  assert.equal(await tab.text(inItem(at.markdown, 'pre .st')), '"/orders"');
});

test('a link of the data is text with a button that copies it', async () => {
  await tab.go(at.markdown);
  assert.equal(await tab.text(inItem(at.markdown, '.lk')), 'the provider\'s page');
  assert.equal(await tab.text(inItem(at.markdown, '.url')), '(https://provider.example/rotate?x=1)');
  assert.equal(await tab.count(inItem(at.markdown, '.b a')), 0);
  await tab.page.evaluate(() => {
    window.copied = [];
    Object.defineProperty(navigator, 'clipboard', { configurable: true, value: { writeText: async (text) => { window.copied.push(text); } } });
  });
  await tab.click(inItem(at.markdown, '.cplink'));
  assert.deepEqual(await tab.page.evaluate(() => window.copied), ['https://provider.example/rotate?x=1']);
  for (const link of await tab.page.$$eval('a', (links) => links.map((entry) => entry.getAttribute('href')))) assert.match(link, /^#/);
});

test('a marker that Markdown takes for a link is a chip', async () => {
  await tab.go(at.markdown);
  assert.deepEqual(await tab.texts(inItem(at.markdown, '.rx')), [facts.chip]);
});

test('an edit is shown as a difference, with the lines counted', async () => {
  await tab.go(at.edit);
  assert.equal(await tab.text(inItem(at.edit, '.tag .p')), '+2');
  assert.equal(await tab.text(inItem(at.edit, '.tag .m')), '−2');
  assert.deepEqual(await tab.texts(inItem(at.edit, '.l.m .txt')), ['let token = self.token.as_str();', 'self.get(token)']);
  assert.deepEqual(await tab.texts(inItem(at.edit, '.l.p .txt')), ['let token = self.provider.fresh()?;', 'self.get(&token)']);
  await tab.go(at.codex);
  assert.equal(await tab.text(inItem(at.codex, '.file')), 'src/sync/push.rs');
  assert.deepEqual(await tab.texts(inItem(at.codex, '.l.p .txt')), ['debug!("sending");']);
});

test('a call shows command, exit code and duration, and opens and closes', async () => {
  await tab.go(at.failure);
  assert.equal(await tab.text(inItem(at.failure, '.nm')), 'shell');
  assert.equal(await tab.text(inItem(at.failure, '.cm')), 'cargo test --lib client');
  assert.equal(await tab.text(inItem(at.failure, 'summary .tag.bad')), 'exit 101');
  assert.equal(await tab.text(inItem(at.failure, '.dur')), '12.4 s');
  assert.equal(await tab.page.$eval(inItem(at.failure, 'details'), (box) => box.open), true, 'a failed call is open');
  assert.equal(await tab.page.$eval(inItem(at.env, 'details'), (box) => box.open), false, 'another call is closed');
  await tab.click(inItem(at.failure, 'summary'));
  assert.equal(await tab.page.$eval(inItem(at.failure, 'details'), (box) => box.open), false);
  await tab.click(inItem(at.failure, 'summary'));
});

test('terminal colours become classes, and no escape is left', async () => {
  await tab.go(at.failure);
  assert.equal(await tab.text(inItem(at.failure, '.ln .f2')), 'Compiling');
  assert.ok((await tab.texts(inItem(at.failure, '.ln .f1'))).includes('FAILED'));
  assert.equal(await tab.page.$eval(inItem(at.failure), (element) => element.textContent.includes('\x1b')), false);
});

test('output shows first and last lines, then all of them', async () => {
  const tabs = await browser.open(html);
  await tabs.go(at.failure);
  const hidden = facts.testLines - 4 - 14;
  assert.equal(await tabs.text(inItem(at.failure, '.gap span')), `⋯ ${hidden} lines hidden`);
  assert.equal(await tabs.count(inItem(at.failure, '.ln')), 18);
  await tabs.click(inItem(at.failure, '.gap'));
  assert.equal(await tabs.count(inItem(at.failure, '.ln')), facts.testLines);
  await tabs.close();
});

test('a very long output is windowed and reaches its last line', async () => {
  await tab.openItem(at.long);
  await tab.click(inItem(at.long, '.gap'));
  assert.equal(await tab.page.$eval(inItem(at.long, '.outbox'), (box) => box.dataset.lines), String(facts.longLines));
  assert.ok((await tab.count(inItem(at.long, '.ln'))) < 120, 'only lines in sight are drawn');
  await tab.page.$eval(inItem(at.long, '.win'), (box) => { box.scrollTop = box.scrollHeight; });
  await tab.settle();
  assert.match((await tab.texts(inItem(at.long, '.ln'))).at(-1), new RegExp(`^row ${facts.longLines} `));
});

test('a long prompt is cut at first and shown whole on request', async () => {
  await tab.go(at.prompt5);
  assert.match(await tab.text(inItem(at.prompt5, '.gap')), /^⋯ 9,[0-9]{3} more characters Show all$/);
  assert.equal((await tab.text(inItem(at.prompt5, '.md'))).includes('planted-at-the-end'), false);
  await tab.click(inItem(at.prompt5, '.gap'));
  assert.match(await tab.text(inItem(at.prompt5, '.md')), /planted-at-the-end$/);
});

test('a text in a blob is read from its own file', async () => {
  await tab.openItem(at.blob);
  await tab.page.waitForFunction((selector) => document.querySelector(selector)?.textContent.includes('planted-in-a-blob'), {}, inItem(at.blob));
  assert.equal(await tab.text(inItem(at.blob, '.gap span')), '⋯ 386 lines hidden');
});

test('reasoning, system prompt, tools, hooks, losses and unknown rows are closed and readable', async () => {
  for (const [item, title, text] of [
    [at.system, 'Context system prompt', 'You are a careful engineer.'], [at.tools, 'Context 2 tools', 'Runs a command'], [at.reasoning, 'Reasoning 1.9 s', 'the token is the first suspect'],
    [at.compaction, 'Compaction · 168k to 31.4k tokens 11.2 s', 'two callers log the header'], [at.hook, 'Hook format', 'nothing to format'], [at.other, 'Other event ui.hint', 'planted-in-unknown-row'],
    [at.lost, 'Lost events 3 events', '3'], [at.branches, 'Branches 1 other branch, 4 entries', 'the old provider'],
  ]) {
    await tab.go(item);
    assert.equal(await tab.text(inItem(item, 'summary')), title);
    assert.equal(await tab.page.$eval(inItem(item, 'details'), (box) => box.open), false);
    await tab.openItem(item);
    assert.ok((await tab.text(inItem(item, '.in'))).includes(text), title);
  }
});

test('images are pictures if the bundle has them, otherwise marks', async () => {
  await tab.go(at.picture);
  assert.match(await tab.page.$eval(inItem(at.picture, 'img'), (image) => image.src.slice(0, 22)), /^data:image\/png;base64,/);
  assert.equal(await tab.page.$eval(inItem(at.picture, 'img'), async (image) => {
    image.loading = 'eager';
    await image.decode();
    return image.naturalWidth;
  }), 1);
  await tab.go(at.prompt2);
  assert.match(await tab.text(inItem(at.prompt2, '.media')), /image\/png · 48 kB not in this bundle · sha256 abababababab/);
});

test('declined, timed out, unanswered and recovered are told apart', async () => {
  await tab.go(at.declined);
  assert.equal(await tab.text(inItem(at.declined, '.tag.odd')), 'declined');
  assert.equal(await tab.text(inItem(at.timedOut, '.tag.bad')), 'timed out');
  assert.equal(await tab.text(inItem(at.unanswered, '.tag.odd')), 'no result');
  assert.match(await tab.text(inItem(at.error, '.line')), /Error · retried · recovered/);
  await tab.openItem(at.unanswered);
  assert.match(await tab.text(inItem(at.unanswered, '.bod')), /No result is recorded/);
});

test('an approval shows what was asked, the decision and the wait', async () => {
  await tab.go(at.approval);
  assert.equal(await tab.text(inItem(at.approval, '.waitb')), 'Asked for approval of ./bin/import rotate --env staging · allowed once 3m 42s');
});

test('a model call shows model, latency, tokens and cost', async () => {
  await tab.go(at.model3);
  assert.equal(await tab.text(inItem(at.model3, '.line')), 'Model call 3 · gpt-5.4 · 9.8 s · 9.4k in, 5.9k cached · 612 out · $0.011');
  assert.match(await tab.text(inItem(at.agentModel1, '.line')), /cost unknown/);
});

test('sub-agents are nested in the list and in the tree of turns', async () => {
  await tab.go(at.agentCall);
  const left = (item) => tab.page.$eval(inItem(item), (element) => element.getBoundingClientRect().left);
  const main = await left(at.agent);
  assert.equal((await left(at.agentCall)) - main, 28);
  assert.equal((await left(at.nestedCall)) - main, 56);
  assert.deepEqual(await tab.texts('.rail .cut'), ['audit-callers', 'read-scripts', 'compacted', '1 other branch, 4 entries']);
  assert.equal(await tab.text(inItem(at.agent, '.tag')), 'audit-callers, 4 events');
});

test('the turns lead to their prompts, with failures counted', async () => {
  assert.equal(await tab.count('.rail a[data-turn]'), facts.turns);
  assert.match(await tab.text('.rail a[data-turn="1"]'), /^1 The nightly import .* 1 failed$/);
  await tab.click('.rail a[data-turn="4"]');
  assert.equal(await tab.hash(), `#e${at.prompt4 + 1}`);
  assert.equal(await tab.page.$eval('.rail a[data-turn="4"]', (link) => link.getAttribute('aria-current')), 'true');
  assert.match((await tab.texts('h3.turn')).join('|'), /Turn 4 09:35:58 · 5m 23s · 6 tool calls · 1 failed/);
});

test('the details have outcome, times, rows, the call before and the event as recorded', async () => {
  await tab.go(at.failure);
  const text = await tab.text('.det');
  for (const part of ['Outcome failed, exit 101', 'Started 09:30:09.000 UTC, 0:08 in', 'Duration 12.4 s', 'Agent main', 'After model call 2', `Output ${facts.testLines} lines`, 'Call id call_1cvsXk', 'events.jsonl:10 events.jsonl:11', `passed in e${at.passed + 1}`]) assert.ok(text.includes(part), `${part} in ${text}`);
  await tab.click('.det details summary');
  assert.match(await tab.text('.det details pre'), /"type": "tool\.call"/);
  await tab.go(at.model4);
  assert.match(await tab.text('.det .toks'), /Cached 9,400 \+3,500 New 132,000 \+128,500 Output 900 \+288 Cost \$0\.090/);
});

test('every file of the bundle can be read', async () => {
  await tab.press('?');
  await tab.clickText('dialog[open] .btn', 'Files');
  await tab.clickText('dialog[open] .lnk', 'events.jsonl');
  await tab.page.waitForFunction(() => [...document.querySelectorAll('dialog[open]')].at(-1).querySelector('.outbox'));
  assert.equal(await tab.page.$eval('dialog[open]:last-of-type .outbox', (box) => box.dataset.lines), String(facts.rows));
  for (let open = 0; open < 3; open += 1) await tab.press('Escape');
  assert.equal(await tab.count('dialog[open]'), 0);
});

test('nothing was logged as an error', () => assert.deepEqual(tab.log.errors, []));
