//! What a listing keeps, and when it reads again.
#![expect(clippy::disallowed_methods, reason = "tests look at their own temporary directories")]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use traj_tests::export_home::result;
use traj_tests::rows;

use super::home::{Home, UUID};

/// The files below the cache directory.
fn cache_of(home: &Home) -> PathBuf {
    home.path(".cache/traj/sessions.jsonl")
}

#[test]
fn what_was_read_is_kept_until_a_file_changes() {
    let home = Home::new(&[]);
    let (one, other) = (".claude/projects/a/one.jsonl", ".claude/projects/a/other.jsonl");
    home.put_session(one, "first");
    home.put_session(other, "departed");
    let list = || result(&home.run(&["sessions", "--json"]))["result"].clone();
    let cold = list();
    let first = fs::read_to_string(cache_of(&home)).unwrap();
    let warm = list();
    assert_eq!(cold, warm);
    assert_eq!(fs::read_to_string(cache_of(&home)).unwrap(), first, "nothing was new");

    home.put_session(one, "changed in size");
    let both = ["claude-code: changed in size", "claude-code: departed"];
    assert_eq!(home.listed(&[]), both);
    fs::remove_file(home.path(other)).unwrap();
    assert_eq!(home.listed(&[]), ["claude-code: changed in size"]);
    let kept = fs::read_to_string(cache_of(&home)).unwrap();
    assert!(!kept.contains("departed"), "nothing is kept of a session that is gone");
}

#[test]
fn a_sidecar_that_appears_or_grows_is_seen() {
    let home = Home::new(&[]);
    home.put_session(".claude/projects/a/one.jsonl", "a title");
    let events =
        || result(&home.run(&["sessions", "--json"]))["result"]["sessions"][0]["events"].clone();
    assert_eq!(events(), Value::Null);
    let event = |number| rows::event("session.started", &rows::at(2), number).of(UUID).line();
    let sidecar = ".claude/projects/a/one.trajectory.jsonl";
    home.put(sidecar, &event(1));
    assert_eq!(events(), 1);
    home.put(sidecar, &(event(1) + &event(2)));
    assert_eq!(events(), 2);
    fs::remove_file(home.path(sidecar)).unwrap();
    assert_eq!(events(), Value::Null);
}

#[test]
fn the_cache_is_redacted_and_only_the_owner_can_read_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new(&[]);
    let secret = ["sk-ant-api03-", "Zq8vN2xKpL7wTfR4yHsB9mDcJ6gVaE1uXoI3"].concat();
    home.put_session(".claude/projects/a/one.jsonl", &format!("use {secret} now"));
    assert_eq!(home.listed(&[]).len(), 1);
    let cache = cache_of(&home);
    assert!(!fs::read_to_string(&cache).unwrap().contains(&secret));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&cache), mode(cache.parent().unwrap())), (0o600, 0o700));
}

#[test]
fn a_damaged_cache_is_replaced_and_no_cache_leaves_it_alone() {
    let home = Home::new(&[]);
    home.put_session(".claude/projects/a/one.jsonl", "a title");
    let wanted = ["claude-code: a title"];
    assert_eq!(home.listed(&["--no-cache"]), wanted);
    assert!(!cache_of(&home).exists());
    assert_eq!(home.listed(&[]), wanted);
    let whole = fs::read_to_string(cache_of(&home)).unwrap();
    let lied = whole.replace("a title", "a lie!!");
    assert_ne!(lied, whole);
    let cut = whole.get(..whole.len() - 2).unwrap();
    for damaged in [lied.as_str(), "", "{}", cut] {
        fs::write(cache_of(&home), damaged).unwrap();
        assert_eq!(home.listed(&["--no-cache"]), wanted);
        assert_eq!(fs::read_to_string(cache_of(&home)).unwrap(), damaged);
        assert_eq!(home.listed(&[]), wanted);
        assert_eq!(fs::read_to_string(cache_of(&home)).unwrap(), whole);
    }
}

#[test]
fn the_cache_follows_its_variable_and_a_closed_one_is_no_failure() {
    let home = Home::new(&[("XDG_CACHE_HOME", "~/kept")]);
    home.put_session(".claude/projects/a/one.jsonl", "a title");
    assert_eq!(home.listed(&[]), ["claude-code: a title"]);
    assert!(home.path("kept/traj/sessions.jsonl").exists());

    let home = Home::new(&[("XDG_CACHE_HOME", "~/file")]);
    home.put("file", "not a directory");
    home.put_session(".claude/projects/a/one.jsonl", "a title");
    let output = home.run(&["sessions"]);
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot"), "{output:?}");
}

#[test]
fn a_database_is_read_again_when_it_or_its_log_changes() {
    let home = Home::new(&[]);
    let database = home.put_database(".local/share/goose/sessions/sessions.db");
    assert_eq!(home.listed(&[]), ["goose: the first", "goose: the second"]);
    let kept = fs::read_to_string(cache_of(&home)).unwrap();
    assert_eq!(home.listed(&[]), ["goose: the first", "goose: the second"]);
    assert_eq!(fs::read_to_string(cache_of(&home)).unwrap(), kept);
    database.execute("update sessions set name='renamed' where id='20260601_1'", []).unwrap();
    assert_eq!(home.listed(&[]), ["goose: renamed", "goose: the second"]);
}
