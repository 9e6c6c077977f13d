//! Finds what must be hidden in one string, including disguised secrets.

use super::context::ContextScan;
use super::deobfuscate::{self, Deobfuscated, Traits};
use super::encoded::{self, Run};
use super::rescan::Rescan;
use super::value::{Classes, entropy, looks_random};
use crate::redaction::engine::Engine;
use crate::redaction::engine::span::{self, Span};
use crate::redaction::rule::Frame;
use crate::redaction::rule::allow_list::AllowList;

/// Encodings inside encodings are followed this far.
const MAX_DEPTH: u8 = 3;
/// A shorter string cannot contain a secret without a name.
pub(in crate::redaction) const MIN_TEXT: usize = 8;

/// The longest string that is first checked quickly, then searched.
const GLANCE: usize = 64;

/// What was found in one text.
#[derive(Debug, Default)]
pub(in crate::redaction) struct FoundSecrets {
    /// What must be hidden, in order and without overlap.
    pub(in crate::redaction) spans: Vec<Span>,
    /// How many markers were in the text.
    pub(in crate::redaction) markers: usize,
    /// What looks like a secret and stays.
    pub(in crate::redaction) survivors: Vec<(usize, &'static str)>,
}

/// What the keywords say about a string as a whole.
#[derive(Clone, Copy, Debug)]
struct KeywordSigns {
    /// The head of a token is in it.
    token: bool,
    /// An escape is in it.
    escape: bool,
}

/// Searches strings with a set of rules.
#[derive(Clone, Copy, Debug)]
pub(in crate::redaction) struct Finder<'e> {
    pub(in crate::redaction) engine: &'e Engine,
    pub(in crate::redaction) allow: &'e AllowList,
}

impl Finder<'_> {
    /// Everything in `text` that must be hidden.
    pub(in crate::redaction) fn find(self, text: &str) -> FoundSecrets {
        self.find_at(text, 0, None)
    }

    /// Like [`Finder::find`], for a string that may have been searched before.
    pub(in crate::redaction) fn find_again(self, text: &str, sight: &mut Rescan) -> FoundSecrets {
        if Rescan::fits(text.len()) {
            self.find_at(text, 0, Some(sight))
        } else {
            *sight = Rescan::default();
            self.find_at(text, 0, None)
        }
    }

    /// Every single finding, overlapping ones too.
    pub(in crate::redaction) fn find_all(self, text: &str) -> Vec<Span> {
        self.collect(text, 0, None).0
    }

    fn find_at(self, text: &str, depth: u8, sight: Option<&mut Rescan>) -> FoundSecrets {
        let bytes = text.as_bytes();
        if bytes.len() < MIN_TEXT || self.is_harmless(bytes) {
            return FoundSecrets::default();
        }
        let (mut spans, markers, runs) = self.collect(text, depth, sight);
        spans.retain(|span| {
            !self.allow.allows(self.engine.kind(span.rule), bytes, span.start, span.end)
        });
        span::unite(text, &mut spans);
        let survivors = if depth == 0 { survivors(bytes, &runs, &spans) } else { Vec::new() };
        FoundSecrets { spans, markers, survivors }
    }

    /// Whether a short text shows at a glance that nothing is in it, as most
    /// ids, times and words do.
    fn is_harmless(self, bytes: &[u8]) -> bool {
        bytes.len() <= GLANCE && Traits::of(bytes).are_plain() && self.has_no_place(bytes)
    }

    /// Whether there is neither a keyword nor a run that a rule could begin at.
    pub(in crate::redaction) fn has_no_place(self, bytes: &[u8]) -> bool {
        (bytes.len() < encoded::MIN_RUN || encoded::runs(bytes).is_empty())
            && !self.engine.may_match(bytes)
    }

    fn collect(
        self,
        text: &str,
        depth: u8,
        mut sight: Option<&mut Rescan>,
    ) -> (Vec<Span>, usize, Vec<Run>) {
        let bytes = text.as_bytes();
        let mut scan = ContextScan::new(bytes, self.engine.labels());
        match &mut sight {
            Some(sight) => self.engine.run_again(&mut scan, sight),
            None => self.engine.run(&mut scan, false),
        }
        let runs = encoded::runs(bytes);
        let hidden = Covered::of(&scan.spans);
        for run in &runs {
            self.engine.look_at_run(&mut scan, *run);
            // What is hidden anyway need not be decoded.
            if depth < MAX_DEPTH && !hidden.holds(run.start, run.end) {
                self.decode_run(&mut scan, *run, depth);
            }
        }
        let markers = scan.markers.len();
        let seen = KeywordSigns { token: scan.token_seen, escape: scan.escape_seen };
        let mut spans = scan.spans;
        let quiet = Covered::new(scan.quiet);
        spans.retain(|span| {
            !quiet.holds(span.start, span.end)
                || bytes[span.start..span.end].iter().any(|byte| {
                    !byte.is_ascii_alphanumeric()
                        && !matches!(byte, b'+' | b'/' | b'=' | b'\n' | b'\r')
                })
        });
        match sight {
            Some(sight) => {
                self.shadows_of(text, depth, seen, &mut spans, sight);
                sight.finish();
            }
            None => self.shadows(text, depth, seen, &mut spans),
        }
        (spans, markers, runs)
    }

    /// Hides a run that says something secret when decoded.
    fn decode_run(self, scan: &mut ContextScan<'_>, run: Run, depth: u8) {
        // A path or a name with a hash in it is not an encoding as a whole; only
        // parts that decode to text are searched.
        let bytes = scan.slice(run.start, run.end);
        let Some(decoded) = encoded::decode(bytes) else {
            return;
        };
        if super::context::is_user_and_password(bytes) && Classes::of(&decoded).space == 0 {
            scan.hide(run.start, run.end, Frame::BasicAuth);
            return;
        }
        let inner = String::from_utf8_lossy(&decoded);
        if let Some(first) = self.find_at(&inner, depth + 1, None).spans.first() {
            scan.spans.push(Span {
                start: run.start,
                end: run.end,
                rule: first.rule,
                rank: first.rank,
            });
        }
    }

    /// Looks at the text as it reads without its disguises, a window at a
    /// time: the deobfuscated form takes several times the memory of the string.
    fn shadows(self, text: &str, depth: u8, seen: KeywordSigns, spans: &mut Vec<Span>) {
        for (offset, window) in windows(text) {
            let first = spans.len();
            self.shadows_of(window, depth, seen, spans, &mut Rescan::default());
            for span in spans.iter_mut().skip(first) {
                span.start += offset;
                span.end += offset;
            }
        }
    }

    fn shadows_of(
        self,
        text: &str,
        depth: u8,
        seen: KeywordSigns,
        spans: &mut Vec<Span>,
        sight: &mut Rescan,
    ) {
        let bytes = text.as_bytes();
        let traits = sight.traits(bytes);
        if traits.unusual
            && let Some(shadow) = deobfuscate::plain(text)
        {
            self.look_at_shadow(&shadow, false, spans);
        }
        if depth < MAX_DEPTH
            && seen.escape
            && let Some(shadow) = deobfuscate::decoded(bytes)
        {
            self.look_at_shadow(&shadow, false, spans);
        }
        // Only the head of a token makes a torn one worth looking for.
        if seen.token
            && (traits.breaks || traits.joins || traits.backslash)
            && sight.has_joint(bytes)
            && let Some(shadow) = deobfuscate::joined(bytes)
        {
            self.look_at_shadow(&shadow, true, spans);
        }
    }

    fn look_at_shadow(self, shadow: &Deobfuscated, tokens_only: bool, spans: &mut Vec<Span>) {
        if !self.engine.may_match(&shadow.text) {
            return;
        }
        let mut scan = ContextScan::new(&shadow.text, self.engine.labels());
        self.engine.run(&mut scan, tokens_only);
        for span in scan.spans {
            // What reads the same in the original was seen there.
            if tokens_only {
                let piece = &shadow.text[span.start..span.end];
                let random = Classes::of(piece).digit > 1 || looks_random(piece);
                if !random || shadow.is_verbatim(span.start, span.end) {
                    continue;
                }
            }
            let (start, end) = shadow.origin(span.start, span.end);
            spans.push(Span { start, end, ..span });
        }
    }
}

/// Windows over a long text that overlap by more than any token is long.
fn windows(text: &str) -> impl Iterator<Item = (usize, &str)> {
    const WINDOW: usize = 8 << 20;
    const OVERLAP: usize = 64 << 10;
    let mut next = Some(0_usize);
    std::iter::from_fn(move || {
        let start = next?;
        let begin = text.floor_char_boundary(start.saturating_sub(OVERLAP));
        let end = text.floor_char_boundary(start.saturating_add(WINDOW));
        next = (end < text.len()).then_some(end);
        Some((begin, text.get(begin..end).unwrap_or_default()))
    })
}

/// Ordered ranges of a string, to ask whether a range lies in one.
struct Covered(Vec<(usize, usize)>);

impl Covered {
    fn of(spans: &[Span]) -> Self {
        Self::new(spans.iter().map(|span| (span.start, span.end)).collect())
    }

    fn new(mut stretches: Vec<(usize, usize)>) -> Self {
        stretches.sort_unstable();
        // A range within an earlier one adds nothing.
        let mut end = 0;
        stretches.retain(|stretch| {
            let further = stretch.1 > end;
            end = end.max(stretch.1);
            further
        });
        Self(stretches)
    }

    fn holds(&self, start: usize, end: usize) -> bool {
        let before = self.0.partition_point(|(first, _)| *first <= start);
        before
            .checked_sub(1)
            .and_then(|last| self.0.get(last))
            .is_some_and(|(_, last)| end <= *last)
    }

    fn touches(&self, start: usize, end: usize) -> bool {
        let before = self.0.partition_point(|(first, _)| *first < end);
        before
            .checked_sub(1)
            .and_then(|last| self.0.get(last))
            .is_some_and(|(_, last)| start < *last)
    }
}

/// Long runs that no rule hid and that look random: alphabets mixed, no words.
fn survivors(bytes: &[u8], runs: &[Run], spans: &[Span]) -> Vec<(usize, &'static str)> {
    let mut out = Vec::new();
    let hidden = Covered::of(spans);
    for run in runs {
        let length = run.end - run.start;
        if length > 512 || hidden.touches(run.start, run.end) {
            continue;
        }
        let value = &bytes[run.start..run.end];
        let classes = Classes::of(value);
        let hex = value.iter().all(u8::is_ascii_hexdigit);
        // Digests and ids are everywhere and are not secrets.
        if hex
            || !looks_random(value)
            || classes.upper == 0
            || classes.lower == 0
            || classes.digit == 0
            || entropy(value) < 3.8
        {
            continue;
        }
        let slashes = value.iter().filter(|byte| **byte == b'/').count();
        if slashes > 3 || follows_digest_name(bytes, run.start) {
            continue;
        }
        let base64 = value
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='));
        out.push((length, if base64 { "base64" } else { "mixed" }));
    }
    out
}

/// `sha256-`, `sha512:`, `SHA256:`, `h1:` before the run, or inside its head.
fn follows_digest_name(bytes: &[u8], start: usize) -> bool {
    let around = &bytes[start.saturating_sub(8)..(start + 8).min(bytes.len())];
    around.windows(3).any(|window| window.eq_ignore_ascii_case(b"sha"))
        || around.windows(3).any(|window| window == b"h1:")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_overlap_and_cover_the_text() {
        assert_eq!(windows("short").collect::<Vec<_>>(), [(0, "short")]);
        let long = "é".repeat(9 << 20);
        let mut covered = 0;
        for (start, window) in windows(&long) {
            assert!(start <= covered);
            assert!(covered == 0 || covered - start > 60_000);
            covered = start + window.len();
        }
        assert_eq!(covered, long.len());
    }
}
