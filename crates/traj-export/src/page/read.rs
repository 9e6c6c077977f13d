//! A page as a bundle: the files are read from its chunks.
//!
//! - `bytes`: the bytes of a page, in order;
//! - `chunk`: the content of one chunk;
//! - `copies`: a file that refers to the events.

mod bytes;
mod chunk;
mod copies;

use std::fmt;

use serde::Deserialize;
use traj_core::port::{
    BundleContent, BundleFile, BundleNames, BundleSource, BundleSourceError, BundleVisitor, Source,
};

use traj_core::run::Prices;

use super::PageOptions;
use super::files::copies::ENCODING;
use super::frame::{self, PageAssets};
use super::sink::opening;

pub(super) use bytes::PageBytes;
pub(super) use chunk::ChunkContent;

use copies::{EventRowReader, ExpandedContent};

/// How every page begins.
const BEGINNING: &str = "<!doctype html>\n<html lang=\"en\"><head>\n<meta charset=\"utf-8\">\n\
                         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'";

/// The style, the script, the summary and the head are not larger than this.
const LARGEST_PART: usize = 32 << 20;

/// A page, read in place.
pub struct PageBundle {
    source: Box<dyn Source>,
    /// Where the first chunk of a file begins.
    data: u64,
    files: Vec<StatedFile>,
    /// The first row of each chunk of the events.
    row_chunks: Vec<u64>,
    pub(super) is_for_review: bool,
    pub(super) options: PageOptions,
}

impl fmt::Debug for PageBundle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files = self.files.len();
        formatter.debug_struct("PageBundle").field("files", &files).finish_non_exhaustive()
    }
}

/// What the head of a page says about its files.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StatedHead {
    format: String,
    generator: String,
    review: bool,
    files: Vec<StatedFile>,
    row_chunks: Vec<u64>,
    prices: Option<String>,
}

#[derive(Debug, Deserialize)]
struct StatedFile {
    path: String,
    bytes: u64,
    chunks: u64,
    #[serde(default)]
    encoding: Option<String>,
}

impl PageBundle {
    /// Whether a file begins as a page does.
    #[must_use]
    pub fn is_page(source: &dyn Source) -> bool {
        let mut beginning = [0; BEGINNING.len()];
        source.len() >= beginning.len() as u64
            && source.read_exact_at(0, &mut beginning).is_ok()
            && beginning == BEGINNING.as_bytes()
    }

    /// Opens a page. Its head says which files it contains; none of that is
    /// trusted before it was compared with the chunks.
    ///
    /// # Errors
    /// If it is not a page, or is damaged.
    pub fn open(source: Box<dyn Source>) -> Result<Self, BundleSourceError> {
        let mut page = PageBytes::new(&*source);
        let style = page.between(b"<style>", b"</style>", LARGEST_PART)?;
        let head = page.between(frame::HEAD_OPENING.as_bytes(), b"</script>", LARGEST_PART)?;
        let head: StatedHead =
            serde_json::from_slice(&head).map_err(|_| damaged("the head cannot be read"))?;
        if head.format != super::head::FORMAT {
            return Err(damaged("the page has an unknown format"));
        }
        let script = page.between(frame::SCRIPT_OPENING.as_bytes(), b"</script>", LARGEST_PART)?;
        let assets = PageAssets::listed(&head.generator, &style, &script);
        let mut names = BundleNames::default();
        for file in &head.files {
            names.take(&file.path)?;
        }
        // A page without files cannot contain a manifest.
        page.skip_past(format!("\n{}", opening("c0")).as_bytes())?;
        let data = page.position() - opening("c0").len() as u64;
        let own_prices = head.prices.as_deref().map(Prices::parse).transpose();
        let own_prices = own_prices.map_err(|_| damaged("the prices cannot be read"))?;
        let options = PageOptions { own_prices, review: None, assets };
        let (files, row_chunks, is_for_review) = (head.files, head.row_chunks, head.review);
        Ok(Self { source, data, files, row_chunks, is_for_review, options })
    }

    pub(super) fn bytes(&self) -> PageBytes<'_> {
        PageBytes::new(&*self.source)
    }
}

impl BundleSource for PageBundle {
    fn visit(&self, visit: &mut BundleVisitor<'_>) -> Result<(), BundleSourceError> {
        let mut page = PageBytes::at(&*self.source, self.data);
        let mut rows = EventRowReader::new(&*self.source, &self.row_chunks);
        let mut next = 0_u64;
        for file in &self.files {
            let last =
                next.checked_add(file.chunks).ok_or_else(|| damaged("a chunk is missing"))?;
            let is_events = BundleFile::parse(&file.path) == Some(BundleFile::Events);
            let offsets = is_events.then(Vec::new);
            let left = if file.encoding.is_some() { u64::MAX } else { file.bytes };
            let mut content =
                FileContent { page: &mut page, chunk: None, next, last, left, offsets };
            match file.encoding.as_deref() {
                None => visit(&file.path, &mut content)?,
                Some(ENCODING) => {
                    let mut expanded = ExpandedContent {
                        file: content,
                        rows: &mut rows,
                        left: file.bytes,
                        encoded: Vec::new(),
                        taken: 0,
                        copied: Vec::new(),
                        copied_taken: 0,
                    };
                    visit(&file.path, &mut expanded)?;
                    content = expanded.file;
                }
                Some(_) => return Err(damaged("a file has an unknown encoding")),
            }
            if let Some(offsets) = content.skip_rest()? {
                rows.offsets = offsets;
            }
            next = last;
        }
        Ok(())
    }
}

/// The content of a file: its chunks one after the other.
struct FileContent<'p, 's> {
    page: &'p mut PageBytes<'s>,
    chunk: Option<ChunkContent>,
    /// The numbers of the next chunk, and of the first one that is not of this
    /// file.
    next: u64,
    last: u64,
    /// How many bytes follow, as the head says; [`u64::MAX`] if that is not known.
    left: u64,
    /// Where its chunks begin, if that is recorded.
    offsets: Option<Vec<u64>>,
}

impl FileContent<'_, '_> {
    fn begin_chunk(&mut self) -> Result<(), BundleSourceError> {
        self.page.expect(opening(&format!("c{}", self.next)).as_bytes())?;
        self.next += 1;
        if let Some(offsets) = &mut self.offsets {
            offsets.push(self.page.position());
        }
        Ok(())
    }

    /// Goes to the end of the file, without looking at it; returns where its
    /// chunks begin.
    fn skip_rest(mut self) -> Result<Option<Vec<u64>>, BundleSourceError> {
        if self.chunk.take().is_some() {
            self.page.skip_past(b"\n")?;
        }
        while self.next < self.last {
            self.begin_chunk()?;
            self.page.skip_past(b"\n")?;
        }
        Ok(self.offsets)
    }
}

impl BundleContent for FileContent<'_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, BundleSourceError> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            if let Some(chunk) = &mut self.chunk {
                let read = chunk.read(self.page, buffer)?;
                if read > 0 {
                    if self.left != u64::MAX {
                        let left = self.left.checked_sub(read as u64);
                        self.left = left.ok_or(BundleSourceError::Bomb)?;
                    }
                    return Ok(read);
                }
                self.chunk = None;
            }
            if self.next >= self.last {
                let is_whole = matches!(self.left, 0 | u64::MAX);
                return if is_whole { Ok(0) } else { Err(damaged("a file is too short")) };
            }
            self.begin_chunk()?;
            self.chunk = Some(ChunkContent::default());
        }
    }
}

/// A damaged page.
pub(super) fn damaged(problem: &'static str) -> BundleSourceError {
    BundleSourceError::Damaged { source: Box::new(DamagedPage(problem)) }
}

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct DamagedPage(&'static str);
