//! A session that was forgotten goes away and stays away.

use std::path::Path;

use serde_json::Value;
use traj_tests::export_home::ExportHome as Home;

use super::verify::compacted;
use super::{done, ended, files, put_file, shipped, turns, verified};

/// Runs `traj lake forget` and looks at how it ends.
fn forget(home: &Home, session: &str, code: i32, more: &[&str]) -> Value {
    let base = ["lake", "forget", session, "--at", "lake", "--json"];
    ended(home, "lake-forget", code, &home.traj(&[&base, more].concat()))
}

fn lake() -> Home {
    let home = Home::new();
    home.put_session(&turns(2));
    shipped(&home, "lake", &[]);
    home
}

#[test]
fn a_session_is_removed_only_after_consent() {
    let home = lake();
    let before = files(&home, "lake");
    let refused = forget(&home, "s1", 2, &[]);
    assert!(refused["error"]["hints"][0].as_str().unwrap().contains("--yes"), "{refused}");
    forget(&home, "s1", 2, &["--yes", "--dry-run"]);
    let dry = forget(&home, "s1", 0, &["--dry-run"])["result"].clone();
    assert_eq!((dry["files"].as_array().unwrap().len(), &dry["dryRun"]), (4, &true.into()));
    let unknown = forget(&home, "s2", 1, &["--yes"]);
    assert!(unknown["error"]["hints"][0].is_string(), "{unknown}");
    assert_eq!(files(&home, "lake"), before, "nothing was removed so far");
    let removed = forget(&home, "s1", 0, &["--yes"])["result"].clone();
    assert_eq!(removed["files"], dry["files"]);
    assert!(files(&home, "lake").is_empty());
}

/// What became of the session: how many segments were stored, and how many sessions
/// were unchanged and forgotten.
fn counts(report: &Value) -> [u64; 3] {
    ["segments", "unchanged", "forgotten"].map(|name| report[name].as_u64().unwrap())
}

#[test]
fn a_forgotten_session_is_not_shipped_again_whether_it_changes_or_not() {
    let home = lake();
    assert_eq!(counts(&shipped(&home, "lake", &[])), [0, 1, 0]);
    forget(&home, "s1", 0, &["--yes"]);
    assert_eq!(counts(&shipped(&home, "lake", &["--dry-run"])), [0, 0, 1]);
    assert_eq!(counts(&shipped(&home, "lake", &[])), [0, 0, 1]);
    assert_eq!(counts(&shipped(&home, "lake", &[])), [0, 0, 1], "known from the log");
    home.folder.remove_dir_all(".openclaw/traj/ship").unwrap();
    assert_eq!(counts(&shipped(&home, "lake", &[])), [0, 0, 1], "known from the dataset");
    home.put_session(&turns(3));
    assert_eq!(counts(&shipped(&home, "lake", &[])), [0, 0, 1]);
    assert!(files(&home, "lake").is_empty());
}

#[test]
fn a_session_whose_note_is_removed_is_shipped_again() {
    let home = lake();
    let before = files(&home, "lake");
    forget(&home, "s1", 0, &["--yes"]);
    shipped(&home, "lake", &[]);
    home.folder.remove_dir_all("lake/traj/v1/_ship/forgotten").unwrap();
    assert_eq!(counts(&shipped(&home, "lake", &[])), [2, 0, 0]);
    assert_eq!(files(&home, "lake"), before);
    verified(&home, "lake");
}

#[test]
fn the_other_sessions_stay() {
    let home = lake();
    let other: Vec<String> = turns(1);
    let header = traj_tests::rows::header("s9").line();
    home.folder.write("s9.jsonl", header + &other.join("\n")).unwrap();
    let both = home.traj(&["ship", "s9.jsonl", "--to", "lake", "--json"]);
    assert_eq!(counts(&done(&home, "ship", &both)), [1, 0, 0]);
    forget(&home, "s1", 0, &["--yes"]);
    let rest = verified(&home, "lake");
    assert_eq!((&rest["sessions"], &rest["files"]), (&1.into(), &2.into()));
}

#[test]
fn a_session_is_taken_out_of_files_of_a_compaction() {
    let home = lake();
    let folder = Path::new("events/date=2026-06-01/agent=openclaw");
    for (name, sessions) in
        [("compact-1.parquet", &["s1", "other"][..]), ("compact-2.parquet", &["s1"])]
    {
        put_file(&home, "lake", &folder.join(name), &compacted(sessions, "some text"));
    }
    let dry = forget(&home, "s1", 0, &["--dry-run"])["result"].clone();
    assert_eq!(
        (dry["agent"].as_str(), dry["compacted"].as_array().unwrap().len()),
        (Some("openclaw"), 2)
    );
    forget(&home, "s1", 1, &["--yes", "--agent", "codex"]);
    let removed = forget(&home, "s1", 0, &["--yes", "--agent", "OpenClaw"])["result"].clone();
    assert_eq!(removed["compacted"], dry["compacted"]);
    let left: Vec<String> =
        files(&home, "lake").keys().map(|name| name.display().to_string()).collect();
    assert_eq!(left.len(), 1, "{left:?}");
    assert!(left[0].contains("/compact-1-again-"), "{left:?}");
    let gone = forget(&home, "s1", 1, &["--yes"]);
    assert_eq!(gone["error"]["message"], "the session is not in the dataset");
    forget(&home, "other", 0, &["--yes"]);
    assert!(files(&home, "lake").is_empty(), "its last session is gone");
}
