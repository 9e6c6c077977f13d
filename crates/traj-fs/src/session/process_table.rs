//! Finds out whether a process has a file open for writing, as far as the
//! system shows it.

use std::io::Read as _;

use cap_std::fs::Dir;
use rustix::fs::{AtFlags, Stat, statat};

/// The process table: a directory like `/proc` on Linux.
///
/// Processes of other users are not visible. They cannot write to a file that
/// is private to its owner, unless they run as root.
#[derive(Debug)]
pub struct ProcessTable(Dir);

impl ProcessTable {
    /// The table in this directory.
    #[must_use]
    pub const fn new(folder: Dir) -> Self {
        Self(folder)
    }

    /// Whether a process has this file open for writing; `None` if the table
    /// cannot be read.
    pub(crate) fn has_writer(&self, file: &Stat) -> Option<bool> {
        let mut seen_self = false;
        for process in self.0.entries().ok()?.flatten() {
            let name = process.file_name();
            let Some(id) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else {
                continue;
            };
            seen_self |= id == std::process::id();
            let Ok(handles) = self.0.open_dir(format!("{id}/fd")) else { continue };
            for handle in handles.entries().into_iter().flatten().flatten() {
                let handle = handle.file_name();
                // The entries are kernel links, which only the kernel can
                // follow.
                let Ok(opened) = statat(&handles, &handle, AtFlags::empty()) else { continue };
                if (opened.st_dev, opened.st_ino) == (file.st_dev, file.st_ino)
                    && self.may_write(id, &handle.to_string_lossy())
                {
                    return Some(true);
                }
            }
        }
        // A table without our own process cannot be trusted.
        seen_self.then_some(false)
    }

    fn may_write(&self, process: u32, handle: &str) -> bool {
        let mut text = String::new();
        let read = self
            .0
            .open(format!("{process}/fdinfo/{handle}"))
            .and_then(|mut info| info.read_to_string(&mut text));
        if read.is_err() {
            // It was closed in the meantime.
            return false;
        }
        let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
        let mode = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
        mode.is_none_or(|mode| mode & 0o3 != 0)
    }
}
