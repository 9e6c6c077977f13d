//! The common scenario, and what must be read of it.

use std::path::{Path, PathBuf};

use rustix::process::Signal;
use traj_tests::agents::{
    AGREE, Agent, AgentSandbox, COUNT, DELEGATE, GO_ON, LONG, NOTE, REFUSE, REPAIR, SECRETS,
    SUMMARY, Served, Step, WAIT,
};

use super::compare::{Reading, served_by, shown, texts_of, tokens_of, traj};
use super::expected::Expected;
use super::sandbox_after;

/// The scripts of the main conversation, and of its sub-agent.
const CONVERSATION: [&str; 4] = [REPAIR, NOTE, DELEGATE, COUNT];

/// Lists, reads secrets, fails, edits, succeeds; a follow-up and a sub-agent in new processes.
pub(super) fn conversation(agent: Agent) {
    let expected = Expected::of(agent);
    let Some(sandbox) = sandbox_after(agent, Step::First(REPAIR)) else { return };
    let mut steps = vec![Step::Next(NOTE)];
    steps.extend(expected.has_helpers.then_some(Step::Next(DELEGATE)));
    for step in &steps {
        let output = sandbox.run(*step).expect("every agent goes on");
        assert!(output.status.success(), "{agent:?} {step:?}: {}", shown(&output));
    }
    let session = newest(&sandbox);
    let reading = Reading::of(&session, &sandbox);
    let served = served_by(&sandbox, &CONVERSATION);
    assert_eq!(reading.inspected["dialect"], expected.dialect, "{}", session.display());
    check_words(agent, &reading, &served);
    check_calls(agent, &reading, &served);
    if expected.keeps_tokens {
        let kept = expected.kept(agent, tokens_of(&served));
        let read = expected.kept(agent, reading.tokens());
        assert_eq!(read, kept, "{agent:?}: the tokens of {} answers", served.len());
    }
    if expected.has_helpers {
        assert!(!reading.inspected["subRuns"].as_object().expect("a map").is_empty(), "{agent:?}");
    }
    check_export(agent, &session, &sandbox);
}

/// Prompts and texts, in the order in which they were said.
fn check_words(agent: Agent, reading: &Reading, served: &[Served]) {
    let prompts = texts_of(&reading.steps("prompt"));
    for prompt in [REPAIR, NOTE] {
        let found = prompts.iter().filter(|text| text.contains(prompt)).count();
        assert_eq!(found, 1, "{agent:?}: {prompt:?} among {prompts:?}");
    }
    let mut texts = texts_of(&reading.steps("text")).into_iter();
    for text in served.iter().filter(|one| one.script != COUNT).filter_map(|one| one.text.as_ref())
    {
        assert!(texts.any(|said| said.trim() == text), "{agent:?}: {text:?} was said, in order");
    }
}

/// Every call once, with its tool, id, command and outcome.
fn check_calls(agent: Agent, reading: &Reading, served: &[Served]) {
    let expected = Expected::of(agent);
    let calls = reading.steps("call");
    let asked: Vec<_> = served.iter().flat_map(|one| &one.calls).collect();
    let named = |tool: &str| calls.iter().filter(|call| call["tool"] == tool).count();
    for call in &asked {
        let of_tool = asked.iter().filter(|other| other.tool == call.tool).count();
        assert_eq!(named(&call.tool), of_tool, "{agent:?}: calls of {}", call.tool);
        if expected.keeps_ids {
            let with_id = calls.iter().filter(|read| read["id"] == *call.id).count();
            assert_eq!(with_id, 1, "{agent:?}: {call:?}");
        }
    }
    assert_eq!(calls.len(), asked.len(), "{agent:?}");
    assert_eq!(reading.inspected["calls"]["calls"], asked.len(), "{agent:?}");
    let checks: Vec<_> = calls.iter().filter(|call| call["command"] == "sh check.sh").collect();
    assert_eq!(checks.len(), 2, "{agent:?}: the check ran twice");
    let output = checks[0]["output"]["text"].as_str().unwrap_or_default();
    assert!(output.contains("expected 5, got -1"), "{agent:?}: {}", checks[0]);
    if expected.marks_failures {
        assert_eq!(
            (&checks[0]["outcome"], &checks[1]["outcome"]),
            (&"failed".into(), &"ok".into()),
            "{agent:?}: {checks:?}"
        );
        let failed = &reading.inspected["failed"];
        assert_eq!(reading.inspected["calls"]["errors"], 1, "{agent:?}: {failed}");
    }
    if expected.keeps_exit_codes {
        assert_eq!(checks[0]["exitCode"], 3, "{agent:?}: {}", checks[0]);
    }
}

/// A bundle of the session is sound and contains none of the planted secrets.
fn check_export(agent: Agent, session: &Path, sandbox: &AgentSandbox) {
    let folder = sandbox.workspace();
    let workspace = folder.to_string_lossy();
    let exported = traj(sandbox)
        .args(["export", "--output-root", "bundles", "--output", "sent", "--workspace", &workspace])
        .arg(session)
        .output()
        .expect("traj starts");
    assert!(exported.status.success(), "{agent:?}: {}", shown(&exported));
    let bundle = sandbox.home().join("bundles/sent");
    let verified = traj(sandbox).arg("verify").arg(&bundle).output().expect("traj starts");
    assert!(verified.status.success(), "{agent:?}: {}", shown(&verified));
    for file in files_in(&bundle) {
        let bytes = read(&file);
        for (front, back) in SECRETS {
            let is_kept = has(&bytes, back.as_bytes());
            assert!(!is_kept, "{agent:?}: {front}… is in {}", file.display());
        }
    }
    let whole = Reading::of(session, sandbox);
    let sent = Reading::of(&bundle, sandbox);
    for member in ["calls", "turns", "usageByModel", "subRuns"] {
        assert_eq!(sent.inspected[member], whole.inspected[member], "{agent:?}: {member}");
    }
}

/// A model that refuses, and a process that is killed while a command runs.
pub(super) fn faults(agent: Agent) {
    let expected = Expected::of(agent);
    let Some(sandbox) = AgentSandbox::new(agent) else { return };
    if expected.keeps_refusals {
        drop(sandbox.run(Step::First(REFUSE)).expect("every agent takes a prompt"));
        let reading = Reading::of(&newest(&sandbox), &sandbox);
        assert!(!reading.inspected["firstFailure"].is_null(), "{agent:?}: the model refused");
    }
    if expected.keeps_unanswered_calls {
        drop(sandbox.stop(Step::First(WAIT), WAIT, Signal::KILL).expect("it takes a prompt"));
        let reading = Reading::of(&newest(&sandbox), &sandbox);
        let calls = &reading.inspected["calls"];
        let open =
            calls["unanswered"].as_u64().unwrap_or(0) + calls["interrupted"].as_u64().unwrap_or(0);
        assert_eq!((open, &calls["errors"]), (1, &0.into()), "{agent:?}: {calls}");
    }
}

/// Output that the agent keeps in a separate file is read with its call, to the last line.
pub(super) fn long_output(agent: Agent) {
    let Some(sandbox) = sandbox_after(agent, Step::First(LONG)) else { return };
    let reading = Reading::of(&newest(&sandbox), &sandbox);
    let calls = reading.steps("call");
    assert_eq!(calls.len(), 1, "{agent:?}");
    let output = calls[0]["output"]["text"].as_str().unwrap_or_default();
    let (first, last) = (output.lines().next(), output.lines().last());
    assert_eq!((first, last), (Some("100000"), Some("130000")), "{agent:?}: {}", output.len());
    assert_eq!(output.lines().count(), 30_001, "{agent:?}");
}

/// A summary replaces the conversation, which then goes on in a new process.
pub(super) fn compaction(agent: Agent) {
    let expected = Expected::of(agent);
    let Some(sandbox) = sandbox_after(agent, Step::First(REPAIR)) else { return };
    for step in [Step::Compact, Step::Next(NOTE)] {
        let output = sandbox.run(step).expect("it summarises");
        assert!(output.status.success(), "{agent:?} {step:?}: {}", shown(&output));
    }
    let own: &[&str] = if expected.goes_on { &[GO_ON] } else { &[] };
    let served = served_by(&sandbox, &[&[REPAIR, AGREE, NOTE], own].concat());
    let summaries = served_by(&sandbox, &[SUMMARY]);
    assert!(!summaries.is_empty(), "{agent:?}: {:?}", sandbox.model.served());
    let reading = Reading::of(&newest(&sandbox), &sandbox);
    let compactions = usize::from(expected.keeps_compactions);
    assert_eq!(reading.steps("compaction").len(), compactions, "{agent:?}: {:?}", reading.steps);
    check_words(agent, &reading, &served);
    let calls: usize = served.iter().map(|one| one.calls.len()).sum();
    assert_eq!(reading.inspected["calls"]["calls"], calls, "{agent:?}: none counts twice");
    let counted = match expected.keeps_tokens_of_summaries {
        true => [served, summaries].concat(),
        false => served,
    };
    let kept = expected.kept(agent, tokens_of(&counted));
    let read = expected.kept(agent, reading.tokens());
    assert_eq!(read, kept, "{agent:?}: the tokens of {} answers", counted.len());
}

/// The totals of a session, and of the copy in which a step continues, are what the model
/// served to both.
pub(super) fn copies(agent: Agent, step: Step) {
    let Some(sandbox) = sandbox_after(agent, Step::First(REPAIR)) else { return };
    drop(sandbox.run(step).expect("it copies the session"));
    let sessions = listed(&sandbox);
    assert_eq!(sessions.len(), 2, "{agent:?}: {sessions:?}");
    let sum = |name: &str| -> u64 {
        sessions.iter().filter_map(|session| session["usage"][name].as_u64()).sum()
    };
    let served = tokens_of(&served_by(&sandbox, &[REPAIR, NOTE]));
    assert_eq!(
        (sum("inputTokens"), sum("outputTokens")),
        (served.input, served.output),
        "{agent:?}"
    );
}

/// The newest session: a file, or a session in a database as `traj sessions` names it.
fn newest(sandbox: &AgentSandbox) -> PathBuf {
    let file = sandbox.sessions().pop().expect("the agent wrote a session");
    if file.extension().is_none_or(|extension| extension != "db" && extension != "sqlite") {
        return file;
    }
    let sessions = listed(sandbox);
    PathBuf::from(sessions[0]["sessionFile"].as_str().expect("a session has a name"))
}

/// The sessions that `traj sessions` lists, newest first.
fn listed(sandbox: &AgentSandbox) -> Vec<serde_json::Value> {
    let output = traj(sandbox).args(["sessions", "--json"]).output().expect("traj starts");
    assert!(output.status.success(), "{}", shown(&output));
    let listed: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a document");
    listed["result"]["sessions"].as_array().expect("a list").clone()
}

fn has(bytes: &[u8], needle: &[u8]) -> bool {
    bytes.windows(needle.len()).any(|window| window == needle)
}

#[expect(clippy::disallowed_methods, reason = "a test's own temporary directory")]
fn files_in(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a bundle").flatten() {
        let path = entry.path();
        if path.is_dir() { files.extend(files_in(&path)) } else { files.push(path) }
    }
    files
}

#[expect(clippy::disallowed_methods, reason = "a test's own temporary directory")]
fn read(file: &Path) -> Vec<u8> {
    std::fs::read(file).expect("a file of the bundle")
}
