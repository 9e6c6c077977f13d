//! A disk that is small enough to be full.
#![expect(clippy::disallowed_methods, reason = "tests look at their own temporary directories")]

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::host::skipped::skipped;

/// What takes the room.
pub const BALLAST: &str = "ballast";

/// A disk of one megabyte, for as long as it is held.
#[derive(Debug)]
pub struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    /// Mounts one; where the host does not let us, that is said loudly.
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

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Fills it, but for some kilobytes.
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

    /// Gives all the room back.
    pub fn free(&self) {
        fs::remove_file(self.path().join(BALLAST)).expect("ballast is ours");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        Command::new("umount").arg(self.0.path()).status().ok();
    }
}
