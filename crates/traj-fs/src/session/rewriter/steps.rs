//! The steps of one rewrite, as system calls.

use std::io::{self, BufWriter, Write as _};
use std::time::Duration;

use cap_std::fs::{Dir, File, Permissions, PermissionsExt as _};
use rustix::fs::{AtFlags, RenameFlags, Stat, fstat, renameat_with, statat};
use rustix::io::Errno;
use traj_core::care::rewrite::{
    GenerationRange, Generations, StreamCounts, Writers, released, settle,
};
use traj_core::port::{LineEdit, RewriteReport};

use super::{
    FsSessionRewriter, IntoRewriteStep as _, RewriteStepError, ranges, report_of, same_file,
};
use crate::error::Context as _;
use crate::safe::limited_file::LimitedFile;
use crate::safe::lock::FileLock;
use crate::safe::open::{Access, open_regular};
use crate::safe::replace::{create_temporary, sync_folder};

/// The pause between two checks while others may still write.
const PAUSE: Duration = Duration::from_millis(5);

/// Bytes written at a time.
const WRITE_BLOCK: usize = 256 * 1024;

/// A rewrite in progress. Every generation of the file stays open. A retired
/// one has the temporary name of the candidate that replaced it.
pub(super) struct RewriteSteps<'a> {
    target: &'a FsSessionRewriter,
    stat: Stat,
    generations: Vec<(File, Stat)>,
    candidate: Option<(String, BufWriter<LimitedFile>)>,
    /// Whether the candidate has bytes that may not be on the disk.
    unsynced: bool,
    retired_names: Vec<String>,
}

impl<'a> RewriteSteps<'a> {
    pub(super) fn new(target: &'a FsSessionRewriter, file: File, stat: Stat) -> Self {
        Self {
            target,
            stat,
            generations: vec![(file, stat)],
            candidate: None,
            unsynced: false,
            retired_names: Vec::new(),
        }
    }

    pub(super) fn run(
        mut self,
        edit: &mut dyn LineEdit,
        _lock: &FileLock<'_>,
    ) -> Result<RewriteReport, RewriteStepError> {
        let outcome = self.settle(edit);
        if let Some((name, _)) = self.candidate.take() {
            self.target.folder.remove_file(name).ok();
        }
        let held = outcome.as_ref().is_ok_and(|report| report.held_open);
        for (index, name) in self.retired_names.iter().enumerate() {
            if held {
                // A writer may still have it open, and its lines must not be
                // lost.
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

    fn settle(&mut self, edit: &mut dyn LineEdit) -> Result<RewriteReport, RewriteStepError> {
        let limits = self.target.limits;
        if !released(self, limits) {
            return Err(RewriteStepError::Busy);
        }
        let snapshot = self.length(0)?;
        let counts = self.edit(edit, snapshot)?;
        let mut report = report_of(counts, snapshot);
        if counts.changed == 0 {
            return Ok(report);
        }
        edit.before_commit().map_err(RewriteStepError::CalledOff)?;
        let settled = settle(self, snapshot, counts.bytes_out, limits)?;
        report.merged_bytes = settled.merged;
        report.held_open = settled.held;
        Ok(report)
    }

    fn edit(
        &mut self,
        edit: &mut dyn LineEdit,
        end: u64,
    ) -> Result<StreamCounts, RewriteStepError> {
        let name = &self.target.name;
        let (source, _) = &self.generations[0];
        let source = source.try_clone().context("open", name)?;
        self.unsynced = true;
        let candidate = self.candidate()?;
        ranges::stream(&source, end, edit, &mut |bytes| candidate.write_all(bytes))
            .map_err(|error| error.into_step("rewrite", &self.target.name))
    }

    /// The candidate, created with the mode and owner of the original.
    fn candidate(&mut self) -> Result<&mut BufWriter<LimitedFile>, RewriteStepError> {
        if self.candidate.is_none() {
            let name = &self.target.name;
            let (temporary, file) = create_temporary(&self.target.folder, name)?;
            let made = own_like(&file, &self.stat).and_then(|()| {
                file.set_permissions(Permissions::from_mode(self.stat.st_mode & 0o7777))
            });
            self.candidate =
                Some((temporary, BufWriter::with_capacity(WRITE_BLOCK, LimitedFile::new(file))));
            made.context("keep mode and owner of", name)?;
        }
        match &mut self.candidate {
            Some((_, writer)) => Ok(writer),
            None => Err(RewriteStepError::Replaced),
        }
    }
}

impl RewriteSteps<'_> {
    /// Exchanges the candidate and the current generation. Returns the new one,
    /// opened for reading, so that we do not count as one of its writers.
    fn put_in_place(
        &self,
        temporary: &str,
        writer: BufWriter<LimitedFile>,
    ) -> Result<(File, Stat), RewriteStepError> {
        let (folder, name) = (&self.target.folder, &self.target.name);
        let look = |file: &File| fstat(file).map_err(io::Error::from).context("inspect", name);
        let written =
            writer.into_inner().map_err(|error| error.into_error().into_step("write", name))?;
        let stat = look(written.as_file())?;
        drop(written);
        let file = open_regular(folder, temporary, Access::Read)?;
        let current =
            self.generations.last().map(|(_, stat)| *stat).ok_or(RewriteStepError::Replaced)?;
        if !same_file(&look(&file)?, &stat) {
            return Err(RewriteStepError::Replaced);
        }
        exchange(folder, temporary, name, &current)?;
        Ok((file, stat))
    }
}

impl Generations for RewriteSteps<'_> {
    type Error = RewriteStepError;

    fn length(&mut self, generation: usize) -> Result<u64, RewriteStepError> {
        let stat = fstat(&self.generations[generation].0)
            .map_err(|errno| io::Error::from(errno).into_step("inspect", &self.target.name))?;
        Ok(u64::try_from(stat.st_size).unwrap_or(0))
    }

    fn copy(&mut self, piece: GenerationRange) -> Result<(), RewriteStepError> {
        let source = self.generations[piece.generation].0.try_clone();
        let source = source.context("open", &self.target.name)?;
        let name = self.target.name.clone();
        self.unsynced = true;
        let candidate = self.candidate()?;
        ranges::copy(&source, piece, candidate).map_err(|error| error.into_step("copy", &name))
    }

    fn whole_lines(&mut self, piece: GenerationRange) -> Result<u64, RewriteStepError> {
        let source = &self.generations[piece.generation].0;
        ranges::last_line_end(source, piece)
            .map_err(|error| error.into_step("read", &self.target.name))
    }

    fn sync(&mut self) -> Result<(), RewriteStepError> {
        if self.unsynced {
            let name = self.target.name.clone();
            let candidate = self.candidate()?;
            candidate
                .flush()
                .and_then(|()| candidate.get_ref().as_file().sync_all())
                .map_err(|error| error.into_step("sync", &name))?;
            self.unsynced = false;
        }
        Ok(())
    }

    fn exchange(&mut self) -> Result<(), RewriteStepError> {
        let Some((temporary, writer)) = self.candidate.take() else {
            return Err(RewriteStepError::Replaced);
        };
        match self.put_in_place(&temporary, writer) {
            Ok((file, stat)) => {
                // Syncs the lines that were copied after the previous sync.
                // Doing so only now kept writers from waiting for the disk.
                let synced = file.sync_all();
                self.unsynced = false;
                self.generations.push((file, stat));
                self.retired_names.push(temporary);
                synced.context("sync", &self.target.name)?;
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

/// Replaces `name` with `temporary` if `name` is still `expected`. The old file
/// then has the temporary name, or none.
fn exchange(
    folder: &Dir,
    temporary: &str,
    name: &str,
    expected: &Stat,
) -> Result<(), RewriteStepError> {
    let stands = |name: &str| {
        statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).is_ok_and(|stat| same_file(&stat, expected))
    };
    if !stands(name) {
        return Err(RewriteStepError::Replaced);
    }
    match renameat_with(folder, temporary, folder, name, RenameFlags::EXCHANGE) {
        Ok(()) if stands(temporary) => Ok(()),
        Ok(()) => {
            // Another program replaced the file after the check: put its file
            // back.
            renameat_with(folder, temporary, folder, name, RenameFlags::EXCHANGE).ok();
            Err(RewriteStepError::Replaced)
        }
        // Not every filesystem supports the exchange. Rename instead.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            folder.rename(temporary, folder, name).map_err(|error| error.into_step("replace", name))
        }
        Err(Errno::NOENT) => Err(RewriteStepError::Replaced),
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
