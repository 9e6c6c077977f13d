// Find over everything, redaction chips that belong together, filters.
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

const chosen = async () => Number((await tab.hash()).slice(2)) - 1;
const marked = (name) => tab.page.evaluate((highlight) => [...(CSS.highlights.get(highlight) ?? [])].map((range) => range.toString()), name);

test('Ctrl-F and / put the cursor into the find bar', async () => {
  await tab.page.keyboard.down('Control');
  await tab.page.keyboard.press('f');
  await tab.page.keyboard.up('Control');
  assert.equal(await tab.page.evaluate(() => document.activeElement.id), 'find');
  await tab.press('Escape');
  assert.notEqual(await tab.page.evaluate(() => document.activeElement.id), 'find');
  await tab.press('/');
  assert.equal(await tab.page.evaluate(() => document.activeElement.id), 'find');
  await tab.press('Escape');
});

test('find counts matches in everything and steps forward and back', async () => {
  assert.equal(await tab.find('authorization'), '6 matches');
  await tab.press('Enter');
  assert.equal(await tab.text('.cnt'), '1 of 6');
  assert.equal(await chosen(), at.env);
  await tab.press('Enter');
  assert.equal(await tab.text('.cnt'), '2 of 6');
  assert.equal(await chosen(), at.agent);
  await tab.page.keyboard.down('Shift');
  await tab.press('Enter');
  await tab.page.keyboard.up('Shift');
  assert.equal(await tab.text('.cnt'), '1 of 6');
  assert.deepEqual(await marked('find-on'), ['Authorization']);
});

test('n and p step through the matches', async () => {
  await tab.press('/', 'Escape', 'g');
  await tab.go(at.started);
  await tab.find('authorization');
  await tab.page.evaluate(() => document.activeElement.blur());
  const place = (text) => tab.page.waitForFunction((words) => document.querySelector('.cnt').textContent === words, { timeout: 5000 }, text);
  await tab.press('n');
  await place('1 of 6');
  await tab.press('n');
  await place('2 of 6');
  await tab.press('p');
  await place('1 of 6');
});

for (const [place, query, item] of [
  ['hidden lines of an output', 'needle-in-hidden-lines', 'failure'], ['a windowed output', 'planted-far-down', 'long'], ['a closed part', 'first suspect', 'reasoning'],
  ['a blob', 'planted-in-a-blob', 'blob'], ['an unknown row', 'planted-in-unknown-row', 'other'], ['a sub-agent', 'scripts/replay.sh:9', 'agentAnswer'], ['a word with a colour inside the line', '... FAILED', 'failure'],
  ['an edit', 'self.provider.fresh', 'edit'], ['the end of a long prompt', 'planted-at-the-end', 'prompt5'], ['text with quotes', '"Authorization" --glob', 'agentCall'],
]) {
  test(`find reaches ${place}, opens it and marks it`, async () => {
    const found = await tab.find(query);
    assert.match(found, /^1 match$/);
    await tab.press('Enter');
    assert.equal(await chosen(), at[item]);
    await tab.page.waitForFunction((text) => [...(CSS.highlights.get('find-on') ?? [])].some((range) => range.toString() === text), {}, query);
    const box = await tab.page.evaluate(() => {
      const { top, bottom } = [...CSS.highlights.get('find-on')][0].getBoundingClientRect();
      return { top, bottom, height: window.innerHeight };
    });
    assert.ok(box.top > 100 && box.bottom < box.height, `the match is in sight: ${JSON.stringify(box)}`);
  });
}

test('find says when nothing matches, and Escape clears it', async () => {
  assert.equal(await tab.find('no-such-text-anywhere'), 'No match');
  await tab.press('Escape');
  assert.equal(await tab.text('.cnt'), '');
  assert.deepEqual(await marked('find'), []);
});

test('a new query replaces the old one', async () => {
  await tab.press('/');
  await tab.page.keyboard.type('token');
  await tab.page.keyboard.type('-that-is-nowhere');
  await tab.waitForFind('token-that-is-nowhere');
  assert.equal(await tab.text('.cnt'), 'No match');
  await tab.press('Escape');
});

test('the list can be narrowed to the events that match', async () => {
  await tab.find('authorization');
  await tab.click('.only');
  assert.equal(await tab.text('.fchips .num'), '5 shown');
  assert.equal(await tab.count('.slot'), 5);
  await tab.press('/', 'Escape');
  await tab.press('Escape');
  assert.equal(await tab.count('.fchips .num'), 0);
});

test('equal chips light up together and say in how many places the value is', async () => {
  await tab.openItem(at.env);
  const chips = await tab.page.$$(`[data-item="${at.env}"] .rx[data-marker="${facts.chip}"]`);
  assert.equal(chips.length, 2);
  await chips[0].hover();
  await tab.page.waitForFunction(() => document.getElementById('rxtip').textContent.includes('place'));
  assert.equal(await tab.text('#rxtip'), `github-pat redacted, the same value in ${facts.pat} places`);
  assert.ok((await tab.count('.rx.on')) >= 2);
  assert.ok((await tab.page.$$eval('.rx.on', (list) => list.every((chip) => chip.dataset.marker === 'github-pat:3f9a1c'))), 'others stay dark');
  await tab.page.mouse.move(5, 400);
  await tab.settle();
  assert.equal(await tab.count('.rx.on'), 0);
});

test('a click on a chip goes to the next place with the same value', async () => {
  await tab.openItem(at.env);
  const last = (await tab.page.$$(`[data-item="${at.env}"] .rx[data-marker="${facts.chip}"]`))[1];
  await last.click();
  await tab.page.waitForFunction((name) => window.location.hash === name, {}, `#e${at.markdown + 1}`);
  await tab.settle();
  assert.equal(await tab.page.evaluate(() => document.activeElement.dataset.marker), facts.chip);
  await tab.page.keyboard.press('Enter');
  await tab.page.waitForFunction((name) => window.location.hash === name, {}, `#e${at.nestedCall + 1}`);
});

test('kinds are filtered, with counts', async () => {
  const labels = await tab.texts('.kinds button');
  assert.deepEqual(labels, [`All ${facts.shown}`, `Prompts ${facts.prompts}`, `Answers ${facts.answers}`, 'Reasoning 1', `Tools ${facts.toolCalls}`, `Edits ${facts.edits}`, `Failed ${facts.failed}`]);
  for (const [label, number] of [['Prompts', facts.prompts], ['Edits', facts.edits], ['Failed', facts.failed]]) {
    await tab.clickText('.kinds button', label);
    assert.equal(await tab.text('.fchips .num'), `${number} shown`, label);
    assert.ok((await tab.count('.slot')) > 0, label);
  }
  await tab.clickText('.kinds button', 'All');
});

test('tools, outcomes and agents are filtered', async () => {
  const pick = async (label, text) => {
    const value = await tab.page.$eval(`select[aria-label="${label}"]`, (box, words) => [...box.options].find((option) => option.text.includes(words)).value, text);
    await tab.page.select(`select[aria-label="${label}"]`, value);
    await tab.settle();
  };
  await pick('Tool', 'apply_patch');
  assert.equal(await tab.count('.slot'), 1);
  await pick('Tool', 'Any');
  await pick('Outcome', 'Timed out');
  assert.deepEqual(await tab.texts('.slot .cm'), ['cargo bench']);
  await pick('Outcome', 'Declined');
  assert.deepEqual(await tab.texts('.slot .cm'), ['git push --force']);
  await pick('Outcome', 'Any');
  await pick('Agent', 'audit-callers');
  assert.equal(await tab.count('.slot'), 4);
  await pick('Agent', 'All');
});

test('rows that state nothing new are hidden until somebody asks for them', async () => {
  const fresh = await browser.open(html);
  assert.equal(await fresh.text('.oth'), `Other rows ${facts.others}`);
  assert.equal(await fresh.page.$eval('.slot', (row) => row.getAttribute('aria-setsize')), String(facts.shown));
  await fresh.click('.oth');
  assert.equal(await fresh.page.$eval('.slot', (row) => row.getAttribute('aria-setsize')), String(facts.items));
  await fresh.close();
});

test('an empty result of the filters offers a way back', async () => {
  await tab.clickText('.kinds button', 'Edits');
  await tab.page.select('select[aria-label="Outcome"]', 'declined');
  await tab.settle();
  assert.match(await tab.text('.none'), /No event passes the filters/);
  await tab.clickText('.none .btn', 'Show all');
  assert.equal(await tab.count('.fchips .num'), 0);
});

test('nothing was logged as an error', () => assert.deepEqual(tab.log.errors, []));
