//! The server: one scripted model for every API.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};

use super::scenario::{ASIDE, Ending, GO_ON, Line, SUMMARY, aside, scripts, summary, wait_for};
use super::tools::{self, Place, ServedCall, fill_schema};
use super::wire::{Answer, Api, Asked, Tokens, Turn};
use crate::model_server::http::{Request, read_request, write_json};

/// What the model answered to one request.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Served {
    /// The prompt whose script was used, or [`ASIDE`] or [`SUMMARY`].
    pub script: &'static str,
    /// The step of the script, from 0.
    pub step: usize,
    /// The model that the agent asked for.
    pub model: String,
    /// The reasoning, if the agent asked for any.
    pub reasoning: Option<String>,
    /// The text.
    pub text: Option<String>,
    /// The calls.
    pub calls: Vec<ServedCall>,
    /// The tokens.
    pub tokens: Tokens,
    /// The HTTP status of an error.
    pub refused: Option<u16>,
}

/// A running model; dropping it stops it.
#[derive(Debug)]
pub struct AgentModel {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    place: Place,
    served: Mutex<Vec<Served>>,
    changed: Condvar,
    stopped: AtomicBool,
    answers: AtomicU64,
}

impl Shared {
    fn served(&self) -> MutexGuard<'_, Vec<Served>> {
        self.served.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AgentModel {
    /// Listens on a free loopback port. Paths in calls are below `workspace`; `helper` is the name
    /// of a general sub-agent.
    ///
    /// # Errors
    /// If the loopback interface refuses a listener.
    pub fn start(workspace: &Path, helper: &'static str) -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            place: Place { workspace: workspace.to_string_lossy().into_owned(), helper },
            served: Mutex::default(),
            changed: Condvar::new(),
            stopped: AtomicBool::new(false),
            answers: AtomicU64::new(0),
        });
        let accepting = Arc::clone(&shared);
        let acceptor = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if accepting.stopped.load(Ordering::Acquire) {
                    return;
                }
                if let Ok(mut stream) = stream {
                    let shared = Arc::clone(&accepting);
                    // The thread ends with its connection.
                    drop(std::thread::spawn(move || {
                        if let Some(request) = read_request(&mut stream) {
                            // A peer may close its connection early.
                            drop(answer(&shared, &mut stream, &request));
                        }
                    }));
                }
            }
        });
        Ok(Self { address, shared, acceptor: Some(acceptor) })
    }

    /// The address, without a path.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Everything that was served so far, in order.
    #[must_use]
    pub fn served(&self) -> Vec<Served> {
        self.shared.served().clone()
    }

    /// Waits until a script was used; false after `limit`.
    #[must_use]
    pub fn wait_for(&self, script: &str, limit: Duration) -> bool {
        let is_missing = |served: &mut Vec<Served>| served.iter().all(|one| one.script != script);
        let waited =
            self.shared.changed.wait_timeout_while(self.shared.served(), limit, is_missing);
        let (_guard, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        !timeout.timed_out()
    }
}

impl Drop for AgentModel {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Release);
        // Wakes the accept loop, which then sees the flag.
        drop(TcpStream::connect(self.address));
        if let Some(acceptor) = self.acceptor.take() {
            drop(acceptor.join());
        }
    }
}

fn answer(shared: &Shared, stream: &mut TcpStream, request: &Request) -> std::io::Result<()> {
    let body: Value = serde_json::from_slice(&request.body).unwrap_or(Value::Null);
    let Some(api) = Api::of(&request.path) else { return beside(stream, request, &body) };
    let asked = api.read(&body);
    let (script, step, line) = choose(&asked);
    let can_wait = asked.tools.iter().any(|tool| tool.name == tools::WAIT);
    let line = match &asked.started {
        Some(agent) if can_wait => wait_for(agent),
        _ => line,
    };
    let number = shared.answers.fetch_add(1, Ordering::Relaxed);
    let id = format!("scripted{number:06}");
    let calls = line.actions.iter().enumerate().map(|(index, action)| {
        let id = format!("{}{id}x{index}", api.call_prefix());
        action.call(&asked.tools, &shared.place, id)
    });
    let refused = match line.ending {
        Ending::Complete => None,
        Ending::Refused(status) => Some(status),
    };
    let text = match &asked.schema {
        Some(schema) => Some(fill_schema(schema).to_string()),
        None => line.text.map(str::to_owned),
    };
    let calls = calls.collect();
    let answer = Answer {
        id,
        reasoning: line.reasoning.filter(|_| asked.wants_reasoning).map(str::to_owned),
        text,
        calls,
        tokens: line.tokens,
    };
    shared.served().push(Served {
        script,
        step,
        model: asked.model.clone(),
        reasoning: answer.reasoning.clone(),
        text: answer.text.clone(),
        calls: answer.calls.clone(),
        tokens: answer.tokens,
        refused,
    });
    shared.changed.notify_all();
    match refused {
        Some(status) => write_json(stream, status, &api.error(status)),
        None => api.write(stream, &asked, &answer),
    }
}

/// Answers an agent's other requests: lists of models, token counts.
fn beside(stream: &mut TcpStream, request: &Request, body: &Value) -> std::io::Result<()> {
    if request.path.ends_with("/count_tokens") || request.path.ends_with(":countTokens") {
        let tokens = body.to_string().len() / 4;
        return write_json(stream, 200, &json!({"input_tokens": tokens, "totalTokens": tokens}));
    }
    let is_list = request.path.ends_with("/models");
    write_json(stream, if is_list { 200 } else { 404 }, &json!({"models": [], "data": []}))
}

/// The script, its step, and the answer.
fn choose(asked: &Asked) -> (&'static str, usize, Line) {
    let scripts = scripts();
    let script_of = |text: &str| scripts.iter().find(|(prompt, _)| text.contains(prompt));
    let newest = asked.turns.iter().rev().find_map(|turn| match turn {
        Turn::User(text) => Some(text.as_str()),
        _ => None,
    });
    // Some agents quote the conversation next to the instruction; they then offer no tools.
    let wants_summary = newest.is_some_and(|text| {
        let is_asked = ["summar", "<state_snapshot>"]
            .iter()
            .any(|word| text.to_ascii_lowercase().contains(word));
        is_asked && (script_of(text).is_none() || asked.tools.is_empty())
    });
    if wants_summary && asked.schema.is_none() {
        return (SUMMARY, 0, summary());
    }
    let chosen = asked.turns.iter().enumerate().rev().find_map(|(at, turn)| match turn {
        Turn::User(text) => script_of(text).map(|script| (at, script)),
        _ => None,
    });
    let Some((at, (prompt, lines))) = chosen.filter(|_| !asked.tools.is_empty()) else {
        // A request outside the conversation offers no tools.
        let script = if asked.tools.is_empty() { ASIDE } else { GO_ON };
        return (script, 0, aside());
    };
    let step = rounds(asked.turns.get(at..).unwrap_or_default());
    let line = lines.get(step).or(lines.last()).cloned().unwrap_or_default();
    (prompt, step, line)
}

/// How often tools have answered.
fn rounds(turns: &[Turn]) -> usize {
    let (mut rounds, mut is_called) = (0, false);
    for turn in turns {
        match turn {
            Turn::Assistant { has_calls } => is_called |= *has_calls,
            Turn::Results if is_called => {
                rounds += 1;
                is_called = false;
            }
            Turn::Results | Turn::User(_) => {}
        }
    }
    rounds
}
