//! Compares the files of a bundle with each other.

use std::collections::BTreeMap;

use traj_core::port::BundleFile;

use super::facts::StatedFacts;
use super::{CheckedFile, VerifyReport};

/// Checks that events and branch agree, without the manifest.
pub(super) fn check(
    said: &StatedFacts,
    found: &BTreeMap<BundleFile, CheckedFile>,
    report: &mut VerifyReport,
) {
    // The manifest check reports a missing manifest.
    for file in BundleFile::ALWAYS {
        if file != BundleFile::Manifest && !found.contains_key(&file) {
            report.add(file, None, "is missing");
        }
    }
    for line in &said.order.misplaced {
        report.add(BundleFile::Events, Some(*line), "is earlier than the event before it");
    }
    if let Some((line, leaf)) = &said.leaf {
        check_leaf(*line, leaf.as_deref(), said, report);
    }
    let has_branch = found.contains_key(&BundleFile::SessionBranch);
    if let Some(line) = said.stray_event().filter(|_| has_branch) {
        let problem = "refers to an entry that is not on the branch";
        report.add(BundleFile::Events, Some(line), problem);
    }
    let has_events = found.contains_key(&BundleFile::Events);
    if let Some(line) = said.silent_entry().filter(|_| has_events) {
        report.add(BundleFile::SessionBranch, Some(line), "has no event");
    }
}

/// The leaf must be the last entry, if that entry has an id. An empty leaf
/// means that there is no branch.
fn check_leaf(line: u64, leaf: Option<&str>, said: &StatedFacts, report: &mut VerifyReport) {
    let last = said.last_entry.as_ref();
    let id = last.and_then(|(_, id)| id.as_deref());
    if leaf != Some("") && leaf != id {
        let line = last.map_or(line, |(line, _)| *line);
        let problem = "ends with an entry that is not its leaf";
        report.add(BundleFile::SessionBranch, Some(line), problem);
    }
}
