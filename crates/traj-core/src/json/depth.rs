//! Values that are nested too deep to be walked on the stack.

use super::{Json, MAX_DEPTH, Object};

impl Json<'_> {
    /// Puts the marker that reading puts there in the place of every container
    /// with [`MAX_DEPTH`] others around it, so that walkers may recurse.
    ///
    /// Only a value that was put together by hand can need it.
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

/// Replaces a container that is nested too deeply.
pub(super) fn depth_marker() -> Json<'static> {
    let mut marker = Object::with_capacity(3);
    marker.push("truncated", true);
    marker.push("reason", "trajectory-depth-limit");
    marker.push("limitDepth", MAX_DEPTH);
    Json::Object(marker)
}
