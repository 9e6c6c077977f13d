//! The command line of the bench binary, which `cargo xtask bench` calls.

use std::path::PathBuf;

/// What to run and where to put the results.
#[derive(Debug, Default)]
pub(crate) struct Arguments {
    pub(crate) subjects: Vec<String>,
    pub(crate) smoke: bool,
    pub(crate) check: bool,
    pub(crate) json: Option<PathBuf>,
    pub(crate) traj: Option<PathBuf>,
    pub(crate) cases: Option<PathBuf>,
    pub(crate) peers: Option<PathBuf>,
    pub(crate) engines: Option<PathBuf>,
    /// Run only the baseline, on this case.
    pub(crate) reprint: Option<PathBuf>,
}

impl Arguments {
    pub(crate) fn parse(arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut parsed = Self::default();
        let mut arguments = arguments;
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
            match argument.as_str() {
                "--smoke" => parsed.smoke = true,
                "--check" => parsed.check = true,
                "--json" => parsed.json = Some(PathBuf::from(value()?)),
                "--cases" => parsed.cases = Some(PathBuf::from(value()?)),
                "--peers" => parsed.peers = Some(PathBuf::from(value()?)),
                "--engines" => parsed.engines = Some(PathBuf::from(value()?)),
                "--reprint" => parsed.reprint = Some(PathBuf::from(value()?)),
                "--traj" => parsed.traj = Some(PathBuf::from(value()?)),
                // Cargo adds this flag to benches.
                "--bench" => {}
                flag if flag.starts_with('-') => return Err(format!("unknown flag {flag}")),
                _ => parsed.subjects.push(argument),
            }
        }
        Ok(parsed)
    }
}
