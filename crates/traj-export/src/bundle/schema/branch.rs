//! `session-branch.json`

use schemars::JsonSchema;
use serde::Deserialize;

use super::any::{AnyObject, Nullable, nullable};

/// The active branch of the session.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(title = "Session branch")]
#[expect(dead_code, reason = "members are read to be checked")]
pub(crate) struct SessionBranch {
    /// The first header row, brought to version 3.
    #[serde(deserialize_with = "nullable")]
    #[schemars(with = "Nullable<AnyObject>")]
    header: Option<AnyObject>,
    /// The id of the last entry.
    #[serde(deserialize_with = "nullable")]
    #[schemars(with = "Nullable<String>")]
    leaf_id: Option<String>,
    /// The entries from the root to the leaf.
    entries: Vec<AnyObject>,
}
