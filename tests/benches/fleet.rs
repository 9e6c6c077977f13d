//! A fleet that ships for a month: made-up sessions of many hosts go through the real
//! export and the real shipping code into one dataset in a directory. How large it is, how
//! many files and requests it takes and what they cost, how long the engines need for each
//! report, and what shipping costs compared with an export.
//!
//! - `sessions`: the sessions that the hosts write;
//! - `counted`: a dataset that counts its requests;
//! - `month`: hosts ship, day by day;
//! - `reports`: the installed engines answer every report;
//! - `beside_export`: a large session, shipped and exported by the program.

mod beside_export;
mod counted;
mod month;
mod reports;
mod sessions;

use std::error::Error;

use crate::figure::Figure;
use crate::{Bench, Outcome};
use month::{Month, Size};

/// The fleets, from small to large.
const FLEETS: [Size; 3] = [
    Size { hosts: 10, days: 30, sessions: 300 },
    Size { hosts: 100, days: 30, sessions: 3_000 },
    Size { hosts: 1_000, days: 30, sessions: 30_000 },
];

const SMOKE: [Size; 1] = [Size { hosts: 3, days: 3, sessions: 9 }];

pub(crate) fn run(bench: &Bench) -> Outcome {
    let fleets = if bench.smoke { &SMOKE[..] } else { &FLEETS[..] };
    let mut figures = Vec::new();
    for size in fleets {
        let folder = tempfile::tempdir()?;
        let month = Month::of(*size, folder.path()).map_err(|failure| failure as Box<dyn Error>)?;
        figures.extend(month.figures());
        for (report, seconds) in reports::times(bench, folder.path())? {
            let name = format!("{} hosts: {report}", size.hosts);
            figures.push(Figure::new(name, seconds, "s"));
        }
    }
    figures.extend(beside_export::figures(bench)?);
    Ok(figures)
}
