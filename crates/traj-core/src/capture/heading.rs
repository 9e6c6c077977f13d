//! What stands before an event's numbers: its kind and its time.

use crate::event::EventKind;
use crate::json::{Json, Object};
use crate::redaction::{Redacted, RedactionReport, Redactor};
use crate::timestamp::UnixMillis;

/// `"type":…` of the kinds that have names of their own, redacted once: the
/// same words again would give the same again.
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

    /// Appends `"type":…,"ts":…` of an event. A time that we write ourselves
    /// needs no redaction: `stamp` is one.
    pub(super) fn write_frame(
        &self,
        redactor: &Redactor,
        kind: &EventKind,
        stamp: &str,
        report: &mut RedactionReport,
        out: &mut String,
    ) {
        let known = EventKind::KNOWN.iter().zip(&self.known).find(|(known, _)| *known == kind);
        match known {
            Some((_, member)) => out.push_str(member.as_ref()),
            None => out.push_str(kind_member(redactor, kind, report).as_ref()),
        }
        out.push_str(r#","ts":""#);
        out.push_str(stamp);
        out.push('"');
    }

    /// What [`Self::write_frame`] writes.
    pub(super) fn frame(
        &self,
        redactor: &Redactor,
        kind: &EventKind,
        at: UnixMillis,
        report: &mut RedactionReport,
    ) -> Redacted<String> {
        let mut frame = String::with_capacity(64);
        self.write_frame(redactor, kind, &at.to_iso(), report, &mut frame);
        Redacted::part_of_redacted(frame)
    }
}

fn kind_member(
    redactor: &Redactor,
    kind: &EventKind,
    report: &mut RedactionReport,
) -> Redacted<String> {
    let member = Object::from_iter([("type", kind.as_str().to_owned())]);
    let line = redactor.json(Json::Object(member), report).to_line();
    line.map(|line| super::inside_braces(&line).to_owned())
}
