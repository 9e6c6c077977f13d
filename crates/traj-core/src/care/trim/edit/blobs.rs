//! Blobs that contain a trimmed text inside something larger: whole conversations
//! that were too long for their event.

use std::collections::BTreeMap;

use super::probe::IdProbe;
use super::tally::{OpenItems, Tally};
use super::value;
use crate::capture::BlobDigest;
use crate::care::trim::TrimError;
use crate::care::trim::TrimItem;
use crate::json::Json;
use crate::port::{BlobFolder, RewriteMode};

/// Old blob names and the names of their trimmed versions.
pub(in crate::care::trim) type Renamed = BTreeMap<BlobDigest, BlobDigest>;

/// Stores a trimmed version of every blob that contains one of the results.
///
/// The old blobs stay until no event refers to them.
pub(in crate::care::trim) fn trim_blobs(
    blobs: &dyn BlobFolder,
    items: &[TrimItem],
    mode: RewriteMode,
    tally: &mut Tally,
) -> Result<Renamed, TrimError> {
    let mut wanted = OpenItems::new(items);
    let probe = IdProbe::new(wanted.ids());
    let mut renamed = Renamed::new();
    for digest in blobs.list().map_err(TrimError::BlobFolder)? {
        let Some(content) = blobs.read(&digest)? else { continue };
        if !probe.may_mention(&content) {
            continue;
        }
        let Ok(mut held) = Json::parse_lossy(&content) else { continue };
        if !value::trim_everywhere(&mut held, &mut wanted, tally) {
            continue;
        }
        let trimmed = held.to_line();
        let name = BlobDigest::of(trimmed.as_bytes());
        if mode == RewriteMode::Commit {
            blobs.restore(&name, trimmed.as_bytes())?;
        }
        tally.blobs.insert(digest.clone());
        renamed.insert(digest, name);
    }
    Ok(renamed)
}

/// Points markers in `value` to the trimmed blobs; true if one changed.
pub(in crate::care::trim) fn rename(value: &mut Json<'_>, renamed: &Renamed) -> bool {
    let mut changed = false;
    match value {
        Json::Array(items) => {
            for item in items {
                changed |= rename(item, renamed);
            }
        }
        Json::Object(_) => {
            let new = value::blob_of(value).and_then(|old| renamed.get(&old)).cloned();
            let Json::Object(object) = value else { return false };
            if let Some(new) = new {
                object.insert("blob", new.as_str().to_owned());
                // The preview shows the beginning of the old text.
                object.remove("preview");
                changed = true;
            }
            for (_, member) in object.iter_mut() {
                changed |= rename(member, renamed);
            }
        }
        _ => {}
    }
    changed
}
