//! What a listing keeps, and when it reads again.
#![expect(clippy::disallowed_methods, reason = "tests look at their own temporary directories")]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use traj_tests::export_home::result;
use traj_tests::rows;

use super::home::{Home, UUID};

/// The files below the cache directory.
fn cache_of(home: &Home) -> PathBuf {
    home.path(".cache/traj/sessions.jsonl")
}

#[test]
fn what_was_read_is_kept_until_a_file_changes() {
    let home = Home::new(&[]);
    let (one, other) = (".claude/projects/a/one.jsonl", ".claude/projects/a/other.jsonl");
    home.put_session(one, "first");
    home.put_session(other, "departed");
    let list = || result(&home.run(&["sessions", "--json"]))["result"].clone();
    let cold = list();
    let first = fs::read_to_string(cache_of(&home)).unwrap();
    let warm = list();
    assert_eq!(cold, warm);
    assert_eq!(fs::read_to_string(cache_of(&home)).unwrap(), first, "nothing was new");

    home.put_session(one, "changed in size");
    let both = ["claude-code: changed in size", "claude-code: departed"];
    assert_eq!(home.listed(&[]), both);
    fs::remove_file(home.path(other)).unwrap();
    assert_eq!(home.listed(&[]), ["claude-code: changed in size"]);
    let kept = fs::read_to_string(cache_of(&home)).unwrap();
    assert!(!kept.contains("departed"), "nothing is kept of a session that is gone");
}

#[test]
fn a_sidecar_that_appears_or_grows_is_seen() {
    let home = Home::new(&[]);
    home.put_session(".claude/projects/a/one.jsonl", "a title");
    let events =
        || result(&home.run(&["sessions", "--json"]))["result"]["sessions"][0]["events"].clone();
    assert_eq!(events(), Value::Null);
    let event = |number| rows::event("session.started", &rows::at(2), number).of(UUID).line();
    let sidecar = ".claude/projects/a/one.trajectory.jsonl";
    home.put(sidecar, &event(1));
    assert_eq!(events(), 1);
    home.put(sidecar, &(event(1) + &event(2)));
    assert_eq!(events(), 2);
    fs::remove_file(home.path(sidecar)).unwrap();
    assert_eq!(events(), Value::Null);
}

/// A sub-agent that continues is noticed although the session's own file stays the
/// same.
#[test]
fn the_files_of_sub_agents_that_grow_are_seen() {
    let home = Home::new(&[]);
    let row = |id: &str, more: &str| {
        format!(
            r#"{{"uuid":"{id}","parentUuid":null,"sessionId":"s1","timestamp":"2026-06-01T10:00:01.000Z","type":"assistant","version":"0.24.4","cwd":"/w","model":"m"{more}}}"#
        )
    };
    let call = |id: &str, of: &str| {
        let part = format!(r#"{{"functionCall":{{"id":"{id}","name":"run","args":{{}}}}}}"#);
        row(id, &format!(r#","message":{{"role":"model","parts":[{part}]}}{of}"#)) + "\n"
    };
    let helper = r#","agentId":"helper-1","isSidechain":true"#;
    home.put(".qwen/projects/p/chats/s1.jsonl", &call("one", ""));
    let claude = |id: &str, agent: &str| {
        let block = format!(r#"{{"type":"tool_use","id":"{id}","name":"Bash","input":{{}}}}"#);
        format!(
            r#"{{"parentUuid":null,"isSidechain":{},"userType":"external","cwd":"/w","sessionId":"{UUID}","version":"2.1.326","type":"assistant","uuid":"{id}","timestamp":"2026-06-01T10:00:01.000Z","message":{{"role":"assistant","id":"m-{id}","model":"m","content":[{block}]}}{agent}}}"#,
            !agent.is_empty()
        ) + "\n"
    };
    home.put(&format!(".claude/projects/w/{UUID}.jsonl"), &claude("a", ""));
    let calls = || {
        let listed = result(&home.run(&["sessions", "--json"]))["result"].clone();
        let sessions = listed["sessions"].as_array().unwrap().iter();
        let mut calls: Vec<_> = sessions.map(|one| one["calls"]["calls"].as_u64()).collect();
        calls.sort_unstable();
        calls
    };
    assert_eq!(calls(), [Some(1), Some(1)]);
    let qwen_helper = ".qwen/projects/p/subagents/s1/agent-helper-1.jsonl";
    let claude_helper = format!(".claude/projects/w/{UUID}/subagents/agent-b1.jsonl");
    let agent = r#","agentId":"b1""#;
    home.put(qwen_helper, &call("two", helper));
    assert_eq!(calls(), [Some(1), Some(2)]);
    home.put(qwen_helper, &(call("two", helper) + &call("three", helper)));
    home.put(&claude_helper, &claude("b", agent));
    assert_eq!(calls(), [Some(2), Some(3)]);
    home.put(&claude_helper, &(claude("b", agent) + &claude("c", agent)));
    assert_eq!(calls(), [Some(3), Some(3)]);
}

/// The thread of a sub-agent of Codex is part of the session that started it.
#[test]
fn a_sub_agent_of_codex_is_listed_with_its_parent() {
    let home = Home::new(&[]);
    let (main, child) = (UUID, "01a1f03b-aaaa-7b82-ae65-3ea79725892b");
    let row = |second: u32, kind: &str, payload: &str| {
        format!(
            r#"{{"timestamp":"2026-06-01T10:00:{second:02}.000Z","ordinal":{second},"type":"{kind}","payload":{{{payload}}}}}"#
        ) + "\n"
    };
    let usage = |id: &str| {
        format!(
            r#""response_id":"{id}","model":"gpt-5.4","usage":{{"input_tokens":100,"cached_input_tokens":0,"output_tokens":10,"reasoning_output_tokens":0,"total_tokens":110}}"#
        )
    };
    let call = |id: &str| {
        format!(
            r#""type":"function_call","name":"exec_command","arguments":"{{}}","call_id":"{id}""#
        )
    };
    let started = format!(
        r#""type":"item_completed","item":{{"type":"SubAgentActivity","agent_thread_id":"{child}"}}"#
    );
    let spawn =
        format!(r#"{{"subagent":{{"thread_spawn":{{"parent_thread_id":"{main}","depth":1}}}}}}"#);
    let meta = |id: &str, source: &str| {
        format!(
            r#""id":"{id}","timestamp":"2026-06-01T10:00:00.000Z","cwd":"/w","cli_version":"0.166.0","source":{source}"#
        )
    };
    let day = ".codex/sessions/2026/06/01/rollout-2026-06-01T10-00-00-";
    let parent = [
        row(0, "session_meta", &meta(main, "\"cli\"")),
        row(1, "response_item", &call("c1")),
        row(2, "event_msg", &started),
        row(3, "token_usage_record", &usage("r1")),
    ];
    home.put(&format!("{day}{main}.jsonl"), &parent.concat());
    let helper = [
        row(0, "session_meta", &meta(child, &spawn)),
        row(1, "response_item", &call("c2")),
        row(2, "token_usage_record", &usage("r2")),
    ];
    home.put(&format!("{day}{child}.jsonl"), &helper.concat());
    for _ in 0..2 {
        let listed = result(&home.run(&["sessions", "--json"]))["result"].clone();
        let sessions = listed["sessions"].as_array().unwrap();
        assert_eq!(sessions.len(), 1, "{listed}");
        assert_eq!(sessions[0]["calls"]["calls"], 2);
        assert_eq!(
            (&sessions[0]["usage"]["calls"], &sessions[0]["usage"]["inputTokens"]),
            (&2.into(), &200.into())
        );
    }
    let shown = result(&home.run(&["show", child, "--json"]));
    assert_eq!(shown["result"]["run"]["calls"]["calls"], 1, "it can be shown alone");
    // It continues, and the file of its parent stays as it is.
    let more = helper.concat() + &row(3, "response_item", &call("c3"));
    home.put(&format!("{day}{child}.jsonl"), &more);
    let listed = result(&home.run(&["sessions", "--json"]))["result"].clone();
    assert_eq!(listed["sessions"][0]["calls"]["calls"], 3);
    fs::remove_file(home.path(&format!("{day}{child}.jsonl"))).unwrap();
    // Codex compresses files that have not been used for days.
    let packed = zstd::encode_all(more.as_bytes(), 3).unwrap();
    let damaged = packed.get(..packed.len() / 2).unwrap();
    for (content, calls) in [(&packed[..], 3), (damaged, 1)] {
        home.put_bytes(&format!("{day}{child}.jsonl.zst"), content);
        let found = result(&home.run(&["inspect", main, "--json"]))["result"].clone();
        assert_eq!(found["calls"]["calls"], calls, "{found}");
        // A file that is damaged cannot say whose it is.
        let report = home.run(&["sessions", "--json"]);
        let report: Value = serde_json::from_slice(&report.stdout).unwrap();
        let sessions = report["result"]["sessions"].as_array().unwrap().clone();
        assert_eq!((sessions.len(), &sessions[0]["calls"]["calls"]), (1, &calls.into()));
    }
}

#[test]
fn the_cache_is_redacted_and_only_the_owner_can_read_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new(&[]);
    let secret = ["sk-ant-api03-", "Zq8vN2xKpL7wTfR4yHsB9mDcJ6gVaE1uXoI3"].concat();
    home.put_session(".claude/projects/a/one.jsonl", &format!("use {secret} now"));
    assert_eq!(home.listed(&[]).len(), 1);
    let cache = cache_of(&home);
    assert!(!fs::read_to_string(&cache).unwrap().contains(&secret));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&cache), mode(cache.parent().unwrap())), (0o600, 0o700));
}

#[test]
fn a_damaged_cache_is_replaced_and_no_cache_leaves_it_alone() {
    let home = Home::new(&[]);
    home.put_session(".claude/projects/a/one.jsonl", "a title");
    let wanted = ["claude-code: a title"];
    assert_eq!(home.listed(&["--no-cache"]), wanted);
    assert!(!cache_of(&home).exists());
    assert_eq!(home.listed(&[]), wanted);
    let whole = fs::read_to_string(cache_of(&home)).unwrap();
    let lied = whole.replace("a title", "a lie!!");
    assert_ne!(lied, whole);
    let cut = whole.get(..whole.len() - 2).unwrap();
    for damaged in [lied.as_str(), "", "{}", cut] {
        fs::write(cache_of(&home), damaged).unwrap();
        assert_eq!(home.listed(&["--no-cache"]), wanted);
        assert_eq!(fs::read_to_string(cache_of(&home)).unwrap(), damaged);
        assert_eq!(home.listed(&[]), wanted);
        assert_eq!(fs::read_to_string(cache_of(&home)).unwrap(), whole);
    }
}

#[test]
fn the_cache_follows_its_variable_and_a_closed_one_is_no_failure() {
    let home = Home::new(&[("XDG_CACHE_HOME", "~/kept")]);
    home.put_session(".claude/projects/a/one.jsonl", "a title");
    assert_eq!(home.listed(&[]), ["claude-code: a title"]);
    assert!(home.path("kept/traj/sessions.jsonl").exists());

    let home = Home::new(&[("XDG_CACHE_HOME", "~/file")]);
    home.put("file", "not a directory");
    home.put_session(".claude/projects/a/one.jsonl", "a title");
    let output = home.run(&["sessions"]);
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot"), "{output:?}");
}

#[test]
fn a_database_is_read_again_when_it_or_its_log_changes() {
    let home = Home::new(&[]);
    let database = home.put_database(".local/share/goose/sessions/sessions.db");
    assert_eq!(home.listed(&[]), ["goose: the first", "goose: the second"]);
    let kept = fs::read_to_string(cache_of(&home)).unwrap();
    assert_eq!(home.listed(&[]), ["goose: the first", "goose: the second"]);
    assert_eq!(fs::read_to_string(cache_of(&home)).unwrap(), kept);
    database.execute("update sessions set name='renamed' where id='20260601_1'", []).unwrap();
    assert_eq!(home.listed(&[]), ["goose: renamed", "goose: the second"]);
}
