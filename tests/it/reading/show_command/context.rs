//! `traj show --context-of`: what the model saw at one call.

use traj_tests::export_home::{EXPORTS, ExportHome as Home, result};
use traj_tests::traj_binary::printed;

const SECRET: &str = "ghp_R7kQ2mVx9LtB4nZc8WpY1sHd6GfJ3aKe5TuN";

/// A secret that the agent reads is in the session, and so in what the model saw.
#[test]
fn the_context_of_a_call_is_verified_and_without_secrets() {
    let session = include_str!("../../../fixtures/claude-code/v2-1-requests.jsonl");
    let home = Home::new();
    home.folder.write("s1.jsonl", session).unwrap();
    let printed = printed(&home.traj(&["show", "s1.jsonl", "--context-of", "toolu_31"]));
    assert!(printed.contains("answer   msg_31\n") && printed.contains("all 2 as recorded"));
    let document =
        |call: &str| result(&home.traj(&["show", "s1.jsonl", "--context-of", call, "--json"]));
    let context = &document("msg_32")["result"];
    assert_eq!((&context["isVerified"], &context["since"]["kept"]), (&true.into(), &1.into()));
    let roles = context["messages"].as_array().unwrap().iter().map(|part| &part["value"]["role"]);
    assert_eq!(roles.collect::<Vec<_>>(), ["user", "assistant", "user"]);
    assert_eq!(document("msg_99")["ok"], false);
    home.folder.write("s1.jsonl", session.replace("pen,2", SECRET)).unwrap();
    let context = document("msg_32").to_string();
    assert!(!context.contains(SECRET) && context.contains("<redacted:"));
    assert!(context.contains("\"check\":\"differs\""));
}

/// In a bundle, what redaction left alone is still verified; the rest says so.
#[test]
fn a_bundle_shows_contexts_and_what_cannot_be_verified() {
    let session = include_str!("../../../fixtures/claude-code/v2-1-requests.jsonl");
    let home = Home::new();
    let exported = |name: &str, text: &str| {
        home.folder.write("s1.jsonl", text).unwrap();
        home.export(&["--output", name]);
        format!("{EXPORTS}/{name}")
    };
    let plain = exported("plain", session);
    let shown = printed(&home.traj(&["show", &plain, "--context-of", "toolu_31"]));
    assert!(shown.contains("all 2 as recorded"), "{shown}");
    let blob = session.replace("what does it cost?\"}]", &format!("why {SECRET}?\"}}]"));
    assert_ne!(blob, session);
    let hidden = exported("hidden", &blob);
    let context = result(&home.traj(&["show", &hidden, "--context-of", "msg_32", "--json"]));
    let context = &context["result"];
    let checks = context["messages"].as_array().unwrap().iter().map(|part| &part["check"]);
    assert_eq!(checks.collect::<Vec<_>>(), ["redacted", "verified", "verified"]);
    assert_eq!(context["isVerified"], false);
    assert!(!context.to_string().contains(SECRET));
    let shown = printed(&home.traj(&["show", &hidden, "--context-of", "msg_32"]));
    assert!(shown.contains("3 of 4 as recorded, 1 redacted, which cannot be verified"), "{shown}");
    let other = home.traj(&["show", &hidden, "--context-of", "msg_99"]);
    assert!(!other.status.success());
}
