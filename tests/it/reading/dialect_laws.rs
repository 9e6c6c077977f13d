//! Laws of the dialects and the fold for arbitrary rows: they never panic, and
//! reading the rows in pieces makes no difference.

use proptest::prelude::*;
use serde_json::{Value, json};
use traj_core::dialect::{Dialect, decode_manifest, encode_event};
use traj_core::json::{Json, Object};
use traj_core::memory::MemorySources;
use traj_core::port::Sources as _;
use traj_core::run::{Fold, Place, Prices, Run, RunEvent, SessionFiles, SessionRun};
use traj_tests::session_fixtures;
use traj_tests::session_fixtures::gathered::rows_of;

/// Files that become rows before they are read.
const DOCUMENTS: [&str; 2] = [
    include_str!("../../fixtures/atif/plain.json"),
    include_str!("../../fixtures/otlp-json/plain.jsonl"),
];

/// Real rows of every dialect.
fn real_rows() -> Vec<String> {
    let files = [
        include_str!("../../fixtures/rollouts/old-fork.jsonl"),
        include_str!("../../fixtures/rollouts/old-compaction.jsonl"),
        include_str!("../../fixtures/rollouts/old-approvals.jsonl"),
        include_str!("../../fixtures/rollouts/new-plain.jsonl"),
        include_str!("../../fixtures/rollouts/new-approvals.jsonl"),
        include_str!("../../fixtures/rollouts/new-code-mode.jsonl"),
        include_str!("../../fixtures/rollouts/new-sub-agent.jsonl"),
        include_str!("../../fixtures/claude-code/every-kind.jsonl"),
        include_str!("../../fixtures/claude-code/v1-0-side-chain.jsonl"),
        include_str!("../../fixtures/claude-code/v2-0-parent.jsonl"),
        include_str!("../../fixtures/claude-code/v2-1-branches.jsonl"),
        include_str!("../../fixtures/claude-code/v2-1-requests.jsonl"),
        include_str!("../../fixtures/bundles-0.1.0/nightly-import/events.jsonl"),
        include_str!("../../../examples/run/session.jsonl"),
    ];
    let written = files.into_iter().flat_map(str::lines).map(str::to_owned);
    let gathered = DOCUMENTS.map(|document| rows_of(document).unwrap().unwrap());
    let gathered: Vec<String> =
        gathered.iter().flat_map(|rows| rows.lines()).map(str::to_owned).collect();
    let made = session_fixtures::all().into_iter();
    let made = made.flat_map(|made| [made.transcript, made.sidecar].concat());
    written.chain(gathered).chain(made).collect()
}

fn hostile_leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        prop_oneof![Just(u64::MAX), Just(u64::MAX - 1), Just(0), any::<u64>()]
            .prop_map(Value::from),
        prop_oneof![Just(i64::MIN), Just(-1), any::<i64>()].prop_map(Value::from),
        prop_oneof![Just(1e308), Just(-0.0), Just(9.3e18)].prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        prop::sample::select(vec![
            "message",
            "assistant",
            "toolResult",
            "event_msg",
            "item_completed",
            "session",
            "2026-06-01T10:00:00.000Z",
            "9999-12-31T23:59:59.999Z",
            "0000-01-01T00:00:00Z",
            "Process exited with code 99999999999999999999",
            "{\"metadata\":{\"exit_code\":1}}",
        ])
        .prop_map(Value::from),
    ]
}

fn hostile() -> impl Strategy<Value = Value> {
    hostile_leaf().prop_recursive(3, 16, 4, |inner| {
        let names = prop_oneof![
            prop::sample::select(vec!["type", "content", "text", "usage", "id", "arguments"])
                .prop_map(str::to_owned),
            any::<String>(),
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((names, inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// A change to a row: the path, the kind of change, a value.
type Change = (Vec<u8>, u8, Value);

fn changes() -> impl Strategy<Value = Vec<Change>> {
    prop::collection::vec((prop::collection::vec(any::<u8>(), 0..6), 0_u8..5, hostile()), 0..4)
}

/// Changes a value at a path.
fn change(mut value: &mut Value, (path, how, other): Change) {
    for step in path {
        let step = usize::from(step);
        // A scalar or empty container is changed itself.
        let has_inside = match &*value {
            Value::Object(members) => !members.is_empty(),
            Value::Array(items) => !items.is_empty(),
            _ => false,
        };
        if !has_inside {
            break;
        }
        value = match value {
            Value::Object(members) => {
                let place = step % members.len();
                members.values_mut().nth(place).unwrap()
            }
            Value::Array(items) => {
                let place = step % items.len();
                &mut items[place]
            }
            _ => unreachable!("it has an inside"),
        };
    }
    let before = value.take();
    *value = match (how, before) {
        (0, _) => other,
        (1, before) => json!([before, other]),
        (2, before) => json!({"type": before, "content": other}),
        (3, Value::Object(mut members)) => {
            let last = members.keys().next_back().cloned().unwrap_or_default();
            members.insert(last, other);
            Value::Object(members)
        }
        (3, Value::Array(mut items)) => {
            items.push(other);
            Value::Array(items)
        }
        _ => Value::Null,
    };
}

/// Real rows, some of them changed.
fn changed_rows() -> impl Strategy<Value = Vec<String>> {
    let row = (prop::sample::select(real_rows()), changes()).prop_map(|(row, changes)| {
        let mut row: Value = serde_json::from_str(&row).unwrap();
        changes.into_iter().for_each(|one| change(&mut row, one));
        row.to_string()
    });
    prop::collection::vec(row, 1..12)
}

/// Decodes and folds rows with one dialect; passes each event to `see`.
fn folded(dialect: Dialect, rows: &[String], see: &mut dyn FnMut(&RunEvent<'_>)) -> Run {
    let mut fold = Fold::new(Prices::shipped());
    for (line, row) in (1..).zip(rows) {
        let row = Json::parse(row).unwrap();
        dialect.decode(&row, Place::line(line), &mut |event| {
            see(&event);
            fold.push(&event);
        });
    }
    fold.finish()
}

fn read(transcript: &str, sidecar: &str) -> SessionRun {
    let sources = MemorySources::new();
    sources.put("s", transcript);
    sources.put("t", sidecar);
    let (transcript, sidecar) = (sources.open("s").unwrap(), sources.open("t").unwrap());
    let files = SessionFiles {
        transcript: Some(&*transcript),
        sidecar: Some(&*sidecar),
        session: "s1",
        longest_row: traj_core::limits::Reading::standard().session_line_bytes,
    };
    files.fold(Prices::shipped()).unwrap()
}

proptest! {
    #[test]
    fn no_row_makes_a_dialect_or_the_fold_panic(rows in changed_rows()) {
        for dialect in Dialect::ALL {
            let mut facts = 0_u64;
            let run = folded(*dialect, &rows, &mut |_| facts += 1);
            prop_assert!(facts >= rows.len() as u64, "every row states something");
            prop_assert!(run.events <= facts);
        }
    }

    #[test]
    fn no_value_makes_a_dialect_or_the_fold_panic(values in prop::collection::vec(hostile(), 1..8)) {
        let rows: Vec<String> = values.iter().map(Value::to_string).collect();
        for dialect in Dialect::ALL {
            folded(*dialect, &rows, &mut |_| {});
        }
        for row in &rows {
            let manifest = Json::parse(row).unwrap();
            let mut fold = Fold::new(Prices::shipped());
            decode_manifest(&manifest, &mut |event| fold.push(&event));
            let _run = fold.finish();
        }
    }

    #[test]
    fn a_fact_of_any_row_comes_back_from_its_event(rows in changed_rows()) {
        let mut differing = Vec::new();
        for dialect in Dialect::ALL.iter().filter(|dialect| dialect.is_foreign()) {
        folded(*dialect, &rows, &mut |event| {
            let (kind, data) = encode_event(event);
            let mut row = Object::new();
            row.push("source", "transcript");
            row.push("type", kind);
            row.push("data", Json::Object(data));
            let row = Json::Object(row);
            let mut facts = Vec::new();
            Dialect::Bundle.decode(&row, Place::line(1), &mut |event| {
                facts.push(format!("{:?} {:?} {:?}", event.fact, event.turn, event.thread));
            });
            let before = format!("{:?} {:?} {:?}", event.fact, event.turn, event.thread);
            if facts != [before.clone()] {
                differing.push((before, facts));
            }
        });
        }
        prop_assert_eq!(differing, []);
    }

    #[test]
    fn no_document_makes_gathering_panic(
        document in prop::sample::select(DOCUMENTS.to_vec()),
        changes in changes(),
        cut in any::<prop::sample::Index>(),
    ) {
        // A document, or the first of several.
        let first = serde_json::Deserializer::from_str(document).into_iter().next();
        let mut value: Value = first.unwrap().unwrap();
        changes.into_iter().for_each(|one| change(&mut value, one));
        for text in [value.to_string(), document.get(..cut.index(document.len())).unwrap_or_default().to_owned()] {
            for row in rows_of(&text).ok().flatten().unwrap_or_default().lines() {
                let row = Json::parse(row).unwrap();
                for dialect in [Dialect::Atif, Dialect::OtlpJson] {
                    dialect.decode(&row, Place::line(1), &mut |_| {});
                }
            }
        }
    }

    #[test]
    fn no_file_makes_the_reader_panic(
        rows in changed_rows(),
        events in changed_rows(),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut transcript = rows.join("\n");
        let end = transcript.floor_char_boundary(cut.index(transcript.len() + 1));
        transcript.truncate(end);
        let read = read(&transcript, &events.join("\n"));
        prop_assert!(read.recorded <= events.len() as u64);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Spaces after rows move the rows to other blocks and change nothing else.
    #[test]
    fn where_a_block_ends_makes_no_difference(
        pads in prop::collection::vec((0_usize..64, 0_usize..700_000), 1..6),
    ) {
        for fixture in session_fixtures::all() {
            let [mut transcript, mut sidecar] = [fixture.transcript, fixture.sidecar];
            let plain = read(&transcript.join("\n"), &sidecar.join("\n"));
            for (row, blanks) in &pads {
                let place = row % (transcript.len() + sidecar.len());
                let row = transcript.iter_mut().chain(&mut sidecar).nth(place).unwrap();
                row.push_str(&" ".repeat(*blanks));
            }
            let padded = read(&transcript.join("\n"), &sidecar.join("\n"));
            prop_assert_eq!(&plain, &padded, "{}", fixture.name);
        }
    }
}
