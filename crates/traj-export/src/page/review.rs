//! What a reviewer should look at before a page is made for others: strings
//! that look like secrets but match no rule.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use traj_core::port::{BundleFile, BundleSource, BundleSourceError};
use traj_core::redaction::{RedactionReport, Redactor};

use super::PageFinding;
use crate::inspect::run_events::{EventsFileRow, for_each_row};

/// At most this many places are listed.
const MOST_FINDINGS: usize = 10_000;

/// Finds strings in the events of a bundle that look like secrets but match no
/// rule.
///
/// # Errors
/// If the bundle cannot be read.
pub fn find_survivors(
    bundle: &dyn BundleSource,
    redactor: &Redactor,
) -> Result<Vec<PageFinding>, BundleSourceError> {
    let mut findings = Vec::new();
    bundle.visit(&mut |path, content| {
        if BundleFile::parse(path) != Some(BundleFile::Events) {
            return Ok(());
        }
        for_each_row(content, &mut |number, row| {
            let EventsFileRow::Event(row) = row else { return ControlFlow::Continue(()) };
            let mut report = RedactionReport::new();
            redactor.json(row.clone(), &mut report);
            for (shape, count) in shapes(&report) {
                let (rule, file) = (shape.to_owned(), path.to_owned());
                findings.push(PageFinding { rule, file, row: number - 1, count });
            }
            if findings.len() < MOST_FINDINGS {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        })
    })?;
    Ok(findings)
}

/// How many strings of each shape there are.
fn shapes(report: &RedactionReport) -> BTreeMap<&'static str, u64> {
    let mut shapes = BTreeMap::new();
    for survivor in report.files().flat_map(|(_, file)| &file.survivors) {
        *shapes.entry(survivor.shape).or_default() += 1;
    }
    shapes
}
