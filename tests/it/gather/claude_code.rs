//! Sessions of Claude Code next to each other: what a fork or a sub-agent's
//! file repeats is not counted twice.

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

#[test]
fn long_output_in_a_file_of_its_own_is_shown_and_redacted() {
    let home = Home::new();
    let id = "20000000-0000-4000-8000-00000000000c";
    let row = |uuid: &str, kind: &str, message: &str| {
        format!(
            r#"{{"parentUuid":null,"isSidechain":false,"userType":"external","cwd":"/w","sessionId":"{id}","version":"2.1.326","type":"{kind}","uuid":"{uuid}","timestamp":"2026-06-01T10:00:01.000Z","message":{message}}}"#
        ) + "\n"
    };
    let call = r#"{"role":"assistant","id":"m1","model":"m","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"make"}}]}"#;
    let said = format!(
        r#"<persisted-output>\nOutput too large (90KB). Full output saved to: /elsewhere/{id}/tool-results/b1.txt\n\nPreview (first 2KB):\nline 1"#
    );
    let result = format!(
        r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t1","content":"{said}"}}]}}"#
    );
    home.folder
        .write(format!("{id}.jsonl"), row("a", "assistant", call) + &row("b", "user", &result))
        .unwrap();
    let shown = || {
        let file = format!("{id}.jsonl");
        let steps = result_of(&home, &["show", &file, "--full", "--json"])["steps"].clone();
        let steps = steps.as_array().unwrap().clone();
        steps.into_iter().find(|step| step["kind"] == "call").unwrap()["output"]["text"].clone()
    };
    assert!(shown().as_str().unwrap().contains("Preview"), "the file is gone");
    let secret = ["sk-ant-api03-", "Zq8vN2xKpL7wTfR4yHsB9mDcJ6gVaE1uXoI3"].concat();
    let output = format!("line 1\n{}the end\n", format!("key {secret}\n").repeat(400));
    home.folder.create_dir_all(format!("{id}/tool-results")).unwrap();
    home.folder.write(format!("{id}/tool-results/b1.txt"), &output).unwrap();
    let whole = shown();
    let whole = whole.as_str().unwrap();
    assert!(whole.starts_with("line 1\n") && whole.trim_end().ends_with("the end"), "{whole}");
    assert!(!whole.contains(&secret));
    let exported =
        home.traj(&["export", &format!("{id}.jsonl"), "--output-root", "b", "--output", "c"]);
    assert!(exported.status.success(), "{exported:?}");
    let branch = home.folder.read_to_string("b/c/session-branch.json").unwrap();
    assert!(!branch.contains(&secret) && branch.contains("storedOutput"));
}

fn result_of(home: &Home, arguments: &[&str]) -> serde_json::Value {
    result(&home.traj(arguments))["result"].clone()
}
