//! One long run of a coding agent whose content is fully known: every line of output has
//! a number, secrets are planted, failures and tokens are counted.
//!
//! It is a session of Claude Code, with sub-agents in files of their own.
//! `facts.json` states what a reader must find. Everything is the same every time.
#![expect(clippy::disallowed_methods, reason = "streams megabytes into the target directory")]

mod claude_code;
mod secrets;

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use serde_json::json;

use claude_code::ClaudeCode;

/// How many secrets are planted.
const SECRETS: usize = 200;

/// The working directory of the run.
const WORKSPACE: &str = "/srv/shop";

/// Which file a row belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Thread {
    Main,
    /// A sub-agent, counted from 1.
    Agent(usize),
}

/// Tokens of one model call; input is what was neither read from nor written to a cache.
#[derive(Clone, Copy, Debug, Default)]
struct Tokens {
    input: u64,
    cache_read: u64,
    cache_write: u64,
    output: u64,
}

/// One row of the run.
#[derive(Debug)]
enum Row<'a> {
    Prompt(&'a str),
    /// What one model call gave. The call has a number and a command; a sub-agent
    /// is started by its number.
    Answer {
        thinking: &'a str,
        text: &'a str,
        call: Call<'a>,
        tokens: Tokens,
    },
    Result {
        call: usize,
        output: &'a str,
        failed: bool,
    },
}

#[derive(Clone, Copy, Debug)]
enum Call<'a> {
    Command { number: usize, command: &'a str },
    Agent { number: usize, agent: usize },
}

/// What was written.
#[derive(Debug, Default)]
struct Facts {
    main_lines: usize,
    agent_lines: usize,
    main_failures: usize,
    agent_failures: usize,
    main: Tokens,
    agents: Tokens,
    agent_count: usize,
    planted: usize,
    calls: usize,
    model_calls: usize,
}

/// Writes the run below `folder`: `claude/projects/…`, of about `bytes` bytes, and
/// `facts.json`.
pub(super) fn generate(folder: &Path, bytes: usize) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let session = ClaudeCode::create(&folder.join("claude/projects/-srv-shop"))?;
    let mut writer = Writer { session, bytes, facts: Facts::default(), at: 0, seed: 11 };
    writer.run()?;
    let Facts { main, agents, .. } = writer.facts;
    let tokens = |tokens: Tokens| {
        json!({
            "input": tokens.input + tokens.cache_read + tokens.cache_write,
            "cached": tokens.cache_read,
            "cacheWrite": tokens.cache_write,
            "output": tokens.output,
        })
    };
    let facts = json!({
        "session": claude_code::SESSION,
        "mainLines": writer.facts.main_lines,
        "agentLines": writer.facts.agent_lines,
        "mainFailures": writer.facts.main_failures,
        "agentFailures": writer.facts.agent_failures,
        "agents": writer.facts.agent_count,
        "calls": writer.facts.calls,
        "modelCalls": writer.facts.model_calls,
        "mainTokens": tokens(main),
        "agentTokens": tokens(agents),
        "secrets": (0..writer.facts.planted).map(secrets::value).collect::<Vec<_>>(),
    });
    writer.session.finish()?;
    std::fs::write(folder.join("facts.json"), facts.to_string())
}

struct Writer {
    session: ClaudeCode,
    bytes: usize,
    facts: Facts,
    at: u64,
    seed: u64,
}

impl Writer {
    fn run(&mut self) -> io::Result<()> {
        let mut step = 0;
        while self.session.bytes() < self.bytes || self.facts.planted < SECRETS {
            if step % 24 == 0 {
                let secret = self.secret(0).unwrap_or_default();
                let prompt = format!("Part {}: {}\n\n{secret}", step / 24 + 1, self.words(30));
                self.row(Thread::Main, &Row::Prompt(&prompt))?;
            }
            if step % 60 == 59 {
                self.agent()?;
            } else {
                self.step(Thread::Main, step % 97 == 41)?;
            }
            step += 1;
        }
        Ok(())
    }

    /// A sub-agent of a few steps, between its call and its result.
    fn agent(&mut self) -> io::Result<()> {
        self.facts.agent_count += 1;
        let agent = self.facts.agent_count;
        let number = self.answer(Thread::Main, Some(agent))?;
        for step in 0..8 {
            self.step(Thread::Agent(agent), step == 5 && agent.is_multiple_of(2))?;
        }
        let output = self.output(Thread::Main, 3);
        self.row(Thread::Main, &Row::Result { call: number, output: &output, failed: false })
    }

    /// One model call that runs a command, and the result.
    fn step(&mut self, thread: Thread, failed: bool) -> io::Result<()> {
        let number = self.answer(thread, None)?;
        let lines = 10 + self.random(60);
        let mut output = self.output(thread, lines);
        if let Some(secret) = self.secret(3) {
            output = format!("{output}\n{secret}");
        }
        if failed {
            output = format!("Exit code 1\n{output}");
            match thread {
                Thread::Main => self.facts.main_failures += 1,
                Thread::Agent(_) => self.facts.agent_failures += 1,
            }
        }
        self.row(thread, &Row::Result { call: number, output: &output, failed })
    }

    fn answer(&mut self, thread: Thread, agent: Option<usize>) -> io::Result<usize> {
        let number = self.facts.calls;
        self.facts.calls += 1;
        self.facts.model_calls += 1;
        let tokens = Tokens {
            input: 4 + self.random(40) as u64,
            cache_read: 20_000 + self.random(90_000) as u64,
            cache_write: self.random(4_000) as u64,
            output: 40 + self.random(600) as u64,
        };
        let sum = match thread {
            Thread::Main => &mut self.facts.main,
            Thread::Agent(_) => &mut self.facts.agents,
        };
        sum.input += tokens.input;
        sum.cache_read += tokens.cache_read;
        sum.cache_write += tokens.cache_write;
        sum.output += tokens.output;
        let thinking = self.words(40);
        let mut text = self.words(60);
        if let Some(secret) = self.secret(1) {
            text = format!("{text}\n\n{secret}");
        }
        let mut command = format!("cargo test -p part_{} --lib", number % 31);
        if let Some(secret) = self.secret(2) {
            command = format!("{command} # {secret}");
        }
        let call = match agent {
            Some(agent) => Call::Agent { number, agent },
            None => Call::Command { number, command: &command },
        };
        self.row(thread, &Row::Answer { thinking: &thinking, text: &text, call, tokens })?;
        Ok(number)
    }

    fn row(&mut self, thread: Thread, row: &Row<'_>) -> io::Result<()> {
        self.at += 400 + self.random(1_800) as u64;
        let at = self.at;
        self.session.row(thread, at, row)
    }

    /// The next secret, if one is due and belongs in this place. Each place gets a
    /// quarter of them: prompts, answers, commands, output.
    fn secret(&mut self, place: usize) -> Option<String> {
        let number = self.facts.planted;
        let due = self.bytes / 100 * 98 / SECRETS * number;
        if number >= SECRETS || number % 4 != place || self.session.bytes() < due {
            return None;
        }
        self.facts.planted += 1;
        Some(secrets::in_context(number))
    }

    /// Numbered lines, so that a reader of the result can count them.
    fn output(&mut self, thread: Thread, lines: usize) -> String {
        let mut output = String::with_capacity(lines * 80);
        for line in 0..lines {
            let (letter, count) = match thread {
                Thread::Main => ('M', &mut self.facts.main_lines),
                Thread::Agent(_) => ('S', &mut self.facts.agent_lines),
            };
            let number = *count;
            *count += 1;
            let words = self.words(9);
            let end = if line + 1 < lines { "\n" } else { "" };
            // Writing to a string cannot fail.
            write!(output, "{letter}{number:07} src/part.rs:{line}: {words}{end}").ok();
        }
        output
    }

    fn words(&mut self, count: usize) -> String {
        const WORDS: [&str; 24] = [
            "order", "client", "expires", "page", "import", "batch", "retry", "shipped", "pending",
            "error", "schema", "column", "index", "provider", "staging", "refund", "invoice",
            "ledger", "queue", "worker", "while", "because", "compiles", "review",
        ];
        let mut text = String::with_capacity(count * 8);
        for at in 0..count {
            if at > 0 {
                text.push(' ');
            }
            text.push_str(WORDS.get(self.random(WORDS.len())).unwrap_or(&""));
        }
        text
    }

    fn random(&mut self, below: usize) -> usize {
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.seed >> 33) as usize % below
    }
}

/// A time of the run, in the form of its rows.
fn instant(millis: u64) -> String {
    let (second, milli) = (millis / 1_000, millis % 1_000);
    let (day, hour, minute) = (1 + second / 86_400 % 28, second / 3_600 % 24, second / 60 % 60);
    format!("2026-06-{day:02}T{hour:02}:{minute:02}:{:02}.{milli:03}Z", second % 60)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;

    #[test]
    fn the_facts_are_those_of_the_files() {
        let folder = std::env::temp_dir().join(format!("traj-agent-run-{}", std::process::id()));
        generate(&folder, 3 << 20).unwrap();
        let facts: Value =
            serde_json::from_str(&std::fs::read_to_string(folder.join("facts.json")).unwrap())
                .unwrap();
        let project = folder.join("claude/projects/-srv-shop");
        let mut text = String::new();
        let mut pending = vec![project];
        while let Some(path) = pending.pop() {
            if path.is_dir() {
                pending.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            } else if path.extension().is_some_and(|ending| ending == "jsonl") {
                text.push_str(&std::fs::read_to_string(path).unwrap());
            }
        }
        let rows: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let failures = rows
            .iter()
            .filter(|row| row["message"]["content"][0]["is_error"] == Value::Bool(true))
            .count();
        let told = |name: &str| facts[name].as_u64().unwrap();
        assert_eq!(failures as u64, told("mainFailures") + told("agentFailures"));
        let mut counted = BTreeSet::new();
        let mut output = 0;
        for message in rows.iter().map(|row| &row["message"]) {
            if message["usage"].is_object() && counted.insert(message["id"].to_string()) {
                output += message["usage"]["output_tokens"].as_u64().unwrap();
            }
        }
        let sum = ["mainTokens", "agentTokens"].map(|name| facts[name]["output"].as_u64().unwrap());
        assert_eq!(output, sum.iter().sum::<u64>());
        let secrets = facts["secrets"].as_array().unwrap();
        assert_eq!(secrets.len(), SECRETS);
        assert!(secrets.iter().all(|secret| text.contains(secret.as_str().unwrap())));
        let last = format!("M{:07}", told("mainLines") - 1);
        assert!(text.contains(&last) && told("agentLines") > 0);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
