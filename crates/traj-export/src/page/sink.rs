//! The destination of a page: a file, or a comparison with another page.

use std::io::{self, Write};

use base64::engine::general_purpose::STANDARD;
use base64::write::EncoderWriter;
use flate2::Compression;
use flate2::write::DeflateEncoder;

/// Fast, and nearly as small as the slower levels on the text of a run.
const LEVEL: u32 = 3;

/// Takes the parts of a page in order.
pub(super) trait PageSink {
    /// Takes text that is the same for every writer.
    fn text(&mut self, text: &str) -> io::Result<()>;

    /// Takes a chunk: `fill` writes its content.
    fn chunk(
        &mut self,
        id: &str,
        fill: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()>;
}

/// The tag before the content of a chunk.
pub(super) fn opening(id: &str) -> String {
    format!("<script type=\"text/plain\" id=\"{id}\">")
}

/// What comes after the content of any script.
pub(super) const CLOSING: &str = "</script>\n";

/// Writes a page.
#[derive(Debug)]
pub(super) struct HtmlSink<W> {
    out: W,
    bytes: u64,
}

impl<W: Write> HtmlSink<W> {
    pub(super) const fn new(out: W) -> Self {
        Self { out, bytes: 0 }
    }

    /// Writes what is buffered; returns the size of the page.
    pub(super) fn finish(mut self) -> io::Result<u64> {
        self.out.flush()?;
        Ok(self.bytes)
    }
}

impl<W: Write> Write for HtmlSink<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<W: Write> PageSink for HtmlSink<W> {
    fn text(&mut self, text: &str) -> io::Result<()> {
        self.write_all(text.as_bytes())
    }

    fn chunk(
        &mut self,
        id: &str,
        fill: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        self.text(&opening(id))?;
        let encoder = EncoderWriter::new(&mut *self, &STANDARD);
        let mut deflate = DeflateEncoder::new(encoder, Compression::new(LEVEL));
        fill(&mut deflate)?;
        deflate.finish()?.finish()?;
        self.text(CLOSING)
    }
}
