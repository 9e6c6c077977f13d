//! Recovers rows from a damaged line.

use std::borrow::Cow;

use super::diagnosis::{DocumentKind, Problem};
use crate::json::{Json, ParseErrorKind};

/// How rows begin in the known formats.
const BEGINNINGS: [&str; 3] = ["{\"type\"", "{\"traceSchema\"", "{\"timestamp\""];

/// At most this many possible beginnings of a row are tried in a broken line.
const MOST_BEGINNINGS: usize = 64;

/// What was recovered from a line.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Salvaged {
    /// Complete values, in order, as text.
    pub(super) rows: Vec<String>,
    /// Its problems.
    pub(super) problems: Vec<Problem>,
    /// The text before the first complete row, if it broke off there.
    pub(super) torn_head: Option<String>,
}

impl Salvaged {
    fn problem(&mut self, problem: Problem) {
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }
}

/// Reads a line; `None` if it is sound or blank and needs no salvage.
pub(super) fn salvage(line: &[u8]) -> Option<Salvaged> {
    let mut found = Salvaged::default();
    let bytes: Cow<'_, [u8]> = if line.contains(&0) {
        found.problem(Problem::NulRun);
        Cow::Owned(line.iter().copied().filter(|byte| *byte != 0).collect())
    } else {
        Cow::Borrowed(line)
    };
    let text = String::from_utf8_lossy(&bytes);
    if matches!(text, Cow::Owned(_)) {
        found.problem(Problem::InvalidUtf8);
    }
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return (!found.problems.is_empty()).then_some(found);
    }
    if Json::parse(text).is_ok() {
        if found.problems.is_empty() {
            return None;
        }
        found.rows.push(text.to_owned());
        return Some(found);
    }
    take_rows(text, &mut found);
    Some(found)
}

fn take_rows(text: &str, found: &mut Salvaged) {
    let mut rest = text;
    let mut beginnings = 0;
    let mut torn = String::new();
    while !rest.is_empty() && beginnings < MOST_BEGINNINGS {
        beginnings += 1;
        let is_start = torn.is_empty();
        match first_value(rest) {
            Some((row, behind)) if is_start || is_row(row) => {
                if !torn.is_empty() && found.rows.is_empty() {
                    found.torn_head = Some(std::mem::take(&mut torn));
                }
                found.rows.push(row.to_owned());
                rest = behind.trim_start();
            }
            _ => {
                let next = next_beginning(rest);
                torn.push_str(rest.get(..next).unwrap_or(rest));
                rest = rest.get(next..).unwrap_or_default();
            }
        }
    }
    torn.push_str(rest);
    if found.rows.is_empty() {
        found.torn_head = Some(text.to_owned());
    }
    if !torn.trim().is_empty() || found.torn_head.is_some() {
        found.problem(Problem::Torn);
    }
    if found.rows.len() > 1 {
        found.problem(Problem::JoinedRows);
    }
}

/// The complete value at the beginning of a text, and the rest.
fn first_value(text: &str) -> Option<(&str, &str)> {
    match Json::parse(text) {
        Ok(_) => Some((text, "")),
        Err(error) if error.kind == ParseErrorKind::TrailingText => {
            let (row, behind) = text.split_at_checked(error.offset)?;
            let row = row.trim_end();
            row.starts_with('{').then_some((row, behind))
        }
        Err(_) => None,
    }
}

/// Whether a value inside a torn row is a row by itself: the blocks of a message
/// are objects too.
fn is_row(text: &str) -> bool {
    Json::parse(text).ok().and_then(|value| DocumentKind::of_row(&value)).is_some()
}

/// The next position after the first character where a row may begin.
fn next_beginning(text: &str) -> usize {
    let first = text.chars().next().map_or(0, char::len_utf8);
    let behind = text.get(first..).unwrap_or_default();
    BEGINNINGS
        .iter()
        .filter_map(|beginning| behind.find(beginning))
        .min()
        .map_or(text.len(), |at| first + at)
}
