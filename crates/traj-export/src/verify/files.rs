//! Holding the files of a bundle against each other.

use super::VerifyReport;
use super::facts::Said;

const EVENTS: &str = "events.jsonl";
const BRANCH: &str = "session-branch.json";

/// Checks what events and branch say of each other, without the manifest.
pub(super) fn check(said: &Said, has_branch: bool, report: &mut VerifyReport) {
    for line in &said.order.misplaced {
        report.add(EVENTS, Some(*line), "is earlier than the event before it");
    }
    if let Some((line, leaf)) = &said.leaf {
        check_leaf(*line, leaf.as_deref(), said, report);
    }
    if let Some(line) = said.stray_event().filter(|_| has_branch) {
        report.add(EVENTS, Some(line), "stands for an entry that is not on the branch");
    }
}

/// The leaf is the last entry, as far as that one has an id. An empty one says
/// that the branch was left.
fn check_leaf(line: u64, leaf: Option<&str>, said: &Said, report: &mut VerifyReport) {
    let last = said.last_entry.as_ref();
    let id = last.and_then(|(_, id)| id.as_deref());
    if leaf != Some("") && leaf != id {
        let line = last.map_or(line, |(line, _)| *line);
        report.add(BRANCH, Some(line), "ends with an entry that is not its leaf");
    }
}
