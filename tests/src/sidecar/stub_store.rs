//! A wrapper around the in-memory store that lets a test decide the outcome of every call.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use traj_core::capture::{Blob, BlobDigest, PendingLine};
use traj_core::id::SessionId;
use traj_core::memory::MemoryTrajectoryStore;
use traj_core::port::{
    Appended, Room, SidecarError, SidecarOptions, SidecarWriter, TrajectoryStore,
};

/// A call that a recorder makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Call {
    /// Lines are appended.
    Append,
    /// A blob is stored.
    StoreBlob,
    /// All lines are synced.
    Flush,
}

type Hook = Arc<dyn Fn(Call) + Send + Sync>;

/// Calls `hook`, which may wait or panic, and then stores in memory.
#[derive(Clone)]
pub struct StubStore {
    memory: MemoryTrajectoryStore,
    hook: Hook,
}

impl StubStore {
    /// A store that calls `hook` before every call.
    pub fn new(memory: MemoryTrajectoryStore, hook: impl Fn(Call) + Send + Sync + 'static) -> Self {
        Self { memory, hook: Arc::new(hook) }
    }
}

impl fmt::Debug for StubStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("StubStore").finish_non_exhaustive()
    }
}

impl TrajectoryStore for StubStore {
    fn open(
        &self,
        session: &SessionId,
        options: &SidecarOptions,
    ) -> Result<Box<dyn SidecarWriter>, SidecarError> {
        let writer = self.memory.open(session, options)?;
        Ok(Box::new(StubWriter { store: self.clone(), writer }))
    }

    fn visit(
        &self,
        session: &SessionId,
        visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<(), SidecarError> {
        self.memory.visit(session, visit)
    }

    fn read_blob(
        &self,
        session: &SessionId,
        digest: &BlobDigest,
    ) -> Result<Option<String>, SidecarError> {
        self.memory.read_blob(session, digest)
    }
}

#[derive(Debug)]
struct StubWriter {
    store: StubStore,
    writer: Box<dyn SidecarWriter>,
}

impl SidecarWriter for StubWriter {
    fn append(&mut self, lines: &[PendingLine], room: Room) -> Result<Appended, SidecarError> {
        (self.store.hook)(Call::Append);
        self.writer.append(lines, room)
    }

    fn store_blob(&mut self, blob: &Blob) -> Result<(), SidecarError> {
        (self.store.hook)(Call::StoreBlob);
        self.writer.store_blob(blob)
    }

    fn flush(&mut self) -> Result<(), SidecarError> {
        (self.store.hook)(Call::Flush);
        self.writer.flush()
    }
}
