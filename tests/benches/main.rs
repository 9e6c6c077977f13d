//! Performance figures of the workspace, as ratios of two measurements of the same
//! run.
//!
//! Absolute times say more about the machine than about the code; a ratio to a
//! stated baseline does not. One file per subject; `cargo xtask
//! bench` builds and runs this. A new subject is a function that returns
//! [`Figure`]s and a line in [`SUBJECTS`].
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a tool for the terminal")]
#![expect(clippy::disallowed_methods, reason = "measures against bare files, and reads /proc")]

mod arguments;
mod care;
mod codex;
mod convert;
mod export;
mod figure;
mod fleet;
mod import;
mod measure;
mod natural;
mod reading;
mod recorder;
mod redaction;
mod sample;
mod sessions;
mod startup;
mod texts;
mod view;

use std::process::ExitCode;

use arguments::Arguments;
use figure::Figure;

/// The parameters of a run, for its subjects.
#[derive(Debug)]
pub(crate) struct Bench {
    /// Use small inputs once, only to prove that the subject runs.
    pub(crate) smoke: bool,
    /// The built `traj` binary, for subjects that measure a child process.
    pub(crate) traj: Option<std::path::PathBuf>,
    /// The generated sessions, for subjects that read large ones.
    pub(crate) cases: Option<std::path::PathBuf>,
    /// The installed programs that the page is compared with.
    pub(crate) peers: Option<std::path::PathBuf>,
    /// The Python of the query engines, for subjects that ask them.
    pub(crate) engines: Option<std::path::PathBuf>,
}

impl Bench {
    /// `full` in a real run, `smoke` in a smoke run.
    pub(crate) fn size(&self, full: usize, smoke: usize) -> usize {
        if self.smoke { smoke } else { full }
    }
}

/// What a subject returns: its figures, or why it could not be measured.
pub(crate) type Outcome = Result<Vec<Figure>, Box<dyn std::error::Error>>;

type Subject = (&'static str, fn(&Bench) -> Outcome);

/// Every subject, in the order in which they run.
const SUBJECTS: &[Subject] = &[
    ("startup", startup::run),
    ("recorder", recorder::run),
    ("redaction", redaction::run),
    ("natural", natural::run),
    ("reading", reading::run),
    ("export", export::run),
    ("view", view::run),
    ("convert", convert::run),
    ("codex", codex::run),
    ("care", care::run),
    ("sessions", sessions::run),
    ("import", import::run),
    ("fleet", fleet::run),
];

fn main() -> ExitCode {
    let arguments = match Arguments::parse(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(message) => {
            eprintln!("error: {message}");
            return ExitCode::from(2);
        }
    };
    if let Some(folder) = &arguments.reprint {
        return match export::reprint(folder) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("error: cannot reprint the case: {error}");
                ExitCode::FAILURE
            }
        };
    }
    let known = |name: &String| SUBJECTS.iter().any(|(subject, _)| subject == name);
    if let Some(unknown) = arguments.subjects.iter().find(|name| !known(name)) {
        let names: Vec<&str> = SUBJECTS.iter().map(|(subject, _)| *subject).collect();
        eprintln!("error: no subject `{unknown}`; there are: {}", names.join(", "));
        return ExitCode::from(2);
    }
    let bench = Bench {
        smoke: arguments.smoke,
        traj: arguments.traj.clone(),
        cases: arguments.cases.clone(),
        peers: arguments.peers.clone(),
        engines: arguments.engines.clone(),
    };
    let mut sound = true;
    for (name, run) in SUBJECTS {
        if !arguments.subjects.is_empty() && !arguments.subjects.iter().any(|wanted| wanted == name)
        {
            continue;
        }
        match run(&bench) {
            Ok(figures) => {
                figure::print(name, bench.smoke, &figures);
                sound &= !arguments.check || figures.iter().all(Figure::is_met);
                if let Some(folder) = &arguments.json
                    && let Err(error) = figure::write(folder, name, bench.smoke, &figures)
                {
                    eprintln!("error: cannot write the figures of {name}: {error}");
                    sound = false;
                }
            }
            Err(error) => {
                eprintln!("error: {name}: {error}");
                sound = false;
            }
        }
    }
    if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
