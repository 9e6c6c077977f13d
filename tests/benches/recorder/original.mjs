// Writes events as OpenClaw's recorder does, in Node: one event after the other,
// each with sanitising, checks, open, append and close.
// usage: node original.mjs EVENTS.jsonl OUT.jsonl  (prints events per second)
import { constants } from "node:fs";
import { lstat, open, readFile } from "node:fs/promises";
import path from "node:path";

const [, , input, output] = process.argv;
const events = (await readFile(input, "utf8")).trimEnd().split("\n").map((line) => JSON.parse(line));

const SECRET_NAME = /authorization|cookie|credential|key|password|passwd|secret|token/iu;
const PAYLOAD_NAME = /image|screenshot|attachment|fileData|dataUri/iu;
const SCHEME = /\b(bearer|basic)\s+[\w+/.~=-]{8,}/giu;
const WEB_TOKEN = /\beyJ[\w-]{10,}(?:\.[\w-]{10,}){2}\b/gu;
const COOKIE = /\b([A-Za-z][\w.-]{1,64})=[\w+/.~%=-]{16,}(?=[;\s]|$)/gu;

function sanitise(value, depth, name) {
  if (typeof value === "string") {
    if (SECRET_NAME.test(name)) return "<redacted>";
    if (value.startsWith("data:") && value.length > 256) return "<redacted data-uri>";
    if (PAYLOAD_NAME.test(name) && value.length > 256) return "<redacted payload>";
    const schemeless = value.replace(SCHEME, "$1 <redacted>");
    const text = schemeless.replace(WEB_TOKEN, "<redacted-jwt>").replace(COOKIE, "$1=<redacted>");
    return text.length > 20000 ? text.slice(0, 20000) + "…" : text;
  }
  if (value === null || typeof value !== "object") return value;
  if (depth >= 6) return "<truncated>";
  if (Array.isArray(value)) return value.slice(0, 100).map((item) => sanitise(item, depth + 1, name));
  const members = Object.entries(value).slice(0, 100);
  return Object.fromEntries(members.map(([name, item]) => [name, sanitise(item, depth + 1, name)]));
}

async function checkFolders(folder) {
  const above = path.relative("/", folder).split(path.sep);
  for (let count = 1; count <= above.length; count += 1) {
    const facts = await lstat("/" + above.slice(0, count).join("/"));
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
  Object.assign(envelope, { sourceSeq: seq, sessionId: "session-1", data: sanitise(event.data, 0, "") });
  await append(JSON.stringify(envelope) + "\n");
}
const seconds = Number(process.hrtime.bigint() - started) / 1e9;
console.log(events.length / seconds);
