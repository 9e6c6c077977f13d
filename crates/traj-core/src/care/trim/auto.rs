//! Trimming by rule: large old results, and repeated images.
//!
//! `run` applies the rules to all documents of a session.

mod run;

use std::collections::{BTreeMap, HashMap};

use super::edit::images::{self, ImageKey};
use super::edit::tally::OpenItems;
use super::edit::value;
use super::{SENTINEL, Tally, TrimItem};
use crate::dialect::shape::message::{self, ResultRow};
use crate::dialect::shape::{image, row};
use crate::json::Json;
use crate::port::{LineEdit, LineVerdict};
use crate::timestamp::UnixMillis;

pub use run::{AutoReport, auto_trim};

/// How old a result must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Age {
    /// This many user turns began after it.
    Turns(u64),
    /// It was written before this instant.
    Before(UnixMillis),
}

/// Which results are trimmed without being named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AutoPolicy {
    /// Results must be at least this old.
    pub older_than: Age,
    /// Results must have more bytes of text than this.
    pub larger_than: u64,
    /// Whether images that occur again later are stripped.
    pub strip_images: bool,
}

impl AutoPolicy {
    /// A policy that also strips repeated images.
    #[must_use]
    pub const fn new(older_than: Age, larger_than: u64) -> Self {
        Self { older_than, larger_than, strip_images: true }
    }
}

/// What was trimmed, by tool, and what it saved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AutoTotals {
    /// Trimmed results and the bytes of their text, by tool.
    pub tools: BTreeMap<String, (u64, u64)>,
    /// Images that were stripped.
    pub images: u64,
    /// Encoded bytes of those images.
    pub image_bytes: u64,
}

/// The first pass: counts the turns, and finds the last occurrence of each image.
#[derive(Debug, Default)]
pub struct AutoSurvey {
    turns: u64,
    images_seen: u64,
    last_image: HashMap<ImageKey, u64>,
}

impl LineEdit for AutoSurvey {
    fn concerns(&self, _block: &[u8]) -> bool {
        true
    }

    fn line(&mut self, line: &[u8]) -> LineVerdict {
        self.turns += u64::from(row::begins_turn(line));
        if image::may_hold_image(line)
            && let Ok(mut row) = Json::parse_lossy(line)
        {
            images::strip(&mut row, &mut |key| {
                self.last_image.insert(key, self.images_seen);
                self.images_seen += 1;
                true
            });
        }
        LineVerdict::Keep
    }

    fn passed_over(&mut self, _bytes: u64) {}
}

/// The second pass: applies the policy.
#[derive(Debug)]
pub struct AutoEdit<'a> {
    policy: AutoPolicy,
    survey: &'a AutoSurvey,
    turns: u64,
    images_seen: u64,
    items: Vec<TrimItem>,
    tally: Tally,
    totals: AutoTotals,
}

impl<'a> AutoEdit<'a> {
    /// An edit that applies `policy` to the surveyed session.
    #[must_use]
    pub fn new(policy: AutoPolicy, survey: &'a AutoSurvey) -> Self {
        Self {
            policy,
            survey,
            turns: 0,
            images_seen: 0,
            items: Vec::new(),
            tally: Tally::default(),
            totals: AutoTotals::default(),
        }
    }

    /// The result: items for the copies, counts, totals.
    #[must_use]
    pub fn finish(self) -> (Vec<TrimItem>, Tally, AutoTotals) {
        (self.items, self.tally, self.totals)
    }

    fn is_old(&self, row: &Json<'_>) -> bool {
        match self.policy.older_than {
            Age::Turns(turns) => self.survey.turns.saturating_sub(self.turns) >= turns,
            Age::Before(instant) => {
                row::time_of(row).and_then(UnixMillis::parse_lenient).is_some_and(|at| at < instant)
            }
        }
    }

    fn trim_result(&mut self, row: &mut Json<'_>) -> bool {
        let Some(found) = found_in(row) else { return false };
        if found.bytes <= self.policy.larger_than || found.is_trimmed || !self.is_old(row) {
            return false;
        }
        let note = format!("{} bytes of {} output, trimmed by rule", found.bytes, found.tool);
        // A result shorter than its replacement is left alone.
        if (SENTINEL.len() + 1 + note.len()) as u64 >= found.bytes {
            return false;
        }
        let Ok(item) = TrimItem::parse(&found.id, Some(&note), None) else { return false };
        let mut wanted = OpenItems::new(std::slice::from_ref(&item));
        let changed = if row::is_of_rollout(row) {
            value::trim_everywhere(row, &mut wanted, &mut self.tally)
        } else {
            super::edit::message::trim_row(row, &mut wanted, &mut self.tally)
        };
        if changed {
            let (count, bytes) = self.totals.tools.entry(found.tool).or_default();
            *count += 1;
            *bytes += found.bytes;
            self.items.push(item);
        }
        changed
    }

    fn strip_images(&mut self, row: &mut Json<'_>) -> bool {
        let (survey, seen, totals) = (self.survey, &mut self.images_seen, &mut self.totals);
        let mut stripped = false;
        let saved = images::strip(row, &mut |key| {
            let place = *seen;
            *seen += 1;
            // An image added after the survey is the newest.
            let keep = survey.last_image.get(&key).is_none_or(|last| place >= *last);
            stripped |= !keep;
            totals.images += u64::from(!keep);
            keep
        });
        totals.image_bytes += saved;
        stripped
    }
}

impl LineEdit for AutoEdit<'_> {
    fn concerns(&self, _block: &[u8]) -> bool {
        true
    }

    fn line(&mut self, line: &[u8]) -> LineVerdict {
        self.turns += u64::from(row::begins_turn(line));
        let large = line.len() as u64 > self.policy.larger_than && message::may_hold_result(line);
        let images = self.policy.strip_images && image::may_hold_image(line);
        if !large && !images {
            return LineVerdict::Keep;
        }
        let Ok(mut row) = Json::parse_lossy(line) else { return LineVerdict::Keep };
        let numbered = row::is_numbered(&row);
        let mut changed = large && self.trim_result(&mut row);
        changed |= images && self.strip_images(&mut row);
        if !changed {
            return LineVerdict::Keep;
        }
        let mut text = row.to_line();
        if numbered && text.len() < line.len() {
            // Forks point into numbered rollouts by byte offset: the row keeps
            // its length.
            text.extend(std::iter::repeat_n(' ', line.len() - text.len()));
        }
        LineVerdict::Replace(text.into_bytes())
    }

    fn passed_over(&mut self, bytes: u64) {
        self.tally.errors.push(format!("a line of {bytes} bytes is too long to trim"));
    }
}

struct FoundResult {
    id: String,
    tool: String,
    bytes: u64,
    is_trimmed: bool,
}

/// The tool result in a row of a session or rollout.
fn found_in(row: &Json<'_>) -> Option<FoundResult> {
    let ResultRow { id, tool, content } = message::result_in(row)?;
    let (id, tool) = (id.to_owned(), tool.to_owned());
    let mut found = FoundResult { id, tool, bytes: 0, is_trimmed: false };
    message::for_each_text(content, &mut |text| {
        found.bytes += text.len() as u64;
        found.is_trimmed |= text.starts_with(SENTINEL);
    });
    Some(found)
}
