//! Follows a file, and shows its events as they arrive.

use std::io;

use cap_std::fs::{Dir, File};
use rustix::fs::fstat;
use traj_core::care::tail::{EventFilter, FileState, Follow, KeepNothing, LastEvents, TailEvent};
use traj_core::run::Origin;

use crate::error::{Context as _, FsError};
use crate::safe::open::{Access, open_regular};
use crate::safe::position::read_at;

/// Bytes read at a time.
const BLOCK: usize = 256 * 1024;

/// Device and inode, which identify a file.
type FileKey = (u64, u64);

/// A file inside a directory. It may appear, grow, be truncated, rewritten or
/// replaced, and disappear.
#[derive(Debug)]
pub struct FollowedFile {
    folder: Dir,
    name: String,
    origin: Origin,
    open: Option<(File, FileKey)>,
    follow: Follow,
    /// Where [`Self::page`] ends.
    end: u64,
}

impl FollowedFile {
    /// Follows the file `name` directly inside `folder` from its beginning.
    #[must_use]
    pub fn new(folder: Dir, name: String, origin: Origin) -> Self {
        Self { folder, name, origin, open: None, follow: Follow::new(origin), end: 0 }
    }

    /// The newest events. [`Self::poll`] shows those after them.
    ///
    /// # Errors
    /// When the file is a link or cannot be read; a missing one has no events.
    pub fn last(
        &mut self,
        wanted: usize,
        filter: &dyn EventFilter,
    ) -> Result<Vec<TailEvent>, FsError> {
        let Some((file, key)) = self.open_named()? else { return Ok(Vec::new()) };
        let length = length(&file).context("inspect", &self.name)?;
        let mut last = LastEvents::new(self.origin, wanted);
        self.read_back(&file, length, &mut last, filter)?;
        let events = last.finish(filter);
        self.begin_at(length - last.unfinished(), file, key, &last)?;
        Ok(events)
    }

    /// The current length of the file; zero for a missing file.
    ///
    /// # Errors
    /// When the file is a link or cannot be read.
    pub fn length(&self) -> Result<u64, FsError> {
        match self.open_named()? {
            Some((file, _)) => length(&file).context("inspect", &self.name),
            None => Ok(0),
        }
    }

    /// Goes back to the newest `wanted` events, or without a number to the
    /// beginning of the file. Returns how many events those are, if they were
    /// counted. [`Self::page`] shows them.
    ///
    /// # Errors
    /// As [`Self::last`].
    pub fn go_back(
        &mut self,
        wanted: Option<usize>,
        filter: &dyn EventFilter,
    ) -> Result<usize, FsError> {
        let Some((file, key)) = self.open_named()? else { return Ok(0) };
        self.end = length(&file).context("inspect", &self.name)?;
        let mut last = LastEvents::counting(self.origin, wanted.unwrap_or_default());
        let mut start = 0;
        if wanted.is_some() {
            self.read_back(&file, self.end, &mut last, filter)?;
            last.finish(filter);
            start = self.end - last.counted().1.max(last.unfinished());
        }
        self.begin_at(start, file, key, &last)?;
        Ok(last.counted().0)
    }

    /// Shows the next block of the events that [`Self::go_back`] found. Returns
    /// `false` when there are no more.
    ///
    /// # Errors
    /// As [`Self::last`].
    pub fn page(
        &mut self,
        filter: &dyn EventFilter,
        show: &mut dyn FnMut(TailEvent),
    ) -> Result<bool, FsError> {
        self.time()?;
        let range = self.follow.to_compare();
        let Some((file, _)) = self.open.as_ref().filter(|_| range.to < self.end) else {
            return Ok(false);
        };
        let mut block = vec![0; BLOCK];
        let size = usize::try_from(self.end - range.from).unwrap_or(BLOCK).min(BLOCK);
        let count = read_at(file, &mut block[..size], range.from).context("read", &self.name)?;
        // If the file changed in the meantime, the next poll handles it.
        Ok(self.follow.feed(range.from, &block[..count], filter, show) && count == size)
    }

    fn read_back(
        &self,
        file: &File,
        length: u64,
        last: &mut LastEvents,
        filter: &dyn EventFilter,
    ) -> Result<(), FsError> {
        let mut block = vec![0; BLOCK];
        let mut end = length;
        while end > 0 {
            let size = usize::try_from(end).unwrap_or(BLOCK).min(BLOCK);
            let start = end - size as u64;
            let count = read_at(file, &mut block[..size], start).context("read", &self.name)?;
            if count < size || !last.block(&block[..count], filter) {
                break;
            }
            end = start;
        }
        Ok(())
    }

    fn begin_at(
        &mut self,
        offset: u64,
        file: File,
        key: FileKey,
        last: &LastEvents,
    ) -> Result<(), FsError> {
        let size = Follow::comparable(offset);
        let mut before = vec![0; size];
        let count =
            read_at(&file, &mut before, offset - size as u64).context("read", &self.name)?;
        self.follow = Follow::from_middle(key, offset, &before[..count], last);
        self.open = Some((file, key));
        Ok(())
    }

    /// Reads the part before the start once, to learn what began there: the
    /// duration of whatever ends later counts from its beginning.
    fn time(&mut self) -> Result<(), FsError> {
        let (Some(range), Some((file, key))) = (self.follow.to_time(), &self.open) else {
            return Ok(());
        };
        let nothing = LastEvents::new(self.origin, 0);
        let mut earlier = Follow::from_middle(*key, range.from, &[], &nothing);
        let mut block = vec![0; BLOCK];
        let mut from = range.from;
        while from < range.to {
            let size = usize::try_from(range.to - from).unwrap_or(BLOCK).min(BLOCK);
            let count = read_at(file, &mut block[..size], from).context("read", &self.name)?;
            earlier.feed(from, &block[..count], &KeepNothing, &mut |_| {});
            if count < size {
                // Truncated in the meantime; the next poll handles it.
                break;
            }
            from += count as u64;
        }
        self.follow.time_from(earlier);
        Ok(())
    }

    /// Shows the new events.
    ///
    /// # Errors
    /// When the file is a link or cannot be read. A missing file is not an
    /// error.
    pub fn poll(
        &mut self,
        filter: &dyn EventFilter,
        show: &mut dyn FnMut(TailEvent),
    ) -> Result<(), FsError> {
        self.time()?;
        // New lines of the open file come first, even if it was renamed.
        if let Some((file, key)) = self.open.take() {
            let outcome = self.drain(&file, key, filter, show);
            self.open = Some((file, key));
            outcome?;
        }
        let Some((file, key)) = self.open_named()? else { return Ok(()) };
        if self.open.as_ref().is_none_or(|(_, known)| *known != key) {
            self.drain(&file, key, filter, show)?;
            self.open = Some((file, key));
        }
        Ok(())
    }

    fn open_named(&self) -> Result<Option<(File, FileKey)>, FsError> {
        let file = match open_regular(&self.folder, &self.name, Access::Read) {
            Ok(file) => file,
            Err(error) if error.is_not_found() => return Ok(None),
            Err(error) => return Err(error),
        };
        let stat = fstat(&file).map_err(io::Error::from).context("inspect", &self.name)?;
        Ok(Some((file, (stat.st_dev, stat.st_ino))))
    }

    fn drain(
        &mut self,
        file: &File,
        key: FileKey,
        filter: &dyn EventFilter,
        show: &mut dyn FnMut(TailEvent),
    ) -> Result<(), FsError> {
        let mut block = vec![0; BLOCK];
        let mut compared = false;
        loop {
            let length = length(file).context("inspect", &self.name)?;
            let range = match self.follow.look(FileState { key, length }, filter, show) {
                Some(range) => range,
                None if self.follow.reached_end() => continue,
                None if compared => return Ok(()),
                None => self.follow.to_compare(),
            };
            compared = true;
            let size = usize::try_from(range.to - range.from).unwrap_or(BLOCK).min(BLOCK);
            let count =
                read_at(file, &mut block[..size], range.from).context("read", &self.name)?;
            if count == 0 {
                // Truncated in the meantime; the next poll handles it.
                return Ok(());
            }
            compared &= self.follow.feed(range.from, &block[..count], filter, show);
        }
    }
}

fn length(file: &File) -> io::Result<u64> {
    Ok(u64::try_from(fstat(file)?.st_size).unwrap_or(0))
}
