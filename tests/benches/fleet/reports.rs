//! The engines that are installed answer every report.

use std::error::Error;
use std::path::Path;
use std::process::Command;

use crate::Bench;

/// Runs every report with every engine, and prints their times as JSON.
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fleet/figures.py");

/// Seconds of each report, by engine; none if no engines are installed.
pub(super) fn times(bench: &Bench, root: &Path) -> Result<Vec<(String, f64)>, Box<dyn Error>> {
    let (Some(python), Some(traj)) = (&bench.engines, &bench.traj) else {
        println!("the engines are NOT INSTALLED: no report is timed");
        return Ok(Vec::new());
    };
    let output = Command::new(python).arg(SCRIPT).arg(traj).arg(root).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let times: Vec<(String, f64)> = serde_json::from_slice(&output.stdout)?;
    Ok(times)
}
