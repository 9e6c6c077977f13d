//! Rounds until a signal.

use std::process::{Child, Stdio};
use std::time::{Duration, SystemTime};

use rustix::process::{Pid, Signal, kill_process};
use traj_tests::export_home::ExportHome as Home;
use traj_tests::traj_binary::traj_command;

use super::{files, shipped, turns, verified};

fn start(home: &Home, more: &[&str]) -> Child {
    let mut command = traj_command(home.path());
    command.args(["ship", "s1.jsonl", "--to", "lake", "--json"]).args(more);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("it starts")
}

/// Waits until the dataset has `count` files; `false` if the process ended before.
fn wait_for(home: &Home, child: &mut Child, count: usize) -> bool {
    while files(home, "lake").len() < count {
        if child.try_wait().expect("it can be asked").is_some() {
            return false;
        }
        std::thread::yield_now();
    }
    true
}

fn stop(child: &mut Child, signal: Signal) -> Option<i32> {
    kill_process(Pid::from_child(child), signal).expect("it runs");
    child.wait().expect("it ends").code()
}

#[test]
fn a_watch_ships_what_is_full_and_ends_with_a_signal() {
    for signal in [Signal::TERM, Signal::INT] {
        let home = Home::new();
        home.put_session(&turns(3));
        let mut child = start(&home, &["--watch", "--every", "1s"]);
        assert!(wait_for(&home, &mut child, 4), "{signal:?}");
        assert_eq!(stop(&mut child, signal), Some(0), "{signal:?}");
        assert_eq!(files(&home, "lake").len(), 4, "the last day is not over");
    }
}

#[test]
fn a_watch_sees_that_a_session_grew() {
    let home = Home::new();
    home.put_session(&turns(3));
    let mut child = start(&home, &["--watch", "--every", "1s"]);
    assert!(wait_for(&home, &mut child, 4));
    home.put_session(&turns(5));
    assert!(wait_for(&home, &mut child, 8));
    assert_eq!(stop(&mut child, Signal::TERM), Some(0));
}

#[test]
fn an_idle_session_is_shipped_up_to_its_last_event() {
    let home = Home::new();
    home.put_session(&turns(2));
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_780_000_000);
    for name in ["s1.jsonl", "s1.trajectory.jsonl"] {
        let file = home.folder.open_with(name, cap_std::fs::OpenOptions::new().write(true));
        file.unwrap().into_std().set_modified(long_ago).unwrap();
    }
    let mut child = start(&home, &["--watch", "--every", "1s"]);
    assert!(wait_for(&home, &mut child, 4));
    assert_eq!(stop(&mut child, Signal::TERM), Some(0));
}

#[test]
fn a_signal_ends_a_single_round_with_its_number() {
    let home = Home::new();
    home.put_session(&turns(25));
    let mut child = start(&home, &[]);
    assert!(wait_for(&home, &mut child, 2), "it stores many files");
    assert_eq!(stop(&mut child, Signal::TERM), Some(143));
    shipped(&home, "lake", &[]);
    verified(&home, "lake");
    assert_eq!(files(&home, "lake").len(), 50);
}
