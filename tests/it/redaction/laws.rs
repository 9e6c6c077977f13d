//! Laws of redaction: the output parses, redacting twice changes nothing, and no
//! secret of a known form survives in any context.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;
use traj_core::json::Json;
use traj_core::redaction::{MarkerKey, RedactionPolicy, RedactionReport, Redactor, RuleSet};

fn redactor() -> Redactor {
    Redactor::new(RedactionPolicy::standard(MarkerKey::new([7; 32])))
}

fn redact_text(redactor: &Redactor, text: &str) -> String {
    redactor.text(text, &mut RedactionReport::new()).into_inner().into_owned()
}

fn redact_json(redactor: &Redactor, line: &str) -> String {
    let value = Json::parse(line).unwrap();
    redactor.json(value, &mut RedactionReport::new()).to_line().into_inner()
}

/// A credential in the format of its issuer.
fn token() -> impl Strategy<Value = String> {
    prop_oneof![
        "[A-Za-z0-9]{36}".prop_map(|body| format!("ghp{}{body}", '_')),
        "[a-f0-9]{64}".prop_map(|body| format!("dop{}v1_{body}", '_')),
        "[A-Z0-9]{16}".prop_map(|body| format!("AKIA{body}")),
        "[A-Za-z0-9]{48}".prop_map(|body| format!("sk{}{body}", '-')),
        "[A-Za-z0-9]{95}".prop_map(|body| format!("sk{}ant-api03-{body}", '-')),
        ("[0-9]{12}", "[0-9]{12}", "[A-Za-z0-9]{24}")
            .prop_map(|(one, two, body)| format!("xoxb{}{one}-{two}-{body}", '-')),
    ]
    .prop_filter("issuers draw at random", |token| {
        let mut letters: Vec<char> = token.chars().collect();
        letters.sort_unstable();
        letters.dedup();
        letters.len() > 12
    })
}

/// Texts around a credential.
const SURROUNDINGS: &[&str] = &[
    "§",
    "see § there",
    "export TOKEN=§",
    "TOKEN='§' ./run",
    "Authorization: Bearer §\r\nHost: h",
    "curl -H \"x-api-key: §\" https://h/",
    "{\"apiKey\": \"§\", \"n\": 1}",
    "{\\\"apiKey\\\":\\\"§\\\"}",
    "https://user:§@host/path",
    "https://host/path?a=1&token=§&b=2",
    "password: §\nnext: line",
    "| api_key | § |",
    "name,token\nprod,§\n",
    "<token>§</token>",
    "--token § --verbose",
    "`§`",
    "**§**",
    "(§)",
    "[§](https://h)",
    "/var/cache/§/index.json",
    "\u{1b}[33m§\u{1b}[0m",
    "a\u{0}TOKEN=§\u{0}b",
    "> quoted §",
    "# comment §",
    "INSERT INTO t (name, token) VALUES ('a', '§');",
    "x=1&token=§",
    "[\"--token\", \"§\"]",
    "- name: API_TOKEN\n  value: §\n",
];

/// Encoded and obfuscated forms of a credential.
fn disguises(token: &str) -> Vec<String> {
    let (head, tail) = token.split_at(token.len() / 2);
    let each = |form: fn(&mut String, u8)| {
        let mut out = String::new();
        for byte in token.bytes() {
            form(&mut out, byte);
        }
        out
    };
    vec![
        format!("{head}\u{200b}{tail}"),
        format!("{head}\u{2066}{tail}"),
        each(|out, byte| write!(out, "\\u{byte:04x}").unwrap()),
        each(|out, byte| write!(out, "%{byte:02X}").unwrap()),
        each(|out, byte| write!(out, "&#{byte};").unwrap()),
        each(|out, byte| write!(out, "{byte:02x}").unwrap()),
        STANDARD.encode(token),
        STANDARD.encode(format!("API_TOKEN={token}\n")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn no_credential_survives_in_any_surrounding(token in token()) {
        let redactor = redactor();
        for surrounding in SURROUNDINGS {
            let text = surrounding.replace('§', &token);
            let out = redact_text(&redactor, &text);
            prop_assert!(!out.contains(&token), "{surrounding:?}");
            let line = Json::from(text).to_line();
            let out = redact_json(&redactor, &line);
            prop_assert!(!out.contains(&token), "{surrounding:?} in JSON");
        }
    }

    #[test]
    fn no_credential_survives_in_disguise(token in token()) {
        let redactor = redactor();
        for disguise in disguises(&token) {
            let out = redact_text(&redactor, &format!("token: {disguise} (copied)"));
            prop_assert!(!out.contains(&disguise), "{disguise:?}");
        }
    }

    #[test]
    fn a_credential_in_pieces_is_put_together(token in token(), size in 5_usize..9) {
        let pieces: Vec<Json<'_>> = token.as_bytes().chunks(size).map(|piece| Json::from(String::from_utf8_lossy(piece).into_owned())).collect();
        let line = Json::from(pieces).to_line();
        let out = redact_json(&redactor(), &line);
        let joined: String = Json::parse(&out).unwrap().as_array().unwrap().iter().filter_map(Json::as_str).collect();
        prop_assert!(!joined.contains(&token));
    }

    #[test]
    fn the_output_parses_and_redacting_twice_changes_nothing(
        before in "\\PC{0,40}", after in "[ -~\\n\"'{}<>=:,;&|\\\\]{0,60}", token in token(), place in 0..SURROUNDINGS.len(),
    ) {
        let redactor = redactor();
        let text = format!("{before}{}{after}", SURROUNDINGS[place].replace('§', &token));
        let once = redact_text(&redactor, &text);
        prop_assert_eq!(&redact_text(&redactor, &once), &once);
        let line = Json::from(text).to_line();
        let once = redact_json(&redactor, &line);
        prop_assert!(serde_json::from_str::<serde_json::Value>(&once).is_ok());
        prop_assert_eq!(redact_json(&redactor, &once), once);
    }

    #[test]
    fn any_text_can_be_redacted(text in "\\PC*") {
        let redactor = redactor();
        let once = redact_text(&redactor, &text);
        prop_assert_eq!(redact_text(&redactor, &once), once);
    }

    #[test]
    fn names_and_signs_in_any_order_can_be_redacted_twice(
        words in proptest::collection::vec(
            prop_oneof![
                Just("password"), Just("token"), Just("api_key"), Just("Authorization"), Just("Cookie"), Just("Bearer"), Just("://"), Just("@"),
                Just("="), Just(":"), Just(" "), Just("\n"), Just("\""), Just("'"), Just("\\"), Just("<"), Just(">"), Just("{"), Just("}"), Just("["),
                Just("]"), Just(","), Just("|"), Just("-----BEGIN PRIVATE KEY-----"), Just("-----END PRIVATE KEY-----"), Just("hunter2"),
                Just("<redacted:token:0a1b2c>"), Just("curl -u "), Just("eyJ"), Just("INSERT INTO t (token) VALUES ("), Just("%3D"), Just("\u{200b}"),
            ],
            0..24,
        ),
    ) {
        let redactor = redactor();
        let text = words.concat();
        let once = redact_text(&redactor, &text);
        prop_assert_eq!(redact_text(&redactor, &once), once);
    }
}

#[test]
fn scanning_what_was_redacted_finds_nothing() {
    let redactor = redactor();
    for rule in RuleSet::builtin().iter() {
        for example in &rule.examples {
            let text = redact_text(&redactor, example);
            assert_eq!(redactor.scan_text(&text), [], "{}", rule.id);
        }
    }
}

#[test]
fn fields_are_judged_by_their_words() {
    let line = r#"{"usage":{"total_tokens":14,"maxTokens":9},"password":7113109268,"keyName":"F5","sessionKey":"agent:main","env":{"DB_PASSWORD":"pass","HOME":"/x"},"nextPageToken":"CAUQAA","headers":[["authorization","Bearer abcdefgh12345678"]],"form":[{"label":"Password","input":"GXPG0GNO"}]}"#;
    let out = redact_json(&redactor(), line);
    insta::assert_snapshot!(out, @r#"{"usage":{"total_tokens":14,"maxTokens":9},"password":"<redacted:password:b8470f>","keyName":"F5","sessionKey":"agent:main","env":{"DB_PASSWORD":"<redacted:password:d89c86>","HOME":"/x"},"nextPageToken":"CAUQAA","headers":[["authorization","Bearer <redacted:authorization:5ea361>"]],"form":[{"label":"Password","input":"<redacted:password:385586>"}]}"#);
}

#[test]
fn the_frame_stays_readable() {
    let redactor = redactor();
    let text = "psql postgres://app:s3cr3t!pw@db:5432/app?sslmode=require --token abc123def456 # DB_PASSWORD=hunter2";
    insta::assert_snapshot!(redact_text(&redactor, text), @"psql postgres://app:<redacted:url-password:2671c7>@db:5432/app?sslmode=require --token <redacted:token:f95a32> # DB_PASSWORD=<redacted:password:f86360>");
}

#[test]
fn a_report_counts_and_never_quotes() {
    let redactor = redactor();
    let mut report = RedactionReport::new();
    report.begin_file("events.jsonl");
    for (number, line) in [r#"{"env":{"DB_PASSWORD":"hunter2"},"list":[{"token":"abc123def456"},{"token":"abc123def457"}]}"#, r#"{"note":"qX9vB2mK7pL4wR8tY1uZ3sD6fG5hJ0aC is odd; <redacted:token:0a1b2c> was here"}"#].iter().enumerate() {
        report.at_line(number as u64 + 1);
        redactor.json(Json::parse(line).unwrap(), &mut report);
    }
    let document = report.to_json().unwrap();
    assert!(!document.contains("hunter2") && !document.contains("qX9v"));
    insta::assert_snapshot!(document);
}
