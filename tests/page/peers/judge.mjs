// What is in the pages that a program wrote of the run whose facts are known:
// `node judge.mjs PROGRAM FACTS PATH` prints one JSON object.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';

const [program, factsPath, path] = process.argv.slice(2);
const facts = JSON.parse(readFileSync(factsPath, 'utf8'));

/** The texts in the chunks of our page. */
function* unpacked(html) {
  for (const [, data] of html.matchAll(/<script type="text\/plain" id="[ic]\d+">([^<]*)<\/script>/g)) yield inflateRawSync(Buffer.from(data, 'base64')).toString('latin1');
}

function filesOf(place) {
  if (!statSync(place).isDirectory()) return [place];
  return readdirSync(place).map((name) => join(place, name)).filter((name) => name.endsWith('.html'));
}

const headOf = (html) => JSON.parse(/id="head">(.*?)<\/script>/s.exec(html)[1]);

/** Failed calls in the index of our page: its kinds and flags, see docs/format/page-v1.md. */
function failedCalls(html) {
  const chunks = [...html.matchAll(/<script type="text\/plain" id="i\d+">([^<]*)<\/script>/g)].map(([, data]) => inflateRawSync(Buffer.from(data, 'base64')));
  const index = Buffer.concat(chunks);
  const items = index.readUInt32LE(4);
  const sizes = [8, 8, 4, 4, 4, 4, 4, 4, 4, 4, 2, 2, 2, 2, 2, 1];
  let place = 32;
  const starts = sizes.map((size) => {
    const start = place;
    place += Math.ceil((items * size) / 8) * 8;
    return start;
  });
  const [flags, kinds] = starts.slice(-2);
  let failed = 0;
  for (let item = 0; item < items; item += 1) {
    if (index[kinds + item] === 4 && (index.readUInt16LE(flags + item * 2) & 1) === 1) failed += 1;
  }
  return failed;
}

const count = (text, pattern) => (text.match(pattern) ?? []).length;
const sum = (text, pattern) => [...text.matchAll(pattern)].reduce((all, [, number]) => all + Number(number), 0);

/** How each program marks a failed call, and what it says about output tokens. */
const PROGRAMS = {
  traj: { failed: failedCalls, output: (html) => headOf(html).summary.usage.outputTokens, input: (html) => headOf(html).summary.usage.inputTokens },
  'claude-code-log': { failed: (html) => count(html, /<div class='message tool_result error/g), output: (html) => sum(html, /token-usage'>[^<]*Output: (\d+)/g) },
  'claude-code-transcripts': { failed: (html) => count(html, /class="tool-result tool-error"/g) },
  agentsview: { failed: (html) => count(html, /class="[^"]*tool-(?:error|failed)/g) },
  weavr: { failed: (html) => count(html, /class="tool-section tool-section--error"/g) },
};

const lines = { M: new Set(), S: new Set() };
const left = new Set();
const secrets = new RegExp(facts.secrets.map((secret) => secret.replace(/[^\w]/g, '\\$&')).join('|'), 'g');
let bytes = 0;
let failures = 0;
let output = null;
let input = null;
const files = filesOf(path);
const { failed, output: outputOf, input: inputOf } = PROGRAMS[program];
for (const file of files) {
  bytes += statSync(file).size;
  const html = readFileSync(file, 'latin1');
  for (const [secret] of html.matchAll(secrets)) left.add(secret);
  for (const text of program === 'traj' ? unpacked(html) : [html]) {
    for (const [, letter, number] of text.matchAll(/([MS])(\d{7}) src/g)) lines[letter].add(Number(number));
    for (const [secret] of text.matchAll(secrets)) left.add(secret);
  }
  failures += failed(html);
  if (outputOf) output = (output ?? 0) + outputOf(html);
  if (inputOf) input = (input ?? 0) + inputOf(html);
}
console.log(JSON.stringify({ bytes, files: files.length, mainLines: lines.M.size, agentLines: lines.S.size, secrets: left.size, failures, outputTokens: output, inputTokens: input }));
