//! Tests of the session with a server that answers late, twice, wrongly or not at all.

use proptest::prelude::*;

use super::*;

const SECOND: Duration = Duration::from_secs(1);

fn session(in_flight: usize) -> RpcSession {
    RpcSession::new(RpcLimits { in_flight, wordings: RefusalWordings::standard() })
}

fn call(session: &mut RpcSession, token: u64) -> Vec<RpcOutput> {
    let params = Json::Null;
    let timeout = Duration::from_secs(10);
    let token = CallToken(token);
    session.step(Duration::ZERO, RpcInput::Call { token, method: "thread/read", params, timeout })
}

fn line(session: &mut RpcSession, text: &str) -> Vec<RpcOutput> {
    session.step(Duration::ZERO, RpcInput::Line(text.as_bytes()))
}

/// One word per output, for comparing.
fn said(outputs: &[RpcOutput]) -> String {
    let word = |output: &RpcOutput| match output {
        RpcOutput::Write(text) => format!("write {}", text.trim_end()),
        RpcOutput::Settle { token, result: Ok(value) } => {
            format!("{} ok {}", token.0, value.to_line())
        }
        RpcOutput::Settle { token, result: Err(error) } => format!("{} failed {error}", token.0),
        RpcOutput::Notification { method, .. } => format!("told {method}"),
        RpcOutput::Request { id, method, .. } => format!("asked {} {method}", id.to_line()),
    };
    outputs.iter().map(word).collect::<Vec<_>>().join("; ")
}

/// Scenario 72: answers find their call in any order; late and repeated ones are ignored.
#[test]
fn answers_find_their_call() {
    let mut session = session(8);
    assert_eq!(
        said(&call(&mut session, 10)),
        r#"write {"id":1,"method":"thread/read","params":null}"#
    );
    call(&mut session, 20);
    assert_eq!(said(&line(&mut session, r#"{"id":2,"result":"b"}"#)), r#"20 ok "b""#);
    assert_eq!(said(&line(&mut session, r#"{"id":2,"result":"again"}"#)), "");
    assert_eq!(said(&line(&mut session, r#"{"id":99,"result":"made up"}"#)), "");
    assert_eq!(
        said(&line(
            &mut session,
            r#"{"id":1,"error":{"code":-32600,"message":"thread not found: x"}}"#
        )),
        "10 failed thread/read was refused: thread-not-loaded (-32600)"
    );
    assert_eq!(session.strays(), 2);
}

/// The last part of scenario 72: what the server says about an expired login is passed on, once.
#[test]
fn an_expired_login_is_told_with_its_detail() {
    let refusal = |message: &str, data: &str| {
        let mut session = session(8);
        call(&mut session, 10);
        let error =
            format!(r#"{{"id":1,"error":{{"code":-32600,"message":"{message}","data":{data}}}}}"#);
        match line(&mut session, &error).remove(0) {
            RpcOutput::Settle {
                result: Err(AppServerError::Refused { code, kind, text, .. }),
                ..
            } => (code, kind, text.reveal().to_owned()),
            other => panic!("not refused: {other:?}"),
        }
    };
    let data = r#"{"reason":"cloudRequirements","errorCode":"Auth","action":"relogin","statusCode":401,"detail":"Sign in again."}"#;
    let expired = (-32600, RefusalKind::LoginExpired, "cannot load: Sign in again.".to_owned());
    assert_eq!(refusal("cannot load", data), expired);
    assert_eq!(refusal("cannot load: Sign in again.", data), expired, "it is not repeated");
    let other = refusal("thread not found: x", r#"{"action":"retry","detail":"soon"}"#);
    assert_eq!(other, (-32600, RefusalKind::ThreadNotLoaded, "thread not found: x".to_owned()));
}

/// The server's request ids are independent of the client's, and may be equal to them.
#[test]
fn questions_of_the_server_have_ids_of_their_own() {
    let mut session = session(8);
    call(&mut session, 10);
    let asked = line(&mut session, r#"{"id":1,"method":"item/tool/call","params":{}}"#);
    assert_eq!(said(&asked), "asked 1 item/tool/call");
    let answered =
        session.step(SECOND, RpcInput::Answer { id: 1_u64.into(), answer: Some(Json::Null) });
    assert_eq!(said(&answered), r#"write {"id":1,"result":null}"#);
    assert_eq!(said(&line(&mut session, r#"{"id":1,"result":1}"#)), "10 ok 1");
}

#[test]
fn a_call_times_out_and_its_late_answer_is_ignored() {
    let mut session = session(8);
    call(&mut session, 10);
    assert_eq!(session.next_wake(), Some(Duration::from_secs(10)));
    assert_eq!(said(&session.step(9 * SECOND, RpcInput::Tick)), "");
    let late = session.step(10 * SECOND, RpcInput::Tick);
    assert_eq!(said(&late), "10 failed thread/read timed out");
    assert_eq!(said(&line(&mut session, r#"{"id":1,"result":1}"#)), "");
    assert_eq!(session.next_wake(), None);
}

#[test]
fn no_more_calls_than_the_limit_are_under_way() {
    let mut session = session(1);
    call(&mut session, 10);
    assert_eq!(said(&call(&mut session, 20)), "", "the second one waits");
    let freed = line(&mut session, r#"{"id":1,"result":1}"#);
    assert!(said(&freed).starts_with("10 ok 1; write {\"id\":2"), "{}", said(&freed));
    call(&mut session, 30);
    session.step(SECOND, RpcInput::Cancel { token: CallToken(20) });
    assert_eq!(said(&line(&mut session, r#"{"id":2,"result":1}"#)), "", "nobody waits any more");
}

/// A call that an overloaded server rejects is retried, later each time, and not forever.
#[test]
fn overload_is_retried_with_growing_distance() {
    let mut session = session(8);
    call(&mut session, 10);
    let mut now = Duration::ZERO;
    let mut distances = Vec::new();
    for id in 1..=3 {
        let text = format!(r#"{{"id":{id},"error":{{"code":-32001,"message":"overloaded"}}}}"#);
        assert_eq!(said(&session.step(now, RpcInput::Line(text.as_bytes()))), "");
        let wake = session.next_wake().unwrap();
        assert_eq!(said(&session.step(wake - Duration::from_millis(1), RpcInput::Tick)), "");
        assert!(said(&session.step(wake, RpcInput::Tick)).starts_with("write"));
        distances.push(wake - now);
        now = wake;
    }
    assert!(distances.windows(2).all(|pair| pair[0] < pair[1]), "{distances:?}");
    let refused = line(&mut session, r#"{"id":4,"error":{"code":-32001,"message":"overloaded"}}"#);
    assert_eq!(said(&refused), "10 failed thread/read was refused: overloaded (-32001)");
}

/// Scenario 75: the end fails all waiting calls, and all later ones.
#[test]
fn the_end_of_the_server_ends_every_call() {
    let mut session = session(1);
    call(&mut session, 10);
    call(&mut session, 20);
    let closed = session.step(SECOND, RpcInput::Closed(CloseCause::BrokenPipe));
    assert_eq!(said(&closed).matches("cannot write to its input").count(), 2);
    assert_eq!(said(&session.step(SECOND, RpcInput::Closed(CloseCause::ByUs))), "");
    assert!(said(&call(&mut session, 30)).contains("cannot write to its input"));
    let answer = RpcInput::Answer { id: Json::Null, answer: None };
    assert_eq!(said(&session.step(SECOND, answer)), "", "nothing is written after the end");
}

/// Scenario 74: a message broken by raw newlines is joined, and garbage is counted.
#[test]
fn broken_and_garbage_lines_are_survived() {
    let mut session = session(8);
    assert_eq!(said(&line(&mut session, "warning: not a message")), "");
    assert_eq!(said(&line(&mut session, "[1,2]")), "");
    assert_eq!(session.garbage(), 2);
    assert_eq!(said(&line(&mut session, r#"{"method":"a","params":{"text":"one"#)), "");
    assert_eq!(said(&line(&mut session, r#"two"}}"#)), "told a");
    assert_eq!(said(&line(&mut session, r#"{"method":"cut"#)), "");
    assert_eq!(said(&line(&mut session, r#"{"method":"whole"}"#)), "told whole");
    assert_eq!(session.garbage(), 3);
    assert_eq!(said(&session.step(SECOND, RpcInput::Line(b"\xff\xfe"))), "");
}

proptest! {
    /// In any order of answers, each call is settled once, with its own answer.
    #[test]
    fn every_call_is_settled_once_with_its_own_answer(
        order in Just((1_u64..=12).collect::<Vec<_>>()).prop_shuffle(),
        in_flight in 1_usize..12,
    ) {
        let mut session = session(in_flight);
        let mut settled = Vec::new();
        let mut written = std::collections::BTreeSet::new();
        let mut outputs: Vec<RpcOutput> = Vec::new();
        for token in 1..=12 {
            outputs.extend(call(&mut session, token));
        }
        let mut left = order;
        while !left.is_empty() {
            for output in outputs.drain(..) {
                match output {
                    RpcOutput::Write(text) => {
                        let id = Json::parse(text.trim()).unwrap().get("id").unwrap().as_u64().unwrap();
                        prop_assert!(written.insert(id));
                    }
                    RpcOutput::Settle { token, result } => {
                        settled.push((token.0, result.unwrap().as_u64().unwrap()));
                    }
                    _ => {}
                }
            }
            let Some(index) = left.iter().position(|id| written.contains(id)) else { break };
            let id = left.remove(index);
            outputs = line(&mut session, &format!(r#"{{"id":{id},"result":{id}}}"#));
        }
        for output in outputs {
            if let RpcOutput::Settle { token, result } = output {
                settled.push((token.0, result.unwrap().as_u64().unwrap()));
            }
        }
        settled.sort_unstable();
        prop_assert_eq!(settled, (1..=12).map(|id| (id, id)).collect::<Vec<_>>());
    }

    #[test]
    fn no_line_makes_the_session_fail(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        let mut session = session(2);
        call(&mut session, 1);
        session.step(SECOND, RpcInput::Line(&bytes));
        let answered = line(&mut session, r#"{"id":1,"result":1}"#);
        prop_assert_eq!(said(&answered), "1 ok 1");
    }
}
