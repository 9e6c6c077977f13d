//! `traj sessions` with many sessions: the first listing reads all of them, the
//! next ones read what changed. No two sessions are alike.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::figure::Figure;
use crate::measure;
use crate::{Bench, Outcome};

const SESSIONS: usize = 10_000;
const ROUNDS: usize = 5;

pub(crate) fn run(bench: &Bench) -> Outcome {
    let traj = bench.traj.as_ref().ok_or("needs --traj with the built binary")?;
    let home = tempfile::tempdir()?;
    let count = bench.size(SESSIONS, 40);
    for number in 0..count {
        write_session(home.path(), number)?;
    }
    let list = || {
        let mut command = Command::new(traj);
        command.env_clear().env("HOME", home.path()).current_dir(home.path());
        command.args(["sessions", "--json"]).stdin(Stdio::null());
        command
    };
    let listed = list().output()?;
    let listed: serde_json::Value = serde_json::from_slice(&listed.stdout)?;
    let found = listed["result"]["sessions"].as_array().map_or(0, Vec::len);
    if found != count {
        return Err(format!("{found} of {count} sessions are listed").into());
    }
    fs::remove_dir_all(home.path().join(".cache"))?;
    let cold = measure::child(list().stdout(Stdio::null()))?;
    let rounds = bench.size(ROUNDS, 1);
    let warm: Result<Vec<_>, _> =
        (0..rounds).map(|_| measure::child(list().stdout(Stdio::null()))).collect();
    let warm = measure::median_usage(&warm?);
    let newest: Result<Vec<_>, _> = (0..rounds)
        .map(|_| measure::child(list().args(["--limit", "20"]).stdout(Stdio::null())))
        .collect();
    let newest = measure::median_usage(&newest?);
    Ok(vec![
        Figure::new(format!("{count} sessions, first listing"), cold.wall_seconds, "s"),
        Figure::new(format!("{count} sessions, listed again"), warm.wall_seconds, "s").at_most(1.0),
        Figure::new("the newest 20 of them, again", newest.wall_seconds, "s").at_most(1.0),
        Figure::new("peak memory of a listing", warm.peak_mib, "MiB"),
    ])
}

/// A session that differs from all others.
struct Session {
    number: usize,
    id: String,
}

/// Writes a session of one of several agents.
fn write_session(home: &Path, number: usize) -> std::io::Result<()> {
    let id = format!("{number:08x}-7b82-4e65-8ea7-9725892b{:04x}", number % 0xffff);
    let session = Session { number, id };
    let (file, text) = match number % 3 {
        0 => session.of_claude_code(),
        1 => session.of_codex(),
        _ => session.of_pi(),
    };
    let file = home.join(file);
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(file, text)
}

impl Session {
    fn day(&self) -> usize {
        1 + self.number / 1_440 % 28
    }

    fn at(&self, second: usize) -> String {
        let minute = self.number % 1_440;
        let (hour, minute) = (minute / 60, minute % 60);
        format!("2026-05-{:02}T{hour:02}:{minute:02}:{second:02}.000Z", self.day())
    }

    const fn project(&self) -> usize {
        self.number % 97
    }

    const fn turns(&self) -> std::ops::Range<usize> {
        0..2 + self.number * 7 % 11
    }

    fn of_claude_code(&self) -> (String, String) {
        let Self { number, id } = self;
        let mut text = String::new();
        for turn in self.turns() {
            let (user, parent) = (2 * turn, (2 * turn).checked_sub(1));
            let parent =
                parent.map_or("null".to_owned(), |parent| format!("\"u{number}-{parent}\""));
            let common = format!(
                r#""isSidechain":false,"userType":"external","cwd":"/srv/p{}","sessionId":"{id}","version":"2.1.197","timestamp":"{}""#,
                self.project(),
                self.at(turn)
            );
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                r#"{{"parentUuid":{parent},{common},"type":"user","uuid":"u{number}-{user}","message":{{"role":"user","content":"question {turn} of session {number}"}}}}"#
            );
            let _ = writeln!(
                text,
                r#"{{"parentUuid":"u{number}-{user}",{common},"type":"assistant","uuid":"u{number}-{}","message":{{"role":"assistant","id":"msg_{number}_{turn}","model":"claude-sonnet-4-5","content":[{{"type":"text","text":"answer {turn}"}}],"usage":{{"input_tokens":{},"output_tokens":9}}}}}}"#,
                user + 1,
                100 + turn
            );
        }
        (format!(".claude/projects/-srv-p{}/{id}.jsonl", self.project()), text)
    }

    fn of_codex(&self) -> (String, String) {
        let Self { number, id } = self;
        let row = |turn: usize, kind: &str, payload: &str| {
            let at = self.at(turn);
            format!(r#"{{"timestamp":"{at}","type":"{kind}","payload":{{{payload}}}}}"#) + "\n"
        };
        let meta = format!(
            r#""id":"{id}","timestamp":"{}","cwd":"/srv/p{}","originator":"cli","cli_version":"0.135.0","source":"cli""#,
            self.at(0),
            self.project()
        );
        let mut text = row(0, "session_meta", &meta);
        for turn in self.turns() {
            let prompt =
                format!(r#""type":"user_message","message":"question {turn} of session {number}""#);
            let answer = format!(
                r#""type":"message","role":"assistant","content":[{{"type":"output_text","text":"answer {turn}"}}]"#
            );
            text += &row(turn, "event_msg", &prompt);
            text += &row(turn, "response_item", &answer);
        }
        let day = self.day();
        (
            format!(
                ".codex/sessions/2026/05/{day:02}/rollout-2026-05-{day:02}T10-00-00-{id}.jsonl"
            ),
            text,
        )
    }

    fn of_pi(&self) -> (String, String) {
        let Self { number, id } = self;
        let mut text = format!(
            r#"{{"type":"session","version":3,"id":"{id}","timestamp":"{}","cwd":"/srv/p{}"}}"#,
            self.at(0),
            self.project()
        ) + "\n";
        for turn in self.turns() {
            let at = self.at(turn);
            let _ = writeln!(
                text,
                r#"{{"type":"message","id":"{turn:08x}","parentId":null,"timestamp":"{at}","message":{{"role":"user","content":"question {turn} of session {number}"}}}}"#
            );
        }
        (
            format!(
                ".pi/agent/sessions/--srv-p{}--/2026-05-01T10-00-00_{id}.jsonl",
                self.project()
            ),
            text,
        )
    }
}
