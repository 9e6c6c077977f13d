//! Converts rows of format versions 1 and 2 to version 3, in memory.

use crate::json::{Json, Object};

/// The format version that a session declares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SessionVersion(f64);

impl SessionVersion {
    /// The version in the header row; 1 without a header, or without a version in
    /// it.
    #[must_use]
    pub fn of_header(header: Option<&Json<'_>>) -> Self {
        // Read as the original does it: strings and booleans are converted to
        // numbers, and anything else is NaN, which is below no version.
        let number = match header.and_then(|header| header.get("version")) {
            None | Some(Json::Null) => 1.0,
            Some(Json::Bool(value)) => f64::from(u8::from(*value)),
            Some(Json::Number(number)) => number.as_f64().unwrap_or(f64::INFINITY),
            Some(Json::String(text)) if text.trim().is_empty() => 0.0,
            Some(Json::String(text)) => text.trim().parse().unwrap_or(f64::NAN),
            Some(_) => f64::NAN,
        };
        Self(number)
    }

    /// Whether entries are a plain list, without ids and parents.
    #[must_use]
    pub fn is_list(self) -> bool {
        self.0 < 2.0
    }

    /// Whether the version is known: 4 at most. Version 4 differs only in where its
    /// rows are kept.
    #[must_use]
    pub fn is_known(self) -> bool {
        self.0 <= 4.0
    }

    /// Whether some roles still have their old names.
    #[must_use]
    pub fn has_old_roles(self) -> bool {
        self.0 < 3.0
    }
}

/// What a row of a plain list gets from its neighbours.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct LegacyLinks {
    /// The id made up for an entry without one.
    pub id: Option<String>,
    /// The id of the previous entry; `None` for the first.
    pub parent: Option<String>,
    /// The id of the first entry that a compaction kept, if it exists.
    pub first_kept: Option<String>,
}

impl LegacyLinks {
    /// The id for the n-th entry without one.
    #[must_use]
    pub fn made_up_id(number: u64) -> String {
        format!("legacy-{number}")
    }
}

/// Converts one row to version 3. `links` matter only for a plain list.
pub fn migrate(row: &mut Object<'_>, version: SessionVersion, links: LegacyLinks) {
    let kind = row.get("type").and_then(Json::as_str).unwrap_or_default();
    if kind == "session" {
        if version.has_old_roles() {
            row.insert("version", 3_u8);
        }
        return;
    }
    let is_message = kind == "message";
    let is_compaction = kind == "compaction";
    if version.is_list() {
        if let Some(id) = links.id {
            row.insert("id", id);
        }
        row.insert("parentId", links.parent.map_or(Json::Null, Json::from));
        if is_compaction && matches!(row.get("firstKeptEntryIndex"), Some(Json::Number(_))) {
            if let Some(first_kept) = links.first_kept {
                row.insert("firstKeptEntryId", first_kept);
            }
            row.remove("firstKeptEntryIndex");
        }
    }
    if is_message && version.has_old_roles() {
        let role = row.get_mut("message").and_then(Json::as_object_mut);
        let role = role.and_then(|message| message.get_mut("role"));
        if let Some(role) = role.filter(|role| role.as_str() == Some("hookMessage")) {
            *role = Json::from("custom");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn migrated(row: &str, version: f64, links: LegacyLinks) -> String {
        let mut value = Json::parse(row).unwrap();
        migrate(value.as_object_mut().unwrap(), SessionVersion(version), links);
        value.to_line()
    }

    #[test]
    fn versions_are_read_leniently() {
        let list =
            |header: &str| SessionVersion::of_header(Some(&Json::parse(header).unwrap())).is_list();
        assert!(list("{}"));
        assert!(list(r#"{"version":null}"#));
        assert!(list(r#"{"version":"1"}"#));
        assert!(!list(r#"{"version":"abc"}"#));
        assert!(!list(r#"{"version":2}"#));
        assert!(SessionVersion::of_header(None).is_list());
    }

    #[test]
    fn later_versions_are_not_known() {
        let is_known = |header: &str| {
            SessionVersion::of_header(Some(&Json::parse(header).unwrap())).is_known()
        };
        assert!(is_known("{}") && is_known(r#"{"version":4}"#) && is_known(r#"{"version":"2"}"#));
        assert!(!is_known(r#"{"version":5}"#) && !is_known(r#"{"version":"next"}"#));
    }

    #[test]
    fn list_entries_get_ids_parents_and_the_kept_entry() {
        let links = LegacyLinks {
            id: Some(LegacyLinks::made_up_id(2)),
            parent: Some("explicit".to_owned()),
            first_kept: Some("legacy-1".to_owned()),
        };
        insta::assert_snapshot!(
            migrated(r#"{"type":"compaction","firstKeptEntryIndex":2,"tokensBefore":1}"#, 1.0, links),
            @r#"{"type":"compaction","tokensBefore":1,"id":"legacy-2","parentId":"explicit","firstKeptEntryId":"legacy-1"}"#
        );
    }

    #[test]
    fn old_roles_are_renamed_below_three() {
        let row = r#"{"type":"message","message":{"role":"hookMessage"}}"#;
        assert!(migrated(row, 2.0, LegacyLinks::default()).contains(r#""role":"custom""#));
        assert_eq!(migrated(row, 3.0, LegacyLinks::default()), row);
        let header = migrated(r#"{"type":"session","id":"s"}"#, 1.0, LegacyLinks::default());
        assert_eq!(header, r#"{"type":"session","id":"s","version":3}"#);
    }
}
