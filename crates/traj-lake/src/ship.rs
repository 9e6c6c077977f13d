//! Ships sessions to a dataset, so that each event is in it exactly once.
//!
//! A file is named by its position, and is stored if the name is free. If it is
//! not, the stored file is compared: if the rows are equal, it was shipped
//! before; if they differ, a new revision is stored. A process can be killed
//! between any two calls, and several can ship the same session.
//!
//! - `cut`: where segments end;
//! - `encode`: a segment as files;
//! - `known`, `log`: what this host remembers of a session;
//! - `reach`: calls of a dataset that may not answer;
//! - `spool`: files that wait;
//! - `drain`: sends them;
//! - `pass`: one reading of a session;
//! - `listing`: what a dataset has, if the log does not say it;
//! - `retire`: files that were shipped as other sessions before;
//! - `session`: a redacted session, as it is read;
//! - `outcome`: what became of it.

mod cut;
mod drain;
mod encode;
mod known;
mod listing;
mod log;
mod outcome;
mod pass;
mod reach;
mod retire;
#[cfg(test)]
mod schedule_tests;
mod session;
mod spool;

use std::collections::{BTreeSet, HashSet};
use std::fmt;

use traj_core::capture::BlobDigest;
use traj_core::port::{
    DatasetStore, DatasetStoreError, LineLog, LineLogError, RunningProcesses, Stored,
};
use traj_export::{Pace, ParquetError};

pub use cut::SegmentLimits;
pub(crate) use encode::digest_of;
use log::{DoneLine, LogLine, LoggedSession, ShipLog};
pub use outcome::{Drained, SessionShipped, SpoolState, Standing};
use pass::{Pass, PassEnd};
use reach::NoAnswer;
pub(crate) use reach::Reach;
pub use reach::{DatasetAway, DatasetError};
pub use session::{BundleSession, SessionUnreadable, ShipSession};
use spool::Spool;

use crate::forget::forgotten;
use crate::{DamagedFile, HostId};

/// How often a session is read again because its files in the dataset are not
/// as expected.
const MOST_PASSES: u32 = 8;

/// Why a session was not shipped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShipError {
    /// The session cannot be read.
    #[error(transparent)]
    Session(#[from] SessionUnreadable),
    /// Its rows cannot be written.
    #[error(transparent)]
    Encode(#[from] ParquetError),
    /// A long text cannot be compressed.
    #[error("a long text cannot be compressed")]
    Compress(#[from] std::io::Error),
    /// The dataset cannot be used.
    #[error(transparent)]
    Dataset(#[from] DatasetStoreError),
    /// Something else has the name of a file of the dataset.
    #[error(transparent)]
    Damaged(#[from] DamagedFile),
    /// The log of this host cannot be used.
    #[error("cannot use the log of what was shipped")]
    Log(#[from] LineLogError),
    /// The files that wait cannot be kept.
    #[error("cannot keep the files that wait to be sent")]
    Spool(#[source] DatasetStoreError),
    /// The session changed while it was shipped. It can be shipped again later.
    #[error("the session changed while it was shipped")]
    Changed,
    /// Another file has the session id. Two files must not take turns.
    #[error("another file with the same session id is shipped instead")]
    SameSession,
    /// Other processes kept shipping the same session at the same time.
    #[error("other processes ship the same session at the same time")]
    Contested,
    /// Somebody asked to stop.
    #[error("asked to stop")]
    Stopped,
}

/// What a shipper needs.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "callers fill it in")]
pub struct ShipSetup<'a> {
    /// Where sessions go.
    pub dataset: &'a dyn DatasetStore,
    /// Where they come from.
    pub host: HostId,
    /// What this host remembers about this dataset.
    pub log: &'a dyn LineLog,
    /// The processes that use the log.
    pub processes: &'a dyn RunningProcesses,
    /// Where files wait that cannot be sent.
    pub spool: &'a dyn DatasetStore,
    /// How many bytes may wait.
    pub spool_bytes: u64,
    /// How large segments become.
    pub limits: SegmentLimits,
    /// Whether to change nothing, neither in the dataset nor on this host.
    pub is_dry: bool,
}

/// A session's file, and what it looks like.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "callers fill it in")]
pub struct SessionStamp {
    /// Where the session is: a path, or any other name that only it has.
    pub source: String,
    /// Changes whenever the session, the rules or the prices do.
    pub stamp: String,
}

/// What to do with events that do not fill a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "now or later")]
pub enum Tail {
    /// Ship them.
    Ship,
    /// Ship them if the session has ended; else wait.
    ShipIfEnded,
}

/// Ships sessions of one host to one dataset.
pub struct Shipper<'a> {
    host: HostId,
    limits: SegmentLimits,
    is_dry: bool,
    reach: Reach<'a>,
    log: ShipLog<'a>,
    processes: &'a dyn RunningProcesses,
    spool: Spool<'a>,
    /// The sources that are there, if that is known.
    sources: HashSet<String>,
    /// Long texts that this process stored in this round.
    texts: HashSet<BlobDigest>,
    /// The sessions that the dataset must not have, as soon as they were read.
    forgotten: Option<BTreeSet<String>>,
}

impl fmt::Debug for Shipper<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Shipper").field("host", &self.host).finish_non_exhaustive()
    }
}

impl<'a> Shipper<'a> {
    /// Reads what this host remembers, and asks the dataset whether it is the
    /// same one. If it cannot be reached, files will wait.
    ///
    /// # Errors
    /// If the log, the spool or the dataset cannot be used.
    pub fn open(setup: ShipSetup<'a>, pace: &mut dyn Pace) -> Result<Self, ShipError> {
        let ShipSetup { dataset, host, log, processes, spool, spool_bytes, limits, is_dry } = setup;
        let log = ShipLog::read(log, processes, is_dry)?;
        let spool = Spool::open(spool, spool_bytes).map_err(ShipError::Spool)?;
        let reach = Reach::new(dataset);
        let mut shipper = Self {
            host,
            limits,
            is_dry,
            reach,
            log,
            processes,
            spool,
            sources: HashSet::new(),
            texts: HashSet::new(),
            forgotten: None,
        };
        shipper.look_at_dataset(pace)?;
        Ok(shipper)
    }

    /// Names the sources of all sessions. If several have the same session id,
    /// only one of them is shipped.
    pub fn set_sources(&mut self, sources: HashSet<String>) {
        self.sources = sources;
    }

    /// Tries again to reach the dataset.
    ///
    /// # Errors
    /// If it cannot be used at all.
    pub fn try_again(&mut self, pace: &mut dyn Pace) -> Result<(), ShipError> {
        self.reach.ask_again();
        self.forgotten = None;
        self.texts.clear();
        // Others may have shipped meanwhile.
        self.log.read_again()?;
        self.spool.look_again().map_err(ShipError::Spool)?;
        self.look_at_dataset(pace)
    }

    /// Why the dataset cannot be reached; `None` if it can.
    #[must_use]
    pub const fn away(&self) -> Option<&DatasetAway> {
        self.reach.away()
    }

    /// How many requests had to be repeated.
    #[must_use]
    pub const fn repeated(&self) -> u64 {
        self.reach.repeated
    }

    /// What waits on this host.
    #[must_use]
    pub fn spool(&self) -> SpoolState {
        let (segments, bytes) = (self.spool.segments(), self.spool.bytes());
        SpoolState { segments, bytes, dropped: self.log.dropped }
    }

    /// What is known of a session without reading it; `None` if it has to be
    /// shipped. Events that wait for the end of the session are not missing if
    /// `tail` lets them wait.
    ///
    /// # Errors
    /// If the dataset cannot be used.
    pub fn standing(
        &mut self,
        session: &SessionStamp,
        tail: Tail,
        pace: &mut dyn Pace,
    ) -> Result<Option<Standing>, ShipError> {
        let Some(logged) = self.log.of_source(&session.source) else { return Ok(None) };
        let Some(done) = logged.done.clone().filter(|_| logged.attempts.is_empty()) else {
            return Ok(None);
        };
        if (&done.source, &done.stamp) != (&session.source, &session.stamp) {
            return Ok(None);
        }
        let is_forgotten = match self.forgotten(pace) {
            Ok(known) => is_any_of(known, &done.session),
            Err(NoAnswer::Away) => done.is_forgotten,
            Err(NoAnswer::Failed(error)) => return Err(error),
        };
        if is_forgotten || done.is_forgotten {
            // What the log says has to change first.
            let is_known = is_forgotten && done.is_forgotten;
            return Ok(is_known.then_some(Standing::Forgotten));
        }
        let has_all = (!done.is_waiting || self.reach.away().is_some())
            && !(done.is_open && tail == Tail::Ship);
        Ok(has_all.then_some(Standing::Unchanged))
    }

    /// Ships the part of a session that the dataset does not have.
    ///
    /// # Errors
    /// See [`ShipError`]. What was stored before stays, and is recognised the
    /// next time.
    pub fn ship(
        &mut self,
        session: &dyn ShipSession,
        stamp: &SessionStamp,
        tail: Tail,
        pace: &mut dyn Pace,
    ) -> Result<SessionShipped, ShipError> {
        let mut report = SessionShipped::default();
        let mut logged = None;
        for _ in 0..MOST_PASSES {
            let mut pass =
                Pass::new(self, session, &stamp.source, tail, &mut report, logged.take());
            let end = pass.run(pace)?;
            let is_begun = pass.is_begun;
            let Some(mut state) = pass.into_logged() else { return Ok(report) };
            if report.is_forgotten {
                self.finish(stamp, &state, &report)?;
                return Ok(report);
            }
            match end {
                PassEnd::Conflict => self.refresh(&report.trace_id, &mut state, pace)?,
                PassEnd::Done
                    if is_begun && self.is_contested(&mut state, &report.trace_id, pace)? => {}
                PassEnd::Done => {
                    let short = self.short(&report.trace_id);
                    if let Some(former) = self.former_session(&stamp.source, &short)
                        && !self.retire(&former, &report.session, pace)?
                    {
                        // The attempt stays open, so that this is done the next time.
                        report.waiting += 1;
                        return Ok(report);
                    }
                    self.finish(stamp, &state, &report)?;
                    return Ok(report);
                }
            }
            logged = Some(state);
        }
        Err(ShipError::Contested)
    }

    /// The trace ids of the sessions that the dataset must not have.
    fn forgotten(&mut self, pace: &mut dyn Pace) -> Result<&BTreeSet<String>, NoAnswer> {
        let known = match self.forgotten.take() {
            Some(known) => known,
            None => self.reach.call(pace, forgotten)?,
        };
        Ok(self.forgotten.insert(known))
    }

    /// Records that a session is shipped as it is.
    fn finish(
        &mut self,
        stamp: &SessionStamp,
        logged: &LoggedSession,
        report: &SessionShipped,
    ) -> Result<(), ShipError> {
        let mut ended = logged.ended.clone();
        ended.insert(self.processes.own());
        let done = DoneLine {
            session: self.short(&report.trace_id),
            attempts: ended.into_iter().collect(),
            source: stamp.source.clone(),
            stamp: stamp.stamp.clone(),
            is_open: report.held > 0,
            is_waiting: report.waiting > 0 || self.reach.away().is_some(),
            is_forgotten: report.is_forgotten,
        };
        Ok(self.log.append(vec![LogLine::Done(done)])?)
    }

    /// Stores a file. Returns whether the dataset now has these rows under this
    /// name.
    fn store(
        &mut self,
        key: &crate::SegmentKey,
        content: &[u8],
        pace: &mut dyn Pace,
    ) -> Result<bool, NoAnswer> {
        let name = key.to_dataset_key().map_err(DatasetStoreError::failed)?;
        loop {
            let stored = self.reach.call(pace, |dataset| dataset.put_if_absent(&name, content))?;
            if stored == Stored::New {
                return Ok(true);
            }
            // Deleted since: the name is free again.
            let Some(found) = self.reach.call(pace, |dataset| dataset.get(&name))? else {
                continue;
            };
            return Ok(listing::digest_in(found) == listing::digest_in(content.to_vec()));
        }
    }
}

/// Whether one of the sessions with these trace ids has this name in file
/// names.
fn is_any_of(trace_ids: &BTreeSet<String>, session: &str) -> bool {
    trace_ids.iter().any(|trace_id| trace_id.starts_with(session))
}
