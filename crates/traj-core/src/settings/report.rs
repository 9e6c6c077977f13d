//! The settings in effect, and the origin of each.

use crate::limits::Reading;
use crate::settings::configuration::{self, Preferences, SettingOrigin, key_of_variable};
use crate::settings::host::HostFacts;
use crate::settings::{Durability, Settings, WhenFull, positive};

/// A setting in effect.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EffectiveSetting {
    /// Its name.
    pub name: &'static str,
    /// Its key in the configuration file, if it has one.
    pub key: Option<&'static str>,
    /// The variable that sets it.
    pub variable: &'static str,
    /// Its value, for display.
    pub value: String,
    /// Where the value comes from.
    pub origin: SettingOrigin,
}

/// The settings in effect on this host, and the directories that it uses.
#[must_use]
pub fn effective_settings(host: &HostFacts) -> Vec<EffectiveSetting> {
    let mut report = SettingsReport { host, settings: Vec::new() };
    report.places();
    report.recording();
    report.limits();
    report.reading();
    report.settings
}

struct SettingsReport<'h> {
    host: &'h HostFacts,
    settings: Vec<EffectiveSetting>,
}

impl SettingsReport<'_> {
    fn places(&mut self) {
        let host = self.host;
        let settings = Settings::from_host(host);
        let recording = if settings.enabled { "on" } else { "off" };
        self.add("recording", "TRAJ_TRAJECTORY", recording, self.shared("TRAJECTORY"));
        let home = match self.shared("HOME") {
            origin if origin.is_default() => host.variables.origin("HOME"),
            origin => origin,
        };
        self.add("home", "TRAJ_HOME", or_none(host.home()), home);
        let state = or_none(host.state_dir());
        self.add("state folder", "TRAJ_STATE_DIR", state, self.shared("STATE_DIR"));
        let agents = match self.shared("PATH") {
            origin if origin.is_default() => self.shared("STATE_DIR"),
            origin => origin,
        };
        self.add("agents folder", "TRAJ_PATH", or_none(host.agents_root()), agents);
        let sidecars = settings.trajectory_dir.unwrap_or_else(|| "beside each session".to_owned());
        self.add("sidecar folder", "TRAJ_TRAJECTORY_DIR", sidecars, self.shared("TRAJECTORY_DIR"));
    }

    fn recording(&mut self) {
        let settings = Settings::from_host(self.host);
        let timeouts = ["TRAJECTORY_FLUSH_TIMEOUT_MS", "AGENT_CLEANUP_TIMEOUT_MS"];
        let timeouts = timeouts.map(|suffix| self.shared_number(suffix));
        let set = timeouts.iter().find(|origin| !origin.is_default());
        let timeout =
            set.or_else(|| timeouts.iter().find(|origin| **origin != SettingOrigin::DEFAULT));
        self.add(
            "flush timeout",
            "TRAJ_AGENT_CLEANUP_TIMEOUT_MS",
            format!("{} ms", settings.flush_timeout.as_millis()),
            timeout.cloned().unwrap_or(SettingOrigin::DEFAULT),
        );
        let when_full = self.usable("TRAJ_WHEN_FULL", |word| WhenFull::parse(word).is_some());
        self.add("when full", "TRAJ_WHEN_FULL", settings.when_full.as_str(), when_full);
        let durability = self.usable("TRAJ_DURABILITY", |word| Durability::parse(word).is_some());
        self.add("durability", "TRAJ_DURABILITY", settings.durability.as_str(), durability);
        self.number("queue", "TRAJ_MAX_QUEUE_EVENTS", format!("{} events", settings.queue_events));
        self.number(
            "queue size",
            "TRAJ_MAX_QUEUE_BYTES",
            format!("{} bytes", settings.queue_bytes),
        );
    }

    fn limits(&mut self) {
        let limits = Settings::from_host(self.host).limits;
        self.number("event line", "TRAJ_MAX_LINE_BYTES", format!("{} bytes", limits.line_bytes));
        self.number("text", "TRAJ_MAX_TEXT_CHARS", format!("{} characters", limits.text_units));
        self.number("array", "TRAJ_MAX_ARRAY_ITEMS", format!("{} items", limits.array_items));
        self.number("object", "TRAJ_MAX_OBJECT_KEYS", format!("{} members", limits.object_members));
        self.number("depth", "TRAJ_MAX_DEPTH", limits.depth.to_string());
        self.number("sidecar", "TRAJ_MAX_SIDECAR_BYTES", format!("{} bytes", limits.sidecar_bytes));
        self.number("blobs", "TRAJ_MAX_BLOB_BYTES", format!("{} bytes", limits.blob_budget_bytes));
        let preview = format!("{} characters", limits.preview_characters);
        self.number("preview", "TRAJ_PREVIEW_CHARS", preview);
    }

    fn reading(&mut self) {
        let host = self.host;
        let variables = &host.variables;
        let roots = match host.roots() {
            roots if roots.is_empty() => "where the agents keep sessions".to_owned(),
            roots => roots.join(":"),
        };
        self.add("roots", configuration::ROOTS, roots, variables.origin(configuration::ROOTS));
        let prices = host.price_file().unwrap_or_else(|| "shipped with traj".to_owned());
        self.add("prices", configuration::PRICES, prices, variables.origin(configuration::PRICES));
        let line = self.usable(Reading::LINE_BYTES, |value| positive(Some(value)).is_some());
        let longest = match line.is_default() {
            true => "the command's own".to_owned(),
            false => format!("{} bytes", Reading::from_host(host).input_line_bytes),
        };
        self.add("longest line", Reading::LINE_BYTES, longest, line);
        let codex = variables.shared("CODEX").unwrap_or("codex").to_owned();
        self.add("codex", "TRAJ_CODEX", codex, self.shared("CODEX"));
        let shown = Preferences::from_host(host);
        self.add("color", "TRAJ_COLOR", shown.color.value.as_str(), shown.color.origin);
        let pager = shown.pager.value.unwrap_or_else(|| "the command's own".to_owned());
        self.add("pager", "TRAJ_PAGER", pager, shown.pager.origin);
        let timezone = shown.timezone.value.unwrap_or_else(|| "the machine's own".to_owned());
        self.add("timezone", "TRAJ_TIMEZONE", timezone, shown.timezone.origin);
    }

    fn add(
        &mut self,
        name: &'static str,
        variable: &'static str,
        value: impl Into<String>,
        origin: SettingOrigin,
    ) {
        let (key, value) = (key_of_variable(variable).map(|key| key.name), value.into());
        self.settings.push(EffectiveSetting { name, key, variable, value, origin });
    }

    fn number(&mut self, name: &'static str, variable: &'static str, value: String) {
        let origin = self.usable(variable, |value| positive(Some(value)).is_some());
        self.add(name, variable, value, origin);
    }

    /// The origin of a value that either prefix can set.
    fn shared(&self, suffix: &str) -> SettingOrigin {
        let variables = &self.host.variables;
        variables
            .shared_name(suffix)
            .map_or_else(|| variables.origin(&format!("TRAJ_{suffix}")), SettingOrigin::Variable)
    }

    fn shared_number(&self, suffix: &str) -> SettingOrigin {
        let set = self.host.variables.shared_name(suffix);
        let configured = format!("TRAJ_{suffix}");
        let name = set.as_deref().unwrap_or(&configured);
        self.either(name, &configured, |value| positive(Some(value)).is_some())
    }

    fn usable(&self, name: &str, is_usable: impl Fn(&str) -> bool) -> SettingOrigin {
        self.either(name, name, is_usable)
    }

    /// The origin of a value: the variable `set` if its value is usable, else
    /// the file's value for `configured`. An unusable variable is reported as
    /// ignored.
    fn either(
        &self,
        set: &str,
        configured: &str,
        is_usable: impl Fn(&str) -> bool,
    ) -> SettingOrigin {
        let variables = &self.host.variables;
        let value = variables.environment(set);
        if value.is_some_and(is_usable) {
            return SettingOrigin::Variable(set.to_owned());
        }
        match variables.configured(configured) {
            Some((_, origin)) => origin.clone(),
            None => SettingOrigin::Default { ignored: value.map(|_| set.to_owned()) },
        }
    }
}

fn or_none(value: Option<String>) -> String {
    value.unwrap_or_else(|| "none".to_owned())
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
        fn settings_follow_from_their_origins_alone(all in environment()) {
            let settings = report(&all);
            // Any path may start with `~`.
            let mut sources: BTreeMap<_, _> =
                all.get_key_value("HOME").map(|(name, value)| (*name, *value)).into_iter().collect();
            for setting in &settings {
                let SettingOrigin::Variable(source) = &setting.origin else { continue };
                let source = all.get_key_value(source.as_str());
                prop_assert!(source.is_some_and(|(_, value)| !value.trim().is_empty()), "{:?}", setting);
                sources.extend(source);
            }
            let alone = report(&sources);
            for (setting, alone) in settings.iter().zip(&alone) {
                prop_assert_eq!(&setting.value, &alone.value, "{}", setting.name);
            }
        }

        #[test]
        fn defaults_do_not_depend_on_variables(all in environment()) {
            let bare = report(&BTreeMap::new());
            for (setting, bare) in report(&all).iter().zip(&bare) {
                // These are in the home directory, whatever its origin.
                let is_in_home = ["state folder", "agents folder"].contains(&setting.name);
                if setting.origin.is_default() && !is_in_home {
                    prop_assert_eq!(&setting.value, &bare.value, "{}", setting.name);
                }
            }
        }
    }

    #[test]
    fn an_unusable_variable_is_reported() {
        let all = [("TRAJ_MAX_DEPTH", "deep"), ("TRAJ_TRAJECTORY_FLUSH_TIMEOUT_MS", "-3")];
        let settings = report(&all.into_iter().collect());
        let of = |name: &str| settings.iter().find(|setting| setting.name == name).unwrap();
        assert_eq!(of("depth").origin.to_string(), "default; TRAJ_MAX_DEPTH is invalid");
        let timeout = of("flush timeout").origin.to_string();
        assert_eq!(timeout, "default; TRAJ_TRAJECTORY_FLUSH_TIMEOUT_MS is invalid");
    }

    #[test]
    fn every_setting_has_an_origin() {
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
            (found.value.clone(), found.origin.to_string())
        };
        assert_eq!(of("recording"), ("off".to_owned(), "OPENCLAW_TRAJECTORY".to_owned()));
        assert_eq!(of("sidecar folder"), ("/h/t".to_owned(), "TRAJ_TRAJECTORY_DIR".to_owned()));
        assert_eq!(
            of("flush timeout"),
            ("70 ms".to_owned(), "OPENCLAW_AGENT_CLEANUP_TIMEOUT_MS".to_owned())
        );
        assert_eq!(of("when full"), ("roll".to_owned(), "TRAJ_WHEN_FULL".to_owned()));
        assert_eq!(of("home"), ("/h".to_owned(), "HOME".to_owned()));
        assert_eq!(of("depth"), ("6".to_owned(), "default".to_owned()));
    }
}
