//! A session that changes on the disk, and what a process needs to ship it: all of
//! it can fail.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use traj_core::capture::BlobDigest;
use traj_core::memory::MemoryDataset;
use traj_core::port::{LineLog, LineLogError};
use traj_core::timestamp::UnixMillis;
use traj_export::{EventRow, NextEvent, Pace, RowVisitor, SessionRow, StatedTotals, trace_id};

use crate::ship::{SegmentLimits, SessionStamp, SessionUnreadable, ShipSession};

/// What every session begins with.
pub(super) const LONG_TEXT: &[u8] = b"a long prompt";

pub(super) const DAY: i64 = 86_400_000;

pub(super) const LIMITS: SegmentLimits = SegmentLimits { events: 5, bytes: 400 };

/// Numbers that look random and are the same each time.
#[derive(Clone, Debug)]
pub(super) struct Numbers(pub(super) u64);

impl Numbers {
    pub(super) fn next(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    pub(super) fn is_one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }
}

/// An event on the disk of the host.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Written {
    pub(super) text: String,
    pub(super) day: i64,
}

/// A session on the disk of the host, which grows and changes.
#[derive(Debug, Default)]
pub(super) struct Disk {
    pub(super) events: Vec<Written>,
    pub(super) has_ended: bool,
    pub(super) version: u64,
    /// The program, unless it is Codex.
    pub(super) agent: Option<&'static str>,
    /// The id, unless it is `s`.
    pub(super) id: Option<&'static str>,
}

impl Disk {
    pub(super) fn agent(&self) -> &'static str {
        self.agent.unwrap_or("codex")
    }

    pub(super) fn id(&self) -> &'static str {
        self.id.unwrap_or("s")
    }

    /// Something happens to the session.
    pub(super) fn change(&mut self, numbers: &mut Numbers) {
        self.version += 1;
        let last_day = self.events.last().map_or(20_000, |event| event.day);
        match numbers.below(10) {
            0 if !self.events.is_empty() => {
                let keep = numbers.below(self.events.len() as u64) as usize;
                self.events.truncate(keep.max(1));
            }
            1 if !self.events.is_empty() => {
                let at = numbers.below(self.events.len() as u64) as usize;
                if let Some(event) = self.events.get_mut(at) {
                    event.text = format!("rewritten {}", self.version);
                }
            }
            2 => self.has_ended = true,
            _ => {
                self.has_ended = false;
                for _ in 0..=numbers.below(9) {
                    // The clock jumps, rarely back.
                    let day = match numbers.below(20) {
                        0 => last_day - 1,
                        1 | 2 => last_day + 1,
                        _ => last_day,
                    };
                    let length = if numbers.is_one_in(10) { 500 } else { 10 };
                    let text = format!("{:x>length$}", self.version);
                    self.events.push(Written { text, day });
                }
            }
        }
    }

    pub(super) fn rows(&self) -> Vec<EventRow> {
        let row = |(place, event): (usize, &Written)| EventRow {
            schema_version: 1,
            trace_id: trace_id(Some(self.agent()), self.id()),
            session_id: self.id().to_owned(),
            agent: Some(self.agent().to_owned()),
            seq: place as i64 + 1,
            at: UnixMillis::new(event.day * DAY + place as i64),
            data: event.text.clone(),
            ..EventRow::default()
        };
        self.events.iter().enumerate().map(row).collect()
    }
}

pub(super) struct Counted {
    pub(super) has_ended: bool,
    pub(super) agent: &'static str,
    pub(super) id: &'static str,
}

impl StatedTotals for Counted {
    fn up_to(&self, first_seq: u64, last_seq: u64) -> SessionRow {
        SessionRow {
            schema_version: 1,
            trace_id: trace_id(Some(self.agent), self.id),
            session_id: self.id.to_owned(),
            agent: Some(self.agent.to_owned()),
            first_seq: first_seq as i64,
            last_seq: last_seq as i64,
            events: last_seq as i64,
            status: self.has_ended.then(|| "success".to_owned()),
            models: "[]".to_owned(),
            ..SessionRow::default()
        }
    }
}

/// The session as one process read it.
#[derive(Debug)]
pub(super) struct ReadSession {
    pub(super) disk: Arc<Mutex<Disk>>,
    pub(super) rows: Vec<EventRow>,
    pub(super) has_ended: bool,
    pub(super) version: u64,
    pub(super) agent: &'static str,
    pub(super) id: &'static str,
}

impl ReadSession {
    pub(super) fn of(disk: &Arc<Mutex<Disk>>) -> Self {
        let seen = lock(disk);
        let (rows, has_ended, version) = (seen.rows(), seen.has_ended, seen.version);
        Self {
            disk: Arc::clone(disk),
            rows,
            has_ended,
            version,
            agent: seen.agent(),
            id: seen.id(),
        }
    }

    pub(super) fn stamp(&self) -> SessionStamp {
        SessionStamp { source: "/s.jsonl".to_owned(), stamp: self.version.to_string() }
    }
}

impl ShipSession for ReadSession {
    fn read(&self, visit: &mut RowVisitor<'_>) -> Result<(), SessionUnreadable> {
        for (place, row) in self.rows.iter().enumerate() {
            let next = self.rows.get(place + 1);
            let next = next.map(|next| NextEvent { seq: next.seq as u64, at: next.at });
            let has_ended = self.has_ended && next.is_none();
            if visit(row.clone(), next, &Counted { has_ended, agent: self.agent, id: self.id })
                .is_break()
            {
                break;
            }
        }
        Ok(())
    }

    fn long_text(&self, digest: &BlobDigest) -> Result<Option<Vec<u8>>, SessionUnreadable> {
        Ok((*digest == BlobDigest::of(LONG_TEXT)).then(|| LONG_TEXT.to_vec()))
    }

    fn is_current(&self) -> bool {
        lock(&self.disk).version == self.version
    }
}

pub(super) fn lock<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits no time at all.
pub(super) struct NoWait(pub(super) Numbers);

impl Pace for NoWait {
    fn wait(&mut self, _pause: Duration) -> bool {
        true
    }

    fn random(&mut self) -> u64 {
        self.0.next()
    }
}

/// How many further things a process does before it is killed.
pub(super) type Life = Arc<AtomicI64>;

pub(super) fn is_dead(life: &Life) -> bool {
    life.fetch_sub(1, Ordering::Relaxed) <= 0
}

/// A log on a disk, which processes share.
pub(super) type Lines = Arc<Mutex<Vec<Vec<u8>>>>;

/// The log as one process uses it, which can be killed.
#[derive(Debug)]
pub(super) struct MortalLog {
    pub(super) lines: Lines,
    pub(super) life: Life,
}

impl MortalLog {
    fn live(&self) -> Result<(), LineLogError> {
        if is_dead(&self.life) {
            let source = "injected: killed".into();
            return Err(LineLogError::Storage { name: "log".to_owned(), source });
        }
        Ok(())
    }
}

impl LineLog for MortalLog {
    fn append(&self, lines: &[String]) -> Result<(), LineLogError> {
        self.live()?;
        lock(&self.lines).extend(lines.iter().map(|line| line.clone().into_bytes()));
        Ok(())
    }

    fn read(&self, visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<(), LineLogError> {
        let _stopped = lock(&self.lines).iter().try_for_each(|line| visit(line));
        Ok(())
    }

    fn retain(&self, keep: &mut dyn FnMut(&[u8]) -> bool) -> Result<(), LineLogError> {
        self.live()?;
        lock(&self.lines).retain(|line| keep(line));
        Ok(())
    }
}

/// The state directory of a process.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub(super) log: Lines,
    pub(super) spool: MemoryDataset,
}
