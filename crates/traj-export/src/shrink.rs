//! Rows that are too long, or too finely structured, to be held whole.
//!
//! A row of a hundred megabytes is read as a stream and copied without its
//! giant texts, each replaced by a marker that says how long it was and names
//! the blob it becomes. What is left is small enough to be parsed: the row keeps
//! its ids, its place on the branch and every ordinary value. A row of millions
//! of tiny values is reduced to its outer levels in the same way.

use sha2::{Digest as _, Sha256};
use traj_core::capture::BlobDigest;
use traj_core::port::{Source, SourceError};

use crate::output::hex;
use crate::rows::{MAX_ROW_BYTES, Place};

/// Why a value of a row is missing.
pub(crate) const SHORTENED: &str = "export-row-size-limit";

/// Texts longer than this are replaced in a shortened row.
const MAX_TEXT_BYTES: usize = 256 * 1024;

/// A shortened row is at most this long.
const MAX_SHORT_BYTES: usize = 2 * 1024 * 1024;

/// Rows up to this length are parsed without a look at their structure.
const LIGHT_BYTES: usize = 1024 * 1024;

/// More values than this make a row heavy: each costs memory when parsed.
const MAX_VALUES: usize = 200_000;

/// How much of a long row is read at once.
const PIECE: usize = 256 * 1024;

/// A text that was replaced by a marker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Giant {
    /// Names its blob: the digest of the literal as it stands in the source.
    pub(crate) digest: BlobDigest,
    /// Where it lies in the source, without its quotes.
    pub(crate) place: Place,
}

/// A row, as much of it as can be held.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Loaded {
    /// The row's bytes.
    Whole(Vec<u8>),
    /// The row with its giants replaced.
    Short(Vec<u8>, Vec<Giant>),
    /// Nothing useful fits.
    TooLarge,
}

impl Loaded {
    pub(crate) fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Whole(bytes) | Self::Short(bytes, _) => Some(bytes),
            Self::TooLarge => None,
        }
    }

    pub(crate) fn into_bytes(self) -> Option<Vec<u8>> {
        match self {
            Self::Whole(bytes) | Self::Short(bytes, _) => Some(bytes),
            Self::TooLarge => None,
        }
    }
}

/// Whether parsing these bytes would cost much more memory than they do.
pub(crate) fn is_heavy(bytes: &[u8]) -> bool {
    if bytes.len() <= LIGHT_BYTES {
        return false;
    }
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
    values > MAX_VALUES
}

/// Reads a row, shortened if it has to be.
pub(crate) fn load(source: &dyn Source, place: Place) -> Result<Loaded, SourceError> {
    if place.length <= MAX_ROW_BYTES {
        let length = usize::try_from(place.length).unwrap_or(usize::MAX);
        let mut bytes = vec![0; length];
        source.read_exact_at(place.offset, &mut bytes)?;
        if !is_heavy(&bytes) {
            return Ok(Loaded::Whole(bytes));
        }
    }
    shorten(source, place)
}

/// Reads a row that cannot be held whole.
pub(crate) fn shorten(source: &dyn Source, place: Place) -> Result<Loaded, SourceError> {
    // The outer levels alone are the last resort.
    for depth in [usize::MAX, 3, 2, 1] {
        let mut shortener = Shortener::new(depth);
        let mut piece = vec![0; PIECE];
        let mut at = 0;
        while at < place.length && !shortener.is_full() {
            let length = PIECE.min(usize::try_from(place.length - at).unwrap_or(PIECE));
            let part = piece.get_mut(..length).unwrap_or_default();
            source.read_exact_at(place.offset + at, part)?;
            part.iter().for_each(|byte| shortener.push(*byte));
            at += length as u64;
        }
        if !shortener.is_full() {
            let (mut short, texts) = shortener.finish();
            let mut giants = Vec::with_capacity(texts.len());
            for GiantText { name_at, place: mut inside } in texts {
                inside.offset += place.offset;
                let digest = digest_of(source, inside)?;
                let name = short.get_mut(name_at..name_at + NO_NAME.len()).unwrap_or_default();
                name.iter_mut().zip(digest.as_str().bytes()).for_each(|(to, from)| *to = from);
                giants.push(Giant { digest, place: inside });
            }
            return Ok(Loaded::Short(short, giants));
        }
    }
    Ok(Loaded::TooLarge)
}

fn digest_of(source: &dyn Source, place: Place) -> Result<BlobDigest, SourceError> {
    let mut digest = Sha256::new();
    let mut piece = vec![0; PIECE];
    let mut at = 0;
    while at < place.length {
        let length = PIECE.min(usize::try_from(place.length - at).unwrap_or(PIECE));
        let part = piece.get_mut(..length).unwrap_or_default();
        source.read_exact_at(place.offset + at, part)?;
        digest.update(&*part);
        at += length as u64;
    }
    let name = hex(&digest.finalize().into());
    BlobDigest::parse(&name).ok_or_else(|| SourceError::Changed { name })
}

/// Stands in a marker until the blob's name is known.
const NO_NAME: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// A giant text while its row is shortened.
#[derive(Clone, Copy, Debug)]
struct GiantText {
    /// Where its blob's name goes in the copy.
    name_at: usize,
    /// Where it lies in the row, without its quotes.
    place: Place,
}

/// Copies JSON byte by byte, without its giants.
struct Shortener {
    short: Vec<u8>,
    max_depth: usize,
    depth: usize,
    values: usize,
    /// How many bytes of the row have gone by.
    passed: u64,
    text: Option<Text>,
    /// A giant text that ended; whether it was a name shows in the next byte.
    ended: Option<Place>,
    giants: Vec<GiantText>,
}

/// A text literal that is still open.
struct Text {
    /// Where it starts in the copy.
    start: usize,
    length: usize,
    escaped: bool,
}

impl Shortener {
    const fn new(max_depth: usize) -> Self {
        Self {
            short: Vec::new(),
            max_depth,
            depth: 0,
            values: 0,
            passed: 0,
            text: None,
            ended: None,
            giants: Vec::new(),
        }
    }

    const fn is_full(&self) -> bool {
        self.short.len() > MAX_SHORT_BYTES || self.values > MAX_VALUES
    }

    fn push(&mut self, byte: u8) {
        self.passed += 1;
        let is_skipping = self.depth > self.max_depth;
        if let Some(text) = &mut self.text {
            text.length += 1;
            let is_giant = text.length > MAX_TEXT_BYTES;
            if is_giant {
                self.short.truncate(text.start);
            } else if !is_skipping {
                self.short.push(byte);
            }
            if std::mem::take(&mut text.escaped) {
                return;
            }
            match byte {
                b'\\' => text.escaped = true,
                b'"' => {
                    let length = text.length as u64 - 1;
                    self.text = None;
                    let place = Place { offset: self.passed - 1 - length, length };
                    self.ended = (is_giant && !is_skipping).then_some(place);
                }
                _ => {}
            }
            return;
        }
        if matches!(byte, b' ' | b'\t' | b'\r') {
            return;
        }
        if let Some(place) = self.ended.take() {
            self.push_giant(place, byte == b':');
        }
        match byte {
            b'"' => {
                self.text = Some(Text { start: self.short.len(), length: 0, escaped: false });
                if !is_skipping {
                    self.short.push(byte);
                }
            }
            b'[' | b'{' => {
                self.depth += 1;
                if self.depth <= self.max_depth {
                    self.values += 1;
                    self.short.push(byte);
                } else if self.depth == self.max_depth + 1 {
                    self.short.extend_from_slice(
                        br#"{"truncated":true,"reason":"export-row-size-limit"}"#,
                    );
                }
            }
            b']' | b'}' => {
                if !is_skipping {
                    self.short.push(byte);
                }
                self.depth = self.depth.saturating_sub(1);
            }
            _ if is_skipping => {}
            byte => {
                self.values += usize::from(byte == b',');
                self.short.push(byte);
            }
        }
    }

    fn push_giant(&mut self, place: Place, is_name: bool) {
        let length = place.length;
        if is_name {
            let marker = format!("\"<truncated name of {length} bytes>\"");
            self.short.extend_from_slice(marker.as_bytes());
            return;
        }
        let head = format!(
            r#"{{"truncated":true,"reason":"{SHORTENED}","originalBytes":{length},"blob":""#
        );
        self.short.extend_from_slice(head.as_bytes());
        self.giants.push(GiantText { name_at: self.short.len(), place });
        self.short.extend_from_slice(NO_NAME.as_bytes());
        self.short.extend_from_slice(b"\"}");
    }

    fn finish(mut self) -> (Vec<u8>, Vec<GiantText>) {
        if let Some(place) = self.ended.take() {
            self.push_giant(place, false);
        }
        (self.short, self.giants)
    }
}

#[cfg(test)]
mod tests {
    use traj_core::json::Json;
    use traj_core::memory::MemorySources;
    use traj_core::port::Sources as _;

    use super::*;

    fn shortened(row: &str) -> Loaded {
        let sources = MemorySources::new();
        sources.put("f", row);
        let source = sources.open("f").unwrap();
        shorten(&*source, Place { offset: 0, length: row.len() as u64 }).unwrap()
    }

    fn parsed(loaded: &Loaded) -> Json<'_> {
        Json::parse(std::str::from_utf8(loaded.bytes().unwrap()).unwrap()).unwrap()
    }

    #[test]
    fn giant_texts_are_replaced_and_the_rest_stays() {
        let giant = "g\\\"".repeat(MAX_TEXT_BYTES);
        let row = format!(
            r#"{{"id":"a", "{giant}":1,"message":{{"role":"user","content":"{giant}"}},"z":[1,"\\"]}}"#
        );
        let short = shortened(&row);
        let value = parsed(&short);
        assert_eq!(value.get("id").and_then(Json::as_str), Some("a"));
        let content = value.get("message").unwrap().get("content").unwrap();
        assert_eq!(content.get("originalBytes").and_then(Json::as_u64), Some(giant.len() as u64));
        assert_eq!(value.get("z").unwrap().to_line(), r#"[1,"\\"]"#);
        assert!(short.bytes().unwrap().len() < 600);
        let Loaded::Short(_, giants) = &short else { panic!("shortened") };
        let place = giants[0].place;
        assert_eq!(giants.len(), 1, "names are no texts");
        let start = usize::try_from(place.offset).unwrap();
        assert_eq!(row.get(start..start + giant.len()), Some(giant.as_str()));
        assert_eq!(giants[0].digest, BlobDigest::of(giant.as_bytes()));
        assert_eq!(content.get("blob").and_then(Json::as_str), Some(giants[0].digest.as_str()));
    }

    #[test]
    fn a_row_of_millions_of_values_keeps_its_outer_levels() {
        let bomb = "[1,".repeat(MAX_VALUES) + "1" + &"]".repeat(MAX_VALUES);
        let row = format!(r#"{{"id":"a","message":{{"role":"user","content":[{bomb}]}}}}"#);
        let short = shortened(&row);
        let value = parsed(&short);
        assert_eq!(value.get("message").unwrap().get("role").and_then(Json::as_str), Some("user"));
        let flat = format!(r#"{{"id":"a","many":[{}1]}}"#, "1,".repeat(MAX_VALUES + 1));
        assert!(parsed(&shortened(&flat)).get("many").unwrap().get("truncated").is_some());
    }

    #[test]
    fn a_row_of_too_many_members_is_given_up() {
        let members = r#""k":1,"#.repeat(MAX_VALUES + 1);
        assert_eq!(shortened(&format!(r#"{{{members}"z":1}}"#)), Loaded::TooLarge);
    }

    #[test]
    fn only_long_rows_with_many_values_are_heavy() {
        assert!(!is_heavy(b"[1,2,3]"));
        assert!(!is_heavy(format!("[\"{}\"]", ",".repeat(2 * LIGHT_BYTES)).as_bytes()));
        assert!(is_heavy(format!("[{}1]", "1,".repeat(LIGHT_BYTES)).as_bytes()));
    }
}
