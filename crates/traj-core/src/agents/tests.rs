//! What the table says on a host.

use super::*;
use crate::settings::host::HostFacts;

fn host(variables: &[(&str, &str)]) -> HostFacts {
    let home = [("HOME", "/h")];
    HostFacts::new(home.iter().chain(variables).copied().collect(), "/w/app/")
}

/// Where an agent's files are, each as `FOLDER: PATTERN`.
fn places(agent: &str, variables: &[(&str, &str)]) -> Vec<String> {
    let locations = Agent::named(agent).unwrap().locations(&host(variables));
    let shown = locations.into_iter().map(|location| match location.wanted {
        Wanted::Like(pattern, _) => format!("{}: {}", location.folder, pattern.as_str()),
        Wanted::Named(name, _) => format!("{}: ={name}", location.folder),
    });
    shown.collect()
}

#[test]
fn the_table_is_sorted_and_every_name_is_of_one_agent() {
    let names: Vec<&str> = Agent::all().iter().map(|agent| agent.name).collect();
    assert!(names.is_sorted());
    let aliases = Agent::all().iter().flat_map(|agent| agent.aliases);
    let mut all: Vec<&str> = names.iter().chain(aliases).copied().collect();
    all.sort_unstable();
    assert!(all.windows(2).all(|pair| pair.first() != pair.last()), "{all:?}");
    assert!(all.iter().all(|name| Agent::named(name).is_some()));
    assert!(Agent::named("main").is_none());
}

#[test]
fn the_first_variable_that_is_set_replaces_the_defaults() {
    let usual = ["/h/.config/claude: projects/*/*.jsonl", "/h/.claude: projects/*/*.jsonl"];
    assert_eq!(places("claude", &[]), usual);
    let moved = places("claude", &[("CLAUDE_CONFIG_DIR", "~/c")]);
    assert_eq!(moved, ["/h/c: projects/*/*.jsonl"]);
    let moved = places("qwen", &[("QWEN_HOME", "/q"), ("QWEN_RUNTIME_DIR", "/r")]);
    assert_eq!(moved, ["/r: projects/*/chats/*.jsonl"]);
    // pi has a variable for its sessions only, in addition to the general one.
    let moved = places("pi", &[("PI_CODING_AGENT_SESSION_DIR", "/p")]);
    assert!(moved.contains(&"/p: *_*.jsonl".to_owned()), "{moved:?}");
    assert!(moved.contains(&"/h/.pi/agent/sessions: --*/*_*.jsonl".to_owned()), "{moved:?}");
}

#[test]
fn directories_of_the_xdg_specification_must_be_absolute() {
    assert_eq!(places("goose", &[("XDG_DATA_HOME", "/d")])[0], "/d/goose/sessions: sessions.db");
    let ignored = places("goose", &[("XDG_DATA_HOME", "d")]);
    assert_eq!(ignored[0], "/h/.local/share/goose/sessions: sessions.db");
}

#[test]
fn a_variable_may_name_a_file() {
    let of = |value| places("opencode", &[("OPENCODE_DB", value)]);
    assert_eq!(of("/d/my.db"), ["/d: =my.db"]);
    assert_eq!(of("~/my.db"), ["/h: =my.db"]);
    assert_eq!(of("my.db"), ["/h/.local/share/opencode: =my.db"]);
    assert_eq!(of(":memory:"), [""; 0]);
}

#[test]
fn files_of_the_workspace_are_looked_for_in_the_directories_above_it() {
    let aider = ["/w/app: .aider.chat.history.md", "/w: .aider.chat.history.md"];
    assert_eq!(places("aider", &[]), aider);
    assert_eq!(places("aider", &[("AIDER_CHAT_HISTORY_FILE", "h.md")]), ["/w/app: =h.md"]);
}

#[test]
fn a_path_says_what_the_file_is_and_which_session_it_has() {
    let of = |agent: &str, path: &'static str| {
        let agent = Agent::named(agent).unwrap();
        (agent.kind_of(path), agent.session_id(path))
    };
    let session = |id| (Some(FileKind::Session), id);
    let uuid = "0199a213-81c0-7800-8aa1-bbab2a035a53";
    let rollout = "x/sessions/2026/06/01/rollout-2026-06-01T10-00-00-0199a213-81c0-7800-8aa1-bbab2a035a53.jsonl.zst";
    assert_eq!(of("codex", rollout), session(Some(uuid)));
    assert_eq!(of("copilot", "session-state/u/events.jsonl"), session(Some("u")));
    assert_eq!(of("pi", "sessions/--w--/2026-06-01_u.jsonl"), session(Some("u")));
    assert_eq!(of("continue", "sessions/a-b.json"), session(Some("a-b")));
    assert_eq!(of("continue", "sessions/sessions.json").0, None);
    assert_eq!(of("gemini", "tmp/app/chats/session-2026-06-01T10-00-0199a213.json"), session(None));
    assert_eq!(of("gemini", "tmp/app/chats/0199a213/x.jsonl").0, Some(FileKind::Part));
    assert_eq!(of("claude", "projects/-w/agent-1a2b3c4d.jsonl").0, Some(FileKind::Part));
    assert_eq!(of("claude", "projects/-w/u/subagents/agent-1a.jsonl").0, Some(FileKind::Part));
    assert_eq!(of("opencode", "/d/opencode-beta.db").0, Some(FileKind::Database));
    assert_eq!(of("crush", "crush/projects.json").0, Some(FileKind::Registry));
}

#[test]
fn the_registry_of_crush_names_databases() {
    let registry = r#"{"projects":[
        {"path":"/w/one","data_dir":"/w/one/.crush"},{"path":"/w/two","data_dir":"data"},
        {"path":"/w/three"},{"path":"relative"},{"other":1}]}"#;
    let databases = ["/w/one/.crush/crush.db", "/w/two/data/crush.db", "/w/three/.crush/crush.db"];
    assert_eq!(registered_databases(registry), databases);
    assert_eq!(registered_databases("[1,"), [""; 0]);
}
