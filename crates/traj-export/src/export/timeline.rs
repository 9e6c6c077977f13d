//! The step that writes `session-branch.json` and `events.jsonl`.

use traj_core::port::{BundleFile, BundleWriter, Source};
use traj_core::run::NameCounts;

use super::indexing::IndexedSources;
use super::materials::Materials;
use super::{EventCounts, Export};
use crate::bundle::{
    self, EntryRows, SideInputs, SourceNames, TimelineContext, TimelineInputs, TimelineOutcome,
};
use crate::error::ExportError;
use crate::read_back::approved_parts::ApprovedParts;

/// The facts that the manifest and the report state about the timeline.
pub(super) struct TimelineFacts {
    pub(super) counts: EventCounts,
    pub(super) leaf_id: Option<String>,
    /// Entries of unknown types.
    pub(super) unknown: NameCounts,
    /// The number of lines in `events.jsonl`; `unfit` is the first one that is
    /// not a valid event.
    lines: u64,
    unfit: Option<u64>,
}

impl TimelineFacts {
    /// Checks that every event is in the file and valid.
    pub(super) fn check_readable(&self) -> Result<(), ExportError> {
        let missing = (self.lines != self.counts.total()).then_some(self.lines);
        match self.unfit.or(missing) {
            Some(line) => Err(ExportError::NotReadable { file: BundleFile::Events, line }),
            None => Ok(()),
        }
    }
}

impl Export<'_> {
    /// Writes both files. Also returns the inputs of the smaller files.
    pub(super) fn write_timeline(
        &mut self,
        bundle: &mut dyn BundleWriter,
        materials: &Materials<'_>,
        indexed: IndexedSources,
        approved: &mut ApprovedParts,
    ) -> Result<(TimelineFacts, SideInputs), ExportError> {
        let IndexedSources { session: entries, runtime: runtime_index, order } = indexed;
        let (session, runtime) = (self.watched_session(), self.watched_runtime());
        let entries = session.as_ref().zip(entries);
        let entries =
            entries.map(|(source, (index, branch))| EntryRows::new(source, index, branch));
        let context = TimelineContext {
            pass: &materials.pass,
            frame: &materials.frame,
            skills: &materials.skills,
            blobs: &materials.blobs,
            names: SourceNames {
                session: &self.inputs.session_file,
                runtime: self.inputs.runtime.as_ref().map_or("", |found| &found.name),
            },
            workers: self.request.workers,
        };
        let runtime = runtime.as_ref().map(|source| source as &dyn Source);
        let inputs = TimelineInputs { entries, runtime, order };
        let TimelineOutcome {
            files,
            report,
            lines,
            unfit,
            leaf_id,
            transcript_events,
            unknown,
            side,
        } = bundle::write_timeline(bundle, context, inputs, approved, |stage| self.enter(stage))?;
        self.files.extend(files);
        self.report.merge(&report);
        let counts = EventCounts { runtime: runtime_index.events, transcript: transcript_events };
        Ok((TimelineFacts { counts, leaf_id, unknown, lines, unfit }, side))
    }
}
