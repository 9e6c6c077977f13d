//! An in-memory app-server: threads in a shared home, server processes that come and go, and
//! injected failures.
//!
//! It reproduces the pitfalls of the real one: a thread without a turn is not on disk, turns on a
//! thread that is not loaded fail with "not found", a thread that is open elsewhere cannot be
//! resumed, and events of a turn arrive before the response to its start.

mod home;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use crate::binding::{InputItem, PastMessage, RefusalKind, ServerText};
use crate::id::{ThreadId, TurnId};
use crate::port::{
    AppServerError, CloseCause, HostReply, ItemDetail, ListenGuard, OpenedThread, ResumeThread,
    ServerRequest, StartThread, StartTurn, ThreadEvent, ThreadItem, ThreadListener, ThreadService,
    ThreadSummary, TurnService, TurnStatus,
};

pub use home::MemoryCodexHome;

/// The model of threads that ask for none.
const MODEL: &str = "memory-model";

/// How a call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemoryFailure {
    /// The server refuses, for this reason.
    Refuse(RefusalKind),
    /// No response arrives; the call has no effect.
    TimeOut,
    /// The server dies before the call has any effect.
    Die,
    /// The call takes effect, but the server dies before it responds.
    DieAfter,
}

/// One server process.
#[derive(Clone, Debug)]
pub struct MemoryAppServer {
    home: MemoryCodexHome,
    process: u64,
    state: Arc<Mutex<ServerProcess>>,
}

#[derive(Debug, Default)]
struct ServerProcess {
    is_dead: bool,
    loaded: BTreeSet<ThreadId>,
    listeners: Vec<(u64, ThreadId, Arc<dyn ThreadListener>)>,
    listened: u64,
    failures: BTreeMap<u64, MemoryFailure>,
    calls: Vec<&'static str>,
    holds_turns: bool,
    running: BTreeMap<ThreadId, TurnId>,
    /// Messages that were added to threads before their first turn.
    added: BTreeMap<ThreadId, Vec<PastMessage>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl MemoryAppServer {
    /// Makes the call with this number fail, counted from one from now on.
    pub fn fail_call(&self, call: u64, failure: MemoryFailure) {
        let mut process = lock(&self.state);
        let number = u64::try_from(process.calls.len()).unwrap_or(u64::MAX) + call;
        process.failures.insert(number, failure);
    }

    /// Makes turns stay unfinished until [`Self::finish_turn`].
    pub fn hold_turns(&self) {
        lock(&self.state).holds_turns = true;
    }

    /// Ends a held turn.
    pub fn finish_turn(&self, thread: &ThreadId) {
        let running = lock(&self.state).running.remove(thread);
        if let Some(turn) = running {
            self.complete(thread, &turn, "released");
        }
    }

    /// Kills the process: every listener is notified, every later call fails.
    pub fn kill(&self) {
        let listeners = {
            let mut process = lock(&self.state);
            process.is_dead = true;
            process.loaded.clear();
            process.running.clear();
            process.added.clear();
            std::mem::take(&mut process.listeners)
        };
        let mut home = self.home.state();
        for thread in home.threads.values_mut() {
            if thread.writer == Some(self.process) {
                thread.writer = None;
            }
        }
        drop(home);
        for (_, _, listener) in listeners {
            listener.lost(CloseCause::exited(None, Some(9)));
        }
    }

    /// The number of listeners on threads of this process.
    #[must_use]
    pub fn listener_count(&self) -> usize {
        lock(&self.state).listeners.len()
    }

    /// Whether the process was killed.
    #[must_use]
    pub fn is_dead(&self) -> bool {
        lock(&self.state).is_dead
    }

    /// The methods called so far, in order.
    #[must_use]
    pub fn calls(&self) -> Vec<&'static str> {
        lock(&self.state).calls.clone()
    }

    /// Sends a request as the server would; only listeners of its thread receive it.
    pub async fn ask(&self, request: ServerRequest) -> Option<HostReply> {
        let listeners = self.listeners(request.thread.as_ref()?);
        for listener in listeners {
            if let Some(answer) = listener.request(&request).await {
                return Some(answer);
            }
        }
        None
    }

    fn listeners(&self, thread: &ThreadId) -> Vec<Arc<dyn ThreadListener>> {
        let process = lock(&self.state);
        let matching = process.listeners.iter().filter(|(_, owner, _)| owner == thread);
        matching.map(|(_, _, listener)| Arc::clone(listener)).collect()
    }

    fn emit(&self, thread: &ThreadId, event: &ThreadEvent) {
        for listener in self.listeners(thread) {
            listener.event(event);
        }
    }

    fn complete(&self, thread: &ThreadId, turn: &TurnId, text: &str) {
        let detail = ItemDetail::AgentMessage { text: text.to_owned(), phase: None };
        let item = ThreadItem::new(format!("message-{turn}"), detail);
        self.emit(thread, &ThreadEvent::ItemCompleted { turn: turn.clone(), item });
        let status = TurnStatus::Completed;
        self.emit(
            thread,
            &ThreadEvent::TurnCompleted { turn: turn.clone(), status, items: vec![] },
        );
    }

    /// Counts a call and returns the failure to inject, if any.
    fn begin(&self, method: &'static str) -> Result<Option<MemoryFailure>, AppServerError> {
        let failure = {
            let mut process = lock(&self.state);
            if process.is_dead {
                return Err(closed());
            }
            process.calls.push(method);
            let number = u64::try_from(process.calls.len()).unwrap_or(u64::MAX);
            process.failures.remove(&number)
        };
        match failure {
            Some(MemoryFailure::Refuse(kind)) => Err(refused(method, kind)),
            Some(MemoryFailure::TimeOut) => Err(AppServerError::TimedOut { method }),
            Some(MemoryFailure::Die) => {
                self.kill();
                Err(closed())
            }
            other => Ok(other),
        }
    }

    fn end<T>(&self, failure: Option<MemoryFailure>, value: T) -> Result<T, AppServerError> {
        if failure == Some(MemoryFailure::DieAfter) {
            self.kill();
            return Err(closed());
        }
        Ok(value)
    }
}

const fn closed() -> AppServerError {
    AppServerError::Closed { cause: CloseCause::exited(None, Some(9)) }
}

fn refused(method: &'static str, kind: RefusalKind) -> AppServerError {
    let text = ServerText::new(kind.as_str().to_owned());
    AppServerError::Refused { method, code: -32600, kind, text }
}

#[async_trait]
impl ThreadService for MemoryAppServer {
    async fn start_thread(&self, start: StartThread) -> Result<OpenedThread, AppServerError> {
        let failure = self.begin("thread/start")?;
        let id = {
            let mut home = self.home.state();
            home.started += 1;
            format!("thread-{}", home.started)
        };
        let missing = |_| AppServerError::Decode { method: "thread/start", what: "thread.id" };
        let thread = ThreadId::parse(id).map_err(missing)?;
        lock(&self.state).loaded.insert(thread.clone());
        let path = self.home.path().map(|home| format!("{home}/sessions/{thread}.jsonl"));
        let mut opened = OpenedThread::new(thread);
        opened.rollout_path = path;
        opened.cwd = Some(start.cwd);
        opened.model = Some(start.settings.model.unwrap_or_else(|| MODEL.to_owned()));
        self.end(failure, opened)
    }

    async fn resume_thread(&self, resume: ResumeThread) -> Result<OpenedThread, AppServerError> {
        const METHOD: &str = "thread/resume";
        let failure = self.begin(METHOD)?;
        {
            let mut home = self.home.state();
            let thread = home.threads.get_mut(&resume.thread);
            let Some(thread) = thread else { return Err(refused(METHOD, RefusalKind::ThreadGone)) };
            if thread.is_archived {
                return Err(refused(METHOD, RefusalKind::ThreadArchived));
            }
            if thread.is_damaged {
                return Err(refused(METHOD, RefusalKind::ThreadDamaged));
            }
            if thread.writer.is_some_and(|writer| writer != self.process) {
                return Err(refused(METHOD, RefusalKind::ThreadOpenElsewhere));
            }
            thread.writer = Some(self.process);
        }
        lock(&self.state).loaded.insert(resume.thread.clone());
        let mut opened = OpenedThread::new(resume.thread);
        opened.model = Some(resume.settings.model.unwrap_or_else(|| MODEL.to_owned()));
        self.end(failure, opened)
    }

    async fn read_thread(&self, thread: &ThreadId) -> Result<ThreadSummary, AppServerError> {
        let failure = self.begin("thread/read")?;
        let is_loaded = lock(&self.state).loaded.contains(thread);
        let turns = self.home.prompts(thread).map(|prompts| prompts.len());
        if turns.is_none() && !is_loaded {
            return Err(refused("thread/read", RefusalKind::ThreadNotLoaded));
        }
        let turns = turns.and_then(|count| u64::try_from(count).ok());
        let mut summary = ThreadSummary::new(thread.clone());
        summary.turns = turns;
        summary.is_loaded = is_loaded;
        self.end(failure, summary)
    }

    async fn read_history(&self, thread: &ThreadId) -> Result<Vec<PastMessage>, AppServerError> {
        const METHOD: &str = "thread/read";
        let failure = self.begin(METHOD)?;
        let history = self.home.said(thread);
        let history = history.ok_or_else(|| refused(METHOD, RefusalKind::ThreadNotLoaded))?;
        self.end(failure, history)
    }

    async fn add_history(
        &self,
        thread: &ThreadId,
        messages: Vec<PastMessage>,
    ) -> Result<(), AppServerError> {
        const METHOD: &str = "thread/inject_items";
        let failure = self.begin(METHOD)?;
        {
            let mut process = lock(&self.state);
            if !process.loaded.contains(thread) {
                return Err(refused(METHOD, RefusalKind::ThreadNotLoaded));
            }
            process.added.entry(thread.clone()).or_default().extend(messages);
        }
        self.end(failure, ())
    }

    fn home(&self) -> Option<String> {
        self.home.path().map(str::to_owned)
    }

    async fn release_thread(&self, _thread: &ThreadId) -> Result<(), AppServerError> {
        let failure = self.begin("thread/unsubscribe")?;
        self.end(failure, ())
    }
}

#[async_trait]
impl TurnService for MemoryAppServer {
    fn listen(&self, thread: &ThreadId, listener: Arc<dyn ThreadListener>) -> ListenGuard {
        let mut process = lock(&self.state);
        process.listened += 1;
        let token = process.listened;
        if process.is_dead {
            listener.lost(CloseCause::exited(None, Some(9)));
        }
        process.listeners.push((token, thread.clone(), listener));
        let state = Arc::clone(&self.state);
        ListenGuard::new(move || lock(&state).listeners.retain(|(known, ..)| *known != token))
    }

    async fn start_turn(&self, start: StartTurn) -> Result<TurnId, AppServerError> {
        const METHOD: &str = "turn/start";
        let failure = self.begin(METHOD)?;
        if !lock(&self.state).loaded.contains(&start.thread) {
            return Err(refused(METHOD, RefusalKind::ThreadNotLoaded));
        }
        let prompt = start.input.iter().find_map(|item| match item {
            InputItem::Text(text) => Some(text.clone()),
            _ => None,
        });
        let prompt = prompt.unwrap_or_default();
        let added = lock(&self.state).added.remove(&start.thread).unwrap_or_default();
        let number = {
            let mut home = self.home.state();
            home.turns += 1;
            let number = home.turns;
            let thread = home.threads.entry(start.thread.clone()).or_default();
            thread.writer = Some(self.process);
            thread.carried.extend(added);
            thread.prompts.push(prompt.clone());
            number
        };
        let missing = |_| AppServerError::Decode { method: METHOD, what: "turn.id" };
        let turn = TurnId::parse(format!("turn-{number}")).map_err(missing)?;
        if failure == Some(MemoryFailure::DieAfter) {
            return self.end(failure, turn);
        }
        self.emit(&start.thread, &ThreadEvent::TurnStarted { turn: turn.clone() });
        let is_held = lock(&self.state).holds_turns;
        if is_held {
            lock(&self.state).running.insert(start.thread, turn.clone());
        } else {
            self.complete(&start.thread, &turn, &format!("echo: {prompt}"));
        }
        Ok(turn)
    }

    async fn steer_turn(
        &self,
        thread: &ThreadId,
        turn: &TurnId,
        _input: Vec<InputItem>,
    ) -> Result<(), AppServerError> {
        let failure = self.begin("turn/steer")?;
        if lock(&self.state).running.get(thread) != Some(turn) {
            return Err(refused("turn/steer", RefusalKind::NoActiveTurn));
        }
        self.end(failure, ())
    }

    async fn interrupt_turn(&self, thread: &ThreadId, turn: &TurnId) -> Result<(), AppServerError> {
        let failure = self.begin("turn/interrupt")?;
        {
            let mut process = lock(&self.state);
            if process.running.get(thread) != Some(turn) {
                return Err(refused("turn/interrupt", RefusalKind::NoActiveTurn));
            }
            process.running.remove(thread);
        }
        let status = TurnStatus::Interrupted;
        self.emit(
            thread,
            &ThreadEvent::TurnCompleted { turn: turn.clone(), status, items: vec![] },
        );
        self.end(failure, ())
    }
}
