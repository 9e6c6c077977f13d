//! The rules of one export, and what they have seen.

use traj_core::json::Json;
use traj_core::redaction::{Redacted, RedactionReport, Redactor, TextHasher};

use crate::read_back::approved_parts::PartNote;

/// How many texts are remembered, however many there are: what is forgotten is
/// only looked at again. What comes twice, in the session and in the sidecar,
/// mostly does so at about the same time.
const REMEMBERED: usize = 1 << 16;

/// The members by which files, entries and events know each other, and by which
/// they are read: what is hidden elsewhere in an event, an entry or a file does
/// not hide them.
pub(crate) const LINKS: [&str; 13] = [
    "traceSchema",
    "traceId",
    "source",
    "type",
    "ts",
    "sessionId",
    "sessionKey",
    "id",
    "parentId",
    "timestamp",
    "generatedAt",
    "leafId",
    "workspaceDir",
];

/// The rules, with a memory for texts, and the hash that parts are known by.
pub(crate) struct RedactionPass {
    redactor: Redactor,
    hasher: TextHasher,
}

impl RedactionPass {
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

    /// Redacts a value that becomes a part of a file; says whether the rules
    /// have seen what became of it, and let it stay.
    pub(crate) fn redact<'a>(
        &self,
        value: Json<'a>,
        report: &mut RedactionReport,
    ) -> (Redacted<Json<'a>>, bool) {
        let unsettled = report.unsettled();
        let value = self.redactor.json_settled(value, &LINKS, report);
        (value, report.unsettled() == unsettled)
    }
}

#[cfg(test)]
mod tests {
    use traj_core::redaction::{MarkerKey, RedactionPolicy};

    use super::*;

    #[test]
    fn only_what_the_rules_have_seen_counts_as_seen() {
        let redactor = Redactor::new(RedactionPolicy::standard(MarkerKey::new([7; 32])));
        let pass = RedactionPass::new(&redactor);
        let redact = |json: &'static str| {
            let mut report = RedactionReport::default();
            let (value, is_seen) = pass.redact(Json::parse(json).unwrap(), &mut report);
            (value.to_line().into_inner(), is_seen)
        };
        assert_eq!(redact(r#"{"a":1}"#), (r#"{"a":1}"#.to_owned(), true));
        let (text, is_seen) = redact(r#"{"password":"hunter2-and-more"}"#);
        assert!(text.contains("<redacted:") && !is_seen);
        // The rules have looked again at a long text that they changed.
        let long = r#"{"log":"password=hunter2-and-more was said in the log of the build, and nothing else that had to go was to be found in any of its lines"}"#;
        let (text, is_seen) = redact(long);
        assert!(text.contains("<redacted:") && is_seen);
        assert!(pass.passes(&text) && !pass.passes(long));
        let (seen, unseen) = (pass.note(b"x", true), pass.note(b"x", false));
        assert!(seen.seen.is_some() && unseen.seen.is_none() && seen.length == unseen.length);
    }
}
