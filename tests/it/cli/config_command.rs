//! The configuration file: what overrides it, which errors a broken file causes,
//! and that the documentation lists every key.
#![expect(clippy::disallowed_methods, reason = "the documentation is in the repository")]

use std::collections::BTreeSet;
use std::process::Output;

use serde_json::Value;
use traj_tests::export_home::{ExportHome as Home, result};
use traj_tests::rows::{HEADER, message};
use traj_tests::traj_binary::{printed, traj_command};

const FILE: &str = ".config/traj/config.toml";

/// A home with a configuration file.
fn home(text: &str) -> Home {
    let home = Home::new();
    home.folder.create_dir_all(".config/traj").unwrap();
    home.folder.write(FILE, text).unwrap();
    home
}

/// The value and the origin of a key, as `config show` reports them.
fn shown(output: &Output, key: &str) -> (String, Value) {
    let document = result(output);
    let settings = document["result"]["settings"].as_array().unwrap().iter();
    let setting = settings.into_iter().find(|setting| setting["key"] == key).unwrap();
    (setting["value"].as_str().unwrap().to_owned(), setting["origin"].clone())
}

fn said(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn a_flag_wins_over_a_variable_over_the_file_over_the_default() {
    let color = |home: &Home, variables: &[(&str, &str)], flags: &[&str]| {
        let mut command = traj_command(home.path());
        command.args(["config", "show", "--json"]).args(flags);
        let output = command.envs(variables.iter().copied()).output().unwrap();
        shown(&output, "defaults.color")
    };
    let none = Home::new();
    let set = home("[defaults]\ncolor = 'never'\n");
    let variable = [("TRAJ_COLOR", "always")];
    let (value, origin) = color(&none, &[], &[]);
    assert_eq!((value.as_str(), &origin["kind"]), ("auto", &"default".into()));
    let (value, origin) = color(&set, &[], &[]);
    assert_eq!((value.as_str(), &origin["kind"]), ("never", &"file".into()));
    assert_eq!(origin["line"], 2);
    assert_eq!(origin["path"], set.path().join(FILE).to_str().unwrap());
    let (value, origin) = color(&set, &variable, &[]);
    assert_eq!((value.as_str(), &origin["kind"]), ("always", &"environment".into()));
    assert_eq!(origin["name"], "TRAJ_COLOR");
    let (value, origin) = color(&set, &variable, &["--color", "auto"]);
    assert_eq!((value.as_str(), &origin["kind"]), ("auto", &"flag".into()));
    assert_eq!(origin["name"], "--color");
}

#[test]
fn the_file_says_whether_colours_are_used() {
    let failed =
        r#"{"role":"toolResult","toolCallId":"c","toolName":"t","content":[],"isError":true}"#;
    for (color, is_used) in [("always", true), ("never", false)] {
        let home = home(&format!("[defaults]\ncolor = '{color}'\n"));
        home.put_session(&[message("a", None, 1, failed)]);
        let shown = printed(&home.traj(&["tail", "--session", "s1.jsonl", "--transcript"]));
        assert_eq!(shown.contains("\u{1b}[31m"), is_used, "{color}: {shown:?}");
    }
}

#[test]
fn the_file_is_found_where_the_variables_say() {
    let home = home("[limits]\ndepth = 3\n");
    home.folder.create_dir_all("elsewhere/traj").unwrap();
    home.folder.write("elsewhere/traj/config.toml", "[limits]\ndepth = 4\n").unwrap();
    home.folder.write("mine.toml", "[limits]\ndepth = 5\n").unwrap();
    // Users who keep such files in one place link to them.
    home.folder.symlink("mine.toml", "linked.toml").unwrap();
    let elsewhere = home.path().join("elsewhere");
    let depth = |variables: &[(&str, &str)]| {
        let mut command = traj_command(home.path());
        command.args(["config", "show", "--json"]).envs(variables.iter().copied());
        shown(&command.output().unwrap(), "limits.depth").0
    };
    let shared = ("XDG_CONFIG_HOME", elsewhere.to_str().unwrap());
    assert_eq!(depth(&[]), "3");
    assert_eq!(depth(&[shared]), "4");
    assert_eq!(depth(&[shared, ("TRAJ_CONFIG", "linked.toml")]), "5");
    let mut named = traj_command(home.path());
    let named = named.env("TRAJ_CONFIG", "missing.toml").arg("sessions").output().unwrap();
    assert_eq!(named.status.code(), Some(2));
    assert!(said(&named).contains("hint: correct TRAJ_CONFIG"), "{}", said(&named));
    let path = printed(&home.traj(&["config", "path"]));
    assert_eq!(path.trim_end(), home.path().join(FILE).to_str().unwrap());
    // A service may have a home that is not a directory.
    let mut nowhere = traj_command(home.path());
    let nowhere = nowhere.env("HOME", "/dev/null").args(["config", "show"]).output().unwrap();
    assert!(nowhere.status.success(), "{}", said(&nowhere));
}

#[test]
fn sessions_are_looked_for_in_the_roots() {
    let home = home("roots = ['~/runs']\n");
    home.folder.create_dir_all("runs/agent/sessions").unwrap();
    home.folder.create_dir_all("other").unwrap();
    let session = |id: &str| HEADER.replace("\"s1\"", &format!("\"{id}\""));
    home.folder.write("runs/agent/sessions/far-away.jsonl", session("far-away")).unwrap();
    home.folder.write("other/near-by.jsonl", session("near-by")).unwrap();
    let listed = |variables: &[(&str, &str)]| {
        let mut command = traj_command(home.path());
        command.args(["sessions", "--json"]).envs(variables.iter().copied());
        let sessions = result(&command.output().unwrap())["result"]["sessions"].clone();
        let ids = sessions.as_array().unwrap().iter().map(|session| session["sessionId"].clone());
        ids.collect::<Vec<_>>()
    };
    assert_eq!(listed(&[]), ["far-away"]);
    assert_eq!(listed(&[("TRAJ_ROOTS", "runs:other")]).len(), 2);
    // Every command finds a session there by its name.
    assert!(home.traj(&["inspect", "far-a", "--json"]).status.success());
    assert_eq!(home.traj(&["inspect", "near-b", "--json"]).status.code(), Some(1));
}

#[test]
fn every_setting_is_listed_with_its_origin() {
    let home = home("[recording]\nwhen-full = 'roll'\n[defaults]\npager = 'more'\n");
    let mut command = traj_command(home.path());
    command.env("TRAJ_MAX_DEPTH", "9").env("TRAJ_DURABILITY", "often").env("PAGER", "less");
    let output = command.args(["config", "show", "--origin"]).output().unwrap();
    let text = printed(&output).replace(home.path().to_str().unwrap(), "[home]");
    insta::assert_snapshot!(text, @r"
    file: [home]/.config/traj/config.toml
    recording.enabled           on  (default)
    home                        [home]  (HOME)
    state folder                [home]/.openclaw  (default)
    agents folder               [home]/.openclaw  (default)
    recording.directory         beside each session  (default)
    recording.flush-timeout-ms  10000 ms  (default)
    recording.when-full         roll  ([home]/.config/traj/config.toml:2)
    recording.durability        flush  (default; TRAJ_DURABILITY is invalid)
    recording.queue-events      16384 events  (default)
    recording.queue-bytes       67108864 bytes  (default)
    limits.line-bytes           262144 bytes  (default)
    limits.text-characters      32768 characters  (default)
    limits.array-items          64 items  (default)
    limits.object-members       64 members  (default)
    limits.depth                9  (TRAJ_MAX_DEPTH)
    limits.sidecar-bytes        52428800 bytes  (default)
    limits.blob-bytes           268435456 bytes  (default)
    limits.preview-characters   256 characters  (default)
    roots                       where the agents keep sessions  (default)
    prices                      shipped with traj  (default)
    reading.line-bytes          the command's own  (default)
    defaults.codex              codex  (default)
    defaults.color              auto  (default)
    defaults.pager              less  (PAGER)
    defaults.timezone           the machine's own  (default)
    ");
}

#[test]
fn a_broken_file_is_reported_with_its_line_and_without_its_values() {
    for (text, message) in [
        ("[limits]\n\ndepht = 'hunter2'\n", "line 3: unknown key `limits.depht`"),
        ("[limits]\ndepth = 'hunter2'\n", "line 2: `limits.depth` takes a whole number above 0"),
        ("\n\npager = hunter2\n", "line 3: "),
    ] {
        let home = home(text);
        for arguments in
            [&["sessions"][..], &["inspect", "s1.jsonl"], &["config", "show"], &["rules", "list"]]
        {
            let output = home.traj(&[arguments, &["--json"]].concat());
            let error = result(&output)["error"].clone();
            assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
            assert!(error["causes"][0].as_str().unwrap().starts_with(message), "{error}");
            assert!(!error.to_string().contains("hunter2"), "{error}");
        }
        for arguments in [&["config", "path"][..], &["schema"], &["man"], &["--version"]] {
            assert!(home.traj(arguments).status.success(), "{arguments:?}");
        }
    }
    let slip = home("[limits]\ndepht = 3\n");
    let error = said(&slip.traj(&["sessions"]));
    assert!(error.contains("hint: did you mean `limits.depth`?"), "{error}");
}

#[test]
fn a_recorder_only_warns_and_uses_what_can_be_used() {
    let home = home("telemetry = true\n[recording]\ndirectory = 'sidecars'\n");
    home.folder.create_dir(".config/traj/sidecars").unwrap();
    let output = home.traj(&["record", "--session", "s1.jsonl", "--session-id", "s1"]);
    assert!(output.status.success(), "{}", said(&output));
    let warning = said(&output);
    assert!(warning.contains("warning: cannot use the configuration file"), "{warning}");
    assert!(warning.contains("line 1: unknown key `telemetry`"), "{warning}");
    // Recording stays off if the file turns it off.
    home.folder.write(FILE, "telemetry = true\n[recording]\nenabled = false\n").unwrap();
    let output = home.traj(&["record", "--session", "s1.jsonl", "--session-id", "s1", "--json"]);
    assert_eq!(result(&output)["result"]["enabled"], false, "{}", printed(&output));
    // That is not possible if the file is not TOML.
    home.folder.write(FILE, "[recording\n").unwrap();
    let output = home.traj(&["record", "--session", "s1.jsonl", "--session-id", "s1"]);
    assert!(output.status.success(), "{}", said(&output));
    assert!(said(&output).contains("line 1: "), "{}", said(&output));
}

#[test]
fn doctor_reports_the_configuration_file() {
    let state = |home: &Home| {
        let output = home.traj(&["doctor", "--json"]);
        let configuration = result(&output)["result"]["configuration"].clone();
        (output.status.code(), configuration["state"].clone(), configuration["problems"].clone())
    };
    assert_eq!(state(&Home::new()), (Some(0), "absent".into(), Value::Array(vec![])));
    assert_eq!(state(&home("")), (Some(0), "read".into(), Value::Array(vec![])));
    let (code, state_of_slip, problems) = state(&home("[limit]\n"));
    assert_eq!((code, state_of_slip), (Some(1), "unusable".into()));
    assert_eq!(problems[1], "line 1: unknown key `limit`");
    assert_eq!(problems[2], "hint: did you mean `limits`?");
    let (code, state_of_prices, problems) = state(&home("prices = 'missing.toml'\n"));
    assert_eq!((code, state_of_prices), (Some(1), "read".into()));
    assert!(problems[0].as_str().unwrap().starts_with("there is no price file"), "{problems}");
}

/// The rows of the page are exactly the keys of the program, and each names its
/// variable and its default.
#[test]
fn the_page_lists_every_key_with_its_variable_and_default() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let page = std::fs::read_to_string(root.join("docs/configuration.md")).unwrap();
    let (_, keys) = page.split_once("## Keys\n").unwrap();
    let (keys, _) = keys.split_once("\n## ").unwrap();
    let rows: BTreeSet<&str> = keys.lines().filter(|line| line.starts_with("| `")).collect();
    let document = result(&Home::new().traj(&["config", "show", "--json"]));
    let settings = document["result"]["settings"].as_array().unwrap();
    let keys: Vec<_> = settings.iter().filter(|setting| setting["key"].is_string()).collect();
    for setting in &keys {
        let text = |member: &str| setting[member].as_str().unwrap();
        let start = format!("| `{}` | `{}` | {} | ", text("key"), text("variable"), text("value"));
        assert!(rows.iter().any(|row| row.starts_with(&start)), "{start}");
    }
    assert_eq!(rows.len(), keys.len(), "{rows:#?}");
    let environment = std::fs::read_to_string(root.join("docs/environment.md")).unwrap();
    for setting in settings {
        let variable = setting["variable"].as_str().unwrap();
        assert!(environment.contains(&format!("`{variable}`")), "{variable}");
    }
}
