// Opens timelines in the Perfetto UI and in speedscope, both in Chromium, and compares what their
// engines say with the calls of the same run.
//
// Usage: node timeline.mjs UI_FOLDER TRACE CALLS [TRACE CALLS...]
// A trace is what `traj convert --to perfetto` writes, CALLS what `--to jsonl` does.

import assert from "node:assert/strict";
import { createReadStream, existsSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import puppeteer from "puppeteer-core";

const [perfetto, ...files] = process.argv.slice(2);
const runs = files.flatMap((trace, index) => (index % 2 === 0 ? [{ trace, calls: files[index + 1] }] : []));
const FOLDERS = { perfetto, speedscope: join(import.meta.dirname, "node_modules/speedscope/dist/release") };
const TYPES = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".wasm": "application/wasm",
  ".json": "application/json",
};
const QUERIES = {
  tools: "select name, dur / 1000000 as ms from slice where category = 'tool' order by id",
  counters:
    "select max(c.value) as most from counter c join counter_track t on c.track_id = t.id where t.name like 'cost%'",
  flows: "select count(*) as count from flow",
  errors: "select name from stats where severity = 'error' and value > 0",
};

function answer(request, response) {
  const [, program, ...rest] = normalize(decodeURIComponent(new URL(request.url, "http://x").pathname)).split("/");
  const file = program === "trace" ? runs[Number(rest[0])]?.trace : join(FOLDERS[program] ?? "", rest.join("/") || "index.html");
  if (!file || !existsSync(file) || !statSync(file).isFile()) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream" });
  createReadStream(file).pipe(response);
}

/** What the SQL engine of the Perfetto UI says of a trace. */
async function askPerfetto(page, url) {
  await page.goto(`${origin}/perfetto/#!/?url=${encodeURIComponent(url)}`);
  await page.waitForFunction(() => globalThis.app?.trace?.engine !== undefined, { timeout: 120_000 });
  return page.evaluate(async (queries) => {
    const answers = {};
    for (const [name, query] of Object.entries(queries)) {
      const result = await globalThis.app.trace.engine.query(query);
      answers[name] = [];
      for (const row = result.iter({}); row.valid(); row.next()) {
        const plain = (value) => (typeof value === "bigint" ? Number(value) : value);
        answers[name].push(Object.fromEntries(result.columns().map((column) => [column, plain(row.get(column))])));
      }
    }
    return answers;
  }, QUERIES);
}

/** The title of the first thread that speedscope shows. */
async function openInSpeedscope(page, url) {
  const failures = [];
  page.on("dialog", (dialog) => {
    failures.push(dialog.message());
    dialog.dismiss();
  });
  await page.goto(`${origin}/speedscope/index.html#profileURL=${encodeURIComponent(url)}`);
  const title = await page.waitForFunction(() => /\(tid \d+\)[^\n]*/.exec(document.body.innerText)?.[0], { timeout: 60_000 });
  assert.deepEqual(failures, []);
  return title.jsonValue();
}

const server = createServer(answer);
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const origin = `http://127.0.0.1:${server.address().port}`;
const browsers = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const executablePath = process.env.CHROMIUM ?? browsers.map((name) => `/usr/bin/${name}`).find(existsSync);
const browser = await puppeteer.launch({
  executablePath,
  args: ["--no-sandbox", "--disable-dev-shm-usage", "--enable-unsafe-swiftshader"],
});
try {
  for (const [index, run] of runs.entries()) {
    const calls = readFileSync(run.calls, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));
    const timed = calls.filter((call) => call.started_at);
    const url = `${origin}/trace/${index}`;
    const page = await browser.newPage();
    const told = await askPerfetto(page, url);
    assert.deepEqual(told.errors, [], "the trace has errors");
    const wanted = timed.map((call) => ({ name: call.tool, ms: call.duration_ms ?? 0 }));
    assert.deepEqual(told.tools, wanted);
    const cost = calls.reduce((sum, call) => sum + (call.cost ?? 0), 0);
    assert((told.counters[0]?.most ?? 0) >= cost - 1e-9, "the counter of the cost is too low");
    assert(told.flows[0].count >= timed.length / 2, "flows are missing");
    await page.close();
    const other = await browser.newPage();
    console.log(`${run.trace}: ${told.tools.length} calls, ${await openInSpeedscope(other, url)}`);
    await other.close();
  }
} finally {
  await browser.close();
  server.close();
}
