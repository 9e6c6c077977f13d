//! Which call started each side chain of an old version. Its rows name neither the agent
//! nor the call, but a side chain begins with the prompt that the call states.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};

use crate::json::Json;

/// How many calls and side chains are remembered.
const MOST: usize = 10_000;

/// The tool that starts sub-agents.
const TOOL: &str = "Task";

/// A call that started a sub-agent.
#[derive(Debug)]
struct Task {
    line: usize,
    call: String,
    /// A hash: prompts may have any length.
    prompt: u64,
}

/// Calls that start sub-agents, and the prompts with which side chains begin.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    calls: Vec<Task>,
    prompts: Vec<(usize, u64)>,
    hasher: RandomState,
}

impl Tasks {
    /// Notes the calls of an answer.
    pub(super) fn add_answer(&mut self, line: usize, row: &[u8]) {
        if memchr::memmem::find(row, TOOL.as_bytes()).is_none() {
            return;
        }
        let text = String::from_utf8_lossy(row);
        let Ok(row) = Json::parse(&text) else { return };
        for block in blocks(&row) {
            let said = |name: &str| block.get(name).and_then(Json::as_str);
            let prompt = block.get("input").and_then(|input| input.get("prompt")?.as_str());
            if let (Some(TOOL), Some(call), Some(prompt)) = (said("name"), said("id"), prompt)
                && self.calls.len() < MOST
            {
                let (call, prompt) = (call.to_owned(), self.hasher.hash_one(prompt));
                self.calls.push(Task { line, call, prompt });
            }
        }
    }

    /// Notes the row that begins a side chain.
    pub(super) fn add_prompt(&mut self, line: usize, row: &[u8]) {
        let text = String::from_utf8_lossy(row);
        let Ok(row) = Json::parse(&text) else { return };
        let content = row.get("message").and_then(|message| message.get("content"));
        let whole = content.and_then(Json::as_str);
        let first = || blocks(&row).iter().find_map(|block| block.get("text")?.as_str());
        if let Some(prompt) = whole.or_else(first).filter(|_| self.prompts.len() < MOST) {
            self.prompts.push((line, self.hasher.hash_one(prompt)));
        }
    }

    /// The call that started the side chain which begins on each line. Equal prompts are
    /// taken in the order of their calls.
    pub(super) fn starters(&self) -> HashMap<usize, &str> {
        let mut by_prompt: HashMap<u64, Vec<&Task>> = HashMap::new();
        for task in self.calls.iter().rev() {
            by_prompt.entry(task.prompt).or_default().push(task);
        }
        let mut starters = HashMap::new();
        for (line, prompt) in &self.prompts {
            let Some(waiting) = by_prompt.get_mut(prompt) else { continue };
            if waiting.last().is_some_and(|task| task.line < *line)
                && let Some(task) = waiting.pop()
            {
                starters.insert(*line, task.call.as_str());
            }
        }
        starters
    }
}

fn blocks<'r>(row: &'r Json<'_>) -> &'r [Json<'r>] {
    let content = row.get("message").and_then(|message| message.get("content"));
    content.and_then(Json::as_array).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tasks(rows: &[(&str, &str)]) -> Tasks {
        let mut tasks = Tasks::default();
        for (line, (call, prompt)) in rows.iter().enumerate() {
            if call.is_empty() {
                let row = format!(r#"{{"message":{{"content":"{prompt}"}}}}"#);
                tasks.add_prompt(line, row.as_bytes());
            } else {
                let row = format!(
                    r#"{{"message":{{"content":[{{"type":"tool_use","id":"{call}","name":"Task","input":{{"prompt":"{prompt}"}}}}]}}}}"#
                );
                tasks.add_answer(line, row.as_bytes());
            }
        }
        tasks
    }

    #[test]
    fn side_chains_belong_to_the_calls_with_their_prompts() {
        let rows = [("c1", "x"), ("c2", "y"), ("c3", "x"), ("", "y"), ("", "x"), ("", "x")];
        let tasks = tasks(&rows);
        let starters = tasks.starters();
        let told = [3, 4, 5].map(|line| starters.get(&line).copied());
        assert_eq!(told, [Some("c2"), Some("c1"), Some("c3")]);
    }

    #[test]
    fn a_side_chain_without_a_call_before_it_has_none() {
        let tasks = tasks(&[("", "x"), ("c1", "x"), ("", "z")]);
        assert!(tasks.starters().is_empty());
    }
}
