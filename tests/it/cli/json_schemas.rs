//! The schemas of `--json` documents: the shipped files equal the generated ones,
//! every command has one, the documentation lists them, and the output fits them.
#![expect(clippy::disallowed_methods, reason = "the documentation is in the repository")]

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use serde_json::Value;
use traj_tests::export_home::{EXPORTS, ExportHome as Home, result};
use traj_tests::json_schema::violations;
use traj_tests::rows::message;
use traj_tests::traj_binary::{names_in, printed, traj_command};

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs")
}

/// The documents that have a schema, by the words of their command.
fn documents(home: &Home) -> BTreeSet<String> {
    let names = result(&home.traj(&["schema", "--json"]))["result"]["schemas"].clone();
    let names = names.as_array().unwrap().iter().filter_map(Value::as_str);
    names.filter_map(|name| name.strip_prefix("cli/")).map(str::to_owned).collect()
}

fn schema_of(verb: &str) -> Value {
    let path = docs().join(format!("schema/cli/{verb}.schema.json"));
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn the_shipped_schemas_of_documents_are_those_of_the_types() {
    let home = Home::new();
    let documents = documents(&home);
    for verb in &documents {
        let printed = printed(&home.traj(&["schema", &format!("cli/{verb}")]));
        let path = docs().join(format!("schema/cli/{verb}.schema.json"));
        let shipped = fs::read_to_string(&path).unwrap_or_default();
        let remedy =
            format!("write it anew: traj schema cli/{verb} > docs/schema/cli/{verb}.schema.json");
        assert!(printed == shipped, "{remedy}");
    }
    let files = names_in(&docs().join("schema/cli"));
    let files = files.iter().map(|name| name.trim_end_matches(".schema.json").to_owned());
    assert_eq!(files.collect::<BTreeSet<_>>(), documents);
}

/// The commands without subcommands, their words joined by hyphens.
fn verbs(home: &Home, words: &[&str], found: &mut BTreeSet<String>) {
    let help = printed(&home.traj(&[words, &["-h"]].concat()));
    let listed = help.lines().skip_while(|line| !line.starts_with("Usage:")).skip(1);
    let names = listed.take_while(|line| *line != "Options:").filter_map(|line| {
        let line = line.strip_prefix("  ").filter(|line| line.starts_with(char::is_alphabetic))?;
        line.split(' ').next()
    });
    let names: Vec<_> = names.filter(|name| *name != "help").collect();
    for name in &names {
        verbs(home, &[words, &[name]].concat(), found);
    }
    if names.is_empty() {
        found.insert(words.join("-"));
    }
}

#[test]
fn every_command_has_a_schema_and_a_row_in_the_documentation() {
    let home = Home::new();
    let documents = documents(&home);
    let mut commands = BTreeSet::new();
    verbs(&home, &[], &mut commands);
    assert!(commands.len() > 20, "{commands:?}");
    // One prints a script and the other a manual page, with and without --json.
    let without: BTreeSet<_> = commands.difference(&documents).map(String::as_str).collect();
    assert_eq!(without, BTreeSet::from(["completions", "man"]));
    assert_eq!(documents.difference(&commands).next(), None);
    let page = fs::read_to_string(docs().join("json.md")).unwrap();
    for verb in documents {
        let words = verb.replace('-', " ");
        let row = format!("| `traj {words}` | [`cli/{verb}`](schema/cli/{verb}.schema.json) | ");
        assert!(page.contains(&row), "docs/json.md has no row {row}");
    }
}

/// Collects the names of all members in a schema.
fn members(schema: &Value, found: &mut BTreeSet<String>) {
    match schema {
        Value::Object(object) => {
            let properties = object.get("properties").and_then(Value::as_object);
            found.extend(properties.into_iter().flat_map(|named| named.keys().cloned()));
            object.values().for_each(|value| members(value, found));
        }
        Value::Array(items) => items.iter().for_each(|item| members(item, found)),
        _ => {}
    }
}

#[test]
fn the_documentation_describes_every_member_of_the_larger_documents() {
    let pages = ["json.md", "format/bundle-v1.md"];
    let pages = pages.map(|page| fs::read_to_string(docs().join(page)).unwrap()).concat();
    for verb in ["export", "inspect", "sessions", "show", "tail", "verify"] {
        let mut names = BTreeSet::new();
        members(&schema_of(verb), &mut names);
        assert!(names.len() > 10, "{verb}: {names:?}");
        // One sentence describes all members that count the rest of a list.
        for name in names.iter().filter(|name| !name.starts_with("other")) {
            let is_named = [format!("`{name}`"), format!("`{name}[]`")];
            let is_named = is_named.iter().any(|written| pages.contains(written));
            assert!(is_named, "docs/json.md does not describe `{name}` of `traj {verb}`");
        }
    }
}

/// A home with a session, a bundle, a secret, a rule file and damaged files.
fn home() -> Home {
    let home = Home::new();
    assert!(home.export(&["--output", "bundle"]).status.success());
    let reply = r#"{"role":"assistant","model":"gpt-5","provider":"openai","content":[{"type":"toolCall","id":"c1","name":"shell","arguments":{"command":"false"}}],"usage":{"input":7,"output":3}}"#;
    let failed = r#"{"role":"toolResult","toolCallId":"c1","toolName":"shell","content":[{"type":"text","text":"no such file"}],"isError":true}"#;
    home.put_session(&[
        message("a", None, 1, r#"{"role":"user","content":"do it"}"#),
        message("b", Some("a"), 2, reply),
        message("c", Some("b"), 3, failed),
    ]);
    home.folder
        .write("damaged.jsonl", "{\"type\":\"session\",\"id\":\"d\"}\n{\"type\":\"mess\n")
        .unwrap();
    let token = format!("ghp_{}", "0aB1cD2eF3".repeat(4).split_at(36).0);
    home.folder.write("secret.txt", format!("the token {token}\n")).unwrap();
    home.folder.write("noise.txt", "nothing to see\n").unwrap();
    home.folder.write("wrong.toml", "[[rules]]\nid = 3\n").unwrap();
    home.folder.create_dir("sessions").unwrap();
    home.folder.write("sessions/gone.trajectory.jsonl", "").unwrap();
    home.folder.write("sessions/sessions.json", r#"{"agent:main:k":{"sessionId":"s1"}}"#).unwrap();
    home
}

fn run(home: &Home, arguments: &[&str], input: &str) -> Output {
    let mut command = traj_command(home.path());
    command.args(arguments).arg("--json");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // The command may end without reading.
    child.stdin.take().unwrap().write_all(input.as_bytes()).ok();
    child.wait_with_output().unwrap()
}

/// Runs a command and checks its document.
fn check(home: &Home, verb: &str, arguments: &[&str], is_done: bool) {
    let output = run(home, arguments, "not an event\n");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.success(), is_done, "{arguments:?}: {}{said}", printed(&output));
    // `redact` writes its document to standard error.
    let text = if verb == "redact" && is_done { said } else { printed(&output) };
    let is_lines = verb == "tail" && is_done;
    let parts: Vec<&str> = if is_lines { text.lines().collect() } else { vec![&text] };
    assert!(!parts.is_empty(), "{arguments:?}");
    for part in parts {
        let document: Value = serde_json::from_str(part).unwrap();
        let found = violations(&schema_of(verb), &document);
        assert_eq!(found, Vec::<String>::new(), "{arguments:?}: {document}");
    }
}

#[test]
fn documents_of_errors_fit_their_schemas() {
    let home = home();
    for verb in ["view", "convert", "import"] {
        let more: &[&str] = match verb {
            "convert" => &["--to", "csv", "--output", "calls.csv"],
            "import" => &["--output", "imported"],
            _ => &[],
        };
        check(&home, verb, &[&[verb, "missing"], more].concat(), false);
    }
}

/// Cases of a dataset: the first one writes it.
const SHIPPING: &[(&str, &[&str], bool)] = &[
    ("ship", &["ship", "s1.jsonl", "--to", "lake"], true),
    ("ship", &["ship", "missing.jsonl", "--to", "lake"], false),
    ("ship", &["ship", "--to", "lake"], false),
    ("lake-verify", &["lake", "verify", "--at", "lake"], true),
    ("lake-verify", &["lake", "verify", "--at", "nowhere"], false),
    ("lake-forget", &["lake", "forget", "s1", "--at", "lake", "--dry-run"], true),
    ("lake-forget", &["lake", "forget", "nobody", "--at", "lake", "--dry-run"], false),
];

#[test]
fn documents_fit_their_schemas() {
    let home = home();
    let bundle = format!("{EXPORTS}/bundle");
    let record = ["record", "--session", "s1.jsonl", "--session-id", "s1"];
    let trim = ["trim", "--session", "s1.jsonl"];
    let explain = ["codex", "explain", "--session", "s1.jsonl"];
    let job = ["lake", "job", "--engine", "duckdb", "--at", "lake"];
    let cases: &[(&str, &[&str], bool)] = &[
        ("record", &record, false),
        ("record", &["record", "--session", "gone/s.jsonl", "--session-id", "s"], false),
        ("export", &["export", "--session", "s1.jsonl", "--workspace", "ws"], true),
        ("export", &["export", "--session", "missing.jsonl"], false),
        ("import", &["import", "s1.jsonl", "--workspace", "ws", "--output", "imported"], true),
        ("verify", &["verify", &bundle], true),
        ("verify", &["verify", "noise.txt"], false),
        ("inspect", &["inspect", &bundle], true),
        ("inspect", &["inspect", "s1.jsonl"], true),
        ("inspect", &["inspect", "missing"], false),
        ("show", &["show", &bundle], true),
        ("show", &["show", "s1.jsonl"], true),
        ("show", &["show", "missing"], false),
        ("view", &["view", &bundle, "--output", "bundle.html"], true),
        ("view", &["view", "s1.jsonl"], true),
        ("convert", &["convert", &bundle, "--to", "csv", "--output", "calls.csv"], true),
        ("sessions", &["sessions", "--store", "sessions/sessions.json"], true),
        ("sessions", &["sessions", "--store", "sessions/sessions.json", "--keys"], true),
        ("sessions", &["sessions", "--bogus"], false),
        ("tail", &["tail", "--session", "s1.jsonl", "--transcript"], true),
        ("tail", &["tail", "--session", "missing.jsonl"], false),
        ("trim", &[&trim[..], &["--tool-call", "c1"]].concat(), true),
        ("trim", &[&trim[..], &["--undo"]].concat(), true),
        ("trim", &[&trim[..], &["--undo"]].concat(), false),
        ("repair", &["repair", "s1.jsonl"], true),
        ("repair", &["repair", "damaged.jsonl"], false),
        ("repair", &["repair", "damaged.jsonl", "--write"], true),
        ("repair", &["repair", "missing.jsonl"], false),
        ("prune", &["prune", "--sessions", "sessions", "--dry-run"], true),
        ("prune", &["prune", "--sessions", "missing"], false),
        ("lake-views", &["lake", "views", "--engine", "spark", "--at", "s3://b/p"], true),
        ("lake-views", &["lake", "views", "--engine", "spark", "--at", "az://b/p"], false),
        ("lake-job", &[&job[..], &["compact", "--day", "2026-11-17"]].concat(), true),
        ("lake-job", &[&job[..], &["compact", "--day", "2026-11-31"]].concat(), false),
        ("lake-job", &[&job[..], &["iceberg"]].concat(), true),
        ("lake-job", &[&job[..], &["iceberg", "--day", "2026-11-17"]].concat(), false),
        ("query", &["query", "select 1", "--at", "lake", "--duckdb", "no-such-program"], false),
        ("query", &["query", "--report", "cost", "--at", "ftp://lake"], false),
        ("doctor", &["doctor", "--probe"], true),
        ("doctor", &["doctor", "--bogus"], false),
        ("config-show", &["config", "show"], true),
        ("config-show", &["config", "show", "--color", "never"], true),
        ("config-path", &["config", "path"], true),
        ("redact", &["redact", "--text"], true),
        ("redact", &["redact", "--rules", "wrong.toml"], false),
        ("scan", &["scan", "secret.txt"], false),
        ("scan", &["scan", "noise.txt"], true),
        ("scan", &["scan", "missing"], false),
        ("rules-list", &["rules", "list"], true),
        ("rules-explain", &["rules", "explain", "github-pat"], true),
        ("rules-explain", &["rules", "explain", "nothing"], false),
        ("rules-check", &["rules", "check"], true),
        ("schema", &["schema"], true),
        ("schema", &["schema", "cli/schema"], true),
        ("schema", &["schema", "nothing"], false),
        ("codex-explain", &explain, true),
        ("codex-list", &["codex", "list", "--session", "s1.jsonl"], true),
        ("codex-detach", &["codex", "detach", "--session", "s1.jsonl"], true),
        ("codex-status", &["codex", "status", "--bogus"], false),
        ("codex-turn", &["codex", "turn", "--bogus"], false),
        ("codex-bind", &["codex", "bind", "--bogus"], false),
    ];
    let mut seen = BTreeSet::new();
    for (verb, arguments, is_done) in cases.iter().chain(SHIPPING) {
        check(&home, verb, arguments, *is_done);
        seen.insert((*verb).to_owned());
    }
    assert_eq!(seen, documents(&home), "every document is printed here");
}
