//! Runs a command on a pseudo terminal.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// What a command writes to a terminal of 60 columns, and its exit code.
///
/// # Panics
/// If there is no terminal, or the command cannot be started.
pub fn on_terminal(command: &mut Command) -> (String, Option<i32>) {
    let (master, terminal) = open_terminal();
    command.stderr(Stdio::null()).stdout(terminal);
    read_from(command, master)
}

/// The same for a command that asks something: this answer is typed.
///
/// # Panics
/// If there is no terminal, or the command cannot be started.
pub fn answered_on_terminal(command: &mut Command, answer: &str) -> (String, Option<i32>) {
    let (mut master, terminal) = open_terminal();
    let others = [(); 2].map(|()| terminal.try_clone().expect("a pseudo terminal works"));
    let [input, errors] = others;
    command.stdin(input).stderr(errors).stdout(terminal);
    master.write_all(answer.as_bytes()).expect("a pseudo terminal works");
    read_from(command, master)
}

/// Both ends of a terminal.
fn open_terminal() -> (File, OwnedFd) {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
    let master = openpt(flags).expect("a pseudo terminal works");
    grantpt(&master).expect("a pseudo terminal works");
    unlockpt(&master).expect("a pseudo terminal works");
    let size = Winsize { ws_row: 24, ws_col: 60, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&master, size).expect("a pseudo terminal works");
    let terminal = ioctl_tiocgptpeer(&master, flags).expect("a pseudo terminal works");
    (File::from(master), terminal)
}

/// Runs a command that has a terminal, and reads the other end.
fn read_from(command: &mut Command, mut master: File) -> (String, Option<i32>) {
    command.env("TERM", "xterm").env("TZ", "UTC0");
    let mut child = command.spawn().expect("a pseudo terminal works");
    // Closes our handles, so that only the child has the terminal open.
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut bytes = Vec::new();
    // Reading fails once no process has the terminal open for writing.
    master.read_to_end(&mut bytes).expect_err("the terminal is closed");
    let status = child.wait().expect("a pseudo terminal works");
    (
        String::from_utf8(bytes).expect("a pseudo terminal works").replace("\r\n", "\n"),
        status.code(),
    )
}
