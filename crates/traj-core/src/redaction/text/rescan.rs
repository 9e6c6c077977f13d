//! What a second search may skip after parts of the string were hidden.
//!
//! Nothing that hiding could have changed is reused. Keywords are searched again
//! in and near every new marker. Of the signs of a disguise, only absent ones are
//! relied on, because a marker cannot add them.

use super::deobfuscate::{self, Traits};
use crate::redaction::engine::keywords::{End, Keywords};

/// Longer strings are searched from scratch, to bound memory use.
const LONGEST: usize = 16 * 1024;

/// A range of the old string, and the marker that replaced it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::redaction) struct MarkerChange {
    /// The range in the old string.
    pub(in crate::redaction) hidden: (usize, usize),
    /// The marker in the new string.
    pub(in crate::redaction) marker: (usize, usize),
}

/// The last search of a string, and the changes since.
#[derive(Debug, Default)]
pub(in crate::redaction) struct Rescan {
    is_known: bool,
    ends: Vec<End>,
    traits: Traits,
    /// Whether the last search found a joint; `None` if it did not look for one.
    had_joint: Option<bool>,
    has_joint: Option<bool>,
    changes: Vec<MarkerChange>,
}

impl Rescan {
    /// Whether a string of this length is worth remembering.
    pub(in crate::redaction) const fn fits(length: usize) -> bool {
        length <= LONGEST
    }

    /// Records that a range was hidden; call in order of position.
    pub(in crate::redaction) fn note(&mut self, change: MarkerChange) {
        self.changes.push(change);
    }

    /// The ends of all keywords in the current string.
    pub(in crate::redaction) fn keywords(&mut self, keywords: &Keywords, text: &[u8]) -> &[End] {
        self.ends = if self.is_known {
            keywords.ends_again(text, &self.ends, &self.changes)
        } else {
            keywords.ends(text)
        };
        &self.ends
    }

    /// The traits of the string, and perhaps some that it no longer has.
    pub(super) fn traits(&mut self, text: &[u8]) -> Traits {
        if !self.is_known {
            self.traits = Traits::of(text);
        }
        self.traits
    }

    /// Whether the string has a joint after a token character.
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

    /// Ends the search: changes recorded from now on apply to this string.
    pub(in crate::redaction) fn finish(&mut self) {
        self.is_known = true;
        self.had_joint = self.has_joint.take();
        self.changes.clear();
    }
}

#[cfg(test)]
mod tests;
