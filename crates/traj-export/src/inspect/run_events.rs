//! Reads the events of a bundle.
//!
//! - `lines`: the lines of the file;
//! - `event_texts`: texts that are separate files.

mod event_texts;
mod lines;

use std::borrow::Cow;
use std::io::Read as _;
use std::ops::ControlFlow;

use traj_core::dialect::{Dialect, decode_manifest};
use traj_core::json::Json;
use traj_core::json::lines::Line;
use traj_core::port::{BundleContent, BundleFile, BundleSource, BundleSourceError};
use traj_core::run::{Fold, Place, Prices, Run, RunEvent};

use crate::json_stream::long_rows;
use crate::verify::{ContentReader, MAX_MANIFEST_BYTES};
pub(crate) use event_texts::{EventTexts, MOST_RESTORED};
use lines::for_each_line;

/// A line of `events.jsonl`.
#[derive(Debug)]
pub(crate) enum EventsFileRow<'l> {
    /// An event.
    Event(&'l Json<'l>),
    /// An event that is too long to read.
    TooLong,
    /// A row that is not an event, and the reason.
    Damaged(&'static str),
}

/// Passes every row with its 1-based number to `visit`, until `visit` breaks.
pub(crate) fn for_each_row(
    content: &mut dyn BundleContent,
    visit: &mut dyn FnMut(u64, EventsFileRow<'_>) -> ControlFlow<()>,
) -> Result<(), BundleSourceError> {
    let mut number = 0;
    for_each_line(content, &mut |line| {
        number += 1;
        match line {
            Line::Whole(line) if long_rows::is_bomb(line) => {
                visit(number, EventsFileRow::Damaged(NOT_AN_EVENT))
            }
            Line::Whole(line) => {
                let text = String::from_utf8_lossy(line);
                match Json::parse(&text) {
                    Ok(row) if Dialect::Bundle.type_name(&row).is_some() => {
                        visit(number, EventsFileRow::Event(&row))
                    }
                    _ => visit(number, EventsFileRow::Damaged(NOT_AN_EVENT)),
                }
            }
            Line::TooLong { is_cut: false, .. } => visit(number, EventsFileRow::TooLong),
            Line::TooLong { .. } | Line::Cut(_) => {
                visit(number, EventsFileRow::Damaged("is truncated"))
            }
        }
    })
}

/// The bytes of a manifest; `None` if it is larger than a manifest can be.
pub(crate) fn manifest_bytes(
    content: &mut dyn BundleContent,
) -> Result<Option<Vec<u8>>, BundleSourceError> {
    let mut bytes = Vec::new();
    let limit = MAX_MANIFEST_BYTES as u64 + 1;
    let read = ContentReader(content).take(limit).read_to_end(&mut bytes);
    read.map_err(|error| BundleSourceError::Damaged { source: error.into() })?;
    Ok(Some(bytes).filter(|bytes| bytes.len() <= MAX_MANIFEST_BYTES))
}

/// Passes the facts that a manifest states about the run to `emit`.
pub(crate) fn manifest_facts(bytes: &[u8], emit: &mut dyn FnMut(&RunEvent<'_>)) {
    if long_rows::is_bomb(bytes) {
        return;
    }
    if let Ok(manifest) = Json::parse(&String::from_utf8_lossy(bytes)) {
        decode_manifest(&manifest, &mut |event| emit(&event));
    }
}

const NOT_AN_EVENT: &str = "is not an event";

/// Reads the events of a bundle as facts, in order, until `visit` breaks.
/// Returns how many rows are too long to read. Rows that are not events are
/// skipped: [`verify`](crate::verify()) reports them.
///
/// # Errors
/// If the bundle cannot be read, or is an archive that is not safe to read.
pub fn read_run_events(
    bundle: &dyn BundleSource,
    visit: &mut dyn FnMut(&RunEvent<'_>) -> ControlFlow<()>,
) -> Result<u64, BundleSourceError> {
    let mut reader = FactReader::new(None);
    bundle.visit(&mut |path, content| match BundleFile::parse(path) {
        Some(BundleFile::Events) => reader.read(content, visit),
        _ => Ok(()),
    })?;
    Ok(reader.counts.too_long)
}

/// Reads what the manifest of a bundle states, and then what its events state,
/// until `visit` breaks. Facts of the manifest are on line 0. Returns how many
/// rows are too long to read.
pub(crate) fn read_facts(
    bundle: &dyn BundleSource,
    visit: &mut dyn FnMut(&RunEvent<'_>) -> ControlFlow<()>,
) -> Result<u64, BundleSourceError> {
    Ok(read_facts_with(bundle, None, visit)?.too_long)
}

/// How many rows of a bundle are special.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RowCounts {
    /// Rows that are too long to read.
    pub(crate) too_long: u64,
    /// Rows that refer to long texts.
    pub(crate) with_long_texts: u64,
}

/// Changes the rows that refer to long texts.
pub(crate) trait RowTexts {
    /// Changes a row before its facts are read.
    fn change(&mut self, row: &mut Json<'_>) -> Result<(), BundleSourceError>;
}

/// As [`read_facts`]; lets `texts` change the rows that refer to long texts.
pub(crate) fn read_facts_with(
    bundle: &dyn BundleSource,
    texts: Option<&mut dyn RowTexts>,
    visit: &mut dyn FnMut(&RunEvent<'_>) -> ControlFlow<()>,
) -> Result<RowCounts, BundleSourceError> {
    let mut reader = FactReader::new(texts);
    bundle.visit(&mut |path, content| {
        match BundleFile::parse(path) {
            Some(BundleFile::Manifest) => {
                if let Some(bytes) = manifest_bytes(content)? {
                    manifest_facts(&bytes, &mut |event| {
                        if reader.flow.is_continue() {
                            reader.flow = visit(event);
                        }
                    });
                }
            }
            Some(BundleFile::Events) => reader.read(content, visit)?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(reader.counts)
}

/// Reads a bundle's run from its manifest and its events. Returns it with the
/// number of events that are too long to read. `prices` give the cost of calls
/// whose source states none.
///
/// # Errors
/// As [`read_run_events`].
pub fn read_run(
    bundle: &dyn BundleSource,
    prices: Prices,
) -> Result<(Run, u64), BundleSourceError> {
    let mut fold = Fold::new(prices);
    let too_long = read_facts(bundle, &mut |event| {
        fold.push(event);
        ControlFlow::Continue(())
    })?;
    Ok((fold.finish(), too_long))
}

/// Reads `events.jsonl` as facts.
struct FactReader<'t> {
    texts: Option<&'t mut dyn RowTexts>,
    counts: RowCounts,
    flow: ControlFlow<()>,
}

impl<'t> FactReader<'t> {
    fn new(texts: Option<&'t mut dyn RowTexts>) -> Self {
        Self { texts, counts: RowCounts::default(), flow: ControlFlow::Continue(()) }
    }

    fn read(
        &mut self,
        content: &mut dyn BundleContent,
        visit: &mut dyn FnMut(&RunEvent<'_>) -> ControlFlow<()>,
    ) -> Result<(), BundleSourceError> {
        if self.flow.is_break() {
            return Ok(());
        }
        let mut failure = None;
        for_each_row(content, &mut |number, row| {
            match row {
                EventsFileRow::Event(row) => match self.restored(row) {
                    Ok(row) => {
                        Dialect::Bundle.decode(&row, Place::line(number), &mut |event| {
                            if self.flow.is_continue() {
                                self.flow = visit(&event);
                            }
                        });
                    }
                    Err(error) => {
                        failure = Some(error);
                        self.flow = ControlFlow::Break(());
                    }
                },
                EventsFileRow::TooLong => self.counts.too_long += 1,
                EventsFileRow::Damaged(_) => {}
            }
            self.flow
        })?;
        failure.map_or(Ok(()), Err)
    }

    /// A row with what `texts` knows of its long texts.
    fn restored<'l>(&mut self, row: &'l Json<'l>) -> Result<Cow<'l, Json<'l>>, BundleSourceError> {
        if !event_texts::refers_to_text(row) {
            return Ok(Cow::Borrowed(row));
        }
        self.counts.with_long_texts += 1;
        let Some(texts) = &mut self.texts else { return Ok(Cow::Borrowed(row)) };
        let mut row = row.clone();
        texts.change(&mut row)?;
        Ok(Cow::Owned(row))
    }
}
