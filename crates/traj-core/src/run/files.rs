//! Reads the files of a session together and folds them into one run.

mod branch;
mod feed;

use std::iter::Peekable;
use std::vec::IntoIter;

use super::{Fact, Fold, Origin, Place, Prices, Run, RunEvent, UnknownRows};
use crate::dialect::transcript::{Skeleton, gives_events, trim, unknown_type};
use crate::dialect::{Dialect, Head, sniff};
use crate::event::RuntimeRow;
use crate::json::Json;
use crate::limits;
use crate::port::{Source, SourceError};
use crate::timestamp::UnixMillis;
use branch::{RowCounts, RowFilter};
use feed::FileFeed;
pub(crate) use feed::is_bomb;

/// How much of a file is examined to recognise its writer.
const HEAD: u64 = limits::Reading::standard().short_head_bytes as u64;

/// The files of one session, if they exist.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "two files and their session")]
pub struct SessionFiles<'s> {
    /// The agent's own file: a transcript or a rollout.
    pub transcript: Option<&'s dyn Source>,
    /// The recorder's sidecar.
    pub sidecar: Option<&'s dyn Source>,
    /// The session's id. Events of other sessions in the sidecar are ignored.
    pub session: &'s str,
    /// Rows longer than this, in bytes, are skipped: the limit
    /// [`session_line_bytes`](limits::Reading::session_line_bytes).
    pub longest_row: usize,
}

/// The run that the files of a session describe.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SessionRun {
    /// The run.
    pub run: Run,
    /// The dialect of the transcript; `None` if there is no transcript, it is
    /// empty, or no dialect recognises it.
    pub dialect: Option<Dialect>,
    /// Events of this session in the sidecar.
    pub recorded: u64,
    /// Lines that are not rows, or are too long to read.
    pub unread: u64,
}

impl SessionFiles<'_> {
    /// The run of the files, without moments; see [`Self::fold_with`].
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn fold(&self, prices: Prices) -> Result<SessionRun, SourceError> {
        self.fold_with(&|| Fold::new(prices.clone()).without_moments())
    }

    /// Reads both files once, side by side in chronological order, as an export would:
    /// only the active branch of a transcript counts, and events have the numbers
    /// that they have in a bundle. A transcript that is not a straight line is
    /// read again, into another new fold. Memory is bounded, however long the
    /// files are.
    ///
    /// Rows whose times go back stay in file order, while an export sorts them.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn fold_with(&self, new_fold: &dyn Fn() -> Fold) -> Result<SessionRun, SourceError> {
        let dialect = self.transcript.map(dialect_of).transpose()?.flatten();
        let branch = if dialect.is_some_and(Dialect::is_transcript) {
            RowFilter::line()
        } else {
            RowFilter::Everything
        };
        let read = PairReading::new(self, dialect, branch, new_fold()).finish()?;
        match (read, self.transcript) {
            (Some(read), _) => Ok(read),
            (None, transcript) => {
                let branch = match transcript {
                    Some(source) => RowFilter::of(source, self.longest_row)?,
                    None => RowFilter::Entries,
                };
                let read = PairReading::new(self, dialect, branch, new_fold()).finish()?;
                // With a known branch, a reading always finishes.
                Ok(read.unwrap_or_else(|| SessionRun {
                    run: Run::default(),
                    dialect,
                    recorded: 0,
                    unread: 0,
                }))
            }
        }
    }
}

/// The dialect of a file, recognised by its beginning.
///
/// # Errors
/// When it cannot be read.
pub fn dialect_of(source: &dyn Source) -> Result<Option<Dialect>, SourceError> {
    let length = usize::try_from(source.len().min(HEAD)).unwrap_or_default();
    let mut head = vec![0; length];
    source.read_exact_at(0, &mut head)?;
    Ok(sniff(Head::of(&head)))
}

/// A row and its position in the file.
struct FileRow<'b> {
    /// Its time, but never before that of the row above it.
    at: Option<UnixMillis>,
    line: u64,
    end: usize,
    content: RowContent<'b>,
}

enum RowContent<'b> {
    Row(Json<'b>),
    /// Blank, or an event of another session.
    Nothing,
    Unread,
}

/// Reads two files side by side.
struct PairReading<'s> {
    fold: Fold,
    session: &'s str,
    dialect: Option<Dialect>,
    branch: RowFilter,
    sidecar: Option<FileFeed<'s>>,
    transcript: Option<FileFeed<'s>>,
    /// The time of the last row of each file.
    clocks: [Option<UnixMillis>; 2],
    /// The number of the last event, and the place of its row.
    number: u64,
    before: Option<(Origin, Place)>,
    recorded: u64,
    unread: u64,
}

impl<'s> PairReading<'s> {
    fn new(
        files: &SessionFiles<'s>,
        dialect: Option<Dialect>,
        branch: RowFilter,
        mut fold: Fold,
    ) -> Self {
        let feed = |source| FileFeed::new(source, files.longest_row);
        if let Some(left) = branch.left() {
            fold.push(&beside_the_events(Fact::Branches(left)));
        }
        Self {
            fold,
            session: files.session,
            dialect,
            branch,
            sidecar: files.sidecar.map(feed),
            // Rows of an unknown dialect state nothing.
            transcript: files.transcript.filter(|_| dialect.is_some()).map(feed),
            clocks: [None; 2],
            number: 0,
            before: None,
            recorded: 0,
            unread: 0,
        }
    }

    /// Reads everything; `None` if the transcript is not a straight line.
    fn finish(mut self) -> Result<Option<SessionRun>, SourceError> {
        let (mut sidecar, mut transcript) = (self.sidecar.take(), self.transcript.take());
        loop {
            for feed in [&mut sidecar, &mut transcript].into_iter().flatten() {
                feed.fill()?;
            }
            let used = {
                let recorded = rows(sidecar.as_ref(), self.clocks[0], &|row| self.event(row));
                let written = rows(transcript.as_ref(), self.clocks[1], &|row| {
                    let dialect = self.dialect.unwrap_or(Dialect::OpenClaw);
                    // A header comes first, whatever its time.
                    let at = dialect.time_of(&row).filter(|_| !is_header(dialect, &row));
                    (at, RowContent::Row(row))
                });
                let is_over =
                    |feed: &Option<FileFeed<'_>>| feed.as_ref().is_none_or(FileFeed::is_at_end);
                let is_over = [is_over(&sidecar), is_over(&transcript)];
                self.merge(recorded, written, is_over)
            };
            let Some(used) = used else { return Ok(None) };
            let mut is_done = true;
            for (feed, used) in [&mut sidecar, &mut transcript].into_iter().zip(used) {
                if let (Some(feed), Some((line, end))) = (feed, used) {
                    feed.consume(end, line);
                    is_done = false;
                }
            }
            if is_done {
                break;
            }
        }
        let passed = [sidecar, transcript].into_iter().flatten().map(|feed| feed.passed_over);
        Ok(Some(SessionRun {
            unread: self.unread + passed.sum::<u64>(),
            run: self.fold.finish(),
            dialect: self.dialect,
            recorded: self.recorded,
        }))
    }

    /// Checks that a sidecar row is an event of this session.
    fn event<'b>(&self, row: Json<'b>) -> (Option<UnixMillis>, RowContent<'b>) {
        match RuntimeRow::from_json(row) {
            Ok(event) if event.session_id() == self.session => {
                (Some(event.at()), RowContent::Row(event.into_json()))
            }
            Ok(_) => (None, RowContent::Nothing),
            Err(_) => (None, RowContent::Unread),
        }
    }

    /// Folds rows in chronological order, sidecar rows first among equals, until more
    /// of one of the files must be read. Returns the last line used of each file, and
    /// where it ends; `None` if the branch cannot be known yet.
    fn merge(
        &mut self,
        recorded: Vec<FileRow<'_>>,
        written: Vec<FileRow<'_>>,
        is_over: [bool; 2],
    ) -> Option<[Option<(u64, usize)>; 2]> {
        let [mut recorded, mut written] =
            [recorded, written].map(|rows| rows.into_iter().peekable());
        let mut used = [None; 2];
        loop {
            let waits = |rows: &mut Peekable<IntoIter<FileRow<'_>>>, is_over: bool| {
                rows.peek().is_none() && !is_over
            };
            if waits(&mut recorded, is_over[0]) || waits(&mut written, is_over[1]) {
                break;
            }
            let is_first = match (recorded.peek(), written.peek()) {
                (Some(event), Some(entry)) => event.at <= entry.at,
                (event, _) => event.is_some(),
            };
            let next = if is_first { recorded.next() } else { written.next() };
            let Some(row) = next else { break };
            let at = usize::from(!is_first);
            used[at] = Some((row.line, row.end));
            self.clocks[at] = row.at;
            if !self.take(row, is_first) {
                return None;
            }
        }
        Some(used)
    }

    /// Folds a row; `false` if it is not known yet whether it is on the branch.
    fn take(&mut self, row: FileRow<'_>, is_event: bool) -> bool {
        let json = match row.content {
            RowContent::Row(json) => json,
            RowContent::Nothing => return true,
            RowContent::Unread => {
                self.unread += 1;
                return true;
            }
        };
        let dialect = if is_event {
            self.recorded += 1;
            Dialect::Sidecar
        } else {
            match self.branch.take(&json) {
                RowCounts::Yes => self.dialect.unwrap_or(Dialect::OpenClaw),
                RowCounts::No => return true,
                RowCounts::Unknown => return false,
            }
        };
        // In a bundle, the manifest replaces the header and counts the entries that do
        // not become events.
        let is_header = is_header(dialect, &json);
        if dialect.is_transcript() && !is_header && !gives_events(&json) {
            if let Some(name) = unknown_type(&json) {
                let rows = UnknownRows { name: Some(name), count: 1 };
                self.fold.push(&beside_the_events(Fact::UnknownRows(rows)));
            }
            return true;
        }
        dialect.decode(&json, Place::line(row.line), &mut |mut event| {
            let place = Some((event.origin, event.place));
            if self.before != place && !is_header {
                self.number += 1;
                self.before = place;
            }
            event.place = Place::line(if is_header { 0 } else { self.number });
            if !is_event && !dialect.is_transcript() {
                // In a bundle, a row without a time has that of the row above.
                event.at = event.at.or(row.at);
            }
            self.fold.push(&event);
        });
        true
    }
}

/// An event for a fact that is not among a bundle's events.
fn beside_the_events(fact: Fact<'_>) -> RunEvent<'_> {
    RunEvent::new(Origin::Transcript, Place::default(), &Json::Null, fact)
}

/// Whether a row is the header of a transcript.
fn is_header(dialect: Dialect, row: &Json<'_>) -> bool {
    dialect.is_transcript() && Skeleton::is_header(row)
}

/// The rows of the lines that a feed holds.
fn rows<'b>(
    feed: Option<&'b FileFeed<'_>>,
    mut clock: Option<UnixMillis>,
    read: &dyn Fn(Json<'b>) -> (Option<UnixMillis>, RowContent<'b>),
) -> Vec<FileRow<'b>> {
    let Some(feed) = feed else { return Vec::new() };
    let lines = feed.lines().map(|(line, end, bytes)| {
        let (at, content) = match parse(bytes) {
            Some(row) => read(row),
            None if bytes.trim_ascii().is_empty() => (None, RowContent::Nothing),
            None => (None, RowContent::Unread),
        };
        clock = clock.max(at);
        FileRow { at: clock, line, end, content }
    });
    lines.collect()
}

fn parse(line: &[u8]) -> Option<Json<'_>> {
    if is_bomb(line) {
        return None;
    }
    match std::str::from_utf8(line) {
        Ok(text) => Json::parse(trim(text)).ok(),
        Err(_) => Json::parse_lossy(line).ok(),
    }
}

#[cfg(test)]
#[cfg(feature = "memory")]
mod tests;
