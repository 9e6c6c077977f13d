//! Requests from a chat.

use proptest::prelude::*;

use super::*;

fn command(text: &str) -> Result<ChatCommand, ChatExportError> {
    ChatCommand::parse(text).unwrap()
}

fn request() -> ChatExport {
    let command = command("/export-trajectory bug-1234").unwrap();
    ChatExport::new(Sender::Owner, "agent:main:telegram:direct:123", "/srv/shop", command).unwrap()
}

#[test]
fn both_names_are_recognised_and_nothing_else() {
    for text in ["/trajectory", " /Export-Trajectory ", "/export-trajectory@shop_bot\n"] {
        assert_eq!(command(text), Ok(ChatCommand { output: None }), "{text}");
    }
    for text in ["", "/", "trajectory", "/trajectories", "say /trajectory", "/export"] {
        assert_eq!(ChatCommand::parse(text), None, "{text}");
    }
}

#[test]
fn the_argument_is_one_plain_name() {
    let name = BundleName::parse("bug-1234").unwrap();
    assert_eq!(command("/trajectory bug-1234"), Ok(ChatCommand { output: Some(name) }));
    assert_eq!(command("/trajectory --json"), Err(ChatExportError::Flag));
    assert_eq!(command("/trajectory a b"), Err(ChatExportError::TooManyArguments));
    for path in ["/etc/x", "~/x", "../x", "a/../../x"] {
        let refused = command(&format!("/trajectory {path}"));
        assert!(matches!(refused, Err(ChatExportError::Name(_))), "{path}");
    }
    let long = format!("/trajectory {}", "a".repeat(513));
    assert_eq!(command(&long), Err(ChatExportError::TooLong { limit: 512 }));
}

#[test]
fn only_the_owner_may_export() {
    let refused = ChatExport::new(Sender::Other, "k", "/w", ChatCommand { output: None });
    assert_eq!(refused, Err(ChatExportError::NotOwner));
    let refused = ChatExport::new(Sender::Owner, " ", "/w", ChatCommand { output: None });
    assert_eq!(refused, Err(ChatExportError::Missing("sessionKey")));
}

#[test]
fn a_group_learns_only_that_the_owner_was_asked() {
    assert_eq!(Delivery::of(Room::Private).public_note(), None);
    let note = Delivery::of(Room::Shared).public_note().unwrap();
    assert!(note.contains("private message"));
}

#[test]
fn the_question_states_what_leaves_and_that_it_is_asked_each_time() {
    insta::assert_snapshot!(request().question(), @r"
    Export the trajectory of this session as a support bundle (bug-1234)?
    The bundle contains prompts, messages, tool definitions, tool results and events. Known secrets and local paths are redacted.
    It is written below .openclaw/trajectory-exports in the workspace and is not sent anywhere. For a general problem, try /diagnostics first.
    This permission holds for one export.
    ");
}

#[test]
fn a_word_that_is_not_a_request_is_refused() {
    let encode = |json: &str| {
        use base64::Engine as _;
        base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(json)
    };
    for word in ["", "a", "e30=", "+/8", &encode("[]"), &encode("{\"sessionKey\":5}")] {
        assert_eq!(ChatExport::decode(word), Err(ChatExportError::NotDecodable), "{word}");
    }
    let missing = ChatExport::decode(&encode(r#"{"sessionKey":"k","workspace":" "}"#));
    assert_eq!(missing, Err(ChatExportError::Missing("workspace")));
    let outside = encode(r#"{"sessionKey":"k","workspace":"/w","output":"../x"}"#);
    assert!(matches!(ChatExport::decode(&outside), Err(ChatExportError::Name(_))));
    let long = "a".repeat(70_000);
    assert_eq!(ChatExport::decode(&long), Err(ChatExportError::TooLong { limit: 65_536 }));
    let mut large = request();
    large.store = Some("s".repeat(9_000));
    assert_eq!(large.encode(), Err(ChatExportError::TooLong { limit: 8_192 }));
}

#[test]
fn the_answer_counts_and_cannot_inject_markup() {
    let document = r#"{"schema":"traj-cli/2","version":"0.1.0","ok":true,"result":{
        "outputDir":"/srv/shop/x","displayPath":"ex/[a](b)\n`c`","sessionId":"s","eventCount":1,
        "runtimeEventCount":0,"transcriptEventCount":1,"files":[],"warnings":[{}],
        "redactions":{"a":2,"b":1},"digest":"sha256:00"}}"#;
    let answer = ChatAnswer::from_document(document).unwrap().unwrap();
    insta::assert_snapshot!(answer.to_text(), @r"
    Exported to ex/?a?(b)??c?
    1 event, 3 values redacted
    sha256:00
    1 warning
    Read it before you send it.
    ");
    let failed = r#"{"schema":"traj-cli/2","version":"0.1.0","ok":false,"error":{"message":"no"}}"#;
    assert_eq!(ChatAnswer::from_document(failed), Ok(None));
    assert_eq!(ChatAnswer::from_document("no"), Err(ChatExportError::NotDecodable));
}

proptest! {
    #[test]
    fn a_request_survives_as_one_word(
        key in "\\PC{1,60}", workspace in "\\PC{1,60}", agent in proptest::option::of("[a-z]{1,9}"),
    ) {
        prop_assume!(!key.trim().is_empty() && !workspace.trim().is_empty());
        let mut request = request();
        (request.session_key, request.workspace, request.agent) = (key, workspace, agent);
        let word = request.encode().unwrap();
        prop_assert!(word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)));
        prop_assert_eq!(ChatExport::decode(&word), Ok(request));
    }

    #[test]
    fn any_word_is_read_or_refused(word in "\\PC{0,80}") {
        drop(ChatExport::decode(&word));
        drop(ChatCommand::parse(&word));
    }
}
