//! Makes lines durable, even after a sync has failed.
//!
//! After a failed sync, it is unknown what is on the disk, and the next sync
//! may succeed although the lines never got there: the kernel reports a lost
//! page only once. So a failure is remembered, and no line counts as durable
//! until the whole file has been written again and synced, and has replaced the
//! old one.

use traj_core::port::SidecarError;

use super::FsSidecarWriter;
use crate::error::{Context as _, FsError};
use crate::safe::lock::lock_exclusive;
use crate::safe::open::identity_of;
use crate::safe::replace::sync_folder;
use crate::sidecar::handle::SidecarHandle;
use crate::sidecar::roll;

/// What still has to reach the disk.
#[derive(Debug)]
pub(super) struct Unsynced {
    /// Whether lines were written since the last sync.
    pub(super) lines: bool,
    /// Whether the directory's entry for the sidecar has not been synced yet.
    pub(super) entry: bool,
    /// Whether a sync failed, so that only a new file can be trusted.
    pub(super) is_doubtful: bool,
}

impl FsSidecarWriter {
    /// Forces everything to the disk.
    pub(super) fn sync(&mut self) -> Result<(), SidecarError> {
        if self.unsynced.is_doubtful {
            self.write_again()?;
        }
        let synced = self.sync_what_is_new();
        self.unsynced.is_doubtful = synced.is_err();
        synced.map_err(SidecarError::from)
    }

    fn sync_what_is_new(&mut self) -> Result<(), FsError> {
        if let Some(handle) = self.handle.as_ref().filter(|_| self.unsynced.lines) {
            handle.file.sync_data().context("sync", &self.name)?;
            self.unsynced.lines = false;
        }
        if self.unsynced.entry && (self.handle.is_some() || self.last_sequence > 0) {
            sync_folder(&self.folder, &self.name)?;
            self.unsynced.entry = false;
        }
        Ok(())
    }

    /// Replaces the sidecar with a copy that was synced.
    fn write_again(&mut self) -> Result<(), SidecarError> {
        loop {
            if identity_of(&self.folder, &self.name)?.is_none() {
                // Another process removed it: there is nothing to keep.
                return Ok(());
            }
            let mut handle = self.take_handle()?;
            match self.try_write_again(&mut handle) {
                Ok(true) => {
                    (self.unsynced.lines, self.unsynced.entry) = (false, true);
                    return Ok(());
                }
                // Another process replaced the file: try that one.
                Ok(false) => self.unsynced.entry = true,
                Err(error) => {
                    self.handle = Some(handle);
                    return Err(error);
                }
            }
        }
    }

    fn try_write_again(&self, handle: &mut SidecarHandle) -> Result<bool, SidecarError> {
        let file = std::sync::Arc::clone(&handle.file);
        let _lock = lock_exclusive(&file, &self.name)?;
        if !handle.is_current(&self.folder, &self.name, || self.session_names(&[]))? {
            return Ok(false);
        }
        handle.catch_up(&self.name)?;
        roll::replace_with_tail(&self.folder, &self.name, handle, u64::MAX, "")?;
        Ok(true)
    }
}
