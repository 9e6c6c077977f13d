//! A shipper that is killed at any moment, and others that run beside it.

use std::process::{Child, Stdio};

use traj_tests::export_home::ExportHome as Home;
use traj_tests::traj_binary::traj_command;

use super::{files, shipped, turns, verified};

const SHIP: [&str; 5] = ["ship", "s1.jsonl", "--to", "lake", "--json"];

fn start(home: &Home) -> Child {
    let mut command = traj_command(home.path());
    command.args(SHIP).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("it starts")
}

/// Kills a shipper when the dataset has `count` files, unless it ended before.
fn kill_at(home: &Home, count: usize) -> bool {
    let mut child = start(home);
    loop {
        if child.try_wait().expect("it can be asked").is_some() {
            return false;
        }
        if files(home, "lake").len() >= count {
            child.kill().expect("it can be killed");
            child.wait().expect("it is gone");
            return true;
        }
        std::thread::yield_now();
    }
}

#[test]
fn a_killed_shipper_continues_where_it_was() {
    let home = Home::new();
    home.put_session(&turns(20));
    let mut killed = 0;
    // Each time with more files, odd and even numbers: between the two of a segment too.
    for count in [0, 1, 2, 5, 8, 13, 20, 27, 33, 38] {
        killed += u32::from(kill_at(&home, count));
        if count == 8 {
            home.folder.remove_dir_all(".openclaw/traj/ship").unwrap();
        }
    }
    assert!(killed > 2, "it was killed {killed} times");
    shipped(&home, "lake", &[]);
    shipped(&home, "fresh", &[]);
    assert!(files(&home, "lake") == files(&home, "fresh"), "the bytes are those of one run");
    assert_eq!(verified(&home, "lake"), {
        let mut fresh = verified(&home, "fresh");
        fresh["dataset"] = verified(&home, "lake")["dataset"].clone();
        fresh
    });
}

#[test]
fn several_shippers_of_a_session_write_what_one_writes() {
    let home = Home::new();
    home.put_session(&turns(12));
    let mut children: Vec<Child> = (0..4).map(|_| start(&home)).collect();
    for child in &mut children {
        assert!(child.wait().expect("it ends").success());
    }
    shipped(&home, "lake", &[]);
    shipped(&home, "fresh", &[]);
    assert!(files(&home, "lake") == files(&home, "fresh"), "the bytes are those of one run");
}
