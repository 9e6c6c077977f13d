//! The redaction rules of one export, with a cache and a hasher for approved
//! parts.

use traj_core::json::Json;
use traj_core::redaction::{Redacted, RedactionReport, Redactor, TextHasher};

use crate::read_back::approved_parts::PartNote;

/// The size of the cache of redacted texts. A text that is not cached is
/// scanned again. A text that occurs in both the session and the sidecar
/// usually does so at about the same time, so a small cache is enough.
const REMEMBERED: usize = 1 << 16;

/// The members that link files, entries and events to each other. A secret that
/// is redacted elsewhere in an event, an entry or a file is not redacted in
/// these members.
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

/// The rules with a cache of texts, and the hasher that identifies parts.
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

    /// The note on a part; `is_seen` says whether the rules approved it.
    pub(crate) fn note(&self, part: &[u8], is_seen: bool) -> PartNote {
        PartNote::on(part, is_seen.then(|| self.hasher.hash(part)))
    }

    /// Whether the rules leave an event unchanged.
    pub(crate) fn passes(&self, event: &str) -> bool {
        let mut report = RedactionReport::new();
        let event = Json::parse(event);
        event.is_ok_and(|event| {
            self.redactor.recheck_json(event, &mut report);
            report.changes() == 0
        })
    }

    /// Redacts a value that becomes a part of a file. Also returns whether the
    /// rules saw and approved the result.
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
    fn only_values_that_the_rules_have_seen_are_approved() {
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
        // The rules scan a long text again after changing it.
        let long = r#"{"log":"password=hunter2-and-more was said in the log of the build, and nothing else that had to go was to be found in any of its lines"}"#;
        let (text, is_seen) = redact(long);
        assert!(text.contains("<redacted:") && is_seen);
        assert!(pass.passes(&text) && !pass.passes(long));
        let (seen, unseen) = (pass.note(b"x", true), pass.note(b"x", false));
        assert!(seen.seen.is_some() && unseen.seen.is_none() && seen.length == unseen.length);
    }
}
