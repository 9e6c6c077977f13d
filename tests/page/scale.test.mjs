// Large runs: what is drawn, how long it takes, how much memory it needs.
// Each figure is also printed as one line of JSON that starts with `bench`.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Browser } from './browser.mjs';
import { huge } from './runs/large.mjs';

let browser;
let page;
let tab;
before(async () => {
  browser = await Browser.start();
  page = huge(100_000);
});
after(() => browser.stop());

const report = (name, figures) => console.log(`bench ${JSON.stringify({ name, ...figures })}`);

/** Milliseconds until the first screen has been painted. */
async function firstScreen(html, selector) {
  const url = browser.write('timed', html);
  const open = await browser.browser.newPage();
  await open.setViewport({ width: 1440, height: 900 });
  await open.evaluateOnNewDocument((wanted) => {
    const look = () => {
      if (document.querySelector(wanted)) requestAnimationFrame(() => requestAnimationFrame(() => { window.painted = performance.now(); }));
      else requestAnimationFrame(look);
    };
    look();
  }, selector);
  await open.goto(url, { waitUntil: 'domcontentloaded' });
  await open.waitForFunction(() => window.painted, { timeout: 60_000 });
  const painted = await open.evaluate(() => window.painted);
  await open.close();
  return painted;
}

const EMPTY = '<!doctype html><html lang="en"><title>empty</title><body><main></main></body></html>';
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

test('the first screen of 100,000 events is painted soon after that of an empty page', { timeout: 120_000 }, async () => {
  const empty = [];
  const full = [];
  for (let round = 0; round < 3; round += 1) {
    empty.push(await firstScreen(EMPTY, 'main'));
    full.push(await firstScreen(page.html, '.facts'));
  }
  const over = median(full) - median(empty);
  report('first screen', { events: 100_000, emptyMillis: Math.round(median(empty)), pageMillis: Math.round(median(full)), overEmptyMillis: Math.round(over), htmlBytes: page.html.length });
  assert.ok(Number.isFinite(over));
});

test('a list of 100,000 events draws only the rows in sight', { timeout: 120_000 }, async () => {
  tab = await browser.open(page.html);
  assert.match(await tab.text('.hint'), /^100,000 events, one line each/);
  assert.ok((await tab.count('.ev.row')) < 120);
  assert.ok((await tab.count('*')) < 6000, 'few elements');
  assert.equal(await tab.page.$eval('.ev.row', (row) => row.getAttribute('aria-setsize')), String(page.facts.items));
  assert.equal(await tab.text('.pill'), `Finished, ${page.facts.failures} calls failed`);
});

test('find reads all 100,000 events and counts every planted word', { timeout: 120_000 }, async () => {
  const millis = await tab.page.evaluate(async () => {
    const input = document.getElementById('find');
    input.focus();
    input.value = 'planted-needle';
    const start = performance.now();
    let slowest = 0;
    let last = start;
    let running = true;
    const beat = () => {
      const now = performance.now();
      slowest = Math.max(slowest, now - last);
      last = now;
      if (running) setTimeout(beat, 0);
    };
    beat();
    input.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
    await new Promise((resolve) => {
      const look = () => (document.querySelector('.find').dataset.done === 'true' ? resolve() : setTimeout(look, 4));
      look();
    });
    running = false;
    return { find: performance.now() - start, slowest };
  });
  await tab.settle();
  report('find', { events: 100_000, millis: Math.round(millis.find), longestStallMillis: Math.round(millis.slowest) });
  assert.equal(await tab.text('.cnt'), `1 of ${page.facts.planted}`);
});

test('find over 100,000 events can be replaced while it runs', { timeout: 120_000 }, async () => {
  const seen = await tab.page.evaluate(async () => {
    const input = document.getElementById('find');
    const press = () => input.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
    input.value = 'e';
    press();
    await new Promise((resolve) => setTimeout(resolve, 60));
    const progress = !document.querySelector('.find progress').hidden;
    input.value = 'no-such-text';
    press();
    await new Promise((resolve) => {
      const look = () => {
        const { query, done } = document.querySelector('.find').dataset;
        if (query === 'no-such-text' && done === 'true') resolve();
        else setTimeout(look, 5);
      };
      look();
    });
    return { progress, text: document.querySelector('.cnt').textContent };
  });
  assert.deepEqual(seen, { progress: true, text: 'No match' });
  await tab.press('Escape');
});

test('the last of 100,000 events is reached by its link and read in full', { timeout: 120_000 }, async () => {
  await tab.go(page.facts.items - 1);
  const box = await tab.page.$eval('.ev.row.sel', (row) => {
    const { top, bottom } = row.getBoundingClientRect();
    return { top, bottom, height: window.innerHeight };
  });
  assert.ok(box.top > 0 && box.bottom <= box.height, JSON.stringify(box));
  assert.match(await tab.text('.det'), new RegExp(`^e${page.facts.items}`));
});

test('a brush narrows 100,000 events to a conversation', { timeout: 120_000 }, async () => {
  await tab.press('g');
  const box = await tab.box('.lw canvas');
  await tab.page.mouse.move(box.left + 400, box.top + 40);
  await tab.page.mouse.down();
  await tab.page.mouse.move(box.left + 415, box.top + 40, { steps: 3 });
  await tab.page.mouse.up();
  await tab.settle();
  assert.equal(await tab.count('.story.compact'), 0, 'few enough for the conversation');
  assert.ok((await tab.count('.slot')) > 5);
  await tab.press('Escape');
});

test('the script holds little memory after reading everything', { timeout: 120_000 }, async () => {
  await tab.page.evaluate(() => window.gc?.());
  const { JSHeapUsedSize } = await tab.page.metrics();
  report('memory', { events: 100_000, scriptHeapMegabytes: Math.round(JSHeapUsedSize / 1e5) / 10 });
  assert.ok(JSHeapUsedSize < 100e6, `${JSHeapUsedSize} bytes`);
  assert.deepEqual(tab.log.errors, []);
  await tab.close();
});

test('500,000 events open, scroll to the end and are searched', { timeout: 400_000 }, async () => {
  page = null;
  const vast = huge(500_000);
  const started = performance.now();
  const open = await browser.open(vast.html);
  const opened = performance.now() - started;
  await open.go(vast.facts.items - 1);
  assert.match(await open.text('.ev.row.sel'), new RegExp(`^e${vast.facts.items}`));
  const found = performance.now();
  const text = await open.find('planted-needle');
  assert.equal(text, `${vast.facts.planted} matches`);
  await open.page.evaluate(() => window.gc?.());
  const { JSHeapUsedSize } = await open.page.metrics();
  report('vast', { events: 500_000, openedMillis: Math.round(opened), findMillis: Math.round(performance.now() - found), scriptHeapMegabytes: Math.round(JSHeapUsedSize / 1e5) / 10, htmlBytes: vast.html.length });
  assert.deepEqual(open.log.errors, []);
  await open.close();
});
