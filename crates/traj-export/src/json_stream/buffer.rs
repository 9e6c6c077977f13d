//! A read buffer: bytes are read in pieces and examined in place.

/// A buffer that keeps its memory. New bytes overwrite used ones, and memory is
/// not cleared before it is overwritten.
#[derive(Debug, Default)]
pub(crate) struct ReadBuffer {
    /// The memory, as long as the most content so far.
    bytes: Vec<u8>,
    /// How many bytes from the front are content.
    filled: usize,
}

impl ReadBuffer {
    /// The bytes that were read and kept.
    pub(crate) fn filled(&self) -> &[u8] {
        self.bytes.get(..self.filled).unwrap_or_default()
    }

    /// Drops the first `done` bytes, moves the others to the front, and reads
    /// up to `piece` more after them. Returns how many were read.
    pub(crate) fn fill<E>(
        &mut self,
        done: usize,
        piece: usize,
        read: impl FnOnce(&mut [u8]) -> Result<usize, E>,
    ) -> Result<usize, E> {
        let done = done.min(self.filled);
        self.bytes.copy_within(done..self.filled, 0);
        self.filled -= done;
        let end = self.make_room(piece);
        let read = read(self.bytes.get_mut(self.filled..end).unwrap_or_default())?;
        self.filled = end.min(self.filled + read);
        Ok(read)
    }

    /// Appends bytes that were read elsewhere.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let end = self.make_room(bytes.len());
        if let Some(room) = self.bytes.get_mut(self.filled..end) {
            room.copy_from_slice(bytes);
        }
        self.filled = end;
    }

    /// Drops everything after the first `length` bytes.
    pub(crate) fn truncate(&mut self, length: usize) {
        self.filled = self.filled.min(length);
    }

    /// Frees unused memory beyond `length` bytes.
    pub(crate) fn shrink_to(&mut self, length: usize) {
        self.bytes.truncate(length.max(self.filled));
        self.bytes.shrink_to_fit();
    }

    /// The allocated bytes.
    pub(crate) const fn room(&self) -> usize {
        self.bytes.capacity()
    }

    /// Makes room after the content, and returns its end.
    fn make_room(&mut self, length: usize) -> usize {
        let end = self.filled + length;
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        end
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    fn fill(window: &mut ReadBuffer, done: usize, piece: usize, read: &[u8]) -> usize {
        let read = |room: &mut [u8]| {
            assert_eq!(room.len(), piece);
            room[..read.len()].copy_from_slice(read);
            Ok::<_, Infallible>(read.len())
        };
        window.fill(done, piece, read).unwrap()
    }

    #[test]
    fn kept_bytes_move_to_the_front() {
        let mut window = ReadBuffer::default();
        assert_eq!(fill(&mut window, 0, 4, b"abcd"), 4);
        assert_eq!(fill(&mut window, 3, 6, b"ef"), 2);
        assert_eq!(window.filled(), b"def");
        window.push(b"ghi");
        assert_eq!(window.filled(), b"defghi");
        window.truncate(1);
        assert_eq!(fill(&mut window, 9, 1, b""), 0);
        assert_eq!(window.filled(), b"");
    }

    #[test]
    fn memory_is_kept_until_it_is_freed() {
        let mut window = ReadBuffer::default();
        window.push(&[7; 1_000]);
        window.truncate(2);
        assert!(window.room() >= 1_000);
        window.shrink_to(10);
        assert!(window.room() < 1_000);
        assert_eq!(window.filled(), [7; 2]);
    }
}
