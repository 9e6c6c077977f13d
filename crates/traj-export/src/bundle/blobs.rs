//! Long texts that the recorder put beside the sidecar.

use std::collections::BTreeSet;

use traj_core::capture::BlobDigest;
use traj_core::json::{Json, Object};
use traj_core::location::blobs_beside;
use traj_core::port::{BundleFile, Source, Sources};

use crate::shrink::{self, SHORTENED};
use crate::text_blocks::BLOCK;

/// What a blob gave.
enum Lookup {
    Text(String),
    Missing,
    TooLarge,
}

/// The blob folder of a sidecar.
#[derive(Debug)]
pub(crate) struct BlobFolder<'s> {
    sources: &'s dyn Sources,
    folder: Option<String>,
}

impl<'s> BlobFolder<'s> {
    pub(crate) fn beside(sources: &'s dyn Sources, sidecar: Option<&str>) -> Self {
        Self { sources, folder: sidecar.map(blobs_beside) }
    }

    pub(super) fn open(&self, digest: &BlobDigest) -> Option<Box<dyn Source>> {
        let folder = self.folder.as_ref()?;
        self.sources.open(&format!("{folder}/{digest}")).ok()
    }

    /// A text that is short enough to be held.
    fn look_up(&self, digest: &BlobDigest) -> Lookup {
        let Some(source) = self.open(digest) else { return Lookup::Missing };
        if source.len() > BLOCK as u64 {
            return Lookup::TooLarge;
        }
        let mut bytes = vec![0; usize::try_from(source.len()).unwrap_or_default()];
        let is_read = source.read_exact_at(0, &mut bytes).is_ok();
        // A blob that says something else than its name is not the one meant.
        if !is_read || BlobDigest::of(&bytes) != *digest {
            return Lookup::Missing;
        }
        Lookup::Text(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The prompt in the data of an event, whole if it can be held; a word
    /// about where among the bundle's files it lies if not.
    pub(crate) fn restored_prompt(
        &self,
        data: Json<'_>,
        copied: &BTreeSet<BundleFile>,
    ) -> Option<String> {
        let whole = self.restore_members(data, |name| name == "prompt");
        let prompt = whole.get("prompt")?;
        if let Some(text) = prompt.as_str() {
            return Some(text.to_owned());
        }
        let (reason, digest) = cut_marker(prompt)?;
        let length = if reason == SHORTENED {
            prompt.get("originalBytes")?.as_u64()?
        } else {
            self.open(&digest)?.len()
        };
        let name = format!("blobs/{digest}.txt");
        let is_copied = BundleFile::parse(&name).is_some_and(|file| copied.contains(&file));
        Some(if is_copied {
            format!("<{length} bytes in {name}>")
        } else {
            format!("<{length} bytes, left out>")
        })
    }

    /// Some members of an object, each with what was cut put back. Others may
    /// be huge and are dropped before.
    pub(crate) fn restore_members<'a>(
        &self,
        data: Json<'a>,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Json<'a> {
        let whole = match cut_marker(&data).and_then(|(_, digest)| self.parsed(&digest)) {
            Some(whole) => whole,
            None => data,
        };
        let Json::Object(object) = whole else { return whole };
        let mut kept = Object::new();
        for (name, member) in object {
            if is_wanted(&name) {
                kept.push(name, self.restore(member));
            }
        }
        Json::Object(kept)
    }

    /// The whole of a value that was cut to a limit; the value itself where
    /// nothing was cut or the blob is gone.
    fn restore<'a>(&self, value: Json<'a>) -> Json<'a> {
        if self.folder.is_none() {
            return value;
        }
        match value {
            Json::Object(object) => self.restore_object(object),
            Json::Array(mut items) => {
                let is_cut = items
                    .last()
                    .and_then(cut_marker)
                    .filter(|(reason, _)| *reason == "trajectory-array-size-limit");
                if let Some(whole) = is_cut.and_then(|(_, digest)| self.parsed(&digest)) {
                    return whole;
                }
                items.iter_mut().for_each(|item| *item = self.restore(std::mem::take(item)));
                Json::Array(items)
            }
            scalar => scalar,
        }
    }

    fn restore_object<'a>(&self, mut object: Object<'a>) -> Json<'a> {
        let value = Json::Object(object);
        if let Some((reason, digest)) = cut_marker(&value) {
            let whole = if reason == "trajectory-field-size-limit" {
                match self.look_up(&digest) {
                    Lookup::Text(text) => Some(Json::from(text)),
                    _ => None,
                }
            } else {
                self.parsed(&digest)
            };
            return whole.unwrap_or(value);
        }
        if let Some((_, digest)) = value.get("_truncated").and_then(cut_marker)
            && let Some(whole) = self.parsed(&digest)
        {
            return whole;
        }
        object = if let Json::Object(object) = value { object } else { Object::new() };
        for (_, member) in object.iter_mut() {
            *member = self.restore(std::mem::take(member));
        }
        Json::Object(object)
    }

    fn parsed(&self, digest: &BlobDigest) -> Option<Json<'static>> {
        match self.look_up(digest) {
            Lookup::Text(text) if shrink::is_heavy(text.as_bytes()) => None,
            Lookup::Text(text) => Json::parse(&text).ok().map(Json::into_owned),
            _ => None,
        }
    }
}

/// The reason and the blob of a value that was cut.
fn cut_marker<'e>(value: &'e Json<'_>) -> Option<(&'e str, BlobDigest)> {
    let object = value.as_object()?;
    let is_cut = object.get("truncated").and_then(Json::as_bool) == Some(true);
    let digest = BlobDigest::parse(object.get("blob")?.as_str()?)?;
    is_cut.then_some((object.get("reason")?.as_str()?, digest))
}

/// Collects the blobs that a value refers to.
pub(crate) fn referenced(value: &Json<'_>, digests: &mut BTreeSet<BlobDigest>) {
    match value {
        Json::Array(items) => items.iter().for_each(|item| referenced(item, digests)),
        Json::Object(object) => match cut_marker(value) {
            Some((_, digest)) => drop(digests.insert(digest)),
            None => object.iter().for_each(|(_, member)| referenced(member, digests)),
        },
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use traj_core::memory::MemorySources;

    use super::*;

    #[test]
    fn what_was_cut_is_restored_from_its_blob() {
        let sources = MemorySources::new();
        let blob = |text: &str| {
            let digest = BlobDigest::of(text.as_bytes());
            sources.put(format!("s.trajectory.blobs/{digest}"), text);
            digest
        };
        let (prompt, tools) = (blob("the whole prompt"), blob(r#"["a","b","c"]"#));
        let gone = BlobDigest::of(b"never stored");
        let folder = BlobFolder::beside(&sources, Some("s.trajectory.jsonl"));
        let data = format!(
            r#"{{"prompt":{{"truncated":true,"reason":"trajectory-field-size-limit","blob":"{prompt}"}},"tools":["a",{{"truncated":true,"reason":"trajectory-array-size-limit","blob":"{tools}"}}],"lost":{{"truncated":true,"reason":"x","blob":"{gone}"}}}}"#
        );
        let data = Json::parse(&data).unwrap();
        let mut digests = BTreeSet::new();
        referenced(&data, &mut digests);
        assert_eq!(digests.len(), 3);
        let whole = folder.restore(data);
        assert_eq!(whole.get("prompt").and_then(Json::as_str), Some("the whole prompt"));
        assert_eq!(whole.get("tools").map(Json::to_line).as_deref(), Some(r#"["a","b","c"]"#));
        assert!(whole.get("lost").unwrap().get("truncated").is_some());
    }

    #[test]
    fn a_blob_that_was_changed_is_not_believed() {
        let sources = MemorySources::new();
        let digest = BlobDigest::of(b"original");
        sources.put(format!("s.trajectory.blobs/{digest}"), "something else");
        let folder = BlobFolder::beside(&sources, Some("s.trajectory.jsonl"));
        assert!(matches!(folder.look_up(&digest), Lookup::Missing));
    }
}
