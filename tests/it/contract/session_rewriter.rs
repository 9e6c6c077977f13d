//! The contract of the session rewriter, on every adapter.
#![expect(clippy::disallowed_methods, reason = "tests open their own temporary directories")]

use std::sync::Arc;

use cap_std::fs::Dir;
use tempfile::TempDir;
use traj_core::memory::{MemoryFiles, MemorySession};
use traj_core::port::{RewriteError, RewriteMode, SessionRewriter};
use traj_fs::{FsSessionRewriter, ProcessTable};
use traj_tests::contract::session_rewriter::{ReplaceLine, SessionFixture, SessionRewriterHarness};
use traj_tests::contract_tests;

struct InMemory(MemorySession);

impl SessionFixture for InMemory {
    fn rewriter(&self) -> &dyn SessionRewriter {
        &self.0
    }

    fn read(&self) -> Option<Vec<u8>> {
        self.0.read()
    }
}

struct Memory;

impl SessionRewriterHarness for Memory {
    fn session(&self, content: Option<&[u8]>) -> Box<dyn SessionFixture> {
        let session = content.map_or_else(MemorySession::missing, MemorySession::new);
        Box::new(InMemory(session))
    }
}

/// A session in a temporary directory.
struct OnDisk {
    rewriter: FsSessionRewriter,
    folder: Dir,
    _place: TempDir,
}

impl SessionFixture for OnDisk {
    fn rewriter(&self) -> &dyn SessionRewriter {
        &self.rewriter
    }

    fn read(&self) -> Option<Vec<u8>> {
        let names: Vec<String> = self
            .folder
            .entries()
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        assert!(names.iter().all(|name| name == "s.jsonl"), "left behind: {names:?}");
        self.folder.read("s.jsonl").ok()
    }
}

struct Disk;

impl SessionRewriterHarness for Disk {
    fn session(&self, content: Option<&[u8]>) -> Box<dyn SessionFixture> {
        let place = tempfile::tempdir().unwrap();
        let folder = Dir::open_ambient_dir(place.path(), cap_std::ambient_authority()).unwrap();
        let processes = Dir::open_ambient_dir("/proc", cap_std::ambient_authority()).unwrap();
        let rewriter = FsSessionRewriter::new(
            folder.try_clone().unwrap(),
            "s.jsonl".to_owned(),
            Some(Arc::new(ProcessTable::new(processes))),
        );
        if let Some(content) = content {
            folder.write("s.jsonl", content).unwrap();
        }
        Box::new(OnDisk { rewriter, folder, _place: place })
    }
}

contract_tests! {
    session_rewriter:
    memory => Memory,
    filesystem => Disk,
}

fn edit() -> ReplaceLine {
    ReplaceLine { target: "target", replacement: "short", refuse: false }
}

#[test]
fn a_failure_at_any_step_leaves_the_old_text_or_the_new_one_whole() {
    let mut outcomes = [0, 0];
    for step in 0..40 {
        let session = MemorySession::new(b"one\ntarget\ntwo\n").failing_at(step);
        let outcome = session.rewrite(&mut edit(), RewriteMode::Commit);
        let text = session.read().unwrap();
        if outcome.is_ok() {
            assert_eq!(text, b"one\nshort\ntwo\n", "step {step}");
            outcomes[0] += 1;
        } else {
            assert_eq!(text, b"one\ntarget\ntwo\n", "step {step}");
            outcomes[1] += 1;
        }
    }
    assert!(outcomes.iter().all(|count| *count > 0), "{outcomes:?}");
}

#[test]
fn a_foreign_replacement_is_a_conflict_and_wins() {
    let mut calls = 0;
    let session = MemorySession::new(b"one\ntarget\n").interfered(move |files| {
        calls += 1;
        if calls == 4 {
            files.replace(b"theirs\n");
        }
    });
    let outcome = session.rewrite(&mut edit(), RewriteMode::Commit);
    assert!(matches!(outcome, Err(RewriteError::Conflict { .. })), "{outcome:?}");
    assert_eq!(session.read().unwrap(), b"theirs\n");
}

#[test]
fn a_writer_that_holds_the_file_open_is_reported_before_anything_changes() {
    let session = MemorySession::new(b"one\ntarget\n");
    let handle = session.with_files(MemoryFiles::open).unwrap();
    let outcome = session.rewrite(&mut edit(), RewriteMode::Commit);
    assert!(matches!(outcome, Err(RewriteError::Busy { .. })), "{outcome:?}");
    assert_eq!(session.read().unwrap(), b"one\ntarget\n");
    session.with_files(|files| files.close(handle));
    session.rewrite(&mut edit(), RewriteMode::Commit).unwrap();
    assert_eq!(session.read().unwrap(), b"one\nshort\n");
}
