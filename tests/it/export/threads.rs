//! Exports on several threads give the same bytes.

use traj_tests::export_home::{EXPORTS, ExportHome as Home};
use traj_tests::rows::{next_message, user};

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let home = Home::new();
    // Many groups of rows, so that several are processed at a time.
    let text = user(&"some words ".repeat(400));
    let row = |number: u32| next_message(number, &text).json();
    home.put_session(&(0..500).map(row).collect::<Vec<_>>());
    let export = |threads: &str| {
        let name = format!("with-{threads}");
        let more = ["--threads", threads, "--archive", "zip", "--output", &name];
        assert!(home.export(&more).status.success(), "{threads}");
        home.folder.read(format!("{EXPORTS}/{name}.zip")).unwrap()
    };
    let one = export("1");
    assert!(export("2") == one && export("4") == one);
    for wrong in ["0", "17", "many", "-1"] {
        assert_eq!(home.export(&["--threads", wrong]).status.code(), Some(2), "{wrong}");
    }
}
