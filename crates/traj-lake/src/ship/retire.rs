//! A file that was shipped as a session of another program before, because another
//! version of traj did not recognise its program. It must not count twice.

use traj_export::{Pace, SessionRow, trace_id};

use super::cut::Segment;
use super::encode::SealedSegment;
use super::log::{DoneLine, LogLine, LoggedSession};
use super::reach::NoAnswer;
use super::{ShipError, Shipper};
use crate::Day;
use crate::layout::{SegmentFolder, SegmentKey, SegmentName, Table};

impl Shipper<'_> {
    /// The session that a file was shipped as before, if that is another one and
    /// no other file is that session now.
    pub(super) fn former_session(&self, source: &str, short: &str) -> Option<String> {
        let logged = self.log.of_source(source)?;
        let done = logged.done.as_ref()?;
        (done.source == source && done.session != short).then(|| done.session.clone())
    }

    /// Gives each segment of a former session a revision without events, if only its
    /// program was another one. Returns whether that is done; if not, it has to be done before the session of the
    /// file counts as shipped.
    pub(super) fn retire(
        &mut self,
        former: &str,
        session_id: &str,
        pace: &mut dyn Pace,
    ) -> Result<bool, ShipError> {
        if self.is_dry {
            return Ok(true);
        }
        let mut logged = self.read_logged(former)?;
        self.refresh(former, &mut logged, pace)?;
        let folder = logged.known.segments.values().next().map(|known| &known.folder);
        let former_id = folder.map(|folder| trace_id(Some(folder.agent()), session_id));
        // If the id is another one too, the file was used again: both sessions count.
        let Some(former_id) = former_id.filter(|id| id.starts_with(former)) else {
            return Ok(true);
        };
        let names = (former_id.as_str(), session_id);
        for first in logged.known.beyond(0) {
            match self.empty_segment(names, first, &logged, pace) {
                Ok(true) => {}
                // Somebody else is at it: look again the next time.
                Ok(false) | Err(NoAnswer::Away) => return Ok(false),
                Err(NoAnswer::Failed(error)) => return Err(error),
            }
        }
        let mut ended = logged.ended;
        ended.insert(self.processes.own());
        let attempts = ended.into_iter().collect();
        let done = DoneLine { session: former.to_owned(), attempts, ..DoneLine::default() };
        self.log.append(vec![LogLine::Done(done)])?;
        Ok(true)
    }

    /// Returns whether the dataset has an empty revision of a segment now.
    fn empty_segment(
        &mut self,
        (former_id, session_id): (&str, &str),
        first: u64,
        logged: &LoggedSession,
        pace: &mut dyn Pace,
    ) -> Result<bool, NoAnswer> {
        let Some(known) = logged.known.segments.get(&first) else { return Ok(true) };
        let name =
            SegmentName::new(&self.host, former_id, first, logged.known.next_revision(first));
        let new = known.folder.key(Table::Sessions, name);
        let number = |seq: u64| i64::try_from(seq).unwrap_or(i64::MAX);
        let totals = SessionRow {
            schema_version: 1,
            trace_id: former_id.to_owned(),
            session_id: session_id.to_owned(),
            first_seq: number(first),
            last_seq: number(first) - 1,
            models: "[]".to_owned(),
            ..SessionRow::default()
        };
        let (day, rows) = (Day::default(), Vec::new());
        let segment = Segment { first, last: first - 1, day, rows, totals };
        let sealed = SealedSegment::new(segment, &self.host).map_err(ShipError::from)?;
        let files = sealed.files(new.name.revision).map_err(ShipError::from)?;
        self.note_begun(&new)?;
        for (table, content) in files {
            if !self.store(&new.in_table(table), &content, pace)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Notes that a file is about to be stored.
    pub(super) fn note_begun(&mut self, key: &SegmentKey) -> Result<(), ShipError> {
        let (session, attempt) = (key.name.session.clone(), self.processes.own());
        let folders = vec![SegmentFolder::of(key).to_string()];
        Ok(self.log.append(vec![LogLine::Begin { session, attempt, folders }])?)
    }
}
