//! Redaction: only a [`Redacted`] value leaves the process, and only this
//! module makes one.
//!
//! - **Values, never bytes.** [`Redactor::json`] walks parsed JSON,
//!   [`Redactor::text`] reads plain text. JSON inside a string is parsed, so the
//!   result always parses.
//! - **Rules are data** ([`RuleSet`]): id, pattern, keywords, condition,
//!   examples and counter-examples. A rule with keywords is tried only where the
//!   automaton over all keywords found one of them. Patterns are compiled on
//!   first use and match in linear time.
//! - **Context** (assignments, headers, URLs, flags, tables, key blocks) is read
//!   by hand-written readers that never backtrack. The value is hidden; the text
//!   around it stays readable.
//! - **Markers** name the kind of a secret and identify it:
//!   `<redacted:github-pat:3f9a1c>`. Redacting twice changes nothing.
//! - **Truncation comes later.** Nothing is cut here.
//!
//! In reading order: `redactor`, `policy`, `report`, `reveal` and `marker` are the
//! interface; `redacted` contains the proof and the operations that keep it;
//! `rule` defines the rules and `engine` runs them; `document` walks one JSON
//! document or plain text, and `text` searches one string; `field_name`
//! classifies field names; `media` and `paths` replace binary data and host
//! paths; `cache` remembers recurring strings.
//!
//! ```
//! use traj_core::json::Json;
//! use traj_core::redaction::{MarkerKey, RedactionPolicy, RedactionReport, Redactor};
//!
//! let key = MarkerKey::from_random(getrandom::fill)?;
//! let redactor = Redactor::new(RedactionPolicy::standard(key));
//! let mut report = RedactionReport::new();
//! let event = Json::parse(r#"{"env":{"DB_PASSWORD":"hunter2"},"usage":{"total_tokens":14}}"#)?;
//! let line = redactor.json(event, &mut report).to_line().into_inner();
//! assert!(line.starts_with(r#"{"env":{"DB_PASSWORD":"<redacted:password:"#));
//! assert!(line.ends_with(r#""usage":{"total_tokens":14}}"#));
//! assert_eq!(report.hidden(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cache;
mod document;
mod engine;
mod field_name;
mod marker;
mod media;
mod paths;
mod policy;
mod redacted;
mod redactor;
mod report;
mod reveal;
mod rule;
pub(crate) mod scratch;
mod text;

pub use cache::session_secrets::{SecretSearch, SessionSecrets};
pub use cache::texts::TextHasher;
pub use marker::{MarkerKey, is_marker};
pub use media::{MediaMark, MediaStream};
pub use paths::PathLabels;
pub use policy::RedactionPolicy;
pub use redacted::{
    Constant, ConstantText, Redacted, RedactedSpill, RedactedText, SpillError, SpillSlot,
};
pub use redactor::Redactor;
pub use redactor::session_streams::{JoinedParts, RowParts};
pub use report::{FileReport, Finding, RedactionReport, Survivor};
pub use reveal::RevealMap;
pub use rule::{RuleClass, RuleFileError, RuleInfo, RuleProblem, RuleSet};
pub use text::block_end::block_end;
