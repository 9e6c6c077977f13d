//! Room for intermediate results, in a file without a name.

use cap_std::fs::{Dir, File, FileExt as _};
use traj_core::port::{BundleSinkError, Scratch};

use crate::bundle_sink::{from_fs, sink_error};
use crate::error::{Context as _, FsError};
use crate::replace::create_temporary;

/// A private file that is gone when it is closed, and is not made before it is
/// needed.
#[derive(Debug)]
pub struct FsScratch {
    /// What it is for.
    name: String,
    /// Where it may lie, the best place first.
    places: Vec<Dir>,
    file: Option<File>,
    length: u64,
}

impl FsScratch {
    /// A file in the first of these folders that takes one; `name` tells in
    /// errors what it is for.
    #[must_use]
    pub const fn new(name: String, places: Vec<Dir>) -> Self {
        Self { name, places, file: None, length: 0 }
    }

    pub(crate) const fn of_file(name: String, file: File) -> Self {
        Self { name, places: Vec::new(), file: Some(file), length: 0 }
    }

    fn create(&self) -> Result<File, BundleSinkError> {
        let mut failed = BundleSinkError::ScratchDamaged;
        for place in &self.places {
            match nameless(place, &self.name) {
                Ok(file) => return Ok(file),
                Err(error) => failed = from_fs(&self.name, error),
            }
        }
        Err(failed)
    }
}

fn nameless(folder: &Dir, name: &str) -> Result<File, FsError> {
    let (temporary, file) = create_temporary(folder, name)?;
    folder.remove_file(&temporary).context("remove", name)?;
    Ok(file)
}

impl Scratch for FsScratch {
    fn append(&mut self, bytes: &[u8]) -> Result<(), BundleSinkError> {
        let file = match self.file.take() {
            Some(file) => file,
            None => self.create()?,
        };
        let written = file.write_all_at(bytes, self.length);
        self.file = Some(file);
        written.map_err(|error| sink_error(&self.name, error))?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), BundleSinkError> {
        let file = self.file.as_ref().ok_or(BundleSinkError::ScratchDamaged)?;
        file.read_exact_at(buffer, offset).map_err(|error| sink_error(&self.name, error))
    }
}
