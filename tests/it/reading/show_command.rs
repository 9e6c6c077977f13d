//! `traj show`: the conversation at several widths, and if there is none.
#![expect(clippy::disallowed_methods, reason = "the example is in the repository")]

mod context;
use std::path::Path;

use insta::assert_snapshot;
use regex::Regex;
use traj_tests::export_home::{EXPORTS, ExportHome as Home, result};
use traj_tests::rows::{
    self, ROLLOUT_CALL, ROLLOUT_RESULT, assistant, at, message, next_message, rollout, user,
};
use traj_tests::traj_binary::{printed, traj_command};

const SECRET: &str = "ghp_R7kQ2mVx9LtB4nZc8WpY1sHd6GfJ3aKe5TuN";

/// A home with a run that fails: approvals, wide characters, a long output, a
/// secret, terminal control characters, a model without a price.
fn failing_run() -> Home {
    let home = Home::new();
    let row = |number: u32, message: &str| {
        next_message(number, message).text("timestamp", &at(number * 2)).json()
    };
    let call = |model: &str, text: &str, id: &str, command: &str| {
        format!(
            r#"{{"role":"assistant","provider":"openai","model":"{model}","content":[{{"type":"thinking","thinking":"Try it."}},{{"type":"text","text":"{text}"}},{{"type":"toolCall","id":"{id}","name":"shell","arguments":{{"command":"{command}"}}}}],"usage":{{"input":12000,"output":50,"cacheRead":2000}}}}"#
        )
    };
    let answer = |id: &str, text: &str, code: u32| {
        format!(
            r#"{{"role":"toolResult","toolCallId":"{id}","toolName":"shell","content":[{{"type":"text","text":"{text}"}}],"isError":false,"details":{{"exitCode":{code}}}}}"#
        )
    };
    let mut lines: Vec<String> = (1..=30).map(|line| format!("line {line}")).collect();
    lines[1] = format!("token {SECRET} found");
    let wide = "テストを実行します: 日本語の長い文章は二桁の幅を取ります。";
    let hostile = r"no rule \u001b]0;title\u0007 \u202eabc";
    home.put_session(&[
        row(0, &user("Run the tests.").json()),
        row(1, &call("gpt-5.4", wide, "c1", "ls")),
        row(2, &answer("c1", &lines.join("\\n"), 0)),
        row(3, &call("house-model", "Now the tests.", "c2", "make test")),
        row(4, &answer("c2", hostile, 3)),
        row(5, &user("Stop.").json()),
    ]);
    let event = |kind: &str, time: &str, seq: u32, data: &str| {
        let ts = format!("2026-06-01T10:00:{time}Z");
        rows::event(kind, &ts, seq).with("data", data).json()
    };
    let events = [
        event("session.started", "00", 1, "{}"),
        event(
            "tool.call",
            "06.100",
            2,
            r#"{"toolCallId":"c2","name":"shell","arguments":{"command":"make test"}}"#,
        ),
        event(
            "approval.asked",
            "06.200",
            3,
            r#"{"approvalId":"a1","toolCallId":"c2","subject":"make test"}"#,
        ),
        event(
            "approval.decided",
            "07.000",
            4,
            r#"{"approvalId":"a1","toolCallId":"c2","subject":"make test","decision":"approved","decidedBy":"user","deciderName":"alice","scope":"once"}"#,
        ),
        event("tool.result", "07.600", 5, r#"{"toolCallId":"c2","name":"shell","success":true}"#),
        event("session.ended", "12", 6, r#"{"status":"interrupted"}"#),
    ];
    home.folder.write("s1.trajectory.jsonl", events.join("\n") + "\n").unwrap();
    home
}

/// What `show` prints of the run, with times of Berlin. The hashes of markers are
/// masked, because each home has its own key.
fn shown(home: &Home, columns: u32, more: &[&str]) -> String {
    let mut command = traj_command(home.path());
    command.env("COLUMNS", columns.to_string()).env("TZ", "CET-1CEST,M3.5.0,M10.5.0/3");
    let output = command.args(["show", "s1.jsonl"]).args(more).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let digits = Regex::new("(<redacted:[a-z-]+:)[0-9a-f]{6}").unwrap();
    digits.replace_all(&printed(&output), "${1}######").into_owned()
}

#[test]
fn the_conversation_fits_the_terminal() {
    let home = failing_run();
    for columns in [60, 100, 200] {
        let plain = shown(&home, columns, &[]);
        assert!(!plain.contains(|character: char| character.is_control() && character != '\n'));
        assert_snapshot!(format!("show_{columns}"), plain);
        let colored = shown(&home, columns, &["--color", "always"]);
        assert_snapshot!(format!("show_{columns}_colored"), colored.replace('\u{1b}', "␛"));
    }
}

#[test]
fn flags_choose_what_is_shown() {
    let home = failing_run();
    let failed = shown(&home, 100, &["--failed"]);
    assert!(failed.contains("exit 3 · 1.5 s · id c2"), "{failed}");
    assert!(failed.contains("> Run the tests."), "what led to it: {failed}");
    let turn = shown(&home, 100, &["--turn", "2"]);
    assert!(turn.contains("> Stop.") && !turn.contains("make test"), "{turn}");
    let call = shown(&home, 100, &["--call", "c1"]);
    assert!(call.contains("line 15") && !call.contains("hidden"), "{call}");
    assert!(call.starts_with("$ shell ls\n"), "nothing else: {call}");
    assert!(shown(&home, 100, &["--full"]).contains("line 15"));
    assert!(!shown(&home, 100, &[]).contains("~ Try it."));
    assert!(shown(&home, 100, &["--reasoning"]).contains("~ Try it."));
    for unknown in [["--turn", "9"], ["--call", "c9"]] {
        let output = home.traj(&["show", "s1.jsonl", unknown[0], unknown[1], "--json"]);
        assert_eq!(output.status.code(), Some(1));
        assert!(!result(&output)["error"]["hints"].as_array().unwrap().is_empty());
    }
}

#[test]
fn a_failure_is_shown_from_what_led_to_it() {
    let home = failing_run();
    let mut rows: Vec<String> = Vec::new();
    let session = home.folder.read_to_string("s1.jsonl").unwrap();
    // An earlier turn, in which nothing failed.
    for (index, row) in session.lines().enumerate() {
        rows.push(row.to_owned());
        if index == 0 {
            rows.extend([
                message("p0", None, 0, user("Say hello.")).replace("T10", "T09"),
                message("p1", Some("p0"), 2, assistant(r#"{"type":"text","text":"Hello."}"#))
                    .replace("T10", "T09"),
            ]);
        }
    }
    let rows =
        rows.join("\n").replace(r#""id":"m0","parentId":null"#, r#""id":"m0","parentId":"p1""#);
    home.folder.write("s1.jsonl", rows).unwrap();
    assert!(shown(&home, 100, &[]).contains("Hello."));
    let failed = shown(&home, 100, &["--failed"]);
    assert!(!failed.contains("Hello."), "{failed}");
    assert!(failed.contains("── turn 2") && failed.contains("exit 3"), "{failed}");
    // `inspect` reports the same failure.
    let inspected = result(&home.traj(&["inspect", "s1.jsonl", "--json"]));
    let document = result(&home.traj(&["show", "s1.jsonl", "--failed", "--json"]));
    let steps = document["result"]["steps"].as_array().unwrap();
    let first = steps.iter().find(|step| step["isFirstFailure"] == true).unwrap();
    assert_eq!(first["id"], inspected["result"]["firstFailure"]["call"]["callId"]);
    assert_eq!(first["id"], "c2");
}

#[test]
fn an_error_may_be_the_first_failure() {
    let home = Home::new();
    let rows = [
        message("a", None, 1, r#"{"role":"user","content":"Go on."}"#),
        message(
            "b",
            Some("a"),
            2,
            r#"{"role":"assistant","content":[],"stopReason":"error","errorMessage":"overloaded"}"#,
        ),
        message("c", Some("b"), 3, r#"{"role":"user","content":"Once more."}"#),
    ];
    home.put_session(&rows);
    let failed = shown(&home, 100, &["--failed"]);
    assert!(failed.contains("> Go on.\n\n! error: overloaded\n"), "{failed}");
    assert_eq!(failed.matches("! error").count(), 1, "{failed}");
}

#[test]
fn the_document_says_what_the_text_says() {
    let home = failing_run();
    let document = result(&home.traj(&["show", "s1.jsonl", "--json"]));
    let (run, steps) = (&document["result"]["run"], &document["result"]["steps"]);
    assert_eq!((&run["status"], &run["turns"]), (&"interrupted".into(), &2.into()));
    assert_eq!(run["usage"].get("cost"), None, "one model has no price");
    let steps = steps.as_array().unwrap();
    let of = |kind: &str| steps.iter().filter(|step| step["kind"] == kind).collect::<Vec<_>>();
    let costs: Vec<_> = of("modelCall").iter().map(|step| step["cost"].is_number()).collect();
    assert_eq!(costs, [true, false]);
    let approval = of("approval")[0];
    assert_eq!(
        (&approval["decision"], &approval["waitedMillis"]),
        (&"approved".into(), &800.into())
    );
    assert_eq!(approval["decider"], "alice");
    assert_eq!(of("approval").len(), 1);
    assert_eq!(of("turn").len(), 2);
}

#[test]
fn every_form_of_a_bundle_is_shown() {
    let home = failing_run();
    let session = shown(&home, 100, &[]);
    for form in [&["--output", "b"][..], &["--archive", "zip"], &["--archive", "tar.zst"]] {
        let output = home.export(form);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(home.exports().len(), 3);
    for name in home.exports() {
        let mut command = traj_command(home.path());
        command.env("COLUMNS", "100").env("TZ", "CET-1CEST,M3.5.0,M10.5.0/3");
        let output = command.args(["show", &format!("{EXPORTS}/{name}")]).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{name}");
        let same = |text: &str| text.lines().filter(|line| !line.contains("redacted")).count();
        assert_eq!(same(&printed(&output)), same(&session), "{name}");
    }
}

#[test]
fn no_text_of_a_run_controls_the_terminal() {
    // A title, a colour, a link, a line that overwrites itself, a bidi override.
    let hostile =
        r"\u001b]0;t\u0007\u001b[31m\u001b]8;;x\u001b\\\\a\rb\u009b2J\u202ec\u2066d\u200fe";
    let session = r#"{"type":"message","id":"a","parentId":null,"timestamp":"2026-06-01T10:00:01.000Z","message":{"role":"user","content":"@"}}
{"type":"message","id":"b","parentId":"a","timestamp":"2026-06-01T10:00:02.000Z","message":{"role":"assistant","provider":"p@","model":"m@","content":[{"type":"thinking","thinking":"@"},{"type":"text","text":"@"},{"type":"toolCall","id":"c@","name":"tool@","arguments":{"command":"run @"}}],"usage":{"input":1,"output":1}}}
{"type":"message","id":"c","parentId":"b","timestamp":"2026-06-01T10:00:03.000Z","message":{"role":"toolResult","toolCallId":"c@","toolName":"tool@","content":[{"type":"text","text":"@\n@"}],"isError":true,"details":{"error":"@"}}}
{"type":"model_change","id":"d","parentId":"c","timestamp":"2026-06-01T10:00:04.000Z","provider":"p@","modelId":"n@"}
{"type":"compaction","id":"e","parentId":"d","timestamp":"2026-06-01T10:00:05.000Z","summary":"@","firstKeptEntryId":"a","tokensBefore":9}
{"type":"message","id":"f","parentId":"e","timestamp":"2026-06-01T10:00:06.000Z","message":{"role":"assistant","content":[],"stopReason":"error","errorMessage":"broken @"}}"#;
    let events = [
        ("trace.metadata", r#"{"harness":{"name":"h@","version":"v@","workspaceDir":"/w@"}}"#),
        ("approval.asked", r#"{"approvalId":"x","subject":"@","reason":"@"}"#),
        ("session.ended", r#"{"status":"odd @","error":"end @"}"#),
    ];
    let home = Home::new();
    home.put_session(&[session.replace('@', hostile)]);
    let events = events
        .map(|(kind, data)| rows::event(kind, "2026-06-01T10:00:07Z", 1).with("data", data).json());
    home.folder
        .write("s1.trajectory.jsonl", events.join("\n").replace('@', hostile) + "\n")
        .unwrap();
    let text = shown(&home, 100, &["--full", "--reasoning"]);
    let steers = |character: char| {
        (character.is_control() && character != '\n')
            || "\u{202e}\u{2066}\u{200f}".contains(character)
    };
    assert!(!text.contains(steers), "{text:?}");
    let said = ["m\\u{1b}", "run \\u{1b}", "broken \\u{1b}", "odd \\u{1b}", "end \\u{1b}"];
    let unwrapped = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for said in said {
        assert!(unwrapped.contains(said), "{said}: {text}");
    }
    let document = home.traj(&["show", "s1.jsonl", "--json", "--full", "--reasoning"]);
    assert!(!printed(&document).contains(steers));
}

#[test]
fn a_rollout_of_codex_is_shown() {
    let home = Home::new();
    let rows = [
        ("session_meta", r#"{"id":"t1","cwd":"/shop","cli_version":"1.2.3"}"#),
        ("turn_context", r#"{"cwd":"/shop","model":"gpt-5.4"}"#),
        ("event_msg", r#"{"type":"user_message","message":"list files","images":[]}"#),
        ROLLOUT_CALL,
        ROLLOUT_RESULT,
        (
            "event_msg",
            r#"{"type":"token_count","info":{"total_token_usage":{"input_tokens":9000,"output_tokens":20}}}"#,
        ),
        ("event_msg", r#"{"type":"task_complete","turn_id":"u1"}"#),
    ];
    home.folder.write("s1.jsonl", rollout(&rows).join("\n") + "\n").unwrap();
    home.folder.remove_file("s1.trajectory.jsonl").unwrap();
    assert_snapshot!(shown(&home, 100, &[]), @r"
    session  t1
    agent    codex 1.2.3
    model    gpt-5.4
    in       $WORKSPACE_DIR
    from     2026-06-01 12:00:02 CEST to 2026-06-01 12:00:06 CEST
    ended    success after 4.0 s
    failed   exec_command ls (exit 1)
    total    1 turn · 1 call (1 failed) · 1 model call · 9,000 in · 20 out · $0.0228 · model 3.0 s ·
             tools 1.0 s

    ── turn 1 · 2026-06-01 12:00:02 CEST ───────────────────────────────────────────────────────────────
    > list files

    $ exec_command ls
      exit 1 · 1.0 s · id c1
      │ Process exited with code 1
      │ Output:
      │ no

      gpt-5.4 · context 9,020 · 9,000 in · 20 out · $0.0228

    = turn 1 · 4.0 s · 1 model call · 9,000 in · 20 out · $0.0228

    ── success after 4.0 s · 1 turn · 1 call (1 failed) · $0.0228 ──────────────────────────────────────
    ");
}

#[test]
fn an_interrupted_turn_is_not_an_error() {
    let home = Home::new();
    let rollout = include_str!("../../fixtures/rollouts/new-compaction.jsonl");
    home.folder
        .write("s1.jsonl", rollout.replace(r#""reason":"interrupted""#, r#""reason":"replaced""#))
        .unwrap();
    home.folder.remove_file("s1.trajectory.jsonl").unwrap();
    let text = shown(&home, 100, &[]);
    assert!(text.contains("turn interrupted: replaced") && !text.contains("! error"), "{text}");
}

#[test]
fn a_sidecar_shows_its_session() {
    let home = failing_run();
    let by_sidecar = home.traj(&["show", "s1.trajectory.jsonl"]);
    let by_session = home.traj(&["show", "s1.jsonl"]);
    assert_eq!(printed(&by_sidecar), printed(&by_session));
    assert!(printed(&by_session).contains("make test"));
}

#[test]
fn closing_the_output_early_is_not_an_error() {
    let home = failing_run();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = traj_command(home.path());
    let output = command.args(["show", "s1.jsonl"]).stdout(writer).output().unwrap();
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
}

#[test]
fn a_damaged_bundle_is_shown_as_far_as_it_goes() {
    let home = failing_run();
    home.export(&["--output", "b"]);
    let events = format!("{EXPORTS}/b/events.jsonl");
    let text = home.folder.read_to_string(&events).unwrap();
    home.folder.write(&events, text.replacen("{", "[", 1)).unwrap();
    let output = home.traj(&["show", &format!("{EXPORTS}/b")]);
    assert_eq!(output.status.code(), Some(4));
    assert!(printed(&output).contains("make test"));
    assert!(String::from_utf8_lossy(&output.stderr).contains("damaged"));
    let output = home.traj(&["show", &format!("{EXPORTS}/b"), "--json"]);
    assert_eq!((output.status.code(), &result(&output)["ok"]), (Some(4), &false.into()));
}

#[test]
fn a_run_without_a_failure_says_so() {
    let home = Home::new();
    let output = home.traj(&["show", "s1.jsonl", "--failed"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "nothing failed\n");
    assert!(output.stdout.is_empty());
}

#[test]
fn a_step_that_two_files_record_is_shown_once() {
    let home = Home::new();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("examples/run");
    std::fs::copy(example.join("session.jsonl"), home.path().join("s1.jsonl")).unwrap();
    let events = std::fs::File::open(example.join("events.jsonl")).unwrap();
    let id = ["--session-id", "nightly-import", "--quiet"];
    let mut command = traj_command(home.path());
    command.args(["record", "--session", "s1.jsonl"]).args(id).stdin(events);
    home.folder.remove_file("s1.trajectory.jsonl").unwrap();
    assert!(command.output().unwrap().status.success());
    assert!(home.export(&["--output", "b"]).status.success());
    let output = home.traj(&["show", &format!("{EXPORTS}/b"), "--json"]);
    let document = result(&output);
    let steps = document["result"]["steps"].as_array().unwrap();
    let count = |kind: &str| steps.iter().filter(|step| step["kind"] == kind).count();
    let counts = ["prompt", "call", "text", "modelCall", "ended"].map(count);
    assert_eq!(counts, [1, 4, 2, 5, 1], "{document:#}");
    let failed = steps.iter().find(|step| step["isFailure"] == true).unwrap();
    assert_eq!((&failed["id"], &failed["durationMillis"]), (&"call_b0XkPd".into(), &12_400.into()));
}

#[test]
fn a_bundle_with_a_secret_is_not_shown() {
    let home = Home::new();
    home.export(&["--output", "b"]);
    let events = format!("{EXPORTS}/b/events.jsonl");
    let text = home.folder.read_to_string(&events).unwrap();
    let leaked = text.replace("see ", &format!("{SECRET} "));
    assert_ne!(leaked, text);
    home.folder.write(&events, leaked).unwrap();
    let output = home.traj(&["show", &format!("{EXPORTS}/b")]);
    assert_eq!(output.status.code(), Some(3));
    assert!(output.stdout.is_empty());
}

#[test]
fn a_bundle_says_who_allowed_what() {
    let home = failing_run();
    assert!(home.export(&[]).status.success());
    let bundle = &*format!("{EXPORTS}/{}", home.exports()[0]);
    let text = printed(&home.traj(&["inspect", bundle]));
    assert!(text.contains("approvals 1 requested, 0 denied\n"), "{text}");
    assert!(text.contains("  approved by alice: make test\n"), "{text}");
    let shown = printed(&home.traj(&["show", bundle]));
    assert!(shown.contains("approved by alice after 800 ms: make test"), "{shown}");
}
