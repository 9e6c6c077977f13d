// Keyboard and screen readers: axe finds nothing on any view.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { problems } from './axe.mjs';
import { Browser } from './browser.mjs';
import { huge } from './runs/large.mjs';
import { review, rich } from './runs/rich.mjs';

let browser;
const { html, facts } = rich();
const { at } = facts;
before(async () => { browser = await Browser.start(); });
after(() => browser.stop());

async function clean(options, act, page = html) {
  const tab = await browser.open(page, options);
  await act(tab);
  await tab.settle();
  assert.deepEqual(await problems(tab), []);
  await tab.close();
}

for (const [theme, options] of [['light', {}], ['dark', { dark: true }], ['phone', { width: 390, height: 844 }], ['phone, dark', { width: 390, height: 844, dark: true }]]) {
  test(`axe finds nothing on the first screen, ${theme}`, () => clean(options, async () => undefined));
  test(`axe finds nothing on an open call, ${theme}`, () => clean(options, async (tab) => {
    await tab.openItem(at.env);
    await tab.go(at.failure);
  }));
  test(`axe finds nothing on Markdown and an edit, ${theme}`, () => clean(options, (tab) => tab.go(at.markdown)));
  test(`axe finds nothing on approvals, errors and nested agents, ${theme}`, () => clean(options, async (tab) => {
    await tab.press('x');
    await tab.go(at.agentCall);
    await tab.go(at.approval);
  }));
  test(`axe finds nothing on the find bar, ${theme}`, () => clean(options, async (tab) => {
    await tab.find('authorization');
    await tab.press('Enter');
  }));
  test(`axe finds nothing on the help, ${theme}`, () => clean(options, (tab) => tab.press('?')));
}

test('axe finds nothing on the details of a phone', () => clean({ width: 390, height: 844 }, async (tab) => {
  await tab.go(at.failure);
  await tab.clickText('.phone button', 'Details');
}));

test('axe finds nothing on a review copy and on the report', async () => {
  await clean({}, (tab) => tab.click('.review summary'), review().html);
  await clean({}, (tab) => tab.clickText('.foot .lnk', 'Warnings'));
});

test('axe finds nothing on a list of lines', () => clean({}, (tab) => tab.press('e'), huge(8000).html));

test('rows state their place in the whole list', async () => {
  const tab = await browser.open(html);
  await tab.go(at.edit);
  const place = await tab.page.$eval(`[data-item="${at.edit}"]`, (element) => {
    const row = element.closest('[role="listitem"]');
    return [row.getAttribute('aria-posinset'), row.getAttribute('aria-setsize')];
  });
  assert.deepEqual(place, [String(at.edit + 1), String(facts.shown)]);
  await tab.close();
});

test('a skip link leads to the conversation', async () => {
  const tab = await browser.open(html);
  await tab.press('Tab');
  assert.equal(await tab.page.evaluate(() => document.activeElement.textContent), 'Skip to the conversation');
  await tab.close();
});
