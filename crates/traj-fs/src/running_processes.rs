//! Which processes work on a directory, by files that each of them locks.

use std::io;

use cap_std::fs::Dir;
use traj_core::port::RunningProcesses;

use crate::error::{Context as _, FsError};
use crate::safe::lease::Lease;
use crate::safe::open::identity_of;

/// How many numbers may be taken, in a row.
const DRAWS: u32 = 100;

/// This process, as one of those that work on a directory.
#[derive(Debug)]
pub struct FsProcess {
    folder: Dir,
    own: u64,
    /// Held until the process ends, whatever ends it.
    _lease: Lease,
}

impl FsProcess {
    /// Tells the other processes that work on `folder` about this one. `draw`
    /// returns random numbers.
    ///
    /// # Errors
    /// When the directory cannot be written to or does not support locks, or when
    /// `draw` fails.
    pub fn begin(folder: Dir, mut draw: impl FnMut() -> io::Result<u64>) -> Result<Self, FsError> {
        for _ in 0..DRAWS {
            let own = draw().context("draw a number for", "this process")?.max(1);
            if let Some(lease) = Lease::try_take(&folder, &name(own))? {
                return Ok(Self { folder, own, _lease: lease });
            }
        }
        Err(FsError::Held { name: "every number".to_owned() })
    }
}

impl RunningProcesses for FsProcess {
    fn own(&self) -> u64 {
        self.own
    }

    fn is_running(&self, process: u64) -> bool {
        let name = name(process);
        if process == self.own {
            return true;
        }
        if matches!(identity_of(&self.folder, &name), Ok(None)) {
            return false;
        }
        // Who cannot be asked may be running.
        !matches!(Lease::try_take(&self.folder, &name), Ok(Some(_)))
    }
}

fn name(process: u64) -> String {
    format!("{process:016x}.running")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_running_until_it_ends_and_leaves_nothing_behind() {
        let temporary = tempfile::tempdir().unwrap();
        #[expect(clippy::disallowed_methods, reason = "a test opens its own directory")]
        let folder = Dir::open_ambient_dir(temporary.path(), cap_std::ambient_authority()).unwrap();
        let begin = |number| FsProcess::begin(folder.try_clone().unwrap(), || Ok(number)).unwrap();
        let (one, other) = (begin(1), begin(2));
        assert_eq!((one.own(), other.own()), (1, 2));
        assert!(one.is_running(1) && one.is_running(2) && other.is_running(1));
        assert!(!one.is_running(3), "nobody ever had this number");
        drop(other);
        assert!(!one.is_running(2));
        // What a killed process leaves: the file without its lock.
        folder.write(name(7), "").unwrap();
        assert!(!one.is_running(7));
        drop(one);
        assert_eq!(folder.entries().unwrap().count(), 0);
    }

    #[test]
    fn a_number_that_is_taken_is_drawn_again() {
        let temporary = tempfile::tempdir().unwrap();
        #[expect(clippy::disallowed_methods, reason = "a test opens its own directory")]
        let folder = Dir::open_ambient_dir(temporary.path(), cap_std::ambient_authority()).unwrap();
        let mut numbers = [5, 5, 6].into_iter();
        let mut draw = || Ok(numbers.next().unwrap());
        let one = FsProcess::begin(folder.try_clone().unwrap(), &mut draw).unwrap();
        let other = FsProcess::begin(folder, &mut draw).unwrap();
        assert_eq!((one.own(), other.own()), (5, 6));
    }
}
