//! Listens to a thread on behalf of one turn.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use tokio::sync::watch;
use traj_core::id::TurnId;
use traj_core::port::{
    CloseCause, HostReply, RequestHandler, ServerRequest, ThreadEvent, ThreadListener, TokenUsage,
};

use super::collector::{TurnCollector, TurnEnd};
use super::recording::TurnRecorder;
use super::{TurnObserver, TurnOptions};

/// The state of a turn that is being listened to.
#[derive(Debug)]
pub(super) struct TurnWatch {
    collector: Mutex<TurnCollector>,
    recorder: TurnRecorder,
    handler: Arc<dyn RequestHandler>,
    observer: Option<Arc<dyn TurnObserver>>,
    turn: Mutex<Option<TurnId>>,
    end: watch::Sender<Option<Result<TurnEnd, CloseCause>>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl TurnWatch {
    pub(super) fn new(options: &TurnOptions, recorder: TurnRecorder) -> Self {
        Self {
            collector: Mutex::new(TurnCollector::new(options.early_notifications)),
            recorder,
            handler: Arc::clone(&options.handler),
            observer: options.observer.clone(),
            turn: Mutex::new(None),
            end: watch::Sender::new(None),
        }
    }

    pub(super) const fn recorder(&self) -> &TurnRecorder {
        &self.recorder
    }

    /// Sets the started turn, and uses its early events.
    pub(super) fn begin(&self, turn: &TurnId) {
        *lock(&self.turn) = Some(turn.clone());
        self.recorder.started(turn);
        let (early, end) = {
            let mut collector = lock(&self.collector);
            let early = collector.begin(turn);
            (early, collector.end().cloned())
        };
        for event in &early {
            self.pass_on(event);
        }
        self.settle(end);
    }

    /// Waits for the end of the turn or of the server.
    pub(super) async fn end(&self) -> Result<TurnEnd, CloseCause> {
        let mut end = self.end.subscribe();
        match end.wait_for(Option::is_some).await {
            Ok(end) => end.clone().unwrap_or(Err(CloseCause::ByUs)),
            Err(_) => Err(CloseCause::ByUs),
        }
    }

    pub(super) fn text(&self) -> String {
        lock(&self.collector).text()
    }

    pub(super) fn usage(&self) -> Option<TokenUsage> {
        lock(&self.collector).usage()
    }

    fn pass_on(&self, event: &ThreadEvent) {
        self.recorder.event(event);
        if let Some(observer) = &self.observer {
            observer.event(event);
        }
    }

    fn settle(&self, end: Option<TurnEnd>) {
        if let Some(end) = end {
            self.end.send_if_modified(|known| {
                let is_first = known.is_none();
                if is_first {
                    *known = Some(Ok(end));
                }
                is_first
            });
        }
    }
}

#[async_trait]
impl ThreadListener for TurnWatch {
    fn event(&self, event: &ThreadEvent) {
        let (is_ours, end) = {
            let mut collector = lock(&self.collector);
            (collector.event(event), collector.end().cloned())
        };
        if is_ours {
            self.pass_on(event);
            self.settle(end);
        }
    }

    async fn request(&self, request: &ServerRequest) -> Option<HostReply> {
        // A request of an earlier turn of this thread must not be answered here either.
        let is_other_turn = match (&*lock(&self.turn), &request.turn) {
            (Some(turn), Some(asking)) => turn != asking,
            _ => false,
        };
        if is_other_turn {
            return None;
        }
        let mut open = OpenApproval::ask(&self.recorder, request);
        let reply = self.handler.answer(request).await;
        open.decide(&reply);
        Some(reply)
    }

    fn declined(&self, request: &ServerRequest) {
        let reply = HostReply::none().because("too many requests are open");
        OpenApproval::ask(&self.recorder, request).decide(&reply);
    }

    fn lost(&self, cause: CloseCause) {
        self.end.send_if_modified(|known| {
            let is_first = known.is_none();
            if is_first {
                *known = Some(Err(cause));
            }
            is_first
        });
    }
}

/// A request for approval that is recorded and waits for its decision. If it is dropped before,
/// nobody decided in time, and nothing is granted.
struct OpenApproval<'a> {
    recorder: &'a TurnRecorder,
    id: Option<u64>,
}

impl<'a> OpenApproval<'a> {
    fn ask(recorder: &'a TurnRecorder, request: &ServerRequest) -> Self {
        Self { recorder, id: recorder.asked(request) }
    }

    fn decide(&mut self, reply: &HostReply) {
        if let Some(id) = self.id.take() {
            self.recorder.decided(id, reply);
        }
    }
}

impl Drop for OpenApproval<'_> {
    fn drop(&mut self) {
        self.decide(&HostReply::none().because("no answer in time"));
    }
}
