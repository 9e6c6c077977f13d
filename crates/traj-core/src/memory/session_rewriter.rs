//! A session file in memory that challenges a rewriter like a real one: the
//! name moves between files, writers keep the old file open, and a callback
//! interferes between any two steps.

use std::cell::RefCell;
use std::fmt;

use crate::care::rewrite::{
    GenerationRange, Generations, LineStream, SettleLimits, StreamCounts, Writers, released, settle,
};
use crate::port::{LineEdit, RewriteError, RewriteMode, RewriteReport, SessionRewriter};

/// Acts on the files between two steps of a rewrite.
type Interference = Box<dyn FnMut(&mut MemoryFiles)>;

/// The files that had the session's name.
#[derive(Debug, Default)]
pub struct MemoryFiles {
    /// Every file that ever had the name, and replacements in preparation.
    files: Vec<MemoryFile>,
    /// The file that has the name now.
    named: Option<usize>,
}

#[derive(Debug, Default)]
struct MemoryFile {
    bytes: Vec<u8>,
    writers: usize,
}

/// An open file of [`MemoryFiles`].
#[derive(Debug)]
pub struct MemoryHandle(usize);

impl MemoryFiles {
    /// Opens the current file for appending.
    pub fn open(&mut self) -> Option<MemoryHandle> {
        let index = self.named?;
        self.files[index].writers += 1;
        Some(MemoryHandle(index))
    }

    /// Appends to an open file, even if it has lost its name.
    pub fn append(&mut self, handle: &MemoryHandle, bytes: &[u8]) {
        self.files[handle.0].bytes.extend_from_slice(bytes);
    }

    /// Closes a file.
    pub fn close(&mut self, handle: MemoryHandle) {
        let MemoryHandle(index) = handle;
        self.files[index].writers -= 1;
    }

    /// Puts another file under the name, as a rename by another process does.
    pub fn replace(&mut self, bytes: &[u8]) {
        self.named = Some(self.files.len());
        self.files.push(MemoryFile { bytes: bytes.to_vec(), writers: 0 });
    }

    /// The content that a reader of the name sees.
    #[must_use]
    pub fn read(&self) -> Option<&[u8]> {
        self.named.map(|index| self.files[index].bytes.as_slice())
    }
}

/// A strict in-memory [`SessionRewriter`].
pub struct MemorySession {
    files: RefCell<MemoryFiles>,
    interference: RefCell<Option<Interference>>,
    fail_at: RefCell<Option<u32>>,
    limits: SettleLimits,
}

impl fmt::Debug for MemorySession {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("MemorySession").finish_non_exhaustive()
    }
}

impl MemorySession {
    /// The name of the file.
    pub const NAME: &'static str = "session.jsonl";

    /// A session file with this content.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Self {
        let session = Self::missing();
        session.files.borrow_mut().replace(bytes);
        session
    }

    /// A name without a file.
    #[must_use]
    pub fn missing() -> Self {
        Self {
            files: RefCell::default(),
            interference: RefCell::default(),
            fail_at: RefCell::default(),
            limits: SettleLimits::standard(),
        }
    }

    /// Calls `act` between any two steps of every rewrite.
    #[must_use]
    pub fn interfered(self, act: impl FnMut(&mut MemoryFiles) + 'static) -> Self {
        *self.interference.borrow_mut() = Some(Box::new(act));
        self
    }

    /// Makes the step with this number, counted from 0, fail.
    #[must_use]
    pub fn failing_at(self, step: u32) -> Self {
        *self.fail_at.borrow_mut() = Some(step);
        self
    }

    /// Acts on the files from outside a rewrite.
    pub fn with_files<T>(&self, act: impl FnOnce(&mut MemoryFiles) -> T) -> T {
        act(&mut self.files.borrow_mut())
    }

    /// The content that a reader sees now.
    #[must_use]
    pub fn read(&self) -> Option<Vec<u8>> {
        self.files.borrow().read().map(<[u8]>::to_vec)
    }
}

/// Why a step of the in-memory adapter fails.
#[derive(Debug, thiserror::Error)]
enum StepError {
    #[error("injected failure")]
    Told,
    #[error("another file has this name")]
    Replaced,
}

struct MemoryGenerations<'a> {
    session: &'a MemorySession,
    generations: Vec<usize>,
    candidate: Option<usize>,
}

impl MemoryGenerations<'_> {
    fn step(&self) -> Result<(), StepError> {
        if let Some(act) = self.session.interference.borrow_mut().as_mut() {
            act(&mut self.session.files.borrow_mut());
        }
        match self.session.fail_at.borrow_mut().as_mut() {
            Some(0) => Err(StepError::Told),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn edit(&mut self, edit: &mut dyn LineEdit, end: usize) -> Result<StreamCounts, StepError> {
        self.step()?;
        let source = self.generations[0];
        let input = self.session.files.borrow().files[source].bytes[..end].to_vec();
        let mut output = Vec::new();
        let mut stream = LineStream::default();
        let mut rest = input.as_slice();
        let mut out = |bytes: &[u8]| -> Result<(), StepError> {
            output.extend_from_slice(bytes);
            Ok(())
        };
        while !rest.is_empty() {
            let space = stream.space();
            let count = space.len().min(rest.len());
            space[..count].copy_from_slice(&rest[..count]);
            rest = &rest[count..];
            stream.filled(count);
            stream.pump(edit, &mut out)?;
        }
        stream.finish(edit, &mut out)?;
        let mut files = self.session.files.borrow_mut();
        self.candidate = Some(files.files.len());
        files.files.push(MemoryFile { bytes: output, writers: 0 });
        Ok(stream.counts())
    }
}

impl Generations for MemoryGenerations<'_> {
    type Error = StepError;

    fn length(&mut self, generation: usize) -> Result<u64, StepError> {
        self.step()?;
        Ok(self.session.files.borrow().files[self.generations[generation]].bytes.len() as u64)
    }

    fn copy(&mut self, piece: GenerationRange) -> Result<(), StepError> {
        self.step()?;
        let mut files = self.session.files.borrow_mut();
        let range = piece.from as usize..piece.to as usize;
        let bytes = files.files[self.generations[piece.generation]].bytes[range].to_vec();
        let candidate = *self.candidate.get_or_insert(files.files.len());
        if candidate == files.files.len() {
            files.files.push(MemoryFile::default());
        }
        files.files[candidate].bytes.extend_from_slice(&bytes);
        Ok(())
    }

    fn whole_lines(&mut self, piece: GenerationRange) -> Result<u64, StepError> {
        let files = self.session.files.borrow();
        let bytes = &files.files[self.generations[piece.generation]].bytes;
        let range = &bytes[piece.from as usize..piece.to as usize];
        Ok(memchr::memrchr(b'\n', range).map_or(0, |end| end as u64 + 1))
    }

    fn sync(&mut self) -> Result<(), StepError> {
        self.step()
    }

    fn exchange(&mut self) -> Result<(), StepError> {
        self.step()?;
        let mut files = self.session.files.borrow_mut();
        let current = self.generations.last().copied();
        if files.named != current {
            return Err(StepError::Replaced);
        }
        files.named = self.candidate.take();
        self.generations.extend(files.named);
        Ok(())
    }

    fn writers(&mut self, generation: usize) -> Writers {
        // This method cannot return an error, so a failed step counts as
        // unknown.
        let failed = self.step().is_err();
        let files = self.session.files.borrow();
        match files.files[self.generations[generation]].writers {
            _ if failed => Writers::Unknown,
            0 => Writers::None,
            _ => Writers::Some,
        }
    }

    fn pause(&mut self) {}
}

impl SessionRewriter for MemorySession {
    fn rewrite(
        &self,
        edit: &mut dyn LineEdit,
        mode: RewriteMode,
    ) -> Result<RewriteReport, RewriteError> {
        let name = || Self::NAME.to_owned();
        let storage = |error: StepError| match error {
            StepError::Replaced => RewriteError::Conflict { name: name() },
            StepError::Told => RewriteError::Storage { name: name(), source: error.into() },
        };
        let Some(source) = self.files.borrow().named else {
            return Err(RewriteError::Missing { name: name() });
        };
        let mut steps =
            MemoryGenerations { session: self, generations: vec![source], candidate: None };
        if mode == RewriteMode::Commit && !released(&mut steps, self.limits) {
            return Err(RewriteError::Busy { name: name() });
        }
        let snapshot = steps.length(0).map_err(storage)?;
        let counts = steps.edit(edit, snapshot as usize).map_err(storage)?;
        let mut report = RewriteReport {
            changed_lines: counts.changed,
            passed_over: counts.passed_over,
            bytes_before: snapshot,
            bytes_after: counts.bytes_out,
            ..RewriteReport::default()
        };
        if mode == RewriteMode::Commit && counts.changed > 0 {
            edit.before_commit()
                .map_err(|source| RewriteError::CalledOff { name: name(), source })?;
            let settled =
                settle(&mut steps, snapshot, counts.bytes_out, self.limits).map_err(storage)?;
            report.merged_bytes = settled.merged;
            report.held_open = settled.held;
        }
        Ok(report)
    }
}
