//! The owner's marker key: 32 random bytes in a private file.
//!
//! Markers made with the same key can be compared across events and files;
//! without the key, they reveal nothing. A key is written as a whole. Older
//! writers could leave the start of one; it was never used for a marker, so a
//! new key replaces it.

use std::io::{Read as _, Write as _};

use cap_std::fs::Dir;
use traj_core::redaction::MarkerKey;

use crate::error::{Context as _, FsError};
use crate::safe::lock::lock_exclusive;
use crate::safe::open::{Access, FileIdentity, identity_of, make_file_private, open_unknown};
use crate::safe::replace::replace_file;

/// The number of hexadecimal digits in a key.
const DIGITS: usize = 64;

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyFileError {
    /// The file cannot be read or created.
    #[error(transparent)]
    File(#[from] FsError),
    /// The file is not a key. It is left unchanged.
    #[error(
        "{name:?} is not a marker key: {DIGITS} hexadecimal digits are expected; \
         move it away to create a new one"
    )]
    Damaged {
        /// The file's name.
        name: String,
    },
}

/// Reads the key in the file `name`, or creates the file with `fresh` bytes.
/// Processes that do so at the same time get the same key.
///
/// # Errors
/// When the file is refused, damaged, or cannot be created.
pub fn load_or_create_key(
    folder: &Dir,
    name: &str,
    fresh: impl FnOnce() -> std::io::Result<[u8; 32]>,
) -> Result<MarkerKey, KeyFileError> {
    loop {
        let file = open_unknown(folder, name, Access::Update)?;
        let _lock = lock_exclusive(&file, name)?;
        if identity_of(folder, name)? != Some(FileIdentity::of_file(&file, name)?) {
            // The previous holder of the lock replaced this file with the key.
            continue;
        }
        let mut text = String::new();
        let read = (&file).take(4 * DIGITS as u64).read_to_string(&mut text);
        let damaged = || KeyFileError::Damaged { name: name.to_owned() };
        match read {
            Err(error) if error.kind() == std::io::ErrorKind::InvalidData => return Err(damaged()),
            read => read.context("read", name)?,
        };
        if !is_start_of_key(&text) {
            let key = parse(&text).ok_or_else(damaged)?;
            make_file_private(&file, name)?;
            return Ok(key);
        }
        let bytes = fresh().context("create a key for", name)?;
        let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        replace_file(folder, name, 0o600, |file| file.write_all(format!("{text}\n").as_bytes()))?;
        return Ok(MarkerKey::new(bytes));
    }
}

/// Whether a file has no key yet, or only the start of one.
fn is_start_of_key(text: &str) -> bool {
    text.len() < DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn parse(text: &str) -> Option<MarkerKey> {
    let digits = text.trim().as_bytes();
    let mut bytes = [0; 32];
    if digits.len() != DIGITS {
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
    use cap_std::fs::{Permissions, PermissionsExt as _};

    use super::*;
    use crate::safe::test_directory as folder;

    #[test]
    fn a_key_is_created_once_and_private() {
        let (_temporary, folder) = folder();
        let first = load_or_create_key(&folder, "key", || Ok([5; 32])).unwrap();
        let again = load_or_create_key(&folder, "key", || Ok([6; 32])).unwrap();
        assert_eq!(first.as_bytes(), again.as_bytes());
        assert_eq!(folder.metadata("key").unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_damaged_key_is_kept_and_reported() {
        let long = "ab".repeat(33);
        let texts: [&[u8]; 4] = [b"not a key", long.as_bytes(), b"\xff\xfe", b"ab\ncd"];
        for text in texts {
            let (_temporary, folder) = folder();
            folder.write("key", text).unwrap();
            folder.set_permissions("key", Permissions::from_mode(0o644)).unwrap();
            let outcome = load_or_create_key(&folder, "key", || Ok([5; 32]));
            assert!(matches!(outcome, Err(KeyFileError::Damaged { .. })));
            assert_eq!(folder.read("key").unwrap(), text);
            let mode = folder.metadata("key").unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o644, "it may be someone's diary");
        }
    }

    #[test]
    fn a_truncated_key_is_replaced() {
        for digits in [0, 1, 63] {
            let (_temporary, folder) = folder();
            folder.write("key", "a".repeat(digits)).unwrap();
            let made = load_or_create_key(&folder, "key", || Ok([5; 32])).unwrap();
            let read = load_or_create_key(&folder, "key", || Ok([6; 32])).unwrap();
            assert_eq!((made.as_bytes(), read.as_bytes()), (&[5; 32], &[5; 32]));
            assert_eq!(folder.entries().unwrap().count(), 1, "nothing else is left");
        }
    }

    #[test]
    fn a_failed_creation_does_not_block_the_next_one() {
        let (_temporary, folder) = folder();
        let refused = || Err(std::io::ErrorKind::Other.into());
        assert!(load_or_create_key(&folder, "key", refused).is_err());
        load_or_create_key(&folder, "key", || Ok([5; 32])).unwrap();
    }

    #[test]
    fn concurrent_creators_get_the_same_key() {
        let (_temporary, folder) = folder();
        let folder = &folder;
        let keys: Vec<[u8; 32]> = std::thread::scope(|scope| {
            let load =
                |own: u8| *load_or_create_key(folder, "key", || Ok([own; 32])).unwrap().as_bytes();
            let racers: Vec<_> = (0..16).map(|own| scope.spawn(move || load(own))).collect();
            racers.into_iter().map(|racer| racer.join().unwrap()).collect()
        });
        assert!(keys.windows(2).all(|pair| pair[0] == pair[1]), "{keys:?}");
    }
}
