//! Syncs a file while it is still being written. With a single sync at the end,
//! the disk would be idle first, and then the writer would wait for it.

use std::io;
use std::thread::{self, JoinHandle};

use cap_std::fs::File;

/// Bytes written between two syncs. A smaller file is synced only at its end.
const BETWEEN: u64 = 32 * 1024 * 1024;

/// Syncs what was written so far, on another thread.
#[derive(Debug, Default)]
pub(super) struct EarlySync {
    unsynced: u64,
    running: Option<JoinHandle<io::Result<()>>>,
}

impl EarlySync {
    /// Counts bytes that were written. Fails if earlier bytes did not reach the
    /// disk.
    pub(super) fn wrote(&mut self, bytes: usize, file: &File) -> io::Result<()> {
        self.unsynced += bytes as u64;
        let is_running = self.running.as_ref().is_some_and(|running| !running.is_finished());
        if self.unsynced < BETWEEN || is_running {
            return Ok(());
        }
        self.wait()?;
        self.unsynced = 0;
        // Without a spare handle or thread, the final sync does all the work.
        if let Ok(file) = file.try_clone() {
            let name = "traj-early-sync".to_owned();
            self.running = thread::Builder::new().name(name).spawn(move || file.sync_data()).ok();
        }
        Ok(())
    }

    /// Waits for the current sync. The system reports a failed write only once,
    /// so the error must be passed on.
    pub(super) fn wait(&mut self) -> io::Result<()> {
        let Some(running) = self.running.take() else { return Ok(()) };
        running.join().unwrap_or_else(|_| Err(io::Error::other("the sync of the file failed")))
    }
}

impl Drop for EarlySync {
    fn drop(&mut self) {
        // An abandoned file must not stay open.
        self.wait().ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> File {
        File::from_std(tempfile::tempfile().unwrap())
    }

    #[test]
    fn a_sync_begins_after_enough_bytes() {
        let (mut early, file) = (EarlySync::default(), file());
        early.wrote(BETWEEN as usize - 1, &file).unwrap();
        assert!(early.running.is_none());
        early.wrote(1, &file).unwrap();
        assert!(early.running.is_some());
        early.wait().unwrap();
        assert!(early.running.is_none());
    }

    #[test]
    fn a_failed_sync_fails_the_next_write() {
        let failed = || thread::spawn(|| Err(io::Error::from(io::ErrorKind::StorageFull)));
        let mut early = EarlySync { unsynced: BETWEEN, running: Some(failed()) };
        while early.running.as_ref().is_some_and(|running| !running.is_finished()) {
            thread::yield_now();
        }
        let error = early.wrote(1, &file()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        early.running = Some(failed());
        assert!(early.wait().is_err());
    }
}
