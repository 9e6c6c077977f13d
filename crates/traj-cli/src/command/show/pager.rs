//! Writes text to a pager on a terminal, else to standard output.

use std::io::{self, IsTerminal as _, Write as _};
use std::ops::ControlFlow;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use traj_core::settings::configuration::Preferences;

use crate::command_error::{CommandError, ErrorKind};
use crate::compose::Host;
use crate::output::{CommandOutput, cannot_print};

/// The default pager. `-R` passes colours through, `-F` quits at once if
/// everything fits on the screen, `-X` leaves the text there.
const USUAL: &str = "less -RFX";

/// The destination of the text.
#[derive(Debug)]
pub(super) struct Paper<'o> {
    output: &'o CommandOutput,
    host: &'o Host,
    wants_pager: bool,
    is_colored: bool,
    pager: Option<Child>,
    /// The error after which nothing more can be written.
    fault: Option<CommandError>,
}

impl<'o> Paper<'o> {
    pub(super) fn new(allows_pager: bool, host: &'o Host, output: &'o CommandOutput) -> Self {
        let choice = anstream::AutoStream::choice(&io::stdout());
        let is_colored = choice != anstream::ColorChoice::Never;
        let wants_pager = allows_pager && io::stdout().is_terminal();
        Self { output, host, wants_pager, is_colored, pager: None, fault: None }
    }

    /// Runs `work` and waits until the user quits the pager. Quitting early is
    /// not an error.
    pub(super) fn print<T>(
        mut self,
        work: impl FnOnce(&mut Self) -> Result<T, CommandError>,
    ) -> Result<T, CommandError> {
        let worked = work(&mut self);
        if let Some(mut pager) = self.pager.take() {
            drop(pager.stdin.take());
            // The exit code of the pager does not matter.
            pager.wait().ok();
        }
        match self.fault.take().filter(|fault| fault.kind != ErrorKind::ClosedPipe) {
            Some(fault) => Err(fault),
            None => worked,
        }
    }

    /// Writes text and returns whether more can be written. The first call
    /// starts the pager.
    pub(super) fn write(&mut self, text: &str) -> ControlFlow<()> {
        if self.fault.is_some() {
            return ControlFlow::Break(());
        }
        if std::mem::take(&mut self.wants_pager) {
            self.pager = start(self.host);
        }
        let written = match self.pager.as_mut().and_then(|pager| pager.stdin.as_mut()) {
            Some(stdin) if self.is_colored => stdin.write_all(text.as_bytes()),
            Some(stdin) => {
                let plain = anstream::adapter::strip_str(text).to_string();
                stdin.write_all(plain.as_bytes())
            }
            None => return self.noted(self.output.write_text(text)),
        };
        self.noted(written.map_err(cannot_print))
    }

    fn noted(&mut self, written: Result<(), CommandError>) -> ControlFlow<()> {
        self.fault = written.err();
        if self.fault.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Starts the pager; `None` if it cannot be started.
fn start(host: &Host) -> Option<Child> {
    let named = Preferences::from_host(&host.facts).pager.value;
    let mut words = named.as_deref().unwrap_or(USUAL).split_whitespace();
    let program = words.next().filter(|program| *program != "cat")?;
    let pager = Command::new(program).args(words).stdin(Stdio::piped()).spawn().ok()?;
    // While the pager runs, it handles Ctrl-C; traj ends when the pager does.
    let noted = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGINT, noted).ok();
    Some(pager)
}
