//! Keeps intermediate results in a file without a name.

use std::io;

use cap_std::fs::{Dir, File, FileExt as _};
use traj_core::port::{Scratch, ScratchError};

use crate::error::{Context as _, FsError, is_full};
use crate::safe::limited_file::check_growth;
use crate::safe::replace::create_temporary;

/// Its name in errors: the file itself has none.
const NAME: &str = "intermediate results";

/// A private file that is created on first use and disappears when it is
/// closed.
#[derive(Debug)]
pub struct FsScratch {
    /// The directories to create it in, in order of preference.
    places: Vec<Dir>,
    file: Option<File>,
    length: u64,
}

impl FsScratch {
    /// A file in the first of these directories where it can be created.
    #[must_use]
    pub const fn new(places: Vec<Dir>) -> Self {
        Self { places, file: None, length: 0 }
    }

    fn create(&self) -> Result<File, ScratchError> {
        let mut failed = ScratchError::Storage("no directory is available".into());
        for place in &self.places {
            match nameless(place) {
                Ok(file) => return Ok(file),
                Err(FsError::Io { source, .. }) if is_full(&source) => failed = ScratchError::Full,
                Err(error) => failed = ScratchError::Storage(error.into()),
            }
        }
        Err(failed)
    }
}

fn nameless(folder: &Dir) -> Result<File, FsError> {
    let (temporary, file) = create_temporary(folder, NAME)?;
    folder.remove_file(&temporary).context("remove", NAME)?;
    Ok(file)
}

fn scratch_error(error: io::Error) -> ScratchError {
    if is_full(&error) { ScratchError::Full } else { ScratchError::Storage(error.into()) }
}

impl Scratch for FsScratch {
    fn append(&mut self, bytes: &[u8]) -> Result<(), ScratchError> {
        let file = match self.file.take() {
            Some(file) => file,
            None => self.create()?,
        };
        let written = check_growth(self.length, bytes.len())
            .and_then(|()| file.write_all_at(bytes, self.length));
        self.file = Some(file);
        written.map_err(scratch_error)?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ScratchError> {
        let behind = || scratch_error(io::ErrorKind::UnexpectedEof.into());
        let file = self.file.as_ref().ok_or_else(behind)?;
        file.read_exact_at(buffer, offset).map_err(scratch_error)
    }
}
