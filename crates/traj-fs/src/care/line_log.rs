//! A log of lines in an owner-only file.

use std::io::{self, BufReader, Read as _, Seek as _, Write as _};
use std::ops::ControlFlow;

use cap_std::fs::{Dir, File};
use traj_core::json::lines::Line;
use traj_core::limits::Reading;
use traj_core::port::{LineLog, LineLogError};

use crate::error::{Context as _, FsError};
use crate::read_lines::for_each_line;
use crate::safe::limited_file::check_growth;
use crate::safe::lock::lock_exclusive;
use crate::safe::open::{Access, FileIdentity, identity_of, open_replaceable};
use crate::safe::replace::{replace_file, sync_folder};

/// The log `name` directly inside a directory. Its mode is 0600, and it is
/// locked while it is written.
#[derive(Debug)]
pub struct FsLineLog {
    folder: Dir,
    name: String,
}

impl FsLineLog {
    /// The log with this name; it need not exist.
    #[must_use]
    pub const fn new(folder: Dir, name: String) -> Self {
        Self { folder, name }
    }

    fn open(&self, access: Access) -> Result<File, FsError> {
        open_replaceable(&self.folder, &self.name, access)
    }

    /// Runs `work` under the lock of the file that has the log's name.
    fn locked<T>(
        &self,
        mut work: impl FnMut(&mut File) -> Result<T, FsError>,
    ) -> Result<T, FsError> {
        loop {
            let file = self.open(Access::Append)?;
            let lock = lock_exclusive(&file, &self.name)?;
            let opened = FileIdentity::of_file(&file, &self.name)?;
            if identity_of(&self.folder, &self.name)? == Some(opened) {
                let mut handle = file.try_clone().context("open", &self.name)?;
                let outcome = work(&mut handle);
                drop(lock);
                return outcome;
            }
        }
    }

    fn append_lines(&self, lines: &[String]) -> Result<(), FsError> {
        self.locked(|file| {
            let before = file.seek(io::SeekFrom::End(0)).context("append to", &self.name)?;
            let mut text = String::new();
            if before > 0 && !ends_with_line_end(file, before).context("read", &self.name)? {
                // A writer died in the middle of its line.
                text.push('\n');
            }
            for line in lines {
                text.push_str(line);
                text.push('\n');
            }
            let written = check_growth(before, text.len())
                .and_then(|()| file.write_all(text.as_bytes()))
                .and_then(|()| file.sync_data());
            if written.is_err() {
                file.set_len(before).ok();
                if before == 0 {
                    // A log that is still empty is removed.
                    self.folder.remove_file(&self.name).ok();
                }
            }
            written.context("append to", &self.name)
        })?;
        sync_folder(&self.folder, &self.name)
    }

    fn keep_lines(&self, keep: &mut dyn FnMut(&[u8]) -> bool) -> Result<(), FsError> {
        if identity_of(&self.folder, &self.name)?.is_none() {
            return Ok(());
        }
        self.locked(|file| {
            let mut kept = 0_usize;
            file.seek(io::SeekFrom::Start(0)).context("read", &self.name)?;
            replace_file(&self.folder, &self.name, 0o600, |new| {
                let mut new = io::BufWriter::new(new);
                each_line(file, &mut |line| {
                    if keep(line) {
                        kept += 1;
                        new.write_all(line)?;
                        new.write_all(b"\n")?;
                    }
                    Ok(ControlFlow::Continue(()))
                })?;
                new.flush()
            })?;
            if kept == 0 {
                self.folder.remove_file(&self.name).context("remove", &self.name)?;
                sync_folder(&self.folder, &self.name)?;
            }
            Ok(())
        })
    }

    fn error(&self, error: FsError) -> LineLogError {
        let name = self.name.clone();
        match error.refusal() {
            Some(_) => LineLogError::Refused { name, source: error.into() },
            None => LineLogError::Storage { name, source: error.into() },
        }
    }
}

impl LineLog for FsLineLog {
    fn append(&self, lines: &[String]) -> Result<(), LineLogError> {
        if lines.iter().any(|line| line.contains('\n')) {
            let source = "a log line must not contain a line end".into();
            return Err(LineLogError::Storage { name: self.name.clone(), source });
        }
        self.append_lines(lines).map_err(|error| self.error(error))
    }

    fn read(&self, visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<(), LineLogError> {
        let file = match self.open(Access::Read) {
            Ok(file) => file,
            Err(error) if error.is_not_found() => return Ok(()),
            Err(error) => return Err(self.error(error)),
        };
        each_line(&file, &mut |line| Ok(visit(line)))
            .context("read", &self.name)
            .map_err(|error| self.error(error))
    }

    fn retain(&self, keep: &mut dyn FnMut(&[u8]) -> bool) -> Result<(), LineLogError> {
        self.keep_lines(keep).map_err(|error| self.error(error))
    }
}

/// Passes every complete line to `visit`.
fn each_line(
    file: &File,
    visit: &mut dyn FnMut(&[u8]) -> io::Result<ControlFlow<()>>,
) -> io::Result<()> {
    let longest = Reading::standard().log_line_bytes;
    for_each_line(BufReader::new(file), longest, |line| match line {
        Line::Whole(line) => visit(line),
        Line::TooLong { is_cut: false, .. } => {
            Err(io::Error::new(io::ErrorKind::InvalidData, "a line of the log is too long"))
        }
        Line::TooLong { .. } | Line::Cut(_) => Ok(ControlFlow::Break(())),
    })
}

fn ends_with_line_end(mut file: &File, length: u64) -> io::Result<bool> {
    let mut last = [0];
    file.seek(io::SeekFrom::Start(length - 1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}
