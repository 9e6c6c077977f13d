//! The redactor: applies a policy with the compiled rules.

pub(super) mod session_streams;

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use super::cache::names::NameCache;
use super::cache::session_secrets::{SecretSearch, SessionSecrets};
use super::cache::texts::KnownTexts;
use super::document::{DocumentPass, SessionShare};
use super::engine::Engine;
use super::marker::Stamp;
use super::paths::PathTable;
use super::policy::RedactionPolicy;
use super::redacted::Redacted;
use super::report::{Finding, RedactionReport};
use super::reveal::RevealMap;
use super::text::find::Finder;
use crate::json::Json;
use session_streams::JoinedParts;

/// Hides secrets in JSON values and plain texts.
///
/// Cheap to create and to clone: rules are compiled on first use and shared
/// between clones.
#[derive(Clone, Debug)]
pub struct Redactor {
    policy: RedactionPolicy,
    compiled: Arc<OnceLock<Compiled>>,
    known: Option<Arc<KnownTexts>>,
    collected: Option<Arc<SessionSecrets>>,
    session: Option<Arc<SecretSearch>>,
    joined: Option<Arc<JoinedParts>>,
}

#[derive(Debug)]
pub(super) struct Compiled {
    pub(super) engine: Engine,
    pub(super) paths: PathTable,
    pub(super) stamp: Stamp,
    pub(super) familiar: NameCache,
}

/// How often a value is redacted again while it keeps changing.
const MAX_PASSES: usize = 8;

impl Redactor {
    /// A redactor that follows `policy`.
    #[must_use]
    pub fn new(policy: RedactionPolicy) -> Self {
        Self {
            policy,
            compiled: Arc::new(OnceLock::new()),
            known: None,
            collected: None,
            session: None,
            joined: None,
        }
    }

    /// The same redactor with a cache for about `texts` strings. A string in the
    /// cache is not searched again. Use it for work that sees strings more than
    /// once, such as an export that reads its own output back.
    #[must_use]
    pub fn remembering(&self, texts: usize) -> Self {
        Self { known: Some(Arc::new(KnownTexts::with_room(texts))), ..self.clone() }
    }

    /// The same redactor, which also adds every secret that it finds to `secrets`,
    /// unless it could be an ordinary word.
    #[must_use]
    pub fn collecting(&self, secrets: &Arc<SessionSecrets>) -> Self {
        Self { collected: Some(Arc::clone(secrets)), ..self.clone() }
    }

    /// The same redactor, which also hides the secrets of `search` wherever they
    /// are. With [`Redactor::json_settled`], they stay in the members `apart`.
    #[must_use]
    pub fn knowing(&self, search: SecretSearch) -> Self {
        Self { session: Some(Arc::new(search)), ..self.clone() }
    }

    /// The policy this redactor follows.
    #[must_use]
    pub const fn policy(&self) -> &RedactionPolicy {
        &self.policy
    }

    /// Redacts a parsed value.
    pub fn json<'a>(&self, value: Json<'a>, report: &mut RedactionReport) -> Redacted<Json<'a>> {
        Redacted::witness(self.pass(report, None).document(value))
    }

    /// Like [`Redactor::json`], repeated until nothing is left to hide: with a
    /// marker next to it, a value can match a rule that it did not match before.
    /// Secrets found elsewhere are not hidden in the members of the object listed
    /// in `apart`, such as an id that other files refer to.
    pub fn json_settled<'a>(
        &self,
        value: Json<'a>,
        apart: &[&str],
        report: &mut RedactionReport,
    ) -> Redacted<Json<'a>> {
        let unsettled = report.unsettled();
        let mut value = self.pass(report, None).document_with(value, apart);
        let mut is_settled = report.unsettled() == unsettled;
        for _ in 0..MAX_PASSES {
            if is_settled {
                break;
            }
            let mut again = RedactionReport::new();
            value = self.pass(&mut again, None).rechecking().document_with(value, apart);
            is_settled = again.changes() == 0;
            report.merge(&again);
        }
        Redacted::witness(value)
    }

    /// Redacts a plain text.
    pub fn text<'a>(&self, text: &'a str, report: &mut RedactionReport) -> Redacted<Cow<'a, str>> {
        Redacted::witness(self.pass(report, None).plain_text(text))
    }

    /// Reports what is left to hide in a redacted value: secrets, media and paths.
    /// Survivors and markers are not counted.
    pub fn recheck_json(&self, value: Json<'_>, report: &mut RedactionReport) {
        self.pass(report, None).rechecking().document(value);
    }

    /// Like [`Redactor::json`], but also records the secret of each marker in
    /// `reveal`.
    pub fn json_revealing<'a>(
        &self,
        value: Json<'a>,
        report: &mut RedactionReport,
        reveal: &mut RevealMap,
    ) -> Redacted<Json<'a>> {
        Redacted::witness(self.pass(report, Some(reveal)).document(value))
    }

    /// Like [`Redactor::text`], but also records the secret of each marker in
    /// `reveal`.
    pub fn text_revealing<'a>(
        &self,
        text: &'a str,
        report: &mut RedactionReport,
        reveal: &mut RevealMap,
    ) -> Redacted<Cow<'a, str>> {
        Redacted::witness(self.pass(report, Some(reveal)).plain_text(text))
    }

    /// What [`Redactor::json`] would hide, by rule and position.
    #[must_use]
    pub fn scan_json(&self, value: &Json<'_>) -> Vec<Finding> {
        let mut report = RedactionReport::listing();
        self.pass(&mut report, None).document(value.clone());
        report.findings().to_vec()
    }

    /// What [`Redactor::text`] would hide, by rule and line.
    #[must_use]
    pub fn scan_text(&self, text: &str) -> Vec<Finding> {
        let mut report = RedactionReport::listing();
        self.pass(&mut report, None).plain_text(text);
        report.findings().to_vec()
    }

    /// Compiles every rule now instead of on first use. Returns the number of
    /// patterns.
    #[must_use]
    pub fn compile_all(&self) -> usize {
        self.compiled().engine.compile_all()
    }

    /// The keywords that rules and context readers start from, in lower case. With
    /// [`Redactor::count_keywords`], benches compare the search for them.
    #[must_use]
    pub fn keywords(&self) -> Vec<String> {
        self.compiled().engine.keywords()
    }

    /// The number of keywords in a text, overlapping ones included, ignoring ASCII
    /// case.
    #[must_use]
    pub fn count_keywords(&self, text: &str) -> usize {
        self.compiled().engine.count_keywords(text.as_bytes())
    }

    fn compiled(&self) -> &Compiled {
        self.compiled.get_or_init(|| Compiled {
            engine: Engine::new(self.policy.rules.rules.clone(), &self.policy.classes()),
            paths: PathTable::new(&self.policy.paths),
            stamp: Stamp::new(&self.policy.key),
            familiar: NameCache::new(),
        })
    }

    fn pass<'r>(
        &'r self,
        report: &'r mut RedactionReport,
        reveal: Option<&'r mut RevealMap>,
    ) -> DocumentPass<'r> {
        let compiled = self.compiled();
        let finder = Finder { engine: &compiled.engine, allow: &self.policy.rules.allow };
        let known = self.known.as_deref();
        let session =
            SessionShare { collected: self.collected.as_deref(), search: self.session.as_deref() };
        DocumentPass::new(finder, &self.policy, compiled, known, report, reveal).sharing(session)
    }
}

#[cfg(test)]
mod linear_tests;
