//! A connection inside this process, for servers that are written in Rust, and for tests.

use tokio::io::{DuplexStream, ReadHalf, WriteHalf};

use super::Transport;

/// Bytes that fit into each direction before a writer has to wait.
const CAPACITY: usize = 64 * 1024;

/// The server's end of an in-process connection.
#[derive(Debug)]
#[non_exhaustive]
pub struct MemoryPeer {
    /// What the client writes.
    pub reader: ReadHalf<DuplexStream>,
    /// What the client reads.
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
