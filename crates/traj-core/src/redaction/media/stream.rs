//! Media too long for memory: recognised by a sample, read in pieces.

use super::reader::Reader;
use crate::json::{Json, Object};

/// Reduces a medium of any length to its marker.
#[derive(Clone, Debug)]
pub struct MediaStream {
    media_type: String,
    /// Bytes of the string that are still to be skipped, before the encoded ones.
    skipped: usize,
    reader: Reader,
}

/// The marker of a medium.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MediaMark {
    /// The marker itself.
    pub marker: String,
    /// Size of the decoded original in bytes.
    pub bytes: u64,
    /// SHA-256 of the decoded original, in hexadecimal.
    pub sha256: String,
}

impl MediaStream {
    /// How many bytes of a sample come from the start of a string.
    pub const SAMPLE_HEAD: usize = 8 * 1024;

    /// How many bytes of a sample come from the end of a string.
    pub const SAMPLE_TAIL: usize = 64;

    /// Starts reading member `name` of an object, if that member is a medium. The
    /// other members and the sample (both ends of the string) decide.
    #[must_use]
    pub fn of_member(object: &Object<'_>, name: &str, sample: &str) -> Option<Self> {
        let mut object = object.clone();
        object.insert(name.to_owned(), sample.to_owned());
        if !super::object(&mut object) {
            return None;
        }
        let marker = object.get(name).and_then(Json::as_str)?;
        let (media_type, _) = marker.strip_prefix("<media:")?.split_once(";bytes=")?;
        Some(Self::new(media_type, sample))
    }

    /// Starts reading a string, if it is a medium in any position.
    #[must_use]
    pub fn of_text(sample: &str) -> Option<Self> {
        let medium = super::whole(sample)?;
        Some(Self::new(&medium.media_type, sample))
    }

    fn new(media_type: &str, sample: &str) -> Self {
        let (skipped, coding) = super::bytes_of(sample);
        Self { media_type: media_type.to_owned(), skipped, reader: Reader::new(coding) }
    }

    /// Reads the next piece of the string.
    pub fn push(&mut self, piece: &[u8]) {
        let skipped = self.skipped.min(piece.len());
        self.skipped -= skipped;
        self.reader.push(piece.get(skipped..).unwrap_or_default());
    }

    /// The marker, once the whole string has been read.
    #[must_use]
    pub fn finish(self) -> MediaMark {
        let medium = self.reader.finish(&self.media_type);
        MediaMark { marker: medium.marker(), bytes: medium.bytes, sha256: medium.sha256 }
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;

    use super::super::reader::STANDARD;
    use super::*;

    #[test]
    fn a_stream_gives_the_same_marker_as_the_whole_string() {
        let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
        bytes.extend((0..100_000_u32).map(|place| (place % 251) as u8));
        let plain = STANDARD.encode(&bytes);
        let uri = format!("data:image/png;base64,{plain}");
        let escaped = uri.replace('+', "%2B").replace('/', "%2F").replace('=', "%3D");
        let escaped = escaped.replacen("%2F", "/", 1);
        for (members, text) in [
            (r#"{"type":"image","mimeType":"image/png"}"#, &plain),
            (r#"{"type":"base64","media_type":"image/jpeg"}"#, &plain),
            (r#"{"type":"image"}"#, &uri),
            (r#"{"type":"image"}"#, &escaped),
            (r#"{"type":"text"}"#, &plain),
        ] {
            let Ok(Json::Object(object)) = Json::parse(members) else { panic!("an object") };
            let mut whole = object.clone();
            whole.push("data", text.as_str());
            let is_medium = super::super::object(&mut whole);
            let head = text.get(..MediaStream::SAMPLE_HEAD).unwrap();
            let tail = text.get(text.len() - MediaStream::SAMPLE_TAIL..).unwrap();
            let sample = format!("{head}{tail}");
            let stream = MediaStream::of_member(&object, "data", &sample);
            assert_eq!(stream.is_some(), is_medium, "{members}");
            let stream = stream.or_else(|| MediaStream::of_text(&sample));
            let mut stream = stream.expect("the head makes it an image in any position");
            text.as_bytes().chunks(1_001).for_each(|piece| stream.push(piece));
            let mark = stream.finish();
            assert_eq!(mark.bytes, bytes.len() as u64);
            if is_medium {
                assert_eq!(whole.get("data").and_then(Json::as_str), Some(mark.marker.as_str()));
            }
        }
        assert!(MediaStream::of_text("nothing but words").is_none());
    }
}
