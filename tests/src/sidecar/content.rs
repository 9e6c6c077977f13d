//! A sidecar's content, parsed and checked.

use traj_core::event::RuntimeRow;
use traj_core::json::Json;

/// One complete event of a sidecar.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Row {
    /// The event's kind.
    pub kind: String,
    /// The number in its run.
    pub sequence: u64,
    /// The number in the file.
    pub source_sequence: u64,
    /// The run, if the row names it.
    pub run: String,
    /// `data.text`, if there is one.
    pub text: String,
    /// The complete row.
    pub line: String,
}

/// The rows of a sidecar, and its torn lines.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SidecarContent {
    /// Complete events, in the order of the file.
    pub rows: Vec<Row>,
    /// Torn lines that a later writer ended with a line end.
    pub closed_torn_lines: usize,
    /// The file does not end with a line end.
    pub ends_torn: bool,
}

impl SidecarContent {
    /// Parses a sidecar.
    pub fn of(bytes: &[u8]) -> Self {
        let mut content = Self::default();
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let Some(line) = line.strip_suffix(b"\n") else {
                content.ends_torn = true;
                continue;
            };
            let row = std::str::from_utf8(line).ok().and_then(row);
            match row {
                Some(row) => content.rows.push(row),
                None => content.closed_torn_lines += 1,
            }
        }
        content
    }

    /// The texts of the rows.
    pub fn texts(&self) -> Vec<&str> {
        self.rows.iter().map(|row| row.text.as_str()).collect()
    }

    /// Fails unless every line is complete and the numbers in the file rise by
    /// one from the first.
    ///
    /// # Panics
    /// If that is not the case.
    pub fn assert_sound(&self) {
        assert!(!self.ends_torn && self.closed_torn_lines == 0, "a torn line");
        self.assert_numbered();
    }

    /// Fails unless the numbers in the file rise by one from the first.
    ///
    /// # Panics
    /// If that is not the case.
    pub fn assert_numbered(&self) {
        let numbers: Vec<u64> = self.rows.iter().map(|row| row.source_sequence).collect();
        let first = numbers.first().copied().unwrap_or(1);
        let expected: Vec<u64> = (first..).take(numbers.len()).collect();
        assert_eq!(numbers, expected, "numbers in the file");
    }

    /// Fails unless the numbers of each run rise by one from the first.
    ///
    /// # Panics
    /// If that is not the case.
    pub fn assert_runs_numbered(&self) {
        let mut runs: Vec<&str> = self.rows.iter().map(|row| row.run.as_str()).collect();
        runs.sort_unstable();
        runs.dedup();
        for run in runs {
            let of_run = self.rows.iter().filter(|row| row.run == run);
            let numbers: Vec<u64> = of_run.map(|row| row.sequence).collect();
            let first = numbers.first().copied().unwrap_or(1);
            let expected: Vec<u64> = (first..).take(numbers.len()).collect();
            assert_eq!(numbers, expected, "numbers of run {run:?}");
        }
    }
}

fn row(line: &str) -> Option<Row> {
    let row = RuntimeRow::parse(line).ok()?;
    let value = row.as_json();
    let number = |name: &str| value.get(name).and_then(Json::as_u64);
    let run = value.get("runId").and_then(Json::as_str).unwrap_or_default().to_owned();
    let text = value.get("data").and_then(|data| data.get("text")).and_then(Json::as_str);
    Some(Row {
        kind: row.kind().to_owned(),
        sequence: number("seq")?,
        source_sequence: number("sourceSeq")?,
        run,
        text: text.unwrap_or_default().to_owned(),
        line: line.to_owned(),
    })
}
