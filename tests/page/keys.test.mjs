// Keys, links, help, themes, phone and print.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { Browser } from './browser.mjs';
import { huge } from './runs/large.mjs';
import { rich } from './runs/rich.mjs';

let browser;
let tab;
const { html, facts } = rich();
const { at } = facts;
before(async () => { browser = await Browser.start(); });
after(() => browser.stop());
beforeEach(async () => {
  await tab?.close();
  tab = await browser.open(html);
});

const chosen = async () => Number((await tab.hash()).slice(2)) - 1;

test('j and k choose the next and the previous event', async () => {
  await tab.press('j');
  assert.equal(await chosen(), 0);
  await tab.press('j', 'j', 'k');
  assert.equal(await chosen(), 1);
  assert.equal(await tab.count('.ev.sel'), 1);
});

test('] and [ go to prompts, and n and p too while nothing is searched', async () => {
  await tab.press(']', ']');
  assert.equal(await chosen(), at.prompt2);
  await tab.press('[');
  assert.equal(await chosen(), at.prompt1);
  await tab.press('n');
  assert.equal(await chosen(), at.prompt2);
  await tab.press('p');
  assert.equal(await chosen(), at.prompt1);
});

test('e and E go to failures and wrap around', async () => {
  for (const item of [at.failure, at.timedOut, at.failure2, at.failure]) {
    await tab.press('e');
    assert.equal(await chosen(), item);
  }
  await tab.press('E');
  assert.equal(await chosen(), at.failure2);
});

test('Enter opens and closes the event, x all of them', async () => {
  await tab.go(at.env);
  const open = () => tab.page.$eval(`[data-item="${at.env}"] details`, (box) => box.open);
  await tab.press('Enter');
  assert.equal(await open(), true);
  await tab.press('Enter');
  assert.equal(await open(), false);
  await tab.press('x');
  assert.equal(await open(), true);
  await tab.press('x');
  assert.equal(await open(), false);
});

test('a link opens the page at its event', async () => {
  const linked = await browser.open(html, { hash: `#e${at.agentAnswer + 1}` });
  await linked.settle();
  const top = await linked.page.$eval(`[data-item="${at.agentAnswer}"].sel`, (element) => element.getBoundingClientRect().top);
  assert.ok(top > 100 && top < 400, `in sight: ${top}`);
  assert.match(await linked.text('.det'), new RegExp(`^e${at.agentAnswer + 1}`));
  await linked.close();
});

test('y and the button copy a link to the event', async () => {
  await tab.page.evaluate(() => {
    window.copied = [];
    Object.defineProperty(navigator, 'clipboard', { configurable: true, value: { writeText: async (text) => { window.copied.push(text); } } });
  });
  await tab.go(at.edit);
  await tab.press('y');
  await tab.clickText('.det .btn', 'Copy link');
  await tab.clickText('.det .btn', 'Copy command');
  const [first, second, third] = await tab.page.evaluate(() => window.copied);
  assert.match(first, new RegExp(`^file:.*#e${at.edit + 1}$`));
  assert.equal(second, first);
  assert.equal(third, 'src/client.rs');
});

test('a link to an event that the filters hide removes the filters', async () => {
  await tab.clickText('.kinds button', 'Prompts');
  await tab.go(at.failure);
  assert.equal(await tab.page.$eval('.kinds button', (button) => button.getAttribute('aria-pressed')), 'true');
});

test('? shows the keys, the digest and the licences; single keys can be switched off', async () => {
  await tab.press('?');
  const text = await tab.text('dialog[open]');
  for (const part of ['next, previous event', 'find in everything', 'sha256:']) assert.ok(text.includes(part), part);
  await tab.clickText('dialog[open] .btn', 'Licences');
  assert.match(await tab.page.$eval('.lic', (pre) => pre.textContent), /micromark[\s\S]*Permission is hereby granted[\s\S]*highlight\.js|highlight\.js[\s\S]*micromark/);
  await tab.press('Escape');
  await tab.click('#keyson');
  await tab.press('Escape');
  await tab.press('e');
  assert.equal(await tab.hash(), '');
  await tab.press('j');
  assert.equal(await tab.hash(), '');
});

test('typing in find does not trigger shortcuts', async () => {
  await tab.press('/');
  await tab.page.keyboard.type('je?');
  await tab.settle();
  assert.equal(await tab.hash(), '');
  assert.equal(await tab.count('dialog[open]'), 0);
});

test('t and the button change between light and dark, and the system is followed', async () => {
  const back = () => tab.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.equal(await back(), 'rgb(250, 251, 252)');
  await tab.press('t');
  assert.equal(await back(), 'rgb(14, 16, 19)');
  await tab.click('[aria-label="Light or dark"]');
  assert.equal(await back(), 'rgb(250, 251, 252)');
  const dark = await browser.open(html, { dark: true });
  assert.equal(await dark.page.evaluate(() => getComputedStyle(document.body).backgroundColor), 'rgb(14, 16, 19)');
  const box = await dark.box('.lw canvas');
  assert.ok(box.width > 0);
  await dark.close();
});

test('g goes back to the summary', async () => {
  await tab.go(at.last);
  await tab.press('g');
  assert.equal(await tab.page.evaluate(() => window.scrollY), 0);
});

test('the small timeline appears when the lanes have scrolled away, and a click goes there', async () => {
  await tab.go(at.failure);
  const box = await tab.page.$eval('.mini canvas', (canvas) => {
    const { left, top, width, height } = canvas.getBoundingClientRect();
    return { left, top, width, height };
  });
  assert.ok(box.top > 80 && box.height > 10, JSON.stringify(box));
  await tab.page.mouse.click(box.left + box.width * (708_900 / 740_000), box.top + 8);
  await tab.settle();
  assert.equal(await chosen(), at.failure2);
});

test('a phone has four actions, and the details are a sheet', async () => {
  const phone = await browser.open(html, { width: 390, height: 844 });
  assert.deepEqual(await phone.texts('.phone button'), ['Summary', 'Next prompt', 'Next failure', 'Details']);
  assert.ok(await phone.page.evaluate(() => document.documentElement.scrollWidth <= 390), 'nothing sticks out');
  await phone.clickText('.phone button', 'Next failure');
  assert.equal(await phone.hash(), `#e${at.failure + 1}`);
  assert.equal(await phone.page.$eval('.det', (box) => getComputedStyle(box).display), 'none');
  await phone.clickText('.phone button', 'Details');
  const box = await phone.page.$eval('.det', (element) => {
    const { left, right, bottom } = element.getBoundingClientRect();
    return { left, right, bottom };
  });
  assert.deepEqual(box, { left: 0, right: 390, bottom: 844 });
  await phone.clickText('.phone button', 'Summary');
  assert.equal(await phone.page.evaluate(() => window.scrollY), 0);
  await phone.close();
});

test('print is light, opened, complete, and leaves the page as it was', async () => {
  await tab.press('t');
  await tab.page.evaluate(() => {
    window.print = () => {
      window.dispatchEvent(new Event('beforeprint'));
      window.printed = { theme: document.documentElement.dataset.theme, slots: document.querySelectorAll('.paper .slot').length, text: document.querySelector('.paper').textContent };
      window.dispatchEvent(new Event('afterprint'));
    };
  });
  await tab.page.keyboard.down('Control');
  await tab.page.keyboard.press('p');
  await tab.page.keyboard.up('Control');
  await tab.page.waitForFunction(() => window.printed);
  const printed = await tab.page.evaluate(() => window.printed);
  assert.equal(printed.theme, 'light');
  assert.equal(printed.slots, facts.shown);
  for (const part of ['the token is the first suspect', 'You are a careful engineer', 'src/sync/push.rs:88: debug!', 'lines hidden']) assert.ok(printed.text.includes(part), part);
  assert.equal(await tab.count('.paper'), 0);
  assert.equal(await tab.page.evaluate(() => document.documentElement.dataset.theme), 'dark');
  const pdf = await tab.page.pdf({ format: 'A4' });
  assert.ok(pdf.length > 20_000);
});

test('print takes the filter, and says so', async () => {
  await tab.clickText('.kinds button', 'Failed');
  const text = await tab.page.evaluate(() => {
    window.dispatchEvent(new Event('beforeprint'));
    const { textContent } = document.querySelector('.paper .note');
    window.dispatchEvent(new Event('afterprint'));
    return textContent;
  });
  assert.equal(text, `Printed: the summary and the ${facts.failed} events that pass the filters, of ${facts.items}.`);
});

test('in a list of lines, Enter shows the details and e reaches failures far away', async () => {
  const page = huge(8000);
  const large = await browser.open(page.html);
  assert.match(await large.text('.hint'), /^8,000 events, one line each/);
  await large.press('e');
  assert.equal(await large.hash(), `#e${page.facts.firstFailure + 1}`);
  assert.match(await large.text('.ev.row.sel'), /shell cargo test .* exit 101/);
  assert.match(await large.text('.det .cmdline'), /^cargo test -p crate_/);
  await large.close();
});

test('in a narrow window the kinds scroll and every button stays in sight', async () => {
  const narrow = await browser.open(html, { width: 1000, height: 800 });
  for (const button of ['.conv-bar .nf', '.conv-bar .ex', '.conv-bar .oth']) {
    const right = await narrow.page.$eval(button, (element) => element.getBoundingClientRect().right);
    assert.ok(right > 0 && right <= 1000 - 24, `${button} ends at ${right}`);
  }
  assert.equal(await narrow.page.evaluate(() => document.documentElement.scrollWidth), 1000);
  await narrow.close();
});

test('nothing was logged as an error', () => assert.deepEqual(tab.log.errors, []));
