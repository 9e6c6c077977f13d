//! Sessions of Continue and of old versions of Gemini CLI, which are one JSON
//! document: each of its parts becomes a row.

use super::super::{GatherError, RowWriter};
use super::lines::{LONGEST, read};
use crate::dialect::{header_row, item_row};
use crate::json::{Json, Object};
use crate::port::Source;
use crate::run::is_bomb;

/// Whether a file may be a document that is known.
pub(super) fn may_be(head: &[u8]) -> bool {
    let has = |word: &[u8]| memchr::memmem::find(head, word).is_some();
    head.starts_with(b"{")
        && has(b"\"sessionId\"")
        && (has(b"\"history\"") || (has(b"\"projectHash\"") && has(b"\"messages\"")))
}

/// Writes the rows of a document. Returns `false` if it is not one that is known.
pub(super) fn rows(source: &dyn Source, rows: &mut RowWriter<'_>) -> Result<bool, GatherError> {
    if source.len() > LONGEST as u64 {
        return Err(GatherError::TooLarge);
    }
    let bytes = read(source, 0, source.len())?;
    if is_bomb(&bytes) {
        return Err(GatherError::TooLarge);
    }
    let text = String::from_utf8_lossy(&bytes);
    let Ok(Json::Object(mut document)) = Json::parse(text.trim_start_matches('\u{feff}').trim())
    else {
        return Ok(false);
    };
    if let Some(Json::Array(history)) = document.remove("history") {
        rows.row(&Json::Object(header_row(document)))?;
        for (number, item) in (1_u64..).zip(history) {
            rows.row(&Json::Object(item_row(number, item)))?;
        }
        return Ok(true);
    }
    gemini(document, rows)
}

/// The session of an old version of Gemini CLI.
fn gemini(mut document: Object<'_>, rows: &mut RowWriter<'_>) -> Result<bool, GatherError> {
    if !document.contains("projectHash") {
        return Ok(false);
    }
    let Some(Json::Array(messages)) = document.remove("messages") else { return Ok(false) };
    rows.row(&Json::Object(document))?;
    for message in messages {
        rows.row(&message)?;
    }
    Ok(true)
}

#[cfg(test)]
#[cfg(feature = "memory")]
mod tests {
    use crate::gather::gathered;

    #[test]
    fn the_parts_of_a_document_become_rows() {
        let continued = "{\n \"sessionId\": \"s\",\n \"history\": [{\"message\":{\"role\":\"user\"}}, {}],\n \"title\": \"t\"\n}";
        assert_eq!(
            gathered("s.json", continued).unwrap(),
            "{\"type\":\"continue/session\",\"session\":{\"sessionId\":\"s\",\"title\":\"t\"}}\n\
             {\"type\":\"continue/item\",\"number\":1,\"item\":{\"message\":{\"role\":\"user\"}}}\n\
             {\"type\":\"continue/item\",\"number\":2,\"item\":{}}\n"
        );
        let old = r#"{"sessionId":"s","projectHash":"p","messages":[{"id":"a"}]}"#;
        assert_eq!(
            gathered("s.json", old).unwrap(),
            "{\"sessionId\":\"s\",\"projectHash\":\"p\"}\n{\"id\":\"a\"}\n"
        );
        for other in [r#"{"sessionId":"s","history":5}"#, r#"{"sessionId":"s","history":[}"#] {
            assert_eq!(gathered("s.json", other), None, "{other}");
        }
    }
}
