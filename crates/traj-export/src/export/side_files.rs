//! The small files beside the events, each written if there is something for it.

use std::collections::BTreeSet;

use traj_core::capture::BlobDigest;
use traj_core::dialect::{Endings, particulars};
use traj_core::json::Json;
use traj_core::port::{BundleFile, BundleWriter, Source};
use traj_core::redaction::RedactedText;

use super::Export;
use crate::bundle::last_events::LastEvents;
use crate::bundle::output::FileOutput;
use crate::bundle::{
    self, CommonMembers, EventText, LongTexts, PromptsParts, RecordedBlobs, SkillMarks,
};
use crate::error::ExportError;
use crate::json_stream::long_rows::Giant;
use crate::read_back::redaction_pass::LINKS;

impl Export<'_> {
    /// Copies the texts that events refer to and those that were too long for
    /// theirs; says which came along.
    pub(super) fn copy_blobs<'s>(
        &mut self,
        bundle: &mut dyn BundleWriter,
        blobs: &RecordedBlobs<'_>,
        referenced: BTreeSet<BlobDigest>,
        giants: impl Iterator<Item = (&'s dyn Source, Vec<Giant>)>,
    ) -> Result<BTreeSet<BundleFile>, ExportError> {
        let (redactor, report) = (&self.request.redactor, &mut self.report);
        let copied =
            blobs.copy(referenced, giants, bundle, redactor, report, &mut self.warnings)?;
        self.files.extend(&copied);
        Ok(copied.iter().map(|written| written.file).collect())
    }

    /// Writes what is made from a few events: all but the prompts.
    pub(super) fn write_side_files(
        &mut self,
        bundle: &mut dyn BundleWriter,
        common: &CommonMembers,
        side: &LastEvents<'_>,
        marks: &SkillMarks,
        texts: &mut LongTexts<'_>,
    ) -> Result<(), ExportError> {
        self.write_metadata(bundle, common, side, marks)?;
        self.write_artifacts(bundle, common, side)?;
        self.write_context(bundle, side, texts)
    }

    pub(super) fn write_prompts(
        &mut self,
        bundle: &mut dyn BundleWriter,
        parts: PromptsParts<'_>,
    ) -> Result<(), ExportError> {
        let written =
            bundle::write_prompts(bundle, &self.request.redactor, &mut self.report, parts)?;
        self.files.extend(written);
        Ok(())
    }

    fn write_metadata(
        &mut self,
        bundle: &mut dyn BundleWriter,
        common: &CommonMembers,
        side: &LastEvents<'_>,
        marks: &SkillMarks,
    ) -> Result<(), ExportError> {
        let Some(data) = &side.metadata else { return Ok(()) };
        let content = bundle::metadata(common, data.clone(), &side.model, marks);
        self.put_json(bundle, BundleFile::Metadata, content)
    }

    fn write_artifacts(
        &mut self,
        bundle: &mut dyn BundleWriter,
        common: &CommonMembers,
        side: &LastEvents<'_>,
    ) -> Result<(), ExportError> {
        let endings = Endings {
            artifacts: side.artifacts.as_ref(),
            completed: side.completed.as_ref(),
            ended: side.ended.as_ref(),
        };
        match bundle::artifacts(common, endings) {
            Some(content) => self.put_json(bundle, BundleFile::Artifacts, content),
            None => Ok(()),
        }
    }

    fn write_context(
        &mut self,
        bundle: &mut dyn BundleWriter,
        side: &LastEvents<'_>,
        texts: &mut LongTexts<'_>,
    ) -> Result<(), ExportError> {
        const FILE: BundleFile = BundleFile::SystemPrompt;
        let (redactor, report) = (&self.request.redactor, &mut self.report);
        match side.system() {
            Some(EventText::Whole("")) | None => {}
            Some(EventText::Whole(system)) => {
                let mut text = RedactedText::with_capacity(system.len() + 1);
                text.push_cow(&redactor.text(system, report));
                if !system.ends_with('\n') {
                    text.push_static("\n");
                }
                self.files.push(FileOutput::put(bundle, FILE, &text.finish())?);
            }
            Some(EventText::Cut(system)) => {
                self.files.extend(texts.write(system, FILE, bundle, redactor, report)?);
            }
        }
        match side.compiled.as_ref().and_then(particulars::tools) {
            Some(tools @ Json::Array(_)) => self.put_json(bundle, BundleFile::Tools, tools.clone()),
            _ => Ok(()),
        }
    }

    fn put_json(
        &mut self,
        bundle: &mut dyn BundleWriter,
        file: BundleFile,
        content: Json<'_>,
    ) -> Result<(), ExportError> {
        let content = self.request.redactor.json_settled(content, &LINKS, &mut self.report);
        let mut text = RedactedText::new();
        text.push_pretty(content.view(), 0).push_static("\n");
        self.files.push(FileOutput::put(bundle, file, &text.finish())?);
        Ok(())
    }
}
