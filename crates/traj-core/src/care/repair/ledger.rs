//! A small record of every row, in memory or, when there are many, in a scratch
//! file.

use crate::port::Scratch;

use super::RepairError;
use super::diagnosis::DocumentKind;

/// A digest, or the key of an id.
pub(super) type RowKey = [u8; 16];

/// What is remembered about a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RowRecord {
    /// The digest of its text.
    pub(super) digest: RowKey,
    /// The key of its id. In a rollout: its ordinal plus one, or zero if it has
    /// none.
    pub(super) id: RowKey,
    /// The key of its parent's id.
    pub(super) parent: RowKey,
    /// Its line.
    pub(super) line: u64,
    /// The kind of file whose row it is, if known.
    pub(super) kind: Option<DocumentKind>,
    /// Whether it has an id and may have a parent.
    pub(super) is_link: bool,
    /// Whether another row with the same text is a repetition of it.
    pub(super) tells_apart: bool,
}

/// Size of a record in bytes.
const SIZE: usize = 56;

/// Number of records read at a time.
const BLOCK: usize = 16 * 1024;

impl RowRecord {
    fn to_bytes(self) -> [u8; SIZE] {
        let kind = self.kind.map_or(0, |kind| kind as u64 + 1);
        let flags = kind | u64::from(self.is_link) << 2 | u64::from(self.tells_apart) << 3;
        let last = (self.line << 8 | flags).to_le_bytes();
        let mut bytes = [0; SIZE];
        for (place, byte) in bytes
            .iter_mut()
            .zip(self.digest.iter().chain(&self.id).chain(&self.parent).chain(&last))
        {
            *place = *byte;
        }
        bytes
    }

    fn parse(bytes: &[u8; SIZE]) -> Self {
        let key = |at: usize| std::array::from_fn(|index| bytes[at + index]);
        let last = u64::from_le_bytes(std::array::from_fn(|index| bytes[48 + index]));
        let kinds = [DocumentKind::Session, DocumentKind::Sidecar, DocumentKind::Rollout];
        Self {
            digest: key(0),
            id: key(16),
            parent: key(32),
            line: last >> 8,
            kind: (last & 3).checked_sub(1).and_then(|kind| kinds.get(kind as usize).copied()),
            is_link: last & 4 != 0,
            tells_apart: last & 8 != 0,
        }
    }
}

/// The records of all rows, by number.
#[derive(Debug)]
pub(super) struct RowLedger {
    scratch: Box<dyn Scratch>,
    /// Number of records in the scratch file.
    spilled: u64,
    /// The newest records.
    recent: Vec<[u8; SIZE]>,
    /// The number of records kept in memory.
    most_recent: usize,
}

impl RowLedger {
    pub(super) fn new(scratch: Box<dyn Scratch>, most_recent: usize) -> Self {
        Self { scratch, spilled: 0, recent: Vec::new(), most_recent }
    }

    pub(super) fn len(&self) -> u64 {
        self.spilled + self.recent.len() as u64
    }

    pub(super) fn push(&mut self, record: RowRecord) -> Result<(), RepairError> {
        if self.recent.len() >= self.most_recent {
            self.scratch.append(self.recent.as_flattened())?;
            self.spilled += self.recent.len() as u64;
            self.recent.clear();
        }
        self.recent.push(record.to_bytes());
        Ok(())
    }

    /// Visits every record, with its row number.
    pub(super) fn forward(
        &self,
        visit: &mut dyn FnMut(u64, &RowRecord),
    ) -> Result<(), RepairError> {
        let mut block = Vec::new();
        let mut from = 0;
        while from < self.spilled {
            let to = self.spilled.min(from + BLOCK as u64);
            self.read(from, to, &mut block)?;
            for (row, record) in (from..).zip(&block) {
                visit(row, &RowRecord::parse(record));
            }
            from = to;
        }
        for (row, record) in (self.spilled..).zip(&self.recent) {
            visit(row, &RowRecord::parse(record));
        }
        Ok(())
    }

    /// Visits every record, with its row number, last one first.
    pub(super) fn backward(
        &self,
        visit: &mut dyn FnMut(u64, &RowRecord),
    ) -> Result<(), RepairError> {
        for (index, record) in self.recent.iter().enumerate().rev() {
            visit(self.spilled + index as u64, &RowRecord::parse(record));
        }
        let mut block = Vec::new();
        let mut to = self.spilled;
        while to > 0 {
            let from = to.saturating_sub(BLOCK as u64);
            self.read(from, to, &mut block)?;
            for (index, record) in block.iter().enumerate().rev() {
                visit(from + index as u64, &RowRecord::parse(record));
            }
            to = from;
        }
        Ok(())
    }

    fn read(&self, from: u64, to: u64, block: &mut Vec<[u8; SIZE]>) -> Result<(), RepairError> {
        block.resize(usize::try_from(to - from).unwrap_or(BLOCK), [0; SIZE]);
        self.scratch.read_exact_at(from * SIZE as u64, block.as_flattened_mut())?;
        Ok(())
    }
}

/// A set of row numbers, one bit each.
#[derive(Clone, Debug, Default)]
pub(super) struct RowSet(Vec<u64>);

impl RowSet {
    pub(super) fn insert(&mut self, row: u64) {
        let word = usize::try_from(row / 64).unwrap_or(usize::MAX);
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        if let Some(word) = self.0.get_mut(word) {
            *word |= 1 << (row % 64);
        }
    }

    pub(super) fn contains(&self, row: u64) -> bool {
        let word = usize::try_from(row / 64).ok().and_then(|word| self.0.get(word));
        word.is_some_and(|word| word & (1 << (row % 64)) != 0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_record_comes_back_as_it_was(
            digest in any::<RowKey>(),
            id in any::<RowKey>(),
            parent in any::<RowKey>(),
            line in 0_u64..1 << 56,
            kind in 0_usize..4,
            flags in any::<(bool, bool)>(),
        ) {
            let kinds = [None, Some(DocumentKind::Session), Some(DocumentKind::Sidecar), Some(DocumentKind::Rollout)];
            let record = RowRecord { digest, id, parent, line, kind: kinds[kind], is_link: flags.0, tells_apart: flags.1 };
            prop_assert_eq!(RowRecord::parse(&record.to_bytes()), record);
        }

        #[test]
        fn a_set_of_rows_contains_what_was_inserted(rows in proptest::collection::btree_set(0_u64..500, 0..40)) {
            let mut set = RowSet::default();
            for row in &rows {
                set.insert(*row);
            }
            for row in 0..600 {
                prop_assert_eq!(set.contains(row), rows.contains(&row));
            }
        }
    }
}
