//! Rewriting a session on a filesystem, while its owner goes on appending.
//!
//! The order of steps is decided in `traj_core::rewrite`; here they are system
//! calls. The exchange is one `renameat2(RENAME_EXCHANGE)` where the filesystem
//! has it: it says afterwards which file was really taken out, so a foreign
//! replacement in the very last moment is noticed and undone. Whether anyone
//! still writes to the old file is read from the table of processes.
//!
//! What remains: on systems without such a table, a writer that opened the old
//! file before the exchange and appends to it more than some 15 ms later. Its
//! lines are then in the old file only, which is gone.

use std::io::{self, BufWriter, Write as _};
use std::sync::Arc;
use std::time::Duration;

use cap_std::fs::{Dir, File, Permissions, PermissionsExt as _};
use rustix::fs::{AtFlags, RenameFlags, Stat, fstat, renameat_with, statat};
use rustix::io::{Errno, pread};
use traj_core::port::{
    LineEdit, RewriteError, RewriteMode, RewriteReport, SessionRewriter,
};
use traj_core::rewrite::{
    Generations, LineStream, Piece, SettleLimits, StreamCounts, Writers, released, settle,
};

use crate::error::{Context as _, FsError, Refusal};
use crate::lock::{FileLock, lock_exclusive};
use crate::open::{Access, open_regular};
use crate::process_table::ProcessTable;
use crate::replace::{create_temporary, sync_folder};

/// How long a pause is while others may still write.
const PAUSE: Duration = Duration::from_millis(5);

/// Bytes copied at a time.
const COPY_BLOCK: usize = 256 * 1024;

/// A file of lines inside a folder.
#[derive(Debug)]
pub struct FsSessionRewriter {
    folder: Dir,
    name: String,
    processes: Option<Arc<ProcessTable>>,
    limits: SettleLimits,
}

impl FsSessionRewriter {
    /// The session file `name` directly inside `folder`. With a table of
    /// processes, writers that hold the file open are waited for and told.
    #[must_use]
    pub const fn new(folder: Dir, name: String, processes: Option<Arc<ProcessTable>>) -> Self {
        Self { folder, name, processes, limits: SettleLimits::standard() }
    }

    /// A sidecar `name`, whose recorders hold it open but append under its
    /// lock, and look whether it was replaced before they do.
    #[must_use]
    pub const fn of_sidecar(folder: Dir, name: String) -> Self {
        Self { folder, name, processes: None, limits: SettleLimits::standard() }
    }

    fn open(&self) -> Result<File, FsError> {
        open_regular(&self.folder, &self.name, Access::Read)
    }

    /// Opens the file that has the name once nobody else rewrites it.
    fn commit(&self, edit: &mut dyn LineEdit) -> Result<RewriteReport, StepError> {
        loop {
            let file = self.open()?;
            let lock = lock_exclusive(&file, &self.name)?;
            let stat = fstat(&file).map_err(io::Error::from).context("look at", &self.name)?;
            if stat.st_nlink > 1 {
                return Err(FsError::refused("rewrite", &self.name, Refusal::HardLink).into());
            }
            // Whoever held the lock before us may have replaced the file.
            if self.named()?.is_some_and(|named| same_file(&named, &stat)) {
                let copy = file.try_clone().context("open", &self.name)?;
                return Steps::new(self, copy, stat).run(edit, &lock);
            }
        }
    }

    fn named(&self) -> Result<Option<Stat>, StepError> {
        match statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Err(StepError::Missing),
            Err(errno) => Err(io::Error::from(errno).into_step("look at", &self.name)),
        }
    }

    fn preview(&self, edit: &mut dyn LineEdit) -> Result<RewriteReport, StepError> {
        let file = self.open()?;
        let end = fstat(&file).map_err(io::Error::from).context("look at", &self.name)?.st_size;
        let end = u64::try_from(end).unwrap_or(0);
        let counts = stream(&file, end, edit, &mut |_| Ok(())).context("read", &self.name)?;
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

/// What can stop a rewrite here.
#[derive(Debug)]
enum StepError {
    Fs(FsError),
    Missing,
    Busy,
    Replaced,
    CalledOff(Box<dyn std::error::Error + Send + Sync>),
}

impl From<FsError> for StepError {
    fn from(error: FsError) -> Self {
        Self::Fs(error)
    }
}

trait IntoStep {
    fn into_step(self, operation: &'static str, name: &str) -> StepError;
}

impl IntoStep for io::Error {
    fn into_step(self, operation: &'static str, name: &str) -> StepError {
        StepError::Fs(FsError::Io { operation, name: name.to_owned(), source: self })
    }
}

impl StepError {
    fn into_port(self, name: &str) -> RewriteError {
        let name = name.to_owned();
        match self {
            Self::Missing => RewriteError::Missing { name },
            Self::Fs(error) if error.is_not_found() => RewriteError::Missing { name },
            Self::Busy => RewriteError::Busy { name },
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
        Refusal::NotRegular | Refusal::NotAFolder | Refusal::Swapped => "it is not a regular file",
    }
}

/// One rewrite under way. Generations are held open; retired ones keep the
/// name the candidate had.
struct Steps<'a> {
    target: &'a FsSessionRewriter,
    stat: Stat,
    generations: Vec<(File, Stat)>,
    candidate: Option<(String, BufWriter<File>)>,
    retired_names: Vec<String>,
}

impl<'a> Steps<'a> {
    fn new(target: &'a FsSessionRewriter, file: File, stat: Stat) -> Self {
        Self {
            target,
            stat,
            generations: vec![(file, stat)],
            candidate: None,
            retired_names: Vec::new(),
        }
    }

    fn run(
        mut self,
        edit: &mut dyn LineEdit,
        _lock: &FileLock<'_>,
    ) -> Result<RewriteReport, StepError> {
        let outcome = self.settle(edit);
        if let Some((name, _)) = self.candidate.take() {
            self.target.folder.remove_file(name).ok();
        }
        let held = outcome.as_ref().is_ok_and(|report| report.held_open);
        for (index, name) in self.retired_names.iter().enumerate() {
            if held {
                // Someone may still write to it: what arrives must be found.
                let process = std::process::id();
                let kept = format!("{}.held-{process}-{index}", self.target.name);
                self.target.folder.rename(name, &self.target.folder, kept).ok();
            } else {
                self.target.folder.remove_file(name).ok();
            }
        }
        if !self.retired_names.is_empty() {
            sync_folder(&self.target.folder, &self.target.name)?;
        }
        outcome
    }

    fn settle(&mut self, edit: &mut dyn LineEdit) -> Result<RewriteReport, StepError> {
        let limits = self.target.limits;
        if !released(self, limits) {
            return Err(StepError::Busy);
        }
        let snapshot = self.length(0)?;
        let counts = self.edit(edit, snapshot)?;
        let mut report = report_of(counts, snapshot);
        if counts.changed == 0 {
            return Ok(report);
        }
        edit.before_commit().map_err(StepError::CalledOff)?;
        let settled = settle(self, snapshot, counts.bytes_out, limits)?;
        report.merged_bytes = settled.merged;
        report.held_open = settled.held;
        Ok(report)
    }

    fn edit(&mut self, edit: &mut dyn LineEdit, end: u64) -> Result<StreamCounts, StepError> {
        let name = &self.target.name;
        let (source, _) = &self.generations[0];
        let source = source.try_clone().context("open", name)?;
        let candidate = self.candidate()?;
        stream(&source, end, edit, &mut |bytes| candidate.write_all(bytes))
            .map_err(|error| error.into_step("rewrite", &self.target.name))
    }

    /// The candidate, made like the original: mode and owner.
    fn candidate(&mut self) -> Result<&mut BufWriter<File>, StepError> {
        if self.candidate.is_none() {
            let name = &self.target.name;
            let (temporary, file) = create_temporary(&self.target.folder, name)?;
            let made = own_like(&file, &self.stat)
                .and_then(|()| file.set_permissions(Permissions::from_mode(self.stat.st_mode & 0o7777)));
            self.candidate = Some((temporary, BufWriter::with_capacity(COPY_BLOCK, file)));
            made.context("keep mode and owner of", name)?;
        }
        match &mut self.candidate {
            Some((_, writer)) => Ok(writer),
            None => Err(StepError::Replaced),
        }
    }
}

impl Generations for Steps<'_> {
    type Error = StepError;

    fn length(&mut self, generation: usize) -> Result<u64, StepError> {
        let stat = fstat(&self.generations[generation].0)
            .map_err(|errno| io::Error::from(errno).into_step("look at", &self.target.name))?;
        Ok(u64::try_from(stat.st_size).unwrap_or(0))
    }

    fn copy(&mut self, piece: Piece) -> Result<(), StepError> {
        let source = self.generations[piece.generation].0.try_clone();
        let source = source.context("open", &self.target.name)?;
        let name = self.target.name.clone();
        let candidate = self.candidate()?;
        copy_range(&source, piece, candidate).map_err(|error| error.into_step("copy", &name))
    }

    fn whole_lines(&mut self, piece: Piece) -> Result<u64, StepError> {
        let source = &self.generations[piece.generation].0;
        last_line_end(source, piece).map_err(|error| error.into_step("read", &self.target.name))
    }

    fn sync(&mut self) -> Result<(), StepError> {
        let name = self.target.name.clone();
        let candidate = self.candidate()?;
        candidate
            .flush()
            .and_then(|()| candidate.get_ref().sync_all())
            .map_err(|error| error.into_step("sync", &name))
    }

    fn exchange(&mut self) -> Result<(), StepError> {
        self.sync()?;
        let Some((temporary, writer)) = self.candidate.take() else {
            return Err(StepError::Replaced);
        };
        let file = match writer.into_inner() {
            Ok(file) => file,
            Err(error) => {
                self.target.folder.remove_file(&temporary).ok();
                return Err(error.into_error().into_step("write", &self.target.name));
            }
        };
        let current = self.generations.last().map(|(_, stat)| *stat);
        let stat = fstat(&file)
            .map_err(|errno| io::Error::from(errno).into_step("look at", &self.target.name));
        let outcome = match (stat, current) {
            (Ok(stat), Some(current)) => {
                exchange(&self.target.folder, &temporary, &self.target.name, &current).map(|()| stat)
            }
            (Err(error), _) => Err(error),
            (Ok(_), None) => Err(StepError::Replaced),
        };
        match outcome {
            Ok(stat) => {
                self.generations.push((file, stat));
                self.retired_names.push(temporary);
                sync_folder(&self.target.folder, &self.target.name)?;
                Ok(())
            }
            Err(error) => {
                self.target.folder.remove_file(&temporary).ok();
                Err(error)
            }
        }
    }

    fn writers(&mut self, generation: usize) -> Writers {
        let Some(processes) = &self.target.processes else { return Writers::Unknown };
        match processes.has_writer(&self.generations[generation].1) {
            Some(true) => Writers::Some,
            Some(false) => Writers::None,
            None => Writers::Unknown,
        }
    }

    fn pause(&mut self) {
        std::thread::sleep(PAUSE);
    }
}

/// Puts `temporary` in the place of `name` if `expected` stands there; the old
/// file then has the temporary name, or none.
fn exchange(folder: &Dir, temporary: &str, name: &str, expected: &Stat) -> Result<(), StepError> {
    let stands = |name: &str| {
        statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).is_ok_and(|stat| same_file(&stat, expected))
    };
    if !stands(name) {
        return Err(StepError::Replaced);
    }
    match renameat_with(folder, temporary, folder, name, RenameFlags::EXCHANGE) {
        Ok(()) if stands(temporary) => Ok(()),
        Ok(()) => {
            // Someone was faster than the look: their file goes back.
            renameat_with(folder, temporary, folder, name, RenameFlags::EXCHANGE).ok();
            Err(StepError::Replaced)
        }
        // Not every filesystem can exchange; a rename is all there is then.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            folder.rename(temporary, folder, name).map_err(|error| error.into_step("replace", name))
        }
        Err(Errno::NOENT) => Err(StepError::Replaced),
        Err(errno) => Err(io::Error::from(errno).into_step("replace", name)),
    }
}

fn own_like(file: &File, original: &Stat) -> io::Result<()> {
    let made = fstat(file)?;
    if (made.st_uid, made.st_gid) == (original.st_uid, original.st_gid) {
        return Ok(());
    }
    let owner = rustix::process::Uid::from_raw(original.st_uid);
    let group = rustix::process::Gid::from_raw(original.st_gid);
    Ok(rustix::fs::fchown(file, Some(owner), Some(group))?)
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

/// Runs the first `end` bytes of a file through an edit.
fn stream(
    file: &File,
    end: u64,
    edit: &mut dyn LineEdit,
    out: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<StreamCounts> {
    let mut lines = LineStream::default();
    let mut at = 0;
    while at < end {
        let space = lines.space();
        let wanted = usize::try_from(end - at).unwrap_or(usize::MAX).min(space.len());
        let count = read_at(file, &mut space[..wanted], at)?;
        if count == 0 {
            // Cut while we read: whoever did that is about to write it anew.
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file became shorter"));
        }
        lines.filled(count);
        lines.pump(edit, out)?;
        at += count as u64;
    }
    lines.finish(edit, out)?;
    Ok(lines.counts())
}

fn copy_range(source: &File, piece: Piece, target: &mut impl io::Write) -> io::Result<()> {
    let mut block = vec![0; COPY_BLOCK];
    let mut at = piece.from;
    while at < piece.to {
        let wanted = usize::try_from(piece.to - at).unwrap_or(usize::MAX).min(block.len());
        let count = read_at(source, &mut block[..wanted], at)?;
        if count == 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file became shorter"));
        }
        target.write_all(&block[..count])?;
        at += count as u64;
    }
    Ok(())
}

/// The number of bytes of a range up to and with its last line end.
fn last_line_end(source: &File, piece: Piece) -> io::Result<u64> {
    let mut block = vec![0; COPY_BLOCK];
    let mut at = piece.from;
    let mut end = 0;
    while at < piece.to {
        let wanted = usize::try_from(piece.to - at).unwrap_or(usize::MAX).min(block.len());
        let count = read_at(source, &mut block[..wanted], at)?;
        if count == 0 {
            break;
        }
        if let Some(last) = block[..count].iter().rposition(|byte| *byte == b'\n') {
            end = at - piece.from + last as u64 + 1;
        }
        at += count as u64;
    }
    Ok(end)
}

fn read_at(file: &File, space: &mut [u8], at: u64) -> io::Result<usize> {
    loop {
        match pread(file, &mut *space, at) {
            Ok(count) => return Ok(count),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}
