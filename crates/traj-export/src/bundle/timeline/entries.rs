//! The entries of the branch, each with the links to its neighbours.

use std::borrow::Cow;
use std::ops::Range;

use traj_core::dialect::Dialect;
use traj_core::dialect::transcript::{LegacyLinks, RowKind, SessionVersion, migrate};
use traj_core::json::Json;
use traj_core::port::Source;
use traj_core::timestamp::UnixMillis;

use crate::error::ExportError;
use crate::index::{BranchEntries, BranchStep, EntryRecord, SessionIndex, row_id, row_text};
use crate::json_stream::row_fetcher::RowFetcher;

/// An entry to process.
pub(super) struct BranchEntry {
    /// The range of its row in the batch's rows.
    pub(super) place: Range<usize>,
    /// Its position in the branch.
    pub(super) number: u64,
    pub(super) instant: UnixMillis,
    pub(super) version: SessionVersion,
    pub(super) links: LegacyLinks,
    /// The parent to write instead of the row's own.
    pub(super) relink: Option<Option<String>>,
    /// The dialect of a row that another program wrote; `links` holds its id
    /// and parent.
    pub(super) foreign: Option<Dialect>,
}

/// The session's first header row.
pub(super) struct SessionHeader {
    row: Vec<u8>,
    version: SessionVersion,
}

impl SessionHeader {
    pub(super) fn text(&self) -> Cow<'_, str> {
        row_text(&self.row).0
    }

    /// Parses the header and brings it to version 3.
    pub(super) fn parse<'t>((header, text): (&Self, &'t Cow<'_, str>)) -> Json<'t> {
        let Ok(mut value) = Json::parse(text) else { return Json::Null };
        if let Some(object) = value.as_object_mut() {
            migrate(object, header.version, LegacyLinks::default());
        }
        value
    }
}

/// The entries of the branch, starting at the root.
pub(crate) struct EntryRows<'s> {
    pub(super) fetcher: RowFetcher<'s>,
    index: SessionIndex,
    branch: BranchEntries,
    at: u64,
    /// The entry at `at`, once it was peeked at.
    next: Option<(BranchStep, EntryRecord)>,
}

impl<'s> EntryRows<'s> {
    pub(crate) const fn new(
        source: &'s dyn Source,
        index: SessionIndex,
        branch: BranchEntries,
    ) -> Self {
        Self { fetcher: RowFetcher::new(source), index, branch, at: 0, next: None }
    }

    /// Whether no entry is earlier than the one before it.
    pub(super) fn are_in_order(&mut self) -> Result<bool, ExportError> {
        let mut before = None;
        for at in 0..self.branch.len() {
            let ordinal = self.branch.step(at)?.ordinal;
            let instant = Some(self.index.entries.get(ordinal)?.instant);
            if instant < before {
                return Ok(false);
            }
            before = instant;
        }
        Ok(true)
    }

    pub(super) fn header(&mut self) -> Result<Option<SessionHeader>, ExportError> {
        let Some(place) = self.index.header else { return Ok(None) };
        let row = self.fetcher.fetch(place)?.into_bytes();
        Ok(row.map(|row| SessionHeader { row, version: self.index.version }))
    }

    pub(super) fn leaf_id(&mut self) -> Result<Option<String>, ExportError> {
        if self.branch.leaf_is_empty {
            return Ok(Some(String::new()));
        }
        match self.branch.len().checked_sub(1) {
            Some(last) => {
                let leaf = self.branch.step(last)?.ordinal;
                self.id_of(leaf)
            }
            None => Ok(None),
        }
    }

    /// The instant of the next entry.
    pub(super) fn next_instant(&mut self) -> Result<Option<UnixMillis>, ExportError> {
        Ok(self.peek()?.map(|(_, record)| record.instant))
    }

    fn peek(&mut self) -> Result<Option<(BranchStep, EntryRecord)>, ExportError> {
        if self.next.is_none() && self.at < self.branch.len() {
            let step = self.branch.step(self.at)?;
            self.next = Some((step, self.index.entries.get(step.ordinal)?));
        }
        Ok(self.next)
    }

    /// The next entry; its row is appended to `rows`. `None` at the end.
    pub(super) fn next(&mut self, rows: &mut Vec<u8>) -> Result<Option<BranchEntry>, ExportError> {
        let Some((step, record)) = self.peek()? else { return Ok(None) };
        self.next = None;
        let number = self.at;
        self.at += 1;
        // A row that does not fit at all was not indexed.
        let place = self.fetcher.fetch_into(record.place, rows)?.unwrap_or_default();
        let version = self.index.version;
        let foreign = self.index.writer.foreign();
        let links = if foreign.is_some() {
            let mut links = LegacyLinks::default();
            links.id = self.id_of(step.ordinal)?;
            let before = step.ordinal.checked_sub(1);
            links.parent = before.map_or(Ok(None), |before| self.id_of(before))?;
            links
        } else if version.is_list() {
            self.legacy_links(step.ordinal, &record, rows.get(place.clone()).unwrap_or_default())?
        } else {
            LegacyLinks::default()
        };
        let relink = match step.relink_to {
            None => None,
            Some(None) => Some(None),
            Some(Some(parent)) => Some(self.id_of(parent)?),
        };
        let instant = record.instant;
        Ok(Some(BranchEntry { place, number, instant, version, links, relink, foreign }))
    }

    fn legacy_links(
        &mut self,
        ordinal: u64,
        record: &EntryRecord,
        row: &[u8],
    ) -> Result<LegacyLinks, ExportError> {
        let mut links = LegacyLinks::default();
        links.id = record.made_up.map(|number| LegacyLinks::made_up_id(u64::from(number)));
        for before in (0..ordinal).rev() {
            if self.index.entries.get(before)?.skeleton.kind != RowKind::Header {
                links.parent = self.id_of(before)?;
                break;
            }
        }
        let (text, _) = row_text(row);
        let row = Json::parse_shallow(&text, 1).unwrap_or_default();
        let first_kept = row.get("firstKeptEntryIndex").and_then(Json::as_f64);
        // The position counts all valid rows, including the header.
        let first_kept = first_kept.filter(|at| *at >= 0.0 && at.fract() == 0.0);
        if let Some(at) = first_kept.map(|at| at as u64).filter(|at| *at < self.index.entries.len())
            && self.index.entries.get(at)?.skeleton.kind != RowKind::Header
        {
            links.first_kept = self.id_of(at)?;
        }
        Ok(links)
    }

    /// The id of an entry, as text.
    fn id_of(&mut self, ordinal: u64) -> Result<Option<String>, ExportError> {
        let record = self.index.entries.get(ordinal)?;
        if let Some(number) = record.made_up {
            return Ok(Some(match self.index.writer.foreign() {
                Some(_) => row_id(number),
                None => LegacyLinks::made_up_id(u64::from(number)),
            }));
        }
        let loaded = self.fetcher.fetch(record.place)?;
        let (text, _) = row_text(loaded.bytes().unwrap_or_default());
        let row = Json::parse_shallow(&text, 1).unwrap_or_default();
        Ok(row.get("id").and_then(Json::as_str).map(str::to_owned))
    }
}
