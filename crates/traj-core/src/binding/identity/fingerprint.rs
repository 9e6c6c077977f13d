//! Fingerprints of a thread's configuration, one per component.
//!
//! A fingerprint is the SHA-256 of a component's canonical string without two explicit lists of
//! members: descriptions ([`DESCRIPTIVE_MEMBERS`]) and secrets ([`SECRET_MEMBERS`], of which only
//! the names count). So rewording a tool or rotating a key does not lose a thread's history, and no
//! secret can be recovered from a record.

use std::fmt;

use sha2::{Digest as _, Sha256};

use super::canonical::canonical_text;
use crate::json::{Json, Object};

/// Members of a tool specification that do not change what the tool accepts.
pub const DESCRIPTIVE_MEMBERS: [&str; 1] = ["description"];

/// Members of an MCP server with secret values: only the names inside them count.
pub const SECRET_MEMBERS: [&str; 4] = ["env", "headers", "http_headers", "bearer_token"];

/// Members of a tool specification that only control when it is loaded; older records omit them.
const LOADING_MEMBERS: [&str; 2] = ["deferLoading", "namespace"];

const PREFIX: &str = "sha256:";
const IMPORTED_PREFIX: &str = "imported-sha256:";
const OPAQUE_PREFIX: &str = "opaque-sha256:";

/// A hash of one component of a thread's identity.
#[derive(Clone, PartialEq, Eq)]
pub struct Fingerprint(String);

impl Fingerprint {
    /// The fingerprint of a JSON value as it is.
    #[must_use]
    pub fn of(value: &Json<'_>) -> Self {
        Self(hashed(PREFIX, &canonical_text(value)))
    }

    /// A fingerprint that the host computed by its own rules.
    #[must_use]
    pub fn opaque(text: &str) -> Self {
        Self(hashed(OPAQUE_PREFIX, text))
    }

    /// The fingerprint of a tool catalogue: order and descriptions do not count.
    #[must_use]
    pub fn of_tools(tools: &[Json<'_>]) -> Self {
        Self(hashed(PREFIX, &tools_text(tools, &[])))
    }

    /// The fingerprint of a tool catalogue by the rules of imported records.
    #[must_use]
    pub fn of_tools_imported(tools: &[Json<'_>]) -> Self {
        Self(hashed(IMPORTED_PREFIX, &tools_text(tools, &LOADING_MEMBERS)))
    }

    /// The fingerprint of MCP servers, without secret values.
    #[must_use]
    pub fn of_mcp_servers(servers: &Json<'_>) -> Self {
        Self(hashed(PREFIX, &canonical_text(&without_secrets(servers))))
    }

    /// Reads a fingerprint that this crate wrote; `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let known = [PREFIX, IMPORTED_PREFIX, OPAQUE_PREFIX];
        let digest = known.iter().find_map(|prefix| text.strip_prefix(prefix))?;
        let is_digest = digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_digest.then(|| Self(text.to_owned()))
    }

    /// Whether this came from another tool's record, made by looser rules.
    #[must_use]
    pub fn is_imported(&self) -> bool {
        self.0.starts_with(IMPORTED_PREFIX)
    }

    /// Whether the rules that made it are unknown; it is then only compared with opaque ones.
    #[must_use]
    pub fn is_opaque(&self) -> bool {
        self.0.starts_with(OPAQUE_PREFIX)
    }

    /// The stored form.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

fn hashed(prefix: &str, text: &str) -> String {
    use fmt::Write as _;
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().fold(prefix.to_owned(), |mut out, byte| {
        // Writing to a String cannot fail.
        let _infallible = write!(out, "{byte:02x}");
        out
    })
}

fn tools_text(tools: &[Json<'_>], also_left_out: &[&str]) -> String {
    let mut texts: Vec<String> = tools
        .iter()
        .map(|tool| canonical_text(&without_descriptions(tool, also_left_out)))
        .collect();
    texts.sort_unstable();
    format!("[{}]", texts.join(","))
}

/// Drops descriptive members that are strings: a schema property named `description` is an object
/// and stays.
fn without_descriptions<'a>(value: &Json<'a>, top_level: &[&str]) -> Json<'a> {
    match value {
        Json::Array(items) => {
            Json::Array(items.iter().map(|item| without_descriptions(item, &[])).collect())
        }
        Json::Object(object) => {
            let kept = object.iter().filter(|(name, member)| {
                let describes = DESCRIPTIVE_MEMBERS.contains(name) && member.as_str().is_some();
                !describes && !top_level.contains(name)
            });
            let mut out = Object::with_capacity(object.len());
            for (name, member) in kept {
                out.push(name.to_owned(), without_descriptions(member, &[]));
            }
            out.into()
        }
        other => other.clone(),
    }
}

fn without_secrets<'a>(value: &Json<'a>) -> Json<'a> {
    match value {
        Json::Array(items) => Json::Array(items.iter().map(without_secrets).collect()),
        Json::Object(object) => {
            let mut out = Object::with_capacity(object.len());
            for (name, member) in object.iter() {
                let kept = if SECRET_MEMBERS.contains(&name) {
                    names_only(member)
                } else {
                    without_secrets(member)
                };
                out.push(name.to_owned(), kept);
            }
            out.into()
        }
        Json::String(text) => Json::String(without_query(text).into()),
        other => other.clone(),
    }
}

fn names_only<'a>(value: &Json<'a>) -> Json<'a> {
    match value {
        Json::Object(object) => {
            Json::Object(object.iter().map(|(name, _)| (name.to_owned(), true)).collect())
        }
        Json::Null => Json::Null,
        _ => Json::Bool(true),
    }
}

/// A URL without user info and query, which may contain tokens.
fn without_query(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let rest = rest.split(['?', '#']).next().unwrap_or(rest);
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = authority.rsplit('@').next().unwrap_or(authority);
    format!("{scheme}://{host}/{path}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn json(text: &str) -> Json<'_> {
        Json::parse(text).unwrap()
    }

    fn tools(text: &str) -> Fingerprint {
        Fingerprint::of_tools(json(text).as_array().unwrap())
    }

    /// Scenarios 13, 14, 15 and 32: descriptions, order and locale do not count; schemas do.
    #[test]
    fn a_catalogue_is_its_names_and_schemas() {
        let first = tools(
            r#"[{"name":"b","description":"x","inputSchema":{"type":"object"}},{"name":"ä"}]"#,
        );
        let second = tools(
            r#"[{"name":"ä"},{"inputSchema":{"type":"object"},"name":"b","description":"y"}]"#,
        );
        let third =
            tools(r#"[{"name":"ä"},{"inputSchema":{"type":"object","enum":[1]},"name":"b"}]"#);
        assert_eq!(first, second);
        assert_ne!(first, third);
    }

    #[test]
    fn a_property_called_description_counts() {
        let with = tools(
            r#"[{"name":"a","inputSchema":{"properties":{"description":{"type":"string"}}}}]"#,
        );
        let without = tools(r#"[{"name":"a","inputSchema":{"properties":{}}}]"#);
        assert_ne!(with, without);
    }

    /// Scenario 31: no secret appears in a fingerprint, and rotating one does not change it.
    #[test]
    fn secrets_of_servers_do_not_count_but_their_names_do() {
        let of = |text: &str| Fingerprint::of_mcp_servers(&json(text));
        let first =
            of(r#"{"s":{"command":"x","env":{"TOKEN":"one"},"url":"https://u:p@h/p?key=1"}}"#);
        let second = of(r#"{"s":{"command":"x","env":{"TOKEN":"two"},"url":"https://h/p"}}"#);
        let third = of(r#"{"s":{"command":"x","env":{"OTHER":"one"},"url":"https://h/p"}}"#);
        assert_eq!(first, second);
        assert_ne!(first, third);
        assert!(!first.as_str().contains("one"));
    }

    #[test]
    fn only_own_fingerprints_are_parsed() {
        let fingerprint = Fingerprint::of(&json("[]"));
        assert_eq!(Fingerprint::parse(fingerprint.as_str()), Some(fingerprint));
        assert_eq!(Fingerprint::parse("[]"), None);
        assert_eq!(Fingerprint::parse("sha256:short"), None);
    }

    proptest! {
        #[test]
        fn any_other_value_has_another_fingerprint(
            first in crate::binding::tests::any_json(),
            second in crate::binding::tests::any_json(),
        ) {
            let same = canonical_text(&first) == canonical_text(&second);
            prop_assert_eq!(Fingerprint::of(&first) == Fingerprint::of(&second), same);
        }
    }
}
