//! `session-branch.json`

use schemars::JsonSchema;
use serde::Deserialize;

use super::any::AnyObject;

/// The active branch of the session.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(title = "Session branch")]
#[expect(dead_code, reason = "members are read to be checked")]
pub(crate) struct SessionBranch {
    /// The first header row, brought to version 3.
    header: Option<AnyObject>,
    /// The id of the last entry.
    leaf_id: Option<String>,
    /// The entries from the root to the leaf.
    entries: Vec<AnyObject>,
}
