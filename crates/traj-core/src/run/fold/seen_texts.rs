//! Recognises texts that a second witness repeats.

use std::collections::{HashSet, VecDeque};
use std::hash::{BuildHasher as _, RandomState};

use crate::run::{Content, Origin};

/// How many texts are remembered to recognise them from a second witness.
const REMEMBERED_TEXTS: usize = 4_096;

/// Hashes of texts, each with its origin: the same text from the other origin is
/// the same message.
#[derive(Clone, Debug, Default)]
pub(super) struct SeenTexts {
    open: HashSet<(u64, Origin)>,
    order: VecDeque<(u64, Origin)>,
    hasher: RandomState,
}

impl SeenTexts {
    pub(super) fn is_repeated(&mut self, content: &Content<'_>, origin: Origin, kind: u8) -> bool {
        let key = self.hasher.hash_one((kind, content.to_text().trim()));
        if self.open.remove(&(key, origin.other())) {
            return true;
        }
        if self.order.len() >= REMEMBERED_TEXTS
            && let Some(oldest) = self.order.pop_front()
        {
            self.open.remove(&oldest);
        }
        self.order.push_back((key, origin));
        self.open.insert((key, origin));
        false
    }
}
