// Pages that `traj view` writes: the same script on the real format. `TRAJ` names the program.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { problems } from './axe.mjs';
import { Browser } from './browser.mjs';
import { attacks } from './runs/hostile.mjs';

const fixtures = join(dirname(fileURLToPath(import.meta.url)), '../fixtures');
const traj = process.env.TRAJ;
const skip = traj ? false : 'TRAJ does not name the program';
let browser;
let directory;
before(async () => {
  directory = mkdtempSync(join(tmpdir(), 'traj-written-'));
  if (traj) browser = await Browser.start();
});
after(async () => {
  await browser?.stop();
  rmSync(directory, { recursive: true, force: true });
});

function view(source, ...more) {
  const output = join(directory, 'written.html');
  execFileSync(traj, ['view', source, '--output', output, '--force', ...more], { env: { ...process.env, HOME: directory, XDG_STATE_HOME: directory, XDG_CONFIG_HOME: directory }, stdio: 'pipe' });
  return readFileSync(output, 'utf8');
}

const headOf = (html) => JSON.parse(/id="head">(.*?)<\/script>/s.exec(html)[1]);

/** Opens every event and looks for faults. */
async function readAll(tab, head) {
  await tab.press('x');
  for (let item = 0; item < head.items; item += 1) await tab.go(item);
  assert.deepEqual(tab.log.errors, []);
}

test('a written page shows the values of its summary', { skip }, async () => {
  const html = view(join(fixtures, 'bundles-0.1.0/nightly-import'));
  const head = headOf(html);
  const tab = await browser.open(html);
  assert.equal(await tab.text('h1'), head.title);
  assert.equal(await tab.text('.failc .cmd code'), head.overview.failure.command);
  assert.ok((await tab.text('.meta')).includes(`${head.summary.turns} turn, ${head.summary.usage.calls} model calls, ${head.summary.calls.calls} tool calls`));
  await tab.clickText('.failc footer .btn', 'Open');
  assert.match(await tab.text('.ev.sel'), /cargo test --lib client/);
  assert.match(await tab.text('.ev.sel'), /token has expired/);
  assert.match(await tab.find('token has expired'), /^\d+ match/);
  await readAll(tab, head);
  await tab.close();
});

for (const name of ['new-sub-agent', 'new-compaction', 'new-approvals', 'new-code-mode', 'new-fork', 'old-plain', 'old-compaction']) {
  test(`every event of ${name} can be read`, { skip, timeout: 60_000 }, async () => {
    const html = view(join(fixtures, `rollouts/${name}.jsonl`));
    const head = headOf(html);
    const tab = await browser.open(html);
    assert.equal(await tab.text('h1'), head.title);
    await readAll(tab, head);
    await tab.close();
  });
}

test('a call shows what the model saw, and what changed', { skip }, async () => {
  const source = join(directory, 'requests.jsonl');
  const session = readFileSync(join(fixtures, 'claude-code/v2-1-requests.jsonl'), 'utf8');
  // A text long enough to be stored once, and with something to hide.
  const words = 'what does it cost in the shop of the city, and who pays for it? mail ann@shop.example';
  writeFileSync(source, session.replaceAll('what does it cost?', words));
  const html = view(source);
  const tab = await browser.open(html);
  const calls = await tab.page.evaluate(() => document.querySelectorAll('[data-item]').length);
  assert.ok(calls > 0);
  const texts = [];
  for (let item = 0; item < headOf(html).items; item += 1) {
    await tab.go(item);
    if ((await tab.count('.det .ctx')) === 0) continue;
    await tab.click('.det .ctx > summary');
    for (let round = 0; round < 4; round += 1) {
      await tab.page.$$eval('.det .ctx details:not([open])', (boxes) => boxes.forEach((box) => { box.open = true; }));
      await tab.settle();
    }
    const text = await tab.text('.det .ctx');
    assert.match(text, /who pays for it\?/);
    assert.match(text, /changed when secrets and paths were hidden/);
    assert.match(text, /Since the (call|request) before: 1 kept/);
    assert.deepEqual(await problems(tab), []);
    texts.push(text);
  }
  // The first answer has two rows.
  assert.equal(texts.length, 3);
  assert.match(texts[2], /1 kept, 2 new/);
  await tab.press('?');
  await tab.clickText('dialog .btn', 'Files in this page');
  await tab.clickText('dialog .lnk', 'session-branch.json');
  assert.match(await tab.text('dialog:last-of-type'), /"customType": "claude-code\//);
  assert.deepEqual(tab.log.errors, []);
  await tab.close();
});

test('a page for review is marked', { skip }, async () => {
  const tab = await browser.open(view(join(fixtures, 'bundles-0.1.0/nightly-import'), '--review'));
  assert.match(await tab.text('.review'), /not for sending/);
  await tab.close();
});

/** A session in which every string is an attack. */
function hostileSession(server) {
  const rows = [{ type: 'session', version: 3, id: 'hostile', timestamp: '2026-06-01T10:00:00.000Z', cwd: '/srv/work' }];
  let parentId = null;
  const add = (message) => {
    const id = String(rows.length).padStart(8, '0');
    rows.push({ type: 'message', id, parentId, timestamp: new Date(Date.UTC(2026, 5, 1, 10, 0, rows.length)).toISOString(), message });
    parentId = id;
  };
  attacks(server).forEach((text, number) => {
    add({ role: 'user', content: [{ type: 'text', text }] });
    add({ role: 'assistant', model: text, provider: text, content: [{ type: 'thinking', thinking: text }, { type: 'text', text }, { type: 'toolCall', id: `call_${number}`, name: text, arguments: { command: text, [text]: text } }] });
    add({ role: 'toolResult', toolCallId: `call_${number}`, toolName: text, isError: true, content: [{ type: 'text', text }] });
  });
  return rows.map((row) => JSON.stringify(row)).join('\n') + '\n';
}

test('a hostile session stays inert in a written page', { skip, timeout: 120_000 }, async (context) => {
  const requests = [];
  const server = createServer((request, response) => {
    requests.push(request.url);
    response.end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  context.after(() => server.close());
  const source = join(directory, 'hostile.jsonl');
  writeFileSync(source, hostileSession(`http://127.0.0.1:${server.address().port}`));
  const html = view(source);
  const tab = await browser.open(html);
  await readAll(tab, headOf(html));
  assert.equal(await tab.page.evaluate(() => window.canary), undefined);
  assert.equal(tab.log.dialogs, 0);
  const plain = await browser.open(html, { script: false });
  assert.equal(await plain.count('#static img, #static iframe, #static a[href]'), 0);
  assert.deepEqual(requests, []);
  await plain.close();
  await tab.close();
});
