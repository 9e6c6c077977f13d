//! Places and options that are refused, with a hint and without the place's secrets.

use serde_json::Value;
use traj_tests::export_home::{ExportHome as Home, result};

use super::{ended, files, shipped};

#[test]
fn options_that_contradict_each_other_are_refused() {
    let home = Home::new();
    for wrong in [
        &["ship", "--to", "lake"][..],
        &["ship", "s1.jsonl"],
        &["ship", "s1.jsonl", "--all", "--to", "lake"],
        &["ship", "s1.jsonl", "--to", "lake", "--every", "5m"],
        &["ship", "--all", "--to", "lake", "--watch", "--dry-run"],
        &["ship", "--all", "--to", "lake", "--watch", "--every", "0s"],
        &["ship", "-", "--to", "lake"],
        &["lake", "verify"],
        &["lake", "forget", "--at", "lake", "--yes"],
    ] {
        let output = home.traj(wrong);
        assert_eq!(output.status.code(), Some(2), "{wrong:?} {output:?}");
    }
    assert!(!home.folder.exists("lake"));
}

/// Places that no command accepts.
const REFUSED: [&str; 14] = [
    "",
    "ftp://lake",
    "lake://b",
    "file://",
    "file://host/srv/lake",
    "file:lake",
    "s3:bucket/p",
    "s3//bucket/p",
    "s3://",
    "s3://key:made-up-secret@bucket/p",
    "https://s3.example/bucket?X-Amz-Signature=made-up-secret",
    "az://container/p#made-up-secret",
    "file:///srv/lake?token=made-up-secret",
    "file:///srv/*/made-up-secret",
];

#[test]
fn a_place_that_cannot_be_one_is_refused_with_a_hint() {
    let home = Home::new();
    for place in REFUSED {
        for (verb, arguments) in [
            ("ship", &["ship", "s1.jsonl", "--json", "--to"][..]),
            ("lake-verify", &["lake", "verify", "--json", "--at"]),
            ("lake-forget", &["lake", "forget", "s1", "--json", "--yes", "--at"]),
        ] {
            let output = home.traj(&[arguments, &[place]].concat());
            let document = ended(&home, verb, 2, &output);
            assert!(document["error"]["hints"][0].is_string(), "{place}: {document}");
            let said = format!("{document}{}", String::from_utf8_lossy(&output.stderr));
            assert!(!said.contains("made-up-secret"), "{said}");
        }
    }
}

#[test]
fn a_directory_without_a_dataset_is_not_a_success() {
    let home = Home::new();
    home.folder.create_dir("empty").unwrap();
    for place in ["missing", "empty", "s1.jsonl"] {
        for (verb, arguments) in [
            ("lake-verify", &["lake", "verify", "--json", "--at"][..]),
            ("lake-forget", &["lake", "forget", "s1", "--json", "--yes", "--at"]),
        ] {
            let document = ended(&home, verb, 1, &home.traj(&[arguments, &[place]].concat()));
            assert!(document["error"]["hints"][0].is_string(), "{place}: {document}");
        }
    }
    assert!(!home.folder.exists("missing"), "looking creates nothing");
}

#[test]
fn a_missing_directory_is_created_with_everything_above_it() {
    let home = Home::new();
    let url = format!("file://{}/a/b/lake", home.path().display());
    assert_eq!(shipped(&home, &url, &[])["shipped"], 1);
    assert_eq!(files(&home, "a/b/lake").len(), 2);
    // The same place as a path.
    let again = home.traj(&["ship", "s1.jsonl", "--to", "a/b/lake", "--json"]);
    assert_eq!(result(&again)["result"]["unchanged"], Value::from(1));
}
