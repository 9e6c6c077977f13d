// How a page opens: `node open.mjs PROGRAM FILE` prints one JSON object with the
// milliseconds until the page is ready over those of an empty page, its elements,
// the heap of its script and the memory of its renderer. `node open.mjs scale N`
// does the same with a made-up page of N events, and searches it.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { Browser } from '../browser.mjs';
import { huge } from '../runs/large.mjs';

const ROUNDS = 3;
const PATIENCE = 120_000;
const EMPTY = '<!doctype html><html lang="en"><title>empty</title><body><main></main></body></html>';
const [program, path] = process.argv.slice(2);
const isOurs = program === 'traj' || program === 'scale';
const browser = await Browser.start('--host-resolver-rules=MAP * ~NOTFOUND');
let needles = 0;

function place() {
  if (program !== 'scale') return pathToFileURL(path).href;
  const { html, facts } = huge(Number(path));
  needles = facts.planted;
  return browser.write('scale', html);
}

/** Opens a page and waits until it is painted: ours with its first screen, any other when it has loaded. */
async function open(url, selector) {
  const page = await browser.browser.newPage();
  await page.setViewport({ width: 1440, height: 900 });
  await page.evaluateOnNewDocument((wanted) => {
    const look = () => {
      const isThere = wanted ? document.querySelector(wanted) : document.readyState === 'complete';
      if (isThere) requestAnimationFrame(() => requestAnimationFrame(() => { window.painted = performance.now(); }));
      else requestAnimationFrame(look);
    };
    look();
  }, selector);
  await page.goto(url, { waitUntil: 'commit', timeout: PATIENCE }).catch(() => page.goto(url, { waitUntil: 'domcontentloaded', timeout: PATIENCE }));
  await page.waitForFunction(() => window.painted, { timeout: PATIENCE });
  return { page, millis: await page.evaluate(() => window.painted) };
}

/** The memory of the largest renderer, in MiB. */
async function rendererMebibytes() {
  const session = await browser.browser.target().createCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  const sizes = processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${id}/status`, 'utf8'))?.[1] ?? 0) / 1024);
  return Math.max(0, ...sizes);
}

async function find(page) {
  await page.waitForFunction(() => document.documentElement.dataset.ready === 'all', { timeout: PATIENCE });
  return page.evaluate(async () => {
    const input = document.getElementById('find');
    input.focus();
    input.value = 'planted-needle';
    const started = performance.now();
    input.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
    await new Promise((resolve) => {
      const look = () => (document.querySelector('.find').dataset.done === 'true' ? resolve() : setTimeout(look, 4));
      look();
    });
    return { findMillis: performance.now() - started, found: document.querySelector('.cnt').textContent };
  });
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const url = place();
const empty = [];
const full = [];
let last;
try {
  for (let round = 0; round < ROUNDS; round += 1) {
    const blank = await open(browser.write('empty', EMPTY), 'main');
    empty.push(blank.millis);
    await blank.page.close();
    await last?.close();
    const { page, millis } = await open(url, isOurs ? '.facts' : '');
    full.push(millis);
    last = page;
    // A page that takes this long is opened once.
    if (millis > 5000) break;
  }
  if (isOurs) await last.waitForFunction(() => document.documentElement.dataset.ready === 'all', { timeout: PATIENCE });
  const elements = await last.evaluate(() => document.querySelectorAll('*').length);
  const search = program === 'scale' ? await find(last) : {};
  if (program === 'scale' && search.found !== `1 of ${needles}`) throw new Error(`found ${search.found} of ${needles}`);
  const rendererMiB = await rendererMebibytes();
  await last.evaluate(() => window.gc?.());
  const { JSHeapUsedSize } = await last.metrics();
  console.log(JSON.stringify({ overEmptyMillis: median(full) - median(empty), elements, rendererMiB, heapMegabytes: JSHeapUsedSize / 1e6, findMillis: search.findMillis ?? null }));
} catch (error) {
  console.log(JSON.stringify({ overEmptyMillis: null, failure: String(error.message ?? error) }));
} finally {
  await browser.stop();
}
