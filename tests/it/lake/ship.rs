//! What `traj ship` ships, and when.

use super::{SECRET, done, ended, files, put_file, ship, shipped, turns, verified, verify};
use traj_tests::export_home::ExportHome as Home;

#[test]
fn a_session_is_shipped_once_and_nothing_of_it_is_secret() {
    let home = Home::new();
    home.put_session(&turns(3));
    let first = shipped(&home, "lake", &[]);
    assert_eq!((&first["shipped"], &first["unchanged"]), (&1.into(), &0.into()));
    assert_eq!(first["segments"], 3, "one for each day");
    let before = files(&home, "lake");
    assert_eq!(before.len(), 6, "{:?}", before.keys());
    for (name, content) in &before {
        let text = String::from_utf8_lossy(content);
        assert!(!text.contains(SECRET), "{}", name.display());
    }
    let again = shipped(&home, "lake", &[]);
    assert_eq!((&again["shipped"], &again["unchanged"]), (&0.into(), &1.into()));
    assert_eq!(files(&home, "lake"), before);
}

#[test]
fn a_session_that_grows_gets_new_segments_and_one_that_changes_new_revisions() {
    let home = Home::new();
    home.put_session(&turns(2));
    shipped(&home, "lake", &[]);
    let before = files(&home, "lake");
    home.put_session(&turns(4));
    let grown = shipped(&home, "lake", &[]);
    assert_eq!((&grown["segments"], &grown["revised"]), (&2.into(), &0.into()));
    let after = files(&home, "lake");
    assert!(before.iter().all(|(name, content)| after.get(name) == Some(content)));
    let changed: Vec<String> =
        turns(4).iter().map(|row| row.replace("turn 1 with", "turn one with")).collect();
    home.put_session(&changed);
    let revised = shipped(&home, "lake", &[]);
    assert_eq!(revised["revised"], 1, "{revised}");
    home.put_session(&turns(1));
    shipped(&home, "lake", &[]);
    let found = verified(&home, "lake");
    let fresh = shipped(&home, "fresh", &[]);
    assert_eq!(fresh["segments"], 1);
    let expected = verified(&home, "fresh");
    assert_eq!(found["events"], expected["events"]);
    assert!(found["replaced"].as_u64() > Some(4), "{found}");
}

#[test]
fn a_lost_log_and_a_removed_dataset_cost_nothing_but_time() {
    let home = Home::new();
    home.put_session(&turns(3));
    shipped(&home, "lake", &[]);
    let before = files(&home, "lake");
    home.folder.remove_dir_all(".openclaw/traj/ship").unwrap();
    let again = shipped(&home, "lake", &[]);
    assert_eq!((&again["segments"], &again["unchanged"]), (&0.into(), &1.into()));
    assert_eq!(files(&home, "lake"), before);
    home.folder.remove_dir_all("lake").unwrap();
    assert_eq!(shipped(&home, "lake", &[])["segments"], 3);
    assert_eq!(files(&home, "lake"), before);
}

#[test]
fn what_cannot_be_stored_is_said_and_the_rest_is_shipped() {
    let home = Home::new();
    home.put_session(&turns(2));
    home.folder.write("lake", "a file").unwrap();
    let refused = ended(&home, "ship", 1, &ship(&home, "lake", &[]));
    assert!(refused["error"]["hints"][0].is_string(), "{refused}");
    home.folder.remove_file("lake").unwrap();
    let both = ["ship", "missing.jsonl", "s1.jsonl", "--to", "lake", "--json"];
    let report = ended(&home, "ship", 1, &home.traj(&both))["result"].clone();
    assert_eq!((&report["shipped"], &report["failed"]), (&1.into(), &1.into()));
    let doctor = done(&home, "doctor", &home.traj(&["doctor", "--json"]));
    let shipping = doctor["shipping"][0].clone();
    assert_eq!(shipping["behind"], 1, "{shipping}");
    assert!(shipping["lastError"].is_string());
    shipped(&home, "lake", &[]);
    let doctor = done(&home, "doctor", &home.traj(&["doctor", "--json"]));
    assert!(doctor["shipping"][0]["lastError"].is_null(), "{doctor}");
    assert!(doctor["shipping"][0]["lagSeconds"].is_number());
}

#[test]
fn a_dry_run_stores_nothing_and_a_damaged_file_gets_a_revision() {
    let home = Home::new();
    home.put_session(&turns(2));
    let dry = shipped(&home, "lake", &["--dry-run"]);
    assert_eq!((&dry["segments"], &dry["dryRun"]), (&2.into(), &true.into()));
    assert!(!home.folder.exists("lake"), "a dry run creates nothing");
    shipped(&home, "lake", &[]);
    let dry = shipped(&home, "lake", &["--dry-run"]);
    assert_eq!((&dry["segments"], &dry["unchanged"]), (&0.into(), &1.into()));
    let before = files(&home, "lake");
    let (name, _) = before.first_key_value().unwrap();
    put_file(&home, "lake", name, b"torn");
    home.folder.remove_dir_all(".openclaw/traj/ship").unwrap();
    // Its totals say that it is there, so only a check finds it.
    shipped(&home, "lake", &[]);
    ended(&home, "lake-verify", 4, &verify(&home, "lake"));
}
