//! Reads the files of one session.

use std::path::{Path, PathBuf};

use traj_core::agents::SessionSummary;
use traj_core::dialect::Dialect;
use traj_core::json::Json;
use traj_core::limits::Reading;
use traj_core::port::{Source, SourceError};
use traj_core::redaction::{RedactionReport, Redactor};
use traj_core::run::{Prices, SessionFiles, dialect_of, one_line};
use traj_fs::FilesBeside;

use super::cache::Beginning;
use super::candidate::Candidate;
use super::collect::problem;
use super::report::{ListingProblem, SessionRow};
use crate::command_error::CommandError;
use crate::compose::Host;
use crate::resolve::agent_files::FileStamp;
use crate::resolve::open_source_noting;

/// How many bytes of a sidecar are read to find its session id.
const HEAD: u64 = Reading::standard().short_head_bytes as u64;

/// How many bytes of a session are read to find its workspace and its title. The
/// header of a rollout can be long.
const BEGINNING: u64 = Reading::standard().header_bytes as u64;

/// How many bytes at the end of a session are read to find its title.
const END: u64 = Reading::standard().short_head_bytes as u64;

/// The length of an id that is a UUID.
const UUID: usize = 36;

/// The most characters of a title.
const TITLE: usize = 120;

/// Reads sessions on this host.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    pub(super) redactor: &'a Redactor,
    pub(super) prices: &'a Prices,
    pub(super) host: &'a Host,
}

/// The result of reading a session.
pub(super) enum Looked {
    Listed {
        session: Box<SessionRow>,
        problem: Option<ListingProblem>,
        /// Files elsewhere that it was read from.
        others: Vec<(PathBuf, FileStamp)>,
    },
    Unrecognised,
    /// It is read with the session that it belongs to.
    Part,
    Unreadable(ListingProblem),
}

impl Looked {
    /// A session that was read before.
    pub(super) fn listed(session: SessionRow) -> Self {
        Self::Listed { session: Box::new(session), problem: None, others: Vec::new() }
    }

    /// The files elsewhere that a session was read from.
    pub(super) fn others(&self) -> Vec<(PathBuf, FileStamp)> {
        match self {
            Self::Listed { others, .. } => others.clone(),
            _ => Vec::new(),
        }
    }
}

impl Reader<'_> {
    /// Reads the beginning of a session.
    pub(super) fn beginning(self, candidate: &Candidate) -> Beginning {
        if candidate.found.workspace.is_some() {
            return Beginning { workspace: candidate.found.workspace.clone() };
        }
        let workspace = stated_workspace(candidate, self.host);
        Beginning { workspace: workspace.map(|text| self.redacted(&text)) }
    }

    /// Reads the files of a session.
    pub(super) fn read(self, candidate: &Candidate) -> Looked {
        let found = &candidate.found;
        let (mut faults, beside) = (Vec::new(), FilesBeside::default());
        let mut open_noting = |file: &Path| match open_with(file, self.host, &beside) {
            Ok(source) => source,
            Err(error) => {
                faults.push(problem(file, &error));
                None
            }
        };
        let transcript = Some(&*found.file).filter(|_| !candidate.is_alone);
        let mut transcript = transcript.and_then(&mut open_noting);
        let mut sidecar = candidate.sidecar.as_deref().and_then(&mut open_noting);
        let mut sidecar_file = candidate.sidecar.clone();
        let dialect = match transcript.as_deref().map(dialect_of).transpose() {
            Ok(dialect) => dialect.flatten(),
            Err(error) => return Looked::Unreadable(problem(&found.file, &unreadable(error))),
        };
        let is_empty = transcript.as_deref().is_none_or(Source::is_empty);
        match dialect {
            Some(Dialect::Sidecar) if sidecar.is_none() => {
                sidecar = transcript.take();
                sidecar_file = Some(found.file.clone());
            }
            Some(dialect) if dialect.is_foreign() || dialect.is_transcript() => {}
            _ if is_empty || sidecar.is_some() => {}
            _ => return Looked::Unrecognised,
        }
        if let (None, None, Some(fault)) = (&transcript, &sidecar, faults.first()) {
            return Looked::Unreadable(fault.clone());
        }
        let id = stated_id(transcript.as_deref(), sidecar.as_deref());
        let id = id.unwrap_or_else(|| candidate.id.clone());
        let files = SessionFiles {
            transcript: transcript.as_deref(),
            sidecar: sidecar.as_deref(),
            session: &id,
            longest_row: self.host.reading().session_line_bytes,
        };
        let read = match files.fold(self.prices.clone()) {
            Ok(read) => read,
            Err(error) => return Looked::Unreadable(problem(&found.file, &unreadable(error))),
        };
        let summary = transcript.as_deref().or(sidecar.as_deref()).and_then(summary_of);
        if summary.as_ref().is_some_and(|summary| summary.is_part) && !found.is_named {
            return Looked::Part;
        }
        let title = found.title.as_deref().or_else(|| summary.as_ref()?.title());
        let mut session = SessionRow {
            session_file: found.file.to_string_lossy().into_owned(),
            exists: transcript.is_some(),
            bytes: transcript.as_deref().map_or(0, Source::len),
            events: sidecar.as_ref().map(|_| read.recorded),
            trajectory: sidecar_file.map(|file| file.to_string_lossy().into_owned()),
            trajectory_bytes: sidecar.as_deref().map(Source::len),
            agent: read.dialect.and_then(Dialect::agent).map(str::to_owned),
            dialect: read.dialect.map(|dialect| dialect.as_str().into()),
            title: title.map(|text| self.title(text)),
            session_id: id,
            ..SessionRow::default()
        };
        session.take_run(&read.run, &|text| self.redacted(text));
        if let Some(agent) = found.agent.filter(|_| read.dialect.is_some()) {
            // Programs that descend from each other write the same rows.
            session.agent = Some(agent.to_owned());
        }
        if candidate.sidecar.is_none() && !candidate.is_alone {
            // A fork may repeat the id of its parent, but not in its name.
            let is_sure = |id: &String| id.len() == UUID || found.changed.is_some();
            let named = found.id.clone().filter(is_sure);
            let stated = named.or_else(|| read.run.session.clone());
            session.session_id = stated.unwrap_or(session.session_id);
        }
        let others = others_of(read.dialect, &beside);
        let problem = faults.into_iter().next();
        Looked::Listed { session: Box::new(session), problem, others }
    }

    /// A text as one line that is redacted first, then cut.
    pub(super) fn title(self, text: &str) -> String {
        one_line(&self.redacted(text), TITLE)
    }

    /// A text from a file, redacted.
    pub(super) fn redacted(self, text: &str) -> String {
        let mut report = RedactionReport::default();
        let shown = self.redactor.json(Json::from(text), &mut report).into_inner();
        shown.as_str().unwrap_or_default().to_owned()
    }
}

/// The directory that the agent worked in, as the first rows of a session state it.
pub(super) fn stated_workspace(candidate: &Candidate, host: &Host) -> Option<String> {
    let file = if candidate.is_alone { candidate.sidecar.as_deref() } else { None };
    let source = open(file.unwrap_or(&candidate.found.file), host).ok().flatten()?;
    let head = part(&*source, 0, BEGINNING)?;
    Dialect::stated_workspace(&head).or_else(|| {
        let dialect = dialect_of(&*source).ok().flatten()?;
        let mut summary = SessionSummary::default();
        summary.read(dialect, &head);
        summary.workspace
    })
}

/// Whether a file that was found is a separate session: neither a part of
/// another one, nor something else.
pub(super) fn is_session(candidate: &Candidate, host: &Host) -> Result<bool, CommandError> {
    if candidate.is_alone || candidate.sidecar.is_some() || candidate.found.is_named {
        return Ok(true);
    }
    let Some(source) = open(&candidate.found.file, host)? else { return Ok(false) };
    let is_known = dialect_of(&*source).map_err(unreadable)?.is_some();
    Ok(is_known && !summary_of(&*source).is_some_and(|summary| summary.is_part))
}

/// What the first and the last rows of a session say.
fn summary_of(source: &dyn Source) -> Option<SessionSummary> {
    let dialect = dialect_of(source).ok().flatten()?;
    let mut summary = SessionSummary::default();
    summary.read(dialect, &part(source, 0, BEGINNING)?);
    let rest = source.len().saturating_sub(BEGINNING).min(END);
    if rest > 0 {
        let end = part(source, source.len() - rest, rest)?;
        // The first line is torn.
        let whole = end.iter().position(|byte| *byte == b'\n').and_then(|at| end.get(at..));
        summary.read(dialect, whole.unwrap_or_default());
    }
    Some(summary)
}

fn part(source: &dyn Source, offset: u64, most: u64) -> Option<Vec<u8>> {
    let length = source.len().saturating_sub(offset).min(most);
    let mut bytes = vec![0; usize::try_from(length).ok()?];
    source.read_exact_at(offset, &mut bytes).ok()?;
    Some(bytes)
}

/// The id stated in a sidecar without a transcript.
fn stated_id(transcript: Option<&dyn Source>, sidecar: Option<&dyn Source>) -> Option<String> {
    let sidecar = sidecar.filter(|_| transcript.is_none())?;
    Dialect::stated_session(&part(sidecar, 0, HEAD)?)
}

/// The files of other threads of Codex. What other programs keep beside a session
/// is found, and stamped, before the session is read.
fn others_of(dialect: Option<Dialect>, beside: &FilesBeside) -> Vec<(PathBuf, FileStamp)> {
    let mut files = beside.take();
    files.retain(|_| dialect == Some(Dialect::CodexRollout));
    let mut others: Vec<_> = files
        .into_iter()
        .map(|(name, found)| (PathBuf::from(name), FileStamp::of(&found)))
        .collect();
    others.dedup();
    others
}

/// Opens a file; `None` if it does not exist.
fn open(file: &Path, host: &Host) -> Result<Option<Box<dyn Source>>, CommandError> {
    open_with(file, host, &FilesBeside::default())
}

/// Opens a file, and notes the others that its rows come from.
fn open_with(
    file: &Path,
    host: &Host,
    beside: &FilesBeside,
) -> Result<Option<Box<dyn Source>>, CommandError> {
    match open_source_noting(file, host, beside)? {
        Ok(source) => Ok(Some(source)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(unreadable(error)),
    }
}

fn unreadable(error: SourceError) -> CommandError {
    CommandError::failure("cannot be read").because(error)
}
