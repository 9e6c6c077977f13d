// Starts the browser and opens pages in it; everything that a test needs to see and do.
import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import puppeteer from 'puppeteer-core';

/** The browser: `CHROMIUM`, or the first that is installed. A missing browser is an error. */
export function findChromium() {
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
  const places = process.env.CHROMIUM ? [process.env.CHROMIUM] : (process.env.PATH ?? '').split(delimiter).flatMap((directory) => names.map((name) => join(directory, name)));
  for (const place of places) {
    try {
      accessSync(place, constants.X_OK);
      return place;
    } catch {
      // Not here.
    }
  }
  throw new Error('No Chromium found. Install the package chromium, or name the program in CHROMIUM.');
}

export class Browser {
  static async start(...args) {
    const started = new Browser();
    started.directory = mkdtempSync(join(tmpdir(), 'traj-page-'));
    started.browser = await puppeteer.launch({
      executablePath: findChromium(), headless: true,
      args: ['--no-sandbox', '--force-color-profile=srgb', '--font-render-hinting=none', '--disable-dev-shm-usage', '--js-flags=--expose-gc', ...args],
    });
    return started;
  }

  async stop() {
    await this.browser.close();
    rmSync(this.directory, { recursive: true, force: true });
  }

  write(name, html) {
    const path = join(this.directory, `${name}.html`);
    writeFileSync(path, html);
    return pathToFileURL(path).href;
  }

  /** Opens a page and waits until its list is drawn. */
  async open(html, { width = 1440, height = 900, dark = false, script = true, hash = '', name = 'page', ready = true } = {}) {
    const tab = await this.browser.newPage();
    const log = { errors: [], dialogs: 0 };
    tab.on('pageerror', (error) => log.errors.push(String(error.stack ?? error)));
    tab.on('console', (message) => message.type() === 'error' && log.errors.push(message.text()));
    tab.on('dialog', (dialog) => {
      log.dialogs += 1;
      void dialog.dismiss();
    });
    await tab.setViewport({ width, height, deviceScaleFactor: 1, isMobile: width < 600, hasTouch: width < 600 });
    await tab.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }, { name: 'prefers-reduced-motion', value: 'reduce' }]);
    await tab.setJavaScriptEnabled(script);
    await tab.goto(this.write(name, html) + hash, { waitUntil: 'domcontentloaded' });
    if (script && ready) await tab.waitForFunction(() => ['all', 'failed'].includes(document.documentElement.dataset.ready), { timeout: 120_000 });
    return new Tab(tab, log);
  }
}

/** One open page. */
export class Tab {
  constructor(page, log) {
    this.page = page;
    this.log = log;
  }

  close() { return this.page.close(); }

  /** Two frames: what was asked for has been drawn. */
  settle() {
    return this.page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve, 30)))));
  }

  async press(...keys) {
    for (const key of keys) await this.page.keyboard.press(key);
    await this.settle();
  }

  /** The visible text of the first element that matches. */
  text(selector) {
    return this.page.$eval(selector, (element) => element.innerText.replace(/\s+/g, ' ').trim());
  }

  texts(selector) {
    return this.page.$$eval(selector, (elements) => elements.map((element) => element.innerText.replace(/\s+/g, ' ').trim()));
  }

  count(selector) {
    return this.page.$$eval(selector, (elements) => elements.length);
  }

  async click(selector) {
    await this.page.$eval(selector, (element) => element.scrollIntoView({ block: 'center' }));
    await this.page.click(selector);
    await this.settle();
  }

  /** Clicks the button with this text inside a selector. */
  async clickText(selector, text) {
    await this.page.evaluate((where, words) => {
      const found = [...document.querySelectorAll(where)].find((element) => element.textContent.includes(words));
      if (!found) throw new Error(`no ${where} with ${words}`);
      found.click();
    }, selector, text);
    await this.settle();
  }

  /** Goes to an item by its link and waits until it is drawn. */
  async go(item) {
    await this.page.evaluate((name) => { window.location.hash = name; }, `#e${item + 1}`);
    await this.page.waitForSelector(`[data-item="${item}"].sel`);
    await this.settle();
  }

  item(item) { return `[data-item="${item}"]`; }

  async openItem(item) {
    await this.go(item);
    await this.page.$eval(`${this.item(item)} details`, (details) => { details.open = true; });
    await this.settle();
  }

  hash() { return this.page.evaluate(() => window.location.hash); }

  /** Types into find and waits for the result. */
  async find(query) {
    await this.page.keyboard.press('/');
    await this.page.keyboard.down('Control');
    await this.page.keyboard.press('a');
    await this.page.keyboard.up('Control');
    await this.page.keyboard.type(query);
    await this.waitForFind(query);
    return this.text('.cnt');
  }

  /** Waits until find has read everything for this query. */
  async waitForFind(query) {
    await this.page.waitForFunction((words) => {
      const { query: current, done } = document.querySelector('.find').dataset;
      return current === words && done === 'true';
    }, { timeout: 60_000 }, query);
    await this.settle();
  }

  /** The box of a canvas, scrolled into view. */
  async box(selector) {
    await this.page.$eval(selector, (element) => element.scrollIntoView({ block: 'center' }));
    await this.settle();
    return this.page.$eval(selector, (element) => {
      const { left, top, width, height } = element.getBoundingClientRect();
      return { left, top, width, height };
    });
  }

  /** The colour of one pixel of a canvas as #rrggbb. */
  pixel(selector, x, y) {
    return this.page.$eval(selector, (canvas, px, py) => {
      const [red, green, blue] = canvas.getContext('2d').getImageData(px * devicePixelRatio, py * devicePixelRatio, 1, 1).data;
      return `#${[red, green, blue].map((value) => value.toString(16).padStart(2, '0')).join('')}`;
    }, x, y);
  }
}
