//! Redacts one string: looks it up in the caches, hides what must be hidden, and
//! records whether the rules have checked the result.

use super::DocumentPass;
use super::embedded_json::{enclosed, has_json_lines, is_steady};
use crate::redaction::cache::texts::{self, CleanString, KnownSpan};
use crate::redaction::field_name::MAX_NAME;
use crate::redaction::media;
use crate::redaction::text::find::MIN_TEXT;
use crate::redaction::text::rescan::Rescan;

/// How often a string is searched while it keeps changing.
const MAX_ROUNDS: usize = 4;

/// Whether the result of a search is final.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Settled {
    /// Unknown.
    No,
    /// The rules find nothing more.
    Yes,
    /// The rules find nothing more, and neither the string nor the parts between
    /// the markers have a sign of a medium or a path.
    Bare,
}

/// The result of searching a string.
struct SearchedString {
    /// The redacted string; `None` if nothing changed.
    changed: Option<String>,
    settled: Settled,
    /// The hidden spans, if the first search found all of them.
    spans: Option<Vec<KnownSpan>>,
}

impl SearchedString {
    /// The result for a string that was handled as a whole: as a medium or JSON.
    const fn at_a_whole(changed: Option<String>) -> Self {
        Self { changed, settled: Settled::No, spans: None }
    }
}

impl DocumentPass<'_> {
    /// Redacts a string; `None` if nothing changes.
    pub(in crate::redaction) fn text(&mut self, text: &str) -> Option<String> {
        if text.len() < texts::SHORTEST {
            return self.short_text(text);
        }
        // The result for JSON in a string depends on the nesting, so it is not
        // cached.
        let Some(known) = self.known.filter(|_| self.nesting == 0) else {
            return self.look_at(text).changed;
        };
        let hash = known.hash(text.as_bytes());
        match known.get(hash) {
            Some(CleanString::Silent) => return None,
            // A recheck does not count markers and survivors.
            Some(CleanString::Noted) if self.rechecks => return None,
            _ => {}
        }
        let unsettled = self.report.unsettled();
        if let Some(spans) = known.get_found(hash) {
            let changed = self.hide_known(text, &spans);
            self.settle(&changed, unsettled);
            return Some(changed);
        }
        let notes = self.report.notes();
        let SearchedString { changed, settled, spans } = self.look_at(text);
        let is_silent = self.report.notes() == notes;
        match &changed {
            None if is_silent => known.put(hash, CleanString::Silent),
            None => known.put(hash, CleanString::Noted),
            Some(changed) if self.would_pass(changed, settled) => {
                self.settle(changed, unsettled);
                known.put(known.hash(changed.as_bytes()), CleanString::Noted);
                if let Some(spans) = spans.filter(|_| is_silent) {
                    known.put_found(hash, &spans);
                }
            }
            Some(_) => {}
        }
        changed
    }

    /// Records that the rules have checked the changed string, unless it is short
    /// enough to be the name of the value next to it.
    const fn settle(&mut self, changed: &str, unsettled_before: u64) {
        if changed.len() > MAX_NAME {
            self.report.settle(unsettled_before);
        }
    }

    fn short_text(&mut self, text: &str) -> Option<String> {
        if self.familiar.texts.get(text).is_some() {
            return None;
        }
        if self.is_quiet(text) {
            self.familiar.texts.put(text, ());
            return None;
        }
        let notes = self.report.notes();
        let changed = self.look_at(text).changed;
        if changed.is_none() && self.report.notes() == notes && is_steady(text) {
            self.familiar.texts.put(text, ());
        }
        changed
    }

    /// Whether a short string is an id, a time or a word without any sign of a
    /// secret: it cannot be a medium, JSON or a disguise, and neither a rule nor
    /// a path can match in it.
    fn is_quiet(&self, text: &str) -> bool {
        let is_quiet =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':');
        text.bytes().all(is_quiet)
            && self.finder.has_no_place(text.as_bytes())
            && !self.paths.may_be_in(text)
    }

    /// Whether redacting a changed string again would change nothing.
    fn would_pass(&self, text: &str, settled: Settled) -> bool {
        settled != Settled::No
            && media::whole(text).is_none()
            && enclosed(text).is_none()
            && !has_json_lines(text)
            && (settled == Settled::Bare && !self.paths.may_be_in_marker(text)
                || media::in_text(text).is_empty() && self.paths.apply(text).1 == 0)
    }

    /// Redacts a string without the caches; also returns whether the result is
    /// settled.
    fn look_at(&mut self, text: &str) -> SearchedString {
        if let Some(medium) = media::whole(text) {
            self.report.count_media();
            return SearchedString::at_a_whole(Some(medium.marker()));
        }
        if let Some(changed) = self.structured(text) {
            return SearchedString::at_a_whole(changed);
        }
        let mut current = None;
        let mut settled = Settled::Bare;
        if media::may_be_in(text) {
            settled = Settled::Yes;
            current = self.media_in_text(text);
        }
        if self.paths.may_be_in(current.as_deref().unwrap_or(text)) {
            settled = Settled::Yes;
            let (labelled, count) = self.paths.apply(current.as_deref().unwrap_or(text));
            if count > 0 {
                let labelled = labelled.into_owned();
                self.report.count_paths(count);
                current = Some(labelled);
            }
        }
        let mut sight = Rescan::default();
        let mut spans = None;
        for round in 0..MAX_ROUNDS {
            let now = current.as_deref().unwrap_or(text);
            if now.len() < MIN_TEXT {
                break;
            }
            let found = self.finder.find_again(now, &mut sight);
            if round == 0 {
                self.report.count_foreign(found.markers);
                for (length, shape) in &found.survivors {
                    self.report.add_survivor(&self.path, *length, shape);
                }
            }
            if found.spans.is_empty() {
                // A marker in place of several lines can make a data URI longer.
                let longer = current.as_deref().filter(|now| round > 0 && media::may_be_in(now));
                if let Some(longer) = longer.and_then(|now| self.media_in_text(now)) {
                    current = Some(longer);
                    (settled, spans) = (Settled::Yes, None);
                    sight = Rescan::default();
                    continue;
                }
                return SearchedString { changed: current, settled, spans };
            }
            let is_all = round == 0 && settled == Settled::Bare;
            let mut known = Vec::with_capacity(if is_all { found.spans.len() } else { 0 });
            let next =
                self.hide(now, found.spans.into_iter().map(|span| (span, None)), |change, span| {
                    sight.note(change);
                    if is_all {
                        known.push(span);
                    }
                });
            current = Some(next);
            spans = is_all.then_some(known);
        }
        SearchedString { changed: current, settled: Settled::No, spans: None }
    }

    fn media_in_text(&mut self, text: &str) -> Option<String> {
        let media = media::in_text(text);
        if media.is_empty() {
            return None;
        }
        let mut out = String::with_capacity(text.len());
        let mut copied = 0;
        for (start, end, medium) in media {
            out.push_str(text.get(copied..start).unwrap_or_default());
            out.push_str(&medium.marker());
            self.report.count_media();
            copied = end;
        }
        out.push_str(text.get(copied..).unwrap_or_default());
        Some(out)
    }
}
