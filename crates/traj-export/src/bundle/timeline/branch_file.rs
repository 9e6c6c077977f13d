//! Writes `session-branch.json`.

use traj_core::constant_text;
use traj_core::json::{Json, Object};
use traj_core::port::{BundleFile, BundleSinkError, BundleWriter};
use traj_core::redaction::{RedactedText, RedactionReport, Redactor};

use super::entries::SessionHeader;
use super::work::BatchOutput;
use crate::bundle::output::{FileOutput, WrittenFile};
use crate::bundle::pretty::{PrettyArray, PrettyObject};
use crate::index::record_store::{RecordStore, Spool};
use crate::read_back::approved_parts::PartNote;
use crate::read_back::redaction_pass::LINKS;

/// The file, positioned at its entries.
pub(super) struct BranchFile {
    entries: PrettyArray,
}

impl BranchFile {
    /// Writes the members before the entries.
    pub(super) fn begin(
        bundle: &mut dyn BundleWriter,
        redactor: &Redactor,
        report: &mut RedactionReport,
        header: Option<&SessionHeader>,
        leaf_id: Option<&str>,
    ) -> Result<Self, BundleSinkError> {
        let mut file = PrettyObject::begin(FileOutput::create(bundle, BundleFile::SessionBranch)?)?;
        let text = header.map(SessionHeader::text);
        let mut members = Object::new();
        members.push("header", header.zip(text.as_ref()).map_or(Json::Null, SessionHeader::parse));
        members.push("leafId", leaf_id.map_or(Json::Null, Json::from));
        let members = redactor.json_settled(Json::Object(members), &LINKS, report);
        for name in constant_text!(["header", "leafId"]) {
            if let Some(value) = members.view().get(name.as_str()) {
                file.member(name, value)?;
            }
        }
        Ok(Self { entries: file.array(constant_text!("entries"))? })
    }

    /// Writes the entries of a batch, and the notes on them.
    pub(super) fn add(
        &mut self,
        done: &mut BatchOutput,
        notes: &mut RecordStore<PartNote>,
        spool: &dyn Spool,
    ) -> Result<(), BundleSinkError> {
        if done.entry_notes.is_empty() {
            return Ok(());
        }
        let text = std::mem::take(&mut done.entries).finish();
        self.entries.items(&text)?;
        done.entries = RedactedText::in_buffer(text.into_inner());
        done.entry_notes.drain(..).try_for_each(|note| notes.push(note, spool))
    }

    pub(super) fn finish(self) -> Result<WrittenFile, BundleSinkError> {
        self.entries.end()?.end()?.finish()
    }
}
