//! The real Codex CLI resumes a trimmed rollout.
#![expect(clippy::disallowed_methods, reason = "looks at the rollout that Codex wrote")]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use traj_tests::codex_rig::{CodexRig, VERSIONS};
use traj_tests::model_server::Reply;
use traj_tests::traj_binary::traj_command;

/// The only rollout in Codex's home.
fn rollout(folder: &Path) -> PathBuf {
    let mut folders = vec![folder.join("sessions")];
    loop {
        let folder = folders.pop().expect("Codex wrote a rollout");
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "jsonl") {
                return path;
            }
        }
    }
}

/// The id of the first call with an output in the rollout.
fn answered_call(text: &str) -> String {
    let rows = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut outputs = rows.filter(|row| {
        row["payload"]["type"].as_str().is_some_and(|kind| kind.ends_with("_output"))
    });
    outputs.next().unwrap()["payload"]["call_id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_trimmed_rollout_is_resumed_by_the_real_binary() {
    for version in VERSIONS {
        let Some(rig) = CodexRig::new(version) else { continue };
        let command = Reply::escalated_shell("echo something");
        rig.model.script("escalate", [command, Reply::text("the word is heliotrope")]);
        let client = rig.connect().await;
        let ready = rig.ready(&client, &rig.plan()).await;
        rig.turn(&client, &ready, "escalate").await;
        assert!(rig.model.requests().last().unwrap().to_string().contains("rejected by user"));
        client.stop().await;

        let file = rollout(&rig.codex_home());
        let before = fs::read_to_string(&file).unwrap();
        let output = traj_command(rig.root())
            .args(["trim", "--tool-call", &answered_call(&before), "--replacement", "no"])
            .arg("--session")
            .arg(&file)
            .output()
            .unwrap();
        assert!(output.status.success(), "{version}: {output:?}");
        let after = fs::read_to_string(&file).unwrap();
        assert!(after.contains("[trimmed by self] no"), "{version}");
        if after.contains("\"ordinal\"") {
            assert_eq!(after.len(), before.len(), "{version}: offsets of a numbered rollout stay");
        }

        let client = rig.connect().await;
        let ready = rig.ready(&client, &rig.plan()).await;
        let report = rig.turn(&client, &ready, "which word?").await;
        assert_eq!(report.text, "echo: which word?", "{version}");
        let asked = rig.model.requests().last().unwrap().to_string();
        assert!(asked.contains("heliotrope"), "{version}: the history is there");
        assert!(asked.contains("[trimmed by self] no"), "{version}: trimmed for the model");
        assert!(!asked.contains("rejected by user"), "{version}: the old text is gone");
        client.stop().await;
    }
}
