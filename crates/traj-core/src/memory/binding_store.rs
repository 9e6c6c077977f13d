//! Binding records in memory, as strict as a disk shared by several processes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::binding::{
    BindingRecord, ClearDecision, ForeignRecord, StoredBinding, decide_clear, decode_record,
    encode_cleared, encode_record, import_record,
};
use crate::id::ThreadId;
use crate::port::{BindingKey, BindingStore, BindingStoreError, LoadedBinding, Revision};
use crate::timestamp::UnixMillis;

/// Records in memory. Clones share the records, as processes share a disk.
#[derive(Clone, Debug, Default)]
pub struct MemoryBindingStore {
    shared: Arc<Mutex<BindingFiles>>,
}

#[derive(Debug, Default)]
struct BindingFiles {
    files: BTreeMap<BindingKey, BindingFile>,
    imports: BTreeMap<BindingKey, Vec<u8>>,
    aside: Vec<String>,
    writes: u64,
    calls: u64,
    failing: Option<u64>,
}

#[derive(Clone, Debug)]
struct BindingFile {
    bytes: Vec<u8>,
    revision: u64,
}

/// A failure that a test injects.
#[derive(Debug, thiserror::Error)]
#[error("injected failure")]
struct InjectedFailure;

impl MemoryBindingStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes the call with this number fail, counted from one over all methods.
    pub fn fail_call(&self, call: u64) {
        let mut shared = self.lock();
        shared.failing = Some(shared.calls + call);
    }

    /// Replaces a record with these bytes, as a crash or another program could.
    pub fn put_bytes(&self, key: &BindingKey, bytes: &[u8]) {
        let mut shared = self.lock();
        shared.write(key, bytes.to_vec());
    }

    /// Adds another tool's record for the session.
    pub fn put_import(&self, key: &BindingKey, bytes: &[u8]) {
        self.lock().imports.insert(key.clone(), bytes.to_vec());
    }

    /// The stored bytes.
    #[must_use]
    pub fn bytes(&self, key: &BindingKey) -> Option<Vec<u8>> {
        self.lock().files.get(key).map(|file| file.bytes.clone())
    }

    fn lock(&self) -> MutexGuard<'_, BindingFiles> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn call(
        &self,
        key: Option<&BindingKey>,
    ) -> Result<MutexGuard<'_, BindingFiles>, BindingStoreError> {
        let mut shared = self.lock();
        shared.calls += 1;
        if shared.failing == Some(shared.calls) {
            let source = Box::new(InjectedFailure);
            return Err(match key {
                Some(key) => BindingStoreError::Storage { key: key.clone(), source },
                None => BindingStoreError::Listing { source },
            });
        }
        Ok(shared)
    }
}

impl BindingFiles {
    fn write(&mut self, key: &BindingKey, bytes: Vec<u8>) -> Revision {
        self.writes += 1;
        self.files.insert(key.clone(), BindingFile { bytes, revision: self.writes });
        Revision::new(self.writes.to_string())
    }

    /// The stored record with its revision; a cleared record counts as none.
    fn stored(
        &self,
        key: &BindingKey,
    ) -> Result<Option<(BindingRecord, Revision)>, BindingStoreError> {
        let Some(file) = self.files.get(key) else { return Ok(None) };
        let unreadable = |reason| BindingStoreError::Unreadable { key: key.clone(), reason };
        Ok(match decode_record(&file.bytes).map_err(unreadable)? {
            StoredBinding::Active(record) => {
                Some((*record, Revision::new(file.revision.to_string())))
            }
            StoredBinding::Cleared => None,
        })
    }

    fn import(&self, key: &BindingKey) -> Result<Option<BindingRecord>, BindingStoreError> {
        if self.files.contains_key(key) {
            return Ok(None);
        }
        let Some(bytes) = self.imports.get(key) else { return Ok(None) };
        let unreadable = |reason| BindingStoreError::Unreadable { key: key.clone(), reason };
        import_record(bytes, UnixMillis::EPOCH).map(Some).map_err(unreadable)
    }
}

impl BindingStore for MemoryBindingStore {
    fn load(&self, key: &BindingKey) -> Result<Option<LoadedBinding>, BindingStoreError> {
        let shared = self.call(Some(key))?;
        if let Some((record, revision)) = shared.stored(key)? {
            return Ok(Some(LoadedBinding::new(record, Some(revision))));
        }
        Ok(shared.import(key)?.map(|record| LoadedBinding::new(record, None)))
    }

    fn save(
        &self,
        key: &BindingKey,
        record: &BindingRecord,
        expected: Option<&Revision>,
    ) -> Result<Revision, BindingStoreError> {
        let mut shared = self.call(Some(key))?;
        let found = shared.stored(key)?.map(|(_, revision)| revision);
        if found.as_ref() != expected {
            return Err(BindingStoreError::Conflict { key: key.clone() });
        }
        Ok(shared.write(key, encode_record(record).into_bytes()))
    }

    fn clear(&self, key: &BindingKey, thread: &ThreadId) -> Result<bool, BindingStoreError> {
        let mut shared = self.call(Some(key))?;
        let bound = match shared.stored(key)? {
            Some((record, _)) => Some(record),
            None => shared.import(key)?,
        };
        let foreign = if shared.imports.contains_key(key) {
            ForeignRecord::Present
        } else {
            ForeignRecord::Absent
        };
        let decision = decide_clear(bound.as_ref(), thread, foreign);
        match decision {
            ClearDecision::Keep => {}
            ClearDecision::Mark => {
                shared.write(key, encode_cleared(UnixMillis::EPOCH).into_bytes());
            }
            ClearDecision::Remove => {
                shared.files.remove(key);
            }
        }
        Ok(decision != ClearDecision::Keep)
    }

    fn set_aside(&self, key: &BindingKey) -> Result<Option<String>, BindingStoreError> {
        let mut shared = self.call(Some(key))?;
        if shared.stored(key).is_ok() {
            return Ok(None);
        }
        shared.files.remove(key);
        let name = format!("{key}.aside-{}", shared.aside.len() + 1);
        shared.aside.push(name.clone());
        Ok(Some(name))
    }

    fn list(&self) -> Result<Vec<BindingKey>, BindingStoreError> {
        let shared = self.call(None)?;
        let is_active = |key: &&BindingKey| !matches!(shared.stored(key), Ok(None));
        Ok(shared.files.keys().filter(is_active).cloned().collect())
    }
}
