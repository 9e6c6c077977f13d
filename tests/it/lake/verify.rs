//! `traj lake verify` finds damage, gaps and secrets.

use std::path::Path;

use serde_json::Value;
use traj_export::{EventRow, EventTable, trace_id};
use traj_tests::export_home::ExportHome as Home;

use super::{SECRET, ended, files, put_file, shipped, turns, verified, verify};

fn lake() -> Home {
    let home = Home::new();
    home.put_session(&turns(3));
    shipped(&home, "lake", &[]);
    home
}

/// What is wrong, if the exit code says that something is damaged.
fn problems(home: &Home) -> Vec<Value> {
    let document = ended(home, "lake-verify", 4, &verify(home, "lake"));
    document["result"]["problems"].as_array().unwrap().clone()
}

#[test]
fn a_dataset_as_it_was_written_is_complete() {
    let home = lake();
    let found = verified(&home, "lake");
    assert_eq!((&found["sessions"], &found["files"]), (&1.into(), &6.into()));
    assert_eq!(
        (&found["problems"], &found["findings"]),
        (&Value::Array(vec![]), &Value::Array(vec![]))
    );
}

/// A file such as a compaction writes, with this text in one event of each session.
pub(super) fn compacted(sessions: &[&str], text: &str) -> Vec<u8> {
    let mut content = Vec::new();
    let mut table = EventTable::new(&mut content, &[]).unwrap();
    for session in sessions {
        table.push(compacted_row(session, text)).unwrap();
    }
    table.finish().unwrap();
    content
}

fn compacted_row(session: &str, text: &str) -> EventRow {
    EventRow {
        schema_version: 1,
        trace_id: trace_id(Some("openclaw"), session),
        session_id: session.to_owned(),
        agent: Some("openclaw".to_owned()),
        event_id: "1".repeat(32),
        seq: 1,
        source: "transcript",
        host_id: Some("2".repeat(32)),
        kind: "user.message".to_owned(),
        data: serde_json::json!({ "text": text }).to_string(),
        segment: Some(1),
        revision: Some(1),
        ..EventRow::default()
    }
}

#[test]
fn a_secret_in_any_file_is_found_and_not_repeated() {
    let home = lake();
    let name = Path::new("events/date=2026-06-01/agent=openclaw/compacted.parquet");
    home.folder.create_dir_all(Path::new("lake/traj/v1").join(name).parent().unwrap()).unwrap();
    put_file(&home, "lake", name, &compacted(&["planted"], "nothing to hide"));
    assert_eq!(verified(&home, "lake")["compacted"], 1);
    put_file(&home, "lake", name, &compacted(&["planted"], &format!("export TOKEN={SECRET}")));
    let document = ended(&home, "lake-verify", 3, &verify(&home, "lake"));
    assert!(!document.to_string().contains(SECRET), "{document}");
    let finding = &document["result"]["findings"][0];
    assert_eq!((&finding["column"], &finding["seq"]), (&"data".into(), &1.into()), "{document}");
    assert!(finding["file"].as_str().unwrap().ends_with("compacted.parquet"));
    let people = home.traj(&["lake", "verify", "--at", "lake"]);
    assert_eq!(people.status.code(), Some(3));
    assert!(!String::from_utf8_lossy(&people.stdout).contains(SECRET));
    // A secret is worse than damage.
    let (other, _) = files(&home, "lake").pop_last().unwrap();
    put_file(&home, "lake", &other, b"torn");
    ended(&home, "lake-verify", 3, &verify(&home, "lake"));
}

#[test]
fn damage_in_any_file_is_found() {
    let home = lake();
    for (name, content) in files(&home, "lake") {
        let torn = &content[..content.len() / 2];
        let mut flipped = content.clone();
        // In the compressed rows, not in the description at the end.
        flipped[40] ^= 0x55;
        for damaged in [torn, &flipped, b"", b"PAR1"] {
            put_file(&home, "lake", &name, damaged);
            let found = problems(&home);
            let is_named = found.iter().any(|problem| {
                problem["file"].as_str().is_some_and(|file| file.ends_with(name.to_str().unwrap()))
            });
            assert!(is_named, "{}: {found:?}", name.display());
        }
        put_file(&home, "lake", &name, &content);
    }
    verified(&home, "lake");
}

#[test]
fn a_missing_file_is_a_gap_and_a_misplaced_one_is_named() {
    let home = lake();
    for (name, content) in files(&home, "lake") {
        let is_last = name.to_string_lossy().contains("date=2026-06-03");
        let path = Path::new("lake/traj/v1").join(&name);
        home.folder.remove_file(&path).unwrap();
        // Without the last totals, the session only looks shorter.
        if !(is_last && name.starts_with("sessions")) {
            assert!(!problems(&home).is_empty(), "{}", name.display());
        }
        let other = name.to_string_lossy().replace("-r1.", "-r7.");
        put_file(&home, "lake", Path::new(&other), &content);
        assert!(!problems(&home).is_empty(), "{other}");
        home.folder.remove_file(Path::new("lake/traj/v1").join(&other)).unwrap();
        put_file(&home, "lake", &name, &content);
    }
    verified(&home, "lake");
}

#[test]
fn no_damage_makes_it_crash() {
    let home = lake();
    let (name, content) = files(&home, "lake").pop_first().unwrap();
    for at in (0..content.len()).step_by(content.len() / 60) {
        let mut damaged = content.clone();
        damaged[at] ^= 0xff;
        put_file(&home, "lake", &name, &damaged);
        let output = verify(&home, "lake");
        // Some bytes mean nothing, such as those of statistics.
        assert!(matches!(output.status.code(), Some(0 | 4)), "{at}: {output:?}");
    }
}
