//! The files of a bundle, one builder each.

mod artifacts;
mod blob_copy;
mod blob_lines;
mod blobs;
mod branch;
mod common;
mod envelope;
mod events;
mod manifest;
mod metadata;
mod pretty;
mod prompts;
mod skills;

pub(crate) use artifacts::{artifacts, is_result_member};
pub(crate) use blobs::BlobFolder;
pub(crate) use branch::{BranchContext, BranchOutcome, write_branch};
pub(crate) use common::Common;
pub(crate) use events::{EventContext, EventOutcome, write_events};
pub(crate) use manifest::{ManifestParts, SourceFact, digest_without_seal, manifest};
pub(crate) use metadata::{ModelNames, is_metadata_member, metadata};
pub(crate) use prompts::{Prompting, write_prompts};
pub(crate) use skills::{SkillMarks, SkillPaths};
