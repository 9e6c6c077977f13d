//! A dataset in memory, which can fail in every way that a real one does.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::port::{DatasetFile, DatasetKey, DatasetStore, DatasetStoreError, Stored};

/// A call to a dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the calls of the port")]
pub enum DatasetCall {
    /// [`DatasetStore::put_if_absent`].
    Put,
    /// [`DatasetStore::get`].
    Get,
    /// [`DatasetStore::list`].
    List,
    /// [`DatasetStore::delete`].
    Delete,
}

/// How a call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "tests name them")]
pub enum DatasetFault {
    /// The call has no effect, and may be tried again.
    Before,
    /// The call has its effect, but its answer is lost.
    After,
    /// The store asks to wait this long.
    Wait(Duration),
    /// The credentials are refused.
    Denied,
    /// The call has no effect, and never will.
    Broken,
}

type Faults = Box<dyn FnMut(DatasetCall) -> Option<DatasetFault> + Send>;

/// A strict in-memory [`DatasetStore`]. Clones share the files.
#[derive(Clone, Default)]
pub struct MemoryDataset {
    files: Arc<Mutex<BTreeMap<DatasetKey, Vec<u8>>>>,
}

impl fmt::Debug for MemoryDataset {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("MemoryDataset").field("files", &self.lock().len()).finish()
    }
}

impl MemoryDataset {
    /// A dataset without files.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same files behind faults.
    #[must_use]
    pub fn failing(
        &self,
        faults: impl FnMut(DatasetCall) -> Option<DatasetFault> + Send + 'static,
    ) -> FailingDataset {
        FailingDataset::new(Arc::new(self.clone()), faults)
    }

    /// All files.
    #[must_use]
    pub fn files(&self) -> BTreeMap<DatasetKey, Vec<u8>> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<DatasetKey, Vec<u8>>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Any dataset behind faults, which are asked for before each call.
pub struct FailingDataset {
    inner: Arc<dyn DatasetStore>,
    faults: Mutex<Faults>,
}

impl fmt::Debug for FailingDataset {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("FailingDataset").field("inner", &self.inner).finish_non_exhaustive()
    }
}

impl FailingDataset {
    /// Puts faults before the calls of a dataset.
    #[must_use]
    pub fn new(
        inner: Arc<dyn DatasetStore>,
        faults: impl FnMut(DatasetCall) -> Option<DatasetFault> + Send + 'static,
    ) -> Self {
        Self { inner, faults: Mutex::new(Box::new(faults)) }
    }

    /// Makes a call, or has the fault that was chosen for it.
    fn call<T>(
        &self,
        call: DatasetCall,
        make: impl FnOnce(&dyn DatasetStore) -> Result<T, DatasetStoreError>,
    ) -> Result<T, DatasetStoreError> {
        let mut faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        let fault = faults(call);
        drop(faults);
        match fault {
            None => make(&*self.inner),
            Some(DatasetFault::Before) => Err(DatasetStoreError::busy("injected: no answer")),
            Some(DatasetFault::After) => {
                make(&*self.inner)?;
                Err(DatasetStoreError::busy("injected: the answer is lost"))
            }
            Some(DatasetFault::Wait(time)) => {
                let source = "injected: too many requests".into();
                Err(DatasetStoreError::Busy { retry_after: Some(time), source })
            }
            Some(DatasetFault::Denied) => {
                Err(DatasetStoreError::Denied { source: "injected: refused".into() })
            }
            Some(DatasetFault::Broken) => Err(DatasetStoreError::failed("injected: broken")),
        }
    }
}

impl DatasetStore for FailingDataset {
    fn put_if_absent(&self, key: &DatasetKey, content: &[u8]) -> Result<Stored, DatasetStoreError> {
        self.call(DatasetCall::Put, |inner| inner.put_if_absent(key, content))
    }

    fn get(&self, key: &DatasetKey) -> Result<Option<Vec<u8>>, DatasetStoreError> {
        self.call(DatasetCall::Get, |inner| inner.get(key))
    }

    fn list(
        &self,
        prefix: &str,
        visit: &mut dyn FnMut(DatasetFile) -> ControlFlow<()>,
    ) -> Result<(), DatasetStoreError> {
        self.call(DatasetCall::List, |inner| {
            let mut found = Vec::new();
            inner.list(prefix, &mut |file| {
                found.push(file);
                ControlFlow::Continue(())
            })?;
            Ok(found)
        })
        .map(|found| {
            // A lost answer has no files.
            let _stopped = found.into_iter().try_for_each(visit);
        })
    }

    fn delete(&self, key: &DatasetKey) -> Result<(), DatasetStoreError> {
        self.call(DatasetCall::Delete, |inner| inner.delete(key))
    }
}

impl DatasetStore for MemoryDataset {
    fn put_if_absent(&self, key: &DatasetKey, content: &[u8]) -> Result<Stored, DatasetStoreError> {
        let mut files = self.lock();
        if files.contains_key(key) {
            return Ok(Stored::Exists);
        }
        files.insert(key.clone(), content.to_vec());
        Ok(Stored::New)
    }

    fn get(&self, key: &DatasetKey) -> Result<Option<Vec<u8>>, DatasetStoreError> {
        Ok(self.lock().get(key).cloned())
    }

    fn list(
        &self,
        prefix: &str,
        visit: &mut dyn FnMut(DatasetFile) -> ControlFlow<()>,
    ) -> Result<(), DatasetStoreError> {
        let found: Vec<DatasetFile> = {
            let files = self.lock();
            let fitting = files.iter().filter(|(key, _)| key.as_str().starts_with(prefix));
            let listed = fitting.map(|(key, content)| DatasetFile {
                key: key.clone(),
                bytes: content.len() as u64,
            });
            listed.collect()
        };
        // No caller may rely on an order: this one is the reverse of most stores'.
        for file in found.into_iter().rev() {
            if visit(file).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn delete(&self, key: &DatasetKey) -> Result<(), DatasetStoreError> {
        self.lock().remove(key);
        Ok(())
    }
}
