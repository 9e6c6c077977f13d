//! Buffers that were used and are used again.
//!
//! Groups of rows are read on one thread and worked on by others. Buffers made
//! for each group and freed by whoever had it last would leave the allocator
//! with ever more pieces of memory that are too small for the next one.

use std::sync::{Mutex, PoisonError};

/// A buffer with more room is not kept: it was made for a row of unusual length.
const MOST_ROOM: usize = 4 * 1024 * 1024;

/// Something that holds memory when it is empty.
pub(crate) trait Buffer: Default {
    /// The bytes it holds.
    fn room(&self) -> usize;

    /// Forgets what is in it.
    fn empty(&mut self);
}

impl<T> Buffer for Vec<T> {
    fn room(&self) -> usize {
        self.capacity() * size_of::<T>()
    }

    fn empty(&mut self) {
        self.clear();
    }
}

/// Empty buffers of one kind; as many as were ever in use at the same time.
#[derive(Debug, Default)]
pub(crate) struct Shelf<B>(Mutex<Vec<B>>);

impl<B: Buffer> Shelf<B> {
    /// An empty buffer, used before if there is one.
    pub(crate) fn take(&self) -> B {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// Gives back a buffer that is no longer needed.
    pub(crate) fn put(&self, mut buffer: B) {
        if buffer.room() <= MOST_ROOM {
            buffer.empty();
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_comes_back_empty_and_with_its_room() {
        let shelf = Shelf::default();
        shelf.put(vec![7_u8; 1_000]);
        let buffer: Vec<u8> = shelf.take();
        assert!(buffer.is_empty() && buffer.capacity() >= 1_000);
        assert_eq!(shelf.take().capacity(), 0);
    }

    #[test]
    fn a_buffer_of_unusual_size_is_not_kept() {
        let shelf = Shelf::default();
        shelf.put(vec![0_u64; MOST_ROOM / 8 + 1]);
        assert_eq!(shelf.take().capacity(), 0);
    }
}
