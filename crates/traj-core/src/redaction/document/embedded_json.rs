//! JSON and JSON Lines inside a string, redacted as JSON.

use super::DocumentPass;
use crate::json::{Json, exceeds_depth};
use crate::redaction::field_name::NameClass;
use crate::redaction::text::find::MIN_TEXT;

/// How deep JSON inside strings inside JSON is parsed.
const MAX_NESTING: u8 = 8;

impl DocumentPass<'_> {
    /// Redacts a string that contains JSON or JSON Lines. `None` if it does not;
    /// `Some(None)` if it does and nothing had to be hidden.
    pub(super) fn structured(&mut self, text: &str) -> Option<Option<String>> {
        if self.nesting >= MAX_NESTING || text.len() < MIN_TEXT {
            return None;
        }
        // Parsing cuts what is nested too deeply; as a text, it is kept.
        if let Some(trimmed) = enclosed(text)
            && !exceeds_depth(trimmed.as_bytes())
            && let Ok(value) = Json::parse(trimmed)
            && !matches!(&value, Json::String(inner) if inner.len() < MIN_TEXT)
        {
            let before = self.report.changes();
            let value = self.nested(value);
            if before == self.report.changes() {
                return Some(None);
            }
            let lead = text.len() - text.trim_start().len();
            let mut out = text.get(..lead).unwrap_or_default().to_owned();
            value.write_compact(&mut out);
            out.push_str(text.get(text.trim_end().len()..).unwrap_or_default());
            return Some(Some(out));
        }
        if has_json_lines(text) {
            return Some(self.json_lines(text));
        }
        None
    }

    fn nested<'a>(&mut self, mut value: Json<'a>) -> Json<'a> {
        let mark = self.path.len();
        self.path.push_str("/~json");
        self.nesting += 1;
        self.value(&mut value, NameClass::Plain);
        self.nesting -= 1;
        self.path.truncate(mark);
        value
    }

    /// Redacts the lines that are JSON as JSON, and the lines between them as
    /// text.
    fn json_lines(&mut self, text: &str) -> Option<String> {
        let mut out = String::new();
        let mut changed = false;
        let mut prose = String::new();
        let first_line = self.report.line();
        self.nesting += 1;
        for line in text.split_inclusive('\n') {
            let trimmed = line.trim();
            if is_json_line(trimmed) && Json::parse(trimmed).is_ok() {
                changed |= self.flush_prose(&mut prose, &mut out);
                match self.text(line) {
                    Some(redacted) => {
                        changed = true;
                        out.push_str(&redacted);
                    }
                    None => out.push_str(line),
                }
                self.count_lines(line);
            } else {
                prose.push_str(line);
            }
        }
        changed |= self.flush_prose(&mut prose, &mut out);
        self.nesting -= 1;
        self.report.set_line(first_line);
        changed.then_some(out)
    }

    fn flush_prose(&mut self, prose: &mut String, out: &mut String) -> bool {
        if prose.is_empty() {
            return false;
        }
        let taken = std::mem::take(prose);
        // The JSON lines are gone; the maximum nesting disables further parsing.
        let nesting = std::mem::replace(&mut self.nesting, MAX_NESTING);
        let redacted = self.text(&taken);
        self.nesting = nesting;
        self.count_lines(&taken);
        let changed = redacted.is_some();
        out.push_str(redacted.as_deref().unwrap_or(&taken));
        changed
    }
}

/// The trimmed string, if it may be a JSON value.
pub(super) fn enclosed(text: &str) -> Option<&str> {
    // Most strings begin with a letter or a digit.
    if text.as_bytes().first()?.is_ascii_alphanumeric() {
        return None;
    }
    let trimmed = text.trim();
    let ends = (trimmed.as_bytes().first()?, trimmed.as_bytes().last()?);
    matches!(ends, (b'{', b'}') | (b'[', b']') | (b'"', b'"')).then_some(trimmed)
}

/// Whether the result for a string does not depend on its nesting, because it
/// cannot contain JSON.
pub(super) fn is_steady(text: &str) -> bool {
    enclosed(text).is_none() && memchr::memchr(b'\n', text.as_bytes()).is_none()
}

fn is_json_line(trimmed: &str) -> bool {
    trimmed.len() > 2
        && (trimmed.starts_with('{') && trimmed.ends_with('}')
            || trimmed.starts_with('[') && trimmed.ends_with(']'))
}

pub(super) fn has_json_lines(text: &str) -> bool {
    let mut place = 0;
    let bytes = text.as_bytes();
    if memchr::memchr(b'{', bytes).is_none() || memchr::memchr(b'\n', bytes).is_none() {
        return false;
    }
    loop {
        if bytes.get(place) == Some(&b'{') {
            let end =
                memchr::memchr(b'\n', &bytes[place..]).map_or(bytes.len(), |found| place + found);
            if bytes[place..end].trim_ascii_end().ends_with(b"}") && end - place > 4 {
                return true;
            }
        }
        match memchr::memchr(b'\n', bytes.get(place..).unwrap_or_default()) {
            Some(found) => place += found + 1,
            None => return false,
        }
    }
}
