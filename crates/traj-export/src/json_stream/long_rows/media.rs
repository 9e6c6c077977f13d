//! Recognises giants that are media. As in ordinary rows, the members next to a
//! value and its first and last bytes identify it.

use std::ops::Range;

use traj_core::json::{Json, Object};
use traj_core::port::{Source, SourceError};
use traj_core::redaction::MediaStream;

use super::copy::GiantValue;
use crate::json_stream::rows::ByteRange;
use crate::json_stream::splitter::{ByteStream as _, ReadError};
use crate::json_stream::string::LiteralBytes;

/// How much of a giant is decoded at once.
const PIECE: usize = 64 * 1024;

/// The most bytes of a literal that encode one character.
const LONGEST_ESCAPE: u64 = 6;

/// The marker of a giant that is a media value.
pub(super) struct MediaMark {
    pub(super) marker: String,
    pub(super) bytes: u64,
    pub(super) sha256: String,
    /// Whether the members next to it declare it as media; its size is then
    /// added to them.
    pub(super) is_member: bool,
}

/// Examines the giants of one row.
pub(super) struct MediaJudge<'s> {
    source: &'s dyn Source,
    copy: &'s [u8],
    /// The object that was examined last.
    object: Option<(Range<usize>, Object<'s>)>,
}

impl<'s> MediaJudge<'s> {
    pub(super) const fn new(source: &'s dyn Source, copy: &'s [u8]) -> Self {
        Self { source, copy, object: None }
    }

    /// The marker of a giant that is a media value; `place` is its range in the
    /// source.
    pub(super) fn mark(
        &mut self,
        giant: &GiantValue,
        place: ByteRange,
    ) -> Result<Option<MediaMark>, SourceError> {
        let sample = self.sample(place).map_err(source_error)?;
        let by_members = self.by_members(giant, &sample);
        let is_member = by_members.is_some();
        let Some(mut stream) = by_members.or_else(|| MediaStream::of_text(&sample)) else {
            return Ok(None);
        };
        self.read(place, |piece| stream.push(piece)).map_err(source_error)?;
        let mark = stream.finish();
        let (marker, bytes, sha256) = (mark.marker, mark.bytes, mark.sha256);
        Ok(Some(MediaMark { marker, bytes, sha256, is_member }))
    }

    fn by_members(&mut self, giant: &GiantValue, sample: &str) -> Option<MediaStream> {
        let (object, name) = (giant.object.clone()?, giant.name.clone()?);
        let name = self.parse(name, 0)?;
        if self.object.as_ref().is_none_or(|(known, _)| *known != object) {
            let Some(Json::Object(members)) = self.parse(object.clone(), 1) else { return None };
            self.object = Some((object, members));
        }
        let (_, members) = self.object.as_ref()?;
        MediaStream::of_member(members, name.as_str()?, sample)
    }

    fn parse(&self, range: Range<usize>, depth: usize) -> Option<Json<'s>> {
        let text = std::str::from_utf8(self.copy.get(range)?).ok()?;
        Json::parse_shallow(text, depth).ok()
    }

    /// The part of a string's start and end that the rules examine.
    fn sample(&self, place: ByteRange) -> Result<String, ReadError> {
        let (head, tail) = (MediaStream::SAMPLE_HEAD, MediaStream::SAMPLE_TAIL);
        let ends = |length: usize| (length as u64 * LONGEST_ESCAPE).min(place.length);
        let mut sample = Vec::new();
        let first = ByteRange { length: ends(head), ..place };
        self.read(first, |piece| sample.extend_from_slice(piece))?;
        sample.truncate(head);
        let length = ends(tail);
        let last = ByteRange { offset: place.offset + place.length - length, length };
        let mut end = Vec::new();
        self.read(last, |piece| end.extend_from_slice(piece))?;
        sample.extend_from_slice(end.get(end.len().saturating_sub(tail)..).unwrap_or_default());
        Ok(String::from_utf8_lossy(&sample).into_owned())
    }

    fn read(&self, place: ByteRange, mut visit: impl FnMut(&[u8])) -> Result<(), ReadError> {
        let mut bytes = LiteralBytes::new(self.source, place);
        let mut piece = vec![0; PIECE];
        loop {
            let read = bytes.read(&mut piece)?;
            if read == 0 {
                return Ok(());
            }
            visit(piece.get(..read).unwrap_or_default());
        }
    }
}

/// The source error of a failed read: a literal is read from a source.
fn source_error(error: ReadError) -> SourceError {
    match error.downcast::<SourceError>() {
        Ok(error) => *error,
        Err(source) => SourceError::Storage { name: "a row".to_owned(), source },
    }
}
