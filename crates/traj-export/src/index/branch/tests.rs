//! Tests of `branch`: leaf rows, missing parents, cycles and duplicate ids.

use traj_core::memory::MemorySources;
use traj_core::port::Sources as _;

use super::{BranchStep, resolve};
use crate::index::record_store::tests::spool;
use crate::index::session::index_session;
use crate::warning::Warnings;

/// The branch's rows from the root, 1-based and with relinked ones marked, and
/// the warnings.
fn branch_of(rows: &[&str]) -> (Vec<String>, Vec<String>) {
    let header = r#"{"type":"session","version":3,"id":"s"}"#;
    let sources = MemorySources::new();
    sources.put("s", [&[header], rows].concat().join("\n"));
    let source = sources.open("s").unwrap();
    let writer = spool();
    let mut warnings = Warnings::default();
    let mut index = index_session(&*source, &&*writer, &mut warnings).unwrap();
    let mut branch = resolve(&mut index, &&*writer, &mut warnings).unwrap();
    let shown = (0..branch.len()).map(|at| {
        let BranchStep { ordinal, relink_to } = branch.step(at).unwrap();
        relink_to.map_or_else(|| ordinal.to_string(), |parent| format!("{ordinal}>{parent:?}"))
    });
    let shown = shown.collect();
    let (original, ours) = warnings.finish();
    let codes = original.into_iter().chain(ours).map(|w| format!("{} {:?}", w.code, w.rows));
    (shown, codes.collect())
}

fn entry(id: &str, parent: &str) -> String {
    format!(r#"{{"type":"label","id":"{id}","parentId":"{parent}","timestamp":1}}"#)
}

fn check(rows: &[String], shown: &[&str], warnings: &[&str]) {
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    let (is_shown, is_warned) = branch_of(&rows);
    assert_eq!(is_shown, shown);
    assert_eq!(is_warned, warnings);
}

#[test]
fn abandoned_entries_are_left_out() {
    check(&[entry("a", ""), entry("x", "a"), entry("b", "a")], &["1", "3"], &[]);
}

#[test]
fn cycles_and_missing_parents_end_with_a_warning() {
    check(&[entry("a", "b"), entry("b", "a")], &["1", "2"], &["cyclic-session-branch [3]"]);
    check(&[entry("a", "gone"), entry("b", "a")], &["1", "2"], &["incomplete-session-branch [2]"]);
    check(&[entry("a", "a")], &["1"], &["cyclic-session-branch [2]"]);
}

#[test]
fn the_last_of_several_entries_with_one_id_counts() {
    check(
        &[entry("a", ""), entry("b", "a"), entry("a", ""), entry("c", "b")],
        &["3", "2", "4"],
        &[],
    );
}

#[test]
fn leaf_rows_move_the_leaf() {
    let leaf = |target: &str| format!(r#"{{"type":"leaf","id":"l","targetId":{target}}}"#);
    let rows = [entry("a", ""), entry("b", "a"), leaf(r#""a""#)];
    check(&rows, &["1"], &[]);
    let rows = [entry("a", ""), entry("b", "a"), leaf(r#""a""#), entry("c", "l")];
    check(&rows, &["1", "4>Some(1)"], &[]);
    check(&[entry("a", ""), leaf("null")], &[], &[]);
    check(&[entry("a", ""), leaf(r#""gone""#)], &["1"], &["unknown-leaf-target [3]"]);
}

#[test]
fn side_entries_do_not_move_the_leaf() {
    let side = r#"{"type":"label","id":"s","parentId":"a","timestamp":1,"appendMode":"side"}"#;
    check(&[entry("a", ""), side.to_owned()], &["1"], &[]);
}

#[test]
fn leaf_rows_that_lead_nowhere_do_not_hide_the_branch() {
    let leaf = |id: &str, target: &str| {
        format!(
            r#"{{"type":"leaf","id":"{id}","parentId":"b","timestamp":1,"targetId":"{target}"}}"#
        )
    };
    let (a, b) = (entry("a", ""), entry("b", "a"));
    let check = |leaves: &[String], row: u32| {
        let warning = format!("unknown-leaf-target [{row}]");
        let rows = [&[a.clone(), b.clone()], leaves].concat();
        check(&rows, &["1", "2"], &[&warning]);
    };
    check(&[leaf("l", "gone")], 4);
    check(&[leaf("l", "l")], 4);
    check(&[leaf("l", "m"), leaf("m", "l")], 5);
    check(&[leaf("l", "gone"), leaf("m", "l")], 5);
}
