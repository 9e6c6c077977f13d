//! Which settings are in effect, and where each came from.

use crate::host::HostFacts;
use crate::settings::{Durability, Settings, WhenFull};

/// A setting in effect.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EffectiveSetting {
    /// Its name.
    pub name: &'static str,
    /// Its value, for people.
    pub value: String,
    /// The variable it came from, or `default`.
    pub source: String,
}

/// The settings of the recorder and the places it uses, on this host.
#[must_use]
pub fn effective_settings(host: &HostFacts) -> Vec<EffectiveSetting> {
    let settings = Settings::from_host(host);
    let limits = &settings.limits;
    let shared = |suffix: &str| -> String {
        let names = [format!("TRAJ_{suffix}"), format!("OPENCLAW_{suffix}")];
        names.into_iter().find(|name| host.variables.get(name).is_some()).unwrap_or_else(default)
    };
    let first = |suffixes: &[&str]| -> String {
        suffixes
            .iter()
            .map(|suffix| shared(suffix))
            .find(|name| *name != "default")
            .unwrap_or_else(default)
    };
    let own = |name: &str| -> String {
        if host.variables.get(name).is_some() { name.to_owned() } else { default() }
    };
    let home_source = match shared("HOME") {
        name if name == "default" => own("HOME"),
        name => name,
    };
    let or_none = |value: Option<String>| value.unwrap_or_else(|| "none".to_owned());
    let when_full = match settings.when_full {
        WhenFull::Stop => "stop",
        WhenFull::Roll => "roll",
    };
    let durability = match settings.durability {
        Durability::Relaxed => "relaxed",
        Durability::Flush => "flush",
        Durability::Batch => "batch",
    };
    let setting = |name: &'static str, value: String, source: String| EffectiveSetting {
        name,
        value,
        source,
    };
    vec![
        setting(
            "recording",
            if settings.enabled { "on" } else { "off" }.to_owned(),
            shared("TRAJECTORY"),
        ),
        setting("home", or_none(host.home()), home_source),
        setting("state folder", or_none(host.state_dir()), shared("STATE_DIR")),
        setting(
            "sidecar folder",
            settings.trajectory_dir.unwrap_or_else(|| "beside each session".to_owned()),
            shared("TRAJECTORY_DIR"),
        ),
        setting(
            "flush timeout",
            format!("{} ms", settings.flush_timeout.as_millis()),
            first(&["TRAJECTORY_FLUSH_TIMEOUT_MS", "AGENT_CLEANUP_TIMEOUT_MS"]),
        ),
        setting("when full", when_full.to_owned(), own("TRAJ_WHEN_FULL")),
        setting("durability", durability.to_owned(), own("TRAJ_DURABILITY")),
        setting("event line", format!("{} bytes", limits.line_bytes), own("TRAJ_MAX_LINE_BYTES")),
        setting("text", format!("{} characters", limits.text_units), own("TRAJ_MAX_TEXT_CHARS")),
        setting("array", format!("{} items", limits.array_items), own("TRAJ_MAX_ARRAY_ITEMS")),
        setting(
            "object",
            format!("{} members", limits.object_members),
            own("TRAJ_MAX_OBJECT_KEYS"),
        ),
        setting("depth", limits.depth.to_string(), own("TRAJ_MAX_DEPTH")),
        setting(
            "sidecar",
            format!("{} bytes", limits.sidecar_bytes),
            own("TRAJ_MAX_SIDECAR_BYTES"),
        ),
        setting("blobs", format!("{} bytes", limits.blob_budget_bytes), own("TRAJ_MAX_BLOB_BYTES")),
    ]
}

fn default() -> String {
    "default".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_says_where_it_came_from() {
        let variables = [
            ("HOME", "/h"),
            ("OPENCLAW_TRAJECTORY", "off"),
            ("OPENCLAW_TRAJECTORY_DIR", "/ignored"),
            ("TRAJ_TRAJECTORY_DIR", "~/t"),
            ("OPENCLAW_AGENT_CLEANUP_TIMEOUT_MS", "70"),
            ("TRAJ_WHEN_FULL", "roll"),
        ];
        let host = HostFacts::new(variables.into_iter().collect(), "/cwd");
        let settings = effective_settings(&host);
        let of = |name: &str| {
            let found = settings.iter().find(|setting| setting.name == name).unwrap();
            (found.value.as_str(), found.source.as_str())
        };
        assert_eq!(of("recording"), ("off", "OPENCLAW_TRAJECTORY"));
        assert_eq!(of("sidecar folder"), ("/h/t", "TRAJ_TRAJECTORY_DIR"));
        assert_eq!(of("flush timeout"), ("70 ms", "OPENCLAW_AGENT_CLEANUP_TIMEOUT_MS"));
        assert_eq!(of("when full"), ("roll", "TRAJ_WHEN_FULL"));
        assert_eq!(of("home"), ("/h", "HOME"));
        assert_eq!(of("depth"), ("6", "default"));
    }
}
