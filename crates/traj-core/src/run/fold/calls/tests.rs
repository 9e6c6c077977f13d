//! How the statements about a call are merged.

use super::*;
use crate::run::{Arguments, Content, Failure};

/// What a witness states at a given second: a call of a tool, or a result.
#[derive(Clone, Copy)]
enum Said {
    Call(&'static str),
    Result { is_error: bool },
    Timeout,
}
use Said::{Call, Result, Timeout};

const FINE: Said = Result { is_error: false };
const FAILED: Said = Result { is_error: true };
const RUNTIME: Origin = Origin::Runtime;
const TRANSCRIPT: Origin = Origin::Transcript;

/// Tools with their calls, errors, calls without a result, and seconds.
fn counted(events: &[(Origin, i64, Said)]) -> Vec<(String, [u64; 3], i64)> {
    let mut calls = Calls::default();
    for (order, (origin, second, said)) in events.iter().enumerate() {
        let at = UnixMillis::new(second * 1_000);
        let id = Some("call_0");
        let result = |outcome| ToolResultFact {
            id,
            name: None,
            outcome,
            content: Content::None,
            duration: None,
            is_truncated: false,
        };
        match said {
            Call(name) => {
                let call = ToolCallFact { id, name, arguments: Arguments::None };
                calls.start(*origin, &call, at, order as u64);
            }
            Result { is_error: true } => {
                let failed = result(Outcome::Failed(Failure::default()));
                calls.end(*origin, &failed, at, order as u64);
            }
            Result { .. } => {
                calls.end(*origin, &result(Outcome::Ok), at, order as u64);
            }
            Timeout => {
                calls.end(*origin, &result(Outcome::TimedOut), at, order as u64);
            }
        }
    }
    calls.finish();
    let tools = calls.tools.into_iter();
    tools
        .map(|(name, tool)| {
            let counts = [tool.calls, tool.errors(), tool.unanswered];
            (name, counts, tool.total_millis / 1_000)
        })
        .collect()
}

fn three_calls(origin: Origin, delay: i64) -> Vec<(Origin, i64, Said)> {
    let said = [Call("read"), FINE, Call("shell"), FINE, Call("shell"), FAILED];
    let seconds = [0, 1, 10, 12, 20, 24];
    seconds.into_iter().zip(said).map(|(second, said)| (origin, second + delay, said)).collect()
}

fn in_order(mut events: Vec<(Origin, i64, Said)>) -> Vec<(Origin, i64, Said)> {
    events.sort_by_key(|(_, second, _)| *second);
    events
}

#[test]
fn an_id_may_be_used_again() {
    let expected = [("read".to_owned(), [1, 0, 0], 1), ("shell".to_owned(), [2, 1, 0], 6)];
    for origin in [RUNTIME, TRANSCRIPT] {
        assert_eq!(counted(&three_calls(origin, 0)), expected, "{origin:?}");
    }
    // Both witnesses state them: at the same time, a little later, or after the
    // turn.
    for delay in [0, 1, 3, 100] {
        let runtime = three_calls(RUNTIME, 0);
        let transcript = three_calls(TRANSCRIPT, delay);
        assert_eq!(counted(&in_order([runtime, transcript].concat())), expected, "{delay}");
    }
    // One witness starts only with the second call.
    let late = three_calls(RUNTIME, 0).split_off(2);
    let events = in_order([three_calls(TRANSCRIPT, 0), late].concat());
    assert_eq!(counted(&events), expected);
}

#[test]
fn a_call_is_open_until_it_is_answered() {
    let shell = |counts, seconds| vec![("shell".to_owned(), counts, seconds)];
    // A call stated twice before its result is one call.
    let twice = [(RUNTIME, 0, Call("shell")), (RUNTIME, 1, Call("shell"))];
    assert_eq!(counted(&twice), shell([1, 0, 1], 0));
    // A result after a timeout does not belong to the next call.
    let late = [
        (RUNTIME, 0, Call("shell")),
        (RUNTIME, 1, Timeout),
        (RUNTIME, 2, FAILED),
        (RUNTIME, 3, Call("shell")),
        (RUNTIME, 5, FINE),
    ];
    assert_eq!(counted(&late), shell([2, 1, 0], 2));
    // One witness states the calls, the other the results.
    let apart = [
        (RUNTIME, 0, Call("shell")),
        (TRANSCRIPT, 1, FINE),
        (RUNTIME, 2, Call("shell")),
        (TRANSCRIPT, 4, FAILED),
    ];
    assert_eq!(counted(&apart), shell([2, 1, 0], 3));
    // Another tool under the same id leaves the first call open.
    let other = [(RUNTIME, 0, Call("shell")), (RUNTIME, 1, Call("read")), (RUNTIME, 2, FINE)];
    let read = ("read".to_owned(), [1, 0, 0], 1);
    assert_eq!(counted(&other), [vec![read], shell([1, 0, 1], 0)].concat());
}

#[test]
fn a_result_before_its_call_is_one() {
    let events = [(RUNTIME, 5, FAILED), (RUNTIME, 9, Call("read"))];
    assert_eq!(counted(&events), [("read".to_owned(), [1, 1, 0], 0)]);
}

#[test]
fn a_result_without_a_call_proves_that_there_was_one() {
    let unseen = |counts| vec![("tool".to_owned(), counts, 0)];
    assert_eq!(counted(&[(TRANSCRIPT, 5, FAILED)]), unseen([1, 1, 0]));
    let both = [(TRANSCRIPT, 5, FINE), (RUNTIME, 6, FINE), (RUNTIME, 7, FINE)];
    assert_eq!(counted(&both), unseen([1, 0, 0]), "it is one, however often it is stated");
    // One witness states the result, and later the other one the call.
    let late = [(TRANSCRIPT, 5, FINE), (RUNTIME, 6, Call("read"))];
    assert_eq!(counted(&late), [("read".to_owned(), [1, 0, 0], 0)]);
}

#[test]
fn results_of_forgotten_calls_are_not_calls() {
    let mut calls = Calls::default();
    let mut start = |id: &str, order| {
        let call = ToolCallFact { id: Some(id), name: "shell", arguments: Arguments::None };
        calls.start(RUNTIME, &call, None, order).1
    };
    let first = start("first", 1);
    for number in 0..REMEMBERED as u64 {
        start(&number.to_string(), number + 2);
    }
    let result = ToolResultFact {
        id: Some("first"),
        name: None,
        outcome: Outcome::Ok,
        content: Content::None,
        duration: None,
        is_truncated: false,
    };
    let (is_new, key) = calls.end(RUNTIME, &result, None, 99_999);
    assert!(!is_new && key.number < first.number, "no reader shows it as another call");
    calls.finish();
    assert_eq!(calls.totals.calls, REMEMBERED as u64 + 1);
}

#[test]
fn millions_of_calls_are_counted_in_bounded_memory() {
    let mut calls = Calls::default();
    for number in 0..100_000_u64 {
        let id = number.to_string();
        let call = ToolCallFact { id: Some(&id), name: "shell", arguments: Arguments::None };
        calls.start(RUNTIME, &call, None, number);
        assert!(calls.groups.len() <= REMEMBERED && calls.newest.len() <= 5 * REMEMBERED);
    }
    calls.finish();
    assert_eq!((calls.totals.calls, calls.totals.unanswered), (100_000, 100_000));
}

#[test]
fn both_witnesses_of_a_call_give_its_number() {
    let mut calls = Calls::default();
    let call = |id| ToolCallFact { id: Some(id), name: "shell", arguments: Arguments::None };
    let result = |id, outcome| ToolResultFact {
        id: Some(id),
        name: None,
        outcome,
        content: Content::None,
        duration: None,
        is_truncated: false,
    };
    let at = |second: i64| UnixMillis::new(second * 1_000);
    let (is_new, first) = calls.start(TRANSCRIPT, &call("a"), at(0), 1);
    assert!(is_new);
    let (is_new, second) = calls.start(RUNTIME, &call("b"), at(1), 2);
    assert!(is_new);
    assert_eq!((first.number, second.number), (1, 2));
    let (is_new, again) = calls.start(RUNTIME, &call("a"), at(1), 3);
    assert_eq!((is_new, again), (false, first));
    let (is_new, ended) = calls.end(RUNTIME, &result("a", Outcome::Ok), at(3), 4);
    assert_eq!((is_new, ended), (true, first));
    let state = calls.state(first).unwrap();
    assert_eq!((state.millis, state.is_settled), (Some(2_000), false), "the transcript may differ");
    let failed = Outcome::Failed(Failure::exit(3));
    let (is_new, ended) = calls.end(TRANSCRIPT, &result("a", failed.clone()), at(4), 5);
    assert_eq!((is_new, ended), (false, first));
    let state = calls.state(first).unwrap();
    assert_eq!((state.outcome, state.is_settled), (Some(&failed), true));
    assert!(!calls.state(second).unwrap().is_settled);
    // A result from both witnesses before its call, then the call.
    let numbers = [RUNTIME, TRANSCRIPT].map(|origin| {
        let (is_new, key) = calls.end(origin, &result("c", Outcome::Ok), at(5), 6);
        (is_new, key.number)
    });
    assert_eq!(numbers, [(true, 3), (false, 3)]);
    assert_eq!(calls.start(RUNTIME, &call("c"), at(6), 7).1.number, 3);
}
