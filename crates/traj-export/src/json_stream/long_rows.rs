//! Rows that are too long or have too many values to keep in memory.
//!
//! A row of a hundred megabytes is read as a stream and copied without its
//! giant strings. A marker replaces each of them; it states the string's length
//! and names the blob that holds it. The rest is small enough to parse: the row
//! keeps its ids, its position on the branch and every ordinary value. In a row
//! of millions of tiny values, the heaviest lists and objects are replaced in
//! the same way.
//!
//! Images and other media are not treated as strings: they get the same marker
//! as in ordinary rows, and no blob.

mod copy;
mod media;
mod plan;

use std::ops::Range;

use sha2::{Digest as _, Sha256};
use traj_core::capture::BlobDigest;
use traj_core::port::{Source, SourceError};

use crate::bundle::output::hex;
use crate::json_stream::rows::{ByteRange, MAX_ROW_BYTES};
use copy::{GiantValue, Shortener};
use plan::{CutPlan, PlanOutcome, Planner};

/// The reason that the marker of a giant states.
pub(crate) const SHORTENED: &str = "export-row-size-limit";

/// Rows up to this length are parsed without checking their structure first.
const LIGHT_BYTES: usize = 1024 * 1024;

/// A row with more values than this is heavy: each value costs memory when
/// parsed.
const MAX_VALUES: usize = 200_000;

/// How much of a long row is read at once.
const PIECE: usize = 256 * 1024;

/// A value that was replaced by a marker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CutValue {
    /// The name of its blob: the digest of its JSON as written in the source.
    pub(crate) digest: BlobDigest,
    /// Where it is in the source; for a string, without its quotes.
    pub(crate) place: ByteRange,
    /// Whether it is a string; otherwise it is a list or an object.
    pub(crate) is_text: bool,
}

/// A row, or as much of it as fits into memory.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LoadedRow {
    /// The row's bytes.
    Whole(Vec<u8>),
    /// The row with markers in place of its giants.
    Short(ShortenedRow),
    /// The row does not fit, whatever is cut.
    TooLarge,
    /// The row is not JSON, and too long to keep.
    NotJson,
}

/// A shortened row.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ShortenedRow {
    pub(crate) bytes: Vec<u8>,
    /// The values that become blobs.
    pub(crate) giants: Vec<CutValue>,
    /// How many media were replaced.
    pub(crate) media: u64,
}

impl ShortenedRow {
    /// Whether markers replace some of its values.
    pub(crate) const fn lacks_values(&self) -> bool {
        !self.giants.is_empty() || self.media > 0
    }
}

impl LoadedRow {
    pub(crate) fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Whole(bytes) | Self::Short(ShortenedRow { bytes, .. }) => Some(bytes),
            Self::TooLarge | Self::NotJson => None,
        }
    }

    pub(crate) fn into_bytes(self) -> Option<Vec<u8>> {
        match self {
            Self::Whole(bytes) | Self::Short(ShortenedRow { bytes, .. }) => Some(bytes),
            Self::TooLarge | Self::NotJson => None,
        }
    }
}

/// No part of a bundle has more values than this, because a light row has at
/// most one per byte.
const MAX_WRITTEN_VALUES: usize = LIGHT_BYTES;

/// Whether parsing these bytes would take far more memory than the bytes
/// themselves.
pub(crate) fn is_heavy(bytes: &[u8]) -> bool {
    bytes.len() > LIGHT_BYTES && count_values(bytes) > MAX_VALUES
}

/// Whether these bytes have more values than any part of a bundle, and would
/// take far more memory when parsed.
pub(crate) fn is_bomb(bytes: &[u8]) -> bool {
    bytes.len() > MAX_WRITTEN_VALUES && count_values(bytes) > MAX_WRITTEN_VALUES
}

/// Estimates the number of values without parsing them.
fn count_values(bytes: &[u8]) -> usize {
    let mut values = 0_usize;
    let mut in_text = false;
    let mut escaped = false;
    for byte in bytes {
        if in_text {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_text = false,
                _ => {}
            }
        } else {
            match byte {
                b'"' => in_text = true,
                b',' | b'[' | b'{' => values += 1,
                _ => {}
            }
        }
    }
    values
}

/// Reads a row; shortens it if necessary.
pub(crate) fn load(source: &dyn Source, place: ByteRange) -> Result<LoadedRow, SourceError> {
    if place.length <= MAX_ROW_BYTES {
        let length = usize::try_from(place.length).unwrap_or(usize::MAX);
        let mut bytes = vec![0; length];
        source.read_exact_at(place.offset, &mut bytes)?;
        if !is_heavy(&bytes) {
            return Ok(LoadedRow::Whole(bytes));
        }
    }
    shorten(source, place)
}

/// Reads a row that is too long to keep in memory.
pub(crate) fn shorten(source: &dyn Source, place: ByteRange) -> Result<LoadedRow, SourceError> {
    for measure in CutPlan::ALL {
        let mut planner = Planner::new(measure);
        read_pieces(source, place, |part| {
            part.iter().take_while(|byte| planner.takes(**byte)).count() == part.len()
        })?;
        match planner.finish() {
            PlanOutcome::Cuts(cuts) => {
                let mut shortener = Shortener::new(measure.max_text, cuts);
                read_pieces(source, place, |part| {
                    part.iter().for_each(|byte| shortener.push(*byte));
                    true
                })?;
                let (copy, giants) = shortener.finish();
                return Ok(LoadedRow::Short(settle(source, place, &copy, giants)?));
            }
            PlanOutcome::NotJson => return Ok(LoadedRow::NotJson),
            PlanOutcome::LongTexts | PlanOutcome::TooLarge => {}
        }
    }
    Ok(LoadedRow::TooLarge)
}

/// Passes the bytes of a range to `visit`, piece by piece, until `visit` stops
/// it.
fn read_pieces(
    source: &dyn Source,
    place: ByteRange,
    mut visit: impl FnMut(&[u8]) -> bool,
) -> Result<(), SourceError> {
    let mut piece = vec![0; PIECE];
    let mut at = 0;
    while at < place.length {
        let length = PIECE.min(usize::try_from(place.length - at).unwrap_or(PIECE));
        let part = piece.get_mut(..length).unwrap_or_default();
        source.read_exact_at(place.offset + at, part)?;
        if !visit(part) {
            break;
        }
        at += length as u64;
    }
    Ok(())
}

/// Sets the marker of each giant, once the whole row has been read.
fn settle(
    source: &dyn Source,
    row: ByteRange,
    copy: &[u8],
    found: Vec<GiantValue>,
) -> Result<ShortenedRow, SourceError> {
    let mut edits = Vec::with_capacity(found.len());
    let (mut giants, mut media) = (Vec::new(), 0);
    let mut judge = media::MediaJudge::new(source, copy);
    for giant in found {
        let place =
            ByteRange { offset: row.offset + giant.place.offset, length: giant.place.length };
        let mark = if giant.is_text { judge.mark(&giant, place)? } else { None };
        if let Some(mark) = mark {
            media += 1;
            // The marker is plain ASCII: nothing in it needs an escape.
            edits.push((giant.marker.clone(), format!("\"{}\"", mark.marker)));
            if let Some(object) = giant.object.filter(|_| mark.is_member) {
                let facts = format!(r#","bytes":{},"sha256":"{}""#, mark.bytes, mark.sha256);
                let end = object.end - 1;
                edits.push((end..end, facts));
            }
            continue;
        }
        let digest = digest_of(source, place)?;
        let marker = format!(
            r#"{{"truncated":true,"reason":"{SHORTENED}","originalBytes":{},"blob":"{digest}"}}"#,
            place.length
        );
        edits.push((giant.marker, marker));
        giants.push(CutValue { digest, place, is_text: giant.is_text });
    }
    Ok(ShortenedRow { bytes: edited(copy, edits), giants, media })
}

/// A copy in which some ranges are replaced; they must not overlap.
fn edited(copy: &[u8], mut edits: Vec<(Range<usize>, String)>) -> Vec<u8> {
    edits.sort_by_key(|(range, _)| range.start);
    let added = edits.iter().map(|(_, text)| text.len()).sum::<usize>();
    let mut bytes = Vec::with_capacity(copy.len() + added);
    let mut at = 0;
    for (range, text) in edits {
        bytes.extend_from_slice(copy.get(at..range.start).unwrap_or_default());
        bytes.extend_from_slice(text.as_bytes());
        at = range.end;
    }
    bytes.extend_from_slice(copy.get(at..).unwrap_or_default());
    bytes
}

fn digest_of(source: &dyn Source, place: ByteRange) -> Result<BlobDigest, SourceError> {
    let mut digest = Sha256::new();
    read_pieces(source, place, |part| {
        digest.update(part);
        true
    })?;
    let name = hex(&digest.finalize().into());
    BlobDigest::parse(&name).ok_or_else(|| SourceError::Changed { name })
}

#[cfg(test)]
mod tests;
