//! The laws of redaction, for any input: what comes out parses, redacting twice
//! changes nothing, and a credential of a known form does not survive.
//!
//! The fuzz targets in `fuzz/` and the program `fuzz-redaction` check them.

use std::sync::LazyLock;

use traj_core::json::Json;
use traj_core::redaction::{MarkerKey, RedactionPolicy, RedactionReport, Redactor};

static REDACTOR: LazyLock<Redactor> =
    LazyLock::new(|| Redactor::new(RedactionPolicy::standard(MarkerKey::new([7; 32]))));

/// Panics if a text breaks the law.
pub type Law = fn(&str);

/// Every law; a new one is a line here.
pub const LAWS: &[(&str, Law)] = &[
    ("text", text_is_settled),
    ("json", json_parses_and_is_settled),
    ("credential", no_credential_survives),
];

fn redacted_text(text: &str) -> String {
    REDACTOR.text(text, &mut RedactionReport::new()).into_inner().into_owned()
}

/// Redacting a text twice changes nothing.
///
/// # Panics
/// When the law does not hold.
pub fn text_is_settled(text: &str) {
    let once = redacted_text(text);
    assert_eq!(redacted_text(&once), once, "redacting twice changes the text");
}

/// A redacted value is a line that parses, and redacting it again changes nothing.
///
/// # Panics
/// When the law does not hold.
pub fn json_parses_and_is_settled(text: &str) {
    let value = Json::parse(text).unwrap_or_else(|_| Json::from(text.to_owned()));
    let redact = |value: Json<'_>| {
        let report = &mut RedactionReport::new();
        REDACTOR.json_settled(value, &[], report).to_line().into_inner()
    };
    let once = redact(value);
    assert!(!once.contains('\n'), "a line has no line break");
    let again = Json::parse(&once).expect("a redacted value parses");
    assert_eq!(redact(again), once, "redacting twice changes the value");
}

/// A credential between spaces does not survive, whatever is around it.
///
/// # Panics
/// When the law does not hold.
pub fn no_credential_survives(text: &str) {
    // Assembled here so that no scanner takes this file for a leak.
    let credential = format!("gh{}_{}", 'p', "x7Kq2mVt9LbR4nWc8ZsD3yFh6JgA5eUo1PiT");
    let middle = text.floor_char_boundary(text.len() / 2);
    let (before, after) = text.split_at(middle);
    let out = redacted_text(&format!("{before} {credential} {after}"));
    assert!(!out.contains(&credential), "a credential survives");
}
