//! Writes the smaller files, except those that would be empty.
//!
//! [`SIDE_FILES`] lists them. To add a file, write its method and add it to the
//! list. The manifest picks up every file that was written.

use std::collections::BTreeSet;

use traj_core::capture::BlobDigest;
use traj_core::constant_text;
use traj_core::dialect::{Endings, particulars};
use traj_core::json::Json;
use traj_core::port::{BundleFile, BundleWriter, Source};
use traj_core::redaction::{RedactedText, RedactionReport, Redactor};

use super::Export;
use super::materials::Materials;
use crate::bundle::last_events::LastEvents;
use crate::bundle::output::{FileOutput, WrittenFile};
use crate::bundle::{
    self, CommonMembers, EventText, LongTexts, PromptsParts, RecordedBlobs, SideInputs, SkillMarks,
    SubmittedPrompts,
};
use crate::error::ExportError;
use crate::json_stream::long_rows::CutValue;
use crate::progress::Stage;
use crate::read_back::redaction_pass::LINKS;

/// Writes one file, unless it would be empty.
type WriteSideFile = fn(&mut SideFiles<'_>) -> Result<(), ExportError>;

/// The smaller files, in the order in which they are written.
const SIDE_FILES: [WriteSideFile; 5] = [
    |files| files.write_metadata(),
    |files| files.write_artifacts(),
    |files| files.write_system_prompt(),
    |files| files.write_tools(),
    |files| files.write_prompts(),
];

impl Export<'_> {
    /// Copies the blobs and writes the smaller files.
    pub(super) fn write_side_files(
        &mut self,
        bundle: &mut dyn BundleWriter,
        materials: &Materials<'_>,
        inputs: SideInputs,
    ) -> Result<(), ExportError> {
        self.enter(Stage::SideFiles);
        let SideInputs { marks, prompts, blobs: referenced, session_giants, runtime_giants } =
            inputs;
        let blobs = &materials.blobs;
        let sources = [self.watched_session(), self.watched_runtime()];
        let giants = sources.iter().zip([session_giants, runtime_giants]);
        let giants = giants.filter_map(|(source, giants)| {
            source.as_ref().map(|source| (source as &dyn Source, giants))
        });
        let copied = self.copy_blobs(bundle, blobs, referenced, giants)?;
        let runtime = self.inputs.runtime.as_ref().map(|found| &*found.source);
        let mut side_files = SideFiles {
            bundle,
            redactor: &self.request.redactor,
            report: &mut self.report,
            files: &mut self.files,
            common: &materials.common,
            last_events: &materials.last_events,
            marks: &marks,
            texts: LongTexts::new(blobs, runtime, copied),
            prompts,
        };
        SIDE_FILES.into_iter().try_for_each(|write| write(&mut side_files))
    }

    /// Copies the blobs that events refer to, and the values that were too long
    /// for their rows. Returns the files that were written.
    fn copy_blobs<'s>(
        &mut self,
        bundle: &mut dyn BundleWriter,
        blobs: &RecordedBlobs<'_>,
        referenced: BTreeSet<BlobDigest>,
        giants: impl Iterator<Item = (&'s dyn Source, Vec<CutValue>)>,
    ) -> Result<BTreeSet<BundleFile>, ExportError> {
        let (redactor, report) = (&self.request.redactor, &mut self.report);
        let copied =
            blobs.copy(referenced, giants, bundle, redactor, report, &mut self.warnings)?;
        self.files.extend(&copied);
        Ok(copied.iter().map(|written| written.file).collect())
    }
}

/// Writes the smaller files into the bundle.
struct SideFiles<'w> {
    bundle: &'w mut dyn BundleWriter,
    redactor: &'w Redactor,
    report: &'w mut RedactionReport,
    files: &'w mut Vec<WrittenFile>,
    common: &'w CommonMembers,
    last_events: &'w LastEvents<'static>,
    marks: &'w SkillMarks,
    texts: LongTexts<'w>,
    prompts: SubmittedPrompts,
}

impl SideFiles<'_> {
    fn write_metadata(&mut self) -> Result<(), ExportError> {
        let LastEvents { metadata, model, .. } = self.last_events;
        let Some(metadata) = metadata else { return Ok(()) };
        let content = bundle::metadata(self.common, metadata.clone(), model, self.marks);
        self.put_json(BundleFile::Metadata, content)
    }

    fn write_artifacts(&mut self) -> Result<(), ExportError> {
        let endings = Endings {
            artifacts: self.last_events.artifacts.as_ref(),
            completed: self.last_events.completed.as_ref(),
            ended: self.last_events.ended.as_ref(),
        };
        match bundle::artifacts(self.common, endings) {
            Some(content) => self.put_json(BundleFile::Artifacts, content),
            None => Ok(()),
        }
    }

    fn write_system_prompt(&mut self) -> Result<(), ExportError> {
        const FILE: BundleFile = BundleFile::SystemPrompt;
        let written = match self.last_events.system() {
            Some(EventText::Whole("")) | None => None,
            Some(EventText::Whole(system)) => {
                let mut text = RedactedText::with_capacity(system.len() + 1);
                text.push_cow(&self.redactor.text(system, self.report));
                if !system.ends_with('\n') {
                    text.push_constant(constant_text!("\n"));
                }
                Some(FileOutput::put(self.bundle, FILE, &text.finish())?)
            }
            Some(EventText::Cut(system)) => {
                self.texts.write(system, FILE, self.bundle, self.redactor, self.report)?
            }
        };
        self.files.extend(written);
        Ok(())
    }

    fn write_tools(&mut self) -> Result<(), ExportError> {
        match self.last_events.compiled.as_ref().and_then(particulars::tools) {
            Some(tools @ Json::Array(_)) => self.put_json(BundleFile::Tools, tools.clone()),
            _ => Ok(()),
        }
    }

    fn write_prompts(&mut self) -> Result<(), ExportError> {
        let parts = PromptsParts {
            common: self.common,
            prompting: self.last_events.prompting(),
            submitted: &mut self.prompts,
            texts: &mut self.texts,
        };
        let written = bundle::write_prompts(self.bundle, self.redactor, self.report, parts)?;
        self.files.extend(written);
        Ok(())
    }

    fn put_json(&mut self, file: BundleFile, content: Json<'_>) -> Result<(), ExportError> {
        let content = self.redactor.json_settled(content, &LINKS, self.report);
        let mut text = RedactedText::new();
        text.push_pretty(content.view(), 0).push_constant(constant_text!("\n"));
        self.files.push(FileOutput::put(self.bundle, file, &text.finish())?);
        Ok(())
    }
}
