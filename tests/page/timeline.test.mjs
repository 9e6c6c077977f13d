// Lanes, zoom, brush and the context plot. Positions follow from the planted times.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { Browser } from './browser.mjs';
import { rich } from './runs/rich.mjs';

const LEFT = 128;
const RIGHT = 12;
const AXIS = 24;
const LANE = 29;
const TOTAL = 740_000;

let browser;
let tab;
let box;
const { html, facts } = rich();
const { at } = facts;
before(async () => { browser = await Browser.start(); });
after(() => browser.stop());
beforeEach(async () => {
  await tab?.close();
  tab = await browser.open(html);
  box = await tab.box('.lw canvas');
});

/** The position of a time, for a view of the axis. */
const x = (millis, from = 0, to = TOTAL) => LEFT + ((millis - from) / (to - from)) * (box.width - LEFT - RIGHT);
const laneY = (lane) => AXIS + lane * LANE + LANE / 2;
const point = (millis, lane, view = [0, TOTAL]) => [box.left + x(millis, ...view), box.top + laneY(lane)];

async function tipAt(millis, lane, view) {
  await tab.page.mouse.move(...point(millis, lane, view));
  await tab.settle();
  const hidden = await tab.page.$eval('.inst .tip', (tip) => tip.hidden);
  return hidden ? '' : tab.text('.inst .tip');
}

async function clickAt(millis, lane, view) {
  await tab.page.mouse.click(...point(millis, lane, view));
  await tab.settle();
}

test('each lane shows its events at their times', async () => {
  assert.match(await tipAt(23_000, 0), /^Model call 3 0:20 · 9\.8 s$/);
  assert.match(await tipAt(14_000, 1), /^shell cargo test --lib client 0:08 · 12\.4 s · exit 101$/);
  assert.match(await tipAt(450_000, 2), /^Approval 6:04 · 3m 42s$/);
  assert.match(await tipAt(60_000, 2), /^Waited for a reply/);
  assert.equal(await tipAt(450_000, 1), '', 'nothing where nothing happened');
});

test('sub-agents have tracks of their own, model above tools', async () => {
  await tab.page.mouse.move(box.left + x(270_000), box.top + AXIS + 3 * LANE + 8);
  await tab.settle();
  assert.match(await tab.text('.inst .tip'), /^Model call 7/);
  await tab.page.mouse.move(box.left + x(229_200), box.top + AXIS + 3 * LANE + 20);
  await tab.settle();
  assert.match(await tab.text('.inst .tip'), /^shell rg -n/);
  await tab.page.mouse.move(box.left + x(240_100), box.top + AXIS + 4 * LANE + 20);
  await tab.settle();
  assert.match(await tab.text('.inst .tip'), /^read scripts\/replay\.sh/);
});

test('failures are red, waits are hatched', async () => {
  assert.equal(await tab.pixel('.lw canvas', Math.round(x(14_000)), laneY(1) + 6), '#d1293a');
  assert.equal(await tab.pixel('.lw canvas', Math.round(x(106_000)), laneY(1) + 6), '#128a97');
  assert.equal(await tab.pixel('.lw canvas', Math.round(x(20_400)), AXIS - 5), '#d1293a', 'a triangle marks the failure');
  const wait = new Set();
  for (let shift = 0; shift < 8; shift += 1) wait.add(await tab.pixel('.lw canvas', Math.round(x(500_000)) + shift, laneY(2)));
  assert.ok(wait.size > 1, 'stripes have two colours');
});

test('a click goes to the call', async () => {
  await clickAt(14_000, 1);
  assert.equal(await tab.hash(), `#e${at.failure + 1}`);
  await tab.page.waitForFunction(() => window.scrollY > 600);
  await tab.settle();
  const top = await tab.page.$eval(`[data-item="${at.failure}"]`, (element) => element.getBoundingClientRect().top);
  assert.ok(top > 100 && top < 300, `the call is in sight: ${top}`);
});

test('w, s, a, d and 0 zoom and move', async () => {
  const middle = TOTAL / 2;
  await tab.press('w', 'w');
  const half = (TOTAL / 2) * 0.49;
  assert.match(await tipAt(450_000, 2, [middle - half, middle + half]), /^Approval/);
  assert.equal(await tipAt(14_000, 1), '', 'the first failure has left the view');
  await tab.press('d');
  const moved = 0.15 * 2 * half;
  assert.match(await tipAt(600_000, 1, [middle - half + moved, middle + half + moved]), /^shell \.\/bin\/import run/);
  assert.match(await tipAt(361_000, 0, [middle - half + moved, middle + half + moved]), /^Model call 9/);
  await tab.press('a');
  assert.match(await tipAt(361_000, 0, [middle - half, middle + half]), /^Model call 9/);
  await tab.press('s', 's');
  await tab.press('0');
  assert.match(await tipAt(14_000, 1), /cargo test --lib client/);
});

test('the wheel zooms with Ctrl, and scrolls the page without it', async () => {
  await tab.page.mouse.move(...point(450_000, 2));
  const before = await tab.page.evaluate(() => window.scrollY);
  await tab.page.mouse.wheel({ deltaY: 120 });
  await tab.page.waitForFunction((from) => window.scrollY !== from, {}, before);
  box = await tab.box('.lw canvas');
  await tab.page.mouse.move(...point(450_000, 2));
  await tab.page.keyboard.down('Control');
  await tab.page.mouse.wheel({ deltaY: -60 });
  await tab.page.keyboard.up('Control');
  await tab.settle();
  const factor = Math.exp(-60 / 200);
  assert.match(await tipAt(600_000, 1, [450_000 - 450_000 * factor, 450_000 + (TOTAL - 450_000) * factor]), /bin\/import run/);
  await tab.clickText('.inst .seg button', 'Fit');
  assert.match(await tipAt(600_000, 1), /bin\/import run/);
});

test('a double click zooms to a call', async () => {
  await tab.page.mouse.click(...point(120_000 - 6_000, 1), { count: 2 });
  await tab.settle();
  box = await tab.box('.lw canvas');
  const margin = 11_000 * 0.15;
  assert.match(await tipAt(109_000, 1, [104_000 - margin, 115_000 + margin]), /cargo test --lib client/);
  assert.match(await tipAt(104_500, 1, [104_000 - margin, 115_000 + margin]), /cargo test --lib client/);
});

test('a brush filters the list, and Escape removes it', async () => {
  await tab.page.mouse.move(...point(587_000, 1));
  await tab.page.mouse.down();
  await tab.page.mouse.move(...point(650_000, 1), { steps: 4 });
  await tab.page.mouse.up();
  await tab.settle();
  const items = await tab.page.$$eval('.list [data-item]', (rows) => rows.map((row) => Number(row.dataset.item)));
  assert.deepEqual(items, [at.approval, at.long, at.declined, at.timedOut].filter((item) => items.includes(item)));
  assert.ok(items.includes(at.long) && items.includes(at.declined) && items.includes(at.timedOut));
  assert.match(await tab.text('.fchips .range'), /^9:4[67]–10:(49|50)$/);
  await tab.press('Escape');
  assert.equal(await tab.count('.fchips .range'), 0);
});

test('waits can be shortened', async () => {
  await tab.press('c');
  assert.equal(await tab.page.$eval('.inst .btn[aria-pressed]', (button) => button.getAttribute('aria-pressed')), 'true');
  const hits = [];
  for (let px = LEFT + 2; px < box.width - RIGHT; px += 6) {
    await tab.page.mouse.move(box.left + px, box.top + laneY(2));
    await tab.settle();
    if (!(await tab.page.$eval('.inst .tip', (tip) => tip.hidden)) && (await tab.text('.inst .tip')).startsWith('Approval')) hits.push(px);
  }
  const wide = hits.length * 6;
  assert.ok(wide > 0 && wide < (box.width - LEFT - RIGHT) * 0.1, `the wait of 30 % takes ${wide} px`);
});

test('arrow keys step through the lanes and are announced', async () => {
  await tab.page.focus('.lw');
  await tab.press('ArrowRight', 'ArrowRight');
  assert.equal(await tab.hash(), `#e${at.failure + 1}`);
  assert.match(await tab.page.$eval('.inst [role="status"]', (status) => status.textContent), /cargo test --lib client/);
});

test('the context plot stacks cached, new and output of each call', async () => {
  const plot = await tab.box('.cw canvas');
  const hover = async (px) => {
    await tab.page.mouse.move(plot.left + px, plot.top + 60);
    await tab.settle();
    return tab.text('.inst .tip');
  };
  assert.equal(await hover(x(150_000)), 'Model call 4 9.4k cached, 132k new, 900 out');
  const column = [];
  for (let y = 20; y < 98; y += 1) column.push(await tab.pixel('.cw canvas', Math.round(x(150_000)), y));
  for (const colour of ['#cfd0f5', '#8581e3', '#322c96']) assert.ok(column.includes(colour), colour);
  await tab.page.mouse.click(plot.left + x(150_000), plot.top + 60);
  await tab.settle();
  assert.equal(await tab.hash(), `#e${at.model4 + 1}`);
});

test('by call, each call has the same width', async () => {
  await tab.clickText('.sub .seg button', 'By call');
  const plot = await tab.box('.cw canvas');
  const wide = (plot.width - LEFT - RIGHT) / 8;
  for (const [call, item] of [[0, at.model1], [4, at.model5], [7, at.model8]]) {
    await tab.page.evaluate(() => window.scrollTo(0, 0));
    const fresh = await tab.box('.cw canvas');
    await tab.page.mouse.click(fresh.left + LEFT + (call + 0.5) * wide, fresh.top + 80);
    await tab.settle();
    assert.equal(await tab.hash(), `#e${item + 1}`, `call ${call}`);
  }
});

test('a compaction is marked and ends the bar before it', async () => {
  const place = Math.round(x(311_800));
  const before = await tab.pixel('.cw canvas', place - 6, 70);
  const behind = await tab.pixel('.cw canvas', place + 6, 70);
  assert.equal(before, '#cfd0f5');
  assert.equal(behind, '#000000');
  const dashes = [];
  for (let y = 20; y < 96; y += 1) dashes.push(await tab.pixel('.cw canvas', place, y));
  assert.ok(dashes.includes('#454c59'), 'a dashed line');
});

test('nothing was logged as an error', () => assert.deepEqual(tab.log.errors, []));
