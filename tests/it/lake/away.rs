//! A dataset that cannot be reached: files wait on this host, up to a limit.

use serde_json::Value;
use traj_tests::export_home::ExportHome as Home;

use super::{done, ended, turns};

const TURNS: usize = 5;

/// Ships to a port on which nothing listens.
fn ship(home: &Home, most: &str) -> Value {
    let url = "http://127.0.0.1:1/bucket";
    let credentials = [("AWS_ACCESS_KEY_ID", "fleet"), ("AWS_SECRET_ACCESS_KEY", "made-up-secret")];
    let output = home
        .traj_with(&credentials, &["ship", "s1.jsonl", "--to", url, "--json", "--max-spool", most]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!said.contains("made-up-secret"), "{said}");
    ended(home, "ship", 1, &output)["result"].clone()
}

#[test]
fn finished_files_wait_and_what_exceeds_the_limit_is_counted() {
    let home = Home::new();
    home.put_session(&turns(TURNS));
    let all = ship(&home, "1G");
    assert_eq!((&all["waiting"], &all["shipped"]), (&1.into(), &0.into()), "{all}");
    assert!(all["unreachable"].is_string(), "{all}");
    let spool = &all["spool"];
    assert_eq!((&spool["segments"], &spool["dropped"]), (&TURNS.into(), &0.into()), "{all}");
    // There is not enough room for all of them, and there is one more.
    home.put_session(&turns(TURNS + 1));
    let most = (spool["bytes"].as_u64().unwrap() * 7 / 10).to_string();
    let some = ship(&home, &most);
    let [waiting, bytes, dropped] =
        ["segments", "bytes", "dropped"].map(|name| some["spool"][name].as_u64().unwrap());
    assert!(bytes <= most.parse().unwrap(), "{some}");
    assert!(waiting > 0 && dropped > 0, "{some}");
    let doctor = done(&home, "doctor", &home.traj(&["doctor", "--json"]));
    let shipping = &doctor["shipping"][0];
    assert_eq!((&shipping["waiting"], &shipping["dropped"]), (&waiting.into(), &dropped.into()));
    assert!(shipping["lastError"].is_string() && shipping["completeAt"].is_null(), "{shipping}");
}
