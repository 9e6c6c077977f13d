//! Inline images: where they are, and what replaces them.

use sha2::{Digest as _, Sha256};

use crate::care::trim::SENTINEL;
use crate::dialect::shape::image;
use crate::json::Json;

/// Identifies an image by its content.
pub(in crate::care::trim) type ImageKey = [u8; 16];

/// Passes every inline image in `value` to `decide`, in order, and replaces the
/// rejected ones with text; returns the bytes saved.
pub(in crate::care::trim) fn strip(
    value: &mut Json<'_>,
    decide: &mut dyn FnMut(ImageKey) -> bool,
) -> u64 {
    match value {
        Json::Array(items) => items.iter_mut().map(|item| strip(item, decide)).sum(),
        Json::Object(_) => {
            if let Some(image) = image::image_of(value) {
                let key = key_of(image.data);
                let (bytes, kind) = (image.data.len() as u64, image.text_kind);
                let note = format!(
                    "{SENTINEL} {} of {bytes} encoded bytes, repeated further on",
                    image.media_type
                );
                if decide(key) {
                    return 0;
                }
                *value = image::text_instead(kind, note);
                return bytes;
            }
            let Json::Object(object) = value else { return 0 };
            object.iter_mut().map(|(_, member)| strip(member, decide)).sum()
        }
        _ => 0,
    }
}

fn key_of(data: &str) -> ImageKey {
    let digest = Sha256::digest(data.as_bytes());
    std::array::from_fn(|index| digest[index])
}
