//! Which Codex home a thread is in.
//!
//! A server may fail to find a thread simply because it uses another home (`CODEX_HOME`). The
//! thread is gone only if the server uses the home that the thread was in.

use crate::binding::BindingRecord;

/// Directories of a Codex home that hold threads.
const THREAD_DIRECTORIES: [&str; 2] = ["/sessions/", "/archived_sessions/"];

/// Whether a server uses the home that a thread is in.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HomeComparison {
    /// The server uses the thread's home.
    Same,
    /// The server uses another home.
    Other {
        /// The thread's home.
        stored: String,
    },
    /// One of the two is not known.
    Unknown,
}

impl BindingRecord {
    /// The Codex home of the thread: the one that the server stated, else the one that contains
    /// the rollout.
    #[must_use]
    pub fn home(&self) -> Option<&str> {
        let of_path = |path| {
            let mut homes = THREAD_DIRECTORIES.iter().map(|name| home_before(path, name));
            homes.find_map(|home| home)
        };
        self.codex_home.as_deref().or_else(|| self.rollout_path.as_deref().and_then(of_path))
    }

    /// Compares the thread's home with the one that a server uses.
    #[must_use]
    pub fn compare_home(&self, home: Option<&str>) -> HomeComparison {
        let (Some(stored), Some(home)) = (self.home(), home) else {
            return HomeComparison::Unknown;
        };
        let (stored, home) = (stored.trim_end_matches('/'), home.trim_end_matches('/'));
        let is_below =
            |path: &str| path.strip_prefix(home).is_some_and(|rest| rest.starts_with('/'));
        // One home can have several names; the path of the rollout may show the other one.
        if stored == home || self.rollout_path.as_deref().is_some_and(is_below) {
            HomeComparison::Same
        } else {
            HomeComparison::Other { stored: stored.to_owned() }
        }
    }
}

fn home_before<'a>(path: &'a str, directory: &str) -> Option<&'a str> {
    path.rsplit_once(directory).map(|(home, _)| home)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::binding::BindingOrigin;
    use crate::id::ThreadId;
    use crate::timestamp::UnixMillis;

    fn compare(stated: Option<&str>, path: Option<&str>, home: Option<&str>) -> HomeComparison {
        let thread = ThreadId::parse("t").unwrap();
        let mut record =
            BindingRecord::new(thread, "/w", BindingOrigin::Started, UnixMillis::EPOCH);
        record.codex_home = stated.map(str::to_owned);
        record.rollout_path = path.map(str::to_owned);
        record.compare_home(home)
    }

    #[test]
    fn the_stated_home_and_the_rollout_path_tell_where_a_thread_is() {
        let path = Some("/h/.codex/sessions/2026/11/18/rollout-x.jsonl");
        let elsewhere = HomeComparison::Other { stored: "/h/.codex".to_owned() };
        assert_eq!(compare(Some("/h/.codex/"), None, Some("/h/.codex")), HomeComparison::Same);
        assert_eq!(compare(Some("/h/.codex"), None, Some("/tmp/home")), elsewhere);
        assert_eq!(compare(None, path, Some("/h/.codex")), HomeComparison::Same);
        assert_eq!(compare(None, path, Some("/tmp/home")), elsewhere);
        assert_eq!(compare(None, path, Some("/h/.cod")), elsewhere, "a prefix of the name");
        assert_eq!(compare(Some("/linked"), path, Some("/h/.codex")), HomeComparison::Same);
    }

    #[test]
    fn without_a_home_nothing_is_claimed() {
        assert_eq!(compare(None, None, Some("/h")), HomeComparison::Unknown);
        assert_eq!(compare(Some("/h"), None, None), HomeComparison::Unknown);
        assert_eq!(compare(None, Some("/odd/place.jsonl"), Some("/h")), HomeComparison::Unknown);
    }
}
