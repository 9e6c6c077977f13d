//! Writes gathered rows to a scratch file.

use super::GatherError;
use crate::json::{Json, Object};
use crate::port::{Cell, Scratch};

/// How much is held before it is written.
const HELD: usize = 256 * 1024;

/// Writes rows, one per line, up to a limit.
#[derive(Debug)]
pub struct RowWriter<'s> {
    scratch: &'s mut dyn Scratch,
    held: Vec<u8>,
    /// The bytes that may still be written.
    room: u64,
    length: u64,
}

impl<'s> RowWriter<'s> {
    /// Writes up to `most` bytes to an empty file.
    #[must_use]
    pub fn new(scratch: &'s mut dyn Scratch, most: u64) -> Self {
        Self { scratch, held: Vec::new(), room: most, length: 0 }
    }

    /// Writes bytes as they are.
    ///
    /// # Errors
    /// When they cannot be kept, or are too many.
    pub fn bytes(&mut self, bytes: &[u8]) -> Result<(), GatherError> {
        let count = bytes.len() as u64;
        self.room = self.room.checked_sub(count).ok_or(GatherError::TooLarge)?;
        self.length += count;
        self.held.extend_from_slice(bytes);
        if self.held.len() >= HELD {
            self.scratch.append(&self.held)?;
            self.held.clear();
        }
        Ok(())
    }

    /// Writes a row.
    ///
    /// # Errors
    /// As [`Self::bytes`].
    pub fn row(&mut self, row: &Json<'_>) -> Result<(), GatherError> {
        let mut line = String::new();
        row.write_compact(&mut line);
        line.push('\n');
        self.bytes(line.as_bytes())
    }

    /// Writes a row that is JSON already. One that spans several lines is joined;
    /// one that is not JSON stays as it is, and its readers count it.
    ///
    /// # Errors
    /// As [`Self::bytes`].
    pub fn text(&mut self, row: &str) -> Result<(), GatherError> {
        if row.contains(['\n', '\r']) {
            self.bytes(one_line(row).as_bytes())?;
        } else {
            self.bytes(row.as_bytes())?;
        }
        self.bytes(b"\n")
    }

    /// Writes the rest. Returns the length of the file.
    ///
    /// # Errors
    /// As [`Self::bytes`].
    pub fn finish(self) -> Result<u64, GatherError> {
        if !self.held.is_empty() {
            self.scratch.append(&self.held)?;
        }
        Ok(self.length)
    }
}

/// A row of a table as one line: the table's name, members of our own, and the
/// columns. Columns in `parsed` hold JSON texts.
pub(super) struct TableRow<'r> {
    pub(super) table: &'r str,
    pub(super) columns: &'r [&'r str],
    pub(super) cells: &'r [Cell],
    pub(super) parsed: &'r [&'r str],
}

impl TableRow<'_> {
    /// The line, without its end. `own` are members of our own.
    pub(super) fn to_line(&self, own: &Object<'_>) -> String {
        let mut line = String::from("{\"table\":");
        Json::from(self.table).write_compact(&mut line);
        for (name, value) in own.iter() {
            push_name(name, &mut line);
            value.write_compact(&mut line);
        }
        for (name, cell) in self.columns.iter().zip(self.cells) {
            if *cell == Cell::Null {
                continue;
            }
            push_name(name, &mut line);
            push_cell(cell, self.parsed.contains(name), &mut line);
        }
        line.push('}');
        line
    }
}

fn push_name(name: &str, line: &mut String) {
    line.push(',');
    Json::from(name).write_compact(line);
    line.push(':');
}

fn push_cell(cell: &Cell, is_json: bool, line: &mut String) {
    match cell {
        Cell::Null => line.push_str("null"),
        Cell::Integer(number) => Json::from(*number).write_compact(line),
        Cell::Real(number) => match crate::json::Number::from_f64(*number) {
            Some(number) => Json::from(number).write_compact(line),
            None => line.push_str("null"),
        },
        // Only its shape is checked here: the parsed value may be far larger.
        Cell::Text(text) if is_json && Json::parse_shallow(text, 1).is_ok() => {
            line.push_str(&one_line(text));
        }
        Cell::Text(text) => Json::from(text.as_str()).write_compact(line),
        Cell::Blob(bytes) => {
            let text = String::from_utf8_lossy(bytes);
            if is_json && Json::parse_shallow(&text, 1).is_ok() {
                line.push_str(&one_line(&text));
            } else {
                too_long(bytes.len() as u64, line);
            }
        }
        Cell::TooLong(bytes) => too_long(*bytes, line),
    }
}

/// Stands for a value that is not shown.
fn too_long(bytes: u64, line: &mut String) {
    let lost = Object::from_iter([("lostBytes", Json::from(bytes))]);
    Json::from(lost).write_compact(line);
}

/// The same JSON without line ends.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    let (mut in_text, mut is_escaped) = (false, false);
    for letter in text.chars() {
        match letter {
            '\n' if in_text => line.push_str("\\n"),
            '\r' if in_text => line.push_str("\\r"),
            '\n' | '\r' => {}
            _ => line.push(letter),
        }
        if is_escaped {
            is_escaped = false;
        } else if letter == '"' {
            in_text = !in_text;
        } else {
            is_escaped = in_text && letter == '\\';
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_over_several_lines_becomes_one_row() {
        let text = "{\n  \"a\": \"b\\\"\n{\",\r\n \"c\": []\n}";
        assert_eq!(one_line(text), r#"{  "a": "b\"\n{", "c": []}"#);
    }

    #[test]
    fn a_row_of_a_table_is_an_object_with_its_columns() {
        let cells = [
            Cell::Integer(7),
            Cell::Null,
            Cell::Text("{\"a\":\n[1]}".to_owned()),
            Cell::Text("{torn".to_owned()),
            Cell::TooLong(9),
            Cell::Real(0.5),
        ];
        let columns = ["id", "none", "data", "other", "long", "cost"];
        let row =
            TableRow { table: "t", columns: &columns, cells: &cells, parsed: &["data", "other"] };
        let own = Object::from_iter([("role", "user")]);
        assert_eq!(
            row.to_line(&own),
            r#"{"table":"t","role":"user","id":7,"data":{"a":[1]},"other":"{torn","long":{"lostBytes":9},"cost":0.5}"#
        );
    }
}
