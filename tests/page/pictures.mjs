// Takes the pictures of the page that README and documentation show: `npm run pictures`.
import { mkdirSync, mkdtempSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const LIMIT_BYTES = 300_000;
const directory = join(dirname(fileURLToPath(import.meta.url)), '../../docs/images');

// The pictures use Inter and JetBrains Mono where they are installed; the page asks for the system's fonts.
const fonts = join(mkdtempSync(join(tmpdir(), 'traj-fonts-')), 'fonts.conf');
const prefer = (family, font) => `<match target="pattern"><test name="family"><string>${family}</string></test><edit name="family" mode="prepend" binding="strong"><string>${font}</string></edit></match>`;
writeFileSync(fonts, `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig><include ignore_missing="yes">/etc/fonts/fonts.conf</include>${prefer('system-ui', 'Inter')}${prefer('sans-serif', 'Inter')}${prefer('ui-monospace', 'JetBrains Mono')}${prefer('monospace', 'JetBrains Mono')}</fontconfig>`);
process.env.FONTCONFIG_FILE = fonts;

const { Browser } = await import('./browser.mjs');
const { rich } = await import('./runs/rich.mjs');
const { huge } = await import('./runs/large.mjs');

const browser = await Browser.start();
const { html, facts } = rich();
const { at } = facts;

async function picture(name, options, act, page = html) {
  const tab = await browser.open(page, options);
  await act(tab);
  await tab.settle();
  await tab.page.evaluate(() => document.getElementById('toast')?.remove());
  const path = join(directory, `page-${name}.png`);
  await tab.page.screenshot({ path, optimizeForSpeed: false });
  const { size } = statSync(path);
  console.log(`page-${name}.png ${size} bytes`);
  if (size > LIMIT_BYTES) throw new Error(`page-${name}.png is larger than ${LIMIT_BYTES} bytes`);
  await tab.close();
}

mkdirSync(directory, { recursive: true });
const phone = { width: 390, height: 844 };
await picture('light', {}, async () => undefined);
await picture('dark', { dark: true }, async () => undefined);
await picture('conversation', {}, (tab) => tab.go(at.failure));
await picture('find', {}, async (tab) => {
  await tab.openItem(at.env);
  await tab.find('token');
  await tab.press('Enter');
  await tab.page.hover(`[data-item="${at.env}"] .rx[data-marker="${facts.chip}"]`);
  await tab.page.waitForFunction(() => document.getElementById('rxtip').textContent.includes('place'));
});
await picture('agents', { dark: true }, (tab) => tab.go(at.agent));
await picture('zoom', {}, async (tab) => {
  await tab.press('c', 'w', 'w');
  const box = await tab.box('.lw canvas');
  await tab.page.evaluate(() => window.scrollTo(0, 0));
  await tab.settle();
  const { left, top } = await tab.page.$eval('.lw canvas', (canvas) => canvas.getBoundingClientRect().toJSON());
  await tab.page.mouse.move(left + 240, top + 60);
  await tab.page.mouse.down();
  await tab.page.mouse.move(left + box.width * 0.45, top + 60, { steps: 5 });
  await tab.page.mouse.up();
  await tab.page.mouse.move(left + box.width * 0.55, top + 67);
});
await picture('large', {}, async (tab) => tab.press('e'), huge(100_000).html);
await picture('phone', phone, async () => undefined);
await picture('phone-dark', { ...phone, dark: true }, async (tab) => {
  await tab.go(at.failure);
  await tab.clickText('.phone button', 'Details');
});
await picture('print', { width: 794, height: 1123 }, async (tab) => {
  await tab.page.emulateMediaType('print');
  await tab.page.evaluate(() => {
    window.dispatchEvent(new Event('beforeprint'));
    document.body.style.margin = '40px';
  });
});
await browser.stop();
