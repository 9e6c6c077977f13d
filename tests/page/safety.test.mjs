// Hostile strings stay text, and nothing is fetched.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { Browser } from './browser.mjs';
import { hostile } from './runs/hostile.mjs';
import { rich } from './runs/rich.mjs';

let browser;
let server;
let address;
const requests = [];
before(async () => {
  browser = await Browser.start();
  server = createServer((request, response) => {
    requests.push(request.url);
    response.end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${server.address().port}`;
});
after(async () => {
  await browser.stop();
  await new Promise((resolve) => server.close(resolve));
});

/** Opens and shows everything that the page can show. */
async function showEverything(tab, items) {
  await tab.press('x');
  for (let item = 0; item < items; item += 1) {
    await tab.go(item);
    await tab.page.evaluate(() => document.querySelectorAll('.det details:not([open]) > summary').forEach((summary) => summary.click()));
  }
  await tab.settle();
}

test('hostile strings in every field run no code, open no dialog and create no element', { timeout: 300_000 }, async () => {
  const { html, facts } = hostile(address);
  const tab = await browser.open(html);
  await showEverything(tab, facts.items);
  for (const query of ['<script>', 'onerror', 'canary']) await tab.find(query);
  await tab.press('Enter', 'Escape', '?');
  await tab.clickText('dialog[open] .btn', 'Files');
  await tab.clickText('dialog[open] .lnk', '.txt');
  await tab.settle();
  await tab.press('Escape', 'Escape', 'Escape');
  await tab.clickText('.foot .lnk', 'Warnings');
  await tab.press('Escape');
  await tab.page.evaluate(() => {
    document.querySelectorAll('.review summary').forEach((summary) => summary.click());
    window.dispatchEvent(new Event('beforeprint'));
  });
  await tab.settle();
  assert.equal(await tab.page.evaluate(() => window.canary), undefined);
  assert.equal(tab.log.dialogs, 0);
  assert.deepEqual(tab.log.errors, []);
  assert.equal(await tab.count('iframe, object, embed, form, link, base, script[src], style ~ style, main script, main style, meta[http-equiv=refresh]'), 0);
  assert.equal(await tab.page.$$eval('main *, dialog *', (elements) => elements.filter((element) => element.getAttributeNames().some((name) => name.startsWith('on') || name === 'style' && element.getAttribute('style').includes('url'))).length), 0);
  assert.equal(await tab.page.$$eval('img', (images) => images.filter((image) => !image.src.startsWith('data:image/')).length), 0);
  assert.equal(await tab.page.evaluate(() => ({}).canary), undefined, 'prototypes are untouched');
  await tab.close();
});

test('hostile strings are shown as they are', async () => {
  const { html } = hostile(address);
  const tab = await browser.open(html);
  assert.equal(await tab.text('h1'), '"><img src=x onerror="window.canary=2">');
  assert.match(await tab.text('.ended'), /<script>window\.canary=1<\/script>/);
  assert.match(await tab.text('.review'), /Review copy/);
  await tab.go(2);
  assert.match(await tab.text('[data-item="2"] .b'), /<svg\/onload=window\.canary=3>/);
  await tab.close();
});

test('no request reaches the network', async () => {
  const { html } = hostile(address);
  const tab = await browser.open(html);
  const asked = [];
  tab.page.on('request', (request) => asked.push(request.url()));
  await showEverything(tab, 8);
  await tab.find('img');
  assert.deepEqual(asked.filter((url) => !url.startsWith('data:')), []);
  assert.deepEqual(requests, [], 'the canary server stays silent');
  await tab.close();
});

test('the policy stops code and requests that a fault in the page would start', async () => {
  const { html } = rich();
  const tab = await browser.open(html);
  const outcome = await tab.page.evaluate(async (canary) => {
    const results = {};
    const image = new Image();
    results.image = await new Promise((resolve) => {
      image.onload = () => resolve('loaded');
      image.onerror = () => resolve('blocked');
      image.src = `${canary}/image`;
    });
    results.fetch = await window.fetch(`${canary}/fetch`).then(() => 'fetched', () => 'blocked');
    try {
      document.createElement('div').innerHTML = '<b>x</b>';
      results.sink = 'open';
    } catch {
      results.sink = 'blocked';
    }
    const script = document.createElement('script');
    try {
      script.textContent = 'window.canary = 1';
      document.body.appendChild(script);
    } catch {
      // Trusted types refuse it.
    }
    results.script = window.canary === undefined ? 'blocked' : 'ran';
    return results;
  }, address);
  assert.deepEqual(outcome, { image: 'blocked', fetch: 'blocked', sink: 'blocked', script: 'blocked' });
  assert.deepEqual(requests, []);
  await tab.close();
});

test('a changed script does not run', async () => {
  const { html } = rich();
  const tab = await browser.open(html.replace('</script>\n<script>', '</script>\n<script>window.canary=1;'), { ready: false });
  await tab.settle();
  assert.equal(await tab.page.evaluate(() => window.canary), undefined);
  assert.equal(await tab.count('#static'), 1, 'the summary stays readable');
  await tab.close();
});

test('damaged chunks are reported and do not stop the page', async () => {
  const { html, facts } = rich();
  const broken = html.replace(/(id="c1">)[^<]{200}/, '$1AAAA');
  const tab = await browser.open(broken, { ready: false });
  await tab.page.waitForSelector('.list');
  assert.equal(await tab.text('h1'), facts.title);
  assert.ok((await tab.count('.rail a[data-turn]')) > 0);
  await tab.close();
});
