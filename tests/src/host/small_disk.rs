//! A disk that is small enough to fill.
#![expect(clippy::disallowed_methods, reason = "tests look at their own temporary directories")]

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::host::skipped::skipped;

/// The file that fills the disk.
pub const BALLAST: &str = "ballast";

/// A disk of one megabyte, unmounted on drop.
#[derive(Debug)]
pub struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    /// Mounts a disk; if the host does not permit that, the test is reported as skipped.
    #[must_use]
    pub fn mount() -> Option<Self> {
        let place = tempfile::tempdir().expect("a folder for the test");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"])
            .arg(place.path())
            .stderr(Stdio::null())
            .status();
        if mounted.is_ok_and(|status| status.success()) {
            return Some(Self(place));
        }
        skipped("cannot mount a small tmpfs here; this full disk is not tested");
        None
    }

    /// The mount point.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Fills it except for `room` kilobytes.
    pub fn fill(&self, room: usize) {
        let file = self.path().join(BALLAST);
        let mut ballast = fs::File::create(&file).expect("ballast is ours");
        let kilobyte = [0; 1024];
        let mut written = 0;
        while ballast.write_all(&kilobyte).is_ok() {
            written += 1024;
        }
        ballast.set_len((written - room * 1024) as u64).expect("a file can be cut");
    }

    /// Frees the space again.
    pub fn free(&self) {
        fs::remove_file(self.path().join(BALLAST)).expect("ballast is ours");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        Command::new("umount").arg(self.0.path()).status().ok();
    }
}
