//! The sessions of made-up hosts: most are small, few are long, and a few hosts write most
//! of them. The same seed gives the same sessions.

use serde_json::{Value, json};
use traj_core::timestamp::UnixMillis;
use traj_tests::dice::Dice;

use crate::texts::{KINDS, texts};

/// The first day of the month.
const START: &str = "2026-11-01T00:00:00.000Z";
const DAY: i64 = 86_400_000;

const TOOLS: [&str; 5] = ["shell", "read", "apply_patch", "search", "browser"];
const MODELS: [(&str, &str); 3] =
    [("openai", "gpt-5.4"), ("anthropic", "claude-sonnet-4-5"), ("lab", "unpriced-model")];

/// Lines of logs, code and prose. No long line occurs twice.
pub(super) struct Texts(Vec<String>);

impl Texts {
    /// # Errors
    /// If the texts repeat themselves.
    pub(super) fn new(bytes: usize) -> Result<Self, String> {
        let kinds = [&KINDS[0], &KINDS[1]];
        let made: Result<Vec<_>, _> = kinds.iter().map(|kind| texts(kind, bytes / 2)).collect();
        let texts = made?.into_iter().flatten();
        Ok(Self(
            texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect(),
        ))
    }

    /// Some lines, one after the other in a file.
    fn lines(&self, dice: &mut Dice, count: u64) -> String {
        let start = dice.below(self.0.len() as u64) as usize;
        let lines = self.0.iter().cycle().skip(start).take(count as usize);
        lines.map(String::as_str).collect::<Vec<_>>().join("\n")
    }
}

/// Which host writes how many sessions, and when: a few hosts write most of them.
pub(super) fn days_of_hosts(hosts: u64, days: u64, sessions: u64) -> Vec<Vec<u64>> {
    let mut dice = Dice::new(20_261_101);
    let weights: Vec<f64> = (1..=hosts).map(|rank| 1.0 / rank as f64).collect();
    let all: f64 = weights.iter().sum();
    // Each host writes some; half of all sessions are spread by rank.
    let share = |weight: f64| 0.5 / hosts as f64 + 0.5 * weight / all;
    let counts = weights.iter().map(|weight| (share(*weight) * sessions as f64).round() as u64);
    let mut days_of = |count: u64| {
        let mut chosen: Vec<u64> = (0..count.max(1)).map(|_| dice.below(days)).collect();
        chosen.sort_unstable();
        chosen
    };
    counts.map(&mut days_of).collect()
}

/// A session that is being written.
pub(super) struct SessionWriter<'t> {
    texts: &'t Texts,
    dice: Dice,
    at: UnixMillis,
    rows: Vec<Value>,
    calls: u64,
    context: u64,
}

impl<'t> SessionWriter<'t> {
    pub(super) fn new(texts: &'t Texts, seed: u64, day: u64) -> Self {
        let mut dice = Dice::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let start = UnixMillis::parse_iso(START).unwrap_or_default();
        // Hosts are busy at some hours, and a long session may pass midnight.
        let hour = 6 + (dice.below(8) + dice.below(8)) as i64;
        let millis = day as i64 * DAY + hour * 3_600_000 + dice.below(3_600_000) as i64;
        let (at, context) = (start.plus_millis(millis), 2_000 + dice.below(18_000));
        Self { texts, dice, at, rows: Vec::new(), calls: 0, context }
    }

    /// How many turns a session of this fleet has: mostly few.
    pub(super) fn turns(&mut self) -> u64 {
        // Pareto: 1, 1, 2, 3, … rarely up to 60.
        let share = (1 + self.dice.below(1_000_000)) as f64 / 1e6;
        (share.powf(-0.83) as u64).clamp(1, 60)
    }

    /// Writes a session, as JSON Lines.
    pub(super) fn write(mut self, id: &str, turns: u64) -> String {
        let model = self.dice.below(10);
        let (provider, model) = MODELS[if model < 6 {
            0
        } else if model < 9 {
            1
        } else {
            2
        }];
        let cwd = format!("/srv/work/{}", self.dice.below(9));
        self.row(json!({"type": "session", "version": 3, "id": id, "cwd": cwd}));
        for _ in 0..turns {
            self.step(500, 600_000);
            let lines = 1 + self.dice.below(6);
            let text = self.texts.lines(&mut self.dice, lines);
            self.message(json!({"role": "user", "content": [{"type": "text", "text": text}]}));
            for _ in 0..=self.dice.below(5) {
                self.call(provider, model);
            }
            let lines = 1 + self.dice.below(12);
            let text = self.texts.lines(&mut self.dice, lines);
            self.answer(provider, model, json!([{"type": "text", "text": text}]), "stop");
        }
        let lines: Vec<String> = self.rows.iter().map(Value::to_string).collect();
        lines.join("\n") + "\n"
    }

    fn step(&mut self, low: u64, high: u64) {
        self.at = self.at.plus_millis((low + self.dice.below(high - low)) as i64);
    }

    fn row(&mut self, mut row: Value) {
        row["timestamp"] = self.at.to_iso().into();
        self.rows.push(row);
    }

    fn message(&mut self, message: Value) {
        let number = self.rows.len();
        let parent = (number > 1).then(|| format!("{:08x}", number - 1));
        let id = format!("{number:08x}");
        self.row(json!({"type": "message", "id": id, "parentId": parent, "message": message}));
    }

    fn answer(&mut self, provider: &str, model: &str, content: Value, reason: &str) {
        self.step(800, 20_000);
        self.context += 50 + self.dice.below(4_000);
        let cached = self.dice.below(self.context);
        let output = 20 + self.dice.below(900);
        let usage = json!({
            "input": self.context - cached, "output": output, "cacheRead": cached, "cacheWrite": 0,
            "totalTokens": self.context + output,
        });
        self.message(json!({
            "role": "assistant", "content": content, "provider": provider, "model": model,
            "usage": usage, "stopReason": reason,
        }));
    }

    fn call(&mut self, provider: &str, model: &str) {
        self.calls += 1;
        let id = format!("call_{}", self.calls);
        let tool = TOOLS[(self.dice.below(5) * self.dice.below(6) / 5) as usize];
        let command = self.texts.lines(&mut self.dice, 1);
        let arguments = json!({"command": command});
        let content = json!([{"type": "toolCall", "id": id, "name": tool, "arguments": arguments}]);
        self.answer(provider, model, content, "toolUse");
        self.step(5, 20_000);
        let failed = self.dice.below(8) == 0;
        let lines = self.dice.below(60);
        let text = self.texts.lines(&mut self.dice, lines);
        let mut result = json!({
            "role": "toolResult", "toolCallId": id, "toolName": tool,
            "content": [{"type": "text", "text": text}], "isError": failed,
        });
        if failed {
            result["details"] = json!({"exitCode": 1});
        }
        self.message(result);
    }
}
