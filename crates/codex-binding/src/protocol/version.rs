//! The server's version, read from its user agent.

/// The versions of the Codex CLI that the tests of this release ran, oldest first.
pub const TESTED_VERSIONS: [&str; 3] = ["0.135.0", "0.166.0", "0.169.0"];

/// Whether a version is newer than each of [`TESTED_VERSIONS`]. It probably works; nobody tried.
/// A text that is not a version is not newer.
#[must_use]
pub fn is_newer_than_tested(version: &str) -> bool {
    let newest = TESTED_VERSIONS.last().and_then(|newest| ServerVersion::parse(newest));
    let version = ServerVersion::parse(version.trim());
    version.zip(newest).is_some_and(|(version, newest)| version.numbers > newest.numbers)
}

/// The oldest supported server version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct VersionFloor(pub(crate) (u64, u64, u64));

/// A version as the server reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerVersion {
    numbers: (u64, u64, u64),
    /// A pre-release or custom build, which is older than the release with the same numbers.
    is_special: bool,
    text: String,
}

impl ServerVersion {
    /// Parses `<client name>/<version> (…`.
    pub(crate) fn of_user_agent(user_agent: &str) -> Option<Self> {
        let (_, after) = user_agent.split_once('/')?;
        Self::parse(after.split([' ', '(']).next()?)
    }

    fn parse(text: &str) -> Option<Self> {
        let end = text.find(['-', '+']).unwrap_or(text.len());
        let (core, rest) = text.split_at(end);
        let mut numbers = core.split('.').map(|number| number.parse::<u64>().ok());
        let numbers = (numbers.next()??, numbers.next()??, numbers.next()??);
        let is_exact = core.split('.').count() == 3;
        is_exact.then(|| Self { numbers, is_special: !rest.is_empty(), text: text.to_owned() })
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    pub(crate) fn reaches(&self, floor: VersionFloor) -> bool {
        self.numbers > floor.0 || (self.numbers == floor.0 && !self.is_special)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tested_versions_are_sorted_and_reach_the_floor() {
        let numbers = TESTED_VERSIONS.map(|version| ServerVersion::parse(version).unwrap().numbers);
        assert!(numbers.is_sorted());
        assert!(numbers.iter().all(|numbers| *numbers >= (0, 125, 0)));
    }

    #[test]
    fn only_a_later_version_is_newer_than_the_tested_ones() {
        for version in ["0.169.1", "0.170.0-alpha.1", "1.0.0", " 0.1000.0\n"] {
            assert!(is_newer_than_tested(version), "{version}");
        }
        for version in ["0.169.0", "0.169.0-alpha.9", "0.168.9", "0.135.0", "", "codex-cli"] {
            assert!(!is_newer_than_tested(version), "{version}");
        }
    }

    /// Scenario 73.
    #[test]
    fn the_floor_is_a_release() {
        let reaches = |version: &str| {
            ServerVersion::of_user_agent(&format!("traj/{version} (Debian 12.0.0; x86_64) xterm"))
                .is_some_and(|version| version.reaches(VersionFloor((0, 125, 0))))
        };
        for version in ["0.125.0", "0.126.0-alpha.1", "0.135.0", "0.166.0", "1.0.0"] {
            assert!(reaches(version), "{version}");
        }
        for version in ["0.124.9", "0.125.0-alpha.2", "0.125.0+x", "0.125", "x", "", "0.166.0.1"] {
            assert!(!reaches(version), "{version}");
        }
        assert_eq!(ServerVersion::of_user_agent("codex"), None);
    }
}
