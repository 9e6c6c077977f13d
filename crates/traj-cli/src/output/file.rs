//! The files that commands write: each is complete, or it is not there.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cap_std::fs::Dir;
use traj_fs::write_private_file;

use super::cannot_print;
use crate::command_error::CommandError;
use crate::compose::Host;

/// How much is gathered before it is written.
const BUFFER_BYTES: usize = 256 * 1024;

/// Why an output is not complete.
#[derive(Debug)]
pub(crate) enum OutputFailure {
    /// It cannot be written.
    Write(io::Error),
    /// There is nothing to write, for this reason.
    Content(CommandError),
}

impl From<CommandError> for OutputFailure {
    fn from(error: CommandError) -> Self {
        Self::Content(error)
    }
}

impl OutputFailure {
    /// The error of a command that writes to standard output.
    pub(crate) fn on_stdout(self) -> CommandError {
        match self {
            Self::Write(error) => cannot_print(error),
            Self::Content(error) => error,
        }
    }
}

/// A file that the user asked for.
#[derive(Debug)]
pub(crate) struct OutputFile {
    folder: Dir,
    name: String,
    path: PathBuf,
}

impl OutputFile {
    /// The file at the absolute path `path`. It is not inside a bundle, and it
    /// exists only if it may be replaced.
    pub(crate) fn new(path: &Path, may_replace: bool, host: &Host) -> Result<Self, CommandError> {
        let (folder, name) = host.folder_of(path)?;
        host.check_outside_bundles(path.parent().unwrap_or(path))?;
        if !may_replace && folder.symlink_metadata(&name).is_ok() {
            let message = format!("{} exists", path.display());
            return Err(CommandError::usage(message)
                .hint("name another file with --output, or replace it with --force"));
        }
        Ok(Self { folder, name, path: path.to_owned() })
    }

    /// Writes the file with `write`, as [`write_complete`] does.
    pub(crate) fn write<T>(
        &self,
        write: impl FnOnce(&mut (dyn Write + Send)) -> Result<T, OutputFailure>,
    ) -> Result<T, CommandError> {
        write_complete(&self.folder, &self.name, &self.path, write)
    }
}

/// Writes the file `name` in `folder` under a temporary name; it gets its own
/// name when it is complete. Errors call it `path`.
pub(crate) fn write_complete<T>(
    folder: &Dir,
    name: &str,
    path: &Path,
    write: impl FnOnce(&mut (dyn Write + Send)) -> Result<T, OutputFailure>,
) -> Result<T, CommandError> {
    let mut content = None;
    let outcome = write_private_file(folder, name, |out| match write(out) {
        Ok(written) => {
            content = Some(Ok(written));
            Ok(())
        }
        Err(OutputFailure::Write(error)) => Err(error),
        Err(OutputFailure::Content(error)) => {
            content = Some(Err(error));
            Err(io::Error::other("there is nothing to write"))
        }
    });
    match (outcome, content) {
        (_, Some(Err(error))) => Err(error),
        (Ok(()), Some(Ok(written))) => Ok(written),
        (Ok(()), None) => Err(CommandError::failure("nothing was written")),
        (Err(error), _) => {
            let message = format!("cannot write {}", path.display());
            Err(CommandError::failure(message).because(error))
        }
    }
}

/// Buffers what is written to `out`, and fails once `stop` is set.
pub(crate) fn stoppable<W: Write>(out: W, stop: Arc<AtomicBool>) -> impl Write + use<W> {
    BufWriter::with_capacity(BUFFER_BYTES, StoppableWriter { out, stop })
}

/// Fails once somebody asks us to stop.
struct StoppableWriter<W> {
    out: W,
    stop: Arc<AtomicBool>,
}

impl<W: Write> Write for StoppableWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.stop.load(Ordering::Relaxed) {
            // Not `Interrupted`: that asks callers to try again.
            return Err(io::Error::other("asked to stop"));
        }
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
