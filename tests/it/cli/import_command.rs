//! `traj import`: sessions of every dialect become sessions of OpenClaw, and are
//! the same runs.
#![expect(clippy::disallowed_methods, reason = "tests look at their own temporary directories")]

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;
use tempfile::TempDir;
use traj_tests::export_home::result;
use traj_tests::session_fixtures;
use traj_tests::traj_binary::traj_command;

/// Every fixture that is a file of lines, by its path.
fn fixtures() -> Vec<std::path::PathBuf> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && !name.starts_with("bundles") {
                folders.push(path);
            } else if name.ends_with(".jsonl") && !name.starts_with("agent-") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

fn run(home: &TempDir, arguments: &[&str]) -> Output {
    traj_command(home.path()).args(arguments).output().unwrap()
}

/// The members of a listing that an import must keep.
fn figures(home: &TempDir, file: &str) -> Value {
    let report = result(&run(home, &["sessions", "--no-cache", "--json", file]))["result"].clone();
    let session = &report["sessions"][0];
    let mut calls = session["calls"].clone();
    // Clocks of two files differ.
    for name in ["totalMillis", "longestMillis"] {
        calls.as_object_mut().unwrap().remove(name);
    }
    let usage =
        ["inputTokens", "cachedTokens", "cacheWriteTokens", "outputTokens", "reasoningTokens"];
    let usage: Vec<&Value> = usage.iter().map(|name| &session["usage"][name]).collect();
    serde_json::json!([calls, usage, session["turns"], session["errorCount"]])
}

#[test]
fn every_fixture_is_the_same_run_after_an_import() {
    let home = tempfile::tempdir().unwrap();
    let mut files: Vec<(String, String)> = Vec::new();
    for path in fixtures() {
        files.push((path.display().to_string(), path.display().to_string()));
    }
    for fixture in session_fixtures::all() {
        let name = fixture.name.to_owned();
        let folder = home.path().join(format!("fixture-{}", files.len()));
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("s1.jsonl"), fixture.transcript.join("\n")).unwrap();
        if !fixture.sidecar.is_empty() {
            fs::write(folder.join("s1.trajectory.jsonl"), fixture.sidecar.join("\n")).unwrap();
        }
        files.push((name, folder.join("s1.jsonl").display().to_string()));
    }
    let mut imported = 0;
    for (number, (name, file)) in files.iter().enumerate() {
        let target = home.path().join(format!("imported-{number}")).display().to_string();
        let output = run(&home, &["import", file, "--output", &target, "--json"]);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        if report["error"]["message"].as_str().is_some_and(|text| text.contains("no events")) {
            continue;
        }
        assert_eq!(report["ok"], true, "{name}: {report}");
        let written = report["result"]["sessionFile"].as_str().unwrap();
        assert_eq!(figures(&home, written), figures(&home, file), "{name}");
        imported += 1;
    }
    assert!(imported >= 11, "{imported}");
}

#[test]
fn nothing_is_replaced_or_written_where_an_agent_keeps_its_sessions() {
    let home = tempfile::tempdir().unwrap();
    let rollout = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/rollouts/new-plain.jsonl");
    let file = rollout.display().to_string();
    let import = |target: &str| run(&home, &["import", &file, "--output", target]);
    let code = |output: &Output| output.status.code().unwrap();
    assert_eq!(code(&import("there")), 0);
    let names = traj_tests::traj_binary::names_in(&home.path().join("there"));
    assert_eq!(names.len(), 2, "{names:?}");
    let again = import("there");
    assert_eq!(code(&again), 1);
    assert!(String::from_utf8_lossy(&again.stderr).contains("exists"), "{again:?}");
    for owned in [".openclaw/agents/main/sessions", ".claude/projects/x", ".codex/sessions"] {
        let refused = import(owned);
        assert_eq!(code(&refused), 2, "{refused:?}");
        assert!(!home.path().join(owned).exists());
    }
}

#[test]
fn an_import_is_redacted() {
    let home = tempfile::tempdir().unwrap();
    let secret = ["sk-ant-api03-", "Zq8vN2xKpL7wTfR4yHsB9mDcJ6gVaE1uXoI3"].concat();
    let prompt = format!(r#"{{"role":"user","content":"use {secret}"}}"#);
    let header = traj_tests::rows::header("s1").line();
    fs::write(
        home.path().join("s1.jsonl"),
        header + &traj_tests::rows::message("a", None, 1, prompt) + "\n",
    )
    .unwrap();
    let output = run(&home, &["import", "s1.jsonl", "--output", "there"]);
    assert!(output.status.success(), "{output:?}");
    let written = fs::read_to_string(home.path().join("there/s1.jsonl")).unwrap();
    assert!(written.contains("use ") && !written.contains(&secret), "{written}");
}
