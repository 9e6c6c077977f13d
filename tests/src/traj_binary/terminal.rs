//! Runs a command on a pseudo terminal.

use std::fs::File;
use std::io::Read as _;
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// What a command writes to a terminal of 60 columns, and its exit code.
///
/// # Panics
/// If there is no terminal, or the command cannot be started.
pub fn on_terminal(command: &mut Command) -> (String, Option<i32>) {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
    let master = openpt(flags).expect("a pseudo terminal works");
    grantpt(&master).expect("a pseudo terminal works");
    unlockpt(&master).expect("a pseudo terminal works");
    let size = Winsize { ws_row: 24, ws_col: 60, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&master, size).expect("a pseudo terminal works");
    let terminal = ioctl_tiocgptpeer(&master, flags).expect("a pseudo terminal works");
    command.env("TERM", "xterm").env("TZ", "UTC0").stderr(Stdio::null());
    let mut child = command.stdout(terminal).spawn().expect("a pseudo terminal works");
    // Closes our handle, so that only the child has the terminal open.
    command.stdout(Stdio::null());
    let (mut bytes, mut master) = (Vec::new(), File::from(master));
    // Reading fails once no process has the terminal open for writing.
    master.read_to_end(&mut bytes).expect_err("the terminal is closed");
    let status = child.wait().expect("a pseudo terminal works");
    (
        String::from_utf8(bytes).expect("a pseudo terminal works").replace("\r\n", "\n"),
        status.code(),
    )
}
