//! The owner's marker key: 32 random bytes in a private file.
//!
//! Markers made under one key can be compared across events and files; without
//! the key they tell nothing.

use std::io::{Read as _, Write as _};

use cap_std::fs::Dir;
use traj_core::redaction::MarkerKey;

use crate::error::{Context as _, FsError};
use crate::lock::lock_exclusive;
use crate::open::{Access, open_regular};
use crate::replace::sync_folder;

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyFileError {
    /// The file cannot be read or made.
    #[error(transparent)]
    File(#[from] FsError),
    /// The file is not a key; it is left as it is.
    #[error("{name:?} is not a marker key: 64 hexadecimal digits are expected")]
    Damaged {
        /// The file's name.
        name: String,
    },
}

/// Reads the key in the file `name`, or makes the file with `fresh` bytes.
/// Processes that do so at the same moment get the same key.
///
/// # Errors
/// When the file is refused, damaged, or cannot be made.
pub fn load_or_create_key(
    folder: &Dir,
    name: &str,
    fresh: impl FnOnce() -> std::io::Result<[u8; 32]>,
) -> Result<MarkerKey, KeyFileError> {
    let mut file = open_regular(folder, name, Access::Update)?;
    let locked = file.try_clone().context("open", name)?;
    let _lock = lock_exclusive(&locked, name)?;
    let mut text = String::new();
    file.read_to_string(&mut text).context("read", name)?;
    if !text.is_empty() {
        return parse(&text).ok_or_else(|| KeyFileError::Damaged { name: name.to_owned() });
    }
    let bytes = fresh().context("make a key for", name)?;
    let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    file.write_all(format!("{text}\n").as_bytes()).context("write", name)?;
    file.sync_all().context("sync", name)?;
    sync_folder(folder, name)?;
    Ok(MarkerKey::new(bytes))
}

fn parse(text: &str) -> Option<MarkerKey> {
    let digits = text.trim().as_bytes();
    let mut bytes = [0; 32];
    if digits.len() != 2 * bytes.len() {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        let high = char::from(pair[0]).to_digit(16)?;
        let low = char::from(pair[1]).to_digit(16)?;
        *byte = u8::try_from(high * 16 + low).ok()?;
    }
    Some(MarkerKey::new(bytes))
}

#[cfg(test)]
mod tests {
    use cap_std::fs::PermissionsExt as _;

    use super::*;

    fn folder() -> (tempfile::TempDir, Dir) {
        let temporary = tempfile::tempdir().unwrap();
        #[expect(clippy::disallowed_methods, reason = "a test opens its own folder")]
        let folder = Dir::open_ambient_dir(temporary.path(), cap_std::ambient_authority()).unwrap();
        (temporary, folder)
    }

    #[test]
    fn a_key_is_made_once_and_private() {
        let (_temporary, folder) = folder();
        let first = load_or_create_key(&folder, "key", || Ok([5; 32])).unwrap();
        let again = load_or_create_key(&folder, "key", || Ok([6; 32])).unwrap();
        assert_eq!(first.as_bytes(), again.as_bytes());
        assert_eq!(folder.metadata("key").unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_damaged_key_is_kept_and_reported() {
        let (_temporary, folder) = folder();
        folder.write("key", "not a key").unwrap();
        let outcome = load_or_create_key(&folder, "key", || Ok([5; 32]));
        assert!(matches!(outcome, Err(KeyFileError::Damaged { .. })));
        assert_eq!(folder.read_to_string("key").unwrap(), "not a key");
    }
}
