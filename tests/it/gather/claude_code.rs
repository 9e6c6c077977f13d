//! Sessions of Claude Code beside each other: what a fork or a sub-agent's file
//! repeats is not counted twice.

use traj_tests::export_home::{ExportHome as Home, result};

/// Calls of the model, tokens read and tokens written, of sessions together.
fn totals(home: &Home, files: &[&str]) -> [u64; 3] {
    let mut sums = [0; 3];
    for file in files {
        let usage = &result(&home.traj(&["inspect", file, "--json"]))["result"]["usage"];
        for (sum, name) in sums.iter_mut().zip(["calls", "inputTokens", "outputTokens"]) {
            *sum += usage[name].as_u64().unwrap();
        }
    }
    sums
}

#[test]
fn a_fork_and_its_origin_add_up_to_what_the_model_served() {
    let home = Home::new();
    let names = ["a", "b"].map(|end| format!("20000000-0000-4000-8000-00000000000{end}.jsonl"));
    let [origin, fork] = names.each_ref().map(String::as_str);
    home.folder
        .write(origin, include_str!("../../fixtures/claude-code/v2-0-parent.jsonl"))
        .unwrap();
    home.folder.write(fork, include_str!("../../fixtures/claude-code/v2-0-fork.jsonl")).unwrap();
    assert_eq!(totals(&home, &[origin]), [3, 305, 38]);
    assert_eq!(totals(&home, &[fork]), [1, 150, 9], "only the question of its own");
    // A sub-agent's calls count with the session that started it.
    let agent = include_str!("../../fixtures/claude-code/agent-0a1b2c3d.jsonl");
    home.folder.write("agent-0a1b2c3d.jsonl", agent).unwrap();
    assert_eq!(totals(&home, &[origin, fork]), [5, 480, 55]);
}

#[test]
fn a_session_that_was_copied_to_go_on_counts_what_is_new() {
    let home = Home::new();
    let names = ["a", "b"].map(|end| format!("10000000-0000-4000-8000-00000000000{end}.jsonl"));
    let [first, second] = names.each_ref().map(String::as_str);
    let old = include_str!("../../fixtures/claude-code/v1-0-side-chain.jsonl");
    home.folder.write(first, old).unwrap();
    let new = include_str!("../../fixtures/claude-code/v1-0-resumed.jsonl");
    home.folder.write(second, new).unwrap();
    assert_eq!(totals(&home, &[first]), [4, 118, 49]);
    assert_eq!(totals(&home, &[second]), [1, 70, 5]);
}
