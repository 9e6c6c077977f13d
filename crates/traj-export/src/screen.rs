//! The rules of one export, with a memory of what they left as it is.
//!
//! A bundle is read back before it gets its name. What the rules saw while it
//! was written and left unchanged, to the byte, they need not see again;
//! everything else they do.

use std::num::NonZeroUsize;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use traj_core::json::{Json, ParseError};
use traj_core::redaction::{CleanTexts, Redacted, RedactedText, RedactionReport, Redactor};
use traj_core::transcript::TranscriptEvent;

use crate::scan::Scan;

/// One text is remembered for this many bytes of input: most are longer, and
/// what is forgotten is only looked at again.
const BYTES_PER_TEXT: u64 = 256;

/// How a value is written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Layout {
    /// On one line.
    Line,
    /// Over several, at this level.
    Indented(usize),
}

/// The rules, and the values in which they changed nothing.
pub(crate) struct Screen {
    redactor: Redactor,
    unchanged: CleanTexts,
}

impl Screen {
    /// The screen for an export of so many bytes.
    pub(crate) fn new(redactor: &Redactor, bytes: u64) -> Self {
        let texts = usize::try_from(bytes / BYTES_PER_TEXT).unwrap_or(usize::MAX);
        Self { redactor: redactor.remembering(texts), unchanged: CleanTexts::with_room(texts) }
    }

    pub(crate) const fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// Redacts a value that becomes a part of a file, and appends it.
    pub(crate) fn write<'a>(
        &self,
        value: Json<'a>,
        report: &mut RedactionReport,
        out: &mut RedactedText,
        layout: Layout,
    ) -> Redacted<Json<'a>> {
        let (start, changes) = (out.as_bytes().len(), report.changes());
        let value = self.redactor.json(value, report);
        match layout {
            Layout::Line => out.push_json(value.view()),
            Layout::Indented(level) => out.push_pretty(value.view(), level),
        };
        if report.changes() == changes {
            self.unchanged.add(out.as_bytes().get(start..).unwrap_or_default());
        }
        value
    }

    /// Remembers the message of an event whose entry was left as it is: it
    /// stands in the event as it stands in the entry.
    pub(crate) fn know_message(&self, event: &TranscriptEvent) {
        if let Some(message) = message_of(event.tail().as_bytes()) {
            self.unchanged.add(message);
        }
    }

    /// The scan for reading everything back.
    pub(crate) fn recheck(&self, workers: NonZeroUsize) -> Scan<'_> {
        Scan { clean: Some(&self.unchanged), ..Scan::new(&self.redactor, workers) }
    }
}

/// Reads a part of a file as far as the rules have not seen it; `None` where
/// they have seen all of it. Whatever they have seen, it is checked to be JSON.
pub(crate) fn parse_unknown<'t>(
    text: &'t str,
    clean: &CleanTexts,
) -> Result<Option<Json<'t>>, ParseError> {
    if clean.contains(text.as_bytes()) {
        return Json::parse_shallow(text, 0).map(|_| None);
    }
    if message_of(text.as_bytes()).is_some_and(|message| clean.contains(message)) {
        // The message is the one thing in the line that lies this deep.
        let event = Json::parse_shallow(text, MESSAGE_DEPTH)?;
        if has_only_a_message(&event) {
            return Ok(Some(event));
        }
    }
    Json::parse(text).map(Some)
}

/// An event and its data stand around a message.
const MESSAGE_DEPTH: usize = 2;

/// What may be a message at the end of an event's line.
fn message_of(line: &[u8]) -> Option<&[u8]> {
    const LEAD: &[u8] = b",\"data\":{\"message\":";
    static FINDER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(LEAD));
    let start = FINDER.find(line)? + LEAD.len();
    line.get(start..)?.strip_suffix(b"}}")
}

/// Whether an event is flat but for a message in its data.
fn has_only_a_message(event: &Json<'_>) -> bool {
    let is_flat = |value: &Json<'_>| !matches!(value, Json::Array(_) | Json::Object(_));
    let Some(event) = event.as_object() else { return false };
    event.iter().all(|(name, value)| match value {
        Json::Object(data) if name == "data" => {
            data.len() == 1 && data.iter().all(|(name, _)| name == "message")
        }
        value => is_flat(value),
    })
}

#[cfg(test)]
mod tests {
    use traj_core::redaction::{MarkerKey, RedactionPolicy};

    use super::*;

    #[test]
    fn only_what_was_not_changed_is_remembered() {
        let redactor = Redactor::new(RedactionPolicy::standard(MarkerKey::new([7; 32])));
        let screen = Screen::new(&redactor, 4_096);
        let write = |json: &'static str, layout: Layout| {
            let (mut report, mut out) = (RedactionReport::default(), RedactedText::new());
            screen.write(Json::parse(json).unwrap(), &mut report, &mut out, layout);
            out.finish().into_inner()
        };
        let harmless = write(r#"{"a":1}"#, Layout::Line);
        let indented = write(r#"{"a":1}"#, Layout::Indented(2));
        let hidden = write(r#"{"password":"hunter2-and-more"}"#, Layout::Line);
        assert!(hidden.contains("<redacted:"));
        let known = |text: &str| screen.unchanged.contains(text.as_bytes());
        assert_eq!((known(&harmless), known(&indented), known(&hidden)), (true, true, false));
    }

    #[test]
    fn a_known_message_is_passed_over_only_where_it_is_all_there_is() {
        let clean = CleanTexts::with_room(16);
        let message = r#"{"role":"user","content":"hi"}"#;
        clean.add(message.as_bytes());
        let parse = |line: &str| {
            parse_unknown(line, &clean).unwrap().map(|value| value.to_line()).unwrap_or_default()
        };
        let event = |lead: &str| format!(r#"{{{lead},"data":{{"message":{message}}}}}"#);
        assert_eq!(parse(&event(r#""a":1"#)), r#"{"a":1,"data":{"message":{}}}"#);
        // Another message, or anything deep beside it, is read whole.
        for line in [
            event(r#""a":{"b":{"c":1}}"#),
            event(r#""a":[[1]]"#),
            event(r#""a":1"#).replace("hi", "ho"),
            format!(r#"{{"a":1,"data":{{"message":{message}}}}}"#).replace("}}", r#","b":[[2]]}}"#),
        ] {
            assert_eq!(parse(&line), Json::parse(&line).unwrap().to_line(), "{line}");
        }
        assert!(parse_unknown(r#"{"a":1"#, &clean).is_err());
    }
}
