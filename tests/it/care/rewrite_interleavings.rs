//! Ten thousand random interleavings of appenders and a rewrite: every appended
//! line is in the file exactly once, complete and in order.

use traj_core::memory::{MemoryFiles, MemoryHandle, MemorySession};
use traj_core::port::{RewriteMode, SessionRewriter as _};
use traj_tests::contract::session_rewriter::ReplaceLine;
use traj_tests::dice::Dice;

const RUNS: u64 = 10_000;

/// A host that opens, appends one line in one or two writes, and closes.
struct Appender {
    name: u64,
    next: u64,
    last: u64,
    split: bool,
    open: Option<(MemoryHandle, Vec<u8>)>,
}

impl Appender {
    /// Takes one step of a possible schedule; `false` if there are no more steps.
    fn step(&mut self, files: &mut MemoryFiles, dice: &mut Dice) -> bool {
        match self.open.take() {
            None if self.next == self.last => return false,
            None => {
                let handle = files.open().expect("the session always exists");
                let line = format!("line {} {}\n", self.name, self.next).into_bytes();
                self.next += 1;
                self.open = Some((handle, line));
            }
            Some((handle, rest)) if rest.is_empty() => files.close(handle),
            Some((handle, rest)) => {
                let cut = if self.split {
                    1 + dice.below(rest.len() as u64) as usize
                } else {
                    rest.len()
                };
                files.append(&handle, &rest[..cut]);
                self.open = Some((handle, rest[cut..].to_vec()));
            }
        }
        true
    }
}

#[test]
fn no_interleaving_loses_a_line() {
    let mut merged_runs = 0;
    for run in 0..RUNS {
        merged_runs += u64::from(one_run(run) > 0);
    }
    assert!(merged_runs > RUNS / 2, "the appenders hardly ever met the rewrite: {merged_runs}");
}

/// Returns the number of bytes that were appended during the rewrite.
fn one_run(run: u64) -> u64 {
    let mut dice = Dice::new(run);
    let count = 1 + dice.below(3);
    let split = count == 1 && dice.below(2) == 0;
    let eager = 1 + dice.below(6);
    let mut appenders: Vec<Appender> = (0..count)
        .map(|name| Appender { name, next: 0, last: 1 + dice.below(6), split, open: None })
        .collect();
    let expected: Vec<u64> = appenders.iter().map(|appender| appender.last).collect();
    let finished = std::rc::Rc::new(std::cell::Cell::new(false));
    let seen = finished.clone();
    let session = MemorySession::new(b"first\ntarget\n").interfered(move |files| {
        let moves = if seen.get() { 1_000 } else { dice.below(eager) };
        for _ in 0..moves {
            let pick = dice.below(appenders.len() as u64) as usize;
            appenders[pick].step(files, &mut dice);
        }
    });
    let mut edit = ReplaceLine { target: "target", replacement: "short", refuse: false };
    let report = session.rewrite(&mut edit, RewriteMode::Commit).expect("the rewrite succeeds");
    assert!(!report.held_open, "run {run}: no writer holds on forever");
    // Every appender finishes its remaining steps.
    finished.set(true);
    session.rewrite(&mut edit, RewriteMode::Preview).expect("a preview");

    let text = String::from_utf8(session.read().expect("a session")).expect("plain text");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("first"), "run {run}");
    assert_eq!(lines.next(), Some("short"), "run {run}");
    let mut next = vec![0; expected.len()];
    for line in lines {
        let mut words = line.split(' ').skip(1).map(|word| word.parse::<u64>().expect("a number"));
        let (name, number) =
            (words.next().expect("a name") as usize, words.next().expect("a count"));
        assert_eq!(number, next[name], "run {run}: appender {name} out of order in\n{text}");
        next[name] += 1;
    }
    assert_eq!(next, expected, "run {run}: lines are missing in\n{text}");
    report.merged_bytes
}
