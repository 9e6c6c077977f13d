//! Sidecars in memory, as strict as those on disk.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::capture::{Blob, BlobDigest, BlobNames, PendingLine};
use crate::id::SessionId;
use crate::port::{
    Appended, Room, SidecarError, SidecarOptions, SidecarWriter, TrajectoryStore,
    source_sequence_of,
};
use crate::settings::WhenFull;

/// Sidecars of any number of sessions. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct MemoryTrajectoryStore {
    shared: Arc<Mutex<StoreState>>,
}

#[derive(Debug, Default)]
struct StoreState {
    sidecars: BTreeMap<SessionId, MemorySidecar>,
    calls: u64,
    writers: u64,
    failing_calls: Vec<u64>,
}

#[derive(Clone, Debug, Default)]
struct MemorySidecar {
    text: Vec<u8>,
    blobs: BTreeMap<BlobDigest, String>,
    /// Blobs that each writer has stored but not named yet.
    unnamed: BTreeMap<u64, BTreeSet<BlobDigest>>,
}

impl MemorySidecar {
    /// Records that a writer has named blobs.
    fn named(&mut self, writer: u64, names: &BTreeSet<BlobDigest>) {
        self.unnamed.entry(writer).or_default().retain(|digest| !names.contains(digest));
    }

    /// Removes unused blobs that no line names, unless any writer has unnamed
    /// blobs.
    fn free(&mut self, unused: &mut BTreeSet<BlobDigest>) {
        if unused.is_empty() || self.unnamed.values().any(|unnamed| !unnamed.is_empty()) {
            return;
        }
        let names = BlobNames::of(&self.text);
        for digest in std::mem::take(unused).difference(&names) {
            self.blobs.remove(digest);
        }
    }
}

impl MemoryTrajectoryStore {
    /// A store without sidecars.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes the `number`th writing call from now on (the first is 1) fail like
    /// a full disk.
    pub fn fail_call(&self, number: u64) {
        let mut shared = self.lock();
        let call = shared.calls + number;
        shared.failing_calls.push(call);
    }

    /// Adds bytes to a sidecar as another program or a crash would.
    pub fn write_foreign(&self, session: &SessionId, bytes: &[u8]) {
        self.lock().sidecars.entry(session.clone()).or_default().text.extend_from_slice(bytes);
    }

    /// The content of a sidecar, including a torn line; `None` if the session
    /// has no sidecar.
    #[must_use]
    pub fn content(&self, session: &SessionId) -> Option<Vec<u8>> {
        let shared = self.lock();
        let text = shared.sidecars.get(session).map(|sidecar| sidecar.text.clone());
        text.filter(|text| !text.is_empty())
    }

    fn lock(&self) -> MutexGuard<'_, StoreState> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StoreState {
    fn count_call(&mut self) -> Result<(), SidecarError> {
        self.calls += 1;
        if self.failing_calls.contains(&self.calls) {
            return Err(SidecarError::NoSpace { source: "injected failure: no space left".into() });
        }
        Ok(())
    }
}

impl TrajectoryStore for MemoryTrajectoryStore {
    fn open(
        &self,
        session: &SessionId,
        options: &SidecarOptions,
    ) -> Result<Box<dyn SidecarWriter>, SidecarError> {
        let (store, session, options) = (self.clone(), session.clone(), options.clone());
        let number = {
            let mut shared = self.lock();
            shared.writers += 1;
            shared.writers
        };
        let unused = BTreeSet::new();
        Ok(Box::new(MemorySidecarWriter { store, session, options, number, unused }))
    }

    fn visit(
        &self,
        session: &SessionId,
        visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<(), SidecarError> {
        let text = self.lock().sidecars.get(session).map(|sidecar| sidecar.text.clone());
        for line in complete_lines(&text.unwrap_or_default()) {
            if visit(line).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn read_blob(
        &self,
        session: &SessionId,
        digest: &BlobDigest,
    ) -> Result<Option<String>, SidecarError> {
        let shared = self.lock();
        Ok(shared.sidecars.get(session).and_then(|sidecar| sidecar.blobs.get(digest)).cloned())
    }
}

#[derive(Debug)]
struct MemorySidecarWriter {
    store: MemoryTrajectoryStore,
    session: SessionId,
    options: SidecarOptions,
    /// Distinguishes it from other writers.
    number: u64,
    /// Blobs of removed lines, until they can be removed too.
    unused: BTreeSet<BlobDigest>,
}

impl Drop for MemorySidecarWriter {
    fn drop(&mut self) {
        if let Some(sidecar) = self.store.lock().sidecars.get_mut(&self.session) {
            sidecar.unnamed.remove(&self.number);
            sidecar.free(&mut self.unused);
        }
    }
}

impl SidecarWriter for MemorySidecarWriter {
    fn append(&mut self, lines: &[PendingLine], room: Room) -> Result<Appended, SidecarError> {
        if lines.is_empty() {
            return Ok(Appended::new(0, 0, 0));
        }
        let mut shared = self.store.lock();
        shared.count_call()?;
        let existing = shared.sidecars.get(&self.session).cloned().unwrap_or_default();
        let mut text = existing.text;
        if text.last().is_some_and(|byte| *byte != b'\n') {
            text.push(b'\n');
        }
        let last = complete_lines(&text)
            .fold(0, |last, line| last.max(source_sequence_of(line, last).unwrap_or(0)));
        let mut added = String::new();
        for (number, line) in (last + 1..).zip(lines) {
            line.write(number, &mut added);
        }
        let capacity = self.options.capacity(room);
        let mut rolled_lines = 0;
        if (text.len() + added.len()) as u64 > capacity {
            if self.options.when_full == WhenFull::Stop || added.len() as u64 > capacity {
                let room = capacity.saturating_sub(text.len() as u64);
                return Err(SidecarError::Full { limit: self.options.limit_bytes, room });
            }
            let kept = self.options.kept_when_rolling(added.len() as u64);
            while text.len() as u64 > kept {
                let end =
                    text.iter().position(|byte| *byte == b'\n').map_or(text.len(), |at| at + 1);
                let gone: Vec<u8> = text.drain(..end).collect();
                self.unused.extend(BlobNames::of(&gone));
                rolled_lines += 1;
            }
        }
        text.extend_from_slice(added.as_bytes());
        let sidecar = shared.sidecars.entry(self.session.clone()).or_default();
        sidecar.text = text;
        sidecar.named(self.number, &BlobNames::of(added.as_bytes()));
        sidecar.free(&mut self.unused);
        Ok(Appended::new(last + 1, added.len() as u64, rolled_lines))
    }

    fn store_blob(&mut self, blob: &Blob) -> Result<(), SidecarError> {
        let mut shared = self.store.lock();
        shared.count_call()?;
        let budget = self.options.blob_budget_bytes;
        let sidecar = shared.sidecars.entry(self.session.clone()).or_default();
        let unnamed = sidecar.unnamed.entry(self.number).or_default();
        let blobs = &mut sidecar.blobs;
        if blobs.contains_key(blob.digest()) {
            unnamed.insert(blob.digest().clone());
            return Ok(());
        }
        let text = blob.text().as_ref();
        let used: usize = blobs.values().map(String::len).sum();
        if (used + text.len()) as u64 > budget {
            return Err(SidecarError::OverBudget { budget });
        }
        blobs.insert(blob.digest().clone(), text.clone());
        unnamed.insert(blob.digest().clone());
        Ok(())
    }

    fn flush(&mut self) -> Result<(), SidecarError> {
        self.store.lock().count_call()
    }
}

/// Lines that end with a newline, without it.
fn complete_lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').filter_map(|line| line.strip_suffix(b"\n"))
}
