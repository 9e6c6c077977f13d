//! The binary that other tests run exists and is traj.

use traj_tests::traj_binary::traj_command;

#[test]
fn the_binary_says_its_name() {
    let home = tempfile::tempdir().unwrap();
    let output = traj_command(home.path()).arg("--version").output().unwrap();
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("traj "));
}
