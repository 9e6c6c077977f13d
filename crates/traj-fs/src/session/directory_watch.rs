//! Waking up when something happens in a folder.

use std::path::Path;
use std::sync::mpsc::Sender;

use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};

/// Sends a word whenever something in a folder changes, until it is dropped.
///
/// Notification is a convenience: not every filesystem has it, and none
/// promises to tell everything. Whoever waits for the word also looks by the
/// clock.
#[derive(Debug)]
pub struct FolderWatch {
    _watcher: RecommendedWatcher,
}

impl FolderWatch {
    /// Watches the folder at `path`; `None` where that is not possible.
    #[must_use]
    pub fn start<T: Clone + Send + 'static>(path: &Path, wake: Sender<T>, word: T) -> Option<Self> {
        let tell = move |event: notify::Result<notify::Event>| {
            // Reading wakes no one, or we would wake ourselves.
            if event.is_ok_and(|event| !event.kind.is_access()) {
                // Whoever waited may be gone.
                wake.send(word.clone()).ok();
            }
        };
        let mut watcher = notify::recommended_watcher(tell).ok()?;
        watcher.watch(path, RecursiveMode::NonRecursive).ok()?;
        Some(Self { _watcher: watcher })
    }
}
