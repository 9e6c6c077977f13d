//! `traj sessions` finds the sessions of every agent: in its default directories,
//! and where its variables say. Every command finds them by id.

mod cache;
mod databases;
mod home;

use traj_core::agents::Agent;
use traj_tests::export_home::result;
use traj_tests::rows;
use traj_tests::traj_binary::{on_terminal, printed};

use home::{Home, UUID};

/// An agent, a variable with its value, and where its session is then. Without a
/// variable, the default directory. Databases have separate tests.
type Place = (&'static str, Option<(&'static str, &'static str)>, &'static str);

const PLACES: [Place; 32] = [
    ("aider", None, "work/app/.aider.chat.history.md"),
    ("aider", None, "work/.aider.chat.history.md"),
    ("aider", Some(("AIDER_CHAT_HISTORY_FILE", "history.md")), "work/app/history.md"),
    ("claude-code", None, ".claude/projects/-work-app/u.jsonl"),
    ("claude-code", None, ".config/claude/projects/-work-app/u.jsonl"),
    ("claude-code", Some(("XDG_CONFIG_HOME", "~/xdg")), "xdg/claude/projects/-work-app/u.jsonl"),
    ("claude-code", Some(("CLAUDE_CONFIG_DIR", "~/c")), "c/projects/-work-app/u.jsonl"),
    ("codex", None, ".codex/sessions/2026/06/01/rollout-u.jsonl"),
    ("codex", None, ".codex/archived_sessions/rollout-u.jsonl"),
    ("codex", Some(("CODEX_HOME", "~/x")), "x/sessions/2026/06/01/rollout-u.jsonl"),
    ("codex", Some(("CODEX_HOME", "~/x")), "x/archived_sessions/rollout-u.jsonl"),
    ("copilot", None, ".copilot/session-state/u/events.jsonl"),
    ("copilot", Some(("COPILOT_HOME", "~/x")), "x/session-state/u/events.jsonl"),
    ("gemini-cli", None, ".gemini/tmp/app/chats/session-2026-06-01T10-00-0199a213.jsonl"),
    ("gemini-cli", Some(("GEMINI_CLI_HOME", "~/x")), "x/.gemini/tmp/app/chats/session-1.jsonl"),
    ("openclaw", None, ".openclaw/agents/main/sessions/u.jsonl"),
    ("openclaw", None, ".openclaw/agents/other/sessions/u.jsonl"),
    ("openclaw", Some(("OPENCLAW_STATE_DIR", "~/x")), "x/agents/main/sessions/u.jsonl"),
    ("openclaw", Some(("TRAJ_STATE_DIR", "~/x")), "x/agents/main/sessions/u.jsonl"),
    ("openclaw", Some(("OPENCLAW_PATH", "~/x")), "x/agents/main/sessions/u.jsonl"),
    ("openclaw", Some(("TRAJ_PATH", "~/x")), "x/agents/other/sessions/u.jsonl"),
    ("pi", None, ".pi/agent/sessions/--work-app--/2026-06-01_u.jsonl"),
    ("pi", None, ".pi/agent/sessions/2026-06-01_u.jsonl"),
    ("pi", Some(("PI_CODING_AGENT_DIR", "~/x")), "x/sessions/--work-app--/2026-06-01_u.jsonl"),
    ("pi", Some(("PI_CODING_AGENT_SESSION_DIR", "~/x")), "x/2026-06-01_u.jsonl"),
    ("pi", Some(("PI_CODING_AGENT_SESSION_DIR", "~/x")), "x/--work-app--/2026-06-01_u.jsonl"),
    ("qwen-code", None, ".qwen/projects/-work-app/chats/u.jsonl"),
    ("qwen-code", Some(("QWEN_HOME", "~/x")), "x/projects/-work-app/chats/u.jsonl"),
    ("qwen-code", Some(("QWEN_RUNTIME_DIR", "~/x")), "x/projects/-work-app/chats/u.jsonl"),
    ("codex", Some(("TRAJ_HOME", "~/x")), "x/.codex/sessions/2026/06/01/rollout-u.jsonl"),
    ("claude-code", Some(("TRAJ_HOME", "~/x")), "x/.claude/projects/-work-app/u.jsonl"),
    ("openclaw", Some(("TRAJ_HOME", "~/x")), "x/.openclaw/agents/main/sessions/u.jsonl"),
];

#[test]
fn every_default_directory_and_every_variable_is_searched() {
    for (agent, variable, path) in PLACES {
        let home = Home::new(variable.as_slice());
        home.put_session(path, "a title");
        let wanted = [format!("{agent}: a title")];
        assert_eq!(home.listed(&[]), wanted, "{agent}: {variable:?}");
        assert_eq!(home.listed(&["--agent", agent]), wanted, "{agent}: {variable:?}");
        let other = if agent == "codex" { "pi" } else { "codex" };
        assert_eq!(home.listed(&["--agent", other]), [""; 0], "{agent}: {variable:?}");
    }
}

/// Sessions that are one document, and compressed ones.
#[test]
fn documents_and_compressed_sessions_are_found() {
    let document = include_bytes!("../../fixtures/continue/session.json").as_slice();
    let old = include_bytes!("../../fixtures/gemini-cli/old.json").as_slice();
    let rollout = include_bytes!("../../fixtures/rollouts/new-plain.jsonl").as_slice();
    let packed = zstd::encode_all(rollout, 3).unwrap();
    let x = |name| Some((name, "~/x"));
    let places: [(Place, &[u8]); 9] = [
        (("continue", None, ".continue/sessions/u-1.json"), document),
        (("continue", x("CONTINUE_GLOBAL_DIR"), "x/sessions/u-1.json"), document),
        (("gemini-cli", None, ".gemini/tmp/app/chats/session-1.json"), old),
        (("gemini-cli", x("GEMINI_CLI_HOME"), "x/.gemini/tmp/app/chats/session-1.json"), old),
        (("codex", None, ".codex/sessions/2026/06/01/rollout-u.jsonl.zst"), &packed),
        (("codex", None, ".codex/archived_sessions/rollout-u.jsonl.zst"), &packed),
        (("codex", x("CODEX_HOME"), "x/sessions/2026/06/01/rollout-u.jsonl.zst"), &packed),
        (("codex", x("CODEX_HOME"), "x/archived_sessions/rollout-u.jsonl.zst"), &packed),
        (("openclaw", None, ".clawdbot/agents/main/sessions/u.jsonl"), b""),
    ];
    for ((agent, variable, path), content) in places {
        let home = Home::new(variable.as_slice());
        if content.is_empty() {
            home.put_session(path, "a title");
        } else {
            home.put_bytes(path, content);
        }
        let listed = home.listed(&["--agent", agent]);
        assert_eq!((listed.len(), home.listed(&[]).len()), (1, 1), "{path}: {listed:?}");
        assert!(listed[0].starts_with(agent), "{path}: {listed:?}");
    }
}

#[test]
fn a_variable_of_a_program_replaces_its_default_directory() {
    for (agent, variable, path) in PLACES {
        // A variable that all programs share does not, and neither does pi's
        // directory for sessions.
        let is_own = |name: &str| {
            Agent::named(agent).unwrap().variables().any(|own| own == name)
                && name != "PI_CODING_AGENT_SESSION_DIR"
        };
        let Some(variable) = variable.filter(|(name, _)| is_own(name)) else { continue };
        let home = Home::new(&[variable]);
        home.put_session(path, "there");
        for (other, _, usual) in PLACES.iter().filter(|(_, variable, _)| variable.is_none()) {
            if *other == agent {
                home.put_session(usual, "in the default directory");
            }
        }
        assert_eq!(home.listed(&[]), [format!("{agent}: there")], "{variable:?}");
    }
}

#[test]
fn files_of_sub_agents_and_other_files_are_not_sessions() {
    let home = Home::new(&[]);
    home.put_session(".claude/projects/-work-app/u.jsonl", "the session");
    for path in [
        ".claude/projects/-work-app/agent-1a2b3c4d.jsonl",
        ".claude/projects/-work-app/u/subagents/agent-1a2b.jsonl",
        ".claude/projects/-work-app/u/tool-results/x.jsonl",
        ".claude/history.jsonl",
        ".codex/history.jsonl",
        ".codex/sessions/2026/06/01/other.jsonl",
        ".gemini/tmp/app/logs.json",
        ".continue/sessions/sessions.json",
        ".copilot/session-state/u/workspace.yaml",
    ] {
        home.put_session(path, path);
    }
    assert_eq!(home.listed(&[]), ["claude-code: the session"]);
    // Also if the user names the directory.
    let projects = home.path(".claude/projects");
    let listed = home.listed(&[projects.to_str().unwrap()]);
    assert!(listed.iter().all(|one| !one.contains("agent-1a")), "{listed:?}");
}

#[test]
fn links_in_an_agents_directory_are_not_followed_but_the_directory_may_be_one() {
    let home = Home::new(&[]);
    home.put_session("elsewhere/projects/-work-app/u.jsonl", "through a link");
    home.put_session("outside/v.jsonl", "outside");
    let link = |target: &str, path: &str| {
        std::os::unix::fs::symlink(home.path(target), home.path(path)).unwrap();
    };
    link("elsewhere", ".claude");
    link("outside", ".claude/projects/-linked");
    link("outside/v.jsonl", ".claude/projects/-work-app/v.jsonl");
    assert_eq!(home.listed(&[]), ["claude-code: through a link"]);
}

#[test]
fn every_command_finds_a_session_by_its_id_or_as_the_newest_of_the_workspace() {
    let home = Home::new(&[]);
    home.put_session(&format!(".claude/projects/-work-app/{UUID}.jsonl"), "the prompt");
    let named: [&[&str]; 4] = [&[UUID], &["0199a213"], &[], &["0199a213", "--agent", "claude"]];
    for arguments in named {
        let output = home.run(&[&["show"], arguments].concat());
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        assert!(printed(&output).contains("the prompt"), "{arguments:?}");
    }
    let refused = home.run(&["show", "0199a213", "--agent", "codex"]);
    assert_eq!(refused.status.code(), Some(1));
}

#[test]
fn the_name_of_a_program_is_not_the_id_of_an_agent() {
    let home = Home::new(&[]);
    home.put_session(".openclaw/agents/codex/sessions/u.jsonl", "an agent called codex");
    home.put_session(".openclaw/agents/main/sessions/v.jsonl", "the main agent");
    home.put_session(".codex/sessions/2026/06/01/rollout-w.jsonl", "the program");
    assert_eq!(home.listed(&["--agent", "codex"]), ["codex: the program"]);
    let agent = home.listed(&["--agent", "openclaw/codex"]);
    assert_eq!(agent, ["openclaw: an agent called codex"]);
    assert_eq!(home.listed(&["--agent", "main"]), ["openclaw: the main agent"]);
    let both = ["openclaw: an agent called codex", "openclaw: the main agent"];
    assert_eq!(home.listed(&["--agent", "openclaw"]), both);
}

#[test]
fn a_workspace_narrows_the_list() {
    let home = Home::new(&[]);
    home.put_session(".claude/projects/a/a.jsonl", "here");
    let elsewhere = rows::header("b").text("cwd", "/elsewhere");
    let prompt = rows::message("a", None, 1, r#"{"role":"user","content":"there"}"#);
    home.put(".claude/projects/b/b.jsonl", &(elsewhere.line() + &prompt + "\n"));
    assert_eq!(home.listed(&["--workspace", "."]), ["claude-code: here"]);
    assert_eq!(home.listed(&["--workspace", ".."]), ["claude-code: here"]);
    assert_eq!(home.listed(&["--workspace", "/elsewhere"]), ["claude-code: there"]);
    assert_eq!(home.listed(&["--workspace", "/else"]), [""; 0]);
    assert_eq!(home.listed(&["--workspace", ".", "--limit", "1"]), ["claude-code: here"]);
}

#[test]
fn without_any_session_the_list_is_empty() {
    let home = Home::new(&[]);
    assert_eq!(home.listed(&[]), [""; 0]);
    let output = home.run(&["sessions"]);
    assert_eq!(printed(&output), "there are no sessions\n");
}

#[test]
fn totals_count_every_session_once() {
    let home = Home::new(&[]);
    let answer = r#"{"role":"assistant","content":[{"type":"text","text":"Done."}],"provider":"openai","model":"gpt-5.4","usage":{"input":100,"cacheRead":40,"output":7,"cost":{"total":0.25}},"stopReason":"stop"}"#;
    let session = |id: &str| {
        rows::header(id).line()
            + &rows::message("a", None, 1, r#"{"role":"user","content":"go"}"#)
            + "\n"
            + &rows::message("b", Some("a"), 2, answer)
            + "\n"
    };
    let folder = ".openclaw/agents/main/sessions";
    home.put(&format!("{folder}/a.jsonl"), &session("a"));
    home.put(&format!("{folder}/b.jsonl"), &session("b"));
    // Two keys for one session.
    home.put(
        &format!("{folder}/sessions.json"),
        r#"{"agent:main:a":{"sessionId":"a"},"agent:main:also":{"sessionId":"a"}}"#,
    );
    let report = result(&home.run(&["sessions", "--json"]))["result"].clone();
    assert_eq!(report["sessions"].as_array().unwrap().len(), 3);
    let totals = &report["totals"];
    assert_eq!((&totals["sessions"], &totals["modelCalls"]), (&2.into(), &2.into()));
    assert_eq!((&totals["inputTokens"], &totals["outputTokens"]), (&280.into(), &14.into()));
    assert_eq!(totals["cost"]["USD"], 0.5);
}

#[test]
fn traj_alone_on_a_terminal_shows_the_newest_ten_and_what_to_do_next() {
    let home = Home::new(&[]);
    let (text, code) = on_terminal(&mut home.command());
    assert_eq!(code, Some(0));
    assert!(text.starts_with("No sessions were found where aider, Claude Code,"), "{text}");
    assert!(text.contains("\n  traj --help "), "{text}");

    for number in 0..12 {
        home.put_session(
            &format!(".claude/projects/a/{number:08}-81c0-7800-8aa1-bbab2a035a53.jsonl"),
            "a title",
        );
    }
    let (text, code) = on_terminal(&mut home.command());
    assert_eq!(code, Some(0));
    let rows = text.lines().filter(|line| line.contains("a title")).count();
    assert_eq!(rows, 10, "{text}");
    assert!(text.contains("\nNext:\n  traj show 000000"), "{text}");
    assert!(text.contains("all sessions (2 more)"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");

    // Without a terminal, that is a usage error, as if a command were missing.
    let output = home.run(&[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("Usage:"), "{output:?}");
}
