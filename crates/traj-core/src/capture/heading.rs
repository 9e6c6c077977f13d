//! The members before an event's sequence numbers: its type and its time.

use crate::event::EventKind;
use crate::json::{Json, Object};
use crate::redaction::{Redacted, RedactedText, RedactionReport, Redactor};
use crate::timestamp::UnixMillis;

/// `"type":…` of the built-in event types. Each is redacted only once, because
/// the same name always gives the same result.
#[derive(Debug)]
pub(super) struct KindMembers {
    known: Vec<Redacted<String>>,
}

impl KindMembers {
    pub(super) fn new(redactor: &Redactor) -> Self {
        let mut report = RedactionReport::default();
        let member = |kind: &EventKind| kind_member(redactor, kind, &mut report);
        Self { known: EventKind::KNOWN.iter().map(member).collect() }
    }

    /// Appends an event's `"type":…`.
    pub(super) fn write(
        &self,
        redactor: &Redactor,
        kind: &EventKind,
        report: &mut RedactionReport,
        out: &mut RedactedText,
    ) {
        let known = EventKind::KNOWN.iter().zip(&self.known).find(|(known, _)| *known == kind);
        match known {
            Some((_, member)) => out.push_text(member),
            None => out.push_text(&kind_member(redactor, kind, report)),
        };
    }
}

fn kind_member(
    redactor: &Redactor,
    kind: &EventKind,
    report: &mut RedactionReport,
) -> Redacted<String> {
    let member = Object::from_iter([("type", kind.as_str().to_owned())]);
    redactor.json(Json::Object(member), report).to_members()
}

/// The last time that was written; the next event often has the same.
#[derive(Debug, Default)]
pub(super) struct LastTime(Option<(UnixMillis, Redacted<String>)>);

impl LastTime {
    /// Appends `,"ts":…`.
    pub(super) fn write(&mut self, at: UnixMillis, out: &mut RedactedText) {
        let written = match self.0.take() {
            Some((known, written)) if known == at => written,
            _ => {
                let mut literal = RedactedText::new();
                literal.push_instant(at);
                literal.finish()
            }
        };
        out.push_static(",\"ts\":").push_text(&written);
        self.0 = Some((at, written));
    }
}
