//! Names that events have over and over: they need no memory of their own.

/// Names of members that recorded events, messages and tool calls consist of.
/// Any other name is just as good, and takes an allocation.
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

/// A power of two well above the number of names, so that most of them have a
/// place of their own.
const SLOTS: usize = 512;

/// Places that are looked at for a name.
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

/// The same name, if it is one of those that need no memory.
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
    fn every_name_of_the_list_is_found_and_no_other() {
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
