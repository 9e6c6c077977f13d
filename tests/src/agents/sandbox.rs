//! A place to run an agent: a home, a workspace, and an environment that reaches only the loopback.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use tempfile::TempDir;

use super::model::AgentModel;
use super::program::{Agent, Invocation};
use crate::host::pinned::variable;

/// How long an agent may take for one prompt. OpenClaw loads its plugins for each.
const PATIENCE: Duration = Duration::from_secs(300);

/// How often a running agent is checked.
const LOOK: Duration = Duration::from_millis(25);

/// The made-up secrets in the workspace's settings, in two parts so that no scanner reports this
/// file.
pub const SECRETS: [(&str, &str); 3] = [
    ("ghp_", "q7Rk2VtY9wLmZx4BnC8sHd3FjKp6UeA1oTgM"),
    ("AKIA", "Q4WZ7RTN2XK9VBM3"),
    (
        "sk-ant-api03-",
        "Vb8Kq2Lx7Zr4Tn9Wd3Hs6Yp1Mc5Gf0Jt8Ua2Eo7Ri4Kx9Bv3Nz6Qw1Ld5Sh8Pj2Fy7Tm4Cg9Xr3Ve6-AAAAAAAA",
    ),
];

/// What an agent is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// A prompt in a new session.
    First(&'static str),
    /// A prompt in the newest session, from a new process.
    Next(&'static str),
    /// A prompt in a copy of the newest session.
    Fork(&'static str),
    /// Replace the conversation of the newest session by a summary.
    Compact,
}

/// A sandbox with a scripted model.
#[derive(Debug)]
pub struct AgentSandbox {
    root: TempDir,
    agent: Agent,
    /// The model that answers.
    pub model: AgentModel,
}

impl AgentSandbox {
    /// A sandbox for an agent; `None` if it is not installed.
    #[must_use]
    pub fn new(agent: Agent) -> Option<Self> {
        agent.program()?;
        let root = tempfile::tempdir().expect("a directory for the test");
        for name in ["home", "work", "tmp"] {
            create(&root.path().join(name));
        }
        let work = root.path().join("work");
        let model = AgentModel::start(&work, agent.helper()).expect("a model on the loopback");
        let sandbox = Self { root, agent, model };
        sandbox.fill_workspace();
        agent.configure(&sandbox);
        Some(sandbox)
    }

    fn fill_workspace(&self) {
        let mut settings = String::from("# made up\nGREETING=hello\n");
        for ((front, back), name) in
            SECRETS.iter().zip(["CODE_HOST", "CLOUD_ACCESS_KEY_ID", "MODEL"])
        {
            // Writing to a string cannot fail.
            let _ = writeln!(settings, "{name}_TOKEN={front}{back}");
        }
        // Some agents lose what a command prints right before it ends.
        let check = "got=$(sh ./total.sh)\nif [ \"$got\" = 5 ]; then echo \"the total is right\"; exit 0; fi\n\
                     echo \"expected 5, got $got\" >&2\nsleep 1\nexit 3\n";
        self.write(Path::new("work/settings.conf"), &settings);
        self.write(Path::new("work/total.sh"), "a=2\nb=3\ntotal=$((a - b))\necho \"$total\"\n");
        self.write(Path::new("work/check.sh"), check);
    }

    /// The agent's home.
    #[must_use]
    pub fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    /// The directory that the agent works in.
    #[must_use]
    pub fn workspace(&self) -> PathBuf {
        self.root.path().join("work")
    }

    /// Writes a file below the root of the sandbox.
    #[expect(clippy::disallowed_methods, reason = "a test's own temporary directory")]
    pub(super) fn write(&self, file: &Path, text: &str) {
        let file = self.root.path().join(file);
        create(file.parent().expect("a file is in a directory"));
        std::fs::write(file, text).expect("the file is written");
    }

    /// Runs the agent for one step. `None` if the agent does not support it.
    ///
    /// # Panics
    /// If it takes too long.
    #[must_use]
    pub fn run(&self, step: Step) -> Option<Output> {
        let invocation = self.agent.invocation(self, step)?;
        let child = self.start(&invocation);
        let group = Pid::from_child(&child);
        let waited = std::thread::spawn(move || child.wait_with_output());
        let start = Instant::now();
        while !waited.is_finished() {
            if start.elapsed() > PATIENCE {
                let _ = kill_process_group(group, Signal::KILL);
                break;
            }
            std::thread::sleep(LOOK);
        }
        let output = waited.join().expect("the thread ends").expect("the agent ends");
        let name = self.agent.name();
        assert!(
            start.elapsed() <= PATIENCE,
            "{name} took too long for {step:?}: {}",
            shown(&output)
        );
        Some(output)
    }

    /// Runs the agent until the model has served `script`, then ends it with a signal.
    #[must_use]
    pub fn stop(&self, step: Step, script: &str, signal: Signal) -> Option<Output> {
        let invocation = self.agent.invocation(self, step)?;
        let child = self.start(&invocation);
        let group = Pid::from_child(&child);
        let is_served = self.model.wait_for(script, PATIENCE);
        // The command of the script writes a file when it begins. The agent may then still be
        // storing the call.
        let begun = self.workspace().join("begun.txt");
        let start = Instant::now();
        while !begun.exists() && start.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(LOOK);
        }
        std::thread::sleep(Duration::from_secs(2));
        let _ = kill_process_group(group, signal);
        let waited = std::thread::spawn(move || child.wait_with_output());
        let start = Instant::now();
        while !waited.is_finished() && start.elapsed() < Duration::from_secs(15) {
            std::thread::sleep(LOOK);
        }
        let _ = kill_process_group(group, Signal::KILL);
        let output = waited.join().expect("the thread ends").expect("the agent ends");
        assert!(is_served, "{} never asked the model: {}", self.agent.name(), shown(&output));
        Some(output)
    }

    fn start(&self, invocation: &Invocation) -> Child {
        use std::os::unix::process::CommandExt as _;
        let mut command = Command::new(&invocation.program);
        // The discard port: requests to anything but the loopback fail at once.
        let nowhere = "http://127.0.0.1:9";
        let path = variable("PATH").unwrap_or_default();
        let path = match self.agent.node() {
            Some(node) => format!("{}:{path}", node.display()),
            None => path,
        };
        command
            .args(&invocation.arguments)
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.home())
            .env("TMPDIR", self.root.path().join("tmp"))
            .envs([("USER", "dev"), ("LOGNAME", "dev"), ("SHELL", "/bin/bash"), ("NO_COLOR", "1")])
            .envs([("HTTP_PROXY", nowhere), ("HTTPS_PROXY", nowhere)])
            .envs([("http_proxy", nowhere), ("https_proxy", nowhere)])
            .envs([("NO_PROXY", "127.0.0.1,localhost"), ("no_proxy", "127.0.0.1,localhost")])
            .envs(invocation.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(self.workspace())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        command.spawn().expect("the agent starts")
    }

    /// The sessions that the agent wrote, oldest first.
    #[must_use]
    pub fn sessions(&self) -> Vec<PathBuf> {
        self.agent.sessions(self)
    }
}

/// The end of what a program printed.
fn shown(output: &Output) -> String {
    let end = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        let skipped = text.chars().count().saturating_sub(600);
        text.chars().skip(skipped).collect::<String>()
    };
    format!("{}; stdout …{}; stderr …{}", output.status, end(&output.stdout), end(&output.stderr))
}

#[expect(clippy::disallowed_methods, reason = "a test's own temporary directory")]
fn create(folder: &Path) {
    std::fs::create_dir_all(folder).expect("the directory is made");
}
