//! Texts of events that a bundle keeps as separate files: puts them back into
//! the rows that refer to them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use traj_core::json::{Json, Object};
use traj_core::port::{BundleContent, BundleFile, BundleSource, BundleSourceError, Scratch};

use super::RowTexts;
use crate::bundle::marker_of;
use crate::json_stream::long_rows::SHORTENED;

/// At most this many bytes of text are put back into one event.
pub(crate) const MOST_RESTORED: usize = 16 * 1024 * 1024;

/// Markers that are nested deeper stay.
const DEEPEST: usize = 64;

/// The reasons of markers that replace a text, or a value whose file is read as a
/// text.
const TEXT_REASONS: [&str; 2] = ["trajectory-field-size-limit", SHORTENED];

/// Where a text is in the scratch file.
#[derive(Clone, Copy, Debug)]
struct KeptText {
    offset: u64,
    /// How much of it is kept.
    kept: usize,
    /// Its size.
    bytes: u64,
}

/// What rows still lack after their texts were put back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LackingTexts {
    /// Texts that only begin in their row.
    pub(crate) cut: u64,
    /// Values that are not in the bundle, or not texts.
    pub(crate) missing: u64,
}

/// The long texts of one bundle after the other, in a scratch file.
#[derive(Debug)]
pub(crate) struct EventTexts {
    scratch: Box<dyn Scratch>,
    end: u64,
    texts: BTreeMap<BundleFile, KeptText>,
    lacking: LackingTexts,
}

/// Whether a row refers to a long text.
pub(super) fn refers_to_text(row: &Json<'_>) -> bool {
    has_marker(row, DEEPEST)
}

fn has_marker(value: &Json<'_>, depth: usize) -> bool {
    match value {
        Json::Array(items) if depth > 0 => items.iter().any(|item| has_marker(item, depth - 1)),
        Json::Object(object) if depth > 0 => {
            marker_of(object).is_some()
                || object.iter().any(|(_, member)| has_marker(member, depth - 1))
        }
        _ => false,
    }
}

impl KeptText {
    #[cfg(feature = "parquet")]
    const fn is_whole(&self) -> bool {
        self.kept as u64 == self.bytes
    }
}

impl RowTexts for EventTexts {
    /// Puts the texts of a row back.
    fn change(&mut self, row: &mut Json<'_>) -> Result<(), BundleSourceError> {
        let mut left = MOST_RESTORED;
        self.value(row, DEEPEST, &mut left)
    }
}

impl EventTexts {
    pub(crate) const fn new(scratch: Box<dyn Scratch>) -> Self {
        let lacking = LackingTexts { cut: 0, missing: 0 };
        Self { scratch, end: 0, texts: BTreeMap::new(), lacking }
    }

    /// Forgets the texts of the bundle before, and keeps those of this one.
    pub(crate) fn gather(&mut self, bundle: &dyn BundleSource) -> Result<(), BundleSourceError> {
        self.texts.clear();
        self.lacking = LackingTexts::default();
        bundle.visit(&mut |path, content| match BundleFile::parse(path) {
            Some(file @ BundleFile::Blob(_)) => self.keep(file, content),
            _ => Ok(()),
        })
    }

    /// What the rows that were read since the last call still lack.
    pub(crate) fn take_lacking(&mut self) -> LackingTexts {
        std::mem::take(&mut self.lacking)
    }

    fn keep(
        &mut self,
        file: BundleFile,
        content: &mut dyn BundleContent,
    ) -> Result<(), BundleSourceError> {
        let mut text = KeptText { offset: self.end, kept: 0, bytes: 0 };
        let mut buffer = vec![0; 256 * 1024];
        loop {
            let read = content.read(&mut buffer)?;
            if read == 0 {
                break;
            }
            let block = buffer.get(..read).unwrap_or_default();
            let kept = block.get(..read.min(MOST_RESTORED - text.kept)).unwrap_or_default();
            if !kept.is_empty() {
                self.scratch.append(kept).map_err(|error| unkept(file, error))?;
            }
            text.kept += kept.len();
            text.bytes += read as u64;
        }
        self.end += text.kept as u64;
        self.texts.insert(file, text);
        Ok(())
    }

    /// A text as a whole; `None` if it is not in the bundle, or too long.
    #[cfg(feature = "parquet")]
    pub(crate) fn whole(
        &self,
        digest: &traj_core::capture::BlobDigest,
    ) -> Result<Option<Vec<u8>>, BundleSourceError> {
        let file = BundleFile::blob(digest);
        let Some(text) = self.texts.get(&file).filter(|text| text.is_whole()) else {
            return Ok(None);
        };
        let mut bytes = vec![0; text.kept];
        self.scratch.read_exact_at(text.offset, &mut bytes).map_err(|error| unkept(file, error))?;
        Ok(Some(bytes))
    }

    /// Lets the markers of a row state the beginnings of their texts, and whatever
    /// `name` adds to those of texts that are there as a whole.
    #[cfg(feature = "parquet")]
    pub(crate) fn refer(
        &self,
        value: &mut Json<'_>,
        most: usize,
        name: &dyn Fn(&mut Object<'_>, &traj_core::capture::BlobDigest),
    ) -> Result<(), BundleSourceError> {
        self.refer_within(value, DEEPEST, most, name)
    }

    #[cfg(feature = "parquet")]
    fn refer_within(
        &self,
        value: &mut Json<'_>,
        depth: usize,
        most: usize,
        name: &dyn Fn(&mut Object<'_>, &traj_core::capture::BlobDigest),
    ) -> Result<(), BundleSourceError> {
        let Some(depth) = depth.checked_sub(1) else { return Ok(()) };
        match value {
            Json::Array(items) => {
                items.iter_mut().try_for_each(|it| self.refer_within(it, depth, most, name))
            }
            Json::Object(object) => {
                let Some((reason, digest)) = marker_of(object) else {
                    let mut members = object.iter_mut();
                    return members
                        .try_for_each(|(_, it)| self.refer_within(it, depth, most, name));
                };
                let is_text = TEXT_REASONS.contains(&reason);
                let file = BundleFile::blob(&digest);
                let Some(text) = self.texts.get(&file).copied() else { return Ok(()) };
                if is_text {
                    begin_with(object, self.read(file, text, most)?, text.bytes);
                }
                if text.is_whole() {
                    name(object, &digest);
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn value(
        &mut self,
        value: &mut Json<'_>,
        depth: usize,
        left: &mut usize,
    ) -> Result<(), BundleSourceError> {
        let Some(depth) = depth.checked_sub(1) else { return Ok(()) };
        match value {
            Json::Array(items) => items.iter_mut().try_for_each(|it| self.value(it, depth, left)),
            Json::Object(object) => {
                let Some((reason, digest)) = marker_of(object) else {
                    return object.iter_mut().try_for_each(|(_, it)| self.value(it, depth, left));
                };
                let is_text = TEXT_REASONS.contains(&reason);
                let file = BundleFile::blob(&digest);
                let Some(text) = self.texts.get(&file).copied().filter(|_| is_text) else {
                    self.lacking.missing += 1;
                    return Ok(());
                };
                let read = self.read(file, text, *left)?;
                *left -= read.len();
                if read.len() as u64 >= text.bytes {
                    *value = Json::String(Cow::Owned(read));
                } else {
                    self.lacking.cut += 1;
                    begin_with(object, read, text.bytes);
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The beginning of a text, up to a number of bytes.
    fn read(
        &self,
        file: BundleFile,
        text: KeptText,
        most: usize,
    ) -> Result<String, BundleSourceError> {
        let mut bytes = vec![0; text.kept.min(most)];
        self.scratch.read_exact_at(text.offset, &mut bytes).map_err(|error| unkept(file, error))?;
        if (bytes.len() as u64) < text.bytes
            && let Err(error) = std::str::from_utf8(&bytes)
            && error.error_len().is_none()
        {
            // The end is inside a character.
            bytes.truncate(error.valid_up_to());
        }
        Ok(String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }
}

/// Makes a marker state the beginning of its text, and its size.
fn begin_with(marker: &mut Object<'_>, beginning: String, bytes: u64) {
    marker.insert("preview", beginning);
    marker.insert("originalBytes", bytes);
}

fn unkept(
    file: BundleFile,
    error: impl std::error::Error + Send + Sync + 'static,
) -> BundleSourceError {
    BundleSourceError::Storage { name: file.to_string(), source: error.into() }
}

#[cfg(test)]
mod tests {
    use traj_core::capture::BlobDigest;
    use traj_core::memory::MemoryScratch;

    use super::*;

    struct Bytes(Vec<u8>);

    impl BundleContent for Bytes {
        fn read(&mut self, buffer: &mut [u8]) -> Result<usize, BundleSourceError> {
            let count = self.0.len().min(buffer.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0.drain(..count);
            Ok(count)
        }
    }

    fn marker(digest: &BlobDigest, reason: &str) -> String {
        format!(r#"{{"truncated":true,"reason":"{reason}","originalBytes":1,"blob":"{digest}"}}"#)
    }

    #[test]
    fn texts_are_put_back_up_to_a_limit_and_the_rest_is_counted() {
        let mut texts = EventTexts::new(Box::new(MemoryScratch::default()));
        let short = "short".to_owned();
        let long = "é".repeat(MOST_RESTORED / 2 + 9);
        let digests = [&short, &long].map(|text| {
            let digest = BlobDigest::of(text.as_bytes());
            texts.keep(BundleFile::blob(&digest), &mut Bytes(text.clone().into_bytes())).unwrap();
            digest
        });
        let gone = BlobDigest::of(b"gone");
        let row = format!(
            r#"{{"a":{},"b":[{}],"c":{},"d":{}}}"#,
            marker(&digests[0], SHORTENED),
            marker(&digests[1], SHORTENED),
            marker(&gone, SHORTENED),
            marker(&digests[0], "trajectory-array-size-limit"),
        );
        let mut row = Json::parse(&row).unwrap();
        assert!(refers_to_text(&row));
        texts.change(&mut row).unwrap();
        assert_eq!(row.get("a").and_then(Json::as_str), Some("short"));
        let cut = &row.get("b").and_then(Json::as_array).unwrap()[0];
        let preview = cut.get("preview").and_then(Json::as_str).unwrap();
        // The short one took five bytes, and no character is cut in half.
        assert_eq!(preview.len(), MOST_RESTORED - 6);
        assert!(long.starts_with(preview));
        assert_eq!(cut.get("originalBytes").and_then(Json::as_u64), Some(long.len() as u64));
        assert_eq!(texts.take_lacking(), LackingTexts { cut: 1, missing: 2 });
        assert_eq!(texts.take_lacking(), LackingTexts::default());
    }
}
