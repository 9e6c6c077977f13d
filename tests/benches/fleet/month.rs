//! Hosts ship, day by day.

use std::error::Error;
use std::io::Write as _;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use cap_std::fs::Dir;
use flate2::Compression;
use flate2::write::GzEncoder;
use traj_core::id::{BundleName, SessionId};
use traj_core::memory::{
    MemoryBundleSink, MemoryBundleSource, MemoryDataset, MemoryLog, MemoryProcess, MemoryScratch,
    MemorySources,
};
use traj_core::port::{BundleFile, DatasetStore};
use traj_core::redaction::{MarkerKey, RedactionPolicy, Redactor};
use traj_core::run::Prices;
use traj_core::timestamp::UnixMillis;
use traj_export::{ExportPorts, ExportRequest, Pace, Selection, Silent, export};
use traj_fs::FsDataset;
use traj_lake::{BundleSession, HostId, SegmentLimits, SessionStamp, ShipSetup, Shipper, Tail};
use traj_tests::dice::Dice;

use super::counted::{Counted, Requests, read};
use super::sessions::{SessionWriter, Texts, days_of_hosts};
use crate::figure::Figure;

type Failure = Box<dyn Error + Send + Sync>;

/// Bytes of the texts that sessions are made of.
const TEXTS: usize = 4 << 20;

/// Threads that stand for the hosts.
const THREADS: usize = 2;

#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(super) hosts: u64,
    pub(super) days: u64,
    pub(super) sessions: u64,
}

/// What a fleet wrote in a month.
#[derive(Debug)]
pub(super) struct Month {
    size: Size,
    requests: Requests,
    /// Requests of a host that looks for changes and finds none.
    idle: Requests,
    sessions: AtomicU64,
    events: AtomicU64,
    jsonl: AtomicU64,
    gzip: AtomicU64,
    seconds: f64,
}

/// Waits no time at all: nothing fails here.
struct Steady(Dice);

impl Pace for Steady {
    fn wait(&mut self, _pause: Duration) -> bool {
        true
    }

    fn random(&mut self) -> u64 {
        (self.0.below(u64::from(u32::MAX)) << 32) | self.0.below(u64::from(u32::MAX))
    }
}

impl Month {
    /// Lets a fleet of this size ship into a directory.
    ///
    /// # Errors
    /// If something cannot be exported or shipped.
    pub(super) fn of(size: Size, folder: &Path) -> Result<Self, Failure> {
        let started = Instant::now();
        let month = Self {
            size,
            requests: Requests::default(),
            idle: Requests::default(),
            sessions: AtomicU64::default(),
            events: AtomicU64::default(),
            jsonl: AtomicU64::default(),
            gzip: AtomicU64::default(),
            seconds: 0.0,
        };
        let texts = Texts::new(TEXTS)?;
        let folder = Dir::open_ambient_dir(folder, cap_std::ambient_authority())?;
        let dataset = FsDataset::new(folder, Vec::new());
        let hosts: Vec<_> =
            days_of_hosts(size.hosts, size.days, size.sessions).into_iter().enumerate().collect();
        let ahead = Mutex::new(hosts.into_iter());
        let work = || -> Result<(), Failure> {
            loop {
                let next = ahead.lock().map_err(|_| "another thread failed")?.next();
                let Some((host, days)) = next else { return Ok(()) };
                HostRun { month: &month, texts: &texts, dataset: &dataset, host: host as u64 }
                    .ship(&days)?;
            }
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
            threads.into_iter().try_for_each(|thread| {
                thread.join().map_err(|_| Failure::from("a host ended early"))?
            })
        })?;
        Ok(Self { seconds: started.elapsed().as_secs_f64(), ..month })
    }

    pub(super) fn figures(&self) -> Vec<Figure> {
        let (hosts, days) = (self.size.hosts, self.size.days);
        let (events, files) = (read(&self.events) as f64, read(&self.requests.files) as f64);
        let (bytes, jsonl) = (read(&self.requests.bytes) as f64, read(&self.jsonl) as f64);
        let gzip = read(&self.gzip) as f64;
        let figure = |what: &str, value: f64, unit| {
            Figure::new(format!("{hosts} hosts: {what}"), value, unit)
        };
        vec![
            figure("sessions", read(&self.sessions) as f64, ""),
            figure("events", events, ""),
            figure("events per session", events / read(&self.sessions) as f64, ""),
            figure("Parquet per event", bytes / events, "bytes"),
            figure("JSON Lines per event", jsonl / events, "bytes"),
            figure("JSON Lines with gzip per event", gzip / events, "bytes"),
            figure("Parquet / JSON Lines", bytes / jsonl, "x"),
            figure("Parquet / JSON Lines with gzip", bytes / gzip, "x"),
            figure("files per day", files / days as f64, ""),
            figure("bytes per file", bytes / files, "bytes"),
            figure("requests per million events", self.requests.all() / events * 1e6, ""),
            figure("of them, writes", read(&self.requests.puts) as f64 / events * 1e6, ""),
            figure("of them, lists", read(&self.requests.lists) as f64 / events * 1e6, ""),
            figure("of them, reads", read(&self.requests.gets) as f64 / events * 1e6, ""),
            figure(
                "requests, per million events",
                self.requests.dollars() / events * 1e6,
                "dollars",
            ),
            figure("requests of an idle round", self.idle.all() / hosts as f64, ""),
            figure("export and ship, per session", self.seconds / read(&self.sessions) as f64, "s"),
        ]
    }
}

/// The month of one host.
struct HostRun<'m> {
    month: &'m Month,
    texts: &'m Texts,
    dataset: &'m dyn DatasetStore,
    host: u64,
}

impl HostRun<'_> {
    /// Ships the sessions of each day with a process of its own.
    fn ship(&self, days: &[u64]) -> Result<(), Failure> {
        let (log, spool) = (MemoryLog::default(), MemoryDataset::new());
        let process = MemoryProcess::first();
        let mut pace = Steady(Dice::new(self.host + 1));
        let redactor = Redactor::new(RedactionPolicy::standard(MarkerKey::new([7; 32])));
        for (number, sessions) in days.chunk_by(|one, next| one == next).enumerate() {
            let dataset = Counted { inner: self.dataset, requests: &self.month.requests };
            let setup = self.setup(&dataset, &log, &process, &spool);
            let mut shipper = Shipper::open(setup, &mut pace)?;
            for (place, day) in sessions.iter().enumerate() {
                let id = format!("h{:04}-d{number:02}-s{place:05}", self.host);
                let seed = (self.host << 32) | ((number as u64) << 16) | place as u64;
                let mut writer = SessionWriter::new(self.texts, seed, *day);
                let turns = writer.turns();
                let text = writer.write(&id, turns);
                self.ship_session(&mut shipper, &id, text, &redactor, &mut pace)?;
            }
        }
        let dataset = Counted { inner: self.dataset, requests: &self.month.idle };
        Shipper::open(self.setup(&dataset, &log, &process, &spool), &mut pace)?;
        Ok(())
    }

    fn setup<'s>(
        &self,
        dataset: &'s dyn DatasetStore,
        log: &'s MemoryLog,
        processes: &'s MemoryProcess,
        spool: &'s MemoryDataset,
    ) -> ShipSetup<'s> {
        let host = HostId::of(&[7; 32], &format!("host{}", self.host));
        let limits = SegmentLimits::default();
        let (spool_bytes, is_dry) = (1 << 30, false);
        ShipSetup { dataset, host, log, processes, spool, spool_bytes, limits, is_dry }
    }

    fn ship_session(
        &self,
        shipper: &mut Shipper<'_>,
        id: &str,
        text: String,
        redactor: &Redactor,
        pace: &mut Steady,
    ) -> Result<(), Failure> {
        let (sources, sink) = (MemorySources::new(), MemoryBundleSink::new());
        let file = format!("{id}.jsonl");
        sources.put(file.as_str(), text);
        let selection = Selection::with_names(&file, SessionId::parse(id).ok(), None);
        let mut request =
            ExportRequest::new(selection, "/srv/work", UnixMillis::EPOCH, redactor.clone());
        request.name = BundleName::parse("b").ok();
        let report = export(ExportPorts { sources: &sources, sink: &sink }, &request, &Silent)?;
        let bundle = sink.bundle(&report.name).ok_or("no bundle was made")?;
        let events = bundle.get(&BundleFile::Events).ok_or("the bundle has no events")?;
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        gzip.write_all(events.as_bytes())?;
        let add = |counter: &AtomicU64, count: usize| {
            counter.fetch_add(count as u64, Ordering::Relaxed);
        };
        add(&self.month.jsonl, events.len());
        add(&self.month.gzip, gzip.finish()?.len());
        add(&self.month.sessions, 1);

        let (source, prices) = (MemoryBundleSource::of(&bundle), Prices::shipped());
        let scratch = Box::new(MemoryScratch::default());
        let session = BundleSession::new(&source, &prices, scratch, &|| true);
        let stamp = SessionStamp { source: file, stamp: "1".to_owned() };
        let shipped = shipper.ship(&session, &stamp, Tail::Ship, pace)?;
        if shipped.waiting + shipped.held > 0 || shipped.stored == 0 {
            return Err(format!("{id} is not shipped: {shipped:?}").into());
        }
        self.month.events.fetch_add(shipped.events, Ordering::Relaxed);
        Ok(())
    }
}
