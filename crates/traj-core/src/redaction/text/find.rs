//! Finds what must be hidden in one string, including disguised secrets.

use super::context::ContextScan;
use super::deobfuscate::{Rewriting, Traits, may_disguise};
use super::encoded::{self, EncodedRun};
use super::rescan::Rescan;
use super::value::{Classes, entropy, looks_random};
use crate::redaction::engine::Engine;
use crate::redaction::engine::span::{self, Span};
use crate::redaction::engine::steps;
use crate::redaction::rule::Frame;
use crate::redaction::rule::allow_list::AllowList;

/// How deep encodings inside encodings are decoded.
const MAX_DEPTH: u8 = 3;
/// A shorter string cannot contain a secret without a name.
pub(in crate::redaction) const MIN_TEXT: usize = 8;

/// The longest string that gets a quick check before the search.
const GLANCE: usize = 64;

/// The result of searching one string.
#[derive(Debug, Default)]
pub(in crate::redaction) struct FoundSecrets {
    /// The ranges to hide, in order and without overlap.
    pub(in crate::redaction) spans: Vec<Span>,
    /// The number of markers already in the string.
    pub(in crate::redaction) markers: usize,
    /// Length and alphabet of each part that looks like a secret but is not
    /// hidden.
    pub(in crate::redaction) survivors: Vec<(usize, &'static str)>,
}

/// What the keywords say about the whole string.
#[derive(Clone, Copy, Debug)]
struct KeywordSigns {
    /// It contains a token prefix.
    token: bool,
    /// It contains an escape.
    escape: bool,
    /// It contains a credential word in another script or language.
    foreign: bool,
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

    /// Every single finding, including overlapping ones.
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

    /// Whether a quick check shows that a short string contains nothing to hide,
    /// like most ids, times and words.
    fn is_harmless(self, bytes: &[u8]) -> bool {
        bytes.len() <= GLANCE && Traits::of(bytes).are_plain() && self.has_no_place(bytes)
    }

    /// Whether there is neither a keyword nor a run where a rule could match.
    pub(in crate::redaction) fn has_no_place(self, bytes: &[u8]) -> bool {
        (bytes.len() < encoded::MIN_RUN || encoded::runs(bytes).is_empty())
            && !self.engine.may_match(bytes)
    }

    fn collect(
        self,
        text: &str,
        depth: u8,
        mut sight: Option<&mut Rescan>,
    ) -> (Vec<Span>, usize, Vec<EncodedRun>) {
        let bytes = text.as_bytes();
        // The keywords, the markers, the runs and the traits.
        steps::count(4 * bytes.len());
        let mut scan = ContextScan::new(bytes, self.engine);
        match &mut sight {
            Some(sight) => self.engine.run_again(&mut scan, sight),
            None => self.engine.run(&mut scan, false),
        }
        let runs = encoded::runs(bytes);
        let hidden = Covered::of(&scan.spans);
        for run in &runs {
            self.engine.look_at_run(&mut scan, *run);
            // A hidden run need not be decoded.
            if depth < MAX_DEPTH && !hidden.holds(run.start, run.end) {
                self.decode_run(&mut scan, *run, depth);
            }
        }
        let markers = scan.markers.len();
        let seen = KeywordSigns {
            token: scan.token_seen,
            escape: scan.escape_seen,
            foreign: scan.foreign_seen,
        };
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

    /// Hides a run if its decoded form contains a secret.
    fn decode_run(self, scan: &mut ContextScan<'_>, run: EncodedRun, depth: u8) {
        // A path, or a name that contains a hash, does not decode to text.
        let bytes = scan.slice(run.start, run.end);
        // Encoded text has capital letters or digits.
        let classes = Classes::of(bytes);
        if classes.upper + classes.digit == 0 {
            return;
        }
        let Some(decoded) = encoded::decode(bytes) else {
            return;
        };
        if super::context::is_user_and_password(bytes) && Classes::of(&decoded).space == 0 {
            scan.hide(run.start, run.end, Frame::BasicAuth);
            return;
        }
        steps::count(bytes.len() + decoded.len());
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

    /// Searches the rewritten forms of the string, one window at a time: a
    /// rewritten form takes several times the memory of the string.
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
            && (seen.foreign || may_disguise(bytes, |word| self.engine.may_match(word)))
        {
            self.look_at_shadow(text, Rewriting::Plain, spans);
        }
        if depth < MAX_DEPTH && seen.escape {
            self.look_at_shadow(text, Rewriting::Decoded, spans);
        }
        // Without a token prefix there is no split token to find.
        if seen.token
            && (traits.breaks || traits.joins || traits.backslash)
            && sight.has_joint(bytes)
        {
            self.look_at_shadow(text, Rewriting::Joined, spans);
        }
    }

    fn look_at_shadow(self, text: &str, rewriting: Rewriting, spans: &mut Vec<Span>) {
        let Some(shadow) = rewriting.text(text) else { return };
        steps::count(4 * shadow.len());
        let tokens_only = rewriting == Rewriting::Joined;
        let mut scan = ContextScan::new(&shadow, self.engine);
        scan.is_rewritten = true;
        self.engine.run(&mut scan, tokens_only);
        if scan.spans.is_empty() {
            return;
        }
        let Some(map) = rewriting.mapped(text) else { return };
        for span in scan.spans {
            // An unchanged token was already found in the original.
            if tokens_only {
                let piece = &shadow[span.start..span.end];
                let random = Classes::of(piece).digit > 1 || looks_random(piece);
                if !random || map.is_verbatim(span.start, span.end) {
                    continue;
                }
            }
            let (start, end) = map.origin(span.start, span.end);
            spans.push(Span { start, end, ..span });
        }
    }
}

/// Windows over a long string; they overlap by more than the length of any token.
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

/// Ordered ranges of a string, to check whether they cover another range.
struct Covered(Vec<(usize, usize)>);

impl Covered {
    fn of(spans: &[Span]) -> Self {
        Self::new(spans.iter().map(|span| (span.start, span.end)).collect())
    }

    fn new(mut stretches: Vec<(usize, usize)>) -> Self {
        stretches.sort_unstable();
        // Drop a range that is inside an earlier one.
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

/// Long runs that no rule hid but that look random: mixed alphabets, no words.
fn survivors(bytes: &[u8], runs: &[EncodedRun], spans: &[Span]) -> Vec<(usize, &'static str)> {
    let mut out = Vec::new();
    let hidden = Covered::of(spans);
    for run in runs {
        let length = run.end - run.start;
        if length > 512 || hidden.touches(run.start, run.end) {
            continue;
        }
        let value = &bytes[run.start..run.end];
        // Digests and ids are common and are not secrets.
        if value.iter().all(u8::is_ascii_hexdigit) || follows_digest_name(bytes, run.start) {
            continue;
        }
        let classes = Classes::of(value);
        if classes.upper == 0 || classes.lower == 0 || classes.digit == 0 {
            continue;
        }
        let slashes = value.iter().filter(|byte| **byte == b'/').count();
        if slashes > 3 || entropy(value) < 3.8 || !looks_random(value) {
            continue;
        }
        let base64 = value
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='));
        out.push((length, if base64 { "base64" } else { "mixed" }));
    }
    out
}

/// Whether the run begins with or follows `sha256-`, `sha512:`, `SHA256:` or
/// `h1:`.
fn follows_digest_name(bytes: &[u8], start: usize) -> bool {
    let around = &bytes[start.saturating_sub(8)..(start + 8).min(bytes.len())];
    around.windows(3).any(|window| window.eq_ignore_ascii_case(b"sha"))
        || around.windows(3).any(|window| window == b"h1:")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_overlap_and_cover_the_string() {
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
