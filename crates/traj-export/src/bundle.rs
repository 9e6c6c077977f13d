//! The files of a bundle, one builder each.
//!
//! - `timeline`: `session-branch.json` and `events.jsonl`;
//! - `blobs`: strings that are too long for their event;
//! - `last_events`: the few events that the smaller files are made from;
//! - `metadata`, `artifacts`, `prompts`: those smaller files;
//! - `skills`: the skills that a run used, for `metadata.json`;
//! - `manifest`: `manifest.json`, which lists all other files;
//! - `common`, `pretty`, `output`: shared members, JSON written as a stream,
//!   files digested while they are written;
//! - `schema`: the files as types, with their JSON Schemas.

mod artifacts;
mod blobs;
mod common;
pub(crate) mod last_events;
mod manifest;
mod metadata;
pub(crate) mod output;
mod pretty;
mod prompts;
pub(crate) mod schema;
mod skills;
mod timeline;

pub(crate) use artifacts::artifacts;
pub(crate) use blobs::{EventText, LongTexts, RecordedBlobs, Restorer, marker_of};
pub(crate) use common::CommonMembers;
pub(crate) use manifest::{
    ManifestParts, SOURCE_FILES, SOURCE_ROLES, SourceFact, digest_without_seal, manifest,
};
pub(crate) use metadata::{ModelNames, is_metadata_member, metadata};
pub(crate) use prompts::{Prompting, PromptsParts, SubmittedPrompts, write_prompts};
pub(crate) use skills::{SkillMarks, SkillPaths};
pub(crate) use timeline::{
    EntryRows, SideInputs, SourceNames, TimelineContext, TimelineInputs, TimelineOutcome,
    write_timeline,
};
