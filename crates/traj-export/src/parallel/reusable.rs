//! Buffers that are cleared and used again.

/// Larger buffers are not kept: only unusually long rows need them.
const MOST_ROOM: usize = 4 * 1024 * 1024;

/// A buffer that keeps its memory when it is cleared.
pub(crate) trait Reusable: Default {
    /// The allocated bytes.
    fn room(&self) -> usize;

    /// Clears the content.
    fn empty(&mut self);

    /// Clears the content, and frees the memory if it is unusually large.
    fn make_ready(&mut self) {
        if self.room() > MOST_ROOM {
            *self = Self::default();
        } else {
            self.empty();
        }
    }
}

impl<T> Reusable for Vec<T> {
    fn room(&self) -> usize {
        self.capacity() * size_of::<T>()
    }

    fn empty(&mut self) {
        self.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_becomes_empty_and_keeps_its_room() {
        let mut buffer = vec![7_u8; 1_000];
        buffer.make_ready();
        assert!(buffer.is_empty() && buffer.capacity() >= 1_000);
    }

    #[test]
    fn unusually_large_buffers_are_freed() {
        let mut buffer = vec![0_u64; MOST_ROOM / 8 + 1];
        buffer.make_ready();
        assert_eq!(buffer.capacity(), 0);
    }
}
