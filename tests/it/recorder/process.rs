//! Recorders in separate processes: started, given commands, killed.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The helper binary of this package.
pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_recorder-child");

/// A variable that keeps a process from starting threads: no stack can be this large.
pub(crate) const NO_THREADS: (&str, &str) = ("RUST_MIN_STACK", "1152921504606846976");

/// A recorder of the session `chat` in a separate process.
#[derive(Debug)]
pub(crate) struct RecorderProcess {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl RecorderProcess {
    pub(crate) fn start(folder: &Path, settings: &[&str]) -> Self {
        let mut command = Command::new(BINARY);
        command.arg(folder).args(settings);
        Self::spawn(command)
    }

    pub(crate) fn spawn(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the helper starts");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("it was asked for"));
        Self { child, input, output }
    }

    /// Sends a command without waiting for the answer.
    pub(crate) fn tell(&mut self, command: &str) {
        let input = self.input.as_mut().expect("it was asked for");
        writeln!(input, "{command}").expect("the helper listens");
    }

    /// The next line of its output; `None` if it has ended.
    pub(crate) fn hear(&mut self) -> Option<String> {
        let mut line = String::new();
        let count = self.output.read_line(&mut line).expect("it speaks UTF-8");
        // An incomplete last line is ignored.
        (count > 0 && line.ends_with('\n')).then(|| line.trim_end().to_owned())
    }

    /// Sends a command and waits for the answer.
    pub(crate) fn ask(&mut self, command: &str) -> String {
        self.tell(command);
        self.hear().expect("an answer")
    }

    /// Kills it and returns the remaining lines of its output.
    pub(crate) fn kill(mut self) -> Vec<String> {
        self.child.kill().expect("a process to kill");
        self.child.wait().expect("its end");
        std::iter::from_fn(|| self.hear()).collect()
    }

    /// Lets it end by itself, which flushes.
    pub(crate) fn finish(mut self) {
        drop(self.input.take());
        assert!(self.child.wait().expect("its end").success());
    }
}
