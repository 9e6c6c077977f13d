//! Bundles in memory.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::scratch::{ByteBudget, MemoryScratch};
use crate::id::BundleName;
use crate::port::{
    BundleFile, BundleFileWriter, BundleSink, BundleSinkError, BundleWriter, NameTaken, Scratch,
    Source, SourceError,
};
use crate::redaction::Redacted;

/// The files of a committed bundle.
pub type MemoryBundle = BTreeMap<BundleFile, String>;

/// Bundles by name, with a fixed capacity in bytes.
#[derive(Clone, Debug)]
pub struct MemoryBundleSink {
    bundles: Bundles,
    room: ByteBudget,
}

type Bundles = Arc<Mutex<BTreeMap<String, MemoryBundle>>>;

type Files = Arc<Mutex<BTreeMap<BundleFile, BundleFileState>>>;

#[derive(Clone, Debug, Default)]
struct BundleFileState {
    text: String,
    is_finished: bool,
}

impl MemoryBundleSink {
    /// A sink without bundles and without a limit.
    #[must_use]
    pub fn new() -> Self {
        Self::with_room(usize::MAX)
    }

    /// A sink with room for this many bytes, scratch files included.
    #[must_use]
    pub fn with_room(bytes: usize) -> Self {
        Self { bundles: Bundles::default(), room: ByteBudget::of(bytes) }
    }

    /// A committed bundle.
    #[must_use]
    pub fn bundle(&self, name: &str) -> Option<MemoryBundle> {
        lock(&self.bundles).get(name).cloned()
    }

    /// The names of all committed bundles.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        lock(&self.bundles).keys().cloned().collect()
    }
}

impl Default for MemoryBundleSink {
    fn default() -> Self {
        Self::new()
    }
}

impl BundleSink for MemoryBundleSink {
    fn begin(
        &self,
        name: &BundleName,
        taken: NameTaken,
    ) -> Result<Box<dyn BundleWriter>, BundleSinkError> {
        let is_taken = lock(&self.bundles).contains_key(name.as_str());
        if is_taken && taken == NameTaken::Refuse {
            return Err(BundleSinkError::Exists { name: name.as_str().to_owned() });
        }
        Ok(Box::new(MemoryBundleWriter {
            wanted: name.clone(),
            name: name.as_str().to_owned(),
            taken,
            bundles: Arc::clone(&self.bundles),
            room: self.room.clone(),
            files: Files::default(),
        }))
    }
}

#[derive(Debug)]
struct MemoryBundleWriter {
    wanted: BundleName,
    name: String,
    taken: NameTaken,
    bundles: Bundles,
    room: ByteBudget,
    files: Files,
}

impl BundleWriter for MemoryBundleWriter {
    fn create(&mut self, file: BundleFile) -> Result<Box<dyn BundleFileWriter>, BundleSinkError> {
        let mut files = lock(&self.files);
        if files.contains_key(&file) {
            return Err(BundleSinkError::Repeated { file });
        }
        files.insert(file, BundleFileState::default());
        let (name, room) = (self.name.clone(), self.room.clone());
        Ok(Box::new(MemoryFileWriter { name, file, files: Arc::clone(&self.files), room }))
    }

    fn read_back(&self, file: BundleFile) -> Result<Box<dyn Source>, BundleSinkError> {
        match lock(&self.files).get(&file) {
            Some(state) if state.is_finished => {
                Ok(Box::new(FinishedFile { name: file.to_string(), text: state.text.clone() }))
            }
            _ => Err(BundleSinkError::Storage {
                name: self.name.clone(),
                source: format!("{file} is not finished").into(),
            }),
        }
    }

    fn scratch(&self) -> Result<Box<dyn Scratch>, BundleSinkError> {
        Ok(Box::new(MemoryScratch::sharing(self.room.clone())))
    }

    fn commit(self: Box<Self>) -> Result<String, BundleSinkError> {
        let files = std::mem::take(&mut *lock(&self.files));
        if let Some((file, _)) = files.iter().find(|(_, state)| !state.is_finished) {
            let source = format!("{file} is not finished").into();
            return Err(BundleSinkError::Storage { name: self.name.clone(), source });
        }
        let mut bundles = lock(&self.bundles);
        let mut name = self.name.clone();
        let mut counter = 1;
        while bundles.contains_key(&name) {
            if self.taken == NameTaken::Refuse {
                return Err(BundleSinkError::Exists { name });
            }
            counter += 1;
            self.wanted.with_counter(counter).as_str().clone_into(&mut name);
        }
        let files = files.into_iter().map(|(file, state)| (file, state.text)).collect();
        bundles.insert(name.clone(), files);
        Ok(name)
    }
}

#[derive(Debug)]
struct MemoryFileWriter {
    /// The bundle's.
    name: String,
    file: BundleFile,
    files: Files,
    room: ByteBudget,
}

impl BundleFileWriter for MemoryFileWriter {
    fn append(&mut self, text: &Redacted<String>) -> Result<(), BundleSinkError> {
        if !self.room.take(text.as_ref().len()) {
            return Err(BundleSinkError::Full { name: self.name.clone() });
        }
        lock(&self.files).entry(self.file).or_default().text.push_str(text.as_ref());
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), BundleSinkError> {
        lock(&self.files).entry(self.file).or_default().is_finished = true;
        Ok(())
    }
}

#[derive(Debug)]
struct FinishedFile {
    name: String,
    text: String,
}

impl Source for FinishedFile {
    fn len(&self) -> u64 {
        self.text.len() as u64
    }

    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), SourceError> {
        let part = usize::try_from(offset).ok().and_then(|start| {
            let end = start.checked_add(buffer.len())?;
            self.text.as_bytes().get(start..end)
        });
        let changed = || SourceError::Changed { name: self.name.clone() };
        buffer.copy_from_slice(part.ok_or_else(changed)?);
        Ok(())
    }

    fn check_unchanged(&self) -> Result<(), SourceError> {
        Ok(())
    }
}

/// A poisoned lock must not hide the test panic that caused it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
