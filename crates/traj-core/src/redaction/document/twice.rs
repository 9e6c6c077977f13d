//! A document as tests redact it: twice, which must not change it.

use crate::json::Json;
use crate::redaction::{MarkerKey, RedactionPolicy, RedactionReport, Redactor};

/// The redacted document, after redacting it again changed nothing.
pub(super) fn redacted(text: &str) -> String {
    let redactor = Redactor::new(RedactionPolicy::standard(MarkerKey::new([7; 32])));
    let once = redactor.json(Json::parse(text).unwrap(), &mut RedactionReport::new());
    let once = once.into_inner();
    let printed = compact(&once);
    let again = redactor.json(once, &mut RedactionReport::new()).into_inner();
    assert_eq!(compact(&again), printed, "redacting twice changes nothing");
    printed
}

fn compact(value: &Json<'_>) -> String {
    let mut out = String::new();
    value.write_compact(&mut out);
    out
}
