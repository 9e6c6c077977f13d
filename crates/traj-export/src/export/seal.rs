//! The last steps: writes the manifest and reads everything back.

use traj_core::port::{BundleFile, BundleWriter};

use super::Export;
use super::indexing::SourceFacts;
use super::timeline::TimelineFacts;
use crate::bundle::output::FileOutput;
use crate::bundle::{self, CommonMembers, ManifestParts};
use crate::error::ExportError;
use crate::progress::Stage;
use crate::read_back::approved_parts::ApprovedParts;
use crate::read_back::recheck;
use crate::read_back::redaction_pass::RedactionPass;
use crate::read_back::scan::Scan;
use crate::warning::Warning;

/// The facts that the manifest and the report both state.
pub(super) struct Seal {
    /// The digest of the whole bundle.
    pub(super) digest: String,
    pub(super) warnings: Vec<Warning>,
    pub(super) notices: Vec<Warning>,
}

impl Export<'_> {
    /// Writes the manifest, which lists every other file.
    pub(super) fn write_manifest(
        &mut self,
        bundle: &mut dyn BundleWriter,
        common: &CommonMembers,
        sources: &SourceFacts,
        timeline: &TimelineFacts,
    ) -> Result<Seal, ExportError> {
        self.files.sort_by_key(|written| written.file);
        let (warnings, notices) = std::mem::take(&mut self.warnings).finish();
        let parts = ManifestParts {
            common,
            leaf_id: timeline.leaf_id.as_deref(),
            runtime_events: timeline.counts.runtime,
            transcript_events: timeline.counts.transcript,
            session_file: &self.inputs.session_file,
            sources: &sources.files,
            warnings: &warnings,
            notices: &notices,
            files: &self.files,
            report: &self.report,
            dialect: sources.dialect(),
            others: sources.others,
            unknown: &timeline.unknown,
            tool_version: env!("CARGO_PKG_VERSION"),
        };
        let (manifest, digest) = bundle::manifest(&parts, &self.request.redactor);
        let manifest = FileOutput::put(bundle, BundleFile::Manifest, &manifest)?;
        self.files.insert(0, manifest);
        Ok(Seal { digest, warnings, notices })
    }

    /// Reads the finished files back and scans them.
    pub(super) fn read_back(
        &self,
        bundle: &dyn BundleWriter,
        pass: &RedactionPass,
        mut approved: ApprovedParts,
    ) -> Result<(), ExportError> {
        self.enter(Stage::Recheck);
        let scan = Scan::new(pass.redactor(), self.request.workers);
        recheck::recheck(bundle, &self.files, scan, &mut approved, self.progress)
    }
}
