//! Paths as text: joined and compared, never opened.

/// Resolves `.` and `..` by text; `None` when the path would leave the root, or
/// where a relative one starts.
pub(crate) fn normalise(path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    let root = if path.starts_with('/') { "/" } else { "" };
    Some(format!("{root}{}", parts.join("/")))
}

/// A path that `path` names when it is read in `directory`; empty is where
/// relative paths start.
pub(super) fn join(directory: &str, path: &str) -> String {
    if path.starts_with('/') || directory.is_empty() {
        path.to_owned()
    } else {
        format!("{}/{path}", directory.trim_end_matches('/'))
    }
}

/// The directory of a file; empty for a plain name.
pub(super) fn directory_of(file: &str) -> &str {
    match file.rsplit_once('/') {
        Some(("", _)) => "/",
        Some((directory, _)) => directory,
        None => "",
    }
}

/// The last part of a path, however its parts are divided.
pub(super) fn name_of(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or_default()
}
