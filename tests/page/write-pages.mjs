// Writes the page of every run: `node write-pages.mjs DIRECTORY [NAME...]`.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RUNS } from './runs/all.mjs';

const [directory = 'pages', ...names] = process.argv.slice(2);
mkdirSync(directory, { recursive: true });
for (const [name, make] of Object.entries(RUNS)) {
  if (names.length > 0 && !names.includes(name)) continue;
  const { html } = make();
  writeFileSync(join(directory, `${name}.html`), html);
  console.log(`${name}.html ${html.length} bytes`);
}
