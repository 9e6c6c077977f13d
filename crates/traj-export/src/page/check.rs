//! Checks a page: its files as a bundle, and everything else byte for byte
//! against what is written for that bundle.

use std::io::{self, Write};
use std::num::NonZeroUsize;

use traj_core::port::BundleSourceError;
use traj_core::redaction::Redactor;

use super::read::{ChunkContent, PageBundle, PageBytes};
use super::sink::{PageSink, opening};
use super::{PAGE, PageError, find_survivors, write_parts};
use crate::verify::{VerifyReport, verify};

/// Checks a page: rebuilds the files of the bundle and checks them as
/// [`verify`] does, then writes the page again and compares. Only the
/// compression may differ.
///
/// # Errors
/// If the page cannot be read.
pub fn verify_page(
    page: &PageBundle,
    redactor: &Redactor,
    workers: NonZeroUsize,
) -> Result<VerifyReport, BundleSourceError> {
    let mut report = verify(page, redactor, workers)?;
    let mut comparison = Comparison { page: page.bytes(), part: "head" };
    let mut options = page.options.clone();
    if page.is_for_review {
        options.review = Some(find_survivors(page, redactor)?);
    }
    let compared = write_parts(page, &options, &mut comparison);
    let part = comparison.part;
    let problem = match compared {
        Ok(_) => match comparison.page.peek() {
            Ok([]) => None,
            _ => Some("has data after its end".to_owned()),
        },
        Err(PageError::Output(_)) => Some(format!("differs from what traj writes, at the {part}")),
        Err(PageError::Source(error)) => return Err(error),
    };
    if let Some(problem) = problem {
        report.add(PAGE, None, problem);
    }
    report.findings.extend(page.options.find_secrets(redactor));
    Ok(report)
}

/// Compares a page with what is written.
struct Comparison<'p> {
    page: PageBytes<'p>,
    /// Where it is.
    part: &'static str,
}

impl PageSink for Comparison<'_> {
    fn text(&mut self, text: &str) -> io::Result<()> {
        self.page.expect(text.as_bytes()).map_err(io::Error::other)
    }

    fn chunk(
        &mut self,
        id: &str,
        fill: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        self.part = if id.starts_with('i') { "index" } else { "data" };
        self.text(&opening(id))?;
        let mut content = ComparedChunk {
            page: &mut self.page,
            chunk: ChunkContent::default(),
            buffer: vec![0; 64 * 1024],
        };
        fill(&mut content)?;
        content.end()
    }
}

/// Compares the content of a chunk with what is written.
struct ComparedChunk<'c, 'p> {
    page: &'c mut PageBytes<'p>,
    chunk: ChunkContent,
    buffer: Vec<u8>,
}

impl ComparedChunk<'_, '_> {
    fn end(mut self) -> io::Result<()> {
        match self.chunk.read(self.page, &mut self.buffer).map_err(io::Error::other)? {
            0 => Ok(()),
            _ => Err(differs()),
        }
    }
}

impl Write for ComparedChunk<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let most = bytes.len().min(self.buffer.len());
        let space = self.buffer.get_mut(..most).unwrap_or_default();
        let read = self.chunk.read(self.page, space).map_err(io::Error::other)?;
        let is_same = read > 0 && bytes.get(..read) == space.get(..read);
        if is_same || bytes.is_empty() { Ok(read) } else { Err(differs()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn differs() -> io::Error {
    io::Error::other("the page differs")
}
