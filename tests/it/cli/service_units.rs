//! The units of service managers in `packaging` are valid, and start commands that exist.
#![expect(
    clippy::disallowed_methods,
    reason = "tests look at the repository and at their own files"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use traj_tests::host::skipped::skipped;
use traj_tests::traj_binary::{printed, traj_binary, traj_command};

/// Where the units expect the program.
const PROGRAM: &str = "/usr/local/bin/traj";

const PLIST: &str = "launchd/dev.traj.ship.plist";

fn packaged(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../packaging");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

/// The value of a member of a unit.
fn member<'u>(unit: &'u str, name: &str) -> Option<&'u str> {
    unit.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='))
}

/// A home with one session and the file of variables that the units read.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let write = |path: &str, text: String| {
        let path = home.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let session = ".pi/agent/sessions/--srv--/2026-05-01T10-00-00_0197f2c4.jsonl";
    let rows = [
        r#"{"type":"session","version":3,"id":"0197f2c4","timestamp":"2026-05-01T10:00:00.000Z","cwd":"/srv"}"#,
        r#"{"type":"message","id":"1","parentId":null,"timestamp":"2026-05-01T10:00:01.000Z","message":{"role":"user","content":"hello"}}"#,
    ];
    write(session, rows.join("\n") + "\n");
    // The events of a session that is being written would wait.
    let file = std::fs::File::options().write(true).open(home.path().join(session)).unwrap();
    let an_hour_ago = file.metadata().unwrap().modified().unwrap() - Duration::from_secs(3_600);
    file.set_modified(an_hour_ago).unwrap();
    let dataset = home.path().join("lake");
    write(".config/traj/ship.env", format!("TRAJ_SHIP_TO=file://{}\n", dataset.display()));
    home
}

/// The files of events in the dataset.
fn stored(home: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut ahead = vec![home.join("lake/traj/v1/events")];
    while let Some(folder) = ahead.pop() {
        let Ok(entries) = std::fs::read_dir(folder) else { continue };
        for entry in entries.flatten() {
            let is_folder = entry.file_type().unwrap().is_dir();
            if is_folder { &mut ahead } else { &mut found }.push(entry.path());
        }
    }
    found
}

fn said(output: &Output) -> String {
    format!("{} {}", printed(output), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn systemd_accepts_the_units() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["traj-ship.service", "traj-ship-once.service", "traj-ship-once.timer"];
    for name in names {
        let unit = packaged(&format!("systemd/{name}"));
        // systemd checks that the program exists.
        let unit = unit.replace(PROGRAM, traj_binary().to_str().unwrap());
        // systemd also looks for the manual page, which is not installed here.
        let unit = unit.replace("man:traj(1)", "https://example.org/traj");
        std::fs::write(folder.path().join(name), unit).unwrap();
    }
    let mut command = Command::new("systemd-analyze");
    // The man page is not installed yet.
    command.args(["--user", "--man=no", "verify"]).args(names.map(|name| folder.path().join(name)));
    match command.env("XDG_RUNTIME_DIR", folder.path()).stdin(Stdio::null()).output() {
        Ok(output) => {
            let said = said(&output);
            assert!(output.status.success() && !said.contains("traj-ship"), "{said}");
        }
        // The other tests read them without systemd.
        Err(_) => println!("there is no systemd-analyze here"),
    }
}

#[test]
fn the_command_of_each_systemd_unit_ships() {
    for name in ["systemd/traj-ship-once.service", "systemd/traj-ship.service"] {
        let unit = packaged(name);
        assert_eq!(member(&unit, "EnvironmentFile"), Some("%h/.config/traj/ship.env"), "{name}");
        let command = member(&unit, "ExecStart").unwrap();
        let arguments = command.strip_prefix(PROGRAM).unwrap().split_whitespace();
        let home = home();
        let to = format!("file://{}", home.path().join("lake").display());
        let arguments = arguments.map(|argument| argument.replace("${TRAJ_SHIP_TO}", &to));
        let mut command = traj_command(home.path());
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        run_until_stored(&mut command, home.path());
    }
}

#[test]
fn the_timer_starts_a_unit_that_exists() {
    let timer = packaged("systemd/traj-ship-once.timer");
    assert_eq!(member(&timer, "Unit"), None, "the unit of the same name is started");
    assert!(member(&timer, "OnCalendar").is_some());
    assert!(member(&packaged("systemd/traj-ship-once.service"), "Type") == Some("oneshot"));
}

#[test]
fn the_property_list_is_one() {
    let script = "import json, plistlib, sys; \
                  print(json.dumps(plistlib.load(sys.stdin.buffer)))";
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("../packaging").join(PLIST);
    let input = std::fs::File::open(list).unwrap();
    let output = Command::new("python3").args(["-c", script]).stdin(input).output();
    let Ok(output) = output else { return skipped("python3 is not installed") };
    assert!(output.status.success(), "{}", said(&output));
    let list: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(list["Label"], "dev.traj.ship");
    let arguments: Vec<&str> = list["ProgramArguments"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| part.as_str().unwrap())
        .collect();
    let [shell, argument, script] = arguments[..] else { panic!("{arguments:?}") };
    assert_eq!((shell, argument), ("/bin/sh", "-c"));
    let home = home();
    let mut command = Command::new(shell);
    command.args([argument, script]).env_clear().env("HOME", home.path());
    command.env("TRAJ_PROGRAM", traj_binary()).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    run_until_stored(&mut command, home.path());
}

/// Runs a command until its session is in the dataset, and stops it as a service manager
/// does.
fn run_until_stored(command: &mut Command, home: &Path) {
    let mut child = command.spawn().unwrap();
    let mut ended = None;
    while ended.is_none() && stored(home).is_empty() {
        ended = child.try_wait().unwrap();
        std::thread::yield_now();
    }
    if ended.is_none() {
        let id = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(id, rustix::process::Signal::TERM).ok();
    }
    let output = child.wait_with_output().unwrap();
    assert_eq!(stored(home).len(), 1, "{}", said(&output));
    // A signal in the middle of a round that is not watched has its own exit code.
    assert!(matches!(output.status.code(), Some(0 | 143)), "{}: {}", output.status, said(&output));
}
