//! The files of a session's sub-agents.

use super::fate::{Fates, RowFate};
use super::survey::Survey;
use crate::gather::{GatherError, GatheredFile};
use crate::json::{Json, Object};
use crate::port::{Source, SourceError};

/// The program's notes about a sub-agent are short.
const LONGEST_NOTE: u64 = 64 * 1024;

/// A sub-agent with a separate file.
#[derive(Debug)]
pub(in crate::gather) struct SubAgentFile {
    pub(in crate::gather) id: String,
    pub(in crate::gather) source: Box<dyn Source>,
    /// A row that says what it is, and which call started it.
    pub(in crate::gather) note: Option<String>,
}

/// The sub-agents of a session, sorted by id. Newer versions keep their files in a
/// directory that is named after the session, older ones beside it.
pub(super) fn of(
    file: &GatheredFile<'_>,
    stem: &str,
    survey: &Survey,
    fates: &Fates,
) -> Result<Vec<SubAgentFile>, GatherError> {
    if stem.starts_with("agent-") {
        return Ok(Vec::new());
    }
    let folder = file.name.strip_suffix(".jsonl").unwrap_or(file.name);
    let folder = format!("{folder}/subagents");
    let beside = file.name.rfind('/').map_or("", |end| file.name.get(..=end).unwrap_or_default());
    let mut found: Vec<(String, String)> = Vec::new();
    for name in file.sources.list(&folder)? {
        if let Some(id) = agent_of(&name) {
            found.push((id.to_owned(), format!("{folder}/{name}")));
        }
    }
    let is_new = |id: &str, found: &[(String, String)]| found.iter().all(|(known, _)| known != id);
    let is_own = |line: usize| fates.of_line(line) == RowFate::Own;
    for (_, id) in survey.agents.iter().filter(|(line, _)| is_own(*line)) {
        if is_new(id, &found) && is_plain(id) {
            found.push((id.clone(), format!("{beside}agent-{id}.jsonl")));
        }
    }
    found.sort();
    let mut agents = Vec::new();
    for (id, name) in found {
        let source = match file.sources.open(&name) {
            Ok(source) => source,
            // It was removed, or something else is there on purpose.
            Err(SourceError::NotFound { .. } | SourceError::NotRegular { .. }) => continue,
            Err(error) => return Err(error.into()),
        };
        let note = note_of(file, &name, &id);
        agents.push(SubAgentFile { id, source, note });
    }
    Ok(agents)
}

/// The agent that a file is named after.
fn agent_of(name: &str) -> Option<&str> {
    let id = name.strip_prefix("agent-")?.strip_suffix(".jsonl")?;
    is_plain(id).then_some(id)
}

/// Whether an id can be part of a file name.
fn is_plain(id: &str) -> bool {
    !id.is_empty()
        && id.len() <= 100
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

/// What the file beside a sub-agent's file says, as a row.
fn note_of(file: &GatheredFile<'_>, name: &str, id: &str) -> Option<String> {
    let name = format!("{}.meta.json", name.strip_suffix(".jsonl")?);
    let source = file.sources.open(&name).ok().filter(|source| source.len() <= LONGEST_NOTE)?;
    let mut bytes = vec![0; usize::try_from(source.len()).ok()?];
    source.read_exact_at(0, &mut bytes).ok()?;
    let stated = Json::parse_lossy(&bytes).ok()?.into_owned();
    let mut row = Object::with_capacity(6);
    row.push("type", "agent-metadata");
    row.push("agentId", id);
    row.push("isSidechain", true);
    row.push_some("toolUseId", stated.get("toolUseId").cloned());
    row.push_some("agentType", stated.get("agentType").cloned());
    row.push_some("description", stated.get("description").cloned());
    Some(Json::Object(row).to_line())
}
