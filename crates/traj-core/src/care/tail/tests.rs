//! Tail on files that grow, are truncated, rewritten and replaced.

use proptest::prelude::*;

use super::*;
use crate::json::Json;
use crate::limits::Reading;
use crate::run::Origin;

/// Wants every event; the rows contain no secrets.
pub(super) struct Everything;

impl EventFilter for Everything {
    fn wants_every_type(&self) -> bool {
        true
    }

    fn wants_type(&self, _kind: &str) -> bool {
        true
    }

    fn redact<'r>(&self, row: Json<'r>) -> Json<'r> {
        row
    }

    fn wants(&self, _event: &TailEvent, _row: &Json<'_>) -> bool {
        true
    }
}

/// Reads a file from its end, in blocks of this size.
pub(super) fn read_back(last: &mut LastEvents, bytes: &[u8], block: usize) -> Vec<TailEvent> {
    let mut end = bytes.len();
    while end > 0 {
        let start = end.saturating_sub(block);
        if !last.block(&bytes[start..end], &Everything) {
            break;
        }
        end = start;
    }
    last.finish(&Everything)
}

fn line(number: u64) -> String {
    format!(
        r#"{{"traceSchema":"openclaw-trajectory","schemaVersion":1,"traceId":"s","source":"runtime","type":"tool.call","ts":"2026-06-01T10:00:00.{:03}Z","seq":{number},"sourceSeq":{number},"sessionId":"s","data":{{"toolCallId":"c{number}","name":"read é"}}}}"#,
        number % 1_000
    )
}

/// A file and its follower, driven as the adapter does it.
struct FollowRig {
    key: (u64, u64),
    bytes: Vec<u8>,
    follow: Follow,
    shown: Vec<u64>,
}

impl FollowRig {
    fn new() -> Self {
        let follow = Follow::new(Origin::Runtime);
        Self { key: (1, 1), bytes: Vec::new(), follow, shown: Vec::new() }
    }

    fn poll(&mut self, chunk: usize) {
        let shown = &mut self.shown;
        let mut show = |event: TailEvent| {
            let call = event.call_id.expect("every event here has a call");
            shown.push(call.trim_start_matches('c').parse().expect("a number"));
        };
        let mut compared = false;
        loop {
            let state = FileState { key: self.key, length: self.bytes.len() as u64 };
            let range = match self.follow.look(state, &Everything, &mut show) {
                Some(range) => range,
                None if self.follow.reached_end() => continue,
                None if compared => return,
                None => self.follow.to_compare(),
            };
            let (from, to) = (
                range.from as usize,
                (range.to as usize).min(range.from as usize + follow::RECENT + chunk),
            );
            compared = self.follow.feed(range.from, &self.bytes[from..to], &Everything, &mut show);
        }
    }
}

#[derive(Clone, Debug)]
enum FileChange {
    Append(usize),
    Partial(usize),
    Replace,
    Roll(usize),
    Rotate,
    Overwrite,
    Touch,
    Poll(usize),
}

fn change() -> impl Strategy<Value = FileChange> {
    prop_oneof![
        (1_usize..4).prop_map(FileChange::Append),
        (1_usize..200).prop_map(FileChange::Partial),
        Just(FileChange::Replace),
        (0_usize..3).prop_map(FileChange::Roll),
        Just(FileChange::Rotate),
        Just(FileChange::Overwrite),
        Just(FileChange::Touch),
        (1_usize..500).prop_map(FileChange::Poll),
    ]
}

proptest! {
    #[test]
    fn no_event_is_lost_or_repeated(changes in proptest::collection::vec(change(), 1..40)) {
        let mut rig = FollowRig::new();
        let mut next = 0;
        let mut pending: Vec<u8> = Vec::new();
        for change in changes {
            match change {
                FileChange::Append(count) => {
                    rig.bytes.append(&mut pending);
                    for _ in 0..count {
                        rig.bytes.extend_from_slice(line(next).as_bytes());
                        rig.bytes.push(b'\n');
                        next += 1;
                    }
                }
                FileChange::Partial(cut) => {
                    rig.bytes.append(&mut pending);
                    let mut whole = line(next).into_bytes();
                    next += 1;
                    whole.push(b'\n');
                    pending = whole.split_off(cut.min(whole.len()));
                    rig.bytes.extend(whole);
                }
                // The whole file changes only after it was read; an adapter
                // ensures this by keeping the old file open.
                FileChange::Replace => {
                    rig.poll(1_000);
                    rig.key.1 += 1;
                }
                FileChange::Roll(lines) => {
                    rig.bytes.append(&mut pending);
                    rig.poll(1_000);
                    for _ in 0..lines {
                        let end = rig.bytes.iter().position(|byte| *byte == b'\n');
                        rig.bytes.drain(..end.map_or(0, |end| end + 1));
                    }
                    rig.key.1 += 1;
                }
                FileChange::Rotate => {
                    rig.bytes.append(&mut pending);
                    rig.poll(1_000);
                    rig.bytes.clear();
                    rig.key.1 += 1;
                }
                // Other events of the same length, in the same file.
                FileChange::Overwrite => {
                    rig.bytes.append(&mut pending);
                    rig.poll(1_000);
                    let length = rig.bytes.len();
                    let mut bytes = Vec::new();
                    while bytes.len() + line(next).len() < length {
                        bytes.extend_from_slice(line(next).as_bytes());
                        bytes.push(b'\n');
                        next += 1;
                    }
                    if !bytes.is_empty() {
                        bytes.resize(length, b'\n');
                        rig.bytes = bytes;
                    }
                }
                FileChange::Touch => {
                    rig.poll(1_000);
                    rig.poll(1_000);
                }
                FileChange::Poll(chunk) => rig.poll(chunk),
            }
        }
        rig.bytes.append(&mut pending);
        rig.poll(300);
        let expected: Vec<u64> = (0..next).collect();
        prop_assert_eq!(rig.shown, expected);
    }

    #[test]
    fn the_last_events_are_those_of_a_plain_read(
        count in 0_u64..30,
        wanted in 0_usize..40,
        block in 1_usize..700,
        torn in any::<bool>(),
    ) {
        let mut text: String = (0..count).map(|number| format!("{}\nnoise\n", line(number))).collect();
        if torn {
            text.push_str("{\"traceSch");
        }
        let bytes = text.as_bytes();
        let mut last = LastEvents::new(Origin::Runtime, wanted);
        let events = read_back(&mut last, bytes, block);
        let calls: Vec<String> = events.into_iter().filter_map(|event| event.call_id).collect();
        let first = count.saturating_sub(wanted as u64);
        let expected: Vec<String> = (first..count).map(|number| format!("c{number}")).collect();
        prop_assert_eq!(calls, expected);
        prop_assert_eq!(last.unfinished() > 0, torn);
        // In counting mode, the reach is where the first of them begins.
        let mut counting = LastEvents::counting(Origin::Runtime, wanted);
        read_back(&mut counting, bytes, block);
        if wanted > 0 {
            let (found, reach) = counting.counted();
            prop_assert_eq!(found as u64, count - first);
            let begin = if count > first { text.find(&line(first)) } else { None };
            prop_assert_eq!(reach as usize, begin.map_or(0, |begin| bytes.len() - begin));
        }
    }
}

#[test]
fn a_file_cut_in_place_is_read_again_without_repeats() {
    let mut rig = FollowRig::new();
    rig.bytes = (0..5).map(|number| line(number) + "\n").collect::<String>().into_bytes();
    rig.poll(100);
    // Truncated and grown beyond the old length between two checks, same file.
    rig.bytes = (3..12).map(|number| line(number) + "\n").collect::<String>().into_bytes();
    rig.poll(100);
    assert_eq!(rig.shown, (0..12).collect::<Vec<u64>>());
}

#[test]
fn without_old_events_a_replaced_file_shows_none() {
    let mut rig = FollowRig::new();
    let text: String = (0..5).map(|number| line(number) + "\n").collect();
    let (begun, rest) = text.split_at(text.len() - 9);
    rig.bytes = begun.as_bytes().to_vec();
    let mut last = LastEvents::new(Origin::Runtime, 0);
    assert!(!last.block(&rig.bytes, &Everything));
    assert!(last.finish(&Everything).is_empty());
    let offset = rig.bytes.len() as u64 - last.unfinished();
    rig.follow = Follow::from_middle(rig.key, offset, &rig.bytes[..offset as usize], &last);
    rig.poll(100);
    assert!(rig.shown.is_empty());
    rig.bytes.extend_from_slice(rest.as_bytes());
    rig.poll(100);
    rig.key.1 += 1;
    rig.bytes.extend_from_slice((line(5) + "\n").as_bytes());
    rig.poll(100);
    assert_eq!(rig.shown, [4, 5]);
}

#[test]
fn a_run_with_smaller_numbers_is_shown_after_a_replacement() {
    let mut rig = FollowRig::new();
    rig.bytes = (100..103).map(|number| line(number) + "\n").collect::<String>().into_bytes();
    rig.poll(100);
    rig.key.1 += 1;
    rig.bytes.extend((1..3).map(|number| line(number) + "\n").collect::<String>().into_bytes());
    rig.poll(100);
    assert_eq!(rig.shown, [100, 101, 102, 1, 2]);
}

#[test]
fn lines_read_like_the_other_tail_with_more_facts() {
    let event = |kind: &str, time: &str, data: &str| {
        let row = format!(
            r#"{{"traceSchema":"openclaw-trajectory","schemaVersion":1,"type":"{kind}","ts":"2026-06-01T10:00:{time}Z","seq":1,"sessionId":"s","sessionKey":"agent:main:telegram:direct:123456","provider":"openai","modelId":"gpt","data":{data}}}"#
        );
        TailEvent::parse(row.as_bytes(), Origin::Runtime, &Everything).unwrap()
    };
    let mut timings = timings::Timings::default();
    let lines: Vec<String> = [
        event("session.started", "00.000", "{}"),
        event("context.compiled", "00.100", r#"{"tools":[{},{}]}"#),
        event("prompt.submitted", "00.200", "{}"),
        event(
            "tool.call",
            "01.000",
            r#"{"toolCallId":"c","name":"bash","arguments":{"command":["bash","-lc","ls -l"]}}"#,
        ),
        event("tool.result", "02.500", r#"{"toolCallId":"c","name":"bash","success":false}"#),
        event(
            "model.completed",
            "05.000",
            r#"{"promptError":"overloaded","usage":{"input":1200,"cacheRead":50,"output":30}}"#,
        ),
        event("turn.terminal_idle_timeout", "05.500", "{}"),
        event("session.ended", "59.000", r#"{"status":"error"}"#),
    ]
    .into_iter()
    .map(|mut event| {
        timings.annotate(&mut event, 0);
        event.layout()
    })
    .collect();
    insta::assert_snapshot!(lines.join("\n"), @r"
    10:00:00 session.started  agent:main:telegram:direct:12… session started: openai/gpt
    10:00:00 context.compiled agent:main:telegram:direct:12… context compiled: 2 tools
    10:00:00 prompt.submitted agent:main:telegram:direct:12… prompt submitted
    10:00:01 tool.call        agent:main:telegram:direct:12… bash ls -l
    10:00:02 tool.result      agent:main:telegram:direct:12… bash failed · 1.5 s
    10:00:05 model.completed  agent:main:telegram:direct:12… openai/gpt error · 4.8 s · 1250 in, 30 out: overloaded
    10:00:05 turn.terminal_i… agent:main:telegram:direct:12… turn.terminal_idle_timeout
    10:00:59 session.ended    agent:main:telegram:direct:12… error · 59.0 s
    ");
}

#[test]
fn previews_reach_deep_enough_and_invalid_bytes_are_repaired() {
    let row = |line: &[u8], origin| {
        TailEvent::parse(line, origin, &Everything).map(|event| event.summary())
    };
    let message = |role: &str, content: &str| {
        format!(
            r#"{{"type":"message","id":"a","timestamp":"2026-06-01T10:00:00Z","message":{{"role":"{role}","toolName":"read","usage":{{"input":5,"output":2}},"content":{content}}}}}"#
        )
    };
    let blocks = r#"[{"type":"thinking","thinking":{"deep":[[1]]}},{"type":"text","text":"said"},{"type":"toolCall","name":"read","arguments":{"a":{"b":1}}}]"#;
    let seen =
        |role: &str, content: &str| row(message(role, content).as_bytes(), Origin::Transcript);
    assert_eq!(seen("assistant", blocks).unwrap(), "said → read · 5 in, 2 out");
    assert_eq!(seen("user", r#""plain""#).unwrap(), "plain");
    assert_eq!(seen("toolResult", blocks).unwrap(), "read ok");
    // The parts that are not examined must still be valid JSON.
    assert_eq!(seen("toolResult", r#"[{"type":"text","text":"torn]"#), None);
    let rollout = r#"{"type":"response_item","timestamp":"2026-06-01T10:00:00Z","payload":{"type":"message","role":"user","content":[{"text":"x"}]}}"#;
    assert_eq!(row(rollout.as_bytes(), Origin::Transcript).unwrap(), "context/user x");
    let mut broken = message("user", r#""a?b""#).into_bytes();
    let at = broken.iter().position(|byte| *byte == b'?').unwrap();
    broken[at] = 0xff;
    assert_eq!(row(&broken, Origin::Transcript).unwrap(), "a\u{fffd}b");
}

#[test]
fn long_lines_take_bounded_memory() {
    let long = vec![b'x'; Reading::standard().tail_line_bytes + 10];
    let mut rig = Follow::new(Origin::Runtime);
    let mut shown = Vec::new();
    let state = FileState { key: (1, 1), length: 1 << 40 };
    rig.look(state, &Everything, &mut |_| {});
    assert!(rig.feed(0, &long, &Everything, &mut |event| shown.push(event)));
    assert!(rig.lines.held_bytes() <= Reading::standard().tail_line_bytes);
    let range = rig.look(state, &Everything, &mut |_| {}).unwrap();
    let mut next = vec![b'x'; (long.len() as u64 - range.from) as usize];
    next.extend_from_slice(b"x\n");
    assert!(rig.feed(range.from, &next, &Everything, &mut |event| shown.push(event)));
    assert_eq!(shown.len(), 1);
    assert_eq!(shown[0].severity, Severity::Warning);
}

#[test]
fn a_row_that_nobody_wants_has_the_same_ends() {
    let message = |message: &str| {
        format!(
            r#"{{"type":"message","id":"e1","parentId":"e0","timestamp":"2026-06-01T10:00:00.000Z","message":{message}}}"#
        )
    };
    let rows = [
        message(
            r#"{"role":"toolResult","toolCallId":"c1","content":[{"type":"text","text":"x"}]}"#,
        ),
        message(r#"{"role":"toolResult","toolCallId":"c1","content":"x","durationMs":7}"#),
        message(
            r#"{"role":"toolResult","toolCallId":"c1","content":[],"details":{"durationMs":7}}"#,
        ),
        message(
            r#"{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"read","arguments":{"path":"a"}}]}"#,
        ),
        message(
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"x"}]}]}"#,
        ),
        message(r#"{"role":"user","content":"go"}"#),
    ];
    let mut ends = 0;
    for row in rows {
        let read = |filter: &dyn EventFilter| {
            TailEvent::parse(row.as_bytes(), Origin::Transcript, filter).unwrap()
        };
        let (wanted, unwanted) = (read(&Everything), read(&KeepNothing));
        assert_eq!(unwanted.edges, wanted.edges, "{row}");
        assert_eq!(
            (unwanted.at, unwanted.kind, unwanted.identity),
            (wanted.at, wanted.kind, wanted.identity)
        );
        ends += wanted.edges.len();
    }
    assert_eq!(ends, 4, "a result that states how long it took is not timed");
}
