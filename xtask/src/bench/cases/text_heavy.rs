//! Rows that are mostly text: whole prompts, messages and files, some of it not
//! ASCII, no two alike.

use serde_json::{Value, json};

use super::{credential, instant};

/// A sequence of numbers that look random; each row has its own.
struct Dice(u64);

const WORDS: [&str; 32] = [
    "the",
    "build",
    "module",
    "imports",
    "a",
    "value",
    "that",
    "returns",
    "an",
    "index",
    "of",
    "tokens",
    "from",
    "stream",
    "buffer",
    "and",
    "path",
    "result",
    "naïve",
    "café",
    "日本語",
    "😀",
    "проверка",
    "compile",
    "error",
    "await",
    "async",
    "test",
    "passes",
    "after",
    "retry",
    "file",
];

impl Dice {
    fn new(number: usize, salt: u64) -> Self {
        Self((number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ salt.rotate_left(32) | 1)
    }

    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }

    /// About `bytes` of words.
    fn prose(&mut self, bytes: usize) -> String {
        let mut text = String::with_capacity(bytes + 16);
        while text.len() < bytes {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(WORDS[self.below(WORDS.len())]);
        }
        text
    }

    /// About `bytes` of code and output.
    fn code(&mut self, bytes: usize) -> String {
        let mut text = String::with_capacity(bytes + 96);
        while text.len() < bytes {
            let (one, two) = (self.below(1_000_000), self.below(100_000));
            let line = match self.below(6) {
                0 => format!("  const x{one} = await fetch(`${{url}}/v1/items?page={two}`);\n"),
                1 => format!("export function f{one}(a, b) {{ return a + b * {two}; }}\n"),
                2 => format!("// see /home/dev/project/src/lib/util_{one}.ts:{two}\n"),
                3 => format!("    at Object.<anonymous> (/home/dev/x/index_{one}.js:{two}:2)\n"),
                4 => format!("import part{one} from './part_{two}.js';\n"),
                _ => format!("if (!ok{one}) throw new Error(\"failed {two}: \" + e.message);\n"),
            };
            text.push_str(&line);
        }
        text
    }
}

fn messages(dice: &mut Dice, count: usize) -> Vec<Value> {
    (0..count).map(|_| json!({ "role": "user", "content": dice.prose(1_500) })).collect()
}

/// An entry of the session.
pub(super) fn entry(number: usize) -> String {
    let dice = &mut Dice::new(number, 1);
    let message = match number % 4 {
        0 => json!({ "role": "user", "content": [{ "type": "text", "text": dice.prose(200) }] }),
        1 => json!({
            "role": "assistant",
            "content": [
                { "type": "thinking", "thinking": dice.prose(200) },
                { "type": "text", "text": dice.prose(1_500) },
                { "type": "toolCall", "id": format!("c{number}"), "name": "read",
                  "arguments": { "path": format!("/home/dev/project/src/f{number}.ts") } },
            ],
            "usage": { "input": number, "output": 5 },
        }),
        2 => {
            let mut text = dice.code(6_000);
            if dice.below(12) == 0 {
                // The line break of a credential is escaped for JSON; here it is not.
                text.push_str(&credential(number).replace("\\n", "\n"));
            }
            json!({
                "role": "toolResult", "toolCallId": format!("c{}", number - 1), "toolName": "read",
                "content": [{ "type": "text", "text": text }], "isError": false,
            })
        }
        _ => json!({
            "role": "assistant", "content": [{ "type": "text", "text": dice.prose(1_500) }],
        }),
    };
    let parent = number.checked_sub(1).map(|before| format!("{before:08x}"));
    let entry = json!({
        "type": "message", "id": format!("{number:08x}"), "parentId": parent,
        "timestamp": instant(number), "message": message,
    });
    format!("{entry}\n")
}

/// An event of the sidecar.
pub(super) fn event(number: usize) -> String {
    let dice = &mut Dice::new(number, 2);
    let (kind, data) = match number % 3 {
        0 => {
            let tools: Vec<Value> = (0..12)
                .map(|tool| json!({ "name": format!("t{tool}"), "description": dice.prose(200) }))
                .collect();
            let prompt = dice.prose(6_000);
            let data =
                json!({ "systemPrompt": prompt, "messages": messages(dice, 20), "tools": tools });
            ("context.compiled", data)
        }
        1 => {
            let data = json!({ "prompt": dice.prose(200), "messages": messages(dice, 20) });
            ("prompt.submitted", data)
        }
        _ => {
            let results: Vec<Value> = (0..6)
                .map(|_| json!({ "role": "toolResult", "content": dice.code(6_000) }))
                .collect();
            let texts = [dice.prose(1_500)];
            ("model.completed", json!({ "assistantTexts": texts, "messagesSnapshot": results }))
        }
    };
    let event = json!({
        "traceSchema": "openclaw-trajectory", "schemaVersion": 1, "traceId": "s",
        "source": "runtime", "type": kind, "ts": instant(number), "seq": number,
        "sourceSeq": number, "sessionId": "s", "runId": "r", "workspaceDir": "/home/dev/project",
        "provider": "openai", "modelId": "m", "data": data,
    });
    format!("{event}\n")
}
