//! Finds the files of an agent.

use std::path::{Path, PathBuf};

/// The files at most `depth` levels below a directory, oldest first.
#[expect(clippy::disallowed_methods, reason = "a test's own temporary directory")]
pub(super) fn files_below(
    folder: &Path,
    depth: usize,
    is_wanted: fn(&str) -> bool,
) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    for _ in 0..depth {
        let mut below = Vec::new();
        for folder in folders {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    below.push(path);
                } else if is_wanted(&entry.file_name().to_string_lossy()) {
                    let modified = entry.metadata().and_then(|facts| facts.modified()).ok();
                    files.push((modified, path));
                }
            }
        }
        folders = below;
    }
    files.sort();
    files.into_iter().map(|(_, path)| path).collect()
}
