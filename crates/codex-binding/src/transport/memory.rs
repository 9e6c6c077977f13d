//! An in-process connection, for servers written in Rust and for tests.

use tokio::io::{DuplexStream, ReadHalf, WriteHalf};

use super::Transport;

/// How many bytes each direction buffers before a writer has to wait.
const CAPACITY: usize = 64 * 1024;

/// The server's end of an in-process connection.
#[derive(Debug)]
#[non_exhaustive]
pub struct MemoryPeer {
    /// Reads what the client writes.
    pub reader: ReadHalf<DuplexStream>,
    /// Writes what the client reads.
    pub writer: WriteHalf<DuplexStream>,
}

/// A connected pair: the client's end, and the server's.
#[must_use]
pub fn memory() -> (Transport, MemoryPeer) {
    let (ours, theirs) = tokio::io::duplex(CAPACITY);
    let (reader, writer) = tokio::io::split(ours);
    let transport = Transport { reader: Box::new(reader), writer: Box::new(writer), child: None };
    let (reader, writer) = tokio::io::split(theirs);
    (transport, MemoryPeer { reader, writer })
}
