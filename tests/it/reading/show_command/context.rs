//! `traj show --context-of`: what the model saw at one call.

use traj_tests::export_home::{ExportHome as Home, result};
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
