//! Reasoning effort.

use crate::binding::BindingProfile;

/// The effort to send for a requested level; `None` leaves the choice to the
/// model.
///
/// Modern models do not support `minimal` and get `low` instead.
#[must_use]
pub fn reasoning_effort(
    level: &str,
    model: &str,
    profile: &BindingProfile,
) -> Option<&'static str> {
    let model = model.trim().to_lowercase();
    let is_modern = profile.modern_models.contains(&model);
    match level {
        "minimal" if is_modern => Some("low"),
        "minimal" => Some("minimal"),
        "low" => Some("low"),
        "medium" => Some("medium"),
        "high" => Some("high"),
        "xhigh" => Some("xhigh"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scenario 45.
    #[test]
    fn levels_map_by_model() {
        let profile = BindingProfile::standard();
        let rows = [
            ("minimal", " GPT-5.5 ", Some("low")),
            ("minimal", "gpt-4", Some("minimal")),
            ("low", "gpt-5.5", Some("low")),
            ("medium", "gpt-5.5", Some("medium")),
            ("high", "gpt-4", Some("high")),
            ("xhigh", "gpt-4", Some("xhigh")),
            ("off", "gpt-5.5", None),
            ("adaptive", "gpt-5.5", None),
            ("max", "gpt-4", None),
        ];
        for (level, model, expected) in rows {
            assert_eq!(reasoning_effort(level, model, &profile), expected, "{level} on {model}");
        }
    }
}
