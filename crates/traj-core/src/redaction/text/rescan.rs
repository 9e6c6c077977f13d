//! What is known of a text from the look before, when something was hidden in
//! it and it is looked at again.
//!
//! Nothing is taken over that hiding could have changed: a keyword is looked
//! for again wherever a new marker stands in or near it, and of the signs of a
//! disguise only those that were missing everywhere are taken to be missing
//! still. What a marker is made of can add none of them.

use super::deobfuscate::{self, Traits};
use crate::redaction::engine::keywords::{End, Keywords};

/// Longer texts are read afresh, so that what is kept of a text stays small.
const LONGEST: usize = 16 * 1024;

/// Where a marker took the place of a stretch of the text before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::redaction) struct MarkerChange {
    /// The stretch of the text before.
    pub(in crate::redaction) hidden: (usize, usize),
    /// The marker in the text now.
    pub(in crate::redaction) marker: (usize, usize),
}

/// The last look at a text, and what was changed since.
#[derive(Debug, Default)]
pub(in crate::redaction) struct Rescan {
    is_known: bool,
    ends: Vec<End>,
    traits: Traits,
    /// Whether the last look saw a joint, if it looked for one.
    had_joint: Option<bool>,
    has_joint: Option<bool>,
    changes: Vec<MarkerChange>,
}

impl Rescan {
    /// Whether a text of this length is worth remembering.
    pub(in crate::redaction) const fn fits(length: usize) -> bool {
        length <= LONGEST
    }

    /// Notes that a stretch was hidden; one after the other.
    pub(in crate::redaction) fn note(&mut self, change: MarkerChange) {
        self.changes.push(change);
    }

    /// The ends of all keywords in the text as it is now.
    pub(in crate::redaction) fn keywords(&mut self, keywords: &Keywords, text: &[u8]) -> &[End] {
        self.ends = if self.is_known {
            keywords.ends_again(text, &self.ends, &self.changes)
        } else {
            keywords.ends(text)
        };
        &self.ends
    }

    /// The traits of the text, and perhaps some that it had before.
    pub(super) fn traits(&mut self, text: &[u8]) -> Traits {
        if !self.is_known {
            self.traits = Traits::of(text);
        }
        self.traits
    }

    /// Whether the pieces of a token may be joined in the text.
    pub(super) fn has_joint(&mut self, text: &[u8]) -> bool {
        let has_joint = match self.had_joint {
            Some(false) if self.is_known => {
                let mut done = 0;
                self.changes.iter().any(|change| {
                    let start = change.marker.0.saturating_sub(deobfuscate::LONGEST_JOINT);
                    let start = start.max(done);
                    done = change.marker.1 + 1;
                    deobfuscate::has_joint(text, start, done)
                })
            }
            _ => deobfuscate::has_joint(text, 0, text.len()),
        };
        self.has_joint = Some(has_joint);
        has_joint
    }

    /// The look is over: what is noted from here on is a change to this text.
    pub(in crate::redaction) fn finish(&mut self) {
        self.is_known = true;
        self.had_joint = self.has_joint.take();
        self.changes.clear();
    }
}

#[cfg(test)]
mod tests;
