//! Paths as strings: joined and compared, never opened.

/// Resolves `.` and `..` lexically; `None` if the path would leave the root or,
/// if relative, its base.
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

/// Resolves `path` in `directory`; an empty `directory` leaves it unchanged.
pub(super) fn join(directory: &str, path: &str) -> String {
    if path.starts_with('/') || directory.is_empty() {
        path.to_owned()
    } else {
        format!("{}/{path}", directory.trim_end_matches('/'))
    }
}

/// The directory of a file; empty for a plain file name.
pub(super) fn directory_of(file: &str) -> &str {
    match file.rsplit_once('/') {
        Some(("", _)) => "/",
        Some((directory, _)) => directory,
        None => "",
    }
}

/// The last component of a path, with either kind of separator.
pub(super) fn name_of(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or_default()
}
