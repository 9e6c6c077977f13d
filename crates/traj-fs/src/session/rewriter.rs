//! Rewrites a session file while its owner keeps appending.
//!
//! `traj_core::care::rewrite` decides the order of the steps; this module
//! executes them as system calls. The exchange is one
//! `renameat2(RENAME_EXCHANGE)` where the filesystem supports it. It shows
//! which file was replaced, so a replacement by another program at the last
//! moment is detected and undone. The process table shows whether anyone still
//! writes to the old file.
//!
//! One gap remains on systems without such a table: a writer that opened the
//! old file before the exchange can append to it more than about 15 ms later.
//! Those lines are lost with the old file.

mod ranges;
mod steps;

use std::io;
use std::sync::Arc;

use cap_std::fs::{Dir, File};
use rustix::fs::{AtFlags, Stat, fstat, statat};
use rustix::io::Errno;
use traj_core::care::rewrite::{SettleLimits, StreamCounts};
use traj_core::port::{LineEdit, RewriteError, RewriteMode, RewriteReport, SessionRewriter};

use self::steps::RewriteSteps;
use crate::error::{Context as _, FsError, Refusal};
use crate::safe::lock::lock_exclusive;
use crate::safe::open::{Access, open_regular};
use crate::session::process_table::ProcessTable;

/// Rewrites a file of lines inside a directory.
#[derive(Debug)]
pub struct FsSessionRewriter {
    folder: Dir,
    name: String,
    processes: Option<Arc<ProcessTable>>,
    limits: SettleLimits,
}

impl FsSessionRewriter {
    /// A rewriter for the session file `name` directly inside `folder`. With a
    /// process table, it waits for writers that have the file open, and reports
    /// them.
    #[must_use]
    pub const fn new(folder: Dir, name: String, processes: Option<Arc<ProcessTable>>) -> Self {
        Self { folder, name, processes, limits: SettleLimits::standard() }
    }

    /// A rewriter for the sidecar `name`. Recorders keep it open, but they
    /// append under its lock and first check whether it was replaced.
    #[must_use]
    pub const fn of_sidecar(folder: Dir, name: String) -> Self {
        Self { folder, name, processes: None, limits: SettleLimits::standard() }
    }

    fn open(&self) -> Result<File, FsError> {
        open_regular(&self.folder, &self.name, Access::Read)
    }

    /// Rewrites the file under its lock, so that no other process does so at
    /// the same time.
    fn commit(&self, edit: &mut dyn LineEdit) -> Result<RewriteReport, RewriteStepError> {
        loop {
            let file = self.open()?;
            let lock = lock_exclusive(&file, &self.name)?;
            let stat = fstat(&file).map_err(io::Error::from).context("inspect", &self.name)?;
            if stat.st_nlink > 1 {
                return Err(FsError::refused("rewrite", &self.name, Refusal::HardLink).into());
            }
            // The previous holder of the lock may have replaced the file.
            if self.named()?.is_some_and(|named| same_file(&named, &stat)) {
                let copy = file.try_clone().context("open", &self.name)?;
                return RewriteSteps::new(self, copy, stat).run(edit, &lock);
            }
        }
    }

    fn named(&self) -> Result<Option<Stat>, RewriteStepError> {
        match statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Err(RewriteStepError::Missing),
            Err(errno) => Err(io::Error::from(errno).into_step("inspect", &self.name)),
        }
    }

    fn preview(&self, edit: &mut dyn LineEdit) -> Result<RewriteReport, RewriteStepError> {
        let file = self.open()?;
        let end = fstat(&file).map_err(io::Error::from).context("inspect", &self.name)?.st_size;
        let end = u64::try_from(end).unwrap_or(0);
        let counts =
            ranges::stream(&file, end, edit, &mut |_| Ok(())).context("read", &self.name)?;
        Ok(report_of(counts, end))
    }
}

impl SessionRewriter for FsSessionRewriter {
    fn rewrite(
        &self,
        edit: &mut dyn LineEdit,
        mode: RewriteMode,
    ) -> Result<RewriteReport, RewriteError> {
        let outcome = match mode {
            RewriteMode::Preview => self.preview(edit),
            RewriteMode::Commit => self.commit(edit),
        };
        outcome.map_err(|error| error.into_port(&self.name))
    }
}

/// Why a rewrite stopped.
#[derive(Debug)]
enum RewriteStepError {
    Fs(FsError),
    Missing,
    Busy,
    Replaced,
    CalledOff(Box<dyn std::error::Error + Send + Sync>),
}

impl From<FsError> for RewriteStepError {
    fn from(error: FsError) -> Self {
        Self::Fs(error)
    }
}

trait IntoRewriteStep {
    fn into_step(self, operation: &'static str, name: &str) -> RewriteStepError;
}

impl IntoRewriteStep for io::Error {
    fn into_step(self, operation: &'static str, name: &str) -> RewriteStepError {
        RewriteStepError::Fs(FsError::Io { operation, name: name.to_owned(), source: self })
    }
}

impl RewriteStepError {
    fn into_port(self, name: &str) -> RewriteError {
        let name = name.to_owned();
        match self {
            Self::Missing => RewriteError::Missing { name },
            Self::Fs(error) if error.is_not_found() => RewriteError::Missing { name },
            Self::Busy | Self::Fs(FsError::Held { .. }) => RewriteError::Busy { name },
            Self::Replaced => RewriteError::Conflict { name },
            Self::CalledOff(source) => RewriteError::CalledOff { name, source },
            Self::Fs(error) => match error.refusal() {
                Some(Refusal::Swapped) => RewriteError::Conflict { name },
                Some(refusal) => RewriteError::Refused { name, reason: reason(refusal) },
                None => RewriteError::Storage { name, source: error.into() },
            },
        }
    }
}

const fn reason(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::Symlink => "it is a symbolic link",
        Refusal::HardLink => "it has more than one hard link",
        Refusal::UnsafeName => "its name is not a plain file name",
        Refusal::Foreign => "traj did not write its content",
        Refusal::NotRegular | Refusal::NotAFolder | Refusal::Swapped => "it is not a regular file",
    }
}

fn same_file(one: &Stat, other: &Stat) -> bool {
    (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
}

fn report_of(counts: StreamCounts, before: u64) -> RewriteReport {
    let mut report = RewriteReport::default();
    report.changed_lines = counts.changed;
    report.passed_over = counts.passed_over;
    report.bytes_before = before;
    report.bytes_after = counts.bytes_out;
    report
}
