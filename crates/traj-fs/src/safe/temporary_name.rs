//! Makes names for work in progress, and recognises what a crash left.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

const FILE: &str = ".traj-";
const BUNDLE: &str = ".traj-bundle-";
const SUFFIX: &str = ".tmp";

/// A name for a file that is about to replace another one.
pub(crate) fn file_name() -> String {
    numbered(FILE)
}

/// A name for an unfinished bundle. It contains the host: in a shared
/// directory, another host may not see the locks of this one.
pub(crate) fn bundle_name() -> String {
    numbered(&format!("{BUNDLE}{}-", host()))
}

fn numbered(prefix: &str) -> String {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    format!("{prefix}{}-{count}{SUFFIX}", std::process::id())
}

/// Creates a file or directory under the first free name. Returns it with its
/// name.
pub(crate) fn make_under<T>(
    name: fn() -> String,
    mut make: impl FnMut(&str) -> io::Result<T>,
) -> io::Result<(T, String)> {
    loop {
        let name = name();
        match make(&name) {
            Ok(made) => return Ok((made, name)),
            // Left by an earlier process with the same id.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

/// Whether this is the name of a temporary file that was about to replace
/// another one.
pub(crate) fn is_file(name: &str) -> bool {
    let middle = name.strip_prefix(FILE).and_then(|rest| rest.strip_suffix(SUFFIX));
    middle.and_then(owner).is_some_and(str::is_empty)
}

/// The host that writes an unfinished bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BundleOwner {
    ThisHost,
    AnotherHost,
}

/// The owner of the unfinished bundle with this name, if it is one.
pub(crate) fn bundle_owner(name: &str) -> Option<BundleOwner> {
    let middle = name.strip_prefix(BUNDLE)?.strip_suffix(SUFFIX)?;
    let named = owner(middle)?.strip_suffix('-')?;
    Some(if named == host() { BundleOwner::ThisHost } else { BundleOwner::AnotherHost })
}

/// Whether a bundle must not have this name, because this or another version
/// could take it for an unfinished one. Some filesystems ignore case.
pub(crate) fn is_reserved(name: &str) -> bool {
    let name = name.to_lowercase();
    name.starts_with(BUNDLE) && name.ends_with(SUFFIX)
}

/// The part before the process id and the counter.
fn owner(middle: &str) -> Option<&str> {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (rest, _) = middle.rsplit_once('-').filter(|(_, count)| number(count))?;
    let owner = rest.trim_end_matches(|character: char| character.is_ascii_digit());
    (owner.len() < rest.len()).then_some(owner)
}

/// The host's name, reduced to characters that a file name can have.
fn host() -> String {
    const LONGEST: usize = 40;
    let name = rustix::system::uname();
    let name = name.nodename().to_string_lossy();
    let plain = |character: char| character.is_ascii_alphanumeric() || character == '.';
    let name: String = name.chars().filter(|letter| plain(*letter)).take(LONGEST).collect();
    if name.is_empty() { "host".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_names_are_recognised() {
        assert!(is_file(&file_name()) && !is_file(&bundle_name()));
        assert_eq!(bundle_owner(&bundle_name()), Some(BundleOwner::ThisHost));
        assert_eq!(
            bundle_owner(".traj-bundle-other-host.example-12-0.tmp"),
            Some(BundleOwner::AnotherHost)
        );
        assert_eq!(bundle_owner(&file_name()), None);
        for name in [
            ".traj-bundle-keep.tmp",
            ".traj-bundle-1-0.tmp",
            ".traj-bundle-host-1-.tmp",
            ".traj-bundle-host-x-1.tmp",
            ".Traj-Bundle-host-1-1.tmp",
        ] {
            assert_eq!(bundle_owner(name), None, "{name}");
            assert!(is_reserved(name), "{name}");
        }
        for name in [".traj-x-1.tmp", ".traj-1.tmp", ".traj-1-x.tmp", "traj-1-1.tmp", ".traj-1-1"] {
            assert!(!is_file(name), "{name}");
        }
        assert!(!is_reserved("bundle"));
    }
}
