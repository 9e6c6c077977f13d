//! Splits a JSON document without keeping it in memory: into the members of an
//! object, the items of an array, and the items of arrays that are members.

use std::ops::Range;

use crate::json_stream::buffer::ReadBuffer;

/// How much is read at once.
const PIECE: usize = 256 * 1024;

/// Why a document cannot be split.
#[derive(Debug)]
pub(crate) enum SplitError {
    /// It is not JSON from this line on.
    NotJson { line: u64 },
    /// An element is too long to keep in memory.
    TooLong { line: u64 },
    /// It cannot be read.
    Read(ReadError),
}

/// Why a read failed.
pub(crate) type ReadError = Box<dyn std::error::Error + Send + Sync>;

/// The bytes of a document. `read` fills the buffer from the front and returns
/// the number of bytes; zero at the end.
pub(crate) trait ByteStream: Send {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, ReadError>;
}

/// A member of an object, or an item of an array.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Element<'s> {
    /// The name of the member, or of the member that contains the item, as a
    /// JSON literal.
    pub(crate) name: Option<&'s [u8]>,
    /// Whether it is an item of that member.
    pub(crate) is_item: bool,
    /// The value's JSON.
    pub(crate) value: &'s [u8],
    /// The line it starts in, 1-based.
    pub(crate) line: u64,
    /// The offset of its value in the document.
    pub(crate) offset: u64,
}

/// The range of an element in the buffer.
struct ElementRange {
    is_item: bool,
    value: Range<usize>,
    line: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SplitState {
    Start,
    Object { is_first: bool },
    Array { is_first: bool, is_member: bool },
    End,
}

/// Splits a document into elements.
pub(crate) struct Splitter<'b> {
    bytes: &'b mut dyn ByteStream,
    window: ReadBuffer,
    at: usize,
    /// Where the current value starts; bytes before it are no longer needed.
    start: usize,
    /// The offset of the buffer in the document.
    dropped: u64,
    line: u64,
    is_drained: bool,
    state: SplitState,
    name: Option<Vec<u8>>,
    longest: usize,
}

impl<'b> Splitter<'b> {
    /// Elements longer than `longest` bytes are refused.
    pub(crate) fn new(bytes: &'b mut dyn ByteStream, longest: usize) -> Self {
        Self {
            bytes,
            window: ReadBuffer::default(),
            at: 0,
            start: 0,
            dropped: 0,
            line: 1,
            is_drained: false,
            state: SplitState::Start,
            name: None,
            longest,
        }
    }

    /// The next element. If it is an item and `item_length` is known, its end
    /// is not searched for. The caller parses the bytes in any case, and so
    /// detects a wrong length.
    pub(crate) fn next(
        &mut self,
        item_length: Option<usize>,
    ) -> Result<Option<Element<'_>>, SplitError> {
        let found = self.find(item_length)?;
        let Some(ElementRange { is_item, value, line }) = found else { return Ok(None) };
        let offset = self.dropped + value.start as u64;
        let value = self.window.filled().get(value).unwrap_or_default();
        Ok(Some(Element { name: self.name.as_deref(), is_item, value, line, offset }))
    }

    fn find(&mut self, item_length: Option<usize>) -> Result<Option<ElementRange>, SplitError> {
        loop {
            let byte = self.peek_solid()?;
            match (self.state, byte) {
                (SplitState::End, None) => return Ok(None),
                (SplitState::Start, Some(b'{')) => {
                    self.at += 1;
                    self.state = SplitState::Object { is_first: true };
                }
                (SplitState::Start, Some(b'[')) => {
                    self.at += 1;
                    self.state = SplitState::Array { is_first: true, is_member: false };
                }
                (SplitState::Start, Some(_)) => {
                    self.state = SplitState::End;
                    return self.element(false, None).map(Some);
                }
                (SplitState::Object { is_first }, Some(byte)) => {
                    if let Some(element) = self.member(is_first, byte)? {
                        return Ok(Some(element));
                    }
                }
                (SplitState::Array { is_first, is_member }, Some(byte)) => {
                    if self.begins_item(is_first, is_member, byte)? {
                        return self.element(true, item_length).map(Some);
                    }
                }
                (SplitState::End, Some(_)) | (_, None) => return Err(self.broken()),
            }
        }
    }

    fn member(&mut self, is_first: bool, byte: u8) -> Result<Option<ElementRange>, SplitError> {
        if byte == b'}' {
            self.at += 1;
            self.state = SplitState::End;
            return Ok(None);
        }
        if !is_first {
            self.expect(b',')?;
        }
        self.state = SplitState::Object { is_first: false };
        if self.peek_solid()? != Some(b'"') {
            return Err(self.broken());
        }
        self.start = self.at;
        self.pass_value()?;
        let name = self.passed();
        self.name = self.window.filled().get(name).map(<[u8]>::to_vec);
        self.expect(b':')?;
        if self.peek_solid()? == Some(b'[') {
            self.at += 1;
            self.state = SplitState::Array { is_first: true, is_member: true };
            return Ok(None);
        }
        self.element(false, None).map(Some)
    }

    /// Skips the separators before an item, or the end of the array.
    fn begins_item(
        &mut self,
        is_first: bool,
        is_member: bool,
        byte: u8,
    ) -> Result<bool, SplitError> {
        if byte == b']' {
            self.at += 1;
            self.state =
                if is_member { SplitState::Object { is_first: false } } else { SplitState::End };
            return Ok(false);
        }
        if !is_first {
            self.expect(b',')?;
        }
        self.state = SplitState::Array { is_first: false, is_member };
        Ok(true)
    }

    fn element(
        &mut self,
        is_item: bool,
        length: Option<usize>,
    ) -> Result<ElementRange, SplitError> {
        self.peek_solid()?;
        let line = self.line;
        self.start = self.at;
        match length {
            Some(length) => self.pass(length)?,
            None => self.pass_value()?,
        }
        Ok(ElementRange { is_item, value: self.passed(), line })
    }

    /// The range of the bytes that were skipped.
    fn passed(&mut self) -> Range<usize> {
        let place = self.start..self.at;
        let value = self.window.filled().get(place.clone()).unwrap_or_default();
        self.line += memchr::memchr_iter(b'\n', value).count() as u64;
        self.start = self.at;
        place
    }

    /// Skips this many bytes.
    fn pass(&mut self, length: usize) -> Result<(), SplitError> {
        if length > self.longest {
            return Err(SplitError::TooLong { line: self.line });
        }
        while self.window.filled().len() - self.at < length {
            if !self.fill()? {
                return Err(self.broken());
            }
        }
        self.at += length;
        Ok(())
    }

    /// Skips the value that starts here, without checking whether it is
    /// well-formed.
    fn pass_value(&mut self) -> Result<(), SplitError> {
        let mut depth = 0_usize;
        loop {
            let Some(byte) = self.peek()? else { return Err(self.broken()) };
            match byte {
                b'"' => self.pass_text()?,
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' if depth > 0 => {
                    depth -= 1;
                    self.at += 1;
                }
                b',' | b':' if depth > 0 => self.at += 1,
                b'}' | b']' | b',' | b':' => return Err(self.broken()),
                b'\n' if depth > 0 => self.pass_indentation(),
                _ => self.pass_plain()?,
            }
            if depth == 0 {
                return Ok(());
            }
            self.check_length()?;
        }
    }

    fn pass_text(&mut self) -> Result<(), SplitError> {
        self.at += 1;
        loop {
            let rest = self.window.filled().get(self.at..).unwrap_or_default();
            match memchr::memchr2(b'"', b'\\', rest) {
                Some(length) if rest.get(length) == Some(&b'"') => {
                    self.at += length + 1;
                    return Ok(());
                }
                Some(length) if length + 1 < rest.len() => self.at += length + 2,
                found => {
                    self.at += found.unwrap_or(rest.len());
                    self.check_length()?;
                    if !self.fill()? {
                        return Err(self.broken());
                    }
                }
            }
        }
    }

    /// Skips a line end and the spaces after it.
    fn pass_indentation(&mut self) {
        let rest = self.window.filled().get(self.at + 1..).unwrap_or_default();
        let blanks = rest.iter().position(|byte| *byte != b' ').unwrap_or(rest.len());
        self.at += 1 + blanks;
    }

    /// Skips spaces, numbers and literals inside a value.
    fn pass_plain(&mut self) -> Result<(), SplitError> {
        self.at += 1;
        loop {
            let rest = self.window.filled().get(self.at..).unwrap_or_default();
            let is_end =
                |byte: &u8| matches!(byte, b'"' | b'{' | b'}' | b'[' | b']' | b',' | b':' | b'\n');
            // A line end inside a value is white space; after a scalar, it ends
            // the value.
            match rest.iter().position(is_end) {
                Some(length) => {
                    self.at += length;
                    return Ok(());
                }
                None => {
                    self.at += rest.len();
                    if !self.fill()? {
                        return Ok(());
                    }
                }
            }
        }
    }

    fn expect(&mut self, byte: u8) -> Result<(), SplitError> {
        if self.peek_solid()? != Some(byte) {
            return Err(self.broken());
        }
        self.at += 1;
        Ok(())
    }

    /// The next byte that is not white space. White space is dropped, so its
    /// amount does not matter.
    fn peek_solid(&mut self) -> Result<Option<u8>, SplitError> {
        loop {
            self.start = self.at;
            match self.peek()? {
                Some(b'\n') => {
                    self.line += 1;
                    self.at += 1;
                }
                Some(b' ' | b'\t' | b'\r') => self.at += 1,
                byte => return Ok(byte),
            }
        }
    }

    fn peek(&mut self) -> Result<Option<u8>, SplitError> {
        if self.at >= self.window.filled().len() && !self.fill()? {
            return Ok(None);
        }
        Ok(self.window.filled().get(self.at).copied())
    }

    fn fill(&mut self) -> Result<bool, SplitError> {
        if self.is_drained {
            return Ok(false);
        }
        let read = self.window.fill(self.start, PIECE, |piece| self.bytes.read(piece));
        self.at -= self.start;
        self.dropped += self.start as u64;
        self.start = 0;
        let read = read.map_err(SplitError::Read)?;
        self.is_drained = read == 0;
        Ok(read > 0)
    }

    const fn check_length(&self) -> Result<(), SplitError> {
        if self.at - self.start > self.longest {
            return Err(SplitError::TooLong { line: self.line });
        }
        Ok(())
    }

    const fn broken(&self) -> SplitError {
        SplitError::NotJson { line: self.line }
    }
}

#[cfg(test)]
mod tests;
