//! Which settings are in effect, and where each came from.

use crate::host::HostFacts;
use crate::settings::{Durability, Settings, WhenFull, positive};

/// A setting in effect.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EffectiveSetting {
    /// Its name.
    pub name: &'static str,
    /// Its value, for people.
    pub value: String,
    /// The variable it came from, or `default`, with the variable that is set
    /// but says nothing usable.
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
    // A variable that is set to something else is not where the value came from.
    let usable = |name: &str, is_usable: &dyn Fn(&str) -> bool| -> String {
        match host.variables.get(name) {
            Some(value) if is_usable(value) => name.to_owned(),
            Some(_) => format!("default; {name} is not usable"),
            None => default(),
        }
    };
    let number = |name: &str| usable(name, &|value| positive(Some(value)).is_some());
    let word = |name: &str, words: &[&str]| usable(name, &|value| words.contains(&value));
    let own = |name: &str| usable(name, &|_| true);
    let timeouts = ["TRAJECTORY_FLUSH_TIMEOUT_MS", "AGENT_CLEANUP_TIMEOUT_MS"];
    let timeouts = timeouts.map(|suffix| number(&shared(suffix)));
    let is_source = |source: &&String| !source.starts_with("default");
    let is_told = |source: &&String| **source != "default";
    let timeout = timeouts.iter().find(is_source).or_else(|| timeouts.iter().find(is_told));
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
            timeout.cloned().unwrap_or_else(default),
        ),
        setting("when full", when_full.to_owned(), word("TRAJ_WHEN_FULL", &["stop", "roll"])),
        setting(
            "durability",
            durability.to_owned(),
            word("TRAJ_DURABILITY", &["relaxed", "flush", "batch"]),
        ),
        setting(
            "event line",
            format!("{} bytes", limits.line_bytes),
            number("TRAJ_MAX_LINE_BYTES"),
        ),
        setting("text", format!("{} characters", limits.text_units), number("TRAJ_MAX_TEXT_CHARS")),
        setting("array", format!("{} items", limits.array_items), number("TRAJ_MAX_ARRAY_ITEMS")),
        setting(
            "object",
            format!("{} members", limits.object_members),
            number("TRAJ_MAX_OBJECT_KEYS"),
        ),
        setting("depth", limits.depth.to_string(), number("TRAJ_MAX_DEPTH")),
        setting(
            "sidecar",
            format!("{} bytes", limits.sidecar_bytes),
            number("TRAJ_MAX_SIDECAR_BYTES"),
        ),
        setting(
            "blobs",
            format!("{} bytes", limits.blob_budget_bytes),
            number("TRAJ_MAX_BLOB_BYTES"),
        ),
    ]
}

fn default() -> String {
    "default".to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    const VARIABLES: [&str; 18] = [
        "HOME",
        "OPENCLAW_HOME",
        "TRAJ_HOME",
        "OPENCLAW_STATE_DIR",
        "TRAJ_STATE_DIR",
        "OPENCLAW_TRAJECTORY",
        "TRAJ_TRAJECTORY",
        "OPENCLAW_TRAJECTORY_DIR",
        "TRAJ_TRAJECTORY_DIR",
        "TRAJ_TRAJECTORY_FLUSH_TIMEOUT_MS",
        "OPENCLAW_TRAJECTORY_FLUSH_TIMEOUT_MS",
        "OPENCLAW_AGENT_CLEANUP_TIMEOUT_MS",
        "TRAJ_WHEN_FULL",
        "TRAJ_DURABILITY",
        "TRAJ_MAX_DEPTH",
        "TRAJ_MAX_LINE_BYTES",
        "TRAJ_MAX_BLOB_BYTES",
        "PATH",
    ];

    fn environment() -> impl Strategy<Value = BTreeMap<&'static str, &'static str>> {
        let values = [
            "", " ", "0", "5", " 70 ", "-3", "roll", "stop", "batch", "off", "~/t", "/x",
            "nonsense",
        ];
        let variable = proptest::sample::select(VARIABLES.to_vec());
        proptest::collection::btree_map(variable, proptest::sample::select(values.to_vec()), 0..10)
    }

    fn report(variables: &BTreeMap<&'static str, &'static str>) -> Vec<EffectiveSetting> {
        effective_settings(&HostFacts::new(variables.clone().into_iter().collect(), "/cwd"))
    }

    proptest! {
        #[test]
        fn a_source_is_set_and_the_sources_alone_have_the_same_effect(all in environment()) {
            let settings = report(&all);
            // Any path may begin with a `~`.
            let mut sources: BTreeMap<_, _> =
                all.get_key_value("HOME").map(|(name, value)| (*name, *value)).into_iter().collect();
            for setting in &settings {
                if setting.source.starts_with("default") {
                    continue;
                }
                let source = all.get_key_value(setting.source.as_str());
                prop_assert!(source.is_some_and(|(_, value)| !value.trim().is_empty()), "{:?}", setting);
                sources.extend(source);
            }
            let alone = report(&sources);
            for (setting, alone) in settings.iter().zip(&alone) {
                prop_assert_eq!(&setting.value, &alone.value, "{}", setting.name);
            }
        }

        #[test]
        fn what_comes_from_no_variable_is_as_without_any(all in environment()) {
            let bare = report(&BTreeMap::new());
            for (setting, bare) in report(&all).iter().zip(&bare) {
                // The state folder lies in the home folder, wherever that came from.
                if setting.source.starts_with("default") && setting.name != "state folder" {
                    prop_assert_eq!(&setting.value, &bare.value, "{}", setting.name);
                }
            }
        }
    }

    #[test]
    fn a_variable_that_says_nothing_usable_is_told() {
        let all = [("TRAJ_MAX_DEPTH", "deep"), ("TRAJ_TRAJECTORY_FLUSH_TIMEOUT_MS", "-3")];
        let settings = report(&all.into_iter().collect());
        let of = |name: &str| settings.iter().find(|setting| setting.name == name).unwrap();
        assert_eq!(of("depth").source, "default; TRAJ_MAX_DEPTH is not usable");
        let timeout = &of("flush timeout").source;
        assert_eq!(timeout, "default; TRAJ_TRAJECTORY_FLUSH_TIMEOUT_MS is not usable");
    }

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
