//! Notifies a caller when something in a directory changes.

use std::path::Path;
use std::sync::mpsc::Sender;

use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};

/// Sends a message whenever something in a directory changes, until it is
/// dropped.
///
/// Notification is best effort: not every filesystem supports it, and changes
/// can be missed. So callers must also poll.
#[derive(Debug)]
pub struct FolderWatch {
    _watcher: RecommendedWatcher,
}

impl FolderWatch {
    /// Watches the directory at `path`, and sends `word` to `wake` on every
    /// change. Returns `None` if watching is not possible.
    #[must_use]
    pub fn start<T: Clone + Send + 'static>(path: &Path, wake: Sender<T>, word: T) -> Option<Self> {
        let tell = move |event: notify::Result<notify::Event>| {
            // Reads are ignored, because the caller's own reads would wake it.
            if event.is_ok_and(|event| !event.kind.is_access()) {
                // The receiver may be gone.
                wake.send(word.clone()).ok();
            }
        };
        let mut watcher = notify::recommended_watcher(tell).ok()?;
        watcher.watch(path, RecursiveMode::NonRecursive).ok()?;
        Some(Self { _watcher: watcher })
    }
}
