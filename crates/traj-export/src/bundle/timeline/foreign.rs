//! Turns rows of other programs into entries and events.

use traj_core::dialect::{Dialect, encode_event};
use traj_core::json::{Json, Object};
use traj_core::run::Place;

use super::entries::BranchEntry;

/// Wraps a row as a branch entry.
pub(super) fn wrapped<'r>(dialect: Dialect, entry: &BranchEntry, row: Json<'r>) -> Json<'r> {
    let text = |name: &str| row.get(name).and_then(Json::as_str);
    let custom_type = format!("{}/{}", dialect.as_str(), text("type").unwrap_or("unknown"));
    let timestamp = row.get("timestamp").cloned().unwrap_or_default();
    let mut object = Object::with_capacity(6);
    object.push("type", "custom");
    object.push("customType", custom_type);
    object.push("id", entry.links.id.clone().map_or(Json::Null, Json::from));
    object.push("parentId", entry.links.parent.clone().map_or(Json::Null, Json::from));
    object.push("timestamp", timestamp);
    object.push("data", row);
    Json::Object(object)
}

/// Passes each fact that a row states to `show`, as the `type` and `data` of an
/// event.
pub(super) fn each_event(dialect: Dialect, row: &Json<'_>, mut show: impl FnMut(Json<'_>)) {
    dialect.decode(row, Place::line(0), &mut |event| {
        let (kind, data) = encode_event(&event);
        let mut object = Object::with_capacity(2);
        object.push("type", kind);
        object.push("data", Json::Object(data));
        show(Json::Object(object));
    });
}
