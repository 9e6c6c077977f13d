//! The name of a segment's files.

use std::fmt;

use sha2::{Digest as _, Sha256};

/// How many digits of a digest are part of a name.
const SHORT: usize = 12;

/// The ending of all files.
const ENDING: &str = ".parquet";

/// Identifies a host without revealing its name: 32 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HostId(String);

impl HostId {
    /// The digest of a host's name, with a salt that only the host knows.
    #[must_use]
    pub fn of(salt: &[u8; 32], host_name: &str) -> Self {
        let digest = Sha256::new().chain_update(salt).chain_update(host_name).finalize();
        Self(digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect())
    }

    /// The 32 digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The name of a segment's files: its position in the dataset, and its revision.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct SegmentName {
    /// The first 12 digits of the host's id.
    pub host: String,
    /// The first 12 digits of the session's trace id.
    pub session: String,
    /// The number of the first event.
    pub first: u64,
    /// The revision, from 1.
    pub revision: u32,
}

impl SegmentName {
    /// The name of a segment of the session with this trace id.
    #[must_use]
    pub fn new(host: &HostId, trace_id: &str, first: u64, revision: u32) -> Self {
        let short = |text: &str| text.chars().take(SHORT).collect::<String>();
        let (host, session) = (short(host.as_str()), short(trace_id));
        Self { host, session, first, revision }
    }

    /// The name of another revision of the same segment.
    #[must_use]
    pub fn in_revision(&self, revision: u32) -> Self {
        Self { revision, ..self.clone() }
    }

    /// The beginning of the names of all segments of the session.
    #[must_use]
    pub fn session_prefix(&self) -> String {
        format!("{}-{}-", self.host, self.session)
    }

    /// Reads a file name.
    #[must_use]
    pub fn parse(file: &str) -> Option<Self> {
        let mut parts = file.strip_suffix(ENDING)?.split('-');
        let host = parts.next().filter(|part| is_short(part))?.to_owned();
        let session = parts.next().filter(|part| is_short(part))?.to_owned();
        let first = number(parts.next()?)?;
        let revision = u32::try_from(number(parts.next()?.strip_prefix('r')?)?).ok()?;
        parts.next().is_none().then_some(Self { host, session, first, revision })
    }
}

impl fmt::Display for SegmentName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, session, first, revision } = self;
        write!(formatter, "{host}-{session}-{first}-r{revision}{ENDING}")
    }
}

fn is_short(part: &str) -> bool {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    part.len() == SHORT && part.bytes().all(is_digit)
}

/// A positive number in its shortest form.
fn number(digits: &str) -> Option<u64> {
    let is_short = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    digits.parse().ok().filter(|_| is_short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_states_host_session_position_and_revision() {
        let host = HostId::of(&[7; 32], "build-17");
        let name = SegmentName::new(&host, &"0".repeat(32), 4_097, 2);
        let text = name.to_string();
        assert!(host.as_str().starts_with(&name.host) && text.ends_with("-4097-r2.parquet"));
        assert_eq!(SegmentName::parse(&text), Some(name.clone()));
        assert!(text.starts_with(&name.session_prefix()));
    }

    #[test]
    fn the_same_name_on_another_salt_is_another_host() {
        assert_eq!(HostId::of(&[1; 32], "a"), HostId::of(&[1; 32], "a"));
        assert_ne!(HostId::of(&[1; 32], "a"), HostId::of(&[2; 32], "a"));
        assert_ne!(HostId::of(&[1; 32], "a"), HostId::of(&[1; 32], "b"));
    }

    #[test]
    fn other_files_are_no_segments() {
        let good = "0123456789ab-ba9876543210-1-r1.parquet";
        assert!(SegmentName::parse(good).is_some());
        for (from, to) in [
            ("0123456789ab", "0123456789a"),
            ("0123456789ab", "0123456789AB"),
            ("-1-r1", "-01-r1"),
            ("-1-r1", "-0-r1"),
            ("-1-r1", "-1-r0"),
            ("-1-r1", "-+1-r1"),
            ("-1-r1", "-1-1"),
            ("-1-r1", "-1-r1-2"),
            ("-1-r1", "-1-r99999999999"),
            (".parquet", ".parquet.tmp"),
        ] {
            let other = good.replace(from, to);
            assert_eq!(SegmentName::parse(&other), None, "{other}");
        }
    }
}
