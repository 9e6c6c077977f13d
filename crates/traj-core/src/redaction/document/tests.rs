//! Tests that the context of a string counts, and that the result is stable.

use crate::json::Json;
use crate::redaction::{MarkerKey, PathLabels, RedactionPolicy, RedactionReport, Redactor};

fn redactor() -> Redactor {
    let paths = PathLabels {
        workspaces: vec!["/srv/importer".to_owned()],
        state_dirs: vec!["/var/lib/agent-state".to_owned()],
        user: Some("lovelace".to_owned()),
        ..PathLabels::default()
    };
    Redactor::new(RedactionPolicy::standard(MarkerKey::new([7; 32])).with_paths(paths))
}

/// The redacted line; asserts that the rules find nothing more in it.
fn redacted(document: &str) -> (String, RedactionReport) {
    let mut report = RedactionReport::new();
    let redactor = redactor();
    let value = Json::parse(document).unwrap();
    let line = redactor.json(value, &mut report).to_line().into_inner();
    let mut again = RedactionReport::new();
    redactor.recheck_json(Json::parse(&line).unwrap(), &mut again);
    assert_eq!(again.changes(), 0, "{line}");
    (line, report)
}

#[test]
fn audio_is_media_in_every_format() {
    let bytes = "UklGRiQAAABXQVZFZm10IBAAAAABAAEA".repeat(40);
    for format in ["wav", "mp3", "flac", "opus", "pcm16", "ogg", "WAV"] {
        let document = format!(
            r#"{{"type":"input_audio","input_audio":{{"data":"{bytes}","format":"{format}"}}}}"#
        );
        let (line, report) = redacted(&document);
        assert!(line.contains("<media:audio/") && !line.contains("UklGR"), "{line}");
        assert_eq!(report.media(), 1);
    }
}

#[test]
fn a_marker_in_place_of_a_known_secret_does_not_unsettle_a_text() {
    for text in [
        "密码：data:image/png;base64,hunter2 data:image/png;base64,hunter2",
        "密码：data:image/png;base64,data:image/png;base64,hunter2",
        "密码：x7Kq2mVt9L,maple x7Kq2mVt9L: no",
    ] {
        let once = redactor().text(text, &mut RedactionReport::new()).into_inner().into_owned();
        assert!(once.contains("<redacted:"), "{once}");
        let twice = redactor().text(&once, &mut RedactionReport::new()).into_inner().into_owned();
        assert_eq!(twice, once);
        redacted(&Json::Array(vec![Json::from(text.to_owned())]).to_line());
    }
}

/// One form of the text ends a value at a disguised sign, the other one after it.
#[test]
fn a_disguised_sign_behind_a_marker_does_not_unsettle_a_text() {
    let redact =
        |text: &str| redactor().text(text, &mut RedactionReport::new()).into_inner().into_owned();
    for signs in [
        ["“"; 2],
        ["”", "\u{200b}“"],
        ["«", "\u{1b}[1m»"],
        ["&quot;"; 2],
        ["%22", "&#34;"],
        ["“", "&quot;"],
        ["&quot;", "“"],
        ["%20x1", "&amp;"],
        ["&gt;x1", "&amp;y2"],
    ] {
        let [first, second] = signs;
        for (open, blank) in [("password: \"", " "), ("password: '", ""), ("password=", "")] {
            let pieces = format!("x7Kq9z{blank}y8{first}{blank}b4Tn2w{blank}c6{second}{blank}");
            let text = format!("{open}hunter2{first}{}", pieces.repeat(12));
            let once = redact(&text);
            assert!(!once.contains("hunter2"), "{once}");
            assert_eq!(redact(&once), once, "{text}");
        }
    }
    let text = "\"password\":password: \"Type 608351 as your login codeраѕѕword\
        “QUJDREVGR0hJ0<>“⽁}\u{200b}-----END PRIVATE KEY-----@#y2Y?+_sT&vZ“/home/dev/\\";
    let once = redact(text);
    assert!(!once.contains("608351"), "{once}");
    assert_eq!(redact(&once), once);
    // A marker that was there before does not protect what the real quote closes.
    let closed = redact("password: \"<redacted:token:0a1b2c>“hunter2&Fern\"");
    assert!(!closed.contains("hunter2"), "{closed}");
}

#[test]
fn a_split_token_after_another_token_is_found() {
    // Assembled here, so that no secret scanner reports this file.
    let first = format!("sk_{}", "3fa9c1d07be2".repeat(4));
    let document = format!(
        r#"{{"content":[{{"text":"It was said in the log of the build that nothing else had changed, and then {first}{}_1h35Qd0vjMbUDHb5"}},{{"text":"WT6rP8NpCUcWVv8vEeGe was the token"}},{{"text":"the end"}}]}}"#,
        "ghp",
    );
    let (line, report) = redacted(&document);
    assert!(!line.contains("1h35Qd0v") && !line.contains("WT6rP8Np"), "{line}");
    assert!(report.unsettled() > 0);
}

#[test]
fn paths_under_secret_names_are_labelled_and_kept() {
    for name in ["token", "secret", "password", "apiKey", "credential", "private_key"] {
        for (path, label) in [
            ("/srv/importer/token.txt", "$WORKSPACE_DIR/token.txt"),
            ("/srv/importer", "$WORKSPACE_DIR"),
            ("/var/lib/agent-state/db.pem", "$OPENCLAW_STATE_DIR/db.pem"),
            ("/home/lovelace/x9/keys.pem", "/home/$USER/x9/keys.pem"),
        ] {
            let (line, _) = redacted(&format!(r#"{{"{name}":"{path}"}}"#));
            assert!(line.contains(label), "{line}");
        }
    }
}

#[test]
fn a_value_that_looks_secret_after_labelling_is_unsettled() {
    let value = format!("/srv/importer/x\\n{}", "n5Gl2v7s".repeat(14));
    let (line, report) = redacted(&format!(r#"{{"details":{{"password":"{value}"}}}}"#));
    assert!(report.unsettled() > 0, "{line}");
}

#[test]
fn a_password_in_braces_is_found_after_any_whitespace() {
    for blanks in ["", " ", "\\t", "\\r\\n    "] {
        let (line, _) = redacted(&format!(r#"["Server=db;{blanks}Pwd={{kd93 Jx02;mQ1z}};"]"#));
        assert!(!line.contains("Jx02"), "{line}");
    }
}

#[test]
fn repeated_passes_settle() {
    let key = r#""words":["private_key:","\"-----BEGIN","PRIVATE","KEY-----\\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\\n-----END","PRIVATE","KEY-----\\n\""]"#;
    for members in [
        key,
        r#""Authorization":["passwd=a7@vRFwt","a7@vRFwty"]"#,
        r#""cookie":[": dsn :=Eo)/app?pars","cme.net:3306)/app?parse="]"#,
    ] {
        let redactor = redactor();
        let document = format!("{{{members}}}");
        let value = Json::parse(&document).unwrap();
        let mut report = RedactionReport::new();
        let line = redactor.json_settled(value, &[], &mut report).to_line().into_inner();
        let mut again = RedactionReport::new();
        redactor.recheck_json(Json::parse(&line).unwrap(), &mut again);
        assert!(report.changes() > 0 && again.changes() == 0, "{line}");
    }
}

#[test]
fn markers_are_not_names() {
    for document in [
        r#"{"l":["<redacted:token:595633>","alice77"]}"#,
        r#"{"l":[{"name":"<redacted:token:595633>","value":"alice77"}]}"#,
        r#"{"owners":{"<redacted:password:595633>":"alice77"}}"#,
    ] {
        assert_eq!(redacted(document).0, document);
    }
}

#[test]
fn members_apart_are_not_hidden_by_secrets_found_elsewhere() {
    let id = "c7f9a3d2-1b2c-4d5e-8f90-123456789abc";
    let document = format!(r#"{{"id":"{id}","data":{{"token":"{id}","note":"it is {id}"}}}}"#);
    let settled = |apart: &[&str]| {
        let value = Json::parse(&document).unwrap();
        redactor().json_settled(value, apart, &mut RedactionReport::new()).to_line().into_inner()
    };
    assert_eq!(settled(&[]).matches(id).count(), 0);
    let apart = settled(&["id"]);
    assert!(apart.starts_with(&format!(r#"{{"id":"{id}","data":"#)), "{apart}");
    assert_eq!(apart.matches(id).count(), 1, "{apart}");
    // A secret in such a member is still hidden.
    let secret = ["ghp", "_q7Xw2ZkP9sLmD4vTr8Yb1NcJ5fGh6Ae3Ru0K"].concat();
    let document = format!(r#"{{"id":"{secret}"}}"#);
    let value = Json::parse(&document).unwrap();
    let line = redactor().json_settled(value, &["id"], &mut RedactionReport::new());
    assert!(!line.to_line().into_inner().contains("q7Xw2"));
}

#[test]
fn a_token_in_two_pieces_is_found() {
    let (head, tail) = (["ghp", "_q7Xw2ZkP9sLmD4"].concat(), "vTr8Yb1NcJ5fGh6Ae3Ru0K");
    for list in [
        format!(r#"[{{"type":"text","text":"key {head}"}},{{"type":"text","text":"{tail} end"}}]"#),
        format!(r#"["key {head}","{tail} end"]"#),
    ] {
        let (line, _) = redacted(&format!(r#"{{"content":{list}}}"#));
        assert!(!line.contains(&head) && !line.contains(tail), "{line}");
    }
}

#[test]
fn a_credential_field_hides_any_value() {
    for document in [
        r#"{"authorization":"KEEP"}"#,
        r#"{"Authorization":"ada:KEEP"}"#,
        r#"{"credential":"KEEP","credentials":"KEEP"}"#,
        r#"{"cookie":"KEEP"}"#,
        r#"{"passwords":["KEEP"],"DB_PASSWORDS":["KEEP","KEEP"]}"#,
        r#"{"secrets":["KEEP"],"tokens":["KEEP"],"apiKeys":"KEEP"}"#,
        r#"{"headers":[["authorization","KEEP"]],"h":[{"name":"cookie","value":"KEEP"}]}"#,
        r#"{"password":{"$value":"KEEP"}}"#,
        r#"{"credentials":{"username":"ada","pass":"KEEP","more":{"b":["KEEP"]}}}"#,
        r#"{"columns":["id",{"name":"passwd"}],"rows":[[1,"KEEP"],[2,"KEEP"]]}"#,
        r#"{"admin":{"value":"KEEP","type":"string","sensitive":true}}"#,
        r#"{"selector":"form [type=password]","text":"KEEP"}"#,
        r#"{"пароль":"KEEP"}"#,
    ] {
        let (line, report) = redacted(&document.replace("KEEP", "gr4nite&Fern"));
        assert!(!line.contains("gr4nite"), "{line}");
        assert_eq!(report.hidden(), document.matches("KEEP").count() as u64, "{line}");
    }
    let (line, _) = redacted(r#"{"password":471113,"passwords":{"db":471113}}"#);
    assert!(!line.contains("471113"), "{line}");
}

#[test]
fn fields_that_only_resemble_credentials_are_kept() {
    for document in [
        r#"{"usage":{"total_tokens":14,"input_tokens":1234567},"tokens":1234}"#,
        r#"{"sessionKey":"agent:ops:x1","cookieConsent":"v2-accepted","secretary":"Ada2"}"#,
        r#"{"authMode":"basic2","passwordPolicy":"min12chars","tokens":[15496,995]}"#,
        r#"{"password":{"type":"string","minLength":12,"pattern":"[a-z0-9]{12,}"}}"#,
        r#"{"token":{"type":"bearer","expiresAt":"2026-05-01T10:00:00Z","username":"ada2"}}"#,
        r##"{"tokens":{"color":"#ff0088","gap":"16px","font":"serif"},"credentials":"include"}"##,
        r#"{"cookie":"theme=dark; lang=en","authorization":"none required"}"#,
        r#"{"columns":["id","name"],"rows":[[1,"x9y8z7"]]}"#,
    ] {
        assert_eq!(redacted(document).0, document);
    }
}

#[test]
fn long_payload_fields_become_media() {
    let text = "words and 0x1f ".repeat(20);
    for name in [
        "screenshot",
        "screenshots",
        "attachments",
        "attachment",
        "fileData",
        "imageSvg",
        "dataUri",
    ] {
        let (line, report) = redacted(&format!(r#"{{"{name}":"{text}","note":"kept"}}"#));
        assert!(line.starts_with(&format!(r#"{{"{name}":"<media:"#)), "{line}");
        assert_eq!(report.media(), 1, "{line}");
        let short = format!(r#"{{"{name}":"short"}}"#);
        assert_eq!(redacted(&short).0, short);
    }
    for uri in [format!("data:text/plain,{text}"), format!("data:{}", "x".repeat(300))] {
        let (line, _) = redacted(&format!(r#"{{"value":"{uri}"}}"#));
        assert!(line.starts_with(r#"{"value":"<media:text/plain;"#), "{line}");
    }
    let stream = format!(r#"{{"value":"data: {text}"}}"#);
    assert_eq!(redacted(&stream).0, stream);
}

#[test]
fn a_token_behind_a_glued_secret_that_recurs_is_hidden_at_once() {
    let secret = format!("shpat{}{}", "_", "31bfa9d8f6f80205a70aeda0e870e431");
    let token = format!("vtwn{}{}", "_", "YDwcdTzZM7oMPoZdOiYGQemeWzE0ON");
    let document = format!(r#"{{"text":"before{secret}{token} and {secret}"}}"#);
    let (once, _) = redacted(&document);
    assert!(!once.contains("YDwcdT"), "{once}");
    assert_eq!(redacted(&once).0, once);
}

/// A secret of several lines becomes one marker, and the data URI before it then ends
/// at its quote.
#[test]
fn a_text_is_settled_when_a_marker_makes_a_data_uri_longer() {
    let key = "MIIBOgIBAAJBpfVWsSnildaReMjZNbuvwXntU1pkt6H/8a+XzGWBcrTL2NqkR3Sg";
    let rest = "4ep1kxqxYV/71LKdYysdXK6ut6/NsJUmn1iu5+p8eoS4CmI9+buCpYCNTTe8dNe1";
    let last = "nHGqWT/HNFHfj3S1sIhu1tO8iSwGMAw2E1rBlDx7M5ww==";
    let filler = "plain-".repeat(20);
    let text = format!("'data:text/plain,{key}\n  {rest}\n  {last}{filler}' there");
    let redact = |text: &str| {
        let mut report = RedactionReport::new();
        redactor().text(text, &mut report).into_inner().into_owned()
    };
    let once = redact(&text);
    assert!(!once.contains(key) && !once.contains(rest), "{once}");
    assert!(once.contains("<media:text/plain;"), "{once}");
    assert_eq!(redact(&once), once);
}
