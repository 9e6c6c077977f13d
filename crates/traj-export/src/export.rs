//! The export itself, as a list of steps: [`Export::run`].
//!
//! - `request`, `report`: what a caller passes and gets back;
//! - `locate`: finds the session file and its sidecar;
//! - `indexing`: the first pass over both;
//! - `materials`: the values that all files of the bundle share;
//! - `timeline`: writes the branch and the events;
//! - `side_files`: writes the smaller files and the blobs;
//! - `seal`: writes the manifest, reads everything back and commits;
//! - `limits`: the limits of other exporters, checked along the way.

mod indexing;
mod limits;
pub(crate) mod locate;
mod materials;
mod report;
mod request;
mod seal;
mod side_files;
mod timeline;

use std::sync::Arc;

use traj_core::id::{BundleName, SessionId};
use traj_core::json::{Json, Object};
use traj_core::port::{BundleSink, BundleWriter, NameTaken, Sources};
use traj_core::redaction::{JoinedParts, RedactionReport, Redactor, SecretSearch, SessionSecrets};

use crate::bundle::output::WrittenFile;
use crate::error::ExportError;
use crate::progress::{Progress, ReadEstimate, Stage, Watched};
use crate::read_back::approved_parts::ApprovedParts;
use crate::read_back::recurrence::recurs;
use crate::read_back::redaction_pass::LINKS;
use crate::warning::Warnings;
use indexing::SourceFacts;
use locate::{ExportInputs, FoundSource};
use seal::Seal;

pub use report::ExportReport;
pub use request::{ExportLimits, ExportRequest, Selection, SidecarHints};

/// The ports that an export reads from and writes to.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "a new port is a breaking change")]
pub struct ExportPorts<'p> {
    /// Sessions, sidecars, stores and blobs.
    pub sources: &'p dyn Sources,
    /// Where the bundle goes.
    pub sink: &'p dyn BundleSink,
}

/// Exports one session as a complete, checked and sealed bundle, or not at all.
///
/// # Errors
/// See [`ExportError`].
pub fn export(
    ports: ExportPorts<'_>,
    request: &ExportRequest,
    progress: &dyn Progress,
) -> Result<ExportReport, ExportError> {
    let secrets = Arc::new(SessionSecrets::default());
    let first =
        ExportRequest { redactor: request.redactor.collecting(&secrets), ..request.clone() };
    match attempt(ports, &first, progress, Some(&secrets))? {
        ExportAttempt::Done(report) => Ok(*report),
        // A value that one event names as a secret is in another one too.
        ExportAttempt::Recurs(search, joined) => {
            let redactor = request.redactor.with_joined(joined);
            let redactor = search.map_or(redactor.clone(), |search| redactor.knowing(search));
            let second = ExportRequest { redactor, ..request.clone() };
            match attempt(ports, &second, progress, None)? {
                ExportAttempt::Done(report) => Ok(*report),
                ExportAttempt::Recurs(..) => {
                    Err(ExportError::SecretsRemain { findings: Vec::new() })
                }
            }
        }
    }
}

/// How an attempt to export ended.
enum ExportAttempt {
    /// The bundle is complete.
    Done(Box<ExportReport>),
    /// A secret of the session is still in a file, whole or in several rows. Nothing
    /// was committed.
    Recurs(Option<SecretSearch>, JoinedParts),
}

/// Writes the bundle once. With `secrets`, it is only committed if none of them is
/// in it.
fn attempt(
    ports: ExportPorts<'_>,
    request: &ExportRequest,
    progress: &dyn Progress,
    secrets: Option<&SessionSecrets>,
) -> Result<ExportAttempt, ExportError> {
    let mut warnings = Warnings::default();
    let inputs = locate::locate_inputs(ports.sources, request, &mut warnings)?;
    let shown_id = shown(&inputs.session_id, &request.redactor)?;
    let (name, taken) = match &request.name {
        Some(name) => (name.clone(), NameTaken::Refuse),
        None => (BundleName::for_session(&shown_id, request.now), NameTaken::Renumber),
    };
    let bundle = ports.sink.begin(&name, taken)?;
    let export = Export {
        sources: ports.sources,
        request,
        inputs: &inputs,
        shown_id,
        progress,
        warnings,
        report: RedactionReport::default(),
        files: Vec::new(),
    };
    export.run(bundle, secrets)
}

/// A session's id as the bundle shows it: redacted, because it may be a secret.
fn shown(session_id: &SessionId, redactor: &Redactor) -> Result<SessionId, ExportError> {
    const SESSION_ID: &str = "sessionId";
    let mut object = Object::with_capacity(1);
    object.push(SESSION_ID, session_id.as_str());
    let report = &mut RedactionReport::default();
    let shown = redactor.json_settled(Json::Object(object), &LINKS, report);
    let shown = shown.as_ref().get(SESSION_ID).and_then(Json::as_str).unwrap_or_default();
    // A marker can make the id too long.
    let short = || SessionId::parse(shown.chars().take(100).collect::<String>());
    SessionId::parse(shown).or_else(|_| short()).map_err(|_| ExportError::UnknownSession)
}

/// One export: its inputs, and what the steps so far have collected.
struct Export<'e> {
    sources: &'e dyn Sources,
    request: &'e ExportRequest,
    inputs: &'e ExportInputs,
    shown_id: SessionId,
    progress: &'e dyn Progress,
    warnings: Warnings,
    report: RedactionReport,
    /// The files written so far. The manifest lists them, and they are read
    /// back before the bundle is committed.
    files: Vec<WrittenFile>,
}

impl<'e> Export<'e> {
    /// The steps of an export, in order.
    fn run(
        mut self,
        mut bundle: Box<dyn BundleWriter>,
        secrets: Option<&SessionSecrets>,
    ) -> Result<ExportAttempt, ExportError> {
        self.check_sizes()?;
        let indexed = self.index(&&*bundle)?;
        let sources = SourceFacts::of(self.inputs, &indexed);
        let materials = self.prepare(&indexed.runtime)?;
        let mut approved = ApprovedParts::new(materials.pass.hasher().clone());
        let (timeline, side) =
            self.write_timeline(&mut *bundle, &materials, indexed, &mut approved)?;
        self.check_events(&sources, &timeline)?;
        self.write_side_files(&mut *bundle, &materials, side)?;
        self.check_sources_unchanged()?;
        timeline.check_readable()?;
        let seal = self.write_manifest(&mut *bundle, &materials.common, &sources, &timeline)?;
        self.read_back(&*bundle, &materials.pass, approved)?;
        if let Some(secrets) = secrets {
            let joined = self.request.redactor.joined_rows();
            let search = secrets.search();
            if !joined.is_empty()
                || search
                    .as_ref()
                    .map_or(Ok(false), |search| recurs(&*bundle, &self.files, search))?
            {
                return Ok(ExportAttempt::Recurs(search, joined));
            }
        }
        self.enter(Stage::Commit);
        let name = bundle.commit()?;
        Ok(ExportAttempt::Done(Box::new(self.into_report(name, timeline.counts, seal))))
    }

    /// Reports that a step begins.
    fn enter(&self, stage: Stage) {
        let length = |found: &Option<FoundSource>| found.as_ref().map_or(0, FoundSource::len);
        let is_written = matches!(stage, Stage::Recheck | Stage::Commit);
        let outlook = ReadEstimate {
            session: length(&self.inputs.session),
            runtime: length(&self.inputs.runtime),
            written: is_written.then(|| self.files.iter().map(|written| written.bytes).sum()),
        };
        self.progress.enter(stage, outlook.left_at(stage));
    }

    /// The session file; reading it advances the progress.
    fn watched_session(&self) -> Option<Watched<'e>> {
        self.inputs.session.as_ref().map(|found| Watched::new(&*found.source, self.progress))
    }

    /// The sidecar; reading it advances the progress.
    fn watched_runtime(&self) -> Option<Watched<'e>> {
        self.inputs.runtime.as_ref().map(|found| Watched::new(&*found.source, self.progress))
    }

    /// Fails if an input changed since it was opened.
    fn check_sources_unchanged(&self) -> Result<(), ExportError> {
        for found in self.inputs.session.iter().chain(&self.inputs.runtime) {
            found.source.check_unchanged()?;
        }
        Ok(())
    }

    fn into_report(self, name: String, counts: EventCounts, seal: Seal) -> ExportReport {
        ExportReport {
            name,
            session_id: self.shown_id.as_str().to_owned(),
            event_count: counts.total(),
            runtime_event_count: counts.runtime,
            transcript_event_count: counts.transcript,
            files: self.files.iter().map(|written| written.file.to_string()).collect(),
            runtime_file: self.inputs.runtime.as_ref().map(|found| found.name.clone()),
            warnings: seal.warnings,
            notices: seal.notices,
            redactions: report::redactions(&self.report),
            digest: seal.digest,
        }
    }
}

/// How many events the bundle has, by source.
#[derive(Clone, Copy, Debug)]
struct EventCounts {
    runtime: u64,
    transcript: u64,
}

impl EventCounts {
    const fn total(self) -> u64 {
        self.runtime + self.transcript
    }
}
