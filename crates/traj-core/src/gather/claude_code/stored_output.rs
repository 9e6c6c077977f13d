//! Long output of tools, which newer versions keep in separate files.
//!
//! The row of such a result has the beginning of the output, and the name of the
//! file. The whole output is added to the row.

use std::collections::HashSet;

use crate::dialect::{STORED_OUTPUT, stored_in};
use crate::gather::{GatherError, GatheredFile};
use crate::json::{Json, Object};
use crate::limits::Reading;
use crate::port::Sources;
use crate::run::Content;

/// Longer output is not added; the row has its beginning.
const LONGEST: usize = Reading::standard().stored_output_bytes;

/// The files with output of one session.
#[derive(Debug)]
pub(super) struct StoredOutput<'f> {
    sources: &'f dyn Sources,
    folder: String,
    names: HashSet<String>,
}

impl<'f> StoredOutput<'f> {
    /// The files in the session's own directory, whatever path a row states.
    pub(super) fn of(file: &GatheredFile<'f>) -> Result<Self, GatherError> {
        let stem = file.name.strip_suffix(".jsonl").unwrap_or(file.name);
        let folder = format!("{stem}/tool-results");
        let names = file.sources.list(&folder)?.into_iter().collect();
        Ok(Self { sources: file.sources, folder, names })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// A member for a row that has the beginning of an output, with the whole of
    /// it.
    pub(super) fn member(&self, row: &[u8]) -> Option<String> {
        if self.is_empty() || memchr::memmem::find(row, b"tool-results").is_none() {
            return None;
        }
        let text = String::from_utf8_lossy(row);
        let row = Json::parse(&text).ok()?;
        let blocks = row.get("message")?.get("content")?.as_array()?;
        let (mut outputs, mut room) = (Object::with_capacity(1), LONGEST);
        for block in blocks {
            let content = Content::of(block.get("content"));
            let name = content.first_text().and_then(stored_in);
            let id = block.get("tool_use_id").and_then(Json::as_str);
            if let Some((id, name)) = id.zip(name)
                && let Some(output) = self.read(name, room)
            {
                room -= output.len();
                outputs.push(id, String::from_utf8_lossy(&output).into_owned());
            }
        }
        (!outputs.is_empty())
            .then(|| format!("\"{STORED_OUTPUT}\":{},", Json::Object(outputs).to_line()))
    }

    /// The content of a file, if it is not too long. Nothing is cut here, because
    /// it is not redacted yet.
    fn read(&self, name: &str, room: usize) -> Option<Vec<u8>> {
        let is_known = self.names.contains(name);
        let source = self.sources.open(&format!("{}/{name}", self.folder)).ok();
        let source = source.filter(|_| is_known)?;
        let length = usize::try_from(source.len()).ok().filter(|length| *length <= room)?;
        let mut bytes = vec![0; length];
        source.read_exact_at(0, &mut bytes).ok()?;
        Some(bytes)
    }
}
