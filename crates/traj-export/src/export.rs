//! The export itself, step by step.

mod side_files;

use traj_core::id::{BundleName, SessionId};
use traj_core::json::{Json, Object};
use traj_core::port::{
    BundleFile, BundleSink, BundleWriter, NameTaken, Source, SourceError, Sources,
};
use traj_core::redaction::{RedactedSpill, RedactionReport, Redactor};
use traj_core::transcript::EventFrame;

use crate::bundle::{
    self, BlobFolder, Common, EntryRows, EventsWritten, ManifestParts, SkillPaths, SourceFact,
    SourceNames, TimelineContext, TimelineInputs, TimelineOutcome,
};
use crate::error::ExportError;
use crate::index::{self, RuntimeIndex};
use crate::ledger::Ledger;
use crate::locate::{self, Found, Located};
use crate::output::{Output, Written};
use crate::pipeline;
use crate::progress::{Outlook, Progress, Stage, Watched};
use crate::recheck;
use crate::report::{self, ExportReport};
use crate::request::ExportRequest;
use crate::scan::Scan;
use crate::screen::{LINKS, Screen};
use crate::side::SideRows;
use crate::sort::Sorter;
use crate::warning::{Code, Warnings};

/// What an export reads from and writes to.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "an export has these ports; a new one is a new call")]
pub struct ExportPorts<'p> {
    /// Sessions, sidecars, stores and blobs.
    pub sources: &'p dyn Sources,
    /// Where the bundle goes.
    pub sink: &'p dyn BundleSink,
}

/// Exports one session as a bundle: complete, checked and sealed, or not at
/// all.
///
/// # Errors
/// As [`ExportError`] says; nothing is left behind then.
pub fn export(
    ports: ExportPorts<'_>,
    request: &ExportRequest,
    progress: &dyn Progress,
) -> Result<ExportReport, ExportError> {
    let located = locate::locate_session(ports.sources, &request.selection)?;
    let session_id = locate::session_id(ports.sources, &located, &request.sidecar)?;
    if located.session.is_none()
        && !locate::has_runtime(ports.sources, &located, &session_id, &request.sidecar)?
    {
        // Nothing is begun that has nothing to hold.
        return Err(SourceError::NotFound { name: located.session_file }.into());
    }
    let shown_id = shown(&session_id, &request.redactor)?;
    let (name, taken) = match &request.name {
        Some(name) => (name.clone(), NameTaken::Refuse),
        None => (BundleName::for_session(&shown_id, request.now), NameTaken::Renumber),
    };
    let bundle = ports.sink.begin(&name, taken)?;
    let export = Export {
        ports,
        request,
        session_id,
        shown_id,
        warnings: Warnings::default(),
        progress,
        report: RedactionReport::default(),
        files: Vec::new(),
    };
    export.run(bundle, located)
}

/// A session's id as the bundle shows it: it may be a secret.
fn shown(session_id: &SessionId, redactor: &Redactor) -> Result<SessionId, ExportError> {
    const SESSION_ID: &str = "sessionId";
    let mut object = Object::with_capacity(1);
    object.push(SESSION_ID, session_id.as_str());
    let report = &mut RedactionReport::default();
    let shown = redactor.json_settled(Json::Object(object), &LINKS, report);
    let shown = shown.as_ref().get(SESSION_ID).and_then(Json::as_str).unwrap_or_default();
    // With a marker it may have become longer than an id may be.
    let short = || SessionId::parse(shown.chars().take(100).collect::<String>());
    SessionId::parse(shown).or_else(|_| short()).map_err(|_| ExportError::UnknownSession)
}

struct Export<'e> {
    ports: ExportPorts<'e>,
    request: &'e ExportRequest,
    session_id: SessionId,
    shown_id: SessionId,
    warnings: Warnings,
    progress: &'e dyn Progress,
    report: RedactionReport,
    files: Vec<Written>,
}

impl Export<'_> {
    fn run(
        mut self,
        mut bundle: Box<dyn BundleWriter>,
        located: Located,
    ) -> Result<ExportReport, ExportError> {
        let request = self.request;
        let Located { session_file, session, session_key, .. } = located;
        let (sources, sidecar) = (self.ports.sources, &request.sidecar);
        let runtime = locate::locate_runtime(
            sources,
            &session_file,
            &self.session_id,
            sidecar,
            &mut self.warnings,
        )?;
        if session.is_none() && runtime.is_none() {
            return Err(ExportError::NothingToExport);
        }
        self.check_sizes(session.as_ref(), runtime.as_ref())?;
        let progress = self.progress;
        let length = |found: &Option<Found>| found.as_ref().map_or(0, |found| found.source.len());
        let mut outlook =
            Outlook { session: length(&session), runtime: length(&runtime), written: None };
        let screen = Screen::new(&request.redactor);
        let watched_session = session.as_ref().map(|found| Watched::new(&*found.source, progress));
        let watched_runtime = runtime.as_ref().map(|found| Watched::new(&*found.source, progress));
        let mut ledger = Ledger::new(screen.hasher().clone());
        let mut facts = Vec::new();

        progress.enter(Stage::Index, outlook.left_at(Stage::Index));
        let spool = &&*bundle;
        let (entries, (runtime_index, order, runtime_warnings)) = pipeline::both(
            request.workers,
            || {
                let Some(source) = &watched_session else {
                    self.warnings.add(Code::SessionMissing, 0);
                    return Ok(None);
                };
                let mut index = index::index_session(source, spool, &mut self.warnings)?;
                let branch = index::resolve(&mut index, spool, &mut self.warnings)?;
                Ok::<_, ExportError>(Some((index, branch)))
            },
            || {
                let (mut order, mut warnings) = (Sorter::new(), Warnings::default());
                let index = match &watched_runtime {
                    Some(source) => index::index_runtime(
                        source,
                        self.session_id.as_str(),
                        spool,
                        &mut warnings,
                        |record, spool| order.push(record, spool),
                    )?,
                    None => RuntimeIndex::default(),
                };
                Ok((index, order, warnings))
            },
        )?;
        self.warnings.append(runtime_warnings);
        if let Some((found, (index, _))) = session.as_ref().zip(entries.as_ref()) {
            facts.push(SourceFact::new("session", found, index.rows, index.digest));
        }
        if let Some(found) = &runtime {
            let RuntimeIndex { rows, digest, .. } = runtime_index;
            facts.push(SourceFact::new("runtime", found, rows, digest));
        }
        let entries = watched_session.as_ref().zip(entries);
        let entries =
            entries.map(|(source, (index, branch))| EntryRows::new(source, index, branch));
        let limit = request.limits.runtime_events;
        self.check(
            Code::TooManyRuntimeEvents,
            "the number of runtime events",
            runtime_index.events,
            limit,
        )?;

        let common = Common {
            session_id: self.session_id.as_str().to_owned(),
            session_key: session_key.or_else(|| runtime_index.session_key.clone()),
            workspace_dir: request.workspace_dir.clone(),
            now: request.now,
        };
        let frame = EventFrame::new(
            &request.redactor,
            &mut self.report,
            &common.session_id,
            common.session_key.as_deref(),
            &common.workspace_dir,
        );
        let blobs = BlobFolder::beside(sources, runtime.as_ref().map(|found| found.name.as_str()));
        let side = SideRows::load(runtime.as_ref(), &runtime_index)?;
        let side = side.parse(&blobs)?;
        let skills = SkillPaths::of_metadata(side.metadata.as_ref());

        let mut prompts_kept = RedactedSpill::new(bundle.scratch()?);
        let runtime_source = watched_runtime.as_ref().map(|source| source as &dyn Source);
        let TimelineOutcome {
            branch,
            events,
            leaf_id,
            transcript_events,
            marks,
            report,
            session_giants,
            runtime_giants,
        } = bundle::write_timeline(
            &mut *bundle,
            TimelineContext {
                screen: &screen,
                frame: &frame,
                skills: &skills,
                names: SourceNames {
                    session: &session_file,
                    runtime: runtime.as_ref().map_or("", |found| &found.name),
                },
                workers: request.workers,
            },
            TimelineInputs { entries, runtime: runtime_source, order },
            &mut prompts_kept,
            &mut ledger,
            |stage| progress.enter(stage, outlook.left_at(stage)),
        )?;
        let EventsWritten { written: events, lines, unfit, prompts, blobs: referenced } = events;
        self.files.extend([branch, events]);
        self.report.merge(&report);
        let total = runtime_index.events + transcript_events;
        self.check(
            Code::TooManyEvents,
            "the number of events",
            total,
            request.limits.total_events,
        )?;

        progress.enter(Stage::SideFiles, outlook.left_at(Stage::SideFiles));
        self.write_metadata(&mut *bundle, &common, &side, &marks)?;
        self.write_artifacts(&mut *bundle, &common, &side)?;
        // Before the prompts, which name those that came along.
        let giants = [(&watched_session, session_giants), (&watched_runtime, runtime_giants)];
        let giants = giants.into_iter().filter_map(|(source, giants)| {
            source.as_ref().map(|source| (source as &dyn Source, giants))
        });
        let copied = blobs.copy(
            referenced,
            giants,
            &mut *bundle,
            &request.redactor,
            &mut self.report,
            &mut self.warnings,
        )?;
        let prompting = side.prompting();
        self.files.extend(bundle::write_prompts(
            &mut *bundle,
            screen.redactor(),
            &mut self.report,
            &common,
            &prompting,
            &blobs,
            &copied.iter().map(|written| written.file).collect(),
            prompts,
            &mut prompts_kept,
        )?);
        self.write_context(&mut *bundle, &side)?;
        self.files.extend(copied);
        self.files.sort_by_key(|written| written.file);
        for found in session.iter().chain(&runtime) {
            found.source.check_unchanged()?;
        }
        if let Some(line) = unfit.or((lines != total).then_some(lines)) {
            return Err(ExportError::NotReadable { file: BundleFile::Events, line });
        }

        let (warnings, notices) = std::mem::take(&mut self.warnings).finish();
        let parts = ManifestParts {
            common: &common,
            leaf_id: leaf_id.as_deref(),
            runtime_events: runtime_index.events,
            transcript_events,
            session_file: &session_file,
            sources: &facts,
            warnings: &warnings,
            notices: &notices,
            files: &self.files,
            report: &self.report,
            tool_version: env!("CARGO_PKG_VERSION"),
        };
        let (manifest, digest) = bundle::manifest(&parts, &request.redactor);
        let manifest = Output::put(&mut *bundle, BundleFile::Manifest, &manifest)?;
        self.files.insert(0, manifest);
        outlook.written = Some(self.files.iter().map(|written| written.bytes).sum());
        progress.enter(Stage::Recheck, outlook.left_at(Stage::Recheck));
        let scan = Scan::new(screen.redactor(), request.workers);
        recheck::recheck(&*bundle, &self.files, scan, &mut ledger, progress)?;
        // Some filesystems keep open files in their folder.
        drop((ledger, prompts_kept));

        progress.enter(Stage::Commit, outlook.left_at(Stage::Commit));
        let name = bundle.commit()?;
        Ok(ExportReport {
            name,
            session_id: self.shown_id.as_str().to_owned(),
            event_count: total,
            runtime_event_count: runtime_index.events,
            transcript_event_count: transcript_events,
            files: self.files.iter().map(|written| written.file.to_string()).collect(),
            runtime_file: runtime.map(|found| found.name),
            warnings,
            notices,
            redactions: report::redactions(&self.report),
            digest,
        })
    }

    fn check_sizes(
        &mut self,
        session: Option<&Found>,
        runtime: Option<&Found>,
    ) -> Result<(), ExportError> {
        let limits = self.request.limits;
        if let Some(found) = session {
            let bytes = found.source.len();
            self.check(
                Code::SessionTooLarge,
                "the size of the session file",
                bytes,
                limits.session_bytes,
            )?;
        }
        if let Some(found) = runtime {
            let bytes = found.source.len();
            self.check(
                Code::RuntimeTooLarge,
                "the size of the runtime file",
                bytes,
                limits.runtime_bytes,
            )?;
        }
        Ok(())
    }

    /// Holds a figure against a limit of other exporters.
    fn check(
        &mut self,
        code: Code,
        what: &'static str,
        actual: u64,
        limit: u64,
    ) -> Result<(), ExportError> {
        if actual <= limit {
            return Ok(());
        }
        if self.request.limits.are_strict {
            return Err(ExportError::Limit { what, actual, limit });
        }
        self.warnings.add(code, 0);
        Ok(())
    }
}
