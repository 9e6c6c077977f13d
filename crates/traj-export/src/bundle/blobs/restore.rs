//! Restores values that the recorder cut and stored as blobs.

use traj_core::capture::BlobDigest;
use traj_core::json::{Json, Object};
use traj_core::port::SourceError;

use super::directory::{BlobLookup, RecordedBlobs, cut_marker, marker_of};
use super::long_texts::LongTexts;
use crate::json_stream::long_rows::{self, SHORTENED};
use crate::json_stream::text_blocks::BLOCK;

/// The most bytes that one restorer restores; further markers stay.
const MOST: usize = 4 * BLOCK;

/// Restores strings, lists and objects that were cut.
pub(crate) struct Restorer<'f> {
    folder: &'f RecordedBlobs<'f>,
    left: usize,
}

impl<'f> Restorer<'f> {
    pub(crate) const fn new(folder: &'f RecordedBlobs<'f>) -> Self {
        Self { folder, left: MOST }
    }

    /// A restorer for values that are only searched. Its limit is that of a
    /// single restored string.
    pub(crate) const fn for_search(folder: &'f RecordedBlobs<'f>) -> Self {
        Self { folder, left: BLOCK }
    }

    /// The prompt in the data of an event if it fits into memory; otherwise a
    /// note on which file of the bundle holds it.
    pub(crate) fn prompt(
        &mut self,
        data: Json<'_>,
        texts: &mut LongTexts<'_>,
    ) -> Result<Option<String>, SourceError> {
        let whole = self.members(data, |name| name == "prompt")?;
        let Some(prompt) = whole.get("prompt") else { return Ok(None) };
        if let Some(text) = prompt.as_str() {
            return Ok(Some(text.to_owned()));
        }
        let Some((reason, digest)) = cut_marker(prompt) else { return Ok(None) };
        let length = prompt.get("originalBytes").and_then(Json::as_u64);
        texts.place(digest, length.filter(|_| reason == SHORTENED))
    }

    /// The named members of an object, each restored. The others may be huge,
    /// so they are dropped first.
    pub(crate) fn members<'a>(
        &mut self,
        data: Json<'a>,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Json<'a>, SourceError> {
        let whole = match cut_marker(&data) {
            Some((_, digest)) => self.parsed(&digest)?.unwrap_or(data),
            None => data,
        };
        let Json::Object(object) = whole else { return Ok(whole) };
        let mut kept = Object::new();
        for (name, member) in object {
            if is_wanted(&name) {
                let member = self.value(member)?;
                kept.push(name, member);
            }
        }
        Ok(Json::Object(kept))
    }

    /// The complete value if `value` was cut; `value` itself if nothing was cut
    /// or the blob is missing.
    fn value<'a>(&mut self, value: Json<'a>) -> Result<Json<'a>, SourceError> {
        match value {
            Json::Object(object) => self.object(object),
            Json::Array(mut items) => {
                let is_cut = items
                    .last()
                    .and_then(cut_marker)
                    .filter(|(reason, _)| *reason == "trajectory-array-size-limit");
                if let Some((_, digest)) = is_cut
                    && let Some(whole) = self.parsed(&digest)?
                {
                    return Ok(whole);
                }
                for item in &mut items {
                    *item = self.value(std::mem::take(item))?;
                }
                Ok(Json::Array(items))
            }
            scalar => Ok(scalar),
        }
    }

    fn object<'a>(&mut self, mut object: Object<'a>) -> Result<Json<'a>, SourceError> {
        if let Some((reason, digest)) = marker_of(&object) {
            let whole = if reason == "trajectory-field-size-limit" {
                self.text(&digest)?.map(Json::from)
            } else {
                self.parsed(&digest)?
            };
            return Ok(whole.unwrap_or(Json::Object(object)));
        }
        if let Some((_, digest)) = object.get("_truncated").and_then(cut_marker)
            && let Some(whole) = self.parsed(&digest)?
        {
            return Ok(whole);
        }
        for (_, member) in object.iter_mut() {
            *member = self.value(std::mem::take(member))?;
        }
        Ok(Json::Object(object))
    }

    fn parsed(&mut self, digest: &BlobDigest) -> Result<Option<Json<'static>>, SourceError> {
        let text = self.text(digest)?.filter(|text| !long_rows::is_heavy(text.as_bytes()));
        Ok(text.and_then(|text| Json::parse(&text).ok().map(Json::into_owned)))
    }

    fn text(&mut self, digest: &BlobDigest) -> Result<Option<String>, SourceError> {
        match self.folder.look_up(digest, BLOCK.min(self.left))? {
            BlobLookup::Text(text) => {
                self.left = self.left.saturating_sub(text.len());
                Ok(Some(text))
            }
            BlobLookup::Missing | BlobLookup::TooLarge => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use traj_core::memory::MemorySources;

    use super::*;
    use crate::bundle::blobs::referenced;

    #[test]
    fn cut_values_are_restored_from_their_blobs() {
        let sources = MemorySources::new();
        let blob = |text: &str| {
            let digest = BlobDigest::of(text.as_bytes());
            sources.put(format!("s.trajectory.blobs/{digest}"), text);
            digest
        };
        let (prompt, tools) = (blob("the whole prompt"), blob(r#"["a","b","c"]"#));
        let gone = BlobDigest::of(b"never stored");
        let folder = RecordedBlobs::beside(&sources, Some("s.trajectory.jsonl"));
        let data = format!(
            r#"{{"prompt":{{"truncated":true,"reason":"trajectory-field-size-limit","blob":"{prompt}"}},"tools":["a",{{"truncated":true,"reason":"trajectory-array-size-limit","blob":"{tools}"}}],"lost":{{"truncated":true,"reason":"x","blob":"{gone}"}}}}"#
        );
        let data = Json::parse(&data).unwrap();
        let mut digests = BTreeSet::new();
        referenced(&data, &mut digests);
        assert_eq!(digests.len(), 3);
        let whole = Restorer::new(&folder).value(data).unwrap();
        assert_eq!(whole.get("prompt").and_then(Json::as_str), Some("the whole prompt"));
        assert_eq!(whole.get("tools").map(Json::to_line).as_deref(), Some(r#"["a","b","c"]"#));
        assert!(whole.get("lost").unwrap().get("truncated").is_some());
    }

    #[test]
    fn repeated_references_are_restored_up_to_a_limit() {
        let sources = MemorySources::new();
        let text = "t".repeat(BLOCK);
        let digest = BlobDigest::of(text.as_bytes());
        sources.put(format!("s.trajectory.blobs/{digest}"), &*text);
        let folder = RecordedBlobs::beside(&sources, Some("s.trajectory.jsonl"));
        let marker = format!(
            r#"{{"truncated":true,"reason":"trajectory-field-size-limit","blob":"{digest}"}}"#
        );
        let list = format!("[{}]", vec![marker; 20].join(","));
        let whole = Restorer::new(&folder).value(Json::parse(&list).unwrap()).unwrap();
        let items = whole.as_array().unwrap();
        assert_eq!(items.iter().filter(|item| item.as_str().is_some()).count(), MOST / BLOCK);
        assert_eq!(items.iter().filter(|item| cut_marker(item).is_some()).count(), 16);
    }
}
