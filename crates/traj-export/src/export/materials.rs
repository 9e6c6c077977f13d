//! The values that all files of the bundle share.

use traj_core::dialect::transcript::EventFrame;

use super::Export;
use crate::bundle::last_events::{LastEventRows, LastEvents};
use crate::bundle::{CommonMembers, RecordedBlobs, SkillPaths};
use crate::error::ExportError;
use crate::index::RuntimeIndex;
use crate::read_back::redaction_pass::RedactionPass;

/// The values that all files of the bundle share.
pub(super) struct Materials<'e> {
    pub(super) pass: RedactionPass,
    pub(super) common: CommonMembers,
    pub(super) frame: EventFrame,
    pub(super) blobs: RecordedBlobs<'e>,
    pub(super) last_events: LastEvents<'static>,
    pub(super) skills: SkillPaths,
}

impl<'e> Export<'e> {
    /// Reads the few events that the smaller files need, and prepares what all
    /// files share.
    pub(super) fn prepare(
        &mut self,
        runtime_index: &RuntimeIndex,
    ) -> Result<Materials<'e>, ExportError> {
        let (request, inputs) = (self.request, self.inputs);
        let session_key = inputs.session_key.as_ref().or(runtime_index.session_key.as_ref());
        let common = CommonMembers {
            session_id: inputs.session_id.as_str().to_owned(),
            session_key: session_key.cloned(),
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
        let runtime = inputs.runtime.as_ref();
        let blobs = RecordedBlobs::beside(self.sources, runtime.map(|found| found.name.as_str()));
        let last_events = LastEventRows::load(runtime, runtime_index)?.parse(&blobs)?;
        let skills = SkillPaths::of_metadata(last_events.metadata.as_ref());
        let pass = RedactionPass::new(&request.redactor);
        Ok(Materials { pass, common, frame, blobs, last_events, skills })
    }
}
