//! The log of what this host shipped: one line for each step. Without the log,
//! a listing of the dataset provides the same facts.
//!
//! A process records each step before it takes it, and again when it is done. A
//! session with a step that was begun but not done is compared with the dataset
//! before it is trusted again. Only the process of the step, or one that compared
//! after that process had ended, may record that it is done: a running process may
//! still store something.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};
use traj_core::port::{LineLog, LineLogError, RunningProcesses};

use super::known::{KnownSegment, KnownSegments};
use crate::layout::SegmentFolder;

/// A log with more lines than this, and twice as many as are needed, is rewritten.
const MANY_LINES: u64 = 1_000;

/// The attempt of a process that did nothing but list the dataset.
pub(super) const LISTED: u64 = 0;

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "did", rename_all = "kebab-case")]
pub(super) enum LogLine {
    /// Listed the sessions of this host in the dataset.
    Listed { dataset: String },
    /// Began to store files of a session in these directories. The attempt is the
    /// number of the process.
    Begin { session: String, attempt: u64, folders: Vec<String> },
    /// Stored a segment.
    Segment {
        session: String,
        first: u64,
        last: u64,
        revision: u32,
        digest: String,
        folder: String,
    },
    /// Finished a session: the dataset has it as it was at `stamp`.
    Done(DoneLine),
    /// Had to drop unsent files.
    Dropped { segments: u64 },
}

/// The end of an attempt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct DoneLine {
    pub(super) session: String,
    /// The attempts that are over, and were compared with the dataset.
    pub(super) attempts: Vec<u64>,
    /// Where the session is, and what its files looked like.
    pub(super) source: String,
    pub(super) stamp: String,
    /// Whether its last events wait until it ends.
    pub(super) is_open: bool,
    /// Whether files wait in the spool.
    pub(super) is_waiting: bool,
    /// Whether the dataset must not have the session.
    #[serde(default)]
    pub(super) is_forgotten: bool,
}

/// A session in the log.
#[derive(Clone, Debug, Default)]
pub(super) struct LoggedSession {
    pub(super) known: KnownSegments,
    pub(super) folders: BTreeSet<SegmentFolder>,
    /// Attempts that did not end.
    pub(super) attempts: BTreeSet<u64>,
    /// Those of them whose processes do nothing more.
    pub(super) ended: BTreeSet<u64>,
    pub(super) done: Option<DoneLine>,
}

impl LoggedSession {
    /// Whether the log says what the dataset has.
    pub(super) fn is_settled(&self) -> bool {
        let is_uncertain = |done: &DoneLine| done.is_waiting || done.is_forgotten;
        self.attempts.is_empty() && !self.done.as_ref().is_some_and(is_uncertain)
    }
}

/// The log, and what it says.
#[derive(Debug)]
pub(super) struct ShipLog<'a> {
    log: &'a dyn LineLog,
    processes: &'a dyn RunningProcesses,
    /// Whether lines are kept in memory only.
    is_dry: bool,
    dataset: Option<String>,
    sessions: HashMap<String, LoggedSession>,
    /// The session of each file.
    sources: HashMap<String, String>,
    pub(super) dropped: u64,
}

impl<'a> ShipLog<'a> {
    /// Reads the log. A log with an invalid line is ignored.
    pub(super) fn read(
        log: &'a dyn LineLog,
        processes: &'a dyn RunningProcesses,
        is_dry: bool,
    ) -> Result<Self, LineLogError> {
        let mut read = Self {
            log,
            processes,
            is_dry,
            dataset: None,
            sessions: HashMap::new(),
            sources: HashMap::new(),
            dropped: 0,
        };
        let lines = read.read_lines()?;
        if lines > MANY_LINES && lines > 2 * read.needed() && !is_dry {
            read.rewrite()?;
        }
        Ok(read)
    }

    /// Reads what other processes wrote.
    pub(super) fn read_again(&mut self) -> Result<(), LineLogError> {
        if !self.is_dry {
            self.read_lines()?;
        }
        Ok(())
    }

    /// Reads all lines, and counts them.
    fn read_lines(&mut self) -> Result<u64, LineLogError> {
        (self.dataset, self.dropped) = (None, 0);
        (self.sessions, self.sources) = (HashMap::new(), HashMap::new());
        let (mut lines, mut is_damaged) = (0, false);
        self.log.read(&mut |line| {
            lines += 1;
            match serde_json::from_slice(line) {
                Ok(line) => self.take(line),
                Err(_) => is_damaged = true,
            }
            ControlFlow::Continue(())
        })?;
        if is_damaged {
            self.dataset = None;
        }
        Ok(lines)
    }

    /// Whether the log is about this dataset, and complete.
    pub(super) fn is_of(&self, dataset: &str) -> bool {
        self.dataset.as_deref() == Some(dataset)
    }

    /// What is known of a session.
    pub(super) fn session(&self, session: &str) -> LoggedSession {
        self.sessions.get(session).cloned().unwrap_or_default()
    }

    /// The end of the last attempt at the session in a file.
    pub(super) fn of_source(&self, source: &str) -> Option<&LoggedSession> {
        self.sessions.get(self.sources.get(source)?)
    }

    /// Adds lines.
    pub(super) fn append(&mut self, lines: Vec<LogLine>) -> Result<(), LineLogError> {
        if !self.is_dry && !lines.is_empty() {
            let texts: Vec<String> = lines.iter().map(text_of).collect();
            self.log.append(&texts)?;
        }
        lines.into_iter().for_each(|line| self.take(line));
        Ok(())
    }

    /// Starts over with the result of a listing.
    pub(super) fn replace(
        &mut self,
        dataset: &str,
        sessions: BTreeMap<String, BTreeSet<SegmentFolder>>,
    ) -> Result<(), LineLogError> {
        let dropped = self.dropped;
        (self.sessions, self.sources) = (HashMap::new(), HashMap::new());
        if !self.is_dry {
            // Another process may be at work since the listing.
            self.log.retain(&mut |line| {
                matches!(serde_json::from_slice(line), Ok(LogLine::Begin { .. }))
            })?;
            self.read_lines()?;
        }
        self.dropped = 0;
        let begun = sessions.into_iter().map(|(session, folders)| LogLine::Begin {
            session,
            attempt: LISTED,
            folders: folders.iter().map(ToString::to_string).collect(),
        });
        let dropped = Some(LogLine::Dropped { segments: dropped });
        let listed = LogLine::Listed { dataset: dataset.to_owned() };
        self.append(begun.chain(dropped).chain([listed]).collect())
    }

    fn take(&mut self, line: LogLine) {
        match line {
            LogLine::Listed { dataset } => self.dataset = Some(dataset),
            LogLine::Begin { session, attempt, folders } => {
                let session = self.sessions.entry(session).or_default();
                session.attempts.insert(attempt);
                let folders = folders.iter().filter_map(|folder| SegmentFolder::parse(folder));
                session.folders.extend(folders);
            }
            LogLine::Segment { session, first, last, revision, digest, folder } => {
                let Some(folder) = SegmentFolder::parse(&folder) else { return };
                let session = self.sessions.entry(session).or_default();
                session.folders.insert(folder.clone());
                let known = KnownSegment { last, revision, digest, folder };
                // Lines of several processes are not in the order of revisions.
                let is_newer = session
                    .known
                    .segments
                    .get(&first)
                    .is_none_or(|older| older.rank() <= known.rank());
                if is_newer {
                    session.known.put(first, known);
                }
            }
            LogLine::Done(done) => {
                self.sources.insert(done.source.clone(), done.session.clone());
                let session = self.sessions.entry(done.session.clone()).or_default();
                session.attempts.retain(|attempt| !done.attempts.contains(attempt));
                if done.is_forgotten {
                    // Its files were removed.
                    session.known = KnownSegments::default();
                }
                session.done = Some(done);
            }
            LogLine::Dropped { segments } => self.dropped += segments,
        }
    }

    /// How many lines suffice.
    fn needed(&self) -> u64 {
        let of_session = |session: &LoggedSession| session.known.segments.len() as u64 + 2;
        self.sessions.values().map(of_session).sum::<u64>() + 2
    }

    /// Drops the lines that later ones replace, and none that another process may
    /// have written since.
    fn rewrite(&mut self) -> Result<(), LineLogError> {
        let mut ended = HashSet::new();
        self.log.read(&mut |line| {
            if let Ok(LogLine::Begin { attempt, .. }) = serde_json::from_slice(line) {
                ended.insert(attempt);
            }
            ControlFlow::Continue(())
        })?;
        ended.retain(|attempt| !self.processes.is_running(*attempt));
        // From now on, no line of these processes is added.
        self.read_lines()?;
        self.log.retain(&mut |line| match serde_json::from_slice(line) {
            Ok(LogLine::Segment { session, first, revision, .. }) => {
                let known = self.sessions.get(&session);
                let known = known.and_then(|session| session.known.segments.get(&first));
                known.is_none_or(|known| known.revision <= revision)
            }
            Ok(LogLine::Begin { session, attempt, .. }) => {
                let known = self.sessions.get(&session);
                let is_open = known.is_some_and(|session| session.attempts.contains(&attempt));
                is_open || !ended.contains(&attempt)
            }
            Ok(LogLine::Done(done)) => self
                .sessions
                .get(&done.session)
                .is_some_and(|session| session.done.as_ref() == Some(&done)),
            Ok(LogLine::Listed { .. } | LogLine::Dropped { .. }) | Err(_) => true,
        })
    }
}

fn text_of(line: &LogLine) -> String {
    // Texts and numbers always have a JSON form.
    serde_json::to_string(line).unwrap_or_default()
}
