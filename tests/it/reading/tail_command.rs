//! `traj tail` end to end: what it prints, how it follows, how it ends.
#![expect(clippy::disallowed_methods, reason = "tests look at their own temporary directories")]

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;
use traj_tests::rows;
use traj_tests::traj_binary::traj_command;

fn event(number: u32, text: &str) -> String {
    let data = format!(r#"{{"name":"n{number}"}}"#);
    runtime(number, &format!("custom.{text}"), &data)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn tail(home: &Path, arguments: &[&str]) -> Command {
    let mut command = traj_command(home);
    command.args(["tail", "--session", "s.jsonl"]).args(arguments);
    command
}

#[test]
fn filters_json_and_control_characters() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("s.jsonl"), "").unwrap();
    let lines = [event(1, "one"), event(2, "two"), event(3, "one"), "torn {".to_owned()].concat();
    let hostile = event(4, "bad").replace("n4", "\\u001b[31mred\\u202e");
    fs::write(home.path().join("s.trajectory.jsonl"), format!("{lines}\n{hostile}")).unwrap();
    let run = |arguments: &[&str]| text(&tail(home.path(), arguments).output().unwrap().stdout);
    insta::assert_snapshot!(run(&[]), @r"
    10:00:01 custom.one       s                              name n1
    10:00:02 custom.two       s                              name n2
    10:00:03 custom.one       s                              name n3
    10:00:04 custom.bad       s                              name \u{1b}[31mred\u{202e}
    ");
    insta::assert_snapshot!(run(&["--type", "*.one", "--tail", "1"]), @"10:00:03 custom.one       s                              name n3");
    insta::assert_snapshot!(run(&["--grep", "n[12]$"]), @r"
    10:00:01 custom.one       s                              name n1
    10:00:02 custom.two       s                              name n2
    ");
    insta::assert_snapshot!(run(&["--json", "-n", "1", "--type", "custom.two"]), @r#"{"schema":"traj-tail/2","at":"2026-06-01T10:00:02.000Z","origin":"sidecar","type":"custom.two","session":"s","severity":"normal","preview":"name n2","durationMs":null,"inputTokens":null,"outputTokens":null,"error":null,"callId":null,"command":null,"outcome":null,"exitCode":null}"#);
    let hostile = run(&["--json", "-n", "1", "--type", "custom.bad"]);
    assert!(hostile.contains(r"\u001b[31mred\u202e"), "{hostile}");
    let usage = tail(home.path(), &["--tail", "many"]).output().unwrap();
    assert_eq!(usage.status.code(), Some(2));
}

/// An event with this data.
fn runtime(number: u32, kind: &str, data: &str) -> String {
    let event = rows::event(kind, &rows::at(number % 60), number).of("s");
    event.with("sourceSeq", number).with("data", data).line()
}

/// What `traj tail` prints for a session with these files.
fn shown(sidecar: &str, transcript: &str, arguments: &[&str]) -> String {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("s.jsonl"), transcript).unwrap();
    if !sidecar.is_empty() {
        fs::write(home.path().join("s.trajectory.jsonl"), sidecar).unwrap();
    }
    let output = tail(home.path(), arguments).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// A call, another event, and the failed result of the call.
fn failing_run() -> String {
    [
        runtime(1, "session.started", "{}"),
        runtime(2, "prompt.submitted", r#"{"prompt":"count the\nfiles"}"#),
        runtime(
            3,
            "tool.call",
            r#"{"toolCallId":"c1","name":"exec","arguments":{"command":["bash","-lc","ls | wc -l"]}}"#,
        ),
        event(4, "x"),
        runtime(
            6,
            "tool.result",
            r#"{"toolCallId":"c1","name":"exec","success":true,"result":{"exitCode":3,"output":"no such\nfile here"}}"#,
        ),
        runtime(
            9,
            "model.completed",
            r#"{"assistantTexts":["There are none."],"usage":{"input":10,"cacheRead":5,"output":2}}"#,
        ),
        runtime(10, "session.ended", r#"{"status":"success"}"#),
    ]
    .concat()
}

#[test]
fn commands_replies_and_exit_codes_are_shown() {
    insta::assert_snapshot!(shown(&failing_run(), "", &[]), @r"
    10:00:01 session.started  s                              session started
    10:00:02 prompt.submitted s                              count the files
    10:00:03 tool.call        s                              exec ls | wc -l
    10:00:04 custom.x         s                              name n4
    10:00:06 tool.result      s                              exec exit 3 · 3.0 s
    10:00:09 model.completed  s                              done: There are none. · 7.0 s · 15 in, 2 out
    10:00:10 session.ended    s                              success · 9.0 s
    ");
    let result = shown(&failing_run(), "", &["--json", "--type", "tool.result"]);
    insta::assert_snapshot!(result, @r#"{"schema":"traj-tail/2","at":"2026-06-01T10:00:06.000Z","origin":"sidecar","type":"tool.result","session":"s","severity":"error","preview":"exec exit 3","durationMs":3000,"inputTokens":null,"outputTokens":null,"error":null,"callId":"c1","command":null,"outcome":"failed","exitCode":3}"#);
    let named = failing_run().replace(
        r#""sessionId":"s""#,
        r#""sessionId":"s","sessionKey":"agent:main:telegram:direct:123456""#,
    );
    let named = shown(&named, "", &["--json", "-n", "1"]);
    assert!(named.contains(r#""session":"agent:main:telegram:direct:123456""#), "{named}");
    let call = shown(&failing_run(), "", &["--json", "--type", "tool.call"]);
    assert!(call.contains(r#""callId":"c1","command":"ls | wc -l","outcome":null"#), "{call}");
}

#[test]
fn a_rollout_shows_its_facts() {
    let rows = [
        ("session_meta", r#"{"id":"t","cli_version":"0.166.0","cwd":"/w"}"#),
        ("event_msg", r#"{"type":"user_message","message":"list it"}"#),
        (
            "response_item",
            r#"{"type":"function_call","name":"shell","call_id":"c1","arguments":"{\"command\":[\"bash\",\"-lc\",\"ls\"]}"}"#,
        ),
        (
            "response_item",
            r#"{"type":"function_call_output","call_id":"c1","output":"Process exited with code 3\nOutput:\n"}"#,
        ),
        (
            "response_item",
            r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"It failed."}]}"#,
        ),
        (
            "event_msg",
            r#"{"type":"token_count","info":{"total_token_usage":{"input_tokens":90,"output_tokens":9},"last_token_usage":{"input_tokens":30,"output_tokens":3}}}"#,
        ),
    ];
    let rollout: String = rows
        .iter()
        .enumerate()
        .map(|(number, (kind, payload))| {
            format!(
                "{{\"timestamp\":\"2026-06-01T10:00:0{number}.000Z\",\"type\":\"{kind}\",\"payload\":{payload}}}\n"
            )
        })
        .collect();
    insta::assert_snapshot!(shown("", &rollout, &["--transcript"]), @r"
    10:00:00 session_meta                                    codex 0.166.0 /w
    10:00:01 event_msg                                       list it
    10:00:02 response_item                                   shell ls
    10:00:03 response_item                                   exit 3 · 1.0 s
    10:00:04 response_item                                   It failed.
    10:00:05 event_msg                                       done · 30 in, 3 out
    ");
    let failed = shown("", &rollout, &["--transcript", "--json", "--grep", "exited with code"]);
    assert!(failed.contains(r#""severity":"error""#), "{failed}");
    assert!(failed.contains(r#""outcome":"failed","exitCode":3"#), "{failed}");
}

#[test]
fn grep_searches_the_whole_row_after_its_secrets_are_hidden() {
    let secret = format!("ghp_{}", "0123456789abcdefghijklmnopqrstuvwxyz");
    let row = |id: u32, text: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","timestamp":"2026-06-01T10:00:0{id}.000Z","message":{{"role":"toolResult","toolName":"read","toolCallId":"c{id}","content":[{{"type":"text","text":"{text}"}}]}}}}"#
        ) + "\n"
    };
    let rows = row(1, &format!("say \\\"deep\\\" {secret}")) + &row(2, "other");
    let found = |pattern: &str| shown("", &rows, &["--transcript", "--grep", pattern]);
    let line = "10:00:01 tool.result                                     read ok\n";
    assert_eq!(found("say \"deep\""), line, "a text as it reads");
    assert_eq!(found(r#""toolCallId":"c1""#), line, "a member");
    assert_eq!(found("10:00:01.*read"), line, "the line itself");
    assert_eq!(found(&secret), "", "a secret is hidden from the search too");
    // A secret at the end of the preview is redacted before the preview is cut.
    let long = format!("{} {secret}", "x".repeat(185));
    let prompt = row(1, &long).replace("toolResult", "user");
    let prompt = shown("", &prompt, &["--transcript"]);
    assert!(prompt.contains("xxx") && !prompt.contains("ghp_01"), "{prompt}");
    let sidecar = runtime(1, "prompt.submitted", &format!(r#"{{"prompt":"{secret}"}}"#));
    let prompt = shown(&sidecar, "", &[]);
    assert!(prompt.contains("prompt.submitted") && !prompt.contains("ghp_01"), "{prompt}");
}

#[test]
fn durations_do_not_depend_on_how_many_events_are_shown() {
    // The call is several blocks before its result.
    let filler: String = (0..9_000).map(|_| event(4, "x")).collect();
    let run = failing_run().replace(&event(4, "x"), &filler);
    let durations = |arguments: &[&str]| -> Vec<String> {
        let all = [&["--json"], arguments].concat();
        let shown = shown(&run, "", &all);
        let events = shown.lines().map(|line| serde_json::from_str(line).unwrap());
        let ends = events.filter(|event: &serde_json::Value| !event["durationMs"].is_null());
        ends.map(|event| format!("{} {}", event["type"], event["durationMs"])).collect()
    };
    let all = ["\"tool.result\" 3000", "\"model.completed\" 7000", "\"session.ended\" 9000"];
    assert_eq!(durations(&["-n", "100000"]), all);
    assert_eq!(durations(&["-n", "9001"]), all);
    assert_eq!(durations(&["-n", "3"]), all);
    assert_eq!(durations(&["-n", "2"]), all[1..]);
    assert_eq!(durations(&["-n", "1"]), all[2..]);
    assert_eq!(durations(&["-n", "1", "--type", "tool.*"]), all[..1]);
}

#[test]
fn more_events_than_are_held_at_once_come_in_the_same_order() {
    const COUNT: u32 = 36_000;
    let home = tempfile::tempdir().unwrap();
    let sidecar: String = (0..COUNT).map(|number| event(number * 2, "x")).collect();
    fs::write(home.path().join("s.trajectory.jsonl"), &sidecar).unwrap();
    fs::write(home.path().join("s.jsonl"), "").unwrap();
    let run = |arguments: &[&str]| text(&tail(home.path(), arguments).output().unwrap().stdout);
    let last_words = |shown: &str| -> Vec<String> {
        let words = shown.lines().filter_map(|line| line.split_whitespace().last());
        words.map(str::to_owned).collect()
    };
    let expected = |from: u32| (from..COUNT).map(|number| format!("n{}", number * 2));
    let everything = last_words(&run(&["--tail", "1000000000"]));
    assert!(everything.into_iter().eq(expected(0)));
    let counted = last_words(&run(&["--tail", "33000"]));
    assert!(counted.into_iter().eq(expected(COUNT - 33_000)));
    let filtered = last_words(&run(&["--tail", "33000", "--grep", "n[0-9]*0$"]));
    assert!(filtered.into_iter().eq(expected(0).filter(|name| name.ends_with('0'))));
    // Two files are merged by time, and the surplus is dropped from the beginning.
    let rows: String = (0..COUNT)
        .map(|number| {
            format!(
                "{{\"type\":\"message\",\"id\":\"{number}\",\"timestamp\":\"2026-06-01T10:00:00.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"t{number}\"}}}}\n"
            )
        })
        .collect();
    let later = sidecar.replace("T10:", "T11:");
    fs::write(home.path().join("s.jsonl"), rows).unwrap();
    fs::write(home.path().join("s.trajectory.jsonl"), later).unwrap();
    let both = last_words(&run(&["--tail", "50000", "--transcript"]));
    let first = (COUNT - 14_000..COUNT).map(|number| format!("t{number}"));
    assert!(both.into_iter().eq(first.chain(expected(0))));
}

#[test]
fn a_missing_session_is_reported() {
    let home = tempfile::tempdir().unwrap();
    let missing = tail(home.path(), &[]).output().unwrap();
    assert_eq!(missing.status.code(), Some(1));
    insta::assert_snapshot!(text(&missing.stderr), @r"
    error: there is no session s.jsonl
      hint: run `traj sessions` to list the sessions, or wait for this one with --follow
    ");
    // A sidecar alone is enough, and so is a session without one.
    fs::write(home.path().join("s.trajectory.jsonl"), event(1, "x")).unwrap();
    assert!(text(&tail(home.path(), &[]).output().unwrap().stdout).ends_with("n1\n"));
    fs::rename(home.path().join("s.trajectory.jsonl"), home.path().join("s.jsonl")).unwrap();
    assert!(tail(home.path(), &[]).output().unwrap().status.success());
    let nowhere = traj_command(home.path()).args(["tail", "--session", "no/s.jsonl"]).output();
    let nowhere = nowhere.unwrap();
    assert_eq!(nowhere.status.code(), Some(1));
    assert!(text(&nowhere.stderr).contains("No such file or directory"), "{nowhere:?}");
}

/// A `tail --follow` process and its output.
struct Follower {
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Follower {
    fn start(home: &Path) -> Self {
        let mut child = tail(home, &["--follow", "--tail", "1"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    fn next(&mut self) -> String {
        let line = self.lines.next().expect("the follower goes on").unwrap();
        line.split_whitespace().last().unwrap_or_default().to_owned()
    }

    fn signal(mut self, name: &str) -> Option<i32> {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([name, &id]).status().unwrap().success());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// A session with two events; the follower has printed the second.
fn followed() -> (TempDir, PathBuf, Follower) {
    let home = tempfile::tempdir().unwrap();
    let sidecar = home.path().join("s.trajectory.jsonl");
    fs::write(home.path().join("s.jsonl"), "").unwrap();
    fs::write(&sidecar, event(1, "x") + &event(2, "x")).unwrap();
    let mut follower = Follower::start(home.path());
    assert_eq!(follower.next(), "n2");
    (home, sidecar, follower)
}

#[test]
fn a_follower_survives_everything_that_happens_to_a_file() {
    let (home, sidecar, mut follower) = followed();
    let append = |text: &str| {
        let mut file = fs::OpenOptions::new().append(true).open(&sidecar).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    };
    append(&event(3, "x"));
    assert_eq!(follower.next(), "n3");
    // A line in two writes, split inside a character.
    let split = event(4, "x").replace("n4", "né4");
    let at = split.find('é').unwrap() + 1;
    let (head, rest) = split.as_bytes().split_at(at);
    let mut file = fs::OpenOptions::new().append(true).open(&sidecar).unwrap();
    file.write_all(head).unwrap();
    file.write_all(rest).unwrap();
    assert_eq!(follower.next(), "né4");
    // Replaced by a file with the same events and one more.
    let more = fs::read_to_string(&sidecar).unwrap() + &event(5, "x");
    fs::write(home.path().join("new"), more).unwrap();
    fs::rename(home.path().join("new"), &sidecar).unwrap();
    assert_eq!(follower.next(), "n5");
    // Rotated: the old file gets a last event, and a new file starts.
    append(&event(6, "x"));
    fs::rename(&sidecar, home.path().join("old")).unwrap();
    fs::write(&sidecar, event(7, "longer than what follows")).unwrap();
    assert_eq!(follower.next(), "n6");
    assert_eq!(follower.next(), "n7");
    // Truncated and written again, shorter than before.
    fs::write(&sidecar, event(8, "x")).unwrap();
    assert_eq!(follower.next(), "n8");
    assert_eq!(follower.signal("-INT"), Some(130));
}

/// Overwrites a file from its first byte, without truncating it first.
fn overwrite(file: &Path, text: &str) {
    let before = fs::metadata(file).unwrap();
    let mut open = fs::OpenOptions::new().write(true).open(file).unwrap();
    open.write_all(text.as_bytes()).unwrap();
    let after = fs::metadata(file).unwrap();
    assert_eq!((before.ino(), before.len()), (after.ino(), after.len()));
}

#[test]
fn a_file_written_over_at_its_old_length_is_read_again() {
    let (_home, sidecar, mut follower) = followed();
    overwrite(&sidecar, &(event(3, "x") + &event(4, "x")));
    assert_eq!(follower.next(), "n3");
    assert_eq!(follower.next(), "n4");
    // One event stays, one is new.
    overwrite(&sidecar, &(event(4, "x") + &event(5, "x")));
    assert_eq!(follower.next(), "n5");
    // It makes no difference whether the file's time goes back or forward.
    overwrite(&sidecar, &(event(6, "x") + &event(5, "x")));
    set_time(&sidecar, "@1000000000");
    assert_eq!(follower.next(), "n6");
    set_time(&sidecar, "now");
    fs::OpenOptions::new()
        .append(true)
        .open(&sidecar)
        .unwrap()
        .write_all(event(7, "x").as_bytes())
        .unwrap();
    assert_eq!(follower.next(), "n7");
    assert_eq!(follower.signal("-INT"), Some(130));
}

fn set_time(file: &Path, time: &str) {
    assert!(Command::new("touch").args(["-d", time]).arg(file).status().unwrap().success());
}

#[test]
fn a_follower_says_why_it_ends() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("s.jsonl"), "").unwrap();
    fs::write(home.path().join("s.trajectory.jsonl"), event(1, "x")).unwrap();
    let mut follower = Follower::start(home.path());
    assert_eq!(follower.next(), "n1");
    assert_eq!(follower.signal("-TERM"), Some(143));
    // A link instead of the file is a read error.
    let mut follower = Follower::start(home.path());
    assert_eq!(follower.next(), "n1");
    fs::remove_file(home.path().join("s.trajectory.jsonl")).unwrap();
    std::os::unix::fs::symlink("s.jsonl", home.path().join("s.trajectory.jsonl")).unwrap();
    assert_eq!(follower.child.wait().unwrap().code(), Some(1));
}
