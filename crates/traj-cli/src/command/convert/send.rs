//! `traj convert --to otlp --send`: posts traces to a receiver.
//!
//! Everything is converted, redacted and checked before the first request is sent.

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use serde::Serialize;
use traj_core::port::{Scratch, TraceReceiver as _, TraceReceiverError};
use traj_export::{
    Conversion, ConvertError, ConvertReport, SendError, SendReport, TraceRequests, WaitingRequests,
    counted, send_traces,
};
use traj_send::{Endpoint, EndpointError, HttpTraceReceiver, TraceHeaders};

use super::{Converted, Job};
use crate::command::Outcome;
use crate::command_error::{CommandError, ErrorKind};
use crate::compose::Host;
use crate::interruption::{GLANCE, Interruption, Waits};
use crate::output::OutputFailure;
use crate::progress::WatchedBundle;
use crate::quantity::shown_size;
use crate::resolve::OpenedBundle;

/// The address of all signals, and that of traces.
const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const TRACES_ENDPOINT: &str = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";

/// Settings of which the one for traces wins.
const HEADERS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"];
const TIMEOUTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT"];
const CERTIFICATES: [&str; 2] =
    ["OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE", "OTEL_EXPORTER_OTLP_CERTIFICATE"];

/// What was sent, or would be.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Sent {
    /// The host that it was sent to.
    host: String,
    /// Whether nothing was sent because of `--dry-run`.
    dry_run: bool,
    /// How many requests the receiver took, or would be sent.
    requests: u64,
    /// How many spans they have.
    spans: u64,
    /// How many spans the receiver rejected.
    rejected: u64,
    /// How often a request was sent again.
    repeated: u64,
    /// How many bytes were sent, compressed; for `--dry-run`, before compression.
    bytes: u64,
}

/// What is configured for sending, without any values.
pub(crate) fn configured_receiver(host: &Host) -> (Option<&'static str>, bool) {
    let is_set = |name: &str| host.facts.variables.get(name).is_some();
    let endpoint = [TRACES_ENDPOINT, ENDPOINT].into_iter().find(|name| is_set(name));
    (endpoint, HEADERS.iter().any(|name| is_set(name)))
}

/// The receiver that the command line or the variables name.
fn receiver(address: &str, host: &Host) -> Result<HttpTraceReceiver, CommandError> {
    let variable = |name: &str| host.facts.variables.get(name);
    let either = |names: [&'static str; 2]| {
        names.into_iter().find_map(|name| variable(name).map(|value| (name, value)))
    };
    let (origin, endpoint) = if !address.is_empty() {
        ("--send", Endpoint::parse(address))
    } else if let Some(address) = variable(TRACES_ENDPOINT) {
        (TRACES_ENDPOINT, Endpoint::parse(address))
    } else if let Some(address) = variable(ENDPOINT) {
        (ENDPOINT, Endpoint::below(address))
    } else {
        return Err(CommandError::usage("there is no receiver to send to")
            .hint(format!("name it, as in --send https://HOST:4318, or set {ENDPOINT}")));
    };
    let endpoint = endpoint.map_err(|error| unusable(origin, &error))?;
    let headers = match either(HEADERS) {
        Some((name, list)) => TraceHeaders::parse(list).map_err(|error| unusable(name, &error))?,
        None => TraceHeaders::default(),
    };
    let mut receiver = HttpTraceReceiver::new(endpoint, headers);
    if let Some((name, millis)) = either(TIMEOUTS) {
        let millis = millis.parse().ok().filter(|millis| *millis > 0).ok_or_else(|| {
            CommandError::usage(format!("{name} is not a number of milliseconds"))
        })?;
        receiver = receiver.with_timeout(Duration::from_millis(millis));
    }
    if let Some((name, file)) = either(CERTIFICATES) {
        let path = host.absolute(Path::new(file));
        let pem = host.small_text_if_any(&path)?.ok_or_else(|| {
            CommandError::usage(format!("{name} names no file")).hint("it takes a PEM file")
        })?;
        receiver =
            receiver.with_certificates(pem.as_bytes()).map_err(|error| unusable(name, &error))?;
    }
    Ok(receiver)
}

/// The error for an address, headers or certificates. It does not repeat them.
fn unusable(origin: &str, error: &EndpointError) -> CommandError {
    let refused = CommandError::usage(format!("{origin}: {error}"));
    match error {
        EndpointError::Credentials | EndpointError::Query => {
            refused.hint(format!("pass credentials in {}, as NAME=VALUE", HEADERS[1]))
        }
        EndpointError::NotEncrypted => {
            refused.hint("use https, or a collector on this machine that forwards")
        }
        _ => refused,
    }
}

impl Job<'_> {
    /// Converts everything, asks, and sends.
    pub(super) fn send(&self, address: &str) -> Outcome {
        let receiver = receiver(address, self.host)?;
        let interruption = Interruption::watch(self.host)?;
        let stop = interruption.stop_flag();
        let mut scratch = self.scratch();
        let mut waiting = WaitingRequests::default();
        let (report, is_damaged) = self
            .prepare(&mut *scratch, &mut waiting, &stop)
            .map_err(|error| interruption.explain(error))?;
        let mut sent = Sent {
            host: receiver.host().to_owned(),
            dry_run: self.arguments.dry_run,
            requests: waiting.count(),
            spans: waiting.spans(),
            rejected: 0,
            repeated: 0,
            bytes: waiting.bytes(),
        };
        let mut fault = super::fault_of(&report, is_damaged);
        if !self.arguments.dry_run {
            self.ask(&sent, &stop).map_err(|error| interruption.explain(error))?;
            let mut pace = Waits::until(stop);
            let mut done = SendReport::default();
            let outcome = send_traces(&waiting, &*scratch, &receiver, &mut pace, &mut done);
            outcome.map_err(|error| {
                let arrived = arrived(&done, &sent);
                interruption.explain_partial(explain(error, &arrived, &sent), &arrived)
            })?;
            (sent.requests, sent.spans) = (done.requests, done.spans);
            (sent.rejected, sent.repeated, sent.bytes) = (done.rejected, done.repeated, done.bytes);
            if sent.rejected > 0 {
                fault = Some(ErrorKind::Findings);
            }
        }
        let mut converted = self.converted(report, None);
        converted.sent = Some(sent);
        self.output.verdict(&converted, fault, describe)
    }

    /// Converts everything to requests. Returns what was converted, and whether a
    /// bundle is damaged.
    fn prepare(
        &self,
        scratch: &mut dyn Scratch,
        waiting: &mut WaitingRequests,
        stop: &Arc<AtomicBool>,
    ) -> Result<(ConvertReport, bool), CommandError> {
        let explain = |error: ConvertError| match OutputFailure::from(error) {
            OutputFailure::Content(error) => error,
            OutputFailure::Write(error) => {
                CommandError::failure("cannot keep the requests").because(error)
            }
        };
        // Not buffered: each write is one request.
        let out = TraceRequests::new(scratch, waiting);
        let mut conversion =
            Conversion::new(self.options.clone(), self.scratch(), self.scratch(), out)
                .map_err(explain)?;
        let mut is_damaged = false;
        for subject in self.arguments.each_subject() {
            if stop.load(Ordering::Relaxed) {
                return Err(CommandError::failure("asked to stop"));
            }
            let workspace = &self.arguments.workspace;
            let opened = OpenedBundle::open(&subject, workspace, self.now, self.host, self.output)?;
            is_damaged |= opened.is_damaged();
            let bundle = WatchedBundle::new(opened.bundle(), "converting", self.output);
            conversion.add(&bundle).map_err(explain)?;
        }
        Ok((conversion.finish().map_err(explain)?, is_damaged))
    }

    /// Asks before anything is sent, unless `--yes` was given.
    fn ask(&self, sent: &Sent, stop: &AtomicBool) -> Result<(), CommandError> {
        if self.arguments.yes {
            return Ok(());
        }
        let refused = |why: &str| {
            CommandError::usage(format!("nothing was sent: {why}"))
                .hint("`--dry-run` shows what would be sent, `--yes` sends it without asking")
        };
        let has_terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        if !has_terminal || self.output.is_quiet() {
            return Err(refused("nobody could be asked"));
        }
        let mut screen = std::io::stderr().lock();
        let question = format!("send {} to {}? [y/N] ", amount(sent), sent.host);
        screen.write_all(question.as_bytes()).and_then(|()| screen.flush()).ok();
        wait_for_line(stop)?;
        let mut answer = String::new();
        let read = std::io::stdin().lock().read_line(&mut answer);
        match (read, answer.trim()) {
            (Ok(_), "y" | "Y" | "yes") => Ok(()),
            _ => Err(refused("you did not agree")),
        }
    }
}

/// Waits until a line was typed on the terminal, or a signal asked to stop.
fn wait_for_line(stop: &AtomicBool) -> Result<(), CommandError> {
    let stdin = std::io::stdin();
    let glance = Timespec::try_from(GLANCE).ok();
    loop {
        if stop.load(Ordering::Relaxed) {
            return Err(CommandError::failure("asked to stop"));
        }
        match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], glance.as_ref()) {
            Ok(0) | Err(Errno::INTR) => {}
            // If waiting fails, reading says why.
            Ok(_) | Err(_) => return Ok(()),
        }
    }
}

/// What arrived before sending stopped.
fn arrived(done: &SendReport, wanted: &Sent) -> String {
    format!("the receiver took {} of {}", done.requests, counted(wanted.requests, "request"))
}

/// Why sending stopped, and what arrived before.
fn explain(error: SendError, arrived: &str, wanted: &Sent) -> CommandError {
    let hint = match &error {
        SendError::Refused { code: 401 | 403 } => {
            Some(format!("set the credentials in {}", HEADERS[1]))
        }
        SendError::Refused { code: 404 | 405 | 415 } => {
            Some("name the whole address, as in --send https://HOST/PATH/v1/traces".to_owned())
        }
        SendError::Elsewhere { .. } => Some("name the address that it points to".to_owned()),
        SendError::Receiver(TraceReceiverError::Untrusted { .. }) => {
            Some(format!("name the certificates to trust in {}", CERTIFICATES[1]))
        }
        _ => None,
    };
    let failed = CommandError::failure(format!("sending to {} failed", wanted.host));
    let failed = failed.because(error).hint(arrived);
    match hint {
        Some(hint) => failed.hint(hint),
        None => failed,
    }
}

fn amount(sent: &Sent) -> String {
    let size = shown_size(sent.bytes);
    format!("{} in {}, {size}", counted(sent.spans, "span"), counted(sent.requests, "request"))
}

fn describe(converted: &Converted) -> String {
    let Some(sent) = &converted.sent else { return String::new() };
    let verb = if sent.dry_run { "would send" } else { "sent" };
    let mut text = format!("{verb} {} to {}\n", amount(sent), sent.host);
    let figures = [counted(converted.runs, "run"), counted(converted.calls, "call")].join(", ");
    text.push_str(&figures);
    text.push('\n');
    if sent.repeated > 0 {
        let times = counted(sent.repeated, "request");
        text.push_str(&[times.as_str(), " had to be repeated\n"].concat());
    }
    if sent.rejected > 0 {
        let spans = counted(sent.rejected, "span");
        text.push_str(&["the receiver rejected ", spans.as_str(), "\n"].concat());
    }
    text.push_str(&super::notices(converted));
    text
}
