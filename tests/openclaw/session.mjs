// Writes and loads session files with OpenClaw itself.
//
//   node session.mjs MODULE make FOLDER    writes a session with branches; prints its path
//   node session.mjs MODULE load FILE      prints everything that OpenClaw reads from it
//   node session.mjs MODULE go-on FILE     adds a turn at the leaf; prints as `load` does
//
// MODULE is the module of OpenClaw with its session manager. Its exports are minified, so the
// class is found by its `name`.
import { pathToFileURL } from "node:url";

const [module, verb, place] = process.argv.slice(2);
const exported = Object.values(await import(pathToFileURL(module)));
const SessionManager = exported.find((item) => item?.name === "SessionManager");

const usage = { input: 5, output: 2, cacheRead: 0, cacheWrite: 0, totalTokens: 7 };
const user = (content) => ({ role: "user", content, timestamp: 1780308000000 });
const says = (...content) => ({
  role: "assistant",
  content,
  api: "openai-responses",
  provider: "openai",
  model: "gpt",
  usage,
  stopReason: "toolUse",
  timestamp: 1780308001000,
});
const text = (text) => ({ type: "text", text });
const call = (id, name, input) => ({ type: "toolCall", id, name, arguments: input });
const result = (id, name, content, rest = {}) => ({
  role: "toolResult",
  toolCallId: id,
  toolName: name,
  content: [text(content)],
  isError: false,
  timestamp: 1780308002000,
  ...rest,
});

function make(folder) {
  const session = SessionManager.create("/work", folder);
  session.appendModelChange("openai", "gpt");
  session.appendMessage(user("Which files are there? äöü 🙂"));
  const asked = session.appendMessage(
    says(text("Looking."), call("call_1|fc_1", "read", { path: "a" }), call("call_2", "read", {})),
  );
  const listed = session.appendMessage(
    result("call_1|fc_1", "read", "a long listing of files\n".repeat(50)),
  );
  session.appendMessage(result("call_2", "read", "kept", { details: { lines: [1, 2] } }));
  session.appendMessage(says(text("Many files.")));
  session.appendLabelChange(asked, "here");
  session.branchWithSummary(listed, "went the other way");
  session.appendMessage(result("call_2", "read", "the same call on another branch"));
  session.appendMessage(
    says(call("trim_1", "dynamic_trim", { tool_call_id: "call_1|fc_1", replacement: "short" })),
  );
  session.appendMessage(result("trim_1", "dynamic_trim", '{"status":"queued"}'));
  session.appendMessage(says(text("Done.")));
  return session.getSessionFile();
}

function load(file) {
  const session = SessionManager.open(file);
  return {
    header: session.getHeader(),
    recovered: session.wasRecoveredFromCorruptHeader(),
    entries: session.getEntries(),
    leaf: session.getLeafId(),
    branch: session.getBranch().map((entry) => entry.id),
    roots: session.getTree().length,
    context: session.buildSessionContext(),
  };
}

function goOn(file) {
  const session = SessionManager.open(file);
  session.appendMessage(user("Go on."));
  session.appendMessage(says(text("Gone on.")));
}

if (verb === "go-on") goOn(place);
console.log(JSON.stringify(verb === "make" ? make(place) : load(place)));
