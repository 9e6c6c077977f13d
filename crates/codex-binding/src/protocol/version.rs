//! The server's version, read from how it introduces itself.

/// The oldest server we speak to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct VersionFloor(pub(crate) (u64, u64, u64));

/// A version as the server reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerVersion {
    numbers: (u64, u64, u64),
    /// A pre-release or a build of its own: older than the release with the same numbers.
    is_special: bool,
    text: String,
}

impl ServerVersion {
    /// Reads `<client name>/<version> (…`.
    pub(crate) fn of_user_agent(user_agent: &str) -> Option<Self> {
        let (_, after) = user_agent.split_once('/')?;
        let text = after.split([' ', '(']).next()?;
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
