//! Filters and redacts the events that `traj tail` shows.

use globset::{Glob, GlobMatcher};
use regex::Regex;
use traj_core::care::tail::{EventFilter, TailEvent};
use traj_core::json::Json;
use traj_core::redaction::{RedactionPolicy, RedactionReport, Redactor};

use crate::command_error::CommandError;
use crate::compose::Host;

/// The filters of the command line, and the redaction of every shown row.
pub(super) struct ShownRows<'a> {
    kind: Option<GlobMatcher>,
    grep: Option<&'a Regex>,
    redactor: Redactor,
}

impl<'a> ShownRows<'a> {
    pub(super) fn new(
        kind: Option<&Glob>,
        grep: Option<&'a Regex>,
        host: &Host,
    ) -> Result<Self, CommandError> {
        let key = host.marker_key().or_else(|_| Host::passing_key())?;
        let redactor = Redactor::new(RedactionPolicy::standard(key));
        Ok(Self { kind: kind.map(Glob::compile_matcher), grep, redactor })
    }
}

impl EventFilter for ShownRows<'_> {
    fn wants_every_type(&self) -> bool {
        self.kind.is_none()
    }

    fn wants_type(&self, kind: &str) -> bool {
        self.kind.as_ref().is_none_or(|glob| glob.is_match(kind))
    }

    fn redact<'r>(&self, row: Json<'r>) -> Json<'r> {
        self.redactor.json(row, &mut RedactionReport::default()).into_inner()
    }

    fn wants(&self, event: &TailEvent, row: &Json<'_>) -> bool {
        let Some(grep) = self.grep else { return true };
        if grep.is_match(&event.layout()) || holds(row, grep) {
            return true;
        }
        let mut text = String::new();
        row.write_compact(&mut text);
        grep.is_match(&text)
    }
}

/// Whether a string in a value matches, after unescaping.
fn holds(value: &Json<'_>, grep: &Regex) -> bool {
    match value {
        Json::String(text) => grep.is_match(text),
        Json::Array(items) => items.iter().any(|item| holds(item, grep)),
        Json::Object(object) => object.iter().any(|(_, member)| holds(member, grep)),
        Json::Null | Json::Bool(_) | Json::Number(_) => false,
    }
}
