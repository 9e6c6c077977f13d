//! Values that are nested too deeply to be walked recursively.

use super::{Json, MAX_DEPTH, Object};

impl Json<'_> {
    /// Replaces every container inside [`MAX_DEPTH`] others with the marker
    /// that parsing leaves there, so that code may walk the value recursively.
    ///
    /// Only values built by hand can need this.
    ///
    /// ```
    /// use traj_core::json::Json;
    ///
    /// let mut deep = (0..1_000_000).fold(Json::Null, |inside, _| Json::Array(vec![inside]));
    /// deep.limit_depth();
    /// assert!(deep.to_line().contains("trajectory-depth-limit"));
    /// ```
    pub fn limit_depth(&mut self) {
        let mut waiting = vec![(self, 0)];
        while let Some((value, depth)) = waiting.pop() {
            match value {
                Json::Array(_) | Json::Object(_) if depth == MAX_DEPTH => {
                    std::mem::replace(value, depth_marker()).dismantle();
                }
                Json::Array(items) => {
                    waiting.extend(items.iter_mut().map(|item| (item, depth + 1)));
                }
                Json::Object(object) => {
                    waiting.extend(object.iter_mut().map(|(_, member)| (member, depth + 1)));
                }
                Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
            }
        }
    }

    /// Drops the value without recursion, however deep it is.
    ///
    /// ```
    /// use traj_core::json::Json;
    ///
    /// let deep = (0..1_000_000).fold(Json::Null, |inside, _| Json::Array(vec![inside]));
    /// deep.dismantle();
    /// ```
    pub fn dismantle(self) {
        let mut waiting = vec![self];
        while let Some(value) = waiting.pop() {
            match value {
                Json::Array(items) => waiting.extend(items),
                Json::Object(object) => waiting.extend(object.into_iter().map(|(_, value)| value)),
                Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
            }
        }
    }
}

/// Whether a JSON text has containers inside more than [`MAX_DEPTH`] others, which
/// [`Json::parse`] replaces by a marker.
#[must_use]
pub fn exceeds_depth(text: &[u8]) -> bool {
    // Most texts are too short for so many brackets.
    if text.len() <= 2 * MAX_DEPTH {
        return false;
    }
    let mut depth = 0_usize;
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            // A string ends at the next quote that is not escaped.
            b'"' => {
                while let Some(byte) = bytes.next() {
                    match byte {
                        b'"' => break,
                        b'\\' => _ = bytes.next(),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
        if depth > MAX_DEPTH {
            return true;
        }
    }
    false
}

/// The marker in place of a container that is nested too deeply.
pub(super) fn depth_marker() -> Json<'static> {
    let mut marker = Object::with_capacity(3);
    marker.push("truncated", true);
    marker.push("reason", "trajectory-depth-limit");
    marker.push("limitDepth", MAX_DEPTH);
    Json::Object(marker)
}
