//! What OpenClaw does to the data of every event before it writes it.
//!
//! Names and strings are matched with regular expressions; containers are copied
//! and cut. Unchanged strings are not copied, as in OpenClaw. The expressions match
//! ASCII only, which is less work than OpenClaw's, so the baseline is not slower
//! than the original.

use std::borrow::Cow;

use regex::{Captures, Regex};
use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::Value;

const MOST_ENTRIES: usize = 100;
const DEEPEST: usize = 6;
const LONGEST_TEXT: usize = 20_000;
const LONGEST_PAYLOAD: usize = 256;

/// The expressions, compiled once.
pub(super) struct Sanitiser {
    secret_name: Regex,
    payload_name: Regex,
    scheme: Regex,
    web_token: Regex,
    cookie: Regex,
}

/// A value as OpenClaw writes it.
pub(super) enum Sanitised<'v> {
    Same(&'v Value),
    Text(Cow<'v, str>),
    List(Vec<Self>),
    Members(Vec<(&'v str, Self)>),
}

impl Sanitiser {
    pub(super) fn new() -> Result<Self, regex::Error> {
        Ok(Self {
            secret_name: Regex::new(
                "(?i-u)authorization|cookie|credential|key|password|passwd|secret|token",
            )?,
            payload_name: Regex::new("(?i-u)image|screenshot|attachment|fileData|dataUri")?,
            scheme: Regex::new(r"(?i-u)\b(bearer|basic)\s+[\w+/.~=-]{8,}")?,
            web_token: Regex::new(r"(?-u)\beyJ[\w-]{10,}(?:\.[\w-]{10,}){2}\b")?,
            cookie: Regex::new(r"(?-u)\b([A-Za-z][\w.-]{1,64})=[\w+/.~%=-]{16,}")?,
        })
    }

    /// The data of an event.
    pub(super) fn data<'v>(&self, data: &'v Value) -> Sanitised<'v> {
        self.value(data, 0, "")
    }

    fn value<'v>(&self, value: &'v Value, depth: usize, name: &str) -> Sanitised<'v> {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => Sanitised::Same(value),
            Value::String(text) => Sanitised::Text(self.text(text, name)),
            Value::Array(_) | Value::Object(_) if depth >= DEEPEST => {
                Sanitised::Text("<truncated>".into())
            }
            Value::Array(items) => {
                let items = items.iter().take(MOST_ENTRIES);
                Sanitised::List(items.map(|item| self.value(item, depth + 1, name)).collect())
            }
            Value::Object(members) => {
                let members = members.iter().take(MOST_ENTRIES);
                let member = |(name, value): (&'v String, &'v Value)| {
                    (name.as_str(), self.value(value, depth + 1, name))
                };
                Sanitised::Members(members.map(member).collect())
            }
        }
    }

    fn text<'v>(&self, text: &'v str, name: &str) -> Cow<'v, str> {
        if self.secret_name.is_match(name) {
            return "<redacted>".into();
        }
        if text.starts_with("data:") && text.len() > LONGEST_PAYLOAD {
            let head = text.find(',').unwrap_or(text.len() - 1);
            return format!("<redacted data-uri {head} chars>").into();
        }
        if self.payload_name.is_match(name) && text.len() > LONGEST_PAYLOAD {
            return "<redacted payload>".into();
        }
        let text =
            replace(&self.scheme, text.into(), |_, found| format!("{} <redacted>", &found[1]));
        let text = replace(&self.web_token, text, |_, _| "<redacted-jwt>".to_owned());
        let text = replace(&self.cookie, text, |text, found| {
            let end = found.get(0).map_or(0, |whole| whole.end());
            let next = text.get(end..).and_then(|rest| rest.chars().next());
            match next {
                Some(next) if next != ';' && !next.is_whitespace() => found[0].to_owned(),
                _ => format!("{}=<redacted>", &found[1]),
            }
        });
        if text.len() <= LONGEST_TEXT {
            return text;
        }
        text.chars().take(LONGEST_TEXT).chain(['…']).collect::<String>().into()
    }
}

/// Replaces the matches of an expression; a string without a match is not copied.
fn replace<'v>(
    expression: &Regex,
    text: Cow<'v, str>,
    by: impl Fn(&str, &Captures<'_>) -> String,
) -> Cow<'v, str> {
    match expression.replace_all(&text, |found: &Captures<'_>| by(&text, found)) {
        Cow::Owned(changed) => Cow::Owned(changed),
        Cow::Borrowed(_) => text,
    }
}

impl Serialize for Sanitised<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Same(value) => value.serialize(serializer),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(items) => serializer.collect_seq(items),
            Self::Members(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                members.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
                map.end()
            }
        }
    }
}
