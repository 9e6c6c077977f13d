//! Long texts, which a data set keeps once, in files of their own. A row has the
//! beginning of each, and the name of its file.

use std::cell::RefCell;
use std::collections::BTreeSet;

use traj_core::capture::BlobDigest;
use traj_core::json::Json;
use traj_core::port::{BundleSource, BundleSourceError, Scratch};

use crate::bundle::marker_of;
use crate::inspect::run_events::{EventTexts, RowTexts};

/// What a row has of a long text.
const BEGINNING: usize = 4 * 1024;

/// The member of a marker that names the file.
const FILE: &str = "file";

/// Values that are nested deeper are not looked at.
const DEEPEST: usize = 64;

/// The long texts of a bundle, in a scratch file. Texts above 16 MiB have no file:
/// only their beginnings are kept.
#[derive(Debug)]
pub struct LongTexts(RefCell<EventTexts>);

impl LongTexts {
    /// No texts so far. The scratch file is used only if there are some.
    #[must_use]
    pub fn new(scratch: Box<dyn Scratch>) -> Self {
        Self(RefCell::new(EventTexts::new(scratch)))
    }

    /// The bytes of a text; `None` if the bundle does not have it, or if it is too
    /// long.
    ///
    /// # Errors
    /// If the scratch file cannot be read.
    pub fn whole(&self, digest: &BlobDigest) -> Result<Option<Vec<u8>>, BundleSourceError> {
        self.0.borrow().whole(digest)
    }

    pub(super) fn gather(&self, bundle: &dyn BundleSource) -> Result<(), BundleSourceError> {
        self.0.borrow_mut().gather(bundle)
    }
}

impl RowTexts for &LongTexts {
    fn change(&mut self, row: &mut Json<'_>) -> Result<(), BundleSourceError> {
        self.0.borrow().refer(row, BEGINNING, &|marker, digest| {
            marker.insert(FILE, long_text_file(digest));
        })
    }
}

/// The file of a long text in a data set, below the directory of its layout.
#[must_use]
pub fn long_text_file(digest: &BlobDigest) -> String {
    let name = digest.as_str();
    format!("blobs/{}/{name}.zst", name.get(..2).unwrap_or_default())
}

/// The long texts whose files a payload names.
#[must_use]
pub fn long_texts_in(data: &str) -> BTreeSet<BlobDigest> {
    let mut found = BTreeSet::new();
    // Most payloads have none, and need not be parsed to know it.
    if data.contains(r#""file":"blobs/"#)
        && let Ok(value) = Json::parse(data)
    {
        add_texts(&value, DEEPEST, &mut found);
    }
    found
}

fn add_texts(value: &Json<'_>, depth: usize, found: &mut BTreeSet<BlobDigest>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match value {
        Json::Array(items) => items.iter().for_each(|item| add_texts(item, depth, found)),
        Json::Object(object) => match marker_of(object) {
            Some((_, digest)) => {
                let file = object.get(FILE).and_then(Json::as_str);
                if file == Some(long_text_file(&digest).as_str()) {
                    found.insert(digest);
                }
            }
            None => object.iter().for_each(|(_, member)| add_texts(member, depth, found)),
        },
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_markers_name_files() {
        let digest = BlobDigest::of(b"text");
        let file = long_text_file(&digest);
        let (first_two, _) = digest.as_str().split_at(2);
        assert_eq!(file, format!("blobs/{first_two}/{digest}.zst"));
        let marker = |file: &str| {
            format!(
                r#"{{"a":[{{"truncated":true,"reason":"x","blob":"{digest}","file":"{file}"}}]}}"#
            )
        };
        assert_eq!(long_texts_in(&marker(&file)), [digest.clone()].into());
        for other in [marker("blobs/00/other.zst"), format!(r#"{{"file":"{file}"}}"#), file] {
            assert_eq!(long_texts_in(&other), BTreeSet::new(), "{other}");
        }
    }
}
