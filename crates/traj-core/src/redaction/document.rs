//! One redaction pass over one document or plain text.
//!
//! In reading order:
//! - this file: the state of a pass, and how markers are written;
//! - `walk`: values, members and lists;
//! - `streams`: the events of a list, joined before they are judged;
//! - `answers`: a prompt, and the answer in the next event;
//! - `member`: the role of a member, by its name;
//! - `naming`: what an object says about its value;
//! - `manifest`: objects whose kind says that they hold secrets;
//! - `columns`: tables as lists of column names and rows;
//! - `printed`: a command, and its output in the next event;
//! - `string`: one string of the document;
//! - `embedded_json`: JSON inside a string;
//! - `propagate`: hides a secret that was found once wherever it recurs.

mod answers;
mod columns;
mod embedded_json;
mod manifest;
pub(super) mod member;
mod naming;
mod printed;
mod propagate;
pub(super) mod streams;
mod string;
#[cfg(test)]
mod twice;
mod walk;

use std::borrow::Cow;

use self::member::NameFacts;
use self::propagate::LearnedSecrets;
use super::cache::names::NameCache;
use super::cache::session_secrets::{SecretSearch, SessionSecrets};
use super::cache::texts::{KnownSpan, KnownTexts};
use super::engine::span::Span;
use super::field_name::NameClass;
use super::marker::{self, Digits, Stamp};
use super::paths::PathTable;
use super::policy::RedactionPolicy;
use super::redactor::Compiled;
use super::report::RedactionReport;
use super::reveal::RevealMap;
use super::rule::{Frame, RuleIndex};
use super::text::context::{Style, judge};
use super::text::find::Finder;
use super::text::rescan::MarkerChange;
use crate::json::Json;

/// Initial capacities that are enough for most rows.
const EXPECTED_NAMES: usize = 32;
const EXPECTED_PATH: usize = 96;

/// The state of one pass.
pub(super) struct DocumentPass<'r> {
    pub(super) finder: Finder<'r>,
    pub(super) policy: &'r RedactionPolicy,
    pub(super) paths: &'r PathTable,
    stamp: &'r Stamp,
    known: Option<&'r KnownTexts>,
    pub(super) familiar: &'r NameCache,
    /// Facts about the member names of the objects being walked.
    pub(super) facts: Vec<NameFacts>,
    /// Whether survivors and old markers are not counted.
    rechecks: bool,
    pub(super) report: &'r mut RedactionReport,
    pub(super) reveal: Option<&'r mut RevealMap>,
    /// JSON Pointer of the current position.
    pub(super) path: String,
    pub(super) nesting: u8,
    /// Whether lines are counted: they are the positions in a plain text.
    counts_lines: bool,
    pub(super) learned: Vec<(Vec<u8>, RuleIndex)>,
    /// The first bytes of each, to compare with quickly.
    pub(super) learned_heads: Vec<u64>,
    session: SessionShare<'r>,
}

/// What a pass shares with the passes over other documents.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SessionShare<'r> {
    /// Collects the secrets of this document.
    pub(super) collected: Option<&'r SessionSecrets>,
    /// Finds the secrets of other documents.
    pub(super) search: Option<&'r SecretSearch>,
}

impl<'r> DocumentPass<'r> {
    pub(super) fn new(
        finder: Finder<'r>,
        policy: &'r RedactionPolicy,
        compiled: &'r Compiled,
        known: Option<&'r KnownTexts>,
        report: &'r mut RedactionReport,
        reveal: Option<&'r mut RevealMap>,
    ) -> Self {
        Self {
            finder,
            policy,
            paths: &compiled.paths,
            stamp: &compiled.stamp,
            known,
            familiar: &compiled.familiar,
            facts: Vec::with_capacity(EXPECTED_NAMES),
            rechecks: false,
            report,
            reveal,
            path: String::with_capacity(EXPECTED_PATH),
            nesting: 0,
            counts_lines: false,
            learned: Vec::new(),
            learned_heads: Vec::new(),
            session: SessionShare::default(),
        }
    }

    /// The same pass, for one of several documents.
    pub(super) const fn sharing(mut self, session: SessionShare<'r>) -> Self {
        self.session = session;
        self
    }

    /// The same pass, without counting survivors and old markers.
    pub(super) const fn rechecking(mut self) -> Self {
        self.rechecks = true;
        self
    }

    /// Redacts a whole document.
    pub(super) fn document<'a>(&mut self, value: Json<'a>) -> Json<'a> {
        self.document_with(value, &[])
    }

    /// Like [`DocumentPass::document`], but secrets found elsewhere are not hidden
    /// in the members listed in `apart`.
    pub(super) fn document_with<'a>(&mut self, mut value: Json<'a>, apart: &[&str]) -> Json<'a> {
        self.value(&mut value, NameClass::Plain);
        let learned = std::mem::take(&mut self.learned);
        self.learned_heads.clear();
        if let Some(again) = LearnedSecrets::new(&learned)
            && again.is_in_document(&value, apart)
        {
            self.repeat_document(&mut value, &again, apart);
        }
        if let Some(secrets) = self.session.collected {
            secrets.add(&learned);
        }
        if let Some(search) = self.session.search.filter(|_| !self.rechecks) {
            let again = LearnedSecrets::of_session(search);
            if again.is_in_document(&value, apart) {
                self.repeat_document(&mut value, &again, apart);
            }
        }
        value
    }

    /// Adds what was learned to the secrets of the session.
    pub(super) fn share_learned(&mut self) {
        let learned = std::mem::take(&mut self.learned);
        self.learned_heads.clear();
        if let Some(secrets) = self.session.collected {
            secrets.add(&learned);
        }
    }

    /// Redacts a plain text.
    pub(super) fn plain_text<'t>(&mut self, text: &'t str) -> Cow<'t, str> {
        self.counts_lines = true;
        if self.report.line().is_none() {
            self.report.at_line(1);
        }
        let mut out = match self.text(text) {
            Some(changed) => Cow::Owned(changed),
            None => Cow::Borrowed(text),
        };
        let learned = std::mem::take(&mut self.learned);
        self.learned_heads.clear();
        if let Some(again) = LearnedSecrets::new(&learned)
            && let Some(changed) = self.repeat_text(&out, &again)
        {
            out = Cow::Owned(changed);
        }
        if let Some(secrets) = self.session.collected {
            secrets.add(&learned);
        }
        if let Some(search) = self.session.search.filter(|_| !self.rechecks)
            && let Some(changed) = self.repeat_text(&out, &LearnedSecrets::of_session(search))
        {
            out = Cow::Owned(changed);
        }
        out
    }

    /// Replaces the spans with markers.
    pub(super) fn hide_spans(&mut self, text: &str, spans: &[Span]) -> String {
        self.hide(text, spans.iter().map(|span| (*span, None)), |_, _| {})
    }

    /// Like [`DocumentPass::hide_spans`], but the digits are known.
    fn hide_known(&mut self, text: &str, spans: &[KnownSpan]) -> String {
        let spans = spans.iter().map(|known| (known.span, Some(known.digits)));
        self.hide(text, spans, |_, _| {})
    }

    /// Replaces the spans with markers; calls `changed` for each.
    fn hide(
        &mut self,
        text: &str,
        spans: impl Iterator<Item = (Span, Option<Digits>)>,
        mut changed: impl FnMut(MarkerChange, KnownSpan),
    ) -> String {
        let mut out = String::with_capacity(text.len());
        let mut copied = 0;
        let first_line = self.report.line();
        for (span, digits) in spans {
            let between = text.get(copied..span.start).unwrap_or_default();
            out.push_str(between);
            self.count_lines(between);
            let secret = text.get(span.start..span.end).unwrap_or_default();
            let marker = out.len();
            let digits = self.write_marker(&mut out, span.rule, secret, digits);
            let change =
                MarkerChange { hidden: (span.start, span.end), marker: (marker, out.len()) };
            changed(change, KnownSpan { span, digits });
            self.count_lines(secret);
            copied = span.end;
        }
        self.report.set_line(first_line);
        out.push_str(text.get(copied..).unwrap_or_default());
        out
    }

    pub(super) fn count_lines(&mut self, text: &str) {
        if self.counts_lines
            && let Some(line) = self.report.line()
        {
            let breaks = memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64;
            self.report.set_line(Some(line + breaks));
        }
    }

    /// Writes the marker of a secret and counts it. Returns its digits, which are
    /// computed unless the caller knows them.
    pub(super) fn write_marker(
        &mut self,
        out: &mut String,
        rule: RuleIndex,
        secret: &str,
        digits: Option<Digits>,
    ) -> Digits {
        let kind = self.finder.engine.kind(rule);
        let start = out.len();
        let digits = digits.unwrap_or_else(|| marker::digits(self.stamp, kind, secret.as_bytes()));
        marker::write(out, kind, digits);
        if let Some(reveal) = &mut self.reveal
            && let Some(written) = out.get(start..)
        {
            reveal.note(written, secret);
        }
        self.report.count_hidden(kind, &self.path);
        self.learn(secret, rule);
        digits
    }

    /// The marker of a secret as a separate string.
    pub(super) fn marker_of(&mut self, frame: Frame, secret: &str) -> String {
        let mut out = String::new();
        self.write_marker(&mut out, frame.rule(), secret, None);
        out
    }

    /// Steps into a member. Returns the length to truncate the path to afterwards.
    pub(super) fn push_step(&mut self, name: &str) -> usize {
        self.push_known_step(name, memchr::memchr2(b'~', b'/', name.as_bytes()).is_none())
    }

    /// Like [`DocumentPass::push_step`], when the caller knows whether the name
    /// needs no escaping.
    pub(super) fn push_known_step(&mut self, name: &str, is_plain: bool) -> usize {
        let mark = self.path.len();
        self.path.push('/');
        if is_plain {
            self.path.push_str(name);
        } else {
            self.path.push_str(&name.replace('~', "~0").replace('/', "~1"));
        }
        mark
    }

    /// Redacts the value of a name: hides all of it, or searches it as text.
    pub(super) fn named_text(&mut self, text: &str, class: NameClass) -> Option<String> {
        let Some(frame) = class.frame().filter(|_| !marker::is_marker(text)) else {
            return self.text(text);
        };
        let changed = match frame {
            Frame::Authorization | Frame::Cookie => {
                // Search it as a header, to keep the scheme and the cookie names.
                let header = if frame == Frame::Cookie { "Cookie: " } else { "Authorization: " };
                let framed = format!("{header}{text}");
                let changed = self
                    .text(&framed)
                    .and_then(|changed| changed.strip_prefix(header).map(str::to_owned));
                match changed {
                    Some(changed) => changed,
                    None if must_go(text, class) => self.marker_with_token_kind(text, frame),
                    None => return None,
                }
            }
            _ if must_go(text, class) => self.marker_with_token_kind(text, frame),
            _ => {
                let changed = self.text(text)?;
                // Labelled paths may make the rest look like a secret.
                if must_go(&changed, class) {
                    self.marker_with_token_kind(&changed, frame)
                } else {
                    changed
                }
            }
        };
        // The rules have only checked the string without its name.
        self.report.unsettle();
        Some(changed)
    }

    /// The marker of a whole value. Its kind is the token rule that matches all
    /// of it, else the frame.
    fn marker_with_token_kind(&mut self, text: &str, frame: Frame) -> String {
        let found = self.finder.find(text);
        let rule = match found.spans.as_slice() {
            [span] if span.end - span.start + 2 >= text.trim().len() => span.rule,
            _ => frame.rule(),
        };
        let mut out = String::new();
        self.write_marker(&mut out, rule, text, None);
        out
    }
}

/// Whether all of a string under a name of `class` is hidden.
fn must_go(text: &str, class: NameClass) -> bool {
    !text.contains("<redacted:")
        && judge(text.as_bytes(), class, Style::Data)
        && !text.contains("-----BEGIN")
}

#[cfg(test)]
mod tests;
