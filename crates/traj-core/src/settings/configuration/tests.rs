//! Tests of the configuration file and of what overrides it.

use super::key::KEYS;
use super::*;
use crate::limits::Limits;
use crate::settings::host::HostFacts;
use crate::settings::report::effective_settings;
use crate::settings::{Durability, Settings, WhenFull};

const FILE_PATH: &str = "/h/.config/traj/config.toml";

fn parse(text: &str) -> Result<Configuration, ConfigurationError> {
    Configuration::parse(FILE_PATH, text)
}

fn host(variables: &[(&str, &str)], text: &str) -> HostFacts {
    let all = [&[("HOME", "/h")], variables].concat();
    let facts = HostFacts::new(all.into_iter().collect(), "/cwd");
    facts.configured_by(&parse(text).expect("a configuration"))
}

const FULL: &str = r#"
roots = ["~/sessions", "beside", "/srv/runs"]
prices = "prices.toml"

[recording]
enabled = false
directory = "sidecars"
flush-timeout-ms = 50
when-full = "roll"
durability = "batch"
queue-events = 7
queue-bytes = 9

[limits]
depth = 3

[defaults]
color = "always"
pager = "less -R"
timezone = "Europe/Berlin"
codex = "codex-dev"
"#;

#[test]
fn the_file_sets_what_no_variable_does() {
    let facts = host(&[], FULL);
    let settings = Settings::from_host(&facts);
    assert!(!settings.enabled);
    assert_eq!(settings.trajectory_dir.as_deref(), Some("/h/.config/traj/sidecars"));
    assert_eq!(settings.flush_timeout.as_millis(), 50);
    assert_eq!((settings.when_full, settings.durability), (WhenFull::Roll, Durability::Batch));
    assert_eq!((settings.queue_events, settings.queue_bytes), (7, 9));
    assert_eq!(settings.limits, Limits { depth: 3, ..Limits::standard() });
    assert_eq!(facts.roots(), ["/h/sessions", "/h/.config/traj/beside", "/srv/runs"]);
    assert_eq!(facts.variables.shared("CODEX"), Some("codex-dev"));
    assert_eq!(facts.variables.get(PRICES), Some("/h/.config/traj/prices.toml"));
    let preferences = Preferences::from_host(&facts);
    assert_eq!(preferences.color.value, Color::Always);
    assert_eq!(preferences.pager.value.as_deref(), Some("less -R"));
    assert_eq!(preferences.timezone.value.as_deref(), Some("Europe/Berlin"));
    let origin = SettingOrigin::File { path: FILE_PATH.to_owned(), line: 18 };
    assert_eq!(preferences.color.origin, origin);
}

#[test]
fn every_variable_overrides_the_file() {
    for (variable, value) in [
        ("TRAJ_TRAJECTORY_FLUSH_TIMEOUT_MS", "70"),
        ("OPENCLAW_TRAJECTORY_FLUSH_TIMEOUT_MS", "70"),
        ("TRAJ_AGENT_CLEANUP_TIMEOUT_MS", "70"),
        ("OPENCLAW_AGENT_CLEANUP_TIMEOUT_MS", "70"),
    ] {
        let settings = Settings::from_host(&host(&[(variable, value)], FULL));
        assert_eq!(settings.flush_timeout.as_millis(), 70, "{variable}");
    }
    for (variable, value) in [("OPENCLAW_TRAJECTORY", "1"), ("TRAJ_TRAJECTORY", "yes")] {
        assert!(Settings::from_host(&host(&[(variable, value)], FULL)).enabled, "{variable}");
    }
    let facts = host(&[("OPENCLAW_TRAJECTORY_DIR", "/x"), ("TRAJ_ROOTS", "a:~/b::")], FULL);
    assert_eq!(Settings::from_host(&facts).trajectory_dir.as_deref(), Some("/x"));
    assert_eq!(facts.roots(), ["/cwd/a", "/h/b"]);
    let facts = host(&[("NO_COLOR", "1"), ("PAGER", "more"), ("TZ", "UTC")], FULL);
    let preferences = Preferences::from_host(&facts);
    assert_eq!(preferences.color.value, Color::Never);
    assert_eq!(preferences.color.origin.to_string(), "NO_COLOR");
    assert_eq!(preferences.pager.value.as_deref(), Some("more"));
    assert_eq!(preferences.timezone.value.as_deref(), Some("UTC"));
}

#[test]
fn an_unusable_variable_does_not_override_the_file() {
    let variables = [("TRAJ_MAX_DEPTH", "deep"), ("TRAJ_WHEN_FULL", "x"), ("TRAJ_COLOR", "red")];
    let facts = host(&variables, FULL);
    let settings = Settings::from_host(&facts);
    assert_eq!((settings.limits.depth, settings.when_full), (3, WhenFull::Roll));
    assert_eq!(Preferences::from_host(&facts).color.value, Color::Always);
    let report = effective_settings(&facts);
    let depth = report.iter().find(|setting| setting.key == Some("limits.depth"));
    assert_eq!(depth.expect("it is listed").origin.to_string(), format!("{FILE_PATH}:15"));
}

/// Every key is in the report, with the file as its origin.
#[test]
fn every_key_is_reported_with_its_line() {
    let report = effective_settings(&host(&[], FULL));
    let mut from_file = 0;
    for key in KEYS {
        let setting = report.iter().find(|setting| setting.key == Some(key.name));
        let setting = setting.unwrap_or_else(|| panic!("{} is not reported", key.name));
        assert_eq!(setting.variable, key.variable);
        from_file += usize::from(setting.origin.kind() == "file");
    }
    assert_eq!(from_file, 14, "{report:#?}");
}

#[test]
fn invalid_entries_are_reported_with_name_and_line() {
    for (text, expected) in [
        ("\n[limits]\ndepht = 3\n", "line 3: unknown key `limits.depht`"),
        ("[limits]\ndepth = 'hunter2'\n", "line 2: `limits.depth` takes a whole number above 0"),
        ("[limits]\ndepth = 0\n", "line 2: `limits.depth` takes a whole number above 0"),
        ("[limits]\ndepth = [1]\n", "line 2: `limits.depth` takes a whole number above 0"),
        ("[limits.depth]\n", "line 1: `limits.depth` takes a whole number above 0"),
        ("[recording]\nenabled = 1\n", "line 2: `recording.enabled` takes true or false"),
        (
            "[defaults]\n\ncolor = 'red'\n",
            "line 3: `defaults.color` takes one of: auto, always, never",
        ),
        ("prices = ''\n", "line 1: `prices` takes a path"),
        ("roots = [\n'a',\n'b:c']\n", "line 1: `roots` takes a list of paths without a colon"),
        ("roots = 'hunter2'\n", "line 1: `roots` takes a list of paths without a colon"),
        ("color = 1\n", "line 1: unknown key `color`"),
        ("limits = 1\n", "line 1: unknown key `limits`"),
        ("\n[telemetry]\ncolor = 'x'\n", "line 2: unknown key `telemetry`"),
    ] {
        let problems = parse(text).expect("it is TOML").problems;
        let said: Vec<_> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(said, [expected]);
    }
    let slip = parse("[limits]\ndepht = 3\n").expect("it is TOML").problems;
    let hints: Vec<_> = slip.iter().map(ConfigurationError::hint).collect();
    assert_eq!(hints, [Some("did you mean `limits.depth`?".to_owned())]);
}

/// A recorder continues with the valid values.
#[test]
fn a_typo_does_not_affect_the_rest() {
    let text = "pager = 'x'\n[recording]\nenabled = false\nwhen-full = 3\n[limits]\ndepth = 0x10\n";
    let facts = host(&[], text);
    let settings = Settings::from_host(&facts);
    assert_eq!((settings.enabled, settings.limits.depth), (false, 16));
    assert_eq!(settings.when_full, WhenFull::Stop);
    let lines: Vec<_> = parse(text).expect("it is TOML").problems.iter().map(line_of).collect();
    assert_eq!(lines, [1, 4]);
}

#[test]
fn invalid_toml_is_refused() {
    for text in
        ["\n\n[limits\n", "\n\nroots = hunter2\n", "\n\nprices = \"hunter2\n", "a = 1\n\na = 2"]
    {
        let fault = parse(text).unwrap_err();
        assert!(matches!(fault, ConfigurationError::Syntax { line: 3, .. }), "{fault:?}");
        assert!(!fault.to_string().contains("hunter2"), "{fault}");
    }
    let large = format!("#{}", " ".repeat(Reading::standard().configuration_bytes));
    assert_eq!(parse(&large), Err(ConfigurationError::TooLarge));
    assert_eq!(parse(""), Ok(Configuration::default()));
}

#[test]
fn the_location_follows_the_variables() {
    let place = |variables: &[(&str, &str)]| {
        let facts = HostFacts::new(variables.iter().copied().collect(), "/cwd");
        ConfigurationPlace::of_host(&facts).map(|place| (place.path.clone(), place.is_named()))
    };
    let home = ("HOME", "/h/");
    assert_eq!(place(&[home]), Some((FILE_PATH.to_owned(), false)));
    let shared = ("XDG_CONFIG_HOME", "/x");
    assert_eq!(place(&[home, shared]), Some(("/x/traj/config.toml".to_owned(), false)));
    assert_eq!(place(&[home, ("XDG_CONFIG_HOME", "x")]), Some((FILE_PATH.to_owned(), false)));
    let named = ("TRAJ_CONFIG", "mine.toml");
    assert_eq!(place(&[home, shared, named]), Some(("/cwd/mine.toml".to_owned(), true)));
    assert_eq!(place(&[]), None);
}
