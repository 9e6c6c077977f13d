//! Titles that rows give their sessions.

use crate::json::Json;

/// The title that a row gives its session.
pub(crate) fn given_title<'r>(row: &'r Json<'r>) -> Option<&'r str> {
    const ROWS: [(&str, &str); 5] = [
        ("ai-title", "aiTitle"),
        ("custom-title", "customTitle"),
        ("summary", "summary"),
        ("session_info", "name"),
        ("session.title_changed", "title"),
    ];
    let kind = row.get("type").and_then(Json::as_str);
    let stated = kind.and_then(|kind| {
        let (_, member) = ROWS.iter().find(|(name, _)| *name == kind)?;
        row.get(member).or_else(|| row.get("data")?.get(member))?.as_str()
    });
    // A row of a table of sessions.
    let of_table = || {
        let is_session = ["session", "sessions"].contains(&row.get("table")?.as_str()?)
            // That of a sub-agent has a title of its own.
            && row.get("thread").is_none();
        let row = row.get("data").filter(|data| data.get("title").is_some()).unwrap_or(row);
        let names = ["title", "name", "description"];
        is_session.then(|| names.iter().find_map(|name| row.get(name)?.as_str()))?
    };
    stated.or_else(of_table).filter(|title| !title.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_tables_may_have_titles() {
        let row = |text: &str| {
            let row = Json::parse(text).unwrap();
            given_title(&row).map(str::to_owned)
        };
        assert_eq!(row(r#"{"table":"session","id":"s","title":"A"}"#).as_deref(), Some("A"));
        assert_eq!(row(r#"{"table":"sessions","data":{"title":"B"}}"#).as_deref(), Some("B"));
        assert_eq!(row(r#"{"table":"session","thread":"t","title":"its helper"}"#), None);
        assert_eq!(row(r#"{"table":"messages","title":"C"}"#), None);
        assert_eq!(row(r#"{"type":"ai-title","aiTitle":" "}"#), None);
    }
}
