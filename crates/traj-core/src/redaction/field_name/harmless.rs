//! Members by their role inside a secret value, and fields of payload.

use super::NameTable;
use super::heads::PASSWORD_HEADS;
use super::words::{MAX_WORDS, ends_with, is, is_any, words};
use super::{NameClass, foreign};
use crate::redaction::rule::Frame;

/// Last words of members that describe a credential without being one.
const DESCRIPTIONS: &[&str] = &[
    "type",
    "name",
    "id",
    "kind",
    "user",
    "username",
    "login",
    "email",
    "account",
    "host",
    "hostname",
    "domain",
    "server",
    "port",
    "url",
    "uri",
    "endpoint",
    "path",
    "file",
    "filename",
    "scope",
    "scopes",
    "region",
    "zone",
    "issuer",
    "iss",
    "aud",
    "audience",
    "sub",
    "subject",
    "version",
    "description",
    "title",
    "label",
    "status",
    "state",
    "algorithm",
    "alg",
    "provider",
    "source",
    "format",
    "length",
    "size",
    "count",
    "min",
    "max",
    "prefix",
    "hint",
    "role",
    "roles",
    "env",
    "environment",
    "ttl",
    "expires",
    "expiry",
    "expiration",
    "at",
    "date",
    "time",
    "timestamp",
    "created",
    "updated",
    "on",
    "by",
    "in",
    "until",
    "mode",
    "method",
    "policy",
    "owner",
    "tenant",
    "project",
    "database",
    "schema",
    "enabled",
    "required",
    "placeholder",
    "comment",
    "note",
    "notes",
    "namespace",
    "ref",
    "arn",
    "fingerprint",
    "display",
    "pattern",
    "example",
    "examples",
    "enum",
    "properties",
    "items",
    "usage",
    "model",
    "message",
    "line",
    "column",
    "start",
    "end",
    "offset",
    "index",
    "position",
    "total",
    "limit",
    "cost",
];

/// Whether a member inside a secret value describes it: `{"token":{"expiresAt":…}}`.
pub(in crate::redaction) fn is_harmless_inside(name: &str) -> bool {
    let mut buffer: [&[u8]; MAX_WORDS] = [b""; MAX_WORDS];
    let count = words(name.as_bytes(), &mut buffer);
    let last = count.checked_sub(1).and_then(|place| buffer.get(place)).copied();
    last.is_some_and(|word| is_any(word, DESCRIPTIONS))
}

/// Words of fields that carry the bytes of a medium or a file.
const PAYLOADS: &[&[&str]] = &[
    &["image"],
    &["images"],
    &["screenshot"],
    &["screenshots"],
    &["attachment"],
    &["attachments"],
    &["file", "data"],
];

/// Whether a long string in a field of this name is payload: `screenshot`,
/// `fileData`, `imageSvg`. Fields that describe the payload are not.
pub(in crate::redaction) fn is_payload(name: &str) -> bool {
    if name.len() < 5 || name.len() > super::MAX_NAME {
        return false;
    }
    let mut buffer: [&[u8]; MAX_WORDS] = [b""; MAX_WORDS];
    let count = words(name.as_bytes(), &mut buffer);
    let Some(all) = buffer.get(..count) else { return false };
    let is_data_uri =
        matches!(all, [.., data, uri] if is(data, "data") && is_any(uri, &["uri", "url"]));
    let describes = all.last().is_some_and(|word| {
        is_any(word, DESCRIPTIONS)
            || is_any(word, &["prompt", "caption", "alt", "summary", "error", "options"])
    });
    is_data_uri
        || !describes
            && PAYLOADS.iter().any(|payload| {
                all.windows(payload.len())
                    .any(|found| found.iter().zip(*payload).all(|(word, other)| is(word, other)))
            })
}

impl NameTable {
    /// Classifies the description of an input field: a CSS selector, a label, an
    /// accessible name. `input[name=password]`, `#login-pwd`, `Password field`.
    pub(in crate::redaction) fn class_of_field(self, text: &str) -> NameClass {
        const LONGEST: usize = 160;
        if text.len() > LONGEST {
            return NameClass::Plain;
        }
        if foreign::names_password(text.as_bytes()) {
            return NameClass::Strong(Frame::Password);
        }
        // The words of a selector are separated by anything that is not a name.
        let mut found = NameClass::Plain;
        for name in text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_') {
            let mut buffer: [&[u8]; MAX_WORDS] = [b""; MAX_WORDS];
            let count = words(name.as_bytes(), &mut buffer);
            let is_password = buffer.iter().take(count).any(|word| {
                is_any(word, PASSWORD_HEADS)
                    || is(word, "passphrase")
                    || ends_with(word, "password")
                    || ends_with(word, "passwd")
            });
            if is_password {
                return NameClass::Strong(Frame::Password);
            }
            if let class @ NameClass::Strong(_) = self.classify(name.as_bytes()) {
                found = class;
            }
        }
        found
    }
}
