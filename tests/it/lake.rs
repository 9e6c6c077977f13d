//! Datasets of many hosts, with the real program and a directory.
//!
//! - `ship`: what is shipped, and when
//! - `all`: every session of a home
//! - `away`: a dataset that cannot be reached
//! - `use_rules`: places and options that are refused
//! - `killed`: a shipper that is killed at any moment
//! - `watch`: rounds until a signal
//! - `verify`: damage, gaps and secrets are found
//! - `forget`: a session goes away and stays away

mod all;
mod away;
mod forget;
mod killed;
mod ship;
mod use_rules;
mod verify;
mod watch;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;
use traj_tests::export_home::{ExportHome as Home, result};
use traj_tests::json_schema::violations;
use traj_tests::rows::{self, assistant, message, tool_result, user};

/// A made-up credential.
const SECRET: &str = "ghp_R7kQ2mVx9LtB4nZc8WpY1sHd6GfJ3aKe5TuN";

/// The rows of a session of `count` turns, each on a separate day, so that each is
/// a segment.
fn turns(count: usize) -> Vec<String> {
    let mut rows: Vec<String> = Vec::new();
    for turn in 0..count {
        let call = format!("c{turn}");
        let row = |name: &str, parent: Option<&str>, content: rows::Row| {
            let row = message(name, parent, 1, content);
            row.replace("2026-06-01T", &format!("2026-06-{:02}T", turn + 1))
        };
        let names = ["p", "a", "r"].map(|kind| format!("{kind}{turn}"));
        let before = turn.checked_sub(1).map(|before| format!("r{before}"));
        rows.push(row(&names[0], before.as_deref(), user(&format!("turn {turn} with {SECRET}"))));
        let asked = format!(
            r#"{{"type":"toolCall","id":"{call}","name":"shell","arguments":{{"command":"make"}}}}"#
        );
        rows.push(row(&names[1], Some(&names[0]), assistant(&asked)));
        rows.push(row(&names[2], Some(&names[1]), tool_result(&call, "shell", "made")));
    }
    rows
}

/// Ships the session to a directory of the home.
fn ship(home: &Home, lake: &str, more: &[&str]) -> Output {
    home.traj(&[&["ship", "s1.jsonl", "--to", lake, "--json"], more].concat())
}

/// What was shipped, if everything was.
fn shipped(home: &Home, lake: &str, more: &[&str]) -> Value {
    done(home, "ship", &ship(home, lake, more))
}

fn verify(home: &Home, lake: &str) -> Output {
    home.traj(&["lake", "verify", "--at", lake, "--json"])
}

/// What a dataset contains, if nothing is wrong with it.
fn verified(home: &Home, lake: &str) -> Value {
    done(home, "lake-verify", &verify(home, lake))
}

/// The document of a command that ended with this code, after a look at its schema.
fn ended(home: &Home, verb: &str, code: i32, output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(code), "{said}{printed}");
    let schema = home.traj(&["schema", &format!("cli/{verb}")]).stdout;
    let schema = serde_json::from_slice(&schema).expect("a schema");
    let document = result(output);
    assert_eq!(violations(&schema, &document), Vec::<String>::new(), "{document}");
    document
}

/// The result of a command that did its work.
fn done(home: &Home, verb: &str, output: &Output) -> Value {
    ended(home, verb, 0, output)["result"].clone()
}

/// The files of a dataset, by their path in it.
fn files(home: &Home, lake: &str) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for table in ["events", "sessions"] {
        add_below(
            &home.path().join(lake).join("traj/v1").join(table),
            Path::new(table),
            &mut found,
        );
    }
    found
}

#[expect(clippy::disallowed_methods, reason = "a test looks at its own directory")]
fn add_below(folder: &Path, name: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), name.join(entry.file_name()));
        if path.is_dir() {
            add_below(&path, &name, found);
        } else if name.extension().is_some_and(|ending| ending == "parquet") {
            found.insert(name, std::fs::read(path).expect("it can be read"));
        }
    }
}

/// Replaces a file of a dataset.
#[expect(clippy::disallowed_methods, reason = "a test changes its own directory")]
fn put_file(home: &Home, lake: &str, name: &Path, content: &[u8]) {
    std::fs::write(home.path().join(lake).join("traj/v1").join(name), content).expect("written");
}
