//! Binding records, as files beside their sessions.
//!
//! `<session file>.codex-binding.json` holds the record (see
//! `docs/format/binding-v1.md`). It is replaced as a whole, so readers need no
//! lock. Writers compare and replace it under the lock of its directory, so
//! changes by several processes happen one after the other.

use std::io::{Read as _, Write as _};
use std::sync::Arc;

use cap_std::fs::{Dir, File};
use traj_core::binding::{
    BindingRecord, ClearDecision, Fingerprint, ForeignRecord, IMPORT_SUFFIX, RecordError,
    StoredBinding, decide_clear, decode_record, encode_cleared, encode_record, import_record,
};
use traj_core::id::ThreadId;
use traj_core::limits::Reading;
use traj_core::port::{
    BindingKey, BindingStore, BindingStoreError, Clock, LoadedBinding, Revision,
};

use crate::error::{Context as _, FsError};
use crate::safe::lock::{FileLock, lock_exclusive};
use crate::safe::open::{Access, open_regular};
use crate::safe::replace::{replace_file, sync_folder};

/// The suffix of a record's file name.
pub const BINDING_SUFFIX: &str = ".codex-binding.json";
/// The name of the lock file for changes in this directory.
const LOCK_NAME: &str = ".traj-codex-binding.lock";
/// A file larger than this is not a record.
const LARGEST: u64 = Reading::standard().binding_bytes as u64;
/// How many names are tried for a damaged record that is set aside.
const MOST_ASIDE: u32 = 1_000;

/// The records of one directory.
#[derive(Debug)]
pub struct FsBindingStore {
    folder: Dir,
    clock: Arc<dyn Clock>,
}

/// What was found where a record should be.
enum FoundRecord {
    Nothing,
    Cleared,
    Record(Box<BindingRecord>, Revision),
}

impl FsBindingStore {
    /// The records in `folder`.
    #[must_use]
    pub fn new(folder: Dir, clock: Arc<dyn Clock>) -> Self {
        Self { folder, clock }
    }

    fn lock_file(&self) -> Result<File, FsError> {
        open_regular(&self.folder, LOCK_NAME, Access::Update)
    }

    /// The bytes of a file; `None` when it does not exist.
    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, FsError> {
        let file = match open_regular(&self.folder, name, Access::Read) {
            Ok(file) => file,
            Err(error) if error.is_not_found() => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut bytes = Vec::new();
        file.take(LARGEST + 1).read_to_end(&mut bytes).context("read", name)?;
        Ok(Some(bytes))
    }

    fn find(&self, key: &BindingKey) -> Result<FoundRecord, BindingStoreError> {
        let bytes = self.read(&record_name(key)).map_err(|error| storage(key, error))?;
        let Some(bytes) = bytes else { return Ok(FoundRecord::Nothing) };
        let decoded = check_size(&bytes).and_then(|()| decode_record(&bytes));
        match decoded.map_err(|reason| unreadable(key, reason))? {
            StoredBinding::Active(record) => Ok(FoundRecord::Record(record, revision_of(&bytes))),
            _ => Ok(FoundRecord::Cleared),
        }
    }

    /// Another tool's record, if there is one.
    fn find_import(&self, key: &BindingKey) -> Result<Option<BindingRecord>, BindingStoreError> {
        let bytes = self.read(&import_name(key)).map_err(|error| storage(key, error))?;
        let Some(bytes) = bytes else { return Ok(None) };
        let imported = check_size(&bytes).and_then(|()| import_record(&bytes, self.clock.now()));
        imported.map(Some).map_err(|reason| unreadable(key, reason))
    }

    fn write(&self, key: &BindingKey, text: &str) -> Result<(), BindingStoreError> {
        let written = replace_file(&self.folder, &record_name(key), 0o600, |file| {
            file.write_all(text.as_bytes())
        });
        written.map_err(|error| storage(key, error))
    }

    /// Renames a file to the first free name, so that no earlier file is lost.
    fn move_aside(&self, name: &str) -> Result<String, FsError> {
        for number in 1..=MOST_ASIDE {
            let aside = format!("{name}.damaged-{number}");
            if self.folder.symlink_metadata(&aside).is_err() {
                self.folder.rename(name, &self.folder, &aside).context("set aside", name)?;
                sync_folder(&self.folder, name)?;
                return Ok(aside);
            }
        }
        Err(std::io::Error::other("too many damaged records were already set aside"))
            .context("set aside", name)
    }
}

fn lock<'a>(file: &'a File, key: &BindingKey) -> Result<FileLock<'a>, BindingStoreError> {
    lock_exclusive(file, LOCK_NAME).map_err(|error| storage(key, error))
}

fn record_name(key: &BindingKey) -> String {
    format!("{key}{BINDING_SUFFIX}")
}

fn import_name(key: &BindingKey) -> String {
    format!("{key}{IMPORT_SUFFIX}")
}

/// The revision of a record is its content: equal content, equal revision.
fn revision_of(bytes: &[u8]) -> Revision {
    Revision::new(Fingerprint::opaque(&String::from_utf8_lossy(bytes)).as_str().to_owned())
}

fn check_size(bytes: &[u8]) -> Result<(), RecordError> {
    let is_small = u64::try_from(bytes.len()).is_ok_and(|length| length <= LARGEST);
    if is_small { Ok(()) } else { Err(RecordError::Damaged { what: "too large" }) }
}

fn storage(key: &BindingKey, error: FsError) -> BindingStoreError {
    BindingStoreError::Storage { key: key.clone(), source: Box::new(error) }
}

fn unreadable(key: &BindingKey, reason: RecordError) -> BindingStoreError {
    BindingStoreError::Unreadable { key: key.clone(), reason }
}

impl BindingStore for FsBindingStore {
    fn load(&self, key: &BindingKey) -> Result<Option<LoadedBinding>, BindingStoreError> {
        match self.find(key)? {
            FoundRecord::Record(record, revision) => {
                Ok(Some(LoadedBinding::new(*record, Some(revision))))
            }
            FoundRecord::Cleared => Ok(None),
            FoundRecord::Nothing => {
                Ok(self.find_import(key)?.map(|record| LoadedBinding::new(record, None)))
            }
        }
    }

    fn save(
        &self,
        key: &BindingKey,
        record: &BindingRecord,
        expected: Option<&Revision>,
    ) -> Result<Revision, BindingStoreError> {
        let file = self.lock_file().map_err(|error| storage(key, error))?;
        let _lock = lock(&file, key)?;
        let found = match self.find(key)? {
            FoundRecord::Record(_, revision) => Some(revision),
            FoundRecord::Cleared | FoundRecord::Nothing => None,
        };
        if found.as_ref() != expected {
            return Err(BindingStoreError::Conflict { key: key.clone() });
        }
        let text = encode_record(record);
        self.write(key, &text)?;
        Ok(revision_of(text.as_bytes()))
    }

    fn clear(&self, key: &BindingKey, thread: &ThreadId) -> Result<bool, BindingStoreError> {
        let file = self.lock_file().map_err(|error| storage(key, error))?;
        let _lock = lock(&file, key)?;
        let imported = || self.find_import(key);
        let bound = match self.find(key)? {
            FoundRecord::Record(record, _) => Some(*record),
            FoundRecord::Cleared => None,
            FoundRecord::Nothing => imported()?,
        };
        let foreign = match self.folder.symlink_metadata(import_name(key)) {
            Ok(_) => ForeignRecord::Present,
            Err(_) => ForeignRecord::Absent,
        };
        let decision = decide_clear(bound.as_ref(), thread, foreign);
        match decision {
            ClearDecision::Keep => {}
            ClearDecision::Mark => {
                self.write(key, &encode_cleared(self.clock.now()))?;
            }
            ClearDecision::Remove => {
                let name = record_name(key);
                let removed = self.folder.remove_file(&name).context("remove", &name);
                let removed = removed.and_then(|()| sync_folder(&self.folder, &name));
                removed.map_err(|error| storage(key, error))?;
            }
        }
        Ok(decision != ClearDecision::Keep)
    }

    fn set_aside(&self, key: &BindingKey) -> Result<Option<String>, BindingStoreError> {
        let file = self.lock_file().map_err(|error| storage(key, error))?;
        let _lock = lock(&file, key)?;
        let name = match (self.find(key), self.find_import(key)) {
            (Err(BindingStoreError::Unreadable { .. }), _) => record_name(key),
            (Ok(FoundRecord::Nothing), Err(BindingStoreError::Unreadable { .. })) => {
                import_name(key)
            }
            (Err(error), _) => return Err(error),
            _ => return Ok(None),
        };
        self.move_aside(&name).map(Some).map_err(|error| storage(key, error))
    }

    fn list(&self) -> Result<Vec<BindingKey>, BindingStoreError> {
        let mut keys = Vec::new();
        let folder_error = |error: FsError| BindingStoreError::Listing { source: Box::new(error) };
        let entries = self.folder.entries().context("read the directory", ".");
        for entry in entries.map_err(folder_error)? {
            let name = entry.context("read the directory", ".").map_err(folder_error)?.file_name();
            let session = name.to_str().and_then(|name| name.strip_suffix(BINDING_SUFFIX));
            let Some(Ok(key)) = session.map(BindingKey::parse) else { continue };
            if !matches!(self.find(&key), Ok(FoundRecord::Cleared | FoundRecord::Nothing)) {
                keys.push(key);
            }
        }
        keys.sort();
        Ok(keys)
    }
}
