//! Sessions that opencode stored before it had a database: a file per session,
//! message and part, in the directory `storage`.
//!
//! - `session/PROJECT/SESSION.json`;
//! - `message/SESSION/MESSAGE.json`;
//! - `part/MESSAGE/PART.json`.
//!
//! The tree is shown as the tables that replaced it, so that its rows are theirs.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::ControlFlow;

use super::super::database::opencode::{rows_of_session, sessions};
use super::super::{GatherError, RowWriter};
use super::GatheredFile;
use super::lines::{LONGEST, read};
use crate::json::Json;
use crate::port::{Cell, Scan, SourceError, Tables, TablesError, VisitRow};
use crate::run::is_bomb;

const SESSION: &str = "session";
const MESSAGE: &str = "message";
const PART: &str = "part";

/// The ending of every file.
const ENDING: &str = ".json";

/// The directory `storage` that the session at this path is in.
#[must_use]
pub fn storage_folder(session: &str) -> Option<&str> {
    let (folder, name) = session.rsplit_once('/')?;
    name.strip_suffix(ENDING).filter(|stem| is_plain(stem))?;
    let (sessions, _project) = folder.rsplit_once('/')?;
    let storage = sessions.strip_suffix("/session")?;
    (storage == "storage" || storage.ends_with("/storage")).then_some(storage)
}

/// Writes the rows of a session and of its sub-agents. Returns `false` if the file
/// is not a session.
pub(super) fn rows(
    storage: &str,
    file: &GatheredFile<'_>,
    rows: &mut RowWriter<'_>,
) -> Result<bool, GatherError> {
    let Some((folder, name)) = file.name.rsplit_once('/') else { return Ok(false) };
    let stem = name.strip_suffix(ENDING).unwrap_or(name);
    let tree = StorageTree { file, storage, project: folder, owners: RefCell::default() };
    let all = sessions(&tree)?;
    let Some(session) = all.iter().find(|session| session.id == stem) else { return Ok(false) };
    rows_of_session(None, &tree, &all, session, rows)?;
    Ok(true)
}

/// Whether a name can be that of a session, a message or a part.
fn is_plain(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    !name.is_empty() && name.len() <= 100 && name.bytes().all(is_plain)
}

/// The tree, as tables.
#[derive(Debug)]
struct StorageTree<'f> {
    file: &'f GatheredFile<'f>,
    storage: &'f str,
    /// The directory with the sessions of the project.
    project: &'f str,
    /// The session of each message, and the message of each part, that a scan showed.
    owners: RefCell<HashMap<String, String>>,
}

impl StorageTree<'_> {
    /// The stems of the files in a directory, sorted.
    fn names(&self, folder: &str) -> Result<Vec<String>, TablesError> {
        let names = match self.file.sources.list(folder) {
            Ok(names) => names,
            // The caller may read one file only, or something else is there.
            Err(SourceError::Outside { .. } | SourceError::NotRegular { .. }) => Vec::new(),
            Err(error) => return Err(TablesError::Storage(Box::new(error))),
        };
        let stems = names.iter().filter_map(|name| name.strip_suffix(ENDING));
        let mut stems: Vec<String> =
            stems.filter(|stem| is_plain(stem)).map(str::to_owned).collect();
        stems.sort_unstable();
        Ok(stems)
    }

    /// Shows the row of a file. One that is gone, a link or damaged has none.
    fn show(
        &self,
        scan: &Scan<'_>,
        (folder, id): (&str, &str),
        visit: &mut VisitRow<'_>,
    ) -> Result<ControlFlow<()>, TablesError> {
        let gone = Ok(ControlFlow::Continue(()));
        let source = match self.file.sources.open(&format!("{folder}/{id}{ENDING}")) {
            Ok(source) => source,
            Err(
                SourceError::NotFound { .. }
                | SourceError::NotRegular { .. }
                | SourceError::Outside { .. },
            ) => return gone,
            Err(error) => return Err(TablesError::Storage(Box::new(error))),
        };
        let owner = folder.rsplit('/').next().unwrap_or_default();
        let length = source.len();
        let bytes = if length > LONGEST as u64 { Vec::new() } else { whole(&*source)? };
        if length > LONGEST as u64 || is_bomb(&bytes) {
            let row = Row { id, owner, document: &Json::Null, too_long: Some(length) };
            return Ok(visit(&row.cells(scan)));
        }
        let Ok(document) = Json::parse_lossy(&bytes) else { return gone };
        if document.as_object().is_none() {
            return gone;
        }
        Ok(visit(&Row { id, owner, document: &document, too_long: None }.cells(scan)))
    }

    /// Shows the rows of all files in a directory.
    fn show_all(
        &self,
        scan: &Scan<'_>,
        folder: &str,
        visit: &mut VisitRow<'_>,
    ) -> Result<ControlFlow<()>, TablesError> {
        let owner = folder.rsplit('/').next().unwrap_or_default();
        for id in self.names(folder)? {
            if scan.table != SESSION {
                self.owners.borrow_mut().insert(id.clone(), owner.to_owned());
            }
            if self.show(scan, (folder, &id), visit)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// The directory with the file of a row.
    fn folder_of(&self, table: &str, id: &str) -> Option<String> {
        match table {
            SESSION => Some(self.project.to_owned()),
            _ => Some(format!("{}/{table}/{}", self.storage, self.owners.borrow().get(id)?)),
        }
    }
}

fn whole(source: &dyn crate::port::Source) -> Result<Vec<u8>, TablesError> {
    read(source, 0, source.len()).map_err(|error| TablesError::Storage(Box::new(error)))
}

impl Tables for StorageTree<'_> {
    fn has_table(&self, table: &str) -> Result<bool, TablesError> {
        Ok([SESSION, MESSAGE, PART].contains(&table))
    }

    fn has_column(&self, table: &str, _column: &str) -> Result<bool, TablesError> {
        self.has_table(table)
    }

    fn scan(&self, scan: &Scan<'_>, visit: &mut VisitRow<'_>) -> Result<(), TablesError> {
        let wanted =
            scan.equal.first().and_then(|(column, value)| Some((*column, value.as_str()?)));
        match (scan.table, wanted) {
            (_, Some(("id", id))) => {
                if let Some(folder) = self.folder_of(scan.table, id).filter(|_| is_plain(id)) {
                    let _ = self.show(scan, (&folder, id), visit)?;
                }
            }
            (SESSION, _) => {
                let _ = self.show_all(scan, self.project, visit)?;
            }
            (_, Some((_, session))) if is_plain(session) => {
                let messages = format!("{}/{MESSAGE}/{session}", self.storage);
                if scan.table == MESSAGE {
                    let _ = self.show_all(scan, &messages, visit)?;
                    return Ok(());
                }
                for message in self.names(&messages)? {
                    let parts = format!("{}/{PART}/{message}", self.storage);
                    if self.show_all(scan, &parts, visit)?.is_break() {
                        break;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// A file, as a row.
struct Row<'r> {
    id: &'r str,
    /// The name of its directory: a project, a session or a message.
    owner: &'r str,
    document: &'r Json<'r>,
    /// The bytes of a file that is too long to read.
    too_long: Option<u64>,
}

impl Row<'_> {
    fn cells(&self, scan: &Scan<'_>) -> Vec<Cell> {
        scan.columns.iter().map(|column| self.cell(column)).collect()
    }

    fn cell(&self, column: &str) -> Cell {
        let time = |name: &str| cell_of(self.document.get("time").and_then(|time| time.get(name)));
        match column {
            "id" => Cell::Text(self.id.to_owned()),
            "message_id" => Cell::Text(self.owner.to_owned()),
            "data" => match self.too_long {
                Some(bytes) => Cell::TooLong(bytes),
                None => Cell::Text(self.document.to_line()),
            },
            "time_created" => match time("created") {
                // A part states when it began, if anything.
                Cell::Null => time("start"),
                created => created,
            },
            "time_updated" => time("updated"),
            "time_archived" => time("archived"),
            other => cell_of(self.document.get(camel(other))),
        }
    }
}

/// The member of a document that became a column.
fn camel(column: &str) -> &str {
    match column {
        "project_id" => "projectID",
        "parent_id" => "parentID",
        "session_id" => "sessionID",
        other => other,
    }
}

fn cell_of(value: Option<&Json<'_>>) -> Cell {
    match value {
        None | Some(Json::Null) => Cell::Null,
        Some(Json::String(text)) => Cell::Text(text.clone().into_owned()),
        Some(value) => value.as_i64().map_or_else(|| Cell::Text(value.to_line()), Cell::Integer),
    }
}
