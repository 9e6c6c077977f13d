//! Indexes the entries of a session file: where each row is, and which row it
//! links to.

use traj_core::dialect::transcript::{
    EntryKey, LeafTracker, LegacyLinks, RowKind, SessionVersion, Skeleton, entry_instant,
};
use traj_core::dialect::{Dialect, Head, sniff};
use traj_core::json::Json;
use traj_core::limits::Reading;
use traj_core::port::{BundleSinkError, Source, SourceError};
use traj_core::timestamp::UnixMillis;

use super::visit::{RowCodes, RowsRead, visit_rows};
use crate::error::ExportError;
use crate::index::record_store::{FixedRecord, RecordDecoder, RecordEncoder, RecordStore, Spool};
use crate::json_stream::rows::ByteRange;
use crate::warning::{Code, Warnings};

/// Rows are parsed to this depth: the row itself and its message.
const SKELETON_DEPTH: usize = 2;

const CODES: RowCodes = RowCodes {
    too_large: Code::SessionRowTooLarge,
    shortened: Code::SessionRowShortened,
    not_utf8: Code::SessionNotUtf8,
    not_json: Code::InvalidSessionJson,
};

/// One valid row of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EntryRecord {
    pub(crate) place: ByteRange,
    pub(crate) row: u64,
    pub(crate) instant: UnixMillis,
    pub(crate) skeleton: Skeleton,
    /// The number in the generated id of an entry in a plain list.
    pub(crate) made_up: Option<u32>,
}

impl FixedRecord for EntryRecord {
    const SIZE: usize = 69;

    fn encode(&self, bytes: &mut RecordEncoder<'_>) {
        let skeleton = &self.skeleton;
        let kind = match skeleton.kind {
            RowKind::Header => 0,
            RowKind::Leaf => 1,
            _ => 2,
        };
        let flag = |set: bool, bit: u8| u8::from(set) << bit;
        bytes.u64(self.place.offset);
        bytes.u64(self.place.length);
        bytes.u64(self.row);
        bytes.u64(self.instant.as_millis().cast_unsigned());
        bytes.bytes(&skeleton.id.map_or([0; 16], EntryKey::to_bytes));
        bytes.bytes(&skeleton.next.map_or([0; 16], EntryKey::to_bytes));
        bytes.u32(self.made_up.unwrap_or(u32::MAX));
        bytes.u8(kind
            | flag(skeleton.id.is_some(), 2)
            | flag(skeleton.next.is_some(), 3)
            | flag(skeleton.timed, 4)
            | flag(skeleton.side, 5));
    }

    fn decode(bytes: &mut RecordDecoder<'_>) -> Self {
        let place = ByteRange { offset: bytes.u64(), length: bytes.u64() };
        let row = bytes.u64();
        let instant = UnixMillis::new(bytes.u64().cast_signed()).unwrap_or_default();
        let (id, next) = (EntryKey::from_bytes(bytes.bytes()), EntryKey::from_bytes(bytes.bytes()));
        let made_up = Some(bytes.u32()).filter(|number| *number != u32::MAX);
        let flags = bytes.u8();
        let is_set = |bit: u8| flags >> bit & 1 == 1;
        let kind = match flags & 3 {
            0 => RowKind::Header,
            1 => RowKind::Leaf,
            _ => RowKind::Entry,
        };
        let mut skeleton = Skeleton::new(kind, is_set(2).then_some(id), is_set(3).then_some(next));
        skeleton.timed = is_set(4);
        skeleton.side = is_set(5);
        Self { place, row, instant, skeleton, made_up }
    }
}

/// The index of a session file.
pub(crate) struct SessionIndex {
    /// All valid rows, headers included, in file order.
    pub(crate) entries: RecordStore<EntryRecord>,
    /// The first header.
    pub(crate) header: Option<ByteRange>,
    pub(crate) version: SessionVersion,
    pub(crate) leaf: LeafTracker,
    pub(crate) digest: [u8; 32],
    pub(crate) rows: u64,
    /// Who wrote the file.
    pub(crate) writer: SessionWriter,
    /// Whether it has no rows other than a header.
    pub(crate) is_empty: bool,
}

/// The program that wrote a session file, recognised by its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionWriter {
    /// The file is empty.
    Nobody,
    /// A program whose dialect is known.
    Known(Dialect),
    /// An unknown program.
    Unknown,
}

impl SessionWriter {
    /// Recognises the program from the beginning of a file.
    pub(crate) fn of(source: &dyn Source) -> Result<Self, SourceError> {
        let length = source.len().min(HEAD_BYTES);
        let mut bytes = vec![0; usize::try_from(length).unwrap_or_default()];
        source.read_exact_at(0, &mut bytes)?;
        Ok(match (Head::of(&bytes), length == source.len()) {
            (Head::Empty, true) => Self::Nobody,
            (head, _) => sniff(head).map_or(Self::Unknown, Self::Known),
        })
    }

    /// The dialect of the file.
    pub(crate) const fn dialect(self) -> Option<Dialect> {
        match self {
            Self::Known(dialect) => Some(dialect),
            Self::Nobody | Self::Unknown => None,
        }
    }

    /// The dialect of a file of another program. Its rows become a plain list
    /// of entries, each with its facts.
    pub(crate) const fn foreign(self) -> Option<Dialect> {
        match self {
            Self::Known(dialect) if dialect.is_foreign() => Some(dialect),
            _ => None,
        }
    }
}

/// How much of a file is read to recognise the program that wrote it.
const HEAD_BYTES: u64 = Reading::standard().header_bytes as u64;

/// The id of the row with this number in a file of another program.
pub(crate) fn row_id(number: u32) -> String {
    format!("row-{number}")
}

/// Reads a session file once.
pub(crate) fn index_session(
    source: &dyn Source,
    spool: &dyn Spool,
    warnings: &mut Warnings,
) -> Result<SessionIndex, ExportError> {
    let writer = SessionWriter::of(source)?;
    if writer.foreign().is_some() {
        return index_rows(source, spool, warnings, writer);
    }
    let mut entries = RecordStore::new();
    let mut leaf = LeafTracker::default();
    let mut header: Option<(ByteRange, SessionVersion)> = None;
    let read =
        visit_rows(source, SKELETON_DEPTH, &CODES, warnings, |row, number, place, warnings| {
            let Some(skeleton) = Skeleton::read(&row) else {
                warnings.add(Code::InvalidSessionRow, number);
                return Ok(());
            };
            if skeleton.kind == RowKind::Header && header.is_none() {
                let version = SessionVersion::of_header(Some(&row));
                if !version.is_known() {
                    warnings.add(Code::UnknownVersion, number);
                }
                header = Some((place, version));
            }
            leaf.see(entries.len(), &skeleton);
            let instant = entry_instant(&row);
            let entry = EntryRecord { place, row: number, instant, skeleton, made_up: None };
            entries.push(entry, spool)?;
            Ok(())
        })?;
    let RowsRead { digest, rows, filled } = read;
    let version = header.map_or_else(|| SessionVersion::of_header(None), |(_, version)| version);
    let header = header.map(|(place, _)| place);
    let is_empty = filled == u64::from(header.is_some());
    let mut index = SessionIndex { entries, header, version, leaf, digest, rows, writer, is_empty };
    if version.is_list() {
        index = link_list(index, spool)?;
    }
    if !is_empty && header.is_none() && index.leaf.start().is_none() {
        warnings.add(Code::SessionWithoutEntries, 0);
    }
    Ok(index)
}

/// Reads a file of another program once: every row is an entry, linked to the
/// one before.
fn index_rows(
    source: &dyn Source,
    spool: &dyn Spool,
    warnings: &mut Warnings,
    writer: SessionWriter,
) -> Result<SessionIndex, ExportError> {
    let mut entries = RecordStore::new();
    let mut leaf = LeafTracker::default();
    let mut before = None;
    let mut clock = UnixMillis::EPOCH;
    let RowsRead { digest, rows, filled } =
        visit_rows(source, SKELETON_DEPTH, &CODES, warnings, |row, number, place, warnings| {
            let id = u32::try_from(number).ok().filter(|number| *number != u32::MAX);
            let (Json::Object(_), Some(id)) = (&row, id) else {
                warnings.add(Code::InvalidSessionRow, number);
                return Ok(());
            };
            let key = Some(EntryKey::of(&row_id(id)));
            let mut skeleton = Skeleton::new(RowKind::Entry, key, before);
            skeleton.timed = true;
            before = key;
            leaf.see(entries.len(), &skeleton);
            // A row without a time stays where it is.
            let stated = entry_instant(&row);
            let instant = if stated == UnixMillis::EPOCH { clock } else { stated };
            clock = clock.max(instant);
            let entry = EntryRecord { place, row: number, instant, skeleton, made_up: Some(id) };
            entries.push(entry, spool)?;
            Ok(())
        })?;
    let version = SessionVersion::of_header(None);
    let is_empty = filled == 0;
    let header = None;
    Ok(SessionIndex { entries, header, version, leaf, digest, rows, writer, is_empty })
}

/// Links each entry of an old plain list to the one before.
fn link_list(mut index: SessionIndex, spool: &dyn Spool) -> Result<SessionIndex, BundleSinkError> {
    let mut linked = RecordStore::new();
    let mut leaf = LeafTracker::default();
    let mut before: Option<EntryKey> = None;
    let mut made_up = 0_u32;
    for ordinal in 0..index.entries.len() {
        let mut entry = index.entries.get(ordinal)?;
        if entry.skeleton.kind != RowKind::Header {
            entry.skeleton.kind = RowKind::Entry;
            if entry.skeleton.id.is_none() {
                entry.made_up = Some(made_up);
                let id = LegacyLinks::made_up_id(u64::from(made_up));
                entry.skeleton.id = Some(EntryKey::of(&id));
                made_up += 1;
            }
            entry.skeleton.next = before.filter(|key| !key.is_empty());
            before = entry.skeleton.id;
        }
        leaf.see(ordinal, &entry.skeleton);
        linked.push(entry, spool)?;
    }
    index.entries = linked;
    index.leaf = leaf;
    Ok(index)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use traj_core::memory::MemorySources;
    use traj_core::port::Sources as _;

    use super::*;
    use crate::index::record_store::tests::spool;

    fn index(content: &str) -> (SessionIndex, Warnings) {
        let sources = MemorySources::new();
        sources.put("s", content);
        let source = sources.open("s").unwrap();
        let writer = spool();
        let mut warnings = Warnings::default();
        (index_session(&*source, &&*writer, &mut warnings).unwrap(), warnings)
    }

    #[test]
    fn bad_rows_are_counted_with_their_numbers() {
        let (index, warnings) = index(
            "\u{feff}{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n{bad\n\n[]\n{\"type\":\"x\",\"id\":\"a\"}",
        );
        assert_eq!((index.entries.len(), index.rows), (2, 5));
        let (warnings, _) = warnings.finish();
        assert_eq!(warnings[0].rows, [2]);
        assert_eq!(warnings[1].rows, [4]);
    }

    #[test]
    fn an_unknown_version_is_reported() {
        let (_, warnings) = index("{\"type\":\"session\",\"version\":9,\"id\":\"s\"}\n");
        let (_, notices) = warnings.finish();
        assert_eq!((&*notices[0].code, &*notices[0].rows), ("unknown-session-version", &[1][..]));
    }

    #[test]
    fn old_lists_are_linked_in_order() {
        let (mut index, _) = index(
            "{\"type\":\"x\",\"timestamp\":1}\n{\"type\":\"session\"}\n{\"type\":\"x\",\"id\":\"e\",\"parentId\":\"no\",\"timestamp\":1}\n",
        );
        let first = index.entries.get(0).unwrap();
        let last = index.entries.get(2).unwrap();
        assert_eq!(first.made_up, Some(0));
        assert_eq!(last.skeleton.next, Some(EntryKey::of("legacy-0")));
        assert_eq!(index.leaf.start(), Some(2));
    }

    proptest! {
        #[test]
        fn entry_records_round_trip(offset: u64, row: u64, id: Option<String>, next: Option<String>, timed: bool, side: bool, made_up in prop::option::of(0..u32::MAX), millis in -1_000_000_i64..1_000_000) {
            let key = |id: Option<String>| id.map(|id| EntryKey::of(&id));
            let mut skeleton = Skeleton::new(RowKind::Leaf, key(id), key(next));
            skeleton.timed = timed;
            skeleton.side = side;
            let instant = UnixMillis::new(millis).unwrap();
            let record = EntryRecord { place: ByteRange { offset, length: 7 }, row, instant, skeleton, made_up };
            let writer = spool();
            let mut store = RecordStore::new();
            store.push(record, &&*writer).unwrap();
            prop_assert_eq!(store.get(0).unwrap(), record);
        }
    }
}
