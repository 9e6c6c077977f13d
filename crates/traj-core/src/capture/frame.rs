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

    /// `"type":…,"ts":…` of an event. A time that we write ourselves needs no
    /// redaction.
    pub(super) fn frame(
        &self,
        redactor: &Redactor,
        kind: &EventKind,
        at: UnixMillis,
        report: &mut RedactionReport,
    ) -> Redacted<String> {
        let known = EventKind::KNOWN.iter().zip(&self.known).find(|(known, _)| *known == kind);
        let member = match known {
            Some((_, member)) => member.clone(),
            None => kind_member(redactor, kind, report),
        };
        member.map(|mut frame| {
            frame.reserve_exact(r#","ts":"2026-06-01T10:00:00.000Z""#.len());
            frame.push_str(r#","ts":""#);
            at.write_iso(&mut frame);
            frame.push('"');
            frame
        })
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
