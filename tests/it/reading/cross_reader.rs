//! Every reader gives the same answers about the same session: `tail`,
//! `sessions`, `inspect`, `show`, and a fold of an exported bundle.
#![expect(clippy::disallowed_methods, reason = "tests look at their own temporary directories")]

mod gathered_files;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;
use traj_core::dialect::{Dialect, decode_manifest};
use traj_core::json::Json;
use traj_core::run::{FirstFailure, Fold, Place, Prices, Run, RunState};
use traj_core::timestamp::UnixMillis;
use traj_tests::export_home::{EXPORTS, ExportHome, result};
use traj_tests::session_fixtures::{SessionFixture, all};
use traj_tests::traj_binary::traj_command;

/// What a reader reports about a session.
#[derive(Clone, Debug, Default, PartialEq)]
struct Answers {
    session: Option<String>,
    agent: Option<String>,
    status: Option<String>,
    turns: u64,
    calls: u64,
    /// Failed, timed out, declined, interrupted, unanswered.
    outcomes: [u64; 5],
    model_calls: u64,
    /// Input, the cached part of it, output.
    tokens: [u64; 3],
    errors: usize,
    first_failure: Option<Failure>,
    started: Option<String>,
    ended: Option<String>,
}

/// The tool, outcome, exit code and start of a call; empty for an error.
#[derive(Clone, Debug, Default, PartialEq)]
struct Failure {
    tool: Option<String>,
    outcome: Option<String>,
    exit_code: Option<i64>,
    started: Option<String>,
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

impl Answers {
    /// Members that `sessions` and `inspect` share.
    fn common(value: &Value) -> Self {
        let (calls, usage) = (&value["calls"], &value["usage"]);
        let outcomes = ["errors", "timedOut", "declined", "interrupted", "unanswered"];
        let mut outcomes = outcomes.map(|name| number(&calls[name]));
        outcomes[0] -= outcomes[1];
        let tokens = ["inputTokens", "cachedTokens", "outputTokens"];
        Self {
            session: None,
            agent: text(&value["agent"]),
            status: text(&value["status"]),
            turns: number(&value["turns"]),
            calls: number(&calls["calls"]),
            outcomes,
            model_calls: number(&usage["calls"]),
            tokens: tokens.map(|name| number(&usage[name])),
            errors: 0,
            first_failure: None,
            started: text(&value["startedAt"]),
            ended: text(&value["endedAt"]),
        }
    }

    fn of_sessions(value: &Value) -> Self {
        let failure = Some(&value["firstFailure"]).filter(|failure| !failure.is_null());
        let first_failure = failure.map(|failure| Failure {
            tool: text(&failure["tool"]),
            outcome: text(&failure["outcome"]),
            exit_code: failure["exitCode"].as_i64(),
            started: text(&failure["at"]).filter(|_| !failure["tool"].is_null()),
        });
        let errors = usize::try_from(number(&value["errorCount"])).unwrap();
        let session = text(&value["sessionId"]);
        Self { session, errors, first_failure, ..Self::common(value) }
    }

    fn of_inspect(value: &Value) -> Self {
        let errors = value["errors"].as_array().unwrap().len();
        let session = text(&value["sessionId"]);
        Self { session, errors, ..Self::of_summary(value) }
    }

    /// `show` does not count errors, so the caller passes the number.
    fn of_show(value: &Value, errors: usize) -> Self {
        Self { session: text(&value["session"]), errors, ..Self::of_summary(value) }
    }

    /// Members that `inspect` and `show` share.
    fn of_summary(value: &Value) -> Self {
        let failure = Some(&value["firstFailure"]).filter(|failure| !failure.is_null());
        let first_failure = failure.map(|failure| {
            let call = &failure["call"];
            Failure {
                tool: text(&call["tool"]),
                outcome: text(&call["outcome"]),
                exit_code: call["exitCode"].as_i64(),
                started: text(&call["startedAt"]),
            }
        });
        Self { first_failure, ..Self::common(value) }
    }

    fn of_run(run: &Run) -> Self {
        let (calls, usage) = (&run.calls, run.usage());
        let first_failure = run.first_failure.as_ref().map(|failure| match failure {
            FirstFailure::Call(call) => Failure {
                tool: Some(call.tool.clone()),
                outcome: Some(call.outcome.to_owned()),
                exit_code: call.exit_code,
                started: call.started_at.map(UnixMillis::to_iso),
            },
            _ => Failure::default(),
        });
        Self {
            session: run.session.clone(),
            agent: run.agent.clone(),
            status: run.status.as_ref().map(RunState::as_str).map(str::to_owned),
            turns: run.turns,
            calls: calls.calls,
            outcomes: [
                calls.failed,
                calls.timed_out,
                calls.declined,
                calls.interrupted,
                calls.unanswered,
            ],
            model_calls: run.models.calls,
            tokens: [usage.input, usage.cached, usage.output],
            errors: run.errors.len(),
            first_failure,
            started: run.started_at.map(UnixMillis::to_iso),
            ended: run.ended_at.map(UnixMillis::to_iso),
        }
    }
}

fn home_with(fixture: &SessionFixture) -> ExportHome {
    let home = ExportHome::new();
    home.folder.write("s1.jsonl", fixture.transcript.join("\n") + "\n").unwrap();
    home.folder.remove_file("s1.trajectory.jsonl").unwrap();
    if !fixture.sidecar.is_empty() {
        home.folder.write("s1.trajectory.jsonl", fixture.sidecar.join("\n") + "\n").unwrap();
    }
    home
}

fn listed(home: &ExportHome) -> Answers {
    let sessions = result(&home.traj(&["sessions", "s1.jsonl", "--json"]));
    Answers::of_sessions(&sessions["result"]["sessions"][0])
}

fn inspected(home: &ExportHome) -> Answers {
    Answers::of_inspect(&result(&home.traj(&["inspect", "s1.jsonl", "--json"]))["result"])
}

fn shown(home: &ExportHome, errors: usize) -> Answers {
    let shown = result(&home.traj(&["show", "s1.jsonl", "--json"]));
    Answers::of_show(&shown["result"]["run"], errors)
}

/// The manifest and the events of an exported bundle, folded.
fn exported(home: &ExportHome) -> Answers {
    assert!(home.export(&["--output", "b"]).status.success());
    let events = home.folder.read_to_string(format!("{EXPORTS}/b/events.jsonl")).unwrap();
    let manifest = home.folder.read_to_string(format!("{EXPORTS}/b/manifest.json")).unwrap();
    let mut fold = Fold::new(Prices::shipped());
    decode_manifest(&Json::parse(&manifest).unwrap(), &mut |event| fold.push(&event));
    for (line, row) in (1..).zip(events.lines()) {
        let row = Json::parse(row).unwrap();
        Dialect::Bundle.decode(&row, Place::line(line), &mut |event| fold.push(&event));
    }
    Answers::of_run(&fold.finish())
}

/// What `tail` prints, line by line.
fn tailed(home: &ExportHome) -> Vec<Value> {
    let arguments = ["tail", "--session", "s1.jsonl", "--transcript", "--json", "-n", "100000"];
    let output = home.traj(&arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// `tail` shows rows, so something that both files record appears twice. Its
/// calls, tokens, errors and times must agree with the other readers.
fn check_tail(lines: &[Value], answers: &Answers, name: &str) {
    let mut calls: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for line in lines {
        if let Some(id) = text(&line["callId"]) {
            calls.entry(id).or_default().extend(line["outcome"].as_str());
        }
    }
    // A command that a person typed has no id.
    let is_typed = |line: &&Value| line["type"] == "message.bashExecution";
    let typed = lines.iter().filter(is_typed).count();
    assert_eq!((calls.len() + typed) as u64, answers.calls, "{name}: calls");
    let counted = ["failed", "timedOut", "declined", "interrupted"].map(|outcome| {
        calls.values().filter(|outcomes| outcomes.contains(&outcome)).count() as u64
    });
    let unanswered = calls.values().filter(|outcomes| outcomes.is_empty()).count() as u64;
    let [failed, timed_out, declined, interrupted] = counted;
    assert_eq!(
        [failed, timed_out, declined, interrupted, unanswered],
        answers.outcomes,
        "{name}: outcomes"
    );
    // Each file states tokens once; rows that repeat an answer repeat its tokens.
    let mut tokens: BTreeMap<String, BTreeSet<(usize, u64, u64)>> = BTreeMap::new();
    let mut repeated = BTreeMap::new();
    for line in lines.iter().filter(|line| line["inputTokens"].is_u64()) {
        let witness = format!("{}{}", line["origin"], line["type"]);
        let used = (number(&line["inputTokens"]), number(&line["outputTokens"]));
        let times: &mut usize = repeated.entry((witness.clone(), used)).or_default();
        *times += 1;
        let is_repeat = name.contains("new generation") && *times > 1;
        if !is_repeat {
            tokens.entry(witness).or_default().insert((*times, used.0, used.1));
        }
    }
    let sums: Vec<[u64; 2]> = tokens
        .values()
        .map(|used| {
            used.iter().fold([0, 0], |sum, (_, input, output)| [sum[0] + input, sum[1] + output])
        })
        .collect();
    let expected = [answers.tokens[0], answers.tokens[2]];
    // pi states the tokens of each call in one row, but in rows of several types.
    let all = sums.iter().fold([0, 0], |sum, used| [sum[0] + used[0], sum[1] + used[1]]);
    let is_split = name == "pi/session" && all == expected;
    // A counter for the whole session does not say what a line added to it.
    let is_silent = expected == [0, 0] || name == "copilot/old";
    assert!(
        is_split || sums.contains(&expected) || (sums.is_empty() && is_silent),
        "{name}: {sums:?} are not {expected:?} tokens"
    );
    let errors = lines.iter().filter(|line| line["outcome"].is_null());
    let errors: BTreeSet<_> = errors.filter_map(|line| text(&line["error"])).collect();
    assert_eq!(errors.len(), answers.errors, "{name}: errors");
    let failure = lines.iter().find(|line| line["severity"] == "error");
    assert_eq!(failure.is_some(), answers.first_failure.is_some(), "{name}: first failure");
    if let (Some(line), Some(failure)) = (failure, &answers.first_failure) {
        assert_eq!(text(&line["outcome"]), failure.outcome, "{name}: first failure");
        assert_eq!(line["exitCode"].as_i64(), failure.exit_code, "{name}: first failure");
    }
    // A header states when the file was created.
    let headers = ["session", "sessions", "session_meta", "session.start", "session.resume"];
    let times = lines.iter().filter(|line| !headers.iter().any(|kind| line["type"] == *kind));
    let times: BTreeSet<String> = times.filter_map(|line| text(&line["at"])).collect();
    assert_eq!(times.first(), answers.started.as_ref(), "{name}: start");
    assert_eq!(times.last(), answers.ended.as_ref(), "{name}: end");
}

#[test]
fn every_reader_gives_the_same_answers() {
    for fixture in all() {
        let (home, name) = (home_with(&fixture), fixture.name);
        let answers = inspected(&home);
        assert_eq!(listed(&home), answers, "{name}: sessions and inspect");
        assert_eq!(exported(&home), answers, "{name}: the bundle and inspect");
        assert_eq!(shown(&home, answers.errors), answers, "{name}: show and inspect");
        // A line of `tail` shows one call, and these rows hold several.
        let holds_several = ["gemini-cli/rows", "continue/rows"].contains(&name);
        if fixture.is_straight && !holds_several {
            check_tail(&tailed(&home), &answers, name);
        }
    }
}

#[test]
fn the_answers_are_the_right_ones() {
    let answers: BTreeMap<_, _> =
        all().iter().map(|fixture| (fixture.name, listed(&home_with(fixture)))).collect();
    for name in ["version 3 alone", "version 3 and a sidecar", "version 2", "version 1"] {
        let answers = &answers[name];
        assert_eq!((answers.calls, answers.outcomes), (2, [1, 0, 0, 0, 0]), "{name}");
        // Input includes cached tokens; model calls that the sidecar repeats count once.
        assert_eq!((answers.model_calls, answers.tokens), (3, [500, 180, 23]), "{name}");
        assert_eq!(answers.first_failure.as_ref().unwrap().exit_code, Some(3), "{name}");
    }
    let killed = &answers["a run that was killed"];
    assert_eq!(killed.status.as_deref(), Some("open"));
    assert_eq!((killed.calls, killed.outcomes[4]), (3, 1));
    let refused = &answers["a prompt that was refused"];
    assert_eq!((refused.status.as_deref(), refused.errors), (Some("error"), 1));
    assert_eq!(answers["a call that took too long"].outcomes, [0, 1, 0, 0, 0]);
    for (name, tokens) in [("old", [30, 12, 5]), ("new", [20, 0, 5])] {
        let rollout = &answers[&*format!("a rollout of the {name} generation")];
        assert_eq!((rollout.turns, rollout.calls, rollout.tokens), (1, 1, tokens), "{name}");
        assert_eq!(rollout.outcomes[0], 1, "{name}");
    }
    assert_eq!(answers["a branch that was left"].outcomes, [0; 5]);
}

#[test]
fn the_shipped_example_is_read_alike() {
    let home = ExportHome::new();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("examples/run");
    home.folder.remove_file("s1.trajectory.jsonl").unwrap();
    fs::copy(example.join("session.jsonl"), home.path().join("s1.jsonl")).unwrap();
    let recorded = traj_command(home.path())
        .args(["record", "--session", "s1.jsonl", "--session-id", "nightly-import"])
        .stdin(Stdio::from(fs::File::open(example.join("events.jsonl")).unwrap()))
        .output()
        .unwrap();
    assert!(recorded.status.success(), "{}", String::from_utf8_lossy(&recorded.stderr));
    let answers = inspected(&home);
    assert_eq!((answers.status.as_deref(), answers.calls), (Some("success"), 4));
    assert_eq!(answers.outcomes[0], 1);
    assert_eq!(listed(&home), answers);
    assert_eq!(exported(&home), answers);
    assert_eq!(shown(&home, answers.errors), answers);
    check_tail(&tailed(&home), &answers, "the example");
}
