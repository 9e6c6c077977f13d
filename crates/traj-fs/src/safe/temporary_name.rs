//! Names of what is in the making: how they are made, and how what a crash
//! left is known by them.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

const FILE: &str = ".traj-";
const BUNDLE: &str = ".traj-bundle-";
const SUFFIX: &str = ".tmp";

/// A name for a file that is about to take the place of another one.
pub(crate) fn file_name() -> String {
    numbered(FILE)
}

/// A name for a bundle in the making. It says on which host: where a folder is
/// shared, the locks of one host may not be seen on another.
pub(crate) fn bundle_name() -> String {
    numbered(&format!("{BUNDLE}{}-", host()))
}

fn numbered(prefix: &str) -> String {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    format!("{prefix}{}-{count}{SUFFIX}", std::process::id())
}

/// Makes something under the first of these names that nothing has; returns
/// what was made, and its name.
pub(crate) fn make_under<T>(
    name: fn() -> String,
    mut make: impl FnMut(&str) -> io::Result<T>,
) -> io::Result<(T, String)> {
    loop {
        let name = name();
        match make(&name) {
            Ok(made) => return Ok((made, name)),
            // Left by a process that had our number before us.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

/// Whether this is the name of a file that was about to take another's place.
pub(crate) fn is_file(name: &str) -> bool {
    let middle = name.strip_prefix(FILE).and_then(|rest| rest.strip_suffix(SUFFIX));
    middle.and_then(owner).is_some_and(str::is_empty)
}

/// Where a bundle in the making is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BundleOwner {
    ThisHost,
    AnotherHost,
}

/// Whose bundle in the making has this name, if it is one.
pub(crate) fn bundle_owner(name: &str) -> Option<BundleOwner> {
    let middle = name.strip_prefix(BUNDLE)?.strip_suffix(SUFFIX)?;
    let named = owner(middle)?.strip_suffix('-')?;
    Some(if named == host() { BundleOwner::ThisHost } else { BundleOwner::AnotherHost })
}

/// Whether a bundle may not be called so: it could be taken for one in the
/// making, here or by another version. Some filesystems do not tell cases apart.
pub(crate) fn is_reserved(name: &str) -> bool {
    let name = name.to_lowercase();
    name.starts_with(BUNDLE) && name.ends_with(SUFFIX)
}

/// What stands before the numbers of a process and of a name of its.
fn owner(middle: &str) -> Option<&str> {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (rest, _) = middle.rsplit_once('-').filter(|(_, count)| number(count))?;
    let owner = rest.trim_end_matches(|character: char| character.is_ascii_digit());
    (owner.len() < rest.len()).then_some(owner)
}

/// The host's name, as far as it can stand in a file's.
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
    fn what_is_ours_is_known_and_nothing_else() {
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
