//! What every [`LineLog`] promises.

use std::ops::ControlFlow;

use traj_core::port::LineLog;

fn lines(log: &dyn LineLog) -> Vec<String> {
    let mut lines = Vec::new();
    log.read(&mut |line| {
        lines.push(String::from_utf8_lossy(line).into_owned());
        ControlFlow::Continue(())
    })
    .expect("a log can be read");
    lines
}

/// Runs the whole suite on logs that `make` makes, each empty.
pub fn all(make: &dyn Fn() -> Box<dyn LineLog>) {
    keeps_lines_in_order(make().as_ref());
    keeps_what_is_wanted(make().as_ref());
    stops_when_told(make().as_ref());
    refuses_a_line_end_inside_a_line(make().as_ref());
}

fn keeps_lines_in_order(log: &dyn LineLog) {
    assert!(lines(log).is_empty());
    log.append(&["one".to_owned(), "two é".to_owned()]).expect("an append");
    log.append(&["three".to_owned()]).expect("an append");
    assert_eq!(lines(log), ["one", "two é", "three"]);
}

fn keeps_what_is_wanted(log: &dyn LineLog) {
    log.retain(&mut |_| true).expect("an empty log has nothing to lose");
    log.append(&["one".to_owned(), "two".to_owned(), "three".to_owned()]).expect("an append");
    log.retain(&mut |line| line != b"two").expect("a change");
    assert_eq!(lines(log), ["one", "three"]);
    log.retain(&mut |_| false).expect("a change");
    assert!(lines(log).is_empty());
    log.append(&["four".to_owned()]).expect("an append");
    assert_eq!(lines(log), ["four"]);
}

fn stops_when_told(log: &dyn LineLog) {
    log.append(&["one".to_owned(), "two".to_owned()]).expect("an append");
    let mut seen = 0;
    log.read(&mut |_| {
        seen += 1;
        ControlFlow::Break(())
    })
    .expect("a log can be read");
    assert_eq!(seen, 1);
}

fn refuses_a_line_end_inside_a_line(log: &dyn LineLog) {
    log.append(&["fine".to_owned(), "not\nfine".to_owned()]).expect_err("no such line");
    assert!(lines(log).is_empty(), "all lines of a call or none");
}
