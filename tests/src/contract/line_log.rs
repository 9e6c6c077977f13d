//! What every [`LineLog`] promises.

use std::ops::ControlFlow;

use traj_core::port::LineLog;

/// A log to test, with its resources.
pub trait LineLogHarness {
    /// The log; empty at first.
    fn log(&self) -> &dyn LineLog;
}

suite! {
    $ line_log on LineLogHarness:
    keeps_lines_in_order,
    keeps_what_is_wanted,
    stops_when_asked,
    refuses_a_line_end_inside_a_line,
}

fn lines(log: &dyn LineLog) -> Vec<String> {
    let mut lines = Vec::new();
    log.read(&mut |line| {
        lines.push(String::from_utf8_lossy(line).into_owned());
        ControlFlow::Continue(())
    })
    .expect("a log can be read");
    lines
}

fn keeps_lines_in_order(harness: &dyn LineLogHarness) {
    let log = harness.log();
    assert!(lines(log).is_empty());
    log.append(&["one".to_owned(), "two é".to_owned()]).expect("an append");
    log.append(&["three".to_owned()]).expect("an append");
    assert_eq!(lines(log), ["one", "two é", "three"]);
}

fn keeps_what_is_wanted(harness: &dyn LineLogHarness) {
    let log = harness.log();
    log.retain(&mut |_| true).expect("an empty log has nothing to lose");
    log.append(&["one".to_owned(), "two".to_owned(), "three".to_owned()]).expect("an append");
    log.retain(&mut |line| line != b"two").expect("a change");
    assert_eq!(lines(log), ["one", "three"]);
    log.retain(&mut |_| false).expect("a change");
    assert!(lines(log).is_empty());
    log.append(&["four".to_owned()]).expect("an append");
    assert_eq!(lines(log), ["four"]);
}

fn stops_when_asked(harness: &dyn LineLogHarness) {
    let log = harness.log();
    log.append(&["one".to_owned(), "two".to_owned()]).expect("an append");
    let mut seen = 0;
    log.read(&mut |_| {
        seen += 1;
        ControlFlow::Break(())
    })
    .expect("a log can be read");
    assert_eq!(seen, 1);
}

fn refuses_a_line_end_inside_a_line(harness: &dyn LineLogHarness) {
    let log = harness.log();
    log.append(&["fine".to_owned(), "not\nfine".to_owned()]).expect_err("no such line");
    assert!(lines(log).is_empty(), "all lines of a call or none");
}
