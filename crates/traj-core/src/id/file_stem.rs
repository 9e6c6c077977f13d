//! Names of a session's files: safe on every filesystem, and different for
//! different sessions.

use sha2::{Digest as _, Sha256};

use super::SessionId;

/// The longest stem, hash included; leaves room for extensions on any
/// filesystem.
const MAX_LENGTH: usize = 120;

/// Names that some filesystems reserve for devices.
const RESERVED: [&str; 22] = [
    "con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8",
    "com9", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
];

/// The first part of a file name, made from a session id.
///
/// A short id of ASCII letters, digits, `_` and `-` is its own stem. Any other
/// id, and any reserved name, keeps its safe characters and gets a dot and a
/// hash. A plain stem has no dot, so two ids do not share one.
///
/// ```
/// use traj_core::id::{FileStem, SessionId};
///
/// let plain = FileStem::of(&SessionId::parse("run-42")?);
/// assert_eq!(plain.as_str(), "run-42");
/// let odd = FileStem::of(&SessionId::parse("a/b")?);
/// assert!(odd.as_str().starts_with("a_b."));
/// # Ok::<(), traj_core::id::IdError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileStem(String);

impl FileStem {
    /// The stem for writing the files of `session`.
    #[must_use]
    pub fn of(session: &SessionId) -> Self {
        let id = session.as_str();
        let is_plain = id.bytes().all(is_safe)
            && id.len() <= MAX_LENGTH
            && id.bytes().any(|byte| byte.is_ascii_alphanumeric())
            && !RESERVED.contains(&id.to_ascii_lowercase().as_str());
        if is_plain {
            return Self(id.to_owned());
        }
        let digest = Sha256::digest(id.as_bytes());
        let hash: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let readable: String = Self::legacy(session).0.chars().take(MAX_LENGTH - 17).collect();
        Self(format!("{readable}.{hash}"))
    }

    /// The stem that other recorders use for `session`. Several ids may share
    /// one, so use it to find files to read, never to write.
    #[must_use]
    pub fn legacy(session: &SessionId) -> Self {
        let stem: String = session
            .as_str()
            .encode_utf16()
            .map(|unit| {
                u8::try_from(unit).ok().filter(|byte| is_safe(*byte)).map_or('_', char::from)
            })
            .take(MAX_LENGTH)
            .collect();
        if stem.bytes().any(|byte| byte.is_ascii_alphanumeric()) {
            Self(stem)
        } else {
            Self("session".to_owned())
        }
    }

    /// The stem as a string.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

const fn is_safe(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stem(id: &str) -> String {
        FileStem::of(&SessionId::parse(id).unwrap()).0
    }

    #[test]
    fn hostile_ids_get_safe_stems() {
        let long = "x".repeat(10_000);
        let ids =
            ["../x", "/abs", "~", "a\0b", "a\nb", &long, "日本", "..", "CON", "...", "\u{202e}x"];
        let mut stems: Vec<String> = ids.iter().map(|id| stem(id)).collect();
        for stem in &stems {
            assert!(stem.len() <= MAX_LENGTH && !stem.starts_with('.'), "{stem}");
        }
        stems.sort();
        stems.dedup();
        assert_eq!(stems.len(), ids.len());
    }

    #[test]
    fn legacy_stems_are_those_of_other_recorders() {
        let legacy = |id: &str| FileStem::legacy(&SessionId::parse(id).unwrap()).0;
        assert_eq!(legacy("a/b"), "a_b");
        assert_eq!(legacy("a😀"), "a__");
        assert_eq!(legacy("日本"), "session");
    }

    proptest! {
        #[test]
        fn stems_never_collide_or_escape(left in ".{1,40}", right in ".{1,40}") {
            let (one, other) = (stem(&left), stem(&right));
            prop_assert_eq!(left == right, one == other);
            prop_assert!(one.bytes().all(|byte| is_safe(byte) || byte == b'.'));
            prop_assert!(!one.starts_with('.') && one.len() <= MAX_LENGTH);
            // A stem, used as an id, must not lead to the file of its own id.
            if one != left {
                prop_assert_ne!(stem(&one), one);
            }
        }
    }
}
