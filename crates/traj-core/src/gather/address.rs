//! The name of one session in a file that holds several.

use std::fmt;

/// The file name ending of a sidecar beside its session.
const SIDECAR: &str = ".trajectory.jsonl";

/// One session in a file: `FILE#SESSION`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a file and a session in it")]
pub struct SessionAddress<'n> {
    /// The file's path.
    pub file: &'n str,
    /// The session's id.
    pub session: &'n str,
}

impl<'n> SessionAddress<'n> {
    /// Splits a name. A file whose own name contains `#` must be tried first.
    #[must_use]
    pub fn parse(name: &'n str) -> Option<Self> {
        let (file, session) = name.rsplit_once('#')?;
        let is_plain = !session.is_empty() && !session.contains('/');
        (is_plain && !file.is_empty() && !file.ends_with('/')).then_some(Self { file, session })
    }

    /// The same, and whether the name is that of the session's sidecar: its
    /// runtime events, where a program keeps them in the same database.
    #[must_use]
    pub fn parse_either(name: &'n str) -> Option<(Self, bool)> {
        let address = Self::parse(name)?;
        match address.session.strip_suffix(SIDECAR) {
            Some("") => None,
            Some(session) => Some((Self { session, ..address }, true)),
            None => Some((address, false)),
        }
    }
}

impl fmt::Display for SessionAddress<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}#{}", self.file, self.session)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_hash_separates_file_and_session() {
        let parsed = SessionAddress::parse("/a#b/c.db#ses_1").unwrap();
        assert_eq!((parsed.file, parsed.session), ("/a#b/c.db", "ses_1"));
        assert_eq!(parsed.to_string(), "/a#b/c.db#ses_1");
        for name in ["/a/c.db", "/a/c.db#", "#x", "/a/#x", "/a#b/c.db"] {
            assert_eq!(SessionAddress::parse(name), None, "{name}");
        }
    }

    #[test]
    fn a_sidecar_in_the_same_file_has_its_usual_ending() {
        let (address, is_sidecar) = SessionAddress::parse_either("d#s.trajectory.jsonl").unwrap();
        assert_eq!((address.session, is_sidecar), ("s", true));
        assert!(!SessionAddress::parse_either("d#s").unwrap().1);
        assert_eq!(SessionAddress::parse_either("d#.trajectory.jsonl"), None);
    }
}
