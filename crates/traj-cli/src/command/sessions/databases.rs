//! The sessions in databases. A database is opened only if it changed.

use std::path::PathBuf;

use traj_core::timestamp::UnixMillis;

use super::cache::{CachedDatabaseSession, CachedSession, FilesStamp, SessionCache};
use super::collect::{FoundSession, problem};
use super::read::Reader;
use super::report::ListingProblem;
use crate::resolve::agent_files::AgentFile;
use crate::resolve::sessions_of_database;

/// The program whose databases also have what a recorder wrote.
const WITH_SIDECARS: &str = "openclaw";

/// The sessions in a database.
pub(super) fn sessions_of(
    database: &AgentFile,
    cache: &mut SessionCache,
    reader: Reader<'_>,
) -> Result<Vec<FoundSession>, ListingProblem> {
    let stamp = FilesStamp { file: database.stamp, parts: database.parts };
    let known = cache.get(&database.path).filter(|known| known.stamp == stamp);
    let sessions = match known.and_then(|known| known.sessions.clone()) {
        Some(sessions) => sessions,
        None => {
            let sessions = sessions_of_database(&database.path, reader.host)
                .map_err(|error| problem(&database.path, &error))?;
            let sessions: Vec<CachedDatabaseSession> = sessions
                .into_iter()
                .map(|session| CachedDatabaseSession {
                    id: session.id,
                    title: session.title.map(|text| reader.title(&text)),
                    workspace: session.workspace.map(|text| reader.redacted(&text)),
                    changed: session.changed,
                })
                .collect();
            let kept = Some(sessions.clone());
            cache.put(
                &database.path,
                CachedSession { stamp, sessions: kept, ..CachedSession::default() },
            );
            sessions
        }
    };
    let found = |session: CachedDatabaseSession| FoundSession {
        file: PathBuf::from(format!("{}#{}", database.path.display(), session.id)),
        id: Some(session.id),
        agent: Some(database.agent.name),
        stamp: Some(stamp),
        may_have_sidecar: database.agent.name == WITH_SIDECARS,
        title: session.title,
        workspace: session.workspace,
        changed: session.changed.and_then(UnixMillis::new),
        ..FoundSession::default()
    };
    Ok(sessions.into_iter().map(found).collect())
}
