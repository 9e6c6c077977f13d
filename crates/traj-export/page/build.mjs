// Builds page.js, page.css and licences.txt, which the Rust crate embeds.
//
// `node build.mjs` writes the files; `node build.mjs --check` builds them in
// memory and fails if the checked-in ones differ. Both fail if the script is
// too large or contains a way to turn a string into HTML or code.
import { build } from 'esbuild';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { minify } from 'terser';

const here = dirname(fileURLToPath(import.meta.url));
const assets = join(here, '../src/page/assets');
const LIMIT_BYTES = 250_000;
const LIMIT_GZIP = 80_000;
const FORBIDDEN = [
  'innerHTML', 'outerHTML', 'insertAdjacentHTML', 'document.write', 'createContextualFragment',
  'DOMParser', 'setHTML', 'srcdoc', 'eval(', 'new Function', 'XMLHttpRequest', 'WebSocket',
  'EventSource', 'sendBeacon', 'fetch(', 'importScripts', '</script', '<!--',
];

/**
 * highlight.js brings functions that look for code in a document and set
 * innerHTML. Nothing here calls them; remove them, and with them their names.
 */
const removeDocumentFunctions = {
  name: 'remove-document-functions',
  setup(builder) {
    builder.onLoad({ filter: /highlight\.js[\\/]lib[\\/]core\.js$/ }, ({ path }) => {
      let source = readFileSync(path, 'utf8');
      const cut = (from, to) => {
        const start = source.indexOf(from);
        const end = source.indexOf(to, start);
        if (start < 0 || end < 0) throw new Error(`${path}: ${from.trim()} has moved`);
        source = source.slice(0, start) + source.slice(end);
      };
      cut('  function highlightAuto(code, languageSubset) {', '  /**\n   * Updates highlight.js global options');
      cut('  const initHighlighting = ()', '  /**\n   * Register a language');
      cut('  function deprecateHighlightBlock(el) {', '  /* Interface definition */');
      cut('    highlightAuto,', '    configure,');
      cut('    initHighlighting,', '    registerLanguage,');
      return { contents: source, loader: 'js' };
    });
  },
};

async function bundle(entry, extra) {
  const result = await build({
    absWorkingDir: here,
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    legalComments: 'none',
    charset: 'ascii',
    target: ['chrome120', 'firefox121', 'safari17'],
    ...extra,
  });
  return result.outputFiles[0].text;
}

const OPTIONS = {
  format: 'iife',
  platform: 'neutral',
  mainFields: ['module', 'main'],
  plugins: [removeDocumentFunctions],
  alias: { 'decode-named-character-reference': './src/text/entities.ts' },
};

/** The packages whose code is in the bundle: name, version, and the text of the licence. */
async function packages() {
  const { metafile } = await build({
    absWorkingDir: here, entryPoints: ['src/main.ts'], bundle: true, write: false, metafile: true, define: { LICENCES: '""' }, ...OPTIONS,
  });
  const used = new Set();
  for (const [path, input] of Object.entries(Object.values(metafile.outputs)[0].inputs)) {
    const match = /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path);
    if (match && input.bytesInOutput > 0) used.add(match[1]);
  }
  return [...used].sort().map((name) => {
    const directory = join(here, 'node_modules', name);
    const { version, license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
    const file = readdirSync(directory).find((entry) => /^licen[cs]e/i.test(entry));
    if (!file) throw new Error(`${name} has no licence file`);
    return { name, version, license, text: readFileSync(join(directory, file), 'utf8').replaceAll('\r\n', '\n').trim() };
  });
}

/** One text for all packages; equal terms are written once, after the copyright lines of all who use them. */
function notices(list) {
  const groups = new Map();
  for (const { name, version, license, text } of list) {
    const holders = text.split('\n').filter((line) => /^\s*copyright/i.test(line)).map((line) => line.trim());
    const terms = text.split('\n').filter((line) => !/^\s*(copyright|\(?the mit licen[cs]e|mit licen[cs]e|bsd 3-clause)/i.test(line)).join('\n').trim();
    const key = terms.replace(/\s+/g, ' ').replaceAll("'", '"').toLowerCase();
    const group = groups.get(key) ?? { license, terms, users: [] };
    group.users.push(`${name} ${version}\n  ${holders.join('\n  ')}`);
    groups.set(key, group);
  }
  let all = 'The script of this page contains code of these packages.\n';
  for (const { license, terms, users } of groups.values()) all += `\n${users.join('\n')}\n\n${license}\n\n${terms}\n`;
  return all;
}

const licences = notices(await packages());
const bundled = await bundle('src/main.ts', { ...OPTIONS, define: { LICENCES: JSON.stringify(licences) } });
// A second pass over what esbuild minified saves another five percent.
const { code } = await minify(bundled, { ecma: 2020, compress: { passes: 3 }, mangle: true, format: { ascii_only: true } });
const script = `${code}\n`;
const style = await bundle('style/page.css', {});

const problems = [];
const gzip = gzipSync(script, { level: 9 }).length;
if (script.length > LIMIT_BYTES) problems.push(`page.js has ${script.length} bytes, more than ${LIMIT_BYTES}`);
if (gzip > LIMIT_GZIP) problems.push(`page.js has ${gzip} bytes after gzip, more than ${LIMIT_GZIP}`);
for (const word of FORBIDDEN) {
  if (script.includes(word)) problems.push(`page.js contains ${word}`);
}
for (const word of ['url(', '@import', '</style']) {
  if (style.includes(word)) problems.push(`page.css contains ${word}`);
}

const outputs = { 'page.js': script, 'page.css': style, 'licences.txt': licences };
const check = process.argv.includes('--check');
if (check) {
  for (const [name, text] of Object.entries(outputs)) {
    const path = join(assets, name);
    if (!existsSync(path) || readFileSync(path, 'utf8') !== text) problems.push(`${name} is not what the sources build; run npm run build`);
  }
}
if (problems.length > 0) {
  for (const problem of problems) console.error(problem);
  process.exit(1);
}
if (!check) {
  mkdirSync(assets, { recursive: true });
  for (const [name, text] of Object.entries(outputs)) writeFileSync(join(assets, name), text);
}
console.log(`page.js ${script.length} bytes, ${gzip} after gzip; page.css ${style.length} bytes`);
