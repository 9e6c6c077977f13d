//! Sending a file to the disk while it is still being written: who syncs a
//! large file at its end only lets the disk idle first, and then waits for it.

use std::io;
use std::thread::{self, JoinHandle};

use cap_std::fs::File;

/// What is written between two syncs; a smaller file is synced at its end only.
const BETWEEN: u64 = 32 * 1024 * 1024;

/// Syncs what was written so far, beside whoever writes on.
#[derive(Debug, Default)]
pub(super) struct EarlySync {
    unsynced: u64,
    running: Option<JoinHandle<io::Result<()>>>,
}

impl EarlySync {
    /// Takes note of bytes that were written; fails if what was written before
    /// them did not reach the disk.
    pub(super) fn wrote(&mut self, bytes: usize, file: &File) -> io::Result<()> {
        self.unsynced += bytes as u64;
        let is_running = self.running.as_ref().is_some_and(|running| !running.is_finished());
        if self.unsynced < BETWEEN || is_running {
            return Ok(());
        }
        self.wait()?;
        self.unsynced = 0;
        // Where there is no handle or thread to spare, the last sync does it all.
        if let Ok(file) = file.try_clone() {
            let name = "traj-early-sync".to_owned();
            self.running = thread::Builder::new().name(name).spawn(move || file.sync_data()).ok();
        }
        Ok(())
    }

    /// Waits for the sync that is under way. The system tells of a failed write
    /// once: whoever hears of it has to pass it on.
    pub(super) fn wait(&mut self) -> io::Result<()> {
        let Some(running) = self.running.take() else { return Ok(()) };
        running.join().unwrap_or_else(|_| Err(io::Error::other("a sync of the file broke off")))
    }
}

impl Drop for EarlySync {
    fn drop(&mut self) {
        // A file that is given up is not kept open any longer.
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
    fn a_sync_begins_when_enough_was_written() {
        let (mut early, file) = (EarlySync::default(), file());
        early.wrote(BETWEEN as usize - 1, &file).unwrap();
        assert!(early.running.is_none());
        early.wrote(1, &file).unwrap();
        assert!(early.running.is_some());
        early.wait().unwrap();
        assert!(early.running.is_none());
    }

    #[test]
    fn a_failed_sync_is_told_to_whoever_writes_on() {
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
