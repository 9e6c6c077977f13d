//! Repair of damaged files.

use proptest::prelude::*;

use super::survey::SurveyLimits;
use super::*;
use crate::dialect::transcript::EntryKey;
use crate::memory::MemoryScratch;

fn repaired(lines: &[Vec<u8>]) -> (Diagnosis, Vec<String>) {
    repaired_within(lines, SurveyLimits::default())
}

fn repaired_within(lines: &[Vec<u8>], limits: SurveyLimits) -> (Diagnosis, Vec<String>) {
    let mut survey = RepairSurvey::with_limits(Box::new(MemoryScratch::new()), limits);
    for line in lines {
        survey.line(line).expect("there is room for notes");
    }
    let diagnosis = survey.finish("s1").expect("notes can be read back");
    let mut rebuild = Rebuild::new(&diagnosis);
    let mut copy: Vec<String> = rebuild.first_line().into_iter().map(str::to_owned).collect();
    for line in lines {
        let mut write = |row: &[u8]| -> Result<(), ()> {
            copy.push(String::from_utf8(row.to_vec()).expect("a copy is text"));
            Ok(())
        };
        rebuild.line(line, &mut write).expect("nothing fails here");
    }
    (diagnosis, copy)
}

fn of(text: &str) -> Vec<Vec<u8>> {
    text.split('\n').map(|line| line.as_bytes().to_vec()).collect()
}

fn entry(id: &str, parent: &str) -> String {
    let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
    format!(
        r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-06-01T10:00:00Z","message":{{"role":"user","content":[{{"type":"text","text":"{id}"}}]}}}}"#
    )
}

const HEADER: &str =
    r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-06-01T10:00:00Z","cwd":"/w"}"#;

fn codes(diagnosis: &Diagnosis) -> Vec<(u64, &'static str)> {
    diagnosis.findings().iter().map(|finding| (finding.line, finding.problem.code())).collect()
}

#[test]
fn a_sound_session_stays_byte_for_byte() {
    let text = [HEADER.to_owned(), entry("a", ""), entry("b", "a"), entry("c", "a")].join("\n");
    let (diagnosis, copy) = repaired(&of(&text));
    assert!(diagnosis.is_sound(), "{:?}", codes(&diagnosis));
    assert_eq!(copy.join("\n"), text);
}

#[test]
fn damage_of_bytes_is_found_by_line_and_valid_rows_come_out() {
    let a = entry("a", "");
    let b = entry("b", "a");
    let c = entry("c", "b");
    let mut nul = b.clone().into_bytes();
    nul.splice(0..0, [0; 20]);
    let mut bad = entry("x", "c").into_bytes();
    let at = bad.len() - 6;
    bad[at] = 0xff;
    let lines = vec![
        HEADER.as_bytes().to_vec(),
        format!("{a}{}", &a.get(..40).unwrap()).into_bytes(),
        nul,
        format!("{}{c}", &a.get(..30).unwrap()).into_bytes(),
        c.clone().into_bytes(),
        bad,
        b"{\"type\":\"message\",\"id\":\"torn".to_vec(),
    ];
    let (diagnosis, copy) = repaired(&lines);
    assert_eq!(
        codes(&diagnosis),
        [
            (2, "torn"),
            (3, "nul-run"),
            (4, "torn"),
            (5, "repeated"),
            (6, "invalid-utf8"),
            (7, "torn")
        ]
    );
    assert_eq!(copy.len(), 5);
    assert_eq!(copy[1..4], [a, b, c]);
    assert!(repaired(&of(&copy.join("\n"))).0.is_sound());
}

#[test]
fn rows_on_one_line_and_rows_written_into_each_other_are_taken_apart() {
    let (a, b, c) = (entry("a", ""), entry("b", "a"), entry("c", "b"));
    let (head, tail) = c.split_at(50);
    let lines = of(&[
        HEADER.to_owned(),
        format!("{a}{b}"),
        format!("{head}{}", entry("d", "b")),
        tail.to_owned(),
    ]
    .join("\n"));
    let (diagnosis, copy) = repaired(&lines);
    assert_eq!(codes(&diagnosis), [(2, "joined-rows"), (3, "torn"), (4, "interleaved")]);
    assert_eq!(copy, [HEADER.to_owned(), a, b, entry("d", "b"), c]);
}

#[test]
fn missing_parents_and_cycles_are_repaired() {
    let text = [
        entry("a", ""),
        entry("b", "gone"),
        entry("c", "gone"),
        entry("d", "e"),
        entry("e", "d"),
        entry("f", "f"),
        HEADER.to_owned(),
    ];
    let (diagnosis, copy) = repaired(&of(&text.join("\n")));
    assert_eq!(
        codes(&diagnosis),
        [
            (2, "missing-parent"),
            (3, "missing-parent"),
            (4, "cycle"),
            (6, "cycle"),
            (7, "late-header")
        ]
    );
    let expected = [
        HEADER.to_owned(),
        entry("a", ""),
        entry("b", "a"),
        entry("c", "a"),
        entry("d", "c"),
        entry("e", "d"),
        entry("f", "e"),
    ];
    assert_eq!(copy, expected);
    let (missing, copy) = repaired(&of(&entry("a", "")));
    assert_eq!(codes(&missing), [(1, "missing-header")]);
    assert!(copy[0].starts_with(r#"{"type":"session","version":3,"id":"s1""#));
}

#[test]
fn rows_of_a_rollout_are_numbered_without_a_gap() {
    let row = |ordinal: &str, text: &str| {
        format!(
            r#"{{"timestamp":"2026-06-01T10:00:00Z",{ordinal}"type":"event_msg","payload":{{"type":"x","t":"{text}"}}}}"#
        )
    };
    let text = [row(r#""ordinal":0,"#, "a"), row(r#""ordinal":2,"#, "b"), row("", "c")];
    let (diagnosis, copy) = repaired(&of(&text.join("\n")));
    assert_eq!(diagnosis.kind(), DocumentKind::Rollout);
    assert_eq!(codes(&diagnosis), [(2, "wrong-ordinal"), (3, "wrong-ordinal")]);
    assert_eq!(copy[..2], [row(r#""ordinal":0,"#, "a"), row(r#""ordinal":1,"#, "b")]);
    assert!(copy[2].ends_with(r#","ordinal":2}"#));
    // Without any ordinal nothing is wrong, not even equal rows.
    let legacy = [row("", "a"), row("", "a")].join("\n");
    assert!(repaired(&of(&legacy)).0.is_sound());
}

fn damage() -> impl Strategy<Value = (usize, Vec<u8>)> {
    (
        0_usize..400,
        prop_oneof![
            Just(vec![0; 7]),
            Just(vec![0xff, 0xfe]),
            Just(b"\n".to_vec()),
            Just(b"{\"type\":\"message\",\"id".to_vec()),
            proptest::collection::vec(any::<u8>(), 1..12),
        ],
    )
}

#[test]
fn missing_space_for_notes_is_reported() {
    let limits = SurveyLimits { recent: 1, ..SurveyLimits::default() };
    let mut survey = RepairSurvey::with_limits(Box::new(MemoryScratch::with_room(80)), limits);
    let row = entry("a", "");
    let outcome = (0..9).try_for_each(|_| survey.line(row.as_bytes()));
    assert!(matches!(outcome, Err(RepairError::NoRoom)), "{outcome:?}");
}

#[test]
fn all_findings_are_counted_and_the_first_are_reported() {
    let lines = vec![b"torn {".to_vec(); 3_000];
    let (diagnosis, copy) = repaired(&lines);
    assert_eq!(diagnosis.findings().len(), 1_000);
    assert_eq!(diagnosis.findings().last().unwrap().line, 1_000);
    assert_eq!(diagnosis.counts()[&Problem::Torn], 3_000);
    assert!(copy.is_empty());
}

/// Rows of a session in any order, with repeated ids, and with parents that are
/// missing, come later or are the row itself.
fn tangle() -> impl Strategy<Value = Vec<(u8, Option<u8>)>> {
    proptest::collection::vec((0_u8..12, proptest::option::of(0_u8..14)), 0..24)
}

/// The rows of a tangle. No two are alike, even with equal ids.
fn rows_of(tangle: &[(u8, Option<u8>)]) -> Vec<String> {
    let rows = tangle.iter().enumerate().map(|(index, (id, parent))| {
        let parent = parent.map(|parent| format!("e{parent}")).unwrap_or_default();
        entry(&format!("e{id}"), &parent).replace("10:00:00Z", &format!("10:00:{index:02}Z"))
    });
    rows.collect()
}

proptest! {
    #[test]
    fn no_valid_row_is_ever_lost(
        parents in proptest::collection::vec(0_usize..8, 1..8),
        damages in proptest::collection::vec(damage(), 0..5),
    ) {
        let rows: Vec<String> = parents
            .iter()
            .enumerate()
            .map(|(index, parent)| entry(&format!("e{index}"), &format!("e{parent}")))
            .collect();
        let mut bytes = format!("{HEADER}\n{}\n", rows.join("\n")).into_bytes();
        for (at, what) in damages {
            let at = at.min(bytes.len());
            bytes.splice(at..at, what);
        }
        let lines: Vec<Vec<u8>> = bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        let (_, copy) = repaired(&lines);
        // Every line that is a row on its own is in the copy, by its text.
        for (index, row) in rows.iter().enumerate() {
            if lines.iter().any(|line| line == row.as_bytes()) {
                let text = format!(r#""text":"e{index}""#);
                prop_assert!(copy.iter().any(|line| line.contains(&text)), "row {index} is gone");
            }
        }
        // A repaired copy needs no repair.
        let again = repaired(&of(&copy.join("\n"))).0;
        let left: Vec<Problem> = again
            .findings()
            .iter()
            .map(|finding| finding.problem)
            .filter(|problem| !matches!(problem, Problem::NotARow | Problem::DuplicateId))
            .collect();
        prop_assert!(left.is_empty(), "{left:?} in {copy:?}");
    }

    #[test]
    fn links_are_repaired_as_with_the_whole_tree_in_memory(tangle in tangle(), slice in 1_usize..5) {
        let lines = of(&rows_of(&tangle).join("\n"));
        let limits = SurveyLimits { recent: slice + 1, slice, links: 100 };
        let (diagnosis, _) = repaired_within(&lines, limits);
        let links: Vec<links_oracle::Link> = tangle
            .iter()
            .zip(0..)
            .map(|((id, parent), row)| links_oracle::Link {
                row,
                id: EntryKey::of(&format!("e{id}")),
                parent: parent.map(|parent| EntryKey::of(&format!("e{parent}"))),
            })
            .collect();
        let expected = links_oracle::mend(&links);
        for (row, problem, parent) in &expected {
            prop_assert_eq!(diagnosis.parents.get(row), Some(parent), "row {}", row);
            let problem = match problem {
                links::BrokenLink::Missing => Problem::MissingParent,
                links::BrokenLink::Cycle => Problem::Cycle,
            };
            let finding = LineProblem { line: row + 1, problem };
            prop_assert!(diagnosis.findings().contains(&finding), "row {}", row);
        }
        prop_assert_eq!(diagnosis.parents.len(), expected.len());
    }

    #[test]
    fn low_memory_limits_do_not_change_the_result(
        tangle in tangle(),
        copies in proptest::collection::vec((0_usize..24, 0_usize..24), 0..6),
        limits in (1_usize..4, 1_usize..4),
    ) {
        let mut rows = rows_of(&tangle);
        rows.push(HEADER.to_owned());
        for (from, to) in copies {
            let row = rows[from % rows.len()].clone();
            rows.insert(to % rows.len(), row);
        }
        let lines = of(&rows.join("\n"));
        let (wide, copy) = repaired(&lines);
        let limits = SurveyLimits { recent: limits.0, slice: limits.1, links: 1_000 };
        let (narrow, same_copy) = repaired_within(&lines, limits);
        prop_assert_eq!(codes(&wide), codes(&narrow));
        prop_assert_eq!(copy, same_copy);
    }

    #[test]
    fn links_beyond_the_limit_become_roots_and_the_copy_is_sound(tangle in tangle(), links in 0_usize..4) {
        let lines = of(&rows_of(&tangle).join("\n"));
        let (_, copy) = repaired_within(&lines, SurveyLimits { recent: 2, slice: 2, links });
        let again = repaired(&of(&copy.join("\n"))).0;
        let left: Vec<_> = again.counts().keys().filter(|problem| **problem != Problem::DuplicateId).collect();
        prop_assert!(left.is_empty(), "{:?}", left);
    }
}
