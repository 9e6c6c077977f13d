//! What an in-memory app-server keeps on disk.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use super::{MemoryAppServer, lock};
use crate::binding::{PastMessage, Speaker};
use crate::id::ThreadId;

/// What Codex stores on disk, shared by server processes. Clones share the same home.
#[derive(Clone, Debug, Default)]
pub struct MemoryCodexHome {
    path: Option<String>,
    state: Arc<Mutex<ServerHome>>,
}

#[derive(Debug, Default)]
pub(super) struct ServerHome {
    pub(super) threads: BTreeMap<ThreadId, ServerThread>,
    pub(super) started: u64,
    pub(super) processes: u64,
    pub(super) turns: u64,
}

#[derive(Debug, Default)]
pub(super) struct ServerThread {
    pub(super) carried: Vec<PastMessage>,
    pub(super) prompts: Vec<String>,
    pub(super) is_archived: bool,
    pub(super) is_damaged: bool,
    pub(super) writer: Option<u64>,
}

impl MemoryCodexHome {
    /// An empty home.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty home that states where it is.
    #[must_use]
    pub fn at(path: &str) -> Self {
        Self { path: Some(path.to_owned()), ..Self::default() }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, ServerHome> {
        lock(&self.state)
    }

    pub(super) fn path(&self) -> Option<&str> {
        self.path.as_deref()
    }

    /// Starts a server process on this home.
    #[must_use]
    pub fn start_server(&self) -> MemoryAppServer {
        let mut home = lock(&self.state);
        home.processes += 1;
        let process = home.processes;
        MemoryAppServer { home: self.clone(), process, state: Arc::default() }
    }

    /// The prompts of a thread; `None` if it is not on disk.
    #[must_use]
    pub fn prompts(&self, thread: &ThreadId) -> Option<Vec<String>> {
        lock(&self.state).threads.get(thread).map(|thread| thread.prompts.clone())
    }

    /// What the model of a thread sees, oldest first; `None` if the thread is not on disk.
    #[must_use]
    pub fn history(&self, thread: &ThreadId) -> Option<Vec<PastMessage>> {
        let carried = lock(&self.state).threads.get(thread)?.carried.clone();
        Some(carried.into_iter().chain(self.said(thread)?).collect())
    }

    /// What was said in the turns of a thread, as the server lists it: without what was added to
    /// the thread.
    pub(super) fn said(&self, thread: &ThreadId) -> Option<Vec<PastMessage>> {
        let said = self.prompts(thread)?.into_iter().flat_map(|prompt| {
            let echo = format!("echo: {prompt}");
            [PastMessage::new(Speaker::Person, prompt), PastMessage::new(Speaker::Model, echo)]
        });
        Some(said.collect())
    }

    /// Deletes a thread.
    pub fn delete(&self, thread: &ThreadId) {
        lock(&self.state).threads.remove(thread);
    }

    /// Archives a thread.
    pub fn archive(&self, thread: &ThreadId) {
        if let Some(thread) = lock(&self.state).threads.get_mut(thread) {
            thread.is_archived = true;
        }
    }

    /// Makes a thread's file unreadable.
    pub fn damage(&self, thread: &ThreadId) {
        if let Some(thread) = lock(&self.state).threads.get_mut(thread) {
            thread.is_damaged = true;
        }
    }
}
