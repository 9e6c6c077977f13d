//! Stores millions of small fixed-size records: a few in memory, many in a
//! scratch file.

use std::marker::PhantomData;
use std::ops::Range;

use traj_core::port::{BundleSinkError, Scratch, ScratchError};

/// Bytes of records that one store keeps in memory. The limit is low, so a
/// session ten times as long needs no more memory.
const IN_MEMORY: usize = 256 * 1024;

/// Records are read back in blocks of about this many bytes.
const BLOCK: usize = 64 * 1024;

/// A record of fixed size.
pub(crate) trait FixedRecord: Copy {
    /// Its size in bytes.
    const SIZE: usize;

    /// Writes the record into exactly [`Self::SIZE`] bytes.
    fn encode(&self, bytes: &mut RecordEncoder<'_>);

    /// Reads what [`Self::encode`] wrote.
    fn decode(bytes: &mut RecordDecoder<'_>) -> Self;
}

/// Writes the fields of a record one after the other.
pub(crate) struct RecordEncoder<'b>(&'b mut Vec<u8>);

impl RecordEncoder<'_> {
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    pub(crate) fn u64(&mut self, value: u64) {
        self.bytes(&value.to_le_bytes());
    }

    pub(crate) fn u32(&mut self, value: u32) {
        self.bytes(&value.to_le_bytes());
    }

    pub(crate) fn u8(&mut self, value: u8) {
        self.bytes(&[value]);
    }
}

/// Reads the fields of a record one after the other.
pub(crate) struct RecordDecoder<'b>(&'b [u8]);

impl RecordDecoder<'_> {
    pub(crate) fn bytes<const N: usize>(&mut self) -> [u8; N] {
        // A store holds only whole records, so a field is never cut.
        let Some((field, rest)) = self.0.split_first_chunk() else { return [0; N] };
        self.0 = rest;
        *field
    }

    pub(crate) fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.bytes())
    }

    pub(crate) fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.bytes())
    }

    pub(crate) fn u8(&mut self) -> u8 {
        let [value] = self.bytes();
        value
    }
}

/// Creates scratch files when stores outgrow memory.
pub(crate) trait Spool: Sync {
    fn scratch(&self) -> Result<Box<dyn Scratch>, BundleSinkError>;
}

impl Spool for &dyn traj_core::port::BundleWriter {
    fn scratch(&self) -> Result<Box<dyn Scratch>, BundleSinkError> {
        traj_core::port::BundleWriter::scratch(*self)
    }
}

/// Records in the order in which they were pushed, read by index.
pub(crate) struct RecordStore<R> {
    length: u64,
    /// The records after those in the scratch file.
    tail: Vec<u8>,
    spilled: Option<SpilledRecords>,
    limit: usize,
    kind: PhantomData<R>,
}

struct SpilledRecords {
    scratch: Box<dyn Scratch>,
    bytes: u64,
    block: Vec<u8>,
    block_start: u64,
}

impl<R: FixedRecord> RecordStore<R> {
    pub(crate) fn new() -> Self {
        Self::with_limit(IN_MEMORY)
    }

    pub(crate) const fn with_limit(limit: usize) -> Self {
        Self { length: 0, tail: Vec::new(), spilled: None, limit, kind: PhantomData }
    }

    pub(crate) const fn len(&self) -> u64 {
        self.length
    }

    pub(crate) fn push(&mut self, record: R, spool: &dyn Spool) -> Result<(), BundleSinkError> {
        if self.tail.len() + R::SIZE > self.limit {
            self.spill(spool)?;
        }
        record.encode(&mut RecordEncoder(&mut self.tail));
        self.length += 1;
        Ok(())
    }

    fn spill(&mut self, spool: &dyn Spool) -> Result<(), BundleSinkError> {
        let spilled = match &mut self.spilled {
            Some(spilled) => spilled,
            empty => {
                let scratch = spool.scratch()?;
                empty.insert(SpilledRecords {
                    scratch,
                    bytes: 0,
                    block: Vec::new(),
                    block_start: 0,
                })
            }
        };
        spilled.scratch.append(&self.tail)?;
        spilled.bytes += self.tail.len() as u64;
        self.tail.clear();
        Ok(())
    }

    /// The records of a range, read at once.
    pub(crate) fn range(&mut self, range: Range<u64>) -> Result<Vec<R>, BundleSinkError> {
        let (start, end) = (range.start * R::SIZE as u64, range.end * R::SIZE as u64);
        let spilled_bytes = self.spilled.as_ref().map_or(0, |spilled| spilled.bytes);
        let border = spilled_bytes.clamp(start, end);
        let mut bytes = vec![0; usize::try_from(border - start).unwrap_or(usize::MAX)];
        if let Some(spilled) = self.spilled.as_mut().filter(|_| !bytes.is_empty()) {
            spilled.scratch.read_exact_at(start, &mut bytes)?;
        }
        let in_tail = |at: u64| usize::try_from(at - spilled_bytes).unwrap_or(usize::MAX);
        let tail = if border < end {
            let tail = self.tail.get(in_tail(border)..in_tail(end));
            tail.ok_or(ScratchError::Damaged)?
        } else {
            &[]
        };
        let records = bytes.chunks_exact(R::SIZE).chain(tail.chunks_exact(R::SIZE));
        Ok(records.map(|record| R::decode(&mut RecordDecoder(record))).collect())
    }

    /// The record at `index`.
    pub(crate) fn get(&mut self, index: u64) -> Result<R, BundleSinkError> {
        let at = index * R::SIZE as u64;
        let spilled_bytes = self.spilled.as_ref().map_or(0, |spilled| spilled.bytes);
        if let Some(offset) = at.checked_sub(spilled_bytes) {
            let start = usize::try_from(offset).unwrap_or(usize::MAX);
            let record = self.tail.get(start..start.saturating_add(R::SIZE));
            return record
                .map(|record| R::decode(&mut RecordDecoder(record)))
                .ok_or_else(|| ScratchError::Damaged.into());
        }
        match &mut self.spilled {
            Some(spilled) => Ok(spilled.get(at)?),
            None => Err(ScratchError::Damaged.into()),
        }
    }
}

impl SpilledRecords {
    fn get<R: FixedRecord>(&mut self, at: u64) -> Result<R, ScratchError> {
        let inside = |spilled: &Self| {
            at >= spilled.block_start
                && at + R::SIZE as u64 <= spilled.block_start + spilled.block.len() as u64
        };
        if !inside(self) {
            let per_block = (BLOCK / R::SIZE * R::SIZE) as u64;
            self.block_start = at / per_block * per_block;
            let length = per_block.min(self.bytes - self.block_start);
            self.block.resize(usize::try_from(length).unwrap_or(BLOCK), 0);
            self.scratch.read_exact_at(self.block_start, &mut self.block)?;
        }
        let start = usize::try_from(at - self.block_start).unwrap_or(usize::MAX);
        let record = self.block.get(start..).ok_or(ScratchError::Damaged)?;
        Ok(R::decode(&mut RecordDecoder(record)))
    }
}

impl FixedRecord for u64 {
    const SIZE: usize = 8;

    fn encode(&self, bytes: &mut RecordEncoder<'_>) {
        bytes.u64(*self);
    }

    fn decode(bytes: &mut RecordDecoder<'_>) -> Self {
        bytes.u64()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use traj_core::id::BundleName;
    use traj_core::memory::MemoryBundleSink;
    use traj_core::port::{BundleSink as _, BundleWriter, NameTaken};

    use super::*;

    /// An uncommitted bundle provides scratch files.
    pub(crate) fn spool() -> Box<dyn BundleWriter> {
        MemoryBundleSink::new().begin(&BundleName::parse("b").unwrap(), NameTaken::Refuse).unwrap()
    }

    #[test]
    fn records_round_trip_whether_spilled_or_not() {
        let writer = spool();
        for limit in [usize::MAX, 1_000, 8] {
            let mut store = RecordStore::<u64>::with_limit(limit);
            for value in 0..50_000_u64 {
                store.push(value * 3, &&*writer).unwrap();
            }
            assert_eq!(store.len(), 50_000);
            for index in [0, 49_999, 1, 25_000, 8_191, 8_192, 3] {
                assert_eq!(store.get(index).unwrap(), index * 3, "{limit} {index}");
            }
            assert!(store.get(50_000).is_err());
            for range in [0..3, 120..130, 49_990..50_000, 0..50_000, 7..7] {
                let expected: Vec<u64> = range.clone().map(|index| index * 3).collect();
                assert_eq!(store.range(range).unwrap(), expected, "{limit}");
            }
            assert!(store.range(49_999..50_001).is_err());
        }
    }
}
