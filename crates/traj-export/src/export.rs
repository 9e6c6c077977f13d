//! The export itself, step by step.

mod indexing;
mod limits;
pub(crate) mod locate;
mod side_files;

use traj_core::dialect::Dialect;
use traj_core::dialect::transcript::EventFrame;
use traj_core::id::{BundleName, SessionId};
use traj_core::json::{Json, Object};
use traj_core::port::{
    BundleFile, BundleSink, BundleWriter, NameTaken, Source, SourceError, Sources,
};
use traj_core::redaction::{RedactedSpill, RedactionReport, Redactor};

use crate::bundle::last_events::LastEventRows;
use crate::bundle::output::{FileOutput, WrittenFile};
use crate::bundle::{
    self, CommonMembers, EntryRows, EventsWritten, LongTexts, ManifestParts, PromptsParts,
    RecordedBlobs, SkillPaths, SourceNames, TimelineContext, TimelineInputs, TimelineOutcome,
};
use crate::error::ExportError;
use crate::index::Writer;
use crate::progress::{Outlook, Progress, Stage, Watched};
use crate::read_back::approved_parts::ApprovedParts;
use crate::read_back::recheck;
use crate::read_back::redaction_pass::{LINKS, RedactionPass};
use crate::read_back::scan::Scan;
use crate::report::{self, ExportReport};
use crate::request::ExportRequest;
use crate::warning::{Code, Warnings};
use indexing::{IndexedSources, facts};
use limits::SessionNature;
use locate::{FoundSource, LocatedSession};

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
    files: Vec<WrittenFile>,
}

impl Export<'_> {
    fn run(
        mut self,
        mut bundle: Box<dyn BundleWriter>,
        located: LocatedSession,
    ) -> Result<ExportReport, ExportError> {
        let request = self.request;
        let LocatedSession { session_file, session, session_key, .. } = located;
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
        let length =
            |found: &Option<FoundSource>| found.as_ref().map_or(0, |found| found.source.len());
        let outlook =
            Outlook { session: length(&session), runtime: length(&runtime), written: None };
        let pass = RedactionPass::new(&request.redactor);
        let watched_session = session.as_ref().map(|found| Watched::new(&*found.source, progress));
        let watched_runtime = runtime.as_ref().map(|found| Watched::new(&*found.source, progress));
        let mut approved = ApprovedParts::new(pass.hasher().clone());

        let enter = |stage| progress.enter(stage, outlook.left_at(stage));
        enter(Stage::Index);
        let IndexedSources { session: entries, runtime: runtime_index, order } =
            self.index(watched_session.as_ref(), watched_runtime.as_ref(), &&*bundle)?;
        let writer = entries.as_ref().map(|(index, _)| index.writer);
        let others = entries.as_ref().map(|(_, branch)| branch.others).unwrap_or_default();
        let nature = entries.as_ref().map(|(index, _)| SessionNature::of(index));
        let facts = facts(session.as_ref(), entries.as_ref(), runtime.as_ref(), &runtime_index);
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

        let common = CommonMembers {
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
        let blobs =
            RecordedBlobs::beside(sources, runtime.as_ref().map(|found| found.name.as_str()));
        let side = LastEventRows::load(runtime.as_ref(), &runtime_index)?;
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
            unknown,
            report,
            session_giants,
            runtime_giants,
        } = bundle::write_timeline(
            &mut *bundle,
            TimelineContext {
                pass: &pass,
                frame: &frame,
                skills: &skills,
                blobs: &blobs,
                names: SourceNames {
                    session: &session_file,
                    runtime: runtime.as_ref().map_or("", |found| &found.name),
                },
                workers: request.workers,
            },
            TimelineInputs { entries, runtime: runtime_source, order },
            &mut prompts_kept,
            &mut approved,
            enter,
        )?;
        let EventsWritten { written: events, lines, unfit, prompts, blobs: referenced } = events;
        self.files.extend([branch, events]);
        self.report.merge(&report);
        let total = runtime_index.events + transcript_events;
        self.check_events(nature, transcript_events, total)?;
        self.check(
            Code::TooManyEvents,
            "the number of events",
            total,
            request.limits.total_events,
        )?;

        enter(Stage::SideFiles);
        let giants = [(&watched_session, session_giants), (&watched_runtime, runtime_giants)];
        let giants = giants.into_iter().filter_map(|(source, giants)| {
            source.as_ref().map(|source| (source as &dyn Source, giants))
        });
        let copied = self.copy_blobs(&mut *bundle, &blobs, referenced, giants)?;
        let runtime_source = runtime.as_ref().map(|found| &*found.source);
        let mut texts = LongTexts::new(&blobs, runtime_source, copied);
        self.write_side_files(&mut *bundle, &common, &side, &marks, &mut texts)?;
        let prompts = PromptsParts {
            common: &common,
            prompting: side.prompting(),
            submitted: prompts,
            kept: &mut prompts_kept,
            texts: &mut texts,
        };
        self.write_prompts(&mut *bundle, prompts)?;
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
            dialect: writer.map_or(Some(Dialect::Sidecar), Writer::dialect),
            others,
            unknown: &unknown,
            tool_version: env!("CARGO_PKG_VERSION"),
        };
        let (manifest, digest) = bundle::manifest(&parts, &request.redactor);
        let manifest = FileOutput::put(&mut *bundle, BundleFile::Manifest, &manifest)?;
        self.files.insert(0, manifest);
        // Some filesystems keep open files in their folder.
        drop(prompts_kept);
        let name = self.check_and_commit(bundle, &pass, approved, outlook)?;
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
    /// Reads everything back, and makes the bundle visible if it is as it should
    /// be. Returns its name.
    fn check_and_commit(
        &self,
        bundle: Box<dyn BundleWriter>,
        pass: &RedactionPass,
        mut approved: ApprovedParts,
        outlook: Outlook,
    ) -> Result<String, ExportError> {
        let written = Some(self.files.iter().map(|written| written.bytes).sum());
        let outlook = Outlook { written, ..outlook };
        let enter = |stage| self.progress.enter(stage, outlook.left_at(stage));
        enter(Stage::Recheck);
        let scan = Scan::new(pass.redactor(), self.request.workers);
        recheck::recheck(&*bundle, &self.files, scan, &mut approved, self.progress)?;
        drop(approved);
        enter(Stage::Commit);
        Ok(bundle.commit()?)
    }
}
