//! Finds the session or bundle that the user named, the same way for every
//! verb: by path, key, id, or an unambiguous beginning of a key or id.
//!
//! A verb flattens [`SubjectArguments`] and calls [`subject()`] or [`session()`].

mod agent_choice;
pub(crate) mod agent_files;
pub(crate) mod bundle;
pub(crate) mod export;
pub(crate) mod gathered;
mod listing;
mod named;
mod opened;
mod places;
mod session;
mod source_input;
mod store;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use traj_core::gather::SessionAddress;
use traj_core::id::SessionId;
use traj_core::location::session_stem;
use traj_core::timestamp::UnixMillis;
use traj_fs::is_bundle;

pub(crate) use self::agent_choice::AgentChoice;
pub(crate) use self::gathered::{
    open_source, open_source_noting, sessions_of_database, with_sub_agents,
};
pub(crate) use self::opened::OpenedBundle;
pub(crate) use self::places::{STORE, codex_home, is_transcript_name};
pub(crate) use self::session::{Session, Sidecar};
pub(crate) use self::source_input::SourceInput;
pub(crate) use self::store::StorePlace;

use self::listing::{KnownSession, SessionListing};
use self::named::NamedPath;
use crate::command_error::CommandError;
use crate::compose::Host;
use crate::output::CommandOutput;

/// How many candidates are listed when a word matches several sessions.
const LISTED: usize = 10;

/// How many transcripts are opened to find one of this workspace.
const MOST_HEADERS: usize = 500;

/// The hint for a session that was not found.
const LIST_HINT: &str = "run `traj sessions` to list the sessions";

/// The file name endings of sessions and bundles.
const PATH_ENDINGS: [&str; 6] = [".jsonl", ".json", ".zip", ".tar.zst", ".tzst", ".html"];

/// The flags that name a session or bundle.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct SubjectArguments {
    /// The session: a file, a key, an id, or the beginning of a key or id
    #[arg(value_name = "SESSION", conflicts_with_all = ["session", "session_key"])]
    pub(crate) subject: Option<PathBuf>,
    /// The session's transcript
    #[arg(long, value_name = "FILE")]
    pub(crate) session: Option<PathBuf>,
    /// The session's key in the store
    #[arg(long, value_name = "KEY")]
    pub(crate) session_key: Option<String>,
    /// The store that lists the session [default: the agent's]
    #[arg(long, value_name = "FILE", conflicts_with = "session")]
    pub(crate) store: Option<PathBuf>,
    /// The program whose sessions are searched, such as codex, or the id of an OpenClaw agent
    /// [default: the one the key names, or all]
    #[arg(long, value_name = "NAME", conflicts_with = "session")]
    pub(crate) agent: Option<String>,
}

impl SubjectArguments {
    /// A session that is named by one word.
    pub(crate) fn named(subject: &Path) -> Self {
        Self { subject: Some(subject.to_path_buf()), ..Self::default() }
    }
}

/// What to do when the user names nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unnamed {
    /// Use the newest session of this workspace, else of this machine. For
    /// verbs that only read.
    Newest,
    /// Fail. For verbs that change, remove or send something.
    Refused,
}

/// The session or bundle that the user named.
#[derive(Debug)]
pub(crate) enum Subject {
    /// A bundle: a directory or an archive.
    Bundle {
        /// Its path, as the user named it.
        path: PathBuf,
    },
    /// A session.
    Session(ChosenSession),
    /// Standard input.
    Stream,
}

/// The session that the user named. Its files need not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChosenSession {
    /// The absolute path of its transcript.
    pub(crate) file: PathBuf,
    /// The key by which it was named or found, if any.
    pub(crate) key: Option<String>,
    /// The sidecar, if the user named that instead.
    pub(crate) sidecar: Option<PathBuf>,
}

impl ChosenSession {
    fn at(file: PathBuf, key: Option<String>) -> Self {
        Self { file, key, sidecar: None }
    }

    /// Its id: as stated in its files, else its file name.
    pub(crate) fn id(&self, host: &Host) -> Result<SessionId, CommandError> {
        let (parent, name) = host.parent_and_name(&self.file)?;
        if host.folder_if_any(&parent)?.is_some() {
            return Session::open(self, host).map(|session| session.id);
        }
        SessionId::parse(session_stem(&name)).map_err(|error| session::unusable_id().because(error))
    }
}

/// Finds the session or bundle that the user named.
pub(crate) fn subject(
    arguments: &SubjectArguments,
    unnamed: Unnamed,
    host: &Host,
    output: &CommandOutput,
) -> Result<Subject, CommandError> {
    let SubjectArguments { subject, session, session_key, store, agent } = arguments;
    let (store, agent) = (store.as_deref(), agent.as_deref());
    if let Some(file) = session {
        return Ok(Subject::Session(ChosenSession::at(host.absolute(file), session_key.clone())));
    }
    if let Some(key) = session_key {
        let agent = AgentChoice::of(agent).store_of_key(key);
        let file = StorePlace::file_of_key(key, store, agent, host)?;
        return Ok(Subject::Session(ChosenSession::at(host.absolute(&file), Some(key.clone()))));
    }
    match subject {
        Some(word) if word.as_os_str() == "-" => Ok(Subject::Stream),
        Some(word) => by_word(word, &Listed { store, agent, host }),
        None if unnamed == Unnamed::Refused => Err(CommandError::usage("name a session")
            .hint("give its file, key or id; `traj sessions` lists them")),
        None => {
            let (known, whose) = newest(&Listed { store, agent, host })?;
            output.note(&format!("the newest session of this {whose}: {}", known.shown()));
            Ok(known.chosen(host))
        }
    }
}

/// Like [`subject`], for verbs that need a session.
pub(crate) fn chosen(
    arguments: &SubjectArguments,
    unnamed: Unnamed,
    host: &Host,
    output: &CommandOutput,
) -> Result<ChosenSession, CommandError> {
    match subject(arguments, unnamed, host, output)? {
        Subject::Session(chosen) => Ok(chosen),
        Subject::Bundle { path } if !exists(&path, host) => {
            let message = format!("there is no session {}", path.display());
            Err(CommandError::failure(message).hint(LIST_HINT))
        }
        Subject::Bundle { path } => {
            let message = format!("{} is not a session", path.display());
            Err(CommandError::usage(message)
                .hint("a bundle is read with `traj inspect` and `traj verify`"))
        }
        Subject::Stream => Err(CommandError::usage("this command does not read standard input")
            .hint("name a session: its file, key or id")),
    }
}

/// Like [`chosen`], but opens the session.
pub(crate) fn session(
    arguments: &SubjectArguments,
    unnamed: Unnamed,
    host: &Host,
    output: &CommandOutput,
) -> Result<Session, CommandError> {
    Session::open(&chosen(arguments, unnamed, host, output)?, host)
}

/// Like [`subject`], for verbs that work on any one JSON Lines file: the file
/// that was named, else the transcript of the session.
pub(crate) fn file(
    arguments: &SubjectArguments,
    unnamed: Unnamed,
    host: &Host,
    output: &CommandOutput,
) -> Result<PathBuf, CommandError> {
    match arguments.subject.as_deref() {
        Some(path) if is_path(path) || exists(path, host) => return Ok(host.absolute(path)),
        _ => {}
    }
    match subject(arguments, unnamed, host, output)? {
        Subject::Bundle { path } => Ok(host.absolute(&path)),
        Subject::Session(chosen) => Ok(chosen.sidecar.unwrap_or(chosen.file)),
        Subject::Stream => Err(CommandError::usage("this command does not read standard input")
            .hint("name the file, or a session by its key or id")),
    }
}

/// The directories with the sessions of one agent, or of this machine, in order.
pub(crate) fn session_folders(agent: Option<&str>, host: &Host) -> Vec<PathBuf> {
    SessionListing::read(None, agent, host).folders
}

/// Where to look for sessions.
struct Listed<'a> {
    store: Option<&'a Path>,
    agent: Option<&'a str>,
    host: &'a Host,
}

impl Listed<'_> {
    fn read(&self) -> SessionListing {
        SessionListing::read(self.store, self.agent, self.host)
    }
}

/// Resolves a word: the file or bundle at this path, else a key or id, else a
/// path at which nothing exists yet.
fn by_word(word: &Path, listed: &Listed<'_>) -> Result<Subject, CommandError> {
    let host = listed.host;
    let lies_there = exists(word, host);
    // A directory that is not a bundle does not hide a session with its name.
    if is_path(word) || lies_there && !is_plain_directory(word, host) {
        return by_path(word, host);
    }
    let Some(text) = word.to_str() else { return Err(CommandError::not_utf8(word)) };
    let mut listing = listed.read();
    if by_own_names(&listing.sessions, text).is_empty() {
        listing.add_databases(None, host);
    }
    let mut fitting = fitting(&listing.sessions, text, host);
    match (fitting.len(), listing.problem) {
        (1, _) => Ok(fitting.swap_remove(0).chosen(host)),
        (0, _) if lies_there || text.contains('/') => by_path(word, host),
        (0, Some(problem)) => Err(problem),
        (0, None) => Err(CommandError::failure(format!("there is no session {text}"))
            .hint(LIST_HINT)
            .hint("give a path, a key, an id, or the beginning of a key or id")),
        (count, _) => Err(ambiguous(text, count, &fitting)),
    }
}

/// The error for a word that matches several sessions; lists them.
fn ambiguous(word: &str, count: usize, fitting: &[KnownSession]) -> CommandError {
    let error = CommandError::usage(format!("{word} matches {count} sessions"));
    let candidates = fitting.iter().take(LISTED).map(KnownSession::shown);
    let error = candidates.fold(error, CommandError::hint);
    match count.saturating_sub(LISTED) {
        0 => error,
        more => error.hint(format!("and {more} more")),
    }
}

fn by_path(path: &Path, host: &Host) -> Result<Subject, CommandError> {
    Ok(match NamedPath::of(path, host)? {
        NamedPath::Bundle => Subject::Bundle { path: path.to_path_buf() },
        NamedPath::Session { file, sidecar } => {
            Subject::Session(ChosenSession { file, key: None, sidecar })
        }
    })
}

/// The sessions that a word matches: by key or id, else by the id stated in
/// the transcript, else by the beginning of one of these.
fn fitting(sessions: &[KnownSession], word: &str, host: &Host) -> Vec<KnownSession> {
    let exact = by_own_names(sessions, word);
    if !exact.is_empty() {
        return exact;
    }
    let stated: BTreeMap<&Path, String> = sessions
        .iter()
        .filter_map(|known| Some((known.file.as_path(), SessionListing::stated_id(known, host)?)))
        .collect();
    let all = |known: &KnownSession| {
        let [key, id, _] = own_names(known);
        [key, id, stated.get(known.file.as_path()).cloned()]
    };
    let exact = by_names(sessions, all, |name| name == word);
    if exact.is_empty() { by_names(sessions, all, |name| name.starts_with(word)) } else { exact }
}

/// The key and the id of a session.
fn own_names(known: &KnownSession) -> [Option<String>; 3] {
    [known.key.clone(), Some(known.id.clone()), None]
}

/// The sessions with this key or id.
fn by_own_names(sessions: &[KnownSession], word: &str) -> Vec<KnownSession> {
    by_names(sessions, own_names, |name| name == word)
}

/// The sessions with a matching name, each file once: several keys may point
/// to the same file.
fn by_names(
    sessions: &[KnownSession],
    names: impl Fn(&KnownSession) -> [Option<String>; 3],
    fits: impl Fn(&str) -> bool,
) -> Vec<KnownSession> {
    let any_fits = |known: &&KnownSession| names(known).iter().flatten().any(|name| fits(name));
    let mut found: Vec<KnownSession> = sessions.iter().filter(any_fits).cloned().collect();
    found.sort_by(|one, other| one.file.cmp(&other.file));
    found.dedup_by(|one, other| one.file == other.file);
    found
}

/// The newest session of this workspace, else of this machine.
fn newest(listed: &Listed<'_>) -> Result<(KnownSession, &'static str), CommandError> {
    let host = listed.host;
    let mut listing = listed.read();
    let here = newest_here(&listing.sessions, host);
    // Only a database that changed later can have a newer session.
    listing.add_databases(here.and_then(|(at, _)| at), host);
    if let Some((_, known)) = newest_here(&listing.sessions, host) {
        return Ok((known.clone(), "workspace"));
    }
    // An agent may have files of a version that is not known.
    let mut all = by_age(&listing.sessions, host).into_iter();
    match (all.find(|(_, known)| SessionListing::is_readable(known, host)), listing.problem) {
        (Some((_, known)), _) => Ok((known.clone(), "machine")),
        (None, Some(problem)) => Err(problem),
        (None, None) => Err(CommandError::usage("no session was found; name one")
            .hint("give a path, a key or an id")),
    }
}

/// The sessions with files, newest first.
fn by_age<'a>(
    sessions: &'a [KnownSession],
    host: &Host,
) -> Vec<(Option<UnixMillis>, &'a KnownSession)> {
    let timed = sessions.iter().map(|known| (SessionListing::modified(known, host), known));
    let mut timed: Vec<_> = timed.filter(|(at, _)| at.is_some()).collect();
    timed.sort_by(|(one, _), (other, _)| other.cmp(one));
    timed
}

/// The newest session of this workspace, among the newest of all.
fn newest_here<'a>(
    sessions: &'a [KnownSession],
    host: &Host,
) -> Option<(Option<UnixMillis>, &'a KnownSession)> {
    let here = host.facts.current_dir.trim_end_matches('/');
    by_age(sessions, host).into_iter().take(MOST_HEADERS).find(|(_, known)| {
        SessionListing::workspace(known, host)
            .is_some_and(|path| path.trim_end_matches('/') == here)
    })
}

/// Whether this path exists, or is that of a session in an existing file.
fn exists(path: &Path, host: &Host) -> bool {
    host.folder_of(path).is_ok_and(|(folder, name)| {
        let is_there = |name: &str| folder.symlink_metadata(name).is_ok();
        is_there(&name)
            || SessionAddress::parse(&name).is_some_and(|address| is_there(address.file))
    })
}

/// Whether this path is a directory that is not a bundle.
fn is_plain_directory(path: &Path, host: &Host) -> bool {
    host.folder(path).is_ok_and(|folder| !is_bundle(&folder))
}

/// Whether a word can only be a path.
fn is_path(word: &Path) -> bool {
    let text = word.to_string_lossy();
    text.starts_with(['/', '~', '.']) || PATH_ENDINGS.iter().any(|ending| text.ends_with(ending))
}
