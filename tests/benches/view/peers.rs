//! The page of one long run, compared with what other programs write: time, memory, the content
//! of the result, and how it opens in Chromium.
//!
//! `cargo xtask bench` generates the run and installs the programs. They run without a network
//! where the system permits that.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::figure::Figure;
use crate::measure::{self, Usage};
use crate::{Bench, Outcome};

/// Rounds of the programs that a target compares; the others run once.
const ROUNDS: usize = 3;

/// The fastest program neither redacts nor compresses.
const FASTEST: &str = "weavr";

const PROGRAMS: [&str; 5] =
    ["traj", FASTEST, "claude-code-transcripts", "agentsview", "claude-code-log"];

/// What a program used and what it wrote.
struct Result {
    name: &'static str,
    usage: Usage,
    found: Value,
    opened: Value,
}

pub(super) fn run(bench: &Bench, peers: &Path) -> Outcome {
    let traj = bench.traj.as_ref().ok_or("needs --traj with the built binary")?;
    let run = bench.cases.as_ref().ok_or("needs --cases with the generated run")?;
    let place = Place::new(traj, peers, &run.join("agent-run"))?;
    let mut results = Vec::new();
    for name in PROGRAMS {
        results.push(place.measure(name)?);
    }
    let large = node(&["page/peers/open.mjs".as_ref(), "scale".as_ref(), "100000".as_ref()])?;
    let huge = node(&["page/peers/open.mjs".as_ref(), "scale".as_ref(), "500000".as_ref()])?;
    let mut figures = Vec::new();
    for result in &results {
        figures.extend(place.figures(result));
    }
    figures.extend(comparisons(&results));
    for (name, opened) in [("100,000 events", &large), ("500,000 events", &huge)] {
        let figure = |what: &str, member: &str, unit| {
            Figure::new(format!("{name}: {what}"), number(opened, member), unit)
        };
        figures.push(
            figure("first screen over an empty page", "overEmptyMillis", "ms").at_most(300.0),
        );
        let most = if name.starts_with('1') { 2_000.0 } else { 5_000.0 };
        figures.push(figure("find in everything", "findMillis", "ms").at_most(most));
        figures.push(figure("heap of the script", "heapMegabytes", "MB").at_most(100.0));
        figures.push(figure("memory of the renderer", "rendererMiB", "MiB"));
    }
    Ok(figures)
}

/// What is compared between programs.
fn comparisons(results: &[Result]) -> Vec<Figure> {
    let Some((ours, others)) = results.split_first() else { return Vec::new() };
    let ratio = |other: &Result| {
        let name = format!("cpu, traj / {}", other.name);
        let figure = Figure::ratio(name, ours.usage.cpu_seconds, other.usage.cpu_seconds);
        figure.at_most(if other.name == FASTEST { 4.0 } else { 1.0 })
    };
    others.iter().map(ratio).collect()
}

/// The files of one comparison.
struct Place {
    traj: PathBuf,
    peers: PathBuf,
    run: PathBuf,
    /// Where the results go; also the home directory of the programs.
    out: PathBuf,
    facts: Value,
    /// What starts a program without a network; empty if that is not permitted.
    offline: Vec<&'static str>,
}

impl Place {
    fn new(traj: &Path, peers: &Path, run: &Path) -> std::io::Result<Self> {
        let out = run.join("out");
        std::fs::create_dir_all(&out)?;
        let facts = serde_json::from_slice(&std::fs::read(run.join("facts.json"))?)?;
        let offline = offline();
        if offline.is_empty() {
            println!("  the programs run with a network: this system permits no network namespace");
        }
        let (traj, peers, run) = (traj.to_owned(), peers.to_owned(), run.to_owned());
        Ok(Self { traj, peers, run, out, facts, offline })
    }

    /// The session that all programs read.
    fn session(&self) -> PathBuf {
        let session = self.facts["session"].as_str().unwrap_or_default();
        self.run.join(format!("claude/projects/-srv-shop/{session}.jsonl"))
    }

    /// The result of a program: a file, or a directory of files.
    fn page(&self, name: &str) -> PathBuf {
        self.out.join(if name == "claude-code-transcripts" {
            name.to_owned()
        } else {
            format!("{name}.html")
        })
    }

    fn command(&self, name: &str) -> Command {
        let python = self.peers.join("python/bin");
        let (session, page) = (self.session(), self.page(name));
        let program = match name {
            "traj" => self.traj.clone(),
            "agentsview" => python.join("python3"),
            FASTEST => self.peers.join("bin").join(name),
            _ => python.join(name),
        };
        let mut words: Vec<&OsStr> = self.offline.iter().map(OsStr::new).collect();
        words.push(program.as_os_str());
        let data = self.out.join("agentsview-data");
        let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/agentsview.py");
        let inner = python.join("agentsview");
        let id = self.facts["session"].as_str().unwrap_or_default();
        match name {
            "traj" => words.extend([
                OsStr::new("view"),
                session.as_ref(),
                "--output".as_ref(),
                page.as_ref(),
                "--force".as_ref(),
                "--quiet".as_ref(),
            ]),
            FASTEST => {
                words.extend([
                    OsStr::new("export"),
                    session.as_ref(),
                    "-o".as_ref(),
                    page.as_ref(),
                ]);
            }
            "claude-code-log" => {
                words.extend([
                    OsStr::new("convert"),
                    session.as_ref(),
                    "-o".as_ref(),
                    page.as_ref(),
                ]);
            }
            "claude-code-transcripts" => {
                words.extend([OsStr::new("json"), session.as_ref(), "-o".as_ref(), page.as_ref()]);
            }
            _ => words.extend([
                driver.as_os_str(),
                inner.as_ref(),
                data.as_ref(),
                id.as_ref(),
                page.as_ref(),
            ]),
        }
        let (first, rest) = words.split_first().map_or((OsStr::new(""), &[][..]), |(a, b)| (*a, b));
        let mut command = Command::new(first);
        command.args(rest).env("HOME", &self.out).env("DO_NOT_TRACK", "1");
        command.env("CLAUDE_PROJECTS_DIR", self.run.join("claude/projects"));
        command.stdin(Stdio::null());
        command
    }

    fn measure(
        &self,
        name: &'static str,
    ) -> std::result::Result<Result, Box<dyn std::error::Error>> {
        let rounds = if matches!(name, "traj" | FASTEST) { ROUNDS } else { 1 };
        let mut usages = Vec::new();
        for _ in 0..rounds {
            let mut command = self.command(name);
            let (stdout, stderr) = (self.out.join("stdout"), self.out.join("stderr"));
            command.stderr(std::fs::File::create(&stderr)?);
            command.stdout(std::fs::File::create(&stdout)?);
            let mut usage = measure::child(&mut command).map_err(|error| {
                let said = std::fs::read_to_string(&stderr).unwrap_or_default();
                format!("{name}: {error}: {}", said.lines().last().unwrap_or_default())
            })?;
            if name == "agentsview" {
                // The server is a child of what was measured, which states its memory.
                let told = std::fs::read_to_string(&stdout)?;
                let peak = told.split_whitespace().next().and_then(|peak| peak.parse().ok());
                usage.peak_mib = peak.unwrap_or(usage.peak_mib);
            }
            usages.push(usage);
        }
        let page = self.page(name);
        let facts = self.run.join("facts.json");
        let judge =
            ["page/peers/judge.mjs".as_ref(), name.as_ref(), facts.as_os_str(), page.as_ref()];
        let found = node(&judge)?;
        let first = if page.is_dir() { page.join("index.html") } else { page };
        let opened = node(&["page/peers/open.mjs".as_ref(), name.as_ref(), first.as_os_str()])?;
        Ok(Result { name, usage: measure::median_usage(&usages), found, opened })
    }

    fn figures(&self, result: &Result) -> Vec<Figure> {
        let Result { name, usage, found, opened } = result;
        let ours = *name == "traj";
        let told = |member: &str| number(&self.facts, member);
        let figure =
            |what: &str, value: f64, unit| Figure::new(format!("{name}: {what}"), value, unit);
        let at_most = |figure: Figure, most| if ours { figure.at_most(most) } else { figure };
        let at_least = |figure: Figure, least| if ours { figure.at_least(least) } else { figure };
        let percent = |found: f64, all: f64| found / all * 100.0;
        let input = bytes_below(self.run.join("claude"));
        let calls = told("mainFailures") + told("agentFailures");
        let lines = |member: &str| percent(number(found, member), told(member));
        let agent_lines = figure("lines of output, sub-agents", lines("agentLines"), "%");
        let mut figures = vec![
            figure("cpu", usage.cpu_seconds, "s"),
            at_most(figure("peak memory", usage.peak_mib, "MiB"), 64.0),
            at_most(figure("html / session", number(found, "bytes") / input, "x"), 0.35),
            at_least(figure("lines of output, main", lines("mainLines"), "%"), 100.0),
            at_most(figure("planted secrets left", number(found, "secrets"), "of 200"), 0.0),
            at_least(
                figure("failing calls marked", percent(number(found, "failures"), calls), "%"),
                100.0,
            ),
            at_least(agent_lines, 100.0),
        ];
        if let Some(output) = found["outputTokens"].as_f64() {
            let all = number(&self.facts["mainTokens"], "output")
                + number(&self.facts["agentTokens"], "output");
            let error = (percent(output, all) - 100.0).abs();
            figures.push(at_most(figure("error of output tokens", error, "%"), 0.0));
        }
        if opened["failure"].is_string() {
            figures.push(figure("does not open within", 120_000.0, "ms"));
        } else {
            let ready = figure("ready over an empty page", number(opened, "overEmptyMillis"), "ms");
            figures.push(at_most(ready, 300.0));
            figures.push(figure("elements", number(opened, "elements"), ""));
            figures.push(figure("memory of the renderer", number(opened, "rendererMiB"), "MiB"));
        }
        figures
    }
}

/// The bytes of all files below a directory.
fn bytes_below(folder: PathBuf) -> f64 {
    let mut bytes = 0;
    let mut pending = vec![folder];
    while let Some(path) = pending.pop() {
        if let Ok(entries) = std::fs::read_dir(&path) {
            pending.extend(entries.flatten().map(|entry| entry.path()));
        } else if let Ok(file) = std::fs::metadata(&path) {
            bytes += file.len();
        }
    }
    bytes as f64
}

fn number(object: &Value, member: &str) -> f64 {
    object[member].as_f64().unwrap_or(f64::NAN)
}

/// Runs a script of `tests/page` and reads the JSON that it prints.
fn node(words: &[&OsStr]) -> std::result::Result<Value, Box<dyn std::error::Error>> {
    let mut command = Command::new("node");
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(words).stderr(Stdio::inherit());
    let output = command.output()?;
    if !output.status.success() {
        return Err(format!("node {words:?} ended with {}", output.status).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// What starts a command in a separate network namespace, if the system permits that.
fn offline() -> Vec<&'static str> {
    const WAYS: [&[&str]; 2] =
        [&["unshare", "--net", "--"], &["unshare", "--map-root-user", "--net", "--"]];
    let works = |way: &&[&str]| {
        way.split_first().is_some_and(|(program, rest)| {
            Command::new(program)
                .args(rest)
                .arg("true")
                .status()
                .is_ok_and(|status| status.success())
        })
    };
    WAYS.into_iter().find(works).map(<[&str]>::to_vec).unwrap_or_default()
}
