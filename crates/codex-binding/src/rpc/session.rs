//! Matches answers to calls, and ends calls at their timeout.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use traj_core::binding::{OVERLOADED, RefusalKind, RefusalWordings, ServerText};
use traj_core::json::{Json, ParseErrorKind};
use traj_core::port::{AppServerError, CloseCause};

use super::frame::{RpcFrame, answer_line, request_line};
use crate::protocol::expired_login;

/// The delay before the first retry; it doubles each time.
const FIRST_RETRY: Duration = Duration::from_millis(50);
/// How often a call is sent again after the server was too busy.
const RETRIES: u32 = 3;
/// A message broken by raw newlines is joined up to this size.
const LONGEST_BROKEN: usize = 1_000_000;
const MOST_BROKEN_LINES: u32 = 1_000;

/// The caller's identifier of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CallToken(pub(crate) u64);

/// The limits of a session.
#[derive(Clone, Debug)]
pub(crate) struct RpcLimits {
    /// How many calls may be in flight at once; more wait here. A flooded server drops answers.
    pub(crate) in_flight: usize,
    pub(crate) wordings: RefusalWordings,
}

/// An input of the session. Times are measured from any fixed moment.
#[derive(Debug)]
pub(crate) enum RpcInput<'a> {
    Call { token: CallToken, method: &'static str, params: Json<'static>, timeout: Duration },
    Cancel { token: CallToken },
    Line(&'a [u8]),
    Answer { id: Json<'static>, answer: Option<Json<'static>> },
    Tick,
    Closed(CloseCause),
}

/// An action for the caller.
#[derive(Debug)]
pub(crate) enum RpcOutput {
    Write(String),
    Settle { token: CallToken, result: Result<Json<'static>, AppServerError> },
    Notification { method: String, params: Json<'static> },
    Request { id: Json<'static>, method: String, params: Json<'static> },
}

#[derive(Debug)]
struct RpcCall {
    token: CallToken,
    method: &'static str,
    params: Json<'static>,
    deadline: Duration,
    tries: u32,
    not_before: Duration,
}

/// An error response of the server.
struct ServerError {
    code: i64,
    message: String,
    data: Json<'static>,
}

/// The state of one connection.
#[derive(Debug)]
pub(crate) struct RpcSession {
    limits: RpcLimits,
    next_id: u64,
    pending: BTreeMap<u64, RpcCall>,
    waiting: VecDeque<RpcCall>,
    broken: String,
    broken_lines: u32,
    garbage: u64,
    strays: u64,
    is_writable: bool,
    closed: Option<CloseCause>,
}

impl RpcSession {
    pub(crate) const fn new(limits: RpcLimits) -> Self {
        Self {
            limits,
            next_id: 1,
            pending: BTreeMap::new(),
            waiting: VecDeque::new(),
            broken: String::new(),
            broken_lines: 0,
            garbage: 0,
            strays: 0,
            is_writable: true,
            closed: None,
        }
    }

    /// Lines that were not valid messages.
    pub(crate) const fn garbage(&self) -> u64 {
        self.garbage
    }

    /// Answers that nobody waited for: late, repeated or invented.
    pub(crate) const fn strays(&self) -> u64 {
        self.strays
    }

    /// Sets whether calls may be written now. Until then, calls wait, and can time out.
    pub(crate) const fn set_writable(&mut self, is_writable: bool) {
        self.is_writable = is_writable;
    }

    fn has_room(&self) -> bool {
        self.is_writable && self.pending.len() < self.limits.in_flight
    }

    /// When to call `step` with [`RpcInput::Tick`], unless another input comes first.
    pub(crate) fn next_wake(&self) -> Option<Duration> {
        let pending = self.pending.values().map(|call| call.deadline);
        let has_room = self.has_room();
        let waiting = self
            .waiting
            .iter()
            .map(|call| if has_room { call.deadline.min(call.not_before) } else { call.deadline });
        pending.chain(waiting).min()
    }

    pub(crate) fn step(&mut self, now: Duration, input: RpcInput<'_>) -> Vec<RpcOutput> {
        let mut out = Vec::new();
        match input {
            RpcInput::Call { token, method, params, timeout } => {
                if let Some(cause) = &self.closed {
                    let error = AppServerError::Closed { cause: cause.clone() };
                    return vec![RpcOutput::Settle { token, result: Err(error) }];
                }
                let deadline = now.saturating_add(timeout);
                let call = RpcCall { token, method, params, deadline, tries: 0, not_before: now };
                self.waiting.push_back(call);
            }
            RpcInput::Cancel { token } => {
                self.pending.retain(|_, call| call.token != token);
                self.waiting.retain(|call| call.token != token);
            }
            RpcInput::Line(line) => self.line(now, line, &mut out),
            RpcInput::Answer { id, answer } => {
                if self.closed.is_none() {
                    out.push(RpcOutput::Write(answer_line(&id, answer)));
                }
            }
            RpcInput::Tick => {}
            RpcInput::Closed(cause) => self.close(&cause, &mut out),
        }
        self.expire(now, &mut out);
        self.send_waiting(now, &mut out);
        out
    }

    fn line(&mut self, now: Duration, line: &[u8], out: &mut Vec<RpcOutput>) {
        match Json::parse_lossy(line) {
            Ok(value) => {
                if !self.broken.is_empty() {
                    // This line is complete, so the lines before it were never finished.
                    self.drop_broken();
                }
                match RpcFrame::read(value) {
                    Some(frame) => self.frame(now, frame, out),
                    None => self.garbage += 1,
                }
            }
            Err(error) => {
                let text = String::from_utf8_lossy(line);
                self.broken_line(now, &text, error.kind == ParseErrorKind::UnexpectedEnd, out);
            }
        }
    }

    /// Joins a message that was written with raw newlines inside a string.
    fn broken_line(&mut self, now: Duration, line: &str, is_cut: bool, out: &mut Vec<RpcOutput>) {
        let begins = is_cut && line.trim_start().starts_with('{');
        if self.broken.is_empty() {
            if begins {
                self.broken.push_str(line);
                self.broken_lines = 1;
            } else {
                self.garbage += 1;
            }
            return;
        }
        self.broken.push_str("\\n");
        self.broken.push_str(line);
        self.broken_lines += 1;
        if self.broken.len() > LONGEST_BROKEN || self.broken_lines > MOST_BROKEN_LINES {
            self.drop_broken();
            return;
        }
        let joined = std::mem::take(&mut self.broken);
        match Json::parse(&joined) {
            Ok(value) => match RpcFrame::read(value) {
                Some(frame) => self.frame(now, frame, out),
                None => self.garbage += 1,
            },
            Err(error) if error.kind == ParseErrorKind::UnexpectedEnd => self.broken = joined,
            Err(_) => self.garbage += u64::from(self.broken_lines),
        }
    }

    fn drop_broken(&mut self) {
        self.garbage += u64::from(self.broken_lines);
        self.broken_lines = 0;
        self.broken = String::new();
    }

    fn frame(&mut self, now: Duration, frame: RpcFrame, out: &mut Vec<RpcOutput>) {
        match frame {
            RpcFrame::Notification { method, params } => {
                out.push(RpcOutput::Notification { method, params });
            }
            RpcFrame::Request { id, method, params } => {
                out.push(RpcOutput::Request { id, method, params });
            }
            RpcFrame::Answer { id, result } => match self.pending.remove(&id) {
                Some(call) => out.push(RpcOutput::Settle { token: call.token, result: Ok(result) }),
                None => self.strays += 1,
            },
            RpcFrame::Refusal { id, code, message, data } => match self.pending.remove(&id) {
                Some(call) => self.refused(now, call, ServerError { code, message, data }, out),
                None => self.strays += 1,
            },
        }
    }

    fn refused(
        &mut self,
        now: Duration,
        mut call: RpcCall,
        error: ServerError,
        out: &mut Vec<RpcOutput>,
    ) {
        let ServerError { code, mut message, data } = error;
        let again = now.saturating_add(retry_delay(call.tries, self.next_id));
        // The server rejects the call before it processes it, so sending it again is safe.
        if code == OVERLOADED && call.tries < RETRIES && again < call.deadline {
            call.tries += 1;
            call.not_before = again;
            self.waiting.push_back(call);
            return;
        }
        let mut kind = RefusalKind::classify(code, &message, &self.limits.wordings);
        if let Some(login) = expired_login(&data) {
            kind = RefusalKind::LoginExpired;
            add_detail(&mut message, login.detail);
        }
        let text = ServerText::new(message);
        let error = AppServerError::Refused { method: call.method, code, kind, text };
        out.push(RpcOutput::Settle { token: call.token, result: Err(error) });
    }

    fn expire(&mut self, now: Duration, out: &mut Vec<RpcOutput>) {
        let late: Vec<u64> = self
            .pending
            .iter()
            .filter_map(|(id, call)| (call.deadline <= now).then_some(*id))
            .collect();
        let mut late: Vec<RpcCall> = late.iter().filter_map(|id| self.pending.remove(id)).collect();
        if self.waiting.iter().any(|call| call.deadline <= now) {
            let (gone, kept) = self.waiting.drain(..).partition(|call| call.deadline <= now);
            self.waiting = kept;
            late.extend::<VecDeque<RpcCall>>(gone);
        }
        for call in late {
            let error = AppServerError::TimedOut { method: call.method };
            out.push(RpcOutput::Settle { token: call.token, result: Err(error) });
        }
    }

    fn send_waiting(&mut self, now: Duration, out: &mut Vec<RpcOutput>) {
        let mut position = 0;
        while self.has_room() && position < self.waiting.len() {
            let is_due = self.waiting.get(position).is_some_and(|call| call.not_before <= now);
            if !is_due {
                position += 1;
                continue;
            }
            if let Some(call) = self.waiting.remove(position) {
                let id = self.next_id;
                self.next_id += 1;
                out.push(RpcOutput::Write(request_line(id, call.method, &call.params)));
                self.pending.insert(id, call);
            }
        }
    }

    fn close(&mut self, cause: &CloseCause, out: &mut Vec<RpcOutput>) {
        if self.closed.is_some() {
            return;
        }
        self.closed = Some(cause.clone());
        let pending = std::mem::take(&mut self.pending).into_values();
        for call in pending.chain(std::mem::take(&mut self.waiting)) {
            let error = AppServerError::Closed { cause: cause.clone() };
            out.push(RpcOutput::Settle { token: call.token, result: Err(error) });
        }
    }
}

/// Adds the detail to a message, unless the message already contains it.
fn add_detail(message: &mut String, detail: Option<&str>) {
    let Some(detail) = detail.filter(|detail| !message.contains(detail)) else { return };
    if !message.is_empty() {
        message.push_str(": ");
    }
    message.push_str(detail);
}

/// Doubles with each try, with a jitter of a quarter either way, so that retries are spread out.
fn retry_delay(tries: u32, salt: u64) -> Duration {
    let spread = 75 + u32::try_from(salt.wrapping_mul(37) % 51).unwrap_or(0);
    FIRST_RETRY.saturating_mul(1 << tries.min(8)).saturating_mul(spread) / 100
}

#[cfg(test)]
mod tests;
