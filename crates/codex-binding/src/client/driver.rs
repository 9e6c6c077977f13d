//! The task behind a client: moves lines between the transport and the session.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Semaphore, mpsc, oneshot, watch};
use tokio::time::Instant;
use traj_core::json::Json;
use traj_core::json::lines::{self, Line};
use traj_core::port::{AppServerError, CloseCause, RequestHandler, ServerRequest, ThreadListener};

use super::ClientOptions;
use super::routes::Routes;
use crate::protocol::{answer_json, read_event, read_request};
use crate::rpc::{CallToken, Input, Output, RpcLimits, RpcSession, notification_line};
use crate::transport::{ChildProcess, Transport};

/// Bytes read at once.
const CHUNK: usize = 64 * 1024;
/// Room for the child's last words after it exited, and for its exit status after they ended.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// What went wrong on the wire, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientCounters {
    /// Lines that were no message.
    pub garbage_lines: u64,
    /// Lines that were too long.
    pub oversized_lines: u64,
    /// Answers that nobody waited for.
    pub stray_answers: u64,
    /// What the server wrote on its standard error.
    pub stderr_bytes: u64,
}

pub(super) enum Command {
    Call {
        token: u64,
        method: &'static str,
        params: Json<'static>,
        timeout: Duration,
        reply: oneshot::Sender<Result<Json<'static>, AppServerError>>,
    },
    Cancel {
        token: u64,
    },
    Notify(&'static str),
    Answer {
        id: Json<'static>,
        answer: Option<Json<'static>>,
    },
    WriteFailed,
    Stop,
}

pub(super) struct Driver {
    session: RpcSession,
    lines: lines::Lines,
    oversized_lines: u64,
    routes: Routes,
    commands: mpsc::WeakUnboundedSender<Command>,
    replies: BTreeMap<u64, oneshot::Sender<Result<Json<'static>, AppServerError>>>,
    questions: Arc<Semaphore>,
    handler: Arc<dyn RequestHandler>,
    tool_timeout: Duration,
    stop_patience: Duration,
    closing: watch::Sender<Option<CloseCause>>,
    counting: watch::Sender<ClientCounters>,
    finishing: watch::Sender<bool>,
    epoch: Instant,
}

/// What woke the driver.
enum Event {
    Command(Option<Command>),
    Read(std::io::Result<usize>),
    Exited(CloseCause),
    Wake,
}

impl Driver {
    pub(super) fn new(
        options: &ClientOptions,
        routes: Routes,
        commands: mpsc::WeakUnboundedSender<Command>,
        closing: watch::Sender<Option<CloseCause>>,
        counting: watch::Sender<ClientCounters>,
        finishing: watch::Sender<bool>,
    ) -> Self {
        let wordings = options.profile.wordings.clone();
        Self {
            session: RpcSession::new(RpcLimits { in_flight: options.in_flight, wordings }),
            lines: lines::Lines::new(options.longest_line),
            oversized_lines: 0,
            routes,
            commands,
            replies: BTreeMap::new(),
            questions: Arc::new(Semaphore::new(options.open_questions)),
            handler: Arc::clone(&options.handler),
            tool_timeout: options.profile.tool_timeout,
            stop_patience: options.stop_patience,
            closing,
            counting,
            finishing,
            epoch: Instant::now(),
        }
    }

    pub(super) async fn run(
        mut self,
        transport: Transport,
        mut received: mpsc::UnboundedReceiver<Command>,
    ) {
        let Transport { mut reader, writer, mut child } = transport;
        let (lines, to_write) = mpsc::unbounded_channel();
        let writing = tokio::spawn(write_lines(writer, to_write, self.commands.clone()));
        let mut lines = Some(lines);
        let mut chunk = vec![0; CHUNK];
        let cause = loop {
            // A wake so far away that no clock reaches it is none.
            let wake = self.session.next_wake().and_then(|wake| self.epoch.checked_add(wake));
            let event = tokio::select! {
                command = received.recv() => Event::Command(command),
                read = reader.read(&mut chunk) => Event::Read(read),
                cause = exit_of(child.as_mut()) => Event::Exited(cause),
                () = sleep_until(wake) => Event::Wake,
            };
            let outputs = match event {
                Event::Command(None) => break CloseCause::ByUs,
                Event::Command(Some(Command::Stop)) => break CloseCause::ByUs,
                Event::Command(Some(Command::WriteFailed)) => {
                    self.last_words(&mut reader, &mut chunk).await;
                    // A server that exited breaks the pipe, too: how it exited tells more.
                    break match end_of(child.as_mut()).await {
                        CloseCause::Exited { code: None, signal: None } => CloseCause::BrokenPipe,
                        exited => exited,
                    };
                }
                Event::Command(Some(command)) => self.command(command, lines.as_ref()),
                Event::Read(Ok(count @ 1..)) => self.read(chunk.get(..count).unwrap_or_default()),
                // Its output ended: it is gone or useless, whatever else it does.
                Event::Read(_) => break end_of(child.as_mut()).await,
                Event::Exited(cause) => {
                    self.last_words(&mut reader, &mut chunk).await;
                    break cause;
                }
                Event::Wake => self.session.step(self.epoch.elapsed(), Input::Tick),
            };
            self.perform(outputs, lines.as_ref());
        };
        // Everybody who waits hears of it before anything else is tidied up.
        let outputs = self.session.step(self.epoch.elapsed(), Input::Closed(cause.clone()));
        self.perform(outputs, None);
        self.closing.send_replace(Some(cause.clone()));
        self.routes.lose(&cause);
        received.close();
        while let Ok(command) = received.try_recv() {
            let outputs = self.command(command, None);
            self.perform(outputs, None);
        }
        // Closes the server's input, after what is still to be written.
        drop(lines.take());
        if let Some(mut child) = child {
            if tokio::time::timeout(self.stop_patience, writing).await.is_err() {
                // It does not read any more; stopping it ends the writer, too.
            }
            child.stop(self.stop_patience).await;
        } else {
            writing.abort();
        }
        self.finishing.send_replace(true);
    }

    fn command(&mut self, command: Command, lines: Option<&Lines>) -> Vec<Output> {
        let now = self.epoch.elapsed();
        match command {
            Command::Call { token, method, params, timeout, reply } => {
                self.replies.insert(token, reply);
                let token = CallToken(token);
                self.session.step(now, Input::Call { token, method, params, timeout })
            }
            Command::Cancel { token } => {
                self.replies.remove(&token);
                self.session.step(now, Input::Cancel { token: CallToken(token) })
            }
            Command::Notify(method) => {
                write(lines, notification_line(method));
                Vec::new()
            }
            Command::Answer { id, answer } => self.session.step(now, Input::Answer { id, answer }),
            Command::WriteFailed | Command::Stop => Vec::new(),
        }
    }

    fn read(&mut self, bytes: &[u8]) -> Vec<Output> {
        let now = self.epoch.elapsed();
        let mut outputs = Vec::new();
        let session = &mut self.session;
        let _continue = self.lines.push(bytes, |line| {
            match line {
                Line::Whole(line) | Line::Cut(line) => {
                    let line = line.strip_suffix(b"\r").unwrap_or(line);
                    if !line.trim_ascii().is_empty() {
                        outputs.extend(session.step(now, Input::Line(line)));
                    }
                }
                // A runaway server costs no more than the limit.
                Line::TooLong { .. } => self.oversized_lines += 1,
            }
            ControlFlow::<()>::Continue(())
        });
        self.counting.send_if_modified(|counters| {
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
            self.perform(outputs, None);
        }
    }

    fn perform(&mut self, outputs: Vec<Output>, lines: Option<&Lines>) {
        for output in outputs {
            match output {
                Output::Write(line) => write(lines, line),
                Output::Settle { token, result } => {
                    if let Some(reply) = self.replies.remove(&token.0) {
                        // The caller may have gone in this moment.
                        let _gone = reply.send(result);
                    }
                }
                Output::Notification { method, params } => {
                    if let Some((thread, event)) = read_event(&method, &params) {
                        self.routes.tell(&thread, &event);
                    }
                }
                Output::Request { id, method, params } => {
                    self.question(id, read_request(&method, params), lines);
                }
            }
        }
    }

    /// Answers a question beside the driver, so that a slow host holds nobody else up.
    fn question(&mut self, id: Json<'static>, request: ServerRequest, lines: Option<&Lines>) {
        let listeners = request.thread.as_ref().map(|thread| self.routes.of(thread));
        let Ok(permit) = Arc::clone(&self.questions).try_acquire_owned() else {
            let answer = answer_json(request.kind, None);
            let outputs = self.session.step(self.epoch.elapsed(), Input::Answer { id, answer });
            self.perform(outputs, lines);
            return;
        };
        let (handler, timeout) = (Arc::clone(&self.handler), self.tool_timeout);
        let commands = self.commands.clone();
        // Ends with its answer, or its time.
        drop(tokio::spawn(async move {
            let asking = ask(&request, listeners, handler.as_ref());
            let answer = tokio::time::timeout(timeout, asking).await.ok().flatten();
            let answer = answer_json(request.kind, answer.as_ref());
            if let Some(commands) = commands.upgrade() {
                let _gone = commands.send(Command::Answer { id, answer });
            }
            drop(permit);
        }));
    }
}

/// A question of a thread goes to that thread's listeners and to nobody else.
async fn ask(
    request: &ServerRequest,
    listeners: Option<Vec<Arc<dyn ThreadListener>>>,
    handler: &dyn RequestHandler,
) -> Option<traj_core::port::HostAnswer> {
    let Some(listeners) = listeners else { return handler.answer(request).await };
    for listener in listeners {
        let answer = listener.request(request).await;
        if answer.is_some() {
            return answer;
        }
    }
    None
}

type Lines = mpsc::UnboundedSender<String>;

fn write(lines: Option<&Lines>, line: String) {
    if let Some(lines) = lines {
        // A writer that failed has said so.
        let _gone = lines.send(line);
    }
}

/// Writes beside the driver: a server that does not read must not keep us from reading.
async fn write_lines(
    mut writer: Box<dyn AsyncWrite + Send + Unpin>,
    mut lines: mpsc::UnboundedReceiver<String>,
    commands: mpsc::WeakUnboundedSender<Command>,
) {
    while let Some(line) = lines.recv().await {
        let written = writer.write_all(line.as_bytes()).await;
        let flushed = match written {
            Ok(()) => writer.flush().await,
            Err(error) => Err(error),
        };
        if flushed.is_err() {
            if let Some(commands) = commands.upgrade() {
                let _gone = commands.send(Command::WriteFailed);
            }
            return;
        }
    }
    // The input ends here; a failure means that it has ended already.
    let _ended = writer.shutdown().await;
}

async fn exit_of(child: Option<&mut ChildProcess>) -> CloseCause {
    match child {
        Some(child) => child.wait().await,
        None => std::future::pending().await,
    }
}

async fn end_of(child: Option<&mut ChildProcess>) -> CloseCause {
    let unknown = CloseCause::Exited { code: None, signal: None };
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
