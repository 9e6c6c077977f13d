//! The bytes waiting to be written to the server.

use std::collections::VecDeque;
use std::io;

use tokio::io::{AsyncWrite, AsyncWriteExt};

/// Lines that the server has not read yet, with a limit above which no more calls are added.
#[derive(Debug)]
pub(super) struct Outbox {
    bytes: VecDeque<u8>,
    limit: usize,
    needs_flush: bool,
}

impl Outbox {
    pub(super) const fn new(limit: usize) -> Self {
        Self { bytes: VecDeque::new(), limit, needs_flush: false }
    }

    pub(super) fn push(&mut self, line: &str) {
        self.bytes.extend(line.as_bytes());
    }

    /// Whether there are bytes to write or to flush.
    pub(super) fn is_pending(&self) -> bool {
        self.needs_flush || !self.bytes.is_empty()
    }

    /// Whether another line may be added. The last line may exceed the limit by any length.
    pub(super) fn has_room(&self) -> bool {
        self.bytes.len() < self.limit
    }

    /// Writes as much as the server accepts at once. Dropping the future loses nothing.
    pub(super) async fn write_some(
        &mut self,
        mut writer: &mut (dyn AsyncWrite + Send + Unpin),
    ) -> io::Result<()> {
        if !self.bytes.is_empty() {
            if AsyncWriteExt::write_buf(&mut writer, &mut self.bytes).await? == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            self.needs_flush = true;
        }
        if self.bytes.is_empty() {
            // Free the memory after a burst of large lines.
            self.bytes.shrink_to(self.limit);
            writer.flush().await?;
            self.needs_flush = false;
        }
        Ok(())
    }

    /// Writes the rest and closes the server's input.
    pub(super) async fn finish(
        mut self,
        writer: &mut (dyn AsyncWrite + Send + Unpin),
    ) -> io::Result<()> {
        while self.is_pending() {
            self.write_some(writer).await?;
        }
        writer.shutdown().await
    }
}
