//! A cache of what is known about sessions, so that a listing need not read files
//! again that did not change.
//!
//! The cache is a file of JSON lines in the cache directory that only the owner
//! can read. Its texts are redacted. If it is damaged, or was written by another
//! build of traj, it is dropped, and everything is read again.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::report::SessionRow;
use crate::command_error::CommandError;
use crate::compose::Host;
use crate::resolve::agent_files::{FileStamp, PartsStamp};

const SCHEMA: &str = "traj-sessions-cache/1";

/// Its name in the directory `traj` below the cache directory.
const NAME: &str = "sessions.jsonl";

/// A longer file is not read: about a hundred thousand sessions.
const LONGEST: u64 = 256 << 20;

/// Shows whether the files of a session changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FilesStamp {
    pub(super) file: FileStamp,
    pub(super) parts: PartsStamp,
}

/// The result of reading the files of a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CachedSession {
    pub(super) stamp: FilesStamp,
    /// The sidecar, if it is not beside the session.
    pub(super) sidecar: Option<(PathBuf, FileStamp)>,
    /// Files elsewhere that belong to the session: those of other threads.
    pub(super) others: Vec<(PathBuf, FileStamp)>,
    /// What its first rows say; `None` if they were not read yet.
    pub(super) beginning: Option<Beginning>,
    /// The sessions in a database; `None` if the file is not one.
    pub(super) sessions: Option<Vec<CachedDatabaseSession>>,
    /// What is listed; `None` if the whole session was not read yet.
    pub(super) content: Option<CachedContent>,
}

/// A session in a database.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CachedDatabaseSession {
    pub(super) id: String,
    pub(super) title: Option<String>,
    pub(super) workspace: Option<String>,
    /// When it was last changed, in milliseconds since 1970.
    pub(super) changed: Option<i64>,
}

/// What the first rows of a session say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Beginning {
    /// The directory that the agent works in.
    pub(super) workspace: Option<String>,
}

/// What a session's files contain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum CachedContent {
    /// Nothing that traj can read.
    Unrecognised,
    /// A part of another session.
    Part,
    /// A session, with the costs of a price table.
    Session {
        prices: u64,
        /// The bits of the cost: decimal numbers are read inexactly.
        cost: Option<u64>,
        row: Box<SessionRow>,
    },
}

impl CachedContent {
    pub(super) fn of(row: &SessionRow, prices: u64) -> Self {
        let cost = row.usage.cost.map(f64::to_bits);
        Self::Session { prices, cost, row: Box::new(row.clone()) }
    }

    /// The row, if it has costs of these prices.
    pub(super) fn row(&self, wanted: u64) -> Option<SessionRow> {
        match self {
            Self::Session { prices, cost, row } if *prices == wanted => {
                let mut row = (**row).clone();
                row.usage.cost = cost.map(f64::from_bits);
                Some(row)
            }
            _ => None,
        }
    }
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct FirstLine {
    schema: String,
    /// The build of traj, with its rules and dialects.
    program: String,
    /// Settings that decide where the files of a session are.
    settings: String,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct LastLine {
    sessions: usize,
    check: u64,
}

/// The sessions that were read before, by file.
#[derive(Debug, Default)]
pub(super) struct SessionCache {
    sessions: HashMap<PathBuf, CachedSession>,
    is_changed: bool,
}

impl SessionCache {
    /// Reads the cache. It is empty if it is missing, damaged, or of another
    /// build.
    pub(super) fn read(host: &Host) -> Self {
        let sessions = read_text(host).and_then(|text| parse(&text, &first_line(host)));
        Self { sessions: sessions.unwrap_or_default(), is_changed: false }
    }

    /// What is known of the session in this file.
    pub(super) fn get(&self, file: &Path) -> Option<&CachedSession> {
        self.sessions.get(file)
    }

    pub(super) fn put(&mut self, file: &Path, session: CachedSession) {
        if self.sessions.get(file) != Some(&session) {
            self.sessions.insert(file.to_path_buf(), session);
            self.is_changed = true;
        }
    }

    /// Forgets the sessions of other files.
    pub(super) fn keep_only(&mut self, is_known: impl Fn(&Path) -> bool) {
        let before = self.sessions.len();
        self.sessions.retain(|file, _| is_known(file));
        self.is_changed |= self.sessions.len() != before;
    }

    /// Writes the cache, if anything changed.
    pub(super) fn write(&self, host: &Host) -> Result<(), CommandError> {
        let Some(path) = cache_folder(host).filter(|_| self.is_changed) else { return Ok(()) };
        let folder = host.folder_or_new(&path)?;
        let text = self.to_text(&first_line(host));
        traj_fs::write_private_file(&folder, NAME, |file| file.write_all(text.as_bytes()))
            .map_err(|error| CommandError::failure("cannot write the cache").because(error))
    }

    fn to_text(&self, first: &FirstLine) -> String {
        let mut text = line(first);
        let mut sessions: Vec<_> = self.sessions.iter().collect();
        sessions.sort_by_key(|(file, _)| *file);
        for session in &sessions {
            text.push_str(&line(session));
        }
        let last = LastLine { sessions: sessions.len(), check: check(&text) };
        text.push_str(&line(&last));
        text
    }
}

/// The directory of the cache: `traj` in `XDG_CACHE_HOME`, else in `.cache` in the
/// home directory.
pub(super) fn cache_folder(host: &Host) -> Option<PathBuf> {
    let named = host.facts.variables.get("XDG_CACHE_HOME").filter(|path| path.starts_with('/'));
    let usual = || Some(Path::new(&host.facts.home()?).join(".cache"));
    Some(named.map(PathBuf::from).or_else(usual)?.join("traj"))
}

fn first_line(host: &Host) -> FirstLine {
    let settings = traj_core::settings::Settings::from_host(&host.facts);
    FirstLine {
        schema: SCHEMA.to_owned(),
        program: format!("{} {}", env!("CARGO_PKG_VERSION"), Host::program_stamp()),
        settings: format!("{:?} {}", settings.trajectory_dir, host.reading().session_line_bytes),
    }
}

fn read_text(host: &Host) -> Option<String> {
    let folder = host.folder_if_any(&cache_folder(host)?).ok().flatten()?;
    let file = traj_fs::open_file(&folder, NAME).ok()?;
    let mut text = String::new();
    file.take(LONGEST).read_to_string(&mut text).ok()?;
    Some(text)
}

/// The sessions of a cache with this first line; `None` if it has another one, or
/// is not as it was written.
fn parse(text: &str, first: &FirstLine) -> Option<HashMap<PathBuf, CachedSession>> {
    let start = text.strip_suffix('\n')?.rfind('\n')? + 1;
    let (whole, last) = text.split_at_checked(start)?;
    let last: LastLine = serde_json::from_str(last).ok()?;
    let mut lines = whole.lines();
    let stated: FirstLine = serde_json::from_str(lines.next()?).ok()?;
    if stated != *first || last.check != check(whole) {
        return None;
    }
    let sessions: Option<HashMap<_, _>> =
        lines.map(|line| serde_json::from_str(line).ok()).collect();
    sessions.filter(|sessions| sessions.len() == last.sessions)
}

/// A checksum, for copies of our own that a disk or an editor changed.
fn check(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

fn line(value: &impl Serialize) -> String {
    // Serialization fails only for maps with non-string keys and for paths that
    // are not UTF-8; there are none.
    let mut line = serde_json::to_string(value).unwrap_or_default();
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(program: &str) -> FirstLine {
        let (schema, settings) = (SCHEMA.to_owned(), String::new());
        FirstLine { schema, program: program.to_owned(), settings }
    }

    fn cache() -> SessionCache {
        let mut cache = SessionCache::default();
        let mut row = SessionRow { title: Some("a title".to_owned()), ..SessionRow::default() };
        row.usage.cost = Some(0.123_456_789);
        row.usage.cost_origin = Some("stated".into());
        let content = Some(CachedContent::of(&row, u64::MAX));
        let beginning = Some(Beginning::default());
        cache.put(
            Path::new("/s/a.jsonl"),
            CachedSession { beginning, content, ..CachedSession::default() },
        );
        let content = Some(CachedContent::Unrecognised);
        cache.put(Path::new("/s/b.jsonl"), CachedSession { content, ..CachedSession::default() });
        cache
    }

    #[test]
    fn what_is_written_is_read_again() {
        let cache = cache();
        assert!(cache.is_changed);
        let read = parse(&cache.to_text(&first("1")), &first("1")).unwrap();
        let row = |sessions: &HashMap<PathBuf, CachedSession>| {
            let content = sessions.get(Path::new("/s/a.jsonl"))?.content.as_ref()?;
            assert_eq!(content.row(1), None, "other prices");
            content.row(u64::MAX)
        };
        assert_eq!((read.len(), row(&read)), (2, row(&cache.sessions)));
        assert_eq!(row(&read).unwrap().usage.cost, Some(0.123_456_789));
    }

    #[test]
    fn a_damaged_cache_and_one_of_another_build_are_dropped() {
        let text = cache().to_text(&first("1"));
        assert_eq!(parse(&text, &first("2")), None);
        assert_eq!(parse("", &first("1")), None);
        for end in 0..text.len() {
            let torn = text.get(..end).unwrap_or_default();
            assert_eq!(parse(torn, &first("1")), None, "torn at {end}");
        }
        assert_eq!(parse(&text.replace("a title", "a tit1e"), &first("1")), None);
    }
}
