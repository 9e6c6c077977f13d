//! The task that drives a client: moves lines between the transport and the session.
//!
//! Every queue has a limit. Calls are admitted by a semaphore, answers to the server's questions
//! hold a permit each, and nothing is added to a full outbox. The driver never waits for a server
//! that does not read: it keeps reading, so neither side can block the other.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use traj_core::binding::ServerText;
use traj_core::json::Json;
use traj_core::json::lines::{Line, Lines};
use traj_core::port::{AppServerError, CloseCause, HostReply, ServerRequest};
use traj_core::redaction::Redactor;

use super::ClientOptions;
use super::outbox::Outbox;
use super::questions::{AnsweredQuestion, OpenQuestions};
use super::routes::Routes;
use crate::protocol::{answer_json, read_event, read_request};
use crate::rpc::{CallToken, RpcInput, RpcLimits, RpcOutput, RpcSession, notification_line};
use crate::transport::{ChildProcess, Transport};

/// How many bytes are read at once.
const CHUNK: usize = 64 * 1024;
/// How long to wait for the child's last output after it exited, and for its exit status after its
/// output ended.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// Counters of protocol errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientCounters {
    /// Lines that were not valid messages.
    pub garbage_lines: u64,
    /// Lines that were too long.
    pub oversized_lines: u64,
    /// Answers that nobody was waiting for.
    pub stray_answers: u64,
    /// Bytes that the server wrote to its standard error.
    pub stderr_bytes: u64,
}

type CallResult = Result<Json<'static>, AppServerError>;

/// A command of a client to its driver.
#[derive(Debug)]
pub(super) enum ClientCommand {
    Call { method: &'static str, params: Json<'static>, timeout: Duration, caller: Caller },
    Notify(&'static str),
}

/// The waiting side of a call. The call counts as admitted until this is dropped.
#[derive(Debug)]
pub(super) struct Caller {
    pub(super) reply: oneshot::Sender<CallResult>,
    pub(super) _admission: OwnedSemaphorePermit,
}

/// Signals shared by clients and their driver.
#[derive(Clone, Debug)]
pub(super) struct ClientSignals {
    /// Limits the number of calls.
    pub(super) admission: Arc<Semaphore>,
    /// A caller was dropped.
    pub(super) abandoned: Arc<Notify>,
    /// Stops the server.
    pub(super) stop: CancellationToken,
}

/// The reports of the driver.
#[derive(Debug)]
pub(super) struct DriverReports {
    pub(super) closing: watch::Sender<Option<CloseCause>>,
    pub(super) counting: watch::Sender<ClientCounters>,
    pub(super) finishing: watch::Sender<bool>,
}

/// The state of one connection.
pub(super) struct ConnectionDriver {
    session: RpcSession,
    lines: Lines,
    oversized_lines: u64,
    outbox: Outbox,
    routes: Routes,
    callers: BTreeMap<u64, Caller>,
    calls: u64,
    questions: OpenQuestions,
    answered: mpsc::Receiver<AnsweredQuestion>,
    signals: ClientSignals,
    reports: DriverReports,
    stop_patience: Duration,
    redactor: Redactor,
    epoch: Instant,
}

/// What woke the driver.
enum Wakeup {
    Stop,
    Command(Option<ClientCommand>),
    Answer(AnsweredQuestion),
    Abandoned,
    Read(std::io::Result<usize>),
    Written(std::io::Result<()>),
    Exited(CloseCause),
    Timer,
}

impl ConnectionDriver {
    pub(super) fn new(
        options: &ClientOptions,
        routes: Routes,
        signals: ClientSignals,
        reports: DriverReports,
    ) -> Self {
        let wordings = options.profile.wordings.clone();
        let (questions, answered) = OpenQuestions::new(options);
        Self {
            session: RpcSession::new(RpcLimits { in_flight: options.in_flight, wordings }),
            lines: Lines::new(options.longest_line),
            oversized_lines: 0,
            outbox: Outbox::new(options.unsent_bytes),
            routes,
            callers: BTreeMap::new(),
            calls: 0,
            questions,
            answered,
            signals,
            reports,
            stop_patience: options.stop_patience,
            redactor: options.redactor.clone(),
            epoch: Instant::now(),
        }
    }

    pub(super) async fn run(
        mut self,
        mut transport: Transport,
        mut commands: mpsc::Receiver<ClientCommand>,
    ) {
        let cause = self.drive(&mut transport, &mut commands).await;
        let cause = self.with_last_words(cause, transport.child.as_ref()).await;
        self.report_end(&cause, &mut commands);
        let Self { outbox, reports, stop_patience, .. } = self;
        let Transport { reader, mut writer, child } = transport;
        if let Some(mut child) = child {
            // The server may have stopped reading; stopping it comes next in any case.
            let _late = tokio::time::timeout(stop_patience, outbox.finish(&mut writer)).await;
            drop((reader, writer));
            child.stop(stop_patience).await;
        }
        reports.finishing.send_replace(true);
    }

    /// Runs the connection until it ends; returns why it did.
    async fn drive(
        &mut self,
        transport: &mut Transport,
        commands: &mut mpsc::Receiver<ClientCommand>,
    ) -> CloseCause {
        let Transport { reader, writer, child } = transport;
        let mut chunk = vec![0; CHUNK];
        loop {
            let has_room = self.outbox.has_room();
            self.session.set_writable(has_room);
            // A wake-up beyond the range of the clock never happens.
            let wake = self.session.next_wake().and_then(|wake| self.epoch.checked_add(wake));
            let wakeup = tokio::select! {
                () = self.signals.stop.cancelled() => Wakeup::Stop,
                command = commands.recv() => Wakeup::Command(command),
                Some(answer) = self.answered.recv(), if has_room => Wakeup::Answer(answer),
                () = self.signals.abandoned.notified() => Wakeup::Abandoned,
                read = reader.read(&mut chunk) => Wakeup::Read(read),
                written = self.outbox.write_some(writer), if self.outbox.is_pending() => {
                    Wakeup::Written(written)
                }
                cause = exit_of(child.as_mut()) => Wakeup::Exited(cause),
                () = sleep_until(wake) => Wakeup::Timer,
            };
            let outputs = match wakeup {
                Wakeup::Stop | Wakeup::Command(None) => return CloseCause::ByUs,
                Wakeup::Command(Some(command)) => self.command(command),
                Wakeup::Answer(AnsweredQuestion { id, answer, .. }) => {
                    self.session.step(self.epoch.elapsed(), RpcInput::Answer { id, answer })
                }
                Wakeup::Abandoned => self.forget_abandoned(),
                Wakeup::Read(Ok(count @ 1..)) => self.read(chunk.get(..count).unwrap_or_default()),
                // The output has ended, so the server is of no more use, even if it still runs.
                Wakeup::Read(_) => return end_of(child.as_mut()).await,
                Wakeup::Written(Err(_)) => {
                    self.last_words(reader, &mut chunk).await;
                    // A server that exited also breaks the pipe; its exit status says more.
                    return match end_of(child.as_mut()).await {
                        CloseCause::Exited { code: None, signal: None, .. } => {
                            CloseCause::BrokenPipe
                        }
                        exited => exited,
                    };
                }
                Wakeup::Exited(cause) => {
                    self.last_words(reader, &mut chunk).await;
                    return cause;
                }
                Wakeup::Written(Ok(())) | Wakeup::Timer => self.tick(),
            };
            if let ControlFlow::Break(cause) = self.perform(outputs) {
                return cause;
            }
        }
    }

    /// The cause with the end of the child's standard error, which explains most exits.
    async fn with_last_words(&self, cause: CloseCause, child: Option<&ChildProcess>) -> CloseCause {
        match (cause, child) {
            (CloseCause::Exited { code, signal, .. }, Some(child)) => {
                let stderr = child.stderr();
                // A process that the server started may keep it open.
                let _open = tokio::time::timeout(LAST_WORDS, stderr.drained()).await;
                let last_words = stderr.last_lines(&self.redactor).map(ServerText::new);
                CloseCause::Exited { code, signal, last_words }
            }
            (cause, _) => cause,
        }
    }

    /// Reports the end to all waiting callers before cleaning up.
    fn report_end(&mut self, cause: &CloseCause, commands: &mut mpsc::Receiver<ClientCommand>) {
        let outputs = self.session.step(self.epoch.elapsed(), RpcInput::Closed(cause.clone()));
        self.perform_last(outputs);
        self.reports.closing.send_replace(Some(cause.clone()));
        self.routes.lose(cause);
        self.signals.admission.close();
        commands.close();
        while let Ok(command) = commands.try_recv() {
            let outputs = self.command(command);
            self.perform_last(outputs);
        }
    }

    fn tick(&mut self) -> Vec<RpcOutput> {
        // The write may have made room for waiting calls.
        self.session.set_writable(self.outbox.has_room());
        self.session.step(self.epoch.elapsed(), RpcInput::Tick)
    }

    fn command(&mut self, command: ClientCommand) -> Vec<RpcOutput> {
        match command {
            ClientCommand::Call { method, params, timeout, caller } => {
                if caller.reply.is_closed() {
                    return Vec::new();
                }
                self.calls += 1;
                self.callers.insert(self.calls, caller);
                let token = CallToken(self.calls);
                let input = RpcInput::Call { token, method, params, timeout };
                self.session.step(self.epoch.elapsed(), input)
            }
            ClientCommand::Notify(method) => {
                self.outbox.push(&notification_line(method));
                Vec::new()
            }
        }
    }

    /// Removes the calls whose callers were dropped.
    fn forget_abandoned(&mut self) -> Vec<RpcOutput> {
        let now = self.epoch.elapsed();
        let mut outputs = Vec::new();
        let session = &mut self.session;
        self.callers.retain(|token, caller| {
            let is_abandoned = caller.reply.is_closed();
            if is_abandoned {
                let token = CallToken(*token);
                outputs.extend(session.step(now, RpcInput::Cancel { token }));
            }
            !is_abandoned
        });
        outputs
    }

    fn read(&mut self, bytes: &[u8]) -> Vec<RpcOutput> {
        let now = self.epoch.elapsed();
        let mut outputs = Vec::new();
        let session = &mut self.session;
        let _continue = self.lines.push(bytes, |line| {
            match line {
                Line::Whole(line) | Line::Cut(line) => {
                    let line = line.strip_suffix(b"\r").unwrap_or(line);
                    if !line.trim_ascii().is_empty() {
                        outputs.extend(session.step(now, RpcInput::Line(line)));
                    }
                }
                // A line uses no more memory than the limit.
                Line::TooLong { .. } => self.oversized_lines += 1,
            }
            ControlFlow::<()>::Continue(())
        });
        self.reports.counting.send_if_modified(|counters| {
            let counted = ClientCounters {
                garbage_lines: session.garbage(),
                oversized_lines: self.oversized_lines,
                stray_answers: session.strays(),
                stderr_bytes: 0,
            };
            let has_changed = *counters != counted;
            *counters = counted;
            has_changed
        });
        outputs
    }

    async fn last_words(&mut self, reader: &mut (dyn AsyncRead + Send + Unpin), chunk: &mut [u8]) {
        let deadline = Instant::now() + LAST_WORDS;
        while let Ok(Ok(count @ 1..)) = tokio::time::timeout_at(deadline, reader.read(chunk)).await
        {
            let outputs = self.read(chunk.get(..count).unwrap_or_default());
            self.perform_last(outputs);
        }
    }

    /// Performs the outputs of the session. Breaks if the server must be stopped.
    fn perform(&mut self, outputs: Vec<RpcOutput>) -> ControlFlow<CloseCause> {
        for output in outputs {
            match output {
                RpcOutput::Write(line) => self.outbox.push(&line),
                RpcOutput::Settle { token, result } => {
                    if let Some(caller) = self.callers.remove(&token.0) {
                        // The caller may have just been dropped.
                        let _gone = caller.reply.send(result);
                    }
                }
                RpcOutput::Notification { method, params } => {
                    if let Some((thread, event)) = read_event(&method, &params) {
                        self.routes.tell(&thread, &event);
                    }
                }
                RpcOutput::Request { id, method, params } => {
                    self.question(id, &read_request(&method, params))?;
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Performs the outputs of the session on a connection that is ending.
    fn perform_last(&mut self, outputs: Vec<RpcOutput>) {
        let _ending = self.perform(outputs);
    }

    fn question(&mut self, id: Json<'static>, request: &ServerRequest) -> ControlFlow<CloseCause> {
        let listeners = request.thread.as_ref().map(|thread| self.routes.of(thread));
        if self.questions.ask(&id, request, listeners) {
            return ControlFlow::Continue(());
        }
        if !self.outbox.has_room() {
            // The server keeps asking and reads no answers, so nothing can reach it.
            return ControlFlow::Break(CloseCause::BrokenPipe);
        }
        let answer = answer_json(request.kind, &HostReply::none());
        let outputs = self.session.step(self.epoch.elapsed(), RpcInput::Answer { id, answer });
        self.perform(outputs)
    }
}

async fn exit_of(child: Option<&mut ChildProcess>) -> CloseCause {
    match child {
        Some(child) => child.wait().await,
        None => std::future::pending().await,
    }
}

async fn end_of(child: Option<&mut ChildProcess>) -> CloseCause {
    let unknown = CloseCause::exited(None, None);
    match child {
        Some(child) => tokio::time::timeout(LAST_WORDS, child.wait()).await.unwrap_or(unknown),
        None => unknown,
    }
}

async fn sleep_until(wake: Option<Instant>) {
    match wake {
        Some(wake) => tokio::time::sleep_until(wake).await,
        None => std::future::pending().await,
    }
}
