//! The outcome of a call, from whatever its result states.

use std::borrow::Cow;

use super::{is_set, said, text};
use crate::json::Json;
use crate::run::{Failure, Outcome};

/// Members that hold an exit code, in a result or in one of [`HOLDERS`].
const EXIT_CODES: [&str; 4] = ["exitCode", "exit_code", "exitStatus", "returncode"];

/// Members of a result that may hold its exit code and status.
const HOLDERS: [&str; 5] = ["details", "result", "output", "metadata", "structuredContent"];

/// The outcome of a result. A timeout wins, then a declined or interrupted
/// status. A non-zero exit code, a signal, an error flag or a failed status is a
/// failure; so is an error text without an exit code.
pub(super) fn outcome_of<'r>(result: &'r Json<'r>) -> Outcome<'r> {
    let holders = HOLDERS.iter().filter_map(|name| result.get(name));
    let holders: Vec<&Json<'_>> = std::iter::once(result)
        .chain(holders.filter(|holder| holder.as_object().is_some()))
        .collect();
    let find = |names: &[&str]| {
        holders.iter().find_map(|holder| names.iter().find_map(|name| holder.get(name)?.as_i64()))
    };
    let any = |name: &str| holders.iter().any(|holder| is_set(holder, name));
    let exit_code = find(&EXIT_CODES);
    let signal = holders.iter().find_map(|holder| said(holder, "signal"));
    let status = holders.iter().find_map(|holder| text(holder, "status")).map(outcome_of_status);
    if any("timedOut") || any("timed_out") || matches!(status, Some(Some(Outcome::TimedOut))) {
        return Outcome::TimedOut;
    }
    if let Some(Some(outcome @ (Outcome::Declined | Outcome::Interrupted))) = status {
        return outcome;
    }
    let is_flagged = is_set(result, "isError")
        || is_set(result, "is_error")
        || result.get("success").and_then(Json::as_bool) == Some(false)
        || matches!(status, Some(Some(Outcome::Failed(_))));
    let error = holders.iter().find_map(|holder| error_text(holder));
    let failed_code = exit_code.filter(|code| *code != 0);
    if failed_code.is_some()
        || signal.is_some()
        || is_flagged
        || (exit_code.is_none() && error.is_some())
    {
        let signal = signal.map(Cow::Borrowed);
        return Outcome::Failed(Failure { exit_code: failed_code, signal, error });
    }
    Outcome::Ok
}

/// The outcome that a status states, if any.
pub(super) fn outcome_of_status<'r>(status: &str) -> Option<Outcome<'r>> {
    Some(match status {
        "ok" | "success" | "succeeded" | "completed" | "done" => Outcome::Ok,
        "failed" | "error" | "failure" => Outcome::Failed(Failure::default()),
        "timeout" | "timedOut" | "timed_out" => Outcome::TimedOut,
        "declined" | "denied" | "rejected" => Outcome::Declined,
        "interrupted" | "aborted" | "cancelled" | "canceled" => Outcome::Interrupted,
        _ => return None,
    })
}

/// The error that a value states, as a string or as an object with a message.
pub(super) fn error_text<'r>(value: &'r Json<'r>) -> Option<Cow<'r, str>> {
    ["promptError", "terminalError", "errorMessage", "error"]
        .into_iter()
        .find_map(|name| error_in(value.get(name)?))
}

/// The text of an error: a string, or the message of an object.
pub(super) fn error_in<'r>(error: &'r Json<'r>) -> Option<Cow<'r, str>> {
    let text =
        error.as_str().or_else(|| text(error, "message")).or_else(|| text(error, "error"))?;
    (!text.trim().is_empty()).then_some(Cow::Borrowed(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(result: &str) -> Outcome<'static> {
        outcome_of(&Json::parse(result).unwrap()).into_owned()
    }

    #[test]
    fn a_non_zero_exit_code_is_a_failure_whatever_the_flag_says() {
        let exit = Outcome::Failed(Failure::exit(3));
        assert_eq!(outcome(r#"{"isError":false,"details":{"exitCode":3}}"#), exit);
        assert_eq!(outcome(r#"{"success":true,"result":{"exit_code":3}}"#), exit);
        assert_eq!(outcome(r#"{"isError":false,"details":{"exitCode":0}}"#), Outcome::Ok);
    }

    #[test]
    fn signals_flags_statuses_and_error_texts_are_failures() {
        for (result, name) in [
            (r#"{"details":{"signal":"SIGKILL"}}"#, "failed"),
            (r#"{"isError":true}"#, "failed"),
            (r#"{"success":false}"#, "failed"),
            (r#"{"status":"failed"}"#, "failed"),
            (r#"{"error":{"message":"no"}}"#, "failed"),
            (r#"{"details":{"timedOut":true}}"#, "timedOut"),
            (r#"{"status":"declined","isError":true}"#, "declined"),
            (r#"{"status":"aborted"}"#, "interrupted"),
            (r#"{"status":"completed","error":null}"#, "ok"),
            (r#"{}"#, "ok"),
            (r#"{"exitCode":0,"error":"a warning on the way"}"#, "ok"),
        ] {
            assert_eq!(outcome(result).name(), name, "{result}");
        }
    }
}
