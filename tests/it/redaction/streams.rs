//! A secret across separate rows of an exported session: in deltas, chunks or
//! keystrokes, or named in one row and given in the next. None of it is in a file of
//! the bundle.

use std::fmt::Write as _;
use std::io::Read as _;

use cap_std::fs::Dir;
use serde_json::{Value, json};
use traj_tests::export_home::{EXPORTS, ExportHome, result};
use traj_tests::rows::{event, message};

/// Exports a session with these messages, and with a sidecar of these events.
/// Returns what the files of the bundle contain.
fn bundle(messages: &[Value], events: &[(&str, Value)]) -> String {
    let home = ExportHome::new();
    let rows: Vec<String> = messages
        .iter()
        .enumerate()
        .map(|(number, content)| {
            let parent = number.checked_sub(1).map(|before| format!("m{before}"));
            message(&format!("m{number}"), parent.as_deref(), number as u32, content.to_string())
        })
        .collect();
    home.put_session(&rows);
    let sidecar: String = events
        .iter()
        .zip(1_u32..)
        .map(|((kind, data), number)| {
            let at = format!("2026-06-01T10:{:02}:{:02}Z", number / 60, number % 60);
            event(kind, &at, number).with("data", data).line()
        })
        .collect();
    home.folder.write("s1.trajectory.jsonl", sidecar).unwrap();
    let output = home.export(&[]);
    assert_eq!(result(&output)["ok"], true);
    let mut out = String::new();
    contents(&home.folder.open_dir(EXPORTS).unwrap(), &mut out);
    assert!(out.contains("\"traceSchema\""), "the bundle has events");
    out
}

/// Appends every file below a directory.
fn contents(folder: &Dir, out: &mut String) {
    for entry in folder.entries().unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            contents(&entry.open_dir().unwrap(), out);
        } else {
            let mut bytes = Vec::new();
            entry.open().unwrap().read_to_end(&mut bytes).unwrap();
            writeln!(out, "{}", String::from_utf8_lossy(&bytes)).unwrap();
        }
    }
}

fn assert_hidden(bundle: &str, pieces: &[&str]) {
    for piece in pieces {
        assert!(!bundle.contains(piece), "{piece} is in the bundle");
    }
    assert!(bundle.contains("<redacted:"));
}

#[test]
fn a_value_in_deltas_of_one_call_is_hidden_in_each() {
    let delta =
        |call: &str, delta: &str| ("assistant.delta", json!({ "callId": call, "delta": delta }));
    let bundle = bundle(
        &[],
        &[
            delta("a", "export LARCH_API_TOKEN=q8Zt4"),
            delta("b", "building the loft"),
            delta("a", "Lr2Wm9Xc"),
            delta("b", " and its roof"),
            delta("a", "1Vb7KpT\ncargo build\n"),
        ],
    );
    assert_hidden(&bundle, &["q8Zt4", "Lr2Wm9", "1Vb7Kp"]);
    assert!(bundle.contains("cargo build") && bundle.contains("building the loft"));
    assert!(bundle.contains(" and its roof") && bundle.contains("export LARCH_API_TOKEN="));
}

#[test]
fn a_value_in_chunks_of_output_is_hidden_everywhere_in_the_session() {
    let chunk = |chunk: &str| ("tool.output", json!({ "toolCallId": "t1", "chunk": chunk }));
    let said = json!({"role": "user", "content": "we use moss4Kq77Zt9Lw2 in both places"});
    let events = [chunk("DB_PASSWORD=moss4Kq"), chunk("77Zt9Lw2\nDB_HOST=larch\n")];
    let bundle = bundle(&[said], &events);
    assert_hidden(&bundle, &["moss4Kq", "77Zt9Lw2"]);
    assert!(bundle.contains("DB_HOST=larch") && bundle.contains("in both places"));
}

#[test]
fn keystrokes_in_a_password_field_are_hidden_and_others_stay() {
    let key = |field: &str, key: &str| ("browser.key", json!({ "selector": field, "key": key }));
    let typed = ["Q", "#", "7", "z", "%", "W", "@"];
    let mut events: Vec<_> = typed.iter().map(|letter| key("#login-password", letter)).collect();
    events.extend(["l", "o", "f", "t"].iter().map(|letter| key("#search", letter)));
    let bundle = bundle(&[], &events);
    for letter in typed {
        assert!(!bundle.contains(&format!("\"key\":\"{letter}\"")), "{letter} is in the bundle");
    }
    for letter in ["l", "o", "f", "t"] {
        assert!(bundle.contains(&format!("\"key\":\"{letter}\"")), "{letter} is missing");
    }
}

#[test]
fn what_is_typed_after_a_click_into_a_password_field_is_hidden() {
    let call = |name: &str, arguments: Value| {
        let block = json!({"type": "toolCall", "id": name, "name": name, "arguments": arguments});
        json!({"role": "assistant", "content": [block]})
    };
    let answer = |text: &str| {
        json!({"role": "toolResult", "toolCallId": "x", "toolName": "browser",
            "content": [{"type": "text", "text": text}]})
    };
    let click = |field: &str| call("browser_click", json!({ "element": field }));
    let write = |text: &str| call("browser_type", json!({ "text": text }));
    let messages = [
        click("Search field"),
        answer("clicked"),
        write("quiet harbour"),
        answer("typed"),
        click("Password field"),
        answer("clicked"),
        write("emberwillow"),
        answer("typed"),
    ];
    let bundle = bundle(&messages, &[]);
    assert_hidden(&bundle, &["emberwillow"]);
    assert!(bundle.contains("quiet harbour"));
}

#[test]
fn the_answer_to_a_prompt_is_hidden() {
    let events = [
        ("terminal.output", json!({ "session": "p1", "output": "Password for ada: " })),
        ("terminal.input", json!({ "session": "p1", "input": "m4ple!Wood7\n" })),
        ("terminal.output", json!({ "session": "p1", "output": "Directory: " })),
        ("terminal.input", json!({ "session": "p1", "input": "crates/core7\n" })),
    ];
    let bundle = bundle(&[], &events);
    assert_hidden(&bundle, &["m4ple"]);
    assert!(bundle.contains("crates/core7"));
}

#[test]
fn a_value_named_in_one_event_is_hidden_where_another_gives_it() {
    let events = [
        ("tool.call", json!({ "toolCallId": "t1", "arguments": {"note": "with kestrelTango774"} })),
        (
            "config.read",
            json!({ "toolCallId": "t2", "env": {"LARCH_PASSWORD": "kestrelTango774"} }),
        ),
    ];
    let bundle = bundle(&[], &events);
    assert_hidden(&bundle, &["kestrelTango774"]);
    assert!(bundle.contains("\"with <redacted:"));
}

#[test]
fn a_value_in_deltas_far_into_a_long_session_is_hidden() {
    let delta = |delta: &str| ("assistant.delta", json!({ "callId": "a", "delta": delta }));
    let mut events: Vec<_> = (0..2_400).map(|word| delta(&format!("word{word} "))).collect();
    // Around the places where the window over the session moves on.
    for at in [510, 1_022, 1_024, 1_534, 2_399] {
        events[at] = delta(&format!("\nLARCH_TOKEN=q8Zt{at}x"));
        if let Some(next) = events.get_mut(at + 1) {
            *next = delta(&format!("Wm{at}Lr2Xc1Vb\n"));
        }
    }
    let bundle = bundle(&[], &events);
    for at in [510, 1_022, 1_024, 1_534] {
        assert_hidden(&bundle, &[&format!("q8Zt{at}x"), &format!("Wm{at}Lr2")]);
    }
    assert!(bundle.contains("word7 ") && bundle.contains("word2398 "));
}
