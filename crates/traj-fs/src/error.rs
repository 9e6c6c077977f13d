//! What can go wrong on a filesystem, in the words callers act on.

use std::io;

/// Why something on the disk was not touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// A symbolic link stands in its place, or on the way to it.
    #[error("it is a symbolic link")]
    Symlink,
    /// The file has more than one name.
    #[error("it has more than one hard link")]
    HardLink,
    /// A folder, FIFO, socket or device stands in its place.
    #[error("it is not a regular file")]
    NotRegular,
    /// Something else stands where a folder should.
    #[error("it is not a folder")]
    NotAFolder,
    /// Another file took its place since it was opened.
    #[error("it was replaced by another file")]
    Swapped,
    /// It has the name of a file of ours, but not its content.
    #[error("it holds something that traj did not write")]
    Foreign,
    /// The name is not a single plain component.
    #[error("its name is not a plain file name")]
    UnsafeName,
}

/// An operation on a file or folder failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FsError {
    /// It would not have been safe.
    #[error("refused to {operation} {name:?}: {refusal}")]
    Refused {
        /// What was about to be done.
        operation: &'static str,
        /// The file's or folder's name.
        name: String,
        /// Why not.
        refusal: Refusal,
    },
    /// Another process has locked it and does not let go.
    #[error("another process holds {name:?}")]
    Held {
        /// The file's or folder's name.
        name: String,
    },
    /// The operating system said no.
    #[error("cannot {operation} {name:?}")]
    Io {
        /// What was about to be done.
        operation: &'static str,
        /// The file's or folder's name.
        name: String,
        /// What the operating system said.
        source: io::Error,
    },
}

impl FsError {
    pub(crate) fn refused(operation: &'static str, name: &str, refusal: Refusal) -> Self {
        Self::Refused { operation, name: name.to_owned(), refusal }
    }

    /// Whether the file or folder does not exist.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }

    /// Why it was refused, if it was.
    #[must_use]
    pub const fn refusal(&self) -> Option<Refusal> {
        if let Self::Refused { refusal, .. } = self { Some(*refusal) } else { None }
    }
}

/// Whether more room would have helped.
pub(crate) fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
    )
}

/// Says what failed on an [`io::Result`].
pub(crate) trait Context<T> {
    /// Names the operation and the file it failed on.
    fn context(self, operation: &'static str, name: &str) -> Result<T, FsError>;
}

impl<T> Context<T> for io::Result<T> {
    fn context(self, operation: &'static str, name: &str) -> Result<T, FsError> {
        self.map_err(|source| {
            // The kernel's own words for "this is a link" and "this is a folder".
            match rustix::io::Errno::from_io_error(&source) {
                Some(rustix::io::Errno::LOOP) => {
                    FsError::refused(operation, name, Refusal::Symlink)
                }
                Some(rustix::io::Errno::ISDIR | rustix::io::Errno::NXIO) => {
                    FsError::refused(operation, name, Refusal::NotRegular)
                }
                _ => FsError::Io { operation, name: name.to_owned(), source },
            }
        })
    }
}
