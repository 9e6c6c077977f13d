//! Settings of the recorder, parsed from environment variables.
//!
//! Every variable can have the prefix `TRAJ_` or, for those that OpenClaw
//! defines, `OPENCLAW_`; `TRAJ_` wins. Invalid values are ignored: a typo must
//! not stop the recorder's host.

pub mod codex;
pub mod configuration;
pub mod host;
pub mod report;
pub(crate) mod toml_fault;

use std::time::Duration;

use crate::limits::Limits;
use crate::settings::host::{HostFacts, Variables};

/// What happens when a sidecar reaches its size limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum WhenFull {
    /// Recording stops with a `trace.truncated` event.
    #[default]
    Stop,
    /// The oldest lines are removed.
    Roll,
}

impl WhenFull {
    /// The name of the value.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Roll => "roll",
        }
    }

    pub(crate) fn parse(name: &str) -> Option<Self> {
        [Self::Stop, Self::Roll].into_iter().find(|when_full| when_full.as_str() == name)
    }
}

/// When written lines are synced to disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Durability {
    /// Never; the operating system decides.
    Relaxed,
    /// When `flush` is called.
    #[default]
    Flush,
    /// After every batch.
    Batch,
}

impl Durability {
    /// The name of the value.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Relaxed => "relaxed",
            Self::Flush => "flush",
            Self::Batch => "batch",
        }
    }

    pub(crate) fn parse(name: &str) -> Option<Self> {
        let all = [Self::Relaxed, Self::Flush, Self::Batch];
        all.into_iter().find(|durability| durability.as_str() == name)
    }
}

/// The recorder's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settings {
    /// Whether anything is recorded (`TRAJECTORY`).
    pub enabled: bool,
    /// A directory for all sidecars (`TRAJECTORY_DIR`), as an absolute path.
    pub trajectory_dir: Option<String>,
    /// How long a flush may take (`TRAJECTORY_FLUSH_TIMEOUT_MS`, else
    /// `AGENT_CLEANUP_TIMEOUT_MS`).
    pub flush_timeout: Duration,
    /// Limits on what is recorded (`MAX_…`, only with `TRAJ_`).
    pub limits: Limits,
    /// Events that may wait to be written (`MAX_QUEUE_EVENTS`, only with
    /// `TRAJ_`). Their slots, about 80 bytes each, are allocated at the start.
    pub queue_events: usize,
    /// Their approximate size in memory (`MAX_QUEUE_BYTES`, only with `TRAJ_`).
    pub queue_bytes: usize,
    /// What happens when a sidecar is full (`WHEN_FULL`: `stop` or `roll`, only
    /// with `TRAJ_`).
    pub when_full: WhenFull,
    /// When lines are synced to disk (`DURABILITY`: `relaxed`, `flush` or
    /// `batch`, only with `TRAJ_`).
    pub durability: Durability,
}

impl Settings {
    /// The defaults.
    #[must_use]
    pub const fn standard() -> Self {
        Self {
            enabled: true,
            trajectory_dir: None,
            flush_timeout: Duration::from_secs(10),
            limits: Limits::standard(),
            queue_events: 16_384,
            queue_bytes: 64 * 1024 * 1024,
            when_full: WhenFull::Stop,
            durability: Durability::Flush,
        }
    }

    /// The settings in effect on this host.
    #[must_use]
    pub fn from_host(host: &HostFacts) -> Self {
        let variables = &host.variables;
        let standard = Self::standard();
        let flush_timeout = ["TRAJECTORY_FLUSH_TIMEOUT_MS", "AGENT_CLEANUP_TIMEOUT_MS"]
            .iter()
            .find_map(|suffix| {
                variables.shared_values(suffix).find_map(|value| positive(Some(value)))
            })
            .map_or(standard.flush_timeout, Duration::from_millis);
        Self {
            enabled: !variables.shared("TRAJECTORY").is_some_and(is_off),
            trajectory_dir: variables.shared("TRAJECTORY_DIR").map(|path| host.absolute(path)),
            flush_timeout,
            limits: limits(variables, standard.limits),
            queue_events: count(variables, "TRAJ_MAX_QUEUE_EVENTS", standard.queue_events),
            queue_bytes: count(variables, "TRAJ_MAX_QUEUE_BYTES", standard.queue_bytes),
            when_full: word(variables, "TRAJ_WHEN_FULL", WhenFull::parse),
            durability: word(variables, "TRAJ_DURABILITY", Durability::parse),
        }
    }
}

fn limits(variables: &Variables, standard: Limits) -> Limits {
    let count = |name: &str, standard: usize| count(variables, name, standard);
    let bytes = |name: &str, standard: u64| number(variables, name).unwrap_or(standard);
    Limits {
        line_bytes: count("TRAJ_MAX_LINE_BYTES", standard.line_bytes),
        text_units: count("TRAJ_MAX_TEXT_CHARS", standard.text_units),
        array_items: count("TRAJ_MAX_ARRAY_ITEMS", standard.array_items),
        object_members: count("TRAJ_MAX_OBJECT_KEYS", standard.object_members),
        depth: count("TRAJ_MAX_DEPTH", standard.depth),
        sidecar_bytes: bytes("TRAJ_MAX_SIDECAR_BYTES", standard.sidecar_bytes),
        blob_budget_bytes: bytes("TRAJ_MAX_BLOB_BYTES", standard.blob_budget_bytes),
        preview_characters: count("TRAJ_PREVIEW_CHARS", standard.preview_characters),
    }
}

pub(crate) fn count(variables: &Variables, name: &str, standard: usize) -> usize {
    number(variables, name).and_then(|value| usize::try_from(value).ok()).unwrap_or(standard)
}

fn number(variables: &Variables, name: &str) -> Option<u64> {
    variables.values(name).find_map(|value| positive(Some(value)))
}

fn word<T: Default>(variables: &Variables, name: &str, parse: fn(&str) -> Option<T>) -> T {
    variables.values(name).find_map(parse).unwrap_or_default()
}

fn is_off(value: &str) -> bool {
    ["0", "false", "no", "off"].iter().any(|word| value.eq_ignore_ascii_case(word))
}

/// A positive integer that other runtimes can represent exactly.
pub(crate) fn positive(value: Option<&str>) -> Option<u64> {
    let digits = value?.strip_prefix('+').or(value)?;
    digits.parse().ok().filter(|number| (1..=(1 << 53) - 1).contains(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(variables: &[(&str, &str)]) -> Settings {
        Settings::from_host(&HostFacts::new(variables.iter().copied().collect(), "/cwd"))
    }

    #[test]
    fn recording_is_on_by_default() {
        for value in ["0", "false", " No ", "OFF"] {
            assert!(!settings(&[("OPENCLAW_TRAJECTORY", value)]).enabled, "{value}");
        }
        for value in ["1", "yes", "maybe", ""] {
            assert!(settings(&[("OPENCLAW_TRAJECTORY", value)]).enabled, "{value}");
        }
    }

    #[test]
    fn the_flush_timeout_has_three_sources() {
        let seconds = |variables: &[(&str, &str)]| settings(variables).flush_timeout.as_millis();
        assert_eq!(seconds(&[]), 10_000);
        assert_eq!(seconds(&[("OPENCLAW_AGENT_CLEANUP_TIMEOUT_MS", "70")]), 70);
        let both = [
            ("OPENCLAW_AGENT_CLEANUP_TIMEOUT_MS", "70"),
            ("TRAJ_TRAJECTORY_FLUSH_TIMEOUT_MS", "5"),
        ];
        assert_eq!(seconds(&both), 5);
        assert_eq!(seconds(&[("OPENCLAW_TRAJECTORY_FLUSH_TIMEOUT_MS", "-5")]), 10_000);
    }

    #[test]
    fn limits_are_settings() {
        let set = settings(&[("TRAJ_MAX_TEXT_CHARS", "100"), ("TRAJ_MAX_LINE_BYTES", "nonsense")]);
        assert_eq!(set.limits, Limits { text_units: 100, ..Limits::standard() });
        let set = settings(&[("TRAJ_MAX_QUEUE_EVENTS", "7"), ("TRAJ_MAX_QUEUE_BYTES", "0")]);
        assert_eq!((set.queue_events, set.queue_bytes), (7, Settings::standard().queue_bytes));
    }
}
