//! Sessions of Qwen Code with sub-agents.
//!
//! Each sub-agent has its own file, in a directory that is named after the session:
//! `subagents/SESSION/agent-ID.jsonl` beside `chats/SESSION.jsonl`. Its rows say
//! which session and which agent they belong to; they are inserted between the
//! others, in chronological order. A session without such files is read in place.

use super::super::claude_code::{Agents, RowReader, SubAgentFile, time_of};
use super::super::{GatherError, RowWriter};
use super::{GatheredFile, head_of};
use crate::dialect::{Dialect, Head, sniff};
use crate::json::Json;
use crate::port::{Source, SourceError};

/// How much of the session is read at once.
const BLOCK: usize = 1024 * 1024;

/// The directory of the sub-agents' files of the session at a path with `/`; `None`
/// if it is not where the program keeps its sessions.
#[must_use]
pub fn sub_agent_folder(session: &str) -> Option<String> {
    let (folder, name) = session.rsplit_once('/')?;
    let stem = name.strip_suffix(".jsonl").filter(|stem| !stem.is_empty())?;
    let project = folder.strip_suffix("chats")?;
    (project.is_empty() || project.ends_with('/')).then(|| format!("{project}subagents/{stem}"))
}

/// Writes the rows of a session and its sub-agents. Returns `false` if it has none,
/// or is not a session of Qwen Code.
pub(super) fn rows(file: &GatheredFile<'_>, rows: &mut RowWriter<'_>) -> Result<bool, GatherError> {
    let Some(folder) = sub_agent_folder(file.name) else { return Ok(false) };
    if sniff(Head::of(&head_of(file.source)?)) != Some(Dialect::QwenCode) {
        return Ok(false);
    }
    let agents = agents_in(&folder, file)?;
    if agents.is_empty() {
        return Ok(false);
    }
    let mut agents = Agents::of(&agents)?;
    let mut reader = RowReader::new(file.source, BLOCK);
    let (mut clock, mut begins) = (i64::MIN, true);
    while let Some(piece) = reader.next()? {
        if begins {
            let at = if piece.is_whole { time_of(piece.bytes) } else { None };
            clock = clock.max(at.unwrap_or(clock));
            agents.write_until(clock, rows)?;
        }
        rows.bytes(piece.bytes)?;
        if piece.ends {
            rows.bytes(b"\n")?;
        }
        begins = piece.ends;
    }
    agents.write_until(i64::MAX, rows)?;
    Ok(true)
}

/// The sub-agents of the session whose directory this is, sorted by id.
fn agents_in(folder: &str, file: &GatheredFile<'_>) -> Result<Vec<SubAgentFile>, GatherError> {
    let mut names = match file.sources.list(folder) {
        Ok(names) => names,
        // The caller may read this one file only, or something else is there.
        Err(SourceError::Outside { .. } | SourceError::NotRegular { .. }) => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    names.retain(|name| name.starts_with("agent-") && name.ends_with(".jsonl"));
    names.sort();
    let session = folder.rsplit('/').next().unwrap_or_default();
    let mut agents = Vec::new();
    for name in names {
        let source = match file.sources.open(&format!("{folder}/{name}")) {
            Ok(source) => source,
            // It was removed, or something else is there on purpose.
            Err(SourceError::NotFound { .. } | SourceError::NotRegular { .. }) => continue,
            Err(error) => return Err(error.into()),
        };
        if let Some(id) = agent_in(&*source, session)? {
            agents.push(SubAgentFile { id, source, note: None });
        }
    }
    Ok(agents)
}

/// The agent whose rows a file has, if they belong to this session.
fn agent_in(source: &dyn Source, session: &str) -> Result<Option<String>, GatherError> {
    let head = head_of(source)?;
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let Ok(row) = Json::parse_shallow(&line, 1) else { return Ok(None) };
    let said = |name: &str| row.get(name).and_then(Json::as_str);
    let is_own = said("sessionId") == Some(session);
    Ok(said("agentId").filter(|_| is_own).map(str::to_owned))
}

#[cfg(test)]
#[cfg(feature = "memory")]
mod tests {
    use super::sub_agent_folder;
    use crate::gather::{gathered, gathered_with};
    use crate::json::Json;

    fn row(id: &str, second: u32, kind: &str, more: &str) -> String {
        format!(
            r#"{{"uuid":"{id}","parentUuid":null,"sessionId":"s1","timestamp":"2026-06-01T10:00:{second:02}.000Z","type":"{kind}","message":{{"parts":[{{"text":"{id}"}}]}}{more}}}"#
        )
    }

    fn session() -> String {
        [row("a", 1, "user", ""), row("b", 2, "assistant", ""), row("c", 9, "assistant", "")]
            .join("\n")
    }

    fn helper() -> String {
        let of = r#","agentId":"helper-c1","isSidechain":true"#;
        [row("x", 3, "user", of), row("y", 4, "assistant", of)].join("\n")
    }

    #[test]
    fn the_rows_of_a_sub_agent_come_between_the_others() {
        let place = "p/subagents/s1/agent-helper-c1.jsonl";
        let rows = gathered_with("p/chats/s1.jsonl", &session(), place, &helper()).unwrap();
        let told: Vec<_> = rows
            .lines()
            .map(|line| {
                let row = Json::parse(line).unwrap();
                let said = |name: &str| row.get(name).and_then(Json::as_str).map(str::to_owned);
                (said("uuid").unwrap(), said("agentId"))
            })
            .collect();
        let own = |id: &str| (id.to_owned(), None);
        let its = |id: &str| (id.to_owned(), Some("helper-c1".to_owned()));
        assert_eq!(told, [own("a"), own("b"), its("x"), its("y"), own("c")]);
    }

    #[test]
    fn a_session_without_sub_agents_is_read_in_place() {
        assert_eq!(gathered("p/chats/s1.jsonl", &session()), None);
        let other = helper().replace("\"s1\"", "\"s2\"");
        for (place, content) in [
            ("p/subagents/s2/agent-helper-c1.jsonl", helper()),
            ("p/subagents/s1/notes.jsonl", helper()),
            ("p/subagents/s1/agent-helper-c1.jsonl", other),
            ("p/subagents/s1/agent-helper-c1.jsonl", "torn".to_owned()),
        ] {
            assert_eq!(gathered_with("p/chats/s1.jsonl", &session(), place, &content), None);
        }
    }

    #[test]
    fn only_the_directory_of_the_program_has_sub_agents() {
        let of = |path: &str| sub_agent_folder(path);
        assert_eq!(of("/h/p/chats/s.jsonl").as_deref(), Some("/h/p/subagents/s"));
        assert_eq!(of("chats/s.jsonl").as_deref(), Some("subagents/s"));
        for other in ["s.jsonl", "/h/mychats/s.jsonl", "/h/chats/s.json", "/h/chats/.jsonl"] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
