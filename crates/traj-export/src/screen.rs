//! The rules of one export, and what they have seen.

use traj_core::json::Json;
use traj_core::redaction::{Redacted, RedactedText, RedactionReport, Redactor, TextHasher};

use crate::ledger::PartNote;

/// How many texts are remembered, however many there are: what is forgotten is
/// only looked at again.
const REMEMBERED: usize = 1 << 17;

/// How a value is written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Layout {
    /// On one line.
    Line,
    /// Over several, at this level.
    Indented(usize),
}

/// The rules, with a memory for texts, and the hash that parts are known by.
pub(crate) struct Screen {
    redactor: Redactor,
    hasher: TextHasher,
}

impl Screen {
    pub(crate) fn new(redactor: &Redactor) -> Self {
        Self { redactor: redactor.remembering(REMEMBERED), hasher: TextHasher::default() }
    }

    pub(crate) const fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    pub(crate) const fn hasher(&self) -> &TextHasher {
        &self.hasher
    }

    /// The note on a part that the rules have seen or not.
    pub(crate) fn note(&self, part: &[u8], is_seen: bool) -> PartNote {
        PartNote::on(part, is_seen.then(|| self.hasher.hash(part)))
    }

    /// Whether the rules let an event stay as it is.
    pub(crate) fn passes(&self, event: &str) -> bool {
        let mut report = RedactionReport::new();
        let event = Json::parse(event);
        event.is_ok_and(|event| {
            self.redactor.recheck_json(event, &mut report);
            report.changes() == 0
        })
    }

    /// Redacts a value that becomes a part of a file, and appends it.
    pub(crate) fn write<'a>(
        &self,
        value: Json<'a>,
        report: &mut RedactionReport,
        out: &mut RedactedText,
        layout: Layout,
    ) -> (Redacted<Json<'a>>, PartNote) {
        let (start, unsettled) = (out.as_bytes().len(), report.unsettled());
        let value = self.redactor.json(value, report);
        match layout {
            Layout::Line => out.push_json(value.view()),
            Layout::Indented(level) => out.push_pretty(value.view(), level),
        };
        let is_seen = report.unsettled() == unsettled;
        let note = self.note(out.as_bytes().get(start..).unwrap_or_default(), is_seen);
        (value, note)
    }
}

#[cfg(test)]
mod tests {
    use traj_core::redaction::{MarkerKey, RedactionPolicy};

    use super::*;

    #[test]
    fn only_what_the_rules_have_seen_is_noted() {
        let redactor = Redactor::new(RedactionPolicy::standard(MarkerKey::new([7; 32])));
        let screen = Screen::new(&redactor);
        let write = |json: &'static str, layout: Layout| {
            let (mut report, mut out) = (RedactionReport::default(), RedactedText::new());
            let value = Json::parse(json).unwrap();
            let (_, note) = screen.write(value, &mut report, &mut out, layout);
            (note, out.finish().into_inner())
        };
        for layout in [Layout::Line, Layout::Indented(2)] {
            let (note, text) = write(r#"{"a":1}"#, layout);
            assert_eq!(note, screen.note(text.as_bytes(), true));
        }
        let (note, text) = write(r#"{"password":"hunter2-and-more"}"#, Layout::Line);
        assert!(text.contains("<redacted:"));
        assert_eq!(note, screen.note(text.as_bytes(), false));
        // The rules have looked again at a long text that they changed.
        let long = r#"{"log":"password=hunter2-and-more was said in the log of the build, and nothing else that had to go was to be found in any of its lines"}"#;
        let (note, text) = write(long, Layout::Line);
        assert!(text.contains("<redacted:"));
        assert_eq!(note, screen.note(text.as_bytes(), true));
        assert!(screen.passes(&text) && !screen.passes(long));
    }
}
