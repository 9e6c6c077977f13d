//! Reads a session once, and stores what the dataset lacks.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use traj_core::capture::BlobDigest;
use traj_core::timestamp::UnixMillis;
use traj_export::{EventRow, NextEvent, Pace, SessionRow, StatedTotals, long_texts_in};

use super::cut::{Collected, Cutter, Segment};
use super::encode::SealedSegment;
use super::known::KnownSegment;
use super::log::{LogLine, LoggedSession};
use super::reach::NoAnswer;
use super::{SessionShipped, ShipError, ShipSession, Shipper, Tail};
use crate::Day;
use crate::layout::{SegmentFolder, SegmentKey, SegmentName, TextKey};
use crate::packed_text::pack;

/// How a reading ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PassEnd {
    /// Everything is stored, or waits.
    Done,
    /// The dataset has another file under a name.
    Conflict,
}

/// A reading.
#[derive(Debug)]
pub(super) struct Pass<'p, 'a> {
    shipper: &'p mut Shipper<'a>,
    session: &'p dyn ShipSession,
    source: &'p str,
    tail: Tail,
    report: &'p mut SessionShipped,
    /// What is known of the session, as soon as its id is known.
    logged: Option<LoggedSession>,
    /// Whether something was stored, or may have been.
    pub(super) is_begun: bool,
    cutter: Option<Cutter>,
    /// The last row of totals, which empty segments repeat.
    last_totals: Option<SessionRow>,
}

/// Why a reading stops before its end.
enum Stop {
    Conflict,
    /// The dataset must not have the session.
    Forgotten,
    Error(ShipError),
}

impl<E: Into<ShipError>> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Error(error.into())
    }
}

impl<'p, 'a> Pass<'p, 'a> {
    pub(super) fn new(
        shipper: &'p mut Shipper<'a>,
        session: &'p dyn ShipSession,
        source: &'p str,
        tail: Tail,
        report: &'p mut SessionShipped,
        logged: Option<LoggedSession>,
    ) -> Self {
        // Files of an earlier reading stay stored.
        report.unchanged = 0;
        report.held = 0;
        let (is_begun, cutter, last_totals) = (false, None, None);
        Self { shipper, session, source, tail, report, logged, is_begun, cutter, last_totals }
    }

    /// What is known now; `None` if the session has no events.
    pub(super) fn into_logged(self) -> Option<LoggedSession> {
        self.logged.filter(|_| self.cutter.is_some())
    }

    pub(super) fn run(&mut self, pace: &mut dyn Pace) -> Result<PassEnd, ShipError> {
        let session = self.session;
        let mut stop = None;
        session.read(&mut |row, next, totals| match self.take(row, next, totals, pace) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                stop = Some(error);
                ControlFlow::Break(())
            }
        })?;
        let end = stop.map_or_else(|| self.empty_the_rest(pace), Err);
        match end {
            Ok(()) => Ok(PassEnd::Done),
            Err(Stop::Conflict) => Ok(PassEnd::Conflict),
            Err(Stop::Forgotten) => {
                self.report.is_forgotten = true;
                Ok(PassEnd::Done)
            }
            Err(Stop::Error(error)) => Err(error),
        }
    }

    /// Takes the next event.
    fn take(
        &mut self,
        row: EventRow,
        next: Option<NextEvent>,
        totals: &dyn StatedTotals,
        pace: &mut dyn Pace,
    ) -> Result<(), Stop> {
        if self.cutter.is_none() {
            self.begin_reading(&row, pace)?;
        }
        self.report.events = u64::try_from(row.seq).unwrap_or_default();
        let Some(cutter) = &mut self.cutter else { return Ok(()) };
        match cutter.push(row, next, totals) {
            Collected::Open => Ok(()),
            Collected::Whole(segment) => self.put(segment, pace),
            Collected::Tail(segment) if self.ships(&segment) => self.put(segment, pace),
            Collected::Tail(segment) => {
                self.report.held = segment.rows.len() as u64;
                Ok(())
            }
        }
    }

    /// Whether the last events are shipped now.
    fn ships(&self, tail: &Segment) -> bool {
        let has_ended = tail.totals.status.as_deref().is_some_and(|status| status != "open");
        self.tail == Tail::Ship || has_ended
    }

    /// Looks up the session of the first event.
    fn begin_reading(&mut self, row: &EventRow, pace: &mut dyn Pace) -> Result<(), Stop> {
        self.report.session.clone_from(&row.session_id);
        self.report.trace_id.clone_from(&row.trace_id);
        let short = self.shipper.short(&row.trace_id);
        if self.logged.is_none() {
            let mut logged = self.shipper.read_logged(&short)?;
            let is_of_other = logged.done.as_ref().is_some_and(|done| {
                done.source != self.source && self.shipper.sources.contains(&done.source)
            });
            if is_of_other {
                return Err(ShipError::SameSession.into());
            }
            if !logged.is_settled() {
                self.shipper.refresh(&row.trace_id, &mut logged, pace)?;
            }
            self.logged = Some(logged);
        }
        let forgotten = self.shipper.forgotten(pace).map(|known| known.contains(&row.trace_id));
        let is_forgotten = match forgotten {
            Ok(is_forgotten) => is_forgotten,
            // Waiting files are checked again before they are sent.
            Err(NoAnswer::Away) => false,
            Err(NoAnswer::Failed(error)) => return Err(error.into()),
        };
        let starts = self.logged.as_ref().map(|logged| logged.known.starts());
        self.cutter = Some(Cutter::new(self.shipper.limits, starts.unwrap_or_default()));
        if is_forgotten { Err(Stop::Forgotten) } else { Ok(()) }
    }

    /// Segments after the last event get a revision without rows.
    fn empty_the_rest(&mut self, pace: &mut dyn Pace) -> Result<(), Stop> {
        let (Some(logged), Some(totals)) = (&self.logged, self.last_totals.clone()) else {
            return Ok(());
        };
        if self.report.held > 0 {
            return Ok(());
        }
        for first in logged.known.beyond(self.report.events) {
            let mut totals = totals.clone();
            let number = |seq: u64| i64::try_from(seq).unwrap_or(i64::MAX);
            (totals.first_seq, totals.last_seq) = (number(first), number(first - 1));
            let day = Day::of(None::<UnixMillis>);
            self.put(Segment { first, last: first - 1, day, rows: Vec::new(), totals }, pace)?;
        }
        Ok(())
    }

    /// Stores a segment, unless the dataset has it.
    fn put(&mut self, segment: Segment, pace: &mut dyn Pace) -> Result<(), Stop> {
        self.last_totals = Some(segment.totals.clone());
        let (first, last) = (segment.first, segment.last);
        let agent = segment.rows.first().and_then(|row| row.agent.clone());
        let folder = SegmentFolder::new(segment.day, agent.as_deref());
        let texts: BTreeSet<BlobDigest> =
            segment.rows.iter().flat_map(|row| long_texts_in(&row.data)).collect();
        let sealed = SealedSegment::new(segment, &self.shipper.host)?;
        let digest = sealed.digest.clone();
        let Some(logged) = &self.logged else { return Ok(()) };
        let known = logged.known.segments.get(&first);
        if known.is_some_and(|known| known.digest == digest && known.last == last) {
            self.report.unchanged += 1;
            return Ok(());
        }
        let is_revision = known.is_some();
        // A segment is not replaced by what it was before.
        if is_revision && !self.session.is_current() {
            return Err(ShipError::Changed.into());
        }
        let folder = known.map_or(folder, |known| known.folder.clone());
        let revision = logged.known.next_revision(first);
        let name = SegmentName::new(&self.shipper.host, &self.report.trace_id, first, revision);
        let files: Vec<(SegmentKey, Vec<u8>)> = sealed
            .files(revision)?
            .into_iter()
            .map(|(table, content)| (folder.key(table, name.clone()), content))
            .collect();
        let bytes: u64 = files.iter().map(|(_, content)| content.len() as u64).sum();
        let stored = self.store(&files, &texts, &folder, pace);
        if let (Err(Stop::Conflict), Some(logged)) = (&stored, &mut self.logged) {
            // Somebody else began this revision, with other rows.
            logged.known.note_used(first, revision);
        }
        let is_stored = stored?;
        let Some(logged) = &mut self.logged else { return Ok(()) };
        logged.known.put(
            first,
            KnownSegment { last, revision, digest: digest.clone(), folder: folder.clone() },
        );
        self.report.revised += u64::from(is_revision);
        if is_stored {
            self.report.stored += 1;
            self.report.bytes += bytes;
            let (session, folder) = (self.shipper.short(&self.report.trace_id), folder.to_string());
            let line = LogLine::Segment { session, first, last, revision, digest, folder };
            self.shipper.log.append(vec![line])?;
        } else {
            self.report.waiting += 1;
        }
        Ok(())
    }

    /// Stores files, or lets them wait. Returns whether they are stored.
    fn store(
        &mut self,
        files: &[(SegmentKey, Vec<u8>)],
        texts: &BTreeSet<BlobDigest>,
        folder: &SegmentFolder,
        pace: &mut dyn Pace,
    ) -> Result<bool, Stop> {
        if self.shipper.is_dry {
            return Ok(true);
        }
        self.state_intent(folder)?;
        for digest in texts {
            match self.store_text(digest, pace) {
                Ok(()) => {}
                Err(NoAnswer::Away) => {
                    self.wait(files, texts)?;
                    return Ok(false);
                }
                Err(NoAnswer::Failed(error)) => return Err(error.into()),
            }
        }
        for (key, content) in files {
            match self.shipper.store(key, content, pace) {
                Ok(true) => {}
                Ok(false) => return Err(Stop::Conflict),
                Err(NoAnswer::Away) => {
                    self.wait(files, texts)?;
                    return Ok(false);
                }
                Err(NoAnswer::Failed(error)) => return Err(error.into()),
            }
        }
        Ok(true)
    }

    /// Stores a long text, unless this process did it in this round.
    fn store_text(&mut self, digest: &BlobDigest, pace: &mut dyn Pace) -> Result<(), NoAnswer> {
        if self.shipper.texts.contains(digest) {
            return Ok(());
        }
        let Some(content) = self.packed(digest)? else { return Ok(()) };
        self.shipper.store_text(&TextKey(digest.clone()), &content, pace)?;
        self.shipper.texts.insert(digest.clone());
        Ok(())
    }

    /// The file of a long text; `None` if the session does not have it.
    fn packed(&self, digest: &BlobDigest) -> Result<Option<Vec<u8>>, ShipError> {
        let Some(text) = self.session.long_text(digest)? else { return Ok(None) };
        if BlobDigest::of(&text) != *digest {
            return Ok(None);
        }
        Ok(Some(pack(&text)?))
    }

    /// Records a step before it is taken.
    fn state_intent(&mut self, folder: &SegmentFolder) -> Result<(), Stop> {
        let Some(logged) = &mut self.logged else { return Ok(()) };
        let is_new_folder = logged.folders.insert(folder.clone());
        if self.is_begun && !is_new_folder {
            return Ok(());
        }
        self.is_begun = true;
        let attempt = self.shipper.processes.own();
        logged.attempts.insert(attempt);
        let line = LogLine::Begin {
            session: self.shipper.short(&self.report.trace_id),
            attempt,
            folders: vec![folder.to_string()],
        };
        Ok(self.shipper.log.append(vec![line])?)
    }

    /// Keeps files until the dataset can be reached.
    fn wait(
        &mut self,
        files: &[(SegmentKey, Vec<u8>)],
        texts: &BTreeSet<BlobDigest>,
    ) -> Result<(), Stop> {
        let mut packed = Vec::new();
        for digest in texts {
            if let Some(content) = self.packed(digest)? {
                packed.push((TextKey(digest.clone()), content));
            }
        }
        let dropped = self.shipper.spool.add(files, &packed).map_err(ShipError::Spool)?;
        if dropped > 0 {
            self.shipper.log.append(vec![LogLine::Dropped { segments: dropped }])?;
        }
        Ok(())
    }
}
