//! Finished files that could not be sent yet: a separate dataset on this host,
//! with a limit. The oldest files are dropped and counted.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use traj_core::port::{DatasetKey, DatasetStore, DatasetStoreError, Stored};

use crate::layout::{SegmentKey, TextKey};

/// The files of one segment that wait.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct WaitingSegment {
    /// The keys in the dataset; that of the events first.
    pub(super) keys: Vec<SegmentKey>,
    /// The long texts that its events name.
    pub(super) texts: Vec<TextKey>,
    bytes: u64,
}

/// The files that wait, oldest first.
#[derive(Debug)]
pub(super) struct Spool<'a> {
    store: &'a dyn DatasetStore,
    most_bytes: u64,
    waiting: BTreeMap<u64, WaitingSegment>,
}

impl<'a> Spool<'a> {
    /// Finds what waits.
    pub(super) fn open(
        store: &'a dyn DatasetStore,
        most_bytes: u64,
    ) -> Result<Self, DatasetStoreError> {
        let mut waiting: BTreeMap<u64, WaitingSegment> = BTreeMap::new();
        store.list("", &mut |file| {
            if let Some((number, key)) = parse(file.key.as_str()) {
                let segment = waiting.entry(number).or_default();
                match key {
                    WaitingKey::Segment(key) => segment.keys.push(key),
                    WaitingKey::Text(key) => segment.texts.push(key),
                }
                segment.keys.sort();
                segment.bytes = segment.bytes.saturating_add(file.bytes);
            }
            ControlFlow::Continue(())
        })?;
        Ok(Self { store, most_bytes, waiting })
    }

    /// Finds what other processes added.
    pub(super) fn look_again(&mut self) -> Result<(), DatasetStoreError> {
        *self = Self::open(self.store, self.most_bytes)?;
        Ok(())
    }

    pub(super) fn segments(&self) -> u64 {
        self.waiting.len() as u64
    }

    pub(super) fn bytes(&self) -> u64 {
        self.waiting.values().map(|segment| segment.bytes).sum()
    }

    /// The oldest segment.
    pub(super) fn oldest(&self) -> Option<(u64, WaitingSegment)> {
        self.waiting.first_key_value().map(|(number, segment)| (*number, segment.clone()))
    }

    /// The content of a file; `None` if another process sent or dropped it.
    pub(super) fn get(
        &self,
        number: u64,
        key: &SegmentKey,
    ) -> Result<Option<Vec<u8>>, DatasetStoreError> {
        self.store.get(&name(number, key)?)
    }

    /// The content of a long text; `None` if another process sent or dropped it.
    pub(super) fn get_text(
        &self,
        number: u64,
        key: &TextKey,
    ) -> Result<Option<Vec<u8>>, DatasetStoreError> {
        self.store.get(&text_name(number, key)?)
    }

    /// Keeps the files of a segment, in place of those that wait under the same
    /// names. Returns how many segments were dropped: older ones to make room,
    /// or this one if it is too large.
    pub(super) fn add(
        &mut self,
        files: &[(SegmentKey, Vec<u8>)],
        texts: &[(TextKey, Vec<u8>)],
    ) -> Result<u64, DatasetStoreError> {
        let sizes = files.iter().map(|(_, content)| content.len());
        let bytes = sizes.chain(texts.iter().map(|(_, content)| content.len()));
        let bytes = bytes.map(|bytes| bytes as u64).sum();
        let keys = files.iter().map(|(key, _)| key.clone()).collect();
        let names = texts.iter().map(|(key, _)| key.clone()).collect();
        let segment = WaitingSegment { keys, texts: names, bytes };
        let mut dropped = 0;
        let same =
            self.waiting.iter().filter(|(_, known)| known.keys.last() == segment.keys.last());
        for number in same.map(|(number, _)| *number).collect::<Vec<u64>>() {
            self.remove(number)?;
        }
        if bytes > self.most_bytes {
            return Ok(1);
        }
        while self.bytes().saturating_add(bytes) > self.most_bytes {
            let Some((number, _)) = self.oldest() else { break };
            self.remove(number)?;
            dropped += 1;
        }
        let mut number = self.waiting.last_key_value().map_or(1, |(last, _)| last + 1);
        let mut files = files.iter();
        // Another process may use the same number.
        if let Some((key, content)) = files.next() {
            while self.store.put_if_absent(&name(number, key)?, content)? == Stored::Exists {
                number += 1;
            }
        }
        for (key, content) in texts {
            self.store.put_if_absent(&text_name(number, key)?, content)?;
        }
        for (key, content) in files {
            self.store.put_if_absent(&name(number, key)?, content)?;
        }
        self.waiting.insert(number, segment);
        Ok(dropped)
    }

    /// Removes a segment. Its totals, without which it does not count, go
    /// first.
    pub(super) fn remove(&mut self, number: u64) -> Result<(), DatasetStoreError> {
        if let Some(segment) = self.waiting.get(&number) {
            for key in segment.keys.iter().rev() {
                self.store.delete(&name(number, key)?)?;
            }
            for key in &segment.texts {
                self.store.delete(&text_name(number, key)?)?;
            }
        }
        self.waiting.remove(&number);
        Ok(())
    }
}

/// The name of a file. Its number grows, whatever the clock does.
fn name(number: u64, key: &SegmentKey) -> Result<DatasetKey, DatasetStoreError> {
    DatasetKey::parse(format!("{number:012}/{key}")).map_err(DatasetStoreError::failed)
}

fn text_name(number: u64, key: &TextKey) -> Result<DatasetKey, DatasetStoreError> {
    let key = key.to_dataset_key().map_err(DatasetStoreError::failed)?;
    DatasetKey::parse(format!("{number:012}/{key}")).map_err(DatasetStoreError::failed)
}

/// A file that waits.
enum WaitingKey {
    Segment(SegmentKey),
    Text(TextKey),
}

fn parse(text: &str) -> Option<(u64, WaitingKey)> {
    let (number, key) = text.split_once('/')?;
    let segment = SegmentKey::parse(key).map(WaitingKey::Segment);
    let key = segment.or_else(|| TextKey::parse(key).map(WaitingKey::Text))?;
    Some((number.parse().ok()?, key))
}

#[cfg(test)]
mod tests {
    use traj_core::memory::MemoryDataset;

    use super::*;
    use crate::{Day, HostId, SegmentName, Table};

    fn files(first: u64, content: &[u8]) -> Vec<(SegmentKey, Vec<u8>)> {
        let name = SegmentName::new(&HostId::of(&[7; 32], "h"), "0123456789abcdef", first, 1);
        let key = |table| SegmentKey::new(table, Day::default(), None, name.clone());
        Table::ALL.map(|table| (key(table), content.to_vec())).into()
    }

    #[test]
    fn a_segment_waits_once_however_often_it_is_added() {
        let store = MemoryDataset::new();
        let mut spool = Spool::open(&store, 100).unwrap();
        for (first, content) in [(1, b"old"), (5, b"abc"), (1, b"new")] {
            assert_eq!(spool.add(&files(first, content), &[]).unwrap(), 0);
        }
        for spool in [&spool, &Spool::open(&store, 100).unwrap()] {
            assert_eq!((spool.segments(), spool.bytes()), (2, 12));
            let (number, segment) = spool.oldest().unwrap();
            assert_eq!(segment.keys.first().map(|key| key.name.first), Some(5));
            let key = segment.keys.first().unwrap();
            assert_eq!(spool.get(number, key).unwrap().as_deref(), Some(&b"abc"[..]));
        }
        assert_eq!(spool.add(&files(9, &[0; 44]), &[]).unwrap(), 0, "there is room for it");
        assert_eq!(spool.add(&files(13, b"x"), &[]).unwrap(), 1, "the oldest is dropped");
        assert_eq!(spool.add(&files(17, &[0; 51]), &[]).unwrap(), 1, "it is too large");
        assert_eq!((spool.segments(), spool.bytes()), (3, 96));
    }
}
