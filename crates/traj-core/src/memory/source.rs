//! Inputs in memory.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::port::{Source, SourceError, Sources};

/// The file under a name.
#[derive(Clone, Debug)]
enum StoredFile {
    File(Vec<u8>),
    Link,
}

type Places = Arc<Mutex<BTreeMap<String, StoredFile>>>;

/// Files by name. Clones share the files, so that a test can change a file
/// while it is read.
#[derive(Clone, Debug, Default)]
pub struct MemorySources {
    places: Places,
}

impl MemorySources {
    /// An empty set of files.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file, or replaces its content.
    pub fn put(&self, name: impl Into<String>, content: impl Into<Vec<u8>>) {
        lock(&self.places).insert(name.into(), StoredFile::File(content.into()));
    }

    /// Adds something that is not a regular file.
    pub fn put_link(&self, name: impl Into<String>) {
        lock(&self.places).insert(name.into(), StoredFile::Link);
    }

    /// Removes a file.
    pub fn remove(&self, name: &str) {
        lock(&self.places).remove(name);
    }
}

impl Sources for MemorySources {
    fn open(&self, name: &str) -> Result<Box<dyn Source>, SourceError> {
        if name.split('/').any(|part| part == "..") {
            return Err(SourceError::Outside { name: name.to_owned() });
        }
        match lock(&self.places).get(name) {
            None => Err(SourceError::NotFound { name: name.to_owned() }),
            Some(StoredFile::Link) => Err(SourceError::NotRegular { name: name.to_owned() }),
            Some(StoredFile::File(content)) => Ok(Box::new(MemorySource {
                name: name.to_owned(),
                snapshot: content.clone(),
                places: Arc::clone(&self.places),
            })),
        }
    }

    fn list(&self, folder: &str) -> Result<Vec<String>, SourceError> {
        let places = lock(&self.places);
        let inside = places.iter().filter_map(|(name, file)| {
            let name = name.strip_prefix(folder)?.strip_prefix('/')?;
            let is_file = matches!(file, StoredFile::File(_)) && !name.contains('/');
            is_file.then(|| name.to_owned())
        });
        Ok(inside.collect())
    }
}

/// Reads the content at the time of opening, but fails like a real file if the
/// file was truncated or rewritten since.
#[derive(Debug)]
struct MemorySource {
    name: String,
    snapshot: Vec<u8>,
    places: Places,
}

impl MemorySource {
    fn changed(&self) -> SourceError {
        SourceError::Changed { name: self.name.clone() }
    }
}

impl Source for MemorySource {
    fn len(&self) -> u64 {
        self.snapshot.len() as u64
    }

    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), SourceError> {
        let part = usize::try_from(offset).ok().and_then(|start| {
            let end = start.checked_add(buffer.len())?;
            self.snapshot.get(start..end)
        });
        buffer.copy_from_slice(part.ok_or_else(|| self.changed())?);
        self.check_unchanged()
    }

    fn check_unchanged(&self) -> Result<(), SourceError> {
        match lock(&self.places).get(&self.name) {
            // A file that was removed, or replaced by another kind, can still
            // be read through its handle.
            None | Some(StoredFile::Link) => Ok(()),
            Some(StoredFile::File(now)) if now.starts_with(&self.snapshot) => Ok(()),
            Some(StoredFile::File(_)) => Err(self.changed()),
        }
    }
}

/// A poisoned lock must not hide the test panic that caused it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
