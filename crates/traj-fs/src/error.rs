//! Filesystem errors, in terms that callers can act on.

use std::io;

/// Why a file or directory was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// It is a symbolic link, or the path to it contains one.
    #[error("it is a symbolic link")]
    Symlink,
    /// The file has more than one name.
    #[error("it has more than one hard link")]
    HardLink,
    /// It is a directory, FIFO, socket or device.
    #[error("it is not a regular file")]
    NotRegular,
    /// Something else is where a directory should be.
    #[error("it is not a directory")]
    NotAFolder,
    /// Another file replaced it since it was opened.
    #[error("it was replaced by another file")]
    Swapped,
    /// It has the name of one of our files, but not its content.
    #[error("traj did not write its content")]
    Foreign,
    /// The name is not a single plain component.
    #[error("its name is not a plain file name")]
    UnsafeName,
}

/// An operation on a file or directory failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FsError {
    /// The operation would not have been safe.
    #[error("refused to {operation} {name:?}: {refusal}")]
    Refused {
        /// The operation.
        operation: &'static str,
        /// The file's or directory's name.
        name: String,
        /// Why it was refused.
        refusal: Refusal,
    },
    /// Another process has locked it and does not release it.
    #[error("another process has locked {name:?}")]
    Held {
        /// The file's or directory's name.
        name: String,
    },
    /// The operating system reported an error.
    #[error("cannot {operation} {name:?}")]
    Io {
        /// The operation.
        operation: &'static str,
        /// The file's or directory's name.
        name: String,
        /// The error of the operating system.
        source: io::Error,
    },
}

impl FsError {
    pub(crate) fn refused(operation: &'static str, name: &str, refusal: Refusal) -> Self {
        Self::Refused { operation, name: name.to_owned(), refusal }
    }

    /// Whether the file or directory does not exist.
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

/// Whether more disk space would have helped.
pub(crate) fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
    )
}

/// Adds the failed operation to an [`io::Result`].
pub(crate) trait Context<T> {
    /// Names the operation and the file it failed on.
    fn context(self, operation: &'static str, name: &str) -> Result<T, FsError>;
}

impl<T> Context<T> for io::Result<T> {
    fn context(self, operation: &'static str, name: &str) -> Result<T, FsError> {
        self.map_err(|source| {
            // How the kernel reports a link, a directory or a special file.
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
