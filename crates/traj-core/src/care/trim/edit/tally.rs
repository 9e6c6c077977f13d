//! What a pass over a document found and did.

use std::collections::BTreeSet;

use crate::capture::BlobDigest;
use crate::care::trim::TrimItem;
use crate::id::ToolCallId;

/// Counts of one trim, as the tool reports them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tally {
    /// Results whose text was replaced.
    pub applied: u64,
    /// Items that could not be applied.
    pub skipped: u64,
    /// Bytes of text saved; negative when the replacement is longer.
    pub trimmed_bytes: i64,
    /// Trim calls whose own input was shortened.
    pub self_compacted: u64,
    /// Further copies of the text that were replaced.
    pub copies: u64,
    /// Blobs that contained a trimmed text.
    pub blobs: BTreeSet<BlobDigest>,
    /// Errors; the messages name ids only.
    pub errors: Vec<String>,
}

/// Items by id, and which of them were seen.
#[derive(Debug)]
pub(in crate::care::trim) struct OpenItems {
    items: Vec<TrimItem>,
    target_open: Vec<bool>,
    self_open: Vec<bool>,
}

impl OpenItems {
    /// The last of several items for the same target or trim call counts.
    pub(in crate::care::trim) fn new(items: &[TrimItem]) -> Self {
        let last_target = |index: usize| {
            items[index + 1..].iter().all(|later| later.target != items[index].target)
        };
        let last_self = |index: usize| {
            items[index].self_call.is_some()
                && items[index + 1..].iter().all(|later| later.self_call != items[index].self_call)
        };
        Self {
            target_open: (0..items.len()).map(last_target).collect(),
            self_open: (0..items.len()).map(last_self).collect(),
            items: items.to_vec(),
        }
    }

    pub(in crate::care::trim) fn ids(&self) -> impl Iterator<Item = &str> {
        self.items.iter().flat_map(|item| {
            std::iter::once(item.target.as_str())
                .chain(item.self_call.as_ref().map(ToolCallId::as_str))
        })
    }

    /// The item for a target, taken or not.
    pub(in crate::care::trim) fn target(&self, id: &str) -> Option<&TrimItem> {
        self.items.iter().rev().find(|item| item.target.as_str() == id)
    }

    /// The item for a trim call, taken or not.
    pub(in crate::care::trim) fn self_call(&self, id: &str) -> Option<&TrimItem> {
        self.items
            .iter()
            .rev()
            .find(|item| item.self_call.as_ref().is_some_and(|own| own.as_str() == id))
    }

    /// Takes the item for a target, unless it was already taken.
    pub(in crate::care::trim) fn take_target(&mut self, id: &str) -> Option<&TrimItem> {
        let index = (0..self.items.len())
            .find(|&index| self.target_open[index] && self.items[index].target.as_str() == id)?;
        self.target_open[index] = false;
        self.items.get(index)
    }

    /// Takes the item for a trim call, unless it was already taken.
    pub(in crate::care::trim) fn take_self(&mut self, id: &str) -> Option<&TrimItem> {
        let index = (0..self.items.len()).find(|&index| {
            self.self_open[index]
                && self.items[index].self_call.as_ref().is_some_and(|own| own.as_str() == id)
        })?;
        self.self_open[index] = false;
        self.items.get(index)
    }

    /// Adds items that were never found to the tally.
    pub(in crate::care::trim) fn close(&self, tally: &mut Tally) {
        for (item, open) in self.items.iter().zip(&self.target_open) {
            if *open {
                let target = &item.target;
                tally.errors.push(format!("toolResult {target} not found in session"));
                tally.skipped += 1;
            }
        }
        for (item, open) in self.items.iter().zip(&self.self_open) {
            if let (true, Some(own)) = (open, &item.self_call) {
                tally.errors.push(format!(
                    "self tool_use {own} not found in session (cannot self-compact)"
                ));
            }
        }
    }
}
