//! Events and calls as Parquet, compressed with zstd, for DuckDB, polars and
//! everything that reads data frames.
//!
//! The same rows give the same bytes: there is no time stamp in the file, and
//! row groups end after a fixed number of rows or bytes.
//!
//! - `event_row`: an event as a row, made from the facts of the run model;
//! - `event_columns`: the columns of events;
//! - `call_columns`: the columns of tool calls;
//! - `session_row`, `session_columns`: a session so far as a row, and its columns;
//! - `table`: writes batches of rows;
//! - `rows_digest`: recognises equal rows;
//! - `sealed_events`: events as columns, with their digest;
//! - `long_texts`: texts that a data set keeps in files of their own;
//! - `read_rows`: all rows of a bundle, with the totals up to each.

mod call_columns;
mod event_columns;
mod event_row;
mod long_texts;
mod read_rows;
mod rows_digest;
mod sealed_events;
mod session_columns;
mod session_row;
mod table;

use std::io;

use traj_core::run::{RunEvent, Taken};

use super::call_rows::CallRow;
use super::losses::{Loss, Losses};
use super::pieces::Piece;
use super::survey::Survey;
use super::{Converter, Output, Wants};
use call_columns::{KeptCall, call_batch, call_schema};
use table::Table;

pub use event_row::{EventRow, EventRows, agent_name, trace_id};
pub use long_texts::{LongTexts, long_text_file, long_texts_in};
pub use read_rows::{NextEvent, RowVisitor, StatedTotals, read_event_rows};
pub use rows_digest::RowsDigest;
pub use sealed_events::SealedEvents;
pub use session_columns::SessionTable;
pub use session_row::SessionRow;
pub use table::{EventTable, ParquetError, ParquetSummary};

/// How many calls are written at once.
const CALLS_AT_ONCE: usize = 4_096;

/// Writes one row per event.
pub(super) struct ParquetEvents<'w> {
    table: EventTable<Output<'w>>,
    rows: Option<EventRows>,
    /// The tokens in the rows of the run.
    tokens: i64,
}

impl<'w> ParquetEvents<'w> {
    pub(super) fn new(out: Output<'w>) -> io::Result<Self> {
        Ok(Self { table: EventTable::new(out, &[])?, rows: None, tokens: 0 })
    }

    fn push(&mut self, row: Option<EventRow>) -> io::Result<()> {
        let Some(row) = row else { return Ok(()) };
        let tokens = [row.input_tokens, row.output_tokens].into_iter().flatten();
        self.tokens = tokens.fold(self.tokens, i64::saturating_add);
        Ok(self.table.push(row)?)
    }
}

impl Converter for ParquetEvents<'_> {
    fn wants(&self) -> Wants {
        Wants::Events
    }

    fn begin(&mut self, survey: &Survey) -> io::Result<()> {
        (self.rows, self.tokens) = (Some(EventRows::new(&survey.run)), 0);
        Ok(())
    }

    fn event(&mut self, event: &RunEvent<'_>, taken: &Taken) -> io::Result<()> {
        let row = self.rows.as_mut().and_then(|rows| rows.take(event, taken));
        self.push(row)
    }

    fn end(&mut self, survey: &Survey, losses: &mut Losses) -> io::Result<()> {
        let row = self.rows.take().and_then(EventRows::finish);
        self.push(row)?;
        // The program counted them without a row for the model call.
        let stated = u64::try_from(self.tokens).unwrap_or_default();
        losses.add(Loss::RowlessTokens, survey.run.usage().total().saturating_sub(stated));
        Ok(())
    }

    fn finish(self: Box<Self>) -> io::Result<u64> {
        Ok(self.table.finish()?.rows)
    }
}

/// Writes one row per tool call.
pub(super) struct ParquetCalls<'w> {
    table: Table<Output<'w>>,
    session: String,
    waiting: Vec<KeptCall>,
}

impl<'w> ParquetCalls<'w> {
    pub(super) fn new(out: Output<'w>) -> io::Result<Self> {
        let table = Table::new(out, call_schema(), &["session"], &[], &[], &[])?;
        Ok(Self { table, session: String::new(), waiting: Vec::new() })
    }

    fn write(&mut self) -> io::Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        let bytes = waiting.iter().map(KeptCall::bytes).sum();
        let batch = call_batch(&waiting).map_err(ParquetError::from)?;
        Ok(self.table.write(&batch, bytes)?)
    }
}

impl Converter for ParquetCalls<'_> {
    fn wants(&self) -> Wants {
        Wants::Pieces
    }

    fn begin(&mut self, survey: &Survey) -> io::Result<()> {
        self.session.clone_from(&survey.session);
        Ok(())
    }

    fn piece(&mut self, piece: Piece, _losses: &mut Losses) -> io::Result<()> {
        let Piece::Message(message) = piece else { return Ok(()) };
        self.waiting.extend(CallRow::of(&self.session, &message).map(|row| KeptCall::of(&row)));
        if self.waiting.len() >= CALLS_AT_ONCE { self.write() } else { Ok(()) }
    }

    fn finish(mut self: Box<Self>) -> io::Result<u64> {
        self.write()?;
        Ok(self.table.finish()?.rows)
    }
}
