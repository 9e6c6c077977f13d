//! The files of a bundle, one builder each.

mod artifacts;
mod blob_copy;
mod blob_directory;
mod blob_lines;
mod common;
mod envelope;
pub(crate) mod last_events;
mod long_texts;
mod manifest;
mod metadata;
pub(crate) mod output;
mod pretty;
mod prompts;
mod restore;
pub(crate) mod schema;
mod skills;
mod timeline;

pub(crate) use artifacts::artifacts;
pub(crate) use blob_directory::BlobFolder;
pub(crate) use common::Common;
pub(crate) use long_texts::{EventText, LongTexts};
pub(crate) use manifest::{
    ManifestParts, SOURCE_FILES, SOURCE_ROLES, SourceFact, digest_without_seal, manifest,
};
pub(crate) use metadata::{ModelNames, is_metadata_member, metadata};
pub(crate) use prompts::{Prompting, PromptsParts, write_prompts};
pub(crate) use restore::Restorer;
pub(crate) use skills::{SkillMarks, SkillPaths};
pub(crate) use timeline::{
    EntryRows, EventsWritten, SourceNames, TimelineContext, TimelineInputs, TimelineOutcome,
    write_timeline,
};
