//! The small files beside the events, each written if there is something for it.

use traj_core::json::Json;
use traj_core::port::{BundleFile, BundleWriter};
use traj_core::redaction::RedactedText;

use super::Export;
use crate::bundle::{self, Common, SkillMarks};
use crate::error::ExportError;
use crate::output::Output;
use crate::screen::LINKS;
use crate::side::SideData;

impl Export<'_> {
    pub(super) fn write_metadata(
        &mut self,
        bundle: &mut dyn BundleWriter,
        common: &Common,
        side: &SideData<'_>,
        marks: &SkillMarks,
    ) -> Result<(), ExportError> {
        let Some(data) = &side.metadata else { return Ok(()) };
        let content = bundle::metadata(common, data.clone(), &side.model, marks);
        self.put_json(bundle, BundleFile::Metadata, content)
    }

    pub(super) fn write_artifacts(
        &mut self,
        bundle: &mut dyn BundleWriter,
        common: &Common,
        side: &SideData<'_>,
    ) -> Result<(), ExportError> {
        let (artifacts, completed) = (side.artifacts.as_ref(), side.completed.as_ref());
        match bundle::artifacts(common, artifacts, completed, side.ended.as_ref()) {
            Some(content) => self.put_json(bundle, BundleFile::Artifacts, content),
            None => Ok(()),
        }
    }

    pub(super) fn write_context(
        &mut self,
        bundle: &mut dyn BundleWriter,
        side: &SideData<'_>,
    ) -> Result<(), ExportError> {
        if let Some(system) = side.system().filter(|system| !system.is_empty()) {
            let mut text = RedactedText::with_capacity(system.len() + 1);
            text.push_cow(&self.request.redactor.text(system, &mut self.report));
            if !system.ends_with('\n') {
                text.push_static("\n");
            }
            self.files.push(Output::put(bundle, BundleFile::SystemPrompt, &text.finish())?);
        }
        match side.compiled.as_ref().and_then(|data| data.get("tools")) {
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
        self.files.push(Output::put(bundle, file, &text.finish())?);
        Ok(())
    }
}
