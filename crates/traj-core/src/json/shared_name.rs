//! Member names that recur in events, which need no allocation.

/// Member names of recorded events, messages and tool calls. Any other name
/// works too, but takes an allocation.
const NAMES: &[&str] = &[
    "aborted",
    "agentId",
    "arguments",
    "assistantTexts",
    "cachedInputTokens",
    "callId",
    "command",
    "content",
    "contentItems",
    "cwd",
    "data",
    "description",
    "details",
    "durationMs",
    "error",
    "exitCode",
    "id",
    "idleMs",
    "imagesCount",
    "input",
    "inputTokens",
    "isError",
    "itemId",
    "key",
    "line",
    "message",
    "messages",
    "messagesSnapshot",
    "model",
    "modelApi",
    "modelId",
    "name",
    "output",
    "outputTokens",
    "parameters",
    "parentId",
    "path",
    "prompt",
    "promptError",
    "properties",
    "provider",
    "query",
    "reason",
    "required",
    "result",
    "role",
    "runId",
    "sessionFile",
    "sessionId",
    "sessionKey",
    "status",
    "stopReason",
    "success",
    "systemPrompt",
    "text",
    "threadId",
    "timedOut",
    "timeoutMs",
    "timestamp",
    "title",
    "tool",
    "toolCallId",
    "toolCount",
    "toolName",
    "tools",
    "totalTokens",
    "traceId",
    "turnId",
    "type",
    "url",
    "usage",
    "value",
    "workdir",
    "workspaceDir",
    "yieldDetected",
];

/// A power of two well above the number of names, so that most names have their
/// own slot.
const SLOTS: usize = 512;

/// The number of slots to check for a name.
const TRIES: usize = 4;

static TABLE: [&str; SLOTS] = table();

const fn table() -> [&'static str; SLOTS] {
    let mut table = [""; SLOTS];
    let mut at = 0;
    while at < NAMES.len() {
        let name = NAMES[at];
        let mut slot = slot_of(name.as_bytes());
        while !table[slot].is_empty() {
            slot = (slot + 1) % SLOTS;
        }
        table[slot] = name;
        at += 1;
    }
    table
}

const fn slot_of(name: &[u8]) -> usize {
    let length = name.len();
    if length == 0 {
        return 0;
    }
    let (first, middle, last) = (name[0], name[length / 2], name[length - 1]);
    let mixed = first as usize ^ (middle as usize) << 2 ^ (last as usize) << 4 ^ length << 5;
    mixed % SLOTS
}

/// The static copy of `name`, if it is in the list.
pub(super) fn shared_name(name: &str) -> Option<&'static str> {
    let slot = slot_of(name.as_bytes());
    (slot..slot + TRIES)
        .filter_map(|slot| TABLE.get(slot % SLOTS).copied())
        .find(|known| *known == name && !known.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listed_names_are_found() {
        for name in NAMES {
            assert_eq!(shared_name(name), Some(*name));
            assert_eq!(
                shared_name(&format!("{name}s")),
                NAMES.iter().find(|other| **other == format!("{name}s")).copied()
            );
        }
        assert_eq!(shared_name(""), None);
    }
}
