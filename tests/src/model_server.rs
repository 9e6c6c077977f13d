//! A loopback Responses-API model with scripted replies, so that the real Codex CLI runs offline.
//!
//! A script belongs to a *marker*: the newest user message that contains a known marker chooses the
//! script, and the number of tool outputs after that message chooses the step. The server therefore
//! needs no session state and any number of threads and processes can share it. A prompt without a
//! marker is answered with `echo: ` and its text.

pub(crate) mod http;
mod reply;

use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};

pub use reply::Reply;

use http::{Request, read_request, write_json};
use reply::function_call;

/// How often a held reply checks whether its reader is gone.
const HELD_POLL: Duration = Duration::from_millis(20);

/// A handle to a running server for other threads.
#[derive(Clone, Debug)]
pub struct ModelHandle {
    shared: Arc<Shared>,
}

/// A running model server; dropping it stops it.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    stopped: AtomicBool,
    responses: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    scripts: Vec<(String, Vec<Reply>)>,
    requests: Vec<Value>,
    released: Vec<String>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ModelServer {
    /// Listens on a free loopback port.
    ///
    /// # Errors
    /// If the loopback interface refuses a listener.
    pub fn start() -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::default());
        let accepting = Arc::clone(&shared);
        let acceptor = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if accepting.stopped.load(Ordering::Acquire) {
                    return;
                }
                if let Ok(stream) = stream {
                    let shared = Arc::clone(&accepting);
                    // The thread ends with its connection.
                    drop(std::thread::spawn(move || serve(&shared, stream)));
                }
            }
        });
        Ok(Self { address, shared, acceptor: Some(acceptor) })
    }

    /// The base address for `model_providers.<name>.base_url`.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Sets the replies for turns whose newest marked user message contains `marker`.
    pub fn script(&self, marker: &str, replies: impl IntoIterator<Item = Reply>) {
        let mut state = self.shared.state();
        state.scripts.retain(|(known, _)| known != marker);
        state.scripts.push((marker.to_owned(), replies.into_iter().collect()));
    }

    /// Releases every reply held under `marker`, now and later.
    pub fn release(&self, marker: &str) {
        self.shared.state().released.push(marker.to_owned());
        self.shared.changed.notify_all();
    }

    /// The bodies of all model requests so far.
    #[must_use]
    pub fn requests(&self) -> Vec<Value> {
        self.shared.state().requests.clone()
    }

    /// A handle with which another thread can wait.
    #[must_use]
    pub fn handle(&self) -> ModelHandle {
        ModelHandle { shared: Arc::clone(&self.shared) }
    }
}

impl ModelHandle {
    /// Waits until a model request that contains `text` has arrived; false after `limit`.
    #[must_use]
    pub fn wait_for_request(&self, text: &str, limit: Duration) -> bool {
        let guard = self.shared.state();
        let (_guard, timeout) = self
            .shared
            .changed
            .wait_timeout_while(guard, limit, |state| {
                !state.requests.iter().any(|body| body.to_string().contains(text))
            })
            .unwrap_or_else(PoisonError::into_inner);
        !timeout.timed_out()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Release);
        self.shared.changed.notify_all();
        // Wakes the accept loop, which then sees the flag.
        drop(TcpStream::connect(self.address));
        if let Some(acceptor) = self.acceptor.take() {
            drop(acceptor.join());
        }
    }
}

fn serve(shared: &Shared, mut stream: TcpStream) {
    // A peer may close its connection (an interrupted turn); that is not an error.
    if let Some(request) = read_request(&mut stream) {
        drop(answer(shared, &mut stream, &request));
    }
}

fn answer(shared: &Shared, stream: &mut TcpStream, request: &Request) -> std::io::Result<()> {
    if !request.path.ends_with("/responses") {
        let body = json!({"models": [], "data": []});
        let status = if request.path.ends_with("/models") { 200 } else { 404 };
        return write_json(stream, status, &body);
    }
    let body: Value = serde_json::from_slice(&request.body).unwrap_or(Value::Null);
    let (marker, reply) = {
        let mut state = shared.state();
        let chosen = choose(&state.scripts, &body);
        state.requests.push(body.clone());
        chosen
    };
    shared.changed.notify_all();
    let number = shared.responses.fetch_add(1, Ordering::Relaxed);
    play(shared, stream, &marker, &reply, &body, number)
}

/// The marker and reply for a request.
fn choose(scripts: &[(String, Vec<Reply>)], body: &Value) -> (String, Reply) {
    let empty = Vec::new();
    let items = body.get("input").and_then(Value::as_array).unwrap_or(&empty);
    // Codex adds its own messages with the role `user` (`<environment_context>`, …).
    let newest = items.iter().enumerate().rev().find_map(|(position, item)| {
        let text = text_of(item);
        (item["role"] == "user" && !text.starts_with('<')).then_some((position, text))
    });
    let Some((position, text)) = newest else { return (String::new(), Reply::text("echo: ")) };
    let known = scripts.iter().find(|(marker, _)| text.contains(marker.as_str()));
    let Some((marker, replies)) = known else {
        return (String::new(), Reply::text(&format!("echo: {text}")));
    };
    let is_output = |item: &&Value| item["type"].as_str().is_some_and(|k| k.ends_with("_output"));
    let done = items.iter().skip(position).filter(is_output).count();
    let reply = replies.get(done).cloned().unwrap_or_else(|| Reply::text("done"));
    (marker.clone(), reply)
}

fn text_of(item: &Value) -> String {
    match &item["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join(" ")
        }
        _ => String::new(),
    }
}

fn play(
    shared: &Shared,
    stream: &mut TcpStream,
    marker: &str,
    reply: &Reply,
    body: &Value,
    number: u64,
) -> std::io::Result<()> {
    if let Some((status, message)) = reply.http_failure() {
        let error = json!({"error": {"message": message, "type": "scripted", "code": null}});
        return write_json(stream, status, &error);
    }
    stream.write_all(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n",
    )?;
    let id = format!("resp_{number}");
    let model = &body["model"];
    event(
        stream,
        "response.created",
        json!({"response": {"id": id, "object": "response", "status": "in_progress", "model": model}}),
    )?;
    let mut index = 0_u32;
    for message in reply.messages() {
        let item = format!("msg_{number}_{index}");
        let mut head = json!({"type": "message", "id": item, "role": "assistant"});
        if let Some(phase) = &message.phase {
            head["phase"] = json!(phase);
        }
        let mut added = head.clone();
        added["status"] = json!("in_progress");
        added["content"] = json!([]);
        event(stream, "response.output_item.added", json!({"output_index": index, "item": added}))?;
        event(
            stream,
            "response.content_part.added",
            json!({"item_id": item, "output_index": index, "content_index": 0, "part": {"type": "output_text", "text": ""}}),
        )?;
        event(
            stream,
            "response.output_text.delta",
            json!({"item_id": item, "output_index": index, "content_index": 0, "delta": message.text}),
        )?;
        if message.held && !hold(shared, stream, marker) {
            return Ok(());
        }
        let mut done = head;
        done["status"] = json!("completed");
        done["content"] = json!([{"type": "output_text", "text": message.text, "annotations": []}]);
        event(stream, "response.output_item.done", json!({"output_index": index, "item": done}))?;
        index += 1;
    }
    if reply.is_dropped() {
        return Ok(());
    }
    for (position, call) in reply.calls().iter().enumerate() {
        let item = function_call(call, body, number, position);
        event(stream, "response.output_item.done", json!({"output_index": index, "item": item}))?;
        index += 1;
    }
    let usage = json!({
        "input_tokens": 120, "input_tokens_details": {"cached_tokens": 20},
        "output_tokens": 30, "output_tokens_details": {"reasoning_tokens": 10}, "total_tokens": 150,
    });
    event(
        stream,
        "response.completed",
        json!({"response": {"id": id, "object": "response", "status": "completed", "model": model, "output": [], "usage": usage}}),
    )
}

fn event(stream: &mut TcpStream, kind: &str, mut data: Value) -> std::io::Result<()> {
    data["type"] = json!(kind);
    stream.write_all(format!("event: {kind}\ndata: {data}\n\n").as_bytes())?;
    stream.flush()
}

/// Waits for the release of `marker`; false if the reader is gone or the server stops.
fn hold(shared: &Shared, stream: &mut TcpStream, marker: &str) -> bool {
    let mut state = shared.state();
    loop {
        if state.released.iter().any(|released| released == marker) {
            return true;
        }
        if shared.stopped.load(Ordering::Acquire) {
            return false;
        }
        let (guard, timeout) =
            shared.changed.wait_timeout(state, HELD_POLL).unwrap_or_else(PoisonError::into_inner);
        state = guard;
        if timeout.timed_out() && stream.write_all(b": still here\n\n").is_err() {
            return false;
        }
    }
}
