//! The documents that the verbs print with `--json`.

use super::super::{
    codex, config, convert, doctor, export, import, inspect, lake, prune, query, record, redact,
    repair, rules, scan, sessions, ship, show, tail, trim, verify, view,
};
use crate::json_document::JsonDocument;

/// The documents of all verbs. `completions` and `man` print no document.
pub(super) fn documents() -> Vec<JsonDocument> {
    let mut documents = vec![
        convert::DOCUMENT,
        doctor::DOCUMENT,
        export::DOCUMENT,
        import::DOCUMENT,
        inspect::DOCUMENT,
        prune::DOCUMENT,
        query::DOCUMENT,
        record::DOCUMENT,
        redact::DOCUMENT,
        repair::DOCUMENT,
        scan::DOCUMENT,
        super::DOCUMENT,
        sessions::DOCUMENT,
        ship::DOCUMENT,
        show::DOCUMENT,
        tail::DOCUMENT,
        trim::DOCUMENT,
        verify::DOCUMENT,
        view::DOCUMENT,
    ];
    documents.extend(codex::DOCUMENTS);
    documents.extend(config::DOCUMENTS);
    documents.extend(lake::DOCUMENTS);
    documents.extend(rules::DOCUMENTS);
    documents.sort_by_key(|document| document.verb);
    documents
}
