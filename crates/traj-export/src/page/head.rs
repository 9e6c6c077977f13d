//! The head of a page: what its first screen needs.

use serde::Serialize;

use super::PageFinding;
use super::files::PageFile;
use super::overview::Overview;
use crate::inspect::Summary;

/// The format of a page.
pub(super) const FORMAT: &str = "traj-page/1";

/// What the first screen needs.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PageHead<'p> {
    pub(super) format: &'static str,
    pub(super) generator: &'p str,
    pub(super) review: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) review_findings: Option<&'p [PageFinding]>,
    pub(super) title: &'p str,
    pub(super) summary: &'p Summary,
    /// The digest of the manifest.
    pub(super) digest: &'p str,
    pub(super) files: &'p [PageFile],
    pub(super) rows: u64,
    pub(super) omitted_rows: u64,
    pub(super) row_chunks: &'p [u64],
    pub(super) index_chunks: usize,
    pub(super) items: usize,
    pub(super) model_calls: usize,
    pub(super) threads: usize,
    pub(super) turns: usize,
    pub(super) started_at: Option<i64>,
    pub(super) ended_at: Option<i64>,
    pub(super) overview: &'p Overview,
    /// Prices that are not those of this version of traj.
    pub(super) prices: Option<String>,
}

impl PageHead<'_> {
    /// The head as JSON that cannot end the script that contains it.
    pub(super) fn to_json(&self) -> String {
        // Only a map with keys that are not text cannot be written.
        let json = serde_json::to_string(self).unwrap_or_default();
        let mut escaped = String::with_capacity(json.len());
        for character in json.chars() {
            match character {
                // These occur in strings only.
                '<' => escaped.push_str("\\u003c"),
                '>' => escaped.push_str("\\u003e"),
                '&' => escaped.push_str("\\u0026"),
                '\u{2028}' => escaped.push_str("\\u2028"),
                '\u{2029}' => escaped.push_str("\\u2029"),
                other => escaped.push(other),
            }
        }
        escaped
    }
}
