//! Ships the part of each session that the dataset does not have.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use traj_core::port::BundleSource;
use traj_fs::FsScratch;
use traj_lake::{BundleSession, SegmentLimits, SessionStamp, ShipError, ShipSetup, Shipper, Tail};

use super::Job;
use super::report::{ShipProblem, ShipReport};
use super::subjects::Subjects;
use crate::command::lake::PLACE_HINT;
use crate::command::sessions::files::SessionFiles;
use crate::command_error::{CommandError, ErrorKind};
use crate::compose::Host;
use crate::interruption::Waits;
use crate::resolve::export::temporary::export_until;
use crate::resolve::{OpenedBundle, Subject};

/// How often a session is read again because it changed meanwhile.
const MOST_READINGS: u32 = 3;

/// A round over sessions.
pub(super) struct Round<'j, 'a> {
    job: &'j Job<'a>,
    shipper: Shipper<'j>,
    waits: Waits,
    report: ShipReport,
    /// Files that are not sessions, as they were.
    others: HashSet<(PathBuf, u64)>,
}

impl<'j, 'a> Round<'j, 'a> {
    /// Asks the dataset what it has, and sends what waits.
    pub(super) fn begin(job: &'j Job<'a>, mut waits: Waits) -> Result<Self, CommandError> {
        let setup = ShipSetup {
            dataset: &*job.memory.dataset,
            host: job.memory.host.clone(),
            log: &job.memory.log,
            processes: &job.memory.process,
            spool: &job.memory.spool,
            spool_bytes: job.arguments.max_spool,
            limits: SegmentLimits::default(),
            is_dry: job.arguments.dry_run,
        };
        let shipper = Shipper::open(setup, &mut waits).map_err(explain)?;
        let report = ShipReport::default();
        let mut round = Self { job, shipper, waits, report, others: HashSet::new() };
        round.send_waiting()?;
        Ok(round)
    }

    /// Begins another round.
    pub(super) fn begin_again(&mut self) -> Result<(), CommandError> {
        self.report = ShipReport::default();
        self.shipper.try_again(&mut self.waits).map_err(explain)?;
        self.send_waiting()
    }

    fn send_waiting(&mut self) -> Result<(), CommandError> {
        let drained = self.shipper.drain(&mut self.waits).map_err(explain)?;
        self.report.sent_later = drained.sent;
        Ok(())
    }

    /// How long the dataset asks to wait, if it cannot be reached.
    pub(super) fn away(&self) -> Option<Option<std::time::Duration>> {
        self.shipper.away().map(|away| away.retry_after)
    }

    /// Ships everything. The last events of a session that changed after
    /// `idle_before` wait until it ends.
    pub(super) fn ship_all(
        &mut self,
        subjects: Subjects,
        idle_before: Option<i64>,
    ) -> Result<(), CommandError> {
        for (file, problem) in subjects.problems {
            self.failed(file, problem);
        }
        let sources = subjects.sessions.iter();
        let sources = sources.map(|files| files.path().display().to_string()).collect();
        self.shipper.set_sources(sources);
        for files in &subjects.sessions {
            let is_active = idle_before
                .is_some_and(|before| files.modified().is_some_and(|at| at.as_millis() > before));
            let tail = if is_active { Tail::ShipIfEnded } else { Tail::Ship };
            let outcome = self.ship_files(files, tail);
            self.note(files.path(), outcome)?;
        }
        for path in &subjects.bundles {
            let outcome = self.ship_bundle(path);
            self.note(path, outcome)?;
        }
        Ok(())
    }

    /// The outcome so far.
    pub(super) fn report(&self) -> ShipReport {
        let away = self.shipper.away();
        let causes = |error: &dyn std::error::Error| {
            let first = std::iter::successors(error.source(), |cause| cause.source());
            first.map(ToString::to_string).collect::<Vec<_>>().join(": ")
        };
        let problems = self.report.problems.iter().map(|problem| ShipProblem {
            session_file: problem.session_file.clone(),
            problem: problem.problem.clone(),
        });
        ShipReport {
            dataset: self.job.memory.url.clone(),
            host_id: self.job.memory.host.as_str().to_owned(),
            dry_run: self.job.arguments.dry_run,
            repeated: self.shipper.repeated(),
            spool: self.shipper.spool().into(),
            unreachable: away.map(|away| causes(&away.error)),
            problems: problems.collect(),
            ..self.report
        }
    }

    /// Records the outcome of a session. Only an error that concerns all
    /// sessions ends the round.
    fn note(&mut self, path: &Path, outcome: Result<(), CommandError>) -> Result<(), CommandError> {
        self.report.sessions += 1;
        if self.waits.is_stopped() {
            return Err(CommandError::failure("asked to stop"));
        }
        let Err(error) = outcome else { return Ok(()) };
        self.report.has_findings |= error.kind == ErrorKind::Findings;
        let problem = std::iter::once(error.message.clone()).chain(error.causes());
        self.failed(path.display().to_string(), problem.collect::<Vec<_>>().join(": "));
        Ok(())
    }

    fn failed(&mut self, session_file: String, problem: String) {
        self.report.failed += 1;
        self.report.problems.push(ShipProblem { session_file, problem });
    }

    fn ship_files(&mut self, files: &SessionFiles, tail: Tail) -> Result<(), CommandError> {
        let host = self.job.host;
        for reading in 1.. {
            let stamp = files.stamp(host);
            let known = SessionStamp {
                source: files.path().display().to_string(),
                stamp: format!("{stamp:016x}-{}", self.versions()),
            };
            match self.shipper.standing(&known, tail, &mut self.waits).map_err(explain)? {
                None => {}
                Some(standing) => {
                    self.report.add_standing(standing);
                    return Ok(());
                }
            }
            if !self.is_session(files, stamp)? {
                self.report.skipped += 1;
                return Ok(());
            }
            // Paths are hidden by their place, wherever this command runs.
            let workspace = files.workspace(host).map(PathBuf::from);
            let beside = files.path().parent().map(Path::to_path_buf);
            let workspace = workspace.or(beside).unwrap_or_default();
            let job = self.job;
            let exported = export_until(
                &job.interruption,
                &files.chosen(),
                &workspace,
                Host::now(),
                host,
                job.output,
            );
            let exported = match exported {
                // Nothing that can be shipped: an empty file, or another program's.
                Err(error) if error.kind == ErrorKind::Damaged && job.arguments.all => {
                    self.others.insert((files.path().to_path_buf(), stamp));
                    self.report.skipped += 1;
                    return Ok(());
                }
                exported => exported?,
            };
            let is_current = || files.stamp(host) == stamp;
            match self.ship(&exported.bundle, &is_current, &known, tail) {
                Err(error) if reading < MOST_READINGS && is_changed(&error) => {}
                outcome => return outcome.map_err(explain),
            }
        }
        Ok(())
    }

    /// What else determines the rows: the program and the prices.
    fn versions(&self) -> String {
        use std::hash::{Hash as _, Hasher as _};
        let mut hasher = std::collections::hash_map::DefaultHasher::new();
        format!("{:?}", self.job.prices).hash(&mut hasher);
        Host::program_stamp().hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }

    fn is_session(&self, files: &SessionFiles, stamp: u64) -> Result<bool, CommandError> {
        if self.others.contains(&(files.path().to_path_buf(), stamp)) {
            return Ok(false);
        }
        files.is_session(self.job.host)
    }

    fn ship_bundle(&mut self, path: &Path) -> Result<(), CommandError> {
        let job = self.job;
        let subject = Subject::Bundle { path: path.to_path_buf() };
        let opened = OpenedBundle::of(subject, Path::new("/"), Host::now(), job.host, job.output)?;
        if opened.is_damaged() {
            let error = CommandError::new(ErrorKind::Damaged, "the bundle is damaged");
            return Err(error.hint("run `traj verify` for details"));
        }
        let known = SessionStamp {
            source: job.host.absolute(path).display().to_string(),
            stamp: format!("{:032x}", Host::now().as_millis()),
        };
        self.ship(opened.bundle(), &|| true, &known, Tail::Ship).map_err(explain)
    }

    fn ship(
        &mut self,
        bundle: &dyn BundleSource,
        is_current: &dyn Fn() -> bool,
        known: &SessionStamp,
        tail: Tail,
    ) -> Result<(), ShipError> {
        let places = self.job.host.temporary_place().into_iter().collect();
        let scratch = Box::new(FsScratch::new(places));
        let session = BundleSession::new(bundle, &self.job.prices, scratch, is_current);
        let shipped = self.shipper.ship(&session, known, tail, &mut self.waits)?;
        self.report.add(&shipped);
        Ok(())
    }
}

const fn is_changed(error: &ShipError) -> bool {
    matches!(error, ShipError::Changed)
}

/// Explains to the user why nothing was shipped.
fn explain(error: ShipError) -> CommandError {
    let is_of_dataset = matches!(error, ShipError::Dataset(_));
    let failed = CommandError::failure("cannot ship").because(error);
    if is_of_dataset { failed.hint(PLACE_HINT) } else { failed }
}
