//! What a bundle's manifest states about the run: which program wrote the
//! session, and which entries are not among the events.

use std::borrow::Cow;

use super::super::{said, text};
use crate::json::Json;
use crate::run::{Branches, Fact, Origin, Place, RunEvent, SessionStart, UnknownRows};

/// Emits what a bundle's manifest states about its run. Call this before decoding
/// the events, which may state the same facts again.
///
/// Bundles of version 0.1.0 lack some of these members.
pub fn decode_manifest<'r>(manifest: &'r Json<'r>, emit: &mut dyn FnMut(RunEvent<'r>)) {
    let mut emit_one = |fact| {
        emit(RunEvent::new(Origin::Transcript, Place::line(0), manifest, fact));
    };
    emit_one(Fact::SessionStarted(SessionStart {
        session: said(manifest, "sessionId"),
        agent: said(manifest, "agent").map(Cow::Borrowed),
        workspace: said(manifest, "workspaceDir"),
        ..SessionStart::default()
    }));
    if let Some(branches) = manifest.get("otherBranches") {
        let entries = branches.get("entries").and_then(Json::as_u64).unwrap_or_default();
        emit_one(Fact::Branches(Branches { count: count(branches), entries }));
    }
    if let Some(unknown) = manifest.get("unknownEntries") {
        let mut beyond = count(unknown);
        for of_type in unknown.get("types").and_then(Json::as_array).unwrap_or_default() {
            let (name, count) = (text(of_type, "type"), count(of_type));
            beyond = beyond.saturating_sub(count);
            emit_one(Fact::UnknownRows(UnknownRows { name, count }));
        }
        if beyond > 0 {
            emit_one(Fact::UnknownRows(UnknownRows { name: None, count: beyond }));
        }
    }
}

fn count(counted: &Json<'_>) -> u64 {
    counted.get("count").and_then(Json::as_u64).unwrap_or_default()
}
