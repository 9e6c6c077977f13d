//! The files of other threads: those of sub-agents, and the one that a fork of the
//! new generation continues.
//!
//! A thread is found by its id. Its file has the id in its name and is in the
//! directory of the day on which it began; ids state that day.

use std::collections::HashSet;
use std::ops::ControlFlow;

use super::super::super::claude_code::SubAgentFile;
use super::super::super::{GatherError, RowWriter};
use super::super::lines::each_line;
use super::super::{GatheredFile, head_of};
use super::{Border, own_rows};
use crate::dialect::mark_inherited;
use crate::json::Json;
use crate::json::lines::Line;
use crate::port::{Source, SourceError};
use crate::timestamp::UnixMillis;

/// How many threads a session may consist of.
const MOST_THREADS: usize = 1_000;

/// How many forks may continue each other.
const MOST_BASES: usize = 64;

/// How deep a header is read.
const DEPTH: usize = 6;

/// The milliseconds of a day.
const DAY: i64 = 86_400_000;

/// The directory with the sessions of all days, if the one at this path is in it.
#[must_use]
pub fn thread_folder(session: &str) -> Option<&str> {
    let (folder, name) = session.rsplit_once('/')?;
    let is_rollout = name.starts_with("rollout-");
    folder_of_days(folder).filter(|_| is_rollout)
}

/// The directory above those of the year, the month and the day.
fn folder_of_days(folder: &str) -> Option<&str> {
    let is_number =
        |part: &str, length| part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit());
    let mut parts = folder.rsplitn(4, '/');
    let (day, month, year) = (parts.next()?, parts.next()?, parts.next()?);
    let is_day = is_number(day, 2) && is_number(month, 2) && is_number(year, 4);
    parts.next().filter(|_| is_day)
}

/// A thread whose history a fork continues.
pub(super) struct Base {
    source: Box<dyn Source>,
    /// Rows with this number and later ones are not part of it.
    end: u64,
}

impl Base {
    /// Writes its rows as those of another thread.
    pub(super) fn write(&self, rows: &mut RowWriter<'_>) -> Result<(), GatherError> {
        each_line(&*self.source, 0, &mut |_, line| {
            let (Line::Whole(line) | Line::Cut(line)) = line else {
                return Ok(ControlFlow::Continue(()));
            };
            let text = String::from_utf8_lossy(line);
            let Ok(row) = Json::parse_shallow(&text, 1) else {
                return Ok(ControlFlow::Continue(()));
            };
            if row.get("ordinal").and_then(Json::as_u64).is_some_and(|number| number >= self.end) {
                return Ok(ControlFlow::Break(()));
            }
            rows.bytes(&mark_inherited(line))?;
            rows.bytes(b"\n")?;
            Ok(ControlFlow::Continue(()))
        })
    }
}

/// The threads whose rows come before those of a fork, the oldest first. A file
/// that is gone is left out.
pub(super) fn bases(header: &Json<'_>, file: &GatheredFile<'_>) -> Result<Vec<Base>, GatherError> {
    let mut bases = Vec::new();
    let mut next = base_of(header);
    while let Some((thread, end)) = next.take().filter(|_| bases.len() < MOST_BASES) {
        let Some((source, header)) = Threads::of(file).open(&thread)? else { break };
        next = base_of(&header);
        bases.push(Base { source, end });
    }
    bases.reverse();
    Ok(bases)
}

/// The thread that a fork continues, and where it left it.
fn base_of(header: &Json<'_>) -> Option<(String, u64)> {
    let base = header.get("payload")?.get("history_base")?;
    let thread = base.get("thread_id").and_then(Json::as_str)?;
    Some((thread.to_owned(), base.get("end_ordinal_exclusive").and_then(Json::as_u64)?))
}

/// The threads of sub-agents that a session started, and those that they started.
pub(super) fn sub_agents(
    header: &Json<'_>,
    file: &GatheredFile<'_>,
) -> Result<Vec<SubAgentFile>, GatherError> {
    let Some(id) = id_of(header) else { return Ok(Vec::new()) };
    let threads = Threads::of(file);
    let mut known = HashSet::from([id.to_owned()]);
    let mut agents: Vec<SubAgentFile> = Vec::new();
    let mut parents = vec![(id.to_owned(), started_in(file.source)?)];
    while let Some((parent, started)) = parents.pop() {
        for thread in started {
            if agents.len() >= MOST_THREADS || !known.insert(thread.clone()) {
                continue;
            }
            let Some((source, header)) = threads.open(&thread)? else { continue };
            if parent_of(&header) != Some(&parent) {
                continue;
            }
            let own = match Border::of(&header) {
                Some(border) => own_rows(&*source, &border)?.unwrap_or_default(),
                None => 0,
            };
            let source: Box<dyn Source> = Box::new(RestOf { source, from: own });
            parents.push((thread.clone(), started_in(&*source)?));
            agents.push(SubAgentFile { id: thread, source, note: None });
        }
    }
    agents.sort_by(|one, other| one.id.cmp(&other.id));
    Ok(agents)
}

fn id_of<'h>(header: &'h Json<'_>) -> Option<&'h str> {
    header.get("payload")?.get("id").and_then(Json::as_str)
}

/// The thread that started this one as a sub-agent.
fn parent_of<'h>(header: &'h Json<'_>) -> Option<&'h str> {
    let payload = header.get("payload")?;
    let spawn = || payload.get("source")?.get("subagent")?.get("thread_spawn");
    let stated = || spawn()?.get("parent_thread_id")?.as_str();
    payload.get("parent_thread_id").and_then(Json::as_str).or_else(stated)
}

/// The threads that the rows of a session name as those of sub-agents.
fn started_in(source: &dyn Source) -> Result<Vec<String>, GatherError> {
    let mut found = Vec::new();
    each_line(source, 0, &mut |_, line| {
        let (Line::Whole(line) | Line::Cut(line)) = line else {
            return Ok(ControlFlow::Continue(()));
        };
        let has = |word: &[u8]| memchr::memmem::find(line, word).is_some();
        if has(b"_thread_id") || has(b"agent_id") {
            let text = String::from_utf8_lossy(line);
            if let Ok(row) = Json::parse_shallow(&text, DEPTH) {
                threads_in(row.get("payload").unwrap_or(&Json::Null), &mut found);
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    found.dedup();
    Ok(found)
}

fn threads_in(payload: &Json<'_>, found: &mut Vec<String>) {
    let mut add = |id: Option<&Json<'_>>| {
        found.extend(id.and_then(Json::as_str).filter(|id| is_plain(id)).map(str::to_owned));
    };
    let item = payload.get("item").unwrap_or(payload);
    add(item.get("agent_thread_id"));
    let receivers = item.get("receiver_thread_ids").and_then(Json::as_array).unwrap_or_default();
    receivers.iter().for_each(|id| add(Some(id)));
    // The first tool for sub-agents answers with JSON in a text.
    let output = payload.get("output").and_then(Json::as_str);
    if let Some(output) = output.filter(|text| text.starts_with('{'))
        && let Ok(answer) = Json::parse_shallow(output, 1)
    {
        add(answer.get("agent_id"));
    }
}

/// Whether an id can be part of a file name.
fn is_plain(id: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    !id.is_empty() && id.len() <= 100 && id.bytes().all(is_plain)
}

/// The file of a thread, and its header.
type FoundThread = (Box<dyn Source>, Json<'static>);

/// Finds threads near a session.
struct Threads<'f> {
    file: &'f GatheredFile<'f>,
    folder: &'f str,
}

impl<'f> Threads<'f> {
    fn of(file: &'f GatheredFile<'f>) -> Self {
        let folder = file.name.rsplit_once('/').map_or("", |(folder, _)| folder);
        Self { file, folder }
    }

    /// Opens the file of a thread, and reads its header. A file that was not used for
    /// days is compressed, and may still be beside the plain one.
    fn open(&self, id: &str) -> Result<Option<FoundThread>, GatherError> {
        let endings = [format!("-{id}.jsonl"), format!("-{id}.jsonl.zst")];
        for folder in self.folders(id) {
            let names = match self.file.sources.list(&folder) {
                Ok(names) => names,
                // The caller may read the files of one directory only.
                Err(SourceError::Outside { .. } | SourceError::NotRegular { .. }) => continue,
                Err(error) => return Err(error.into()),
            };
            let named = |ending: &String| {
                names.iter().find(|name| name.starts_with("rollout-") && name.ends_with(ending))
            };
            let Some(name) = endings.iter().find_map(named) else { continue };
            let source = match self.file.sources.open(&format!("{folder}/{name}")) {
                Ok(source) => source,
                Err(
                    SourceError::NotFound { .. }
                    | SourceError::NotRegular { .. }
                    | SourceError::TooLarge { .. },
                ) => continue,
                Err(error) => return Err(error.into()),
            };
            let head = head_of(&*source)?;
            let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
            let text = String::from_utf8_lossy(line);
            let header = Json::parse_shallow(&text, DEPTH).map(Json::into_owned);
            if let Ok(header) = header
                && id_of(&header) == Some(id)
            {
                return Ok(Some((source, header)));
            }
        }
        Ok(None)
    }

    /// The directories in which the file of a thread can be: that of the
    /// session, and those of the day on which the thread began, in any time
    /// zone.
    fn folders(&self, id: &str) -> Vec<String> {
        let mut folders = vec![self.folder.to_owned()];
        if let (Some(days), Some(began)) = (folder_of_days(self.folder), began(id)) {
            for shift in [0, -DAY, DAY] {
                let day = UnixMillis::new(began.saturating_add(shift)).map(UnixMillis::to_iso);
                let day = day.and_then(|day| day.get(..10).map(|day| day.replace('-', "/")));
                let folder = day.map(|day| format!("{days}/{day}"));
                folders.extend(folder.filter(|folder| *folder != self.folder));
            }
        }
        folders
    }
}

/// When a thread began, as its id says.
fn began(id: &str) -> Option<i64> {
    super::is_timed(id).then_some(())?;
    let digits = id.get(..8)?.to_owned() + id.get(9..13)?;
    i64::from_str_radix(&digits, 16).ok()
}

/// A source without its beginning.
#[derive(Debug)]
struct RestOf {
    source: Box<dyn Source>,
    from: u64,
}

impl Source for RestOf {
    fn len(&self) -> u64 {
        self.source.len().saturating_sub(self.from)
    }

    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), SourceError> {
        self.source.read_exact_at(self.from.saturating_add(offset), buffer)
    }

    fn check_unchanged(&self) -> Result<(), SourceError> {
        self.source.check_unchanged()
    }
}

#[cfg(test)]
#[cfg(feature = "memory")]
mod tests {
    use super::*;
    use crate::gather::gathered_with;

    const MAIN: &str = "01a1f03b-73af-7b82-ae65-3ea79725892b";
    const CHILD: &str = "01a1f03b-aaaa-7b82-ae65-3ea79725892b";

    fn at(folder: &str, id: &str) -> String {
        format!("{folder}/rollout-2026-10-31T00-00-00-{id}.jsonl")
    }

    fn row(second: u32, kind: &str, payload: &str) -> String {
        format!(
            "{{\"timestamp\":\"2026-10-31T10:00:{second:02}.000Z\",\"ordinal\":{second},\"type\":\"{kind}\",\"payload\":{{{payload}}}}}"
        )
    }

    fn started(id: &str) -> String {
        let item =
            format!("\"item\":{{\"type\":\"SubAgentActivity\",\"agent_thread_id\":\"{id}\"}}");
        [
            row(0, "session_meta", &format!("\"id\":\"{MAIN}\"")),
            row(1, "event_msg", &format!("\"type\":\"item_completed\",{item}")),
            row(9, "event_msg", "\"type\":\"task_complete\""),
        ]
        .join("\n")
    }

    fn child(parent: &str) -> String {
        let meta = format!(
            "\"id\":\"{CHILD}\",\"parent_thread_id\":\"{parent}\",\"subagent_history_start_ordinal\":3"
        );
        [
            row(2, "session_meta", &meta),
            row(2, "response_item", "\"copied\":1"),
            row(3, "event_msg", "\"type\":\"task_started\""),
            row(4, "event_msg", "\"type\":\"task_complete\""),
        ]
        .join("\n")
    }

    /// The second of each row, and whose it is.
    fn told(rows: &str) -> Vec<(u64, Option<String>)> {
        let row = |line| Json::parse(line).unwrap();
        let told = rows.lines().map(row).map(|row| {
            let agent = row.get("agentId").and_then(Json::as_str).map(str::to_owned);
            (row.get("ordinal").and_then(Json::as_u64).unwrap(), agent)
        });
        told.collect()
    }

    #[test]
    fn the_own_rows_of_a_sub_agent_come_between_the_others() {
        let its = |second| (second, Some(CHILD.to_owned()));
        let day = began(CHILD).and_then(UnixMillis::new).unwrap().to_iso();
        let day = format!("c/sessions/{}", day.get(..10).unwrap().replace('-', "/"));
        for folder in ["c/sessions/2026/10/30", &day] {
            let name = at("c/sessions/2026/10/30", MAIN);
            let rows = gathered_with(&name, &started(CHILD), &at(folder, CHILD), &child(MAIN));
            let expected = [(0, None), (1, None), its(3), its(4), (9, None)];
            assert_eq!(told(&rows.unwrap()), expected, "{folder}");
        }
    }

    #[test]
    fn a_compressed_file_is_taken_if_there_is_no_plain_one() {
        // Adapters show what is in it.
        let packed = at("s", CHILD) + ".zst";
        let rows = gathered_with(&at("s", MAIN), &started(CHILD), &packed, &child(MAIN));
        assert_eq!(rows.unwrap().lines().count(), 5);
    }

    #[test]
    fn a_thread_of_another_session_is_not_taken() {
        let (name, other) = (at("s", MAIN), at("s", CHILD));
        assert_eq!(gathered_with(&name, &started(CHILD), &other, &child("someone")), None);
        assert_eq!(gathered_with(&name, &started("../x"), &other, &child(MAIN)), None);
        assert_eq!(gathered_with(&name, &started(CHILD), "s/none", ""), None);
    }

    #[test]
    fn a_fork_begins_with_the_rows_of_its_parent() {
        let base =
            format!("\"history_base\":{{\"thread_id\":\"{MAIN}\",\"end_ordinal_exclusive\":2}}");
        let fork = [
            row(
                2,
                "session_meta",
                &format!("\"id\":\"{CHILD}\",\"forked_from_id\":\"{MAIN}\",{base}"),
            ),
            row(3, "event_msg", "\"type\":\"task_started\""),
        ];
        let (name, parent) = (at("s", CHILD), at("s", MAIN));
        let rows = gathered_with(&name, &fork.join("\n"), &parent, &started("none")).unwrap();
        let marked: Vec<bool> =
            rows.lines().map(|row| row.starts_with("{\"inherited\":true,")).collect();
        assert_eq!(marked, [false, true, true, false]);
        assert_eq!(told(&rows).iter().map(|(at, _)| *at).collect::<Vec<_>>(), [2, 0, 1, 3]);
    }

    #[test]
    fn only_the_directories_of_days_have_neighbours() {
        let days = |path: &str| thread_folder(path).map(str::to_owned);
        let of = at("/h/.codex/sessions/2026/10/31", MAIN);
        assert_eq!(days(&of).as_deref(), Some("/h/.codex/sessions"));
        for other in ["/h/x/rollout-1.jsonl", "/h/2026/10/31/s.jsonl", "rollout-1.jsonl"] {
            assert_eq!(days(other), None, "{other}");
        }
    }
}
