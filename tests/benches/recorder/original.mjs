// Writes events the way the original recorder does, in its own runtime: one
// event after the other, each with its checks, open, append and close.
// usage: node original.mjs EVENTS.jsonl OUT.jsonl  (prints events per second)
import { constants } from "node:fs";
import { lstat, open, readFile } from "node:fs/promises";
import path from "node:path";

const [, , input, output] = process.argv;
const events = (await readFile(input, "utf8")).trimEnd().split("\n").map((line) => JSON.parse(line));

async function checkFolders(folder) {
  for (let current = folder; current !== path.dirname(current); current = path.dirname(current)) {
    const facts = await lstat(current);
    if (!facts.isDirectory()) throw new Error("a folder above is not a folder");
  }
}

async function append(line) {
  await checkFolders(path.dirname(output));
  const before = await lstat(output).catch(() => undefined);
  const flags = constants.O_CREAT | constants.O_APPEND | constants.O_WRONLY | constants.O_NOFOLLOW;
  const file = await open(output, flags, 0o600);
  try {
    const opened = await file.stat();
    if (!opened.isFile() || opened.nlink > 1 || (before && before.ino !== opened.ino)) {
      throw new Error("the file is not the one that was looked at");
    }
    await file.chmod(0o600);
    await file.appendFile(line);
  } finally {
    await file.close();
  }
}

const started = process.hrtime.bigint();
for (const [index, event] of events.entries()) {
  const seq = index + 1;
  const envelope = { traceSchema: "openclaw-trajectory", schemaVersion: 1, traceId: "session-1" };
  Object.assign(envelope, { source: "runtime", type: event.type, ts: new Date().toISOString(), seq });
  Object.assign(envelope, { sourceSeq: seq, sessionId: "session-1", data: event.data });
  await append(JSON.stringify(envelope) + "\n");
}
const seconds = Number(process.hrtime.bigint() - started) / 1e9;
console.log(events.length / seconds);
