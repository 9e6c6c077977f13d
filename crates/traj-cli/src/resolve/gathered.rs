//! Sessions that are not plain files: compressed files, and sessions in a
//! database, which are named `FILE#SESSION`.

use std::error::Error;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use cap_std::fs::Dir;
use traj_core::gather::{
    Container, DatabaseSession, GatherError, SessionAddress, database_sessions, storage_folder,
    sub_agent_folder, thread_folder,
};
use traj_core::port::{Source, SourceError, Sources as _};
use traj_fs::FsSources;

use traj_core::dialect::{Dialect, Head, sniff};
use traj_core::limits::Reading;
use traj_fs::{FilesBeside, open_file, open_subfolder};

use crate::command_error::CommandError;
use crate::compose::Host;

/// How much of a file is read to find out who wrote it.
const HEAD: u64 = Reading::standard().header_bytes as u64;

/// How many sessions of a database a message lists.
const LISTED: usize = 10;

/// The endings of compressed sessions. Other compressed files are bundles.
const COMPRESSED: [&str; 2] = [".jsonl.zst", ".json.zst"];

/// Opens the rows of a session, or of another file, whatever it is.
pub(crate) fn open_source(
    file: &Path,
    host: &Host,
) -> Result<Result<Box<dyn Source>, SourceError>, CommandError> {
    open_source_noting(file, host, &FilesBeside::default())
}

/// Opens the rows of a session, and notes the other files that they come from.
pub(crate) fn open_source_noting(
    file: &Path,
    host: &Host,
    beside: &FilesBeside,
) -> Result<Result<Box<dyn Source>, SourceError>, CommandError> {
    let (parent, name) = host.parent_and_name(file)?;
    let path = parent.join(name);
    let path = path.to_str().ok_or_else(|| CommandError::not_utf8(file))?;
    let Some(folder) = host.folder_if_any(&parent)? else {
        return Ok(Err(SourceError::NotFound { name: path.to_owned() }));
    };
    let sources = sources_in(&parent, folder, host).noting(beside);
    Ok(with_sub_agents(sources, Path::new(path), host).open(path))
}

fn sources_in(parent: &Path, folder: Dir, host: &Host) -> FsSources {
    let sources = FsSources::new(parent).with_root(parent, folder);
    match host.gathering() {
        Some(gathering) => sources.gathering(gathering),
        None => sources,
    }
}

/// A session with its name.
type NamedSource = (String, Box<dyn Source>);

/// The sessions in a file of a directory that is not plain text: those of a database,
/// or the one in a compressed file. `None` if it is plain, or a database of another
/// program.
pub(crate) fn packed_sessions(
    folder: &Dir,
    name: &str,
    host: &Host,
) -> Result<Option<Vec<NamedSource>>, Box<dyn Error + Send + Sync>> {
    let mut head = Vec::new();
    open_file(folder, name)?.take(Container::HEAD as u64).read_to_end(&mut head)?;
    let names = match (Container::of(&head), host.gathering()) {
        (Container::Plain, _) | (_, None) => return Ok(None),
        (Container::Sqlite, Some(gathering)) => {
            let Some(tables) = gathering.tables(folder, name)? else { return Ok(None) };
            match database_sessions(&tables) {
                Ok((_, sessions)) => main_sessions(name, &sessions),
                Err(GatherError::UnknownProgram) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
        }
        _ => vec![name.to_owned()],
    };
    let sources = sources_in(Path::new("/"), folder.try_clone()?, host);
    let open = |name: String| Ok((name.clone(), sources.open(&format!("/{name}"))?));
    names.into_iter().map(open).collect::<Result<_, _>>().map(Some)
}

/// The names of the sessions that are not part of another one in the database.
fn main_sessions(file: &str, sessions: &[DatabaseSession]) -> Vec<String> {
    let is_there = |parent: &String| sessions.iter().any(|session| session.id == *parent);
    let is_main = |session: &&DatabaseSession| !session.parent.as_ref().is_some_and(is_there);
    let named = |session: &DatabaseSession| format!("{file}#{}", session.id);
    sessions.iter().filter(is_main).map(named).collect()
}

/// Also reads the files of a session's sub-agents, and of its messages, if they are
/// in a directory that is not below the session's. No link leads there from the
/// directory above both.
pub(crate) fn with_sub_agents(sources: FsSources, session: &Path, host: &Host) -> FsSources {
    let session = host.absolute(session);
    // The sub-agents of a rollout may have begun on another day.
    let days = session.to_str().and_then(thread_folder);
    if let Some(above) = days.or_else(|| session.to_str().and_then(storage_folder)) {
        return match host.named_root(Path::new(above)) {
            Ok(folder) => sources.with_root(above, folder),
            Err(_) => sources,
        };
    }
    let Some(path) = session.to_str().and_then(sub_agent_folder) else { return sources };
    let mut names = path.rsplitn(3, '/');
    let (Some(name), Some(parent), Some(project)) = (names.next(), names.next(), names.next())
    else {
        return sources;
    };
    let project = host.named_root(Path::new(project)).ok();
    let parent = project.and_then(|project| open_subfolder(&project, parent).ok());
    match parent.and_then(|parent| open_subfolder(&parent, name).ok()) {
        Some(folder) => sources.with_root(path, folder),
        None => sources.with_missing_root(path),
    }
}

/// The sessions in a database that are not those of sub-agents.
pub(crate) fn sessions_of_database(
    file: &Path,
    host: &Host,
) -> Result<Vec<DatabaseSession>, CommandError> {
    let (folder, name) = host.folder_of(file)?;
    let mut sessions = sessions_in(&folder, file, &name, host)?.unwrap_or_default();
    sessions.retain(|session| session.parent.is_none());
    Ok(sessions)
}

/// The session at a path, if it is one that has to be gathered; `path` is the
/// file `name` in `folder`.
pub(super) fn session_at(
    folder: &Dir,
    path: &Path,
    name: &str,
    host: &Host,
) -> Result<Option<PathBuf>, CommandError> {
    if folder.symlink_metadata(name).is_ok() {
        if COMPRESSED.iter().any(|ending| name.ends_with(ending)) {
            return Ok(Some(path.to_path_buf()));
        }
        return match sessions_in(folder, path, name, host)? {
            Some(sessions) => only_session(path, sessions).map(Some),
            None => Ok(None),
        };
    }
    let Some(address) = SessionAddress::parse(name) else { return Ok(None) };
    let Some(sessions) = sessions_in(folder, path, address.file, host)? else {
        let found = folder.symlink_metadata(address.file);
        if found.is_ok_and(|found| found.file_type().is_symlink()) {
            let file = path.with_file_name(address.file);
            let message = format!("{} is a link", file.display());
            return Err(CommandError::failure(message).hint("name the database itself"));
        }
        return Ok(None);
    };
    if sessions.iter().any(|session| session.id == address.session) {
        return Ok(Some(path.to_path_buf()));
    }
    let file = path.with_file_name(address.file);
    let message = format!("there is no session {} in {}", address.session, file.display());
    Err(listing(CommandError::failure(message), &file, sessions))
}

/// Whether the session `name` in `folder` is not a plain file that can be followed
/// and read in place.
pub(crate) fn is_gathered(folder: &Dir, name: &str) -> bool {
    if folder.symlink_metadata(name).is_ok() {
        return COMPRESSED.iter().any(|ending| name.ends_with(ending));
    }
    SessionAddress::parse(name).is_some_and(|address| folder.symlink_metadata(address.file).is_ok())
}

/// Refuses a file that a verb cannot change: only plain files of some programs are
/// known well enough.
pub(crate) fn check_editable(
    verb: &str,
    folder: &Dir,
    path: &Path,
    name: &str,
    host: &Host,
) -> Result<(), CommandError> {
    let refused = |what: &str| {
        let message = format!("traj {verb} does not support {what}: {}", path.display());
        CommandError::usage(message)
            .hint("it supports transcripts of OpenClaw and pi, and rollouts of Codex")
            .hint("nothing was changed")
    };
    if is_gathered(folder, name) {
        return Err(refused("sessions in databases and compressed files"));
    }
    // What cannot be opened is reported when it is used.
    let Ok(file) = open_file(folder, name) else { return Ok(()) };
    let mut head = Vec::new();
    if file.take(HEAD).read_to_end(&mut head).is_err() {
        return Ok(());
    }
    if Container::of(&head) != Container::Plain {
        return Err(refused("databases and compressed files"));
    }
    let dialect = sniff(Head::of(&head)).or_else(|| gathered_dialect(path, host));
    match dialect.filter(|dialect| !dialect.is_editable()) {
        Some(dialect) => {
            Err(refused(&format!("files of {}", dialect.agent().unwrap_or(dialect.as_str()))))
        }
        None => Ok(()),
    }
}

/// The dialect of the rows that a file is gathered to.
fn gathered_dialect(path: &Path, host: &Host) -> Option<Dialect> {
    let source = open_source(path, host).ok()?.ok()?;
    let mut head = vec![0; usize::try_from(source.len().min(HEAD)).ok()?];
    source.read_exact_at(0, &mut head).ok()?;
    sniff(Head::of(&head))
}

/// The sessions in a database; `None` if the file is not one.
fn sessions_in(
    folder: &Dir,
    path: &Path,
    name: &str,
    host: &Host,
) -> Result<Option<Vec<DatabaseSession>>, CommandError> {
    let Some(gathering) = host.gathering() else { return Ok(None) };
    let unreadable = |error: GatherError| {
        CommandError::failure(format!("cannot read {}", path.display())).because(error)
    };
    match gathering.tables(folder, name) {
        // Another verb may report what is wrong with the file better.
        Err(GatherError::Source(_)) | Ok(None) => Ok(None),
        Err(error) => Err(unreadable(error)),
        Ok(Some(tables)) => {
            let (_, sessions) = database_sessions(&tables).map_err(unreadable)?;
            Ok(Some(sessions))
        }
    }
}

/// The only session of a database.
fn only_session(file: &Path, sessions: Vec<DatabaseSession>) -> Result<PathBuf, CommandError> {
    let mut own = sessions.iter().filter(|session| session.parent.is_none());
    match (own.next(), own.count()) {
        (Some(only), 0) => Ok(PathBuf::from(format!("{}#{}", file.display(), only.id))),
        (None, _) => Err(CommandError::failure(format!("{} has no sessions", file.display()))),
        (Some(_), others) => {
            let message = format!("{} has {} sessions", file.display(), others + 1);
            Err(listing(CommandError::usage(message), file, sessions))
        }
    }
}

/// Adds the newest sessions of a database as hints.
fn listing(error: CommandError, file: &Path, mut sessions: Vec<DatabaseSession>) -> CommandError {
    sessions.retain(|session| session.parent.is_none());
    sessions.sort_by(|one, other| (other.changed, &one.id).cmp(&(one.changed, &other.id)));
    let more = sessions.len().saturating_sub(LISTED);
    let error = error.hint("name one as FILE#SESSION:");
    let shown = |session: &DatabaseSession| format!("{}#{}", file.display(), session.id);
    let error = sessions.iter().take(LISTED).map(shown).fold(error, CommandError::hint);
    if more > 0 { error.hint(format!("and {more} more")) } else { error }
}
