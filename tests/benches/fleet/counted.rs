//! A dataset that counts what an object store would charge for.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use traj_core::port::{DatasetFile, DatasetKey, DatasetStore, DatasetStoreError, Stored};

/// The number of names that an object store lists with one request.
const PAGE: u64 = 1_000;

/// Dollars for a million requests that write or list, S3 Standard in us-east-1.
const WRITE_PRICE: f64 = 5.0;
/// Dollars for a million requests that read.
const READ_PRICE: f64 = 0.4;

/// Requests and bytes so far.
#[derive(Debug, Default)]
pub(super) struct Requests {
    pub(super) puts: AtomicU64,
    pub(super) gets: AtomicU64,
    pub(super) lists: AtomicU64,
    pub(super) files: AtomicU64,
    pub(super) bytes: AtomicU64,
}

impl Requests {
    pub(super) fn all(&self) -> f64 {
        (read(&self.puts) + read(&self.gets) + read(&self.lists)) as f64
    }

    pub(super) fn dollars(&self) -> f64 {
        let writes = (read(&self.puts) + read(&self.lists)) as f64;
        (writes * WRITE_PRICE + read(&self.gets) as f64 * READ_PRICE) / 1e6
    }
}

pub(super) fn read(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

fn add(counter: &AtomicU64, count: u64) {
    counter.fetch_add(count, Ordering::Relaxed);
}

/// Counts the calls of a dataset.
#[derive(Debug)]
pub(super) struct Counted<'a> {
    pub(super) inner: &'a dyn DatasetStore,
    pub(super) requests: &'a Requests,
}

impl DatasetStore for Counted<'_> {
    fn put_if_absent(&self, key: &DatasetKey, content: &[u8]) -> Result<Stored, DatasetStoreError> {
        let stored = self.inner.put_if_absent(key, content)?;
        add(&self.requests.puts, 1);
        if stored == Stored::New {
            add(&self.requests.files, 1);
            add(&self.requests.bytes, content.len() as u64);
        }
        Ok(stored)
    }

    fn get(&self, key: &DatasetKey) -> Result<Option<Vec<u8>>, DatasetStoreError> {
        add(&self.requests.gets, 1);
        self.inner.get(key)
    }

    fn list(
        &self,
        prefix: &str,
        visit: &mut dyn FnMut(DatasetFile) -> ControlFlow<()>,
    ) -> Result<(), DatasetStoreError> {
        let mut seen = 0;
        let listed = self.inner.list(prefix, &mut |file| {
            seen += 1;
            visit(file)
        });
        add(&self.requests.lists, 1 + seen / PAGE);
        listed
    }

    fn delete(&self, key: &DatasetKey) -> Result<(), DatasetStoreError> {
        self.inner.delete(key)
    }
}
