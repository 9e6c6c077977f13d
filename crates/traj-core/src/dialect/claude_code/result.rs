//! The outcome of a tool: the result says whether it failed, and its words say
//! how.

use std::borrow::Cow;

use crate::dialect::{is_set, said, text};
use crate::json::Json;
use crate::run::{Content, Failure, Outcome, ToolResultFact};

/// How the result of a call begins if its output was too long: that of a command,
/// and that of a tool of a server.
const STORED: [&str; 2] = ["<persisted-output>", "Error: result ("];

/// Members of a row's details that state a duration in milliseconds.
const DURATIONS: [&str; 2] = ["durationMs", "totalDurationMs"];

/// The result in a block of a user's row. `details` is what the row states
/// besides the block, if it contains only this result; `stored` is the whole
/// output of results that were too long for the row, by the ids of their calls.
pub(super) fn result_of<'r>(
    block: &'r Json<'r>,
    details: Option<&'r Json<'r>>,
    stored: Option<&'r Json<'r>>,
) -> ToolResultFact<'r> {
    let content = Content::of(block.get("content"));
    let first = content.first_text().unwrap_or_default();
    let id = text(block, "tool_use_id");
    let whole = stored.and_then(|stored| stored.get(id?));
    let duration = details.and_then(|details| {
        DURATIONS.iter().find_map(|name| details.get(name).and_then(Json::as_u64))
    });
    ToolResultFact {
        id,
        name: None,
        outcome: outcome_of(block, first, details),
        content: whole.map_or(content, |whole| Content::of(Some(whole))),
        duration,
        is_truncated: whole.is_none()
            && (first.starts_with(STORED[0]) || stored_in(first).is_some()),
    }
}

/// The name of the file with the whole output of a call, if its result says that
/// the output was too long and was saved.
pub(crate) fn stored_in(first: &str) -> Option<&str> {
    if !STORED.iter().any(|start| first.starts_with(start)) {
        return None;
    }
    let said = first.split_once("saved to")?.1.lines().next()?;
    let path = said.split_once("tool-results")?.1.strip_prefix(['/', '\\'])?;
    let ends = |letter: char| letter.is_whitespace() || letter == '"';
    let name = path.split(ends).next()?.trim_end_matches(['.', ',']);
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let is_name = !name.is_empty() && !name.starts_with('.') && name.bytes().all(is_plain);
    is_name.then_some(name)
}

fn outcome_of<'r>(block: &Json<'_>, first: &'r str, details: Option<&'r Json<'r>>) -> Outcome<'r> {
    let is_stopped = details.is_some_and(|details| is_set(details, "interrupted"));
    if first.starts_with("Command timed out after") {
        return Outcome::TimedOut;
    }
    if !is_set(block, "is_error") {
        return if is_stopped { Outcome::Interrupted } else { reported(details) };
    }
    let summary = details.and_then(Json::as_str).unwrap_or_default();
    if is_refusal(first) || summary == "User rejected tool use" {
        return Outcome::Declined;
    }
    if is_stopped || is_interruption(first) {
        return Outcome::Interrupted;
    }
    let exit_code = exit_code(first).or_else(|| exit_code(summary.strip_prefix("Error: ")?));
    if summary.contains("Command timed out after") || first.contains("\nCommand timed out after") {
        return Outcome::TimedOut;
    }
    let error = first
        .strip_prefix("<tool_use_error>")
        .map(|error| error.strip_suffix("</tool_use_error>").unwrap_or(error));
    let error = error.or_else(|| first.strip_prefix("Error: ")).map(Cow::Borrowed);
    Outcome::Failed(Failure { exit_code, signal: None, error })
}

/// The outcome of a tool that reports on something it started: a sub-agent, a
/// command in the background.
fn reported<'r>(details: Option<&'r Json<'r>>) -> Outcome<'r> {
    let details = details.filter(|details| details.as_object().is_some());
    let code = details.and_then(|details| {
        ["exitCode", "exit_code", "code"].iter().find_map(|name| details.get(name)?.as_i64())
    });
    // The tool that fetches pages reports the code of the server.
    let is_page = details.is_some_and(|details| details.get("codeText").is_some());
    match (code, details.and_then(|details| said(details, "status"))) {
        (Some(code), _) if code != 0 && !is_page => Outcome::Failed(Failure::exit(code)),
        (_, Some("failed" | "error")) => Outcome::Failed(Failure::default()),
        (_, Some("killed" | "aborted" | "cancelled")) => Outcome::Interrupted,
        _ => Outcome::Ok,
    }
}

/// The exit code that the first line of a failed command states.
fn exit_code(text: &str) -> Option<i64> {
    let code = text.strip_prefix("Exit code ")?.lines().next()?;
    code.trim().parse().ok()
}

/// Whether a person or a rule refused the call.
fn is_refusal(text: &str) -> bool {
    [
        "The user doesn't want to proceed with this tool use.",
        "The user doesn't want to take this action right now.",
        "Permission to use ",
        "Permission for this action",
    ]
    .iter()
    .any(|start| text.starts_with(start))
        || (text.starts_with("Claude requested permissions to ")
            && text.contains("haven't granted it yet"))
}

/// Whether a text is the mark of an interruption.
pub(super) fn is_interruption(text: &str) -> bool {
    text.starts_with("[Request interrupted by user") || text == "Interrupted by user"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(block: &str, details: &str) -> Outcome<'static> {
        let (block, details) = (Json::parse(block).unwrap(), Json::parse(details).unwrap());
        result_of(&block, Some(&details), None).outcome.into_owned()
    }

    #[test]
    fn the_words_of_a_result_say_how_a_call_ended() {
        let failed = |text: &str| format!(r#"{{"is_error":true,"content":"{text}"}}"#);
        let exit = Outcome::Failed(Failure::exit(3));
        assert_eq!(outcome(&failed("Exit code 3\\nno such file"), "null"), exit);
        assert_eq!(outcome(&failed("no such file"), r#""Error: Exit code 3\nno""#), exit);
        for (text, details, name) in [
            ("<tool_use_error>String to replace not found</tool_use_error>", "null", "failed"),
            (
                "The user doesn't want to proceed with this tool use. The tool use was rejected.",
                "null",
                "declined",
            ),
            ("rejected", r#""User rejected tool use""#, "declined"),
            ("Permission to use Bash has been denied.", "null", "declined"),
            ("[Request interrupted by user for tool use]", "null", "interrupted"),
            ("Exit code 137\\n", r#"{"interrupted":true}"#, "interrupted"),
            ("Command timed out after 2s", "null", "timedOut"),
            ("Exit code 143\\nCommand timed out after 2m 0s", "null", "timedOut"),
        ] {
            assert_eq!(outcome(&failed(text), details).name(), name, "{text}");
        }
        let Outcome::Failed(failure) =
            outcome(&failed("<tool_use_error>not found</tool_use_error>"), "null")
        else {
            panic!("an error is a failure")
        };
        assert_eq!(failure.error.as_deref(), Some("not found"));
    }

    #[test]
    fn a_result_without_an_error_may_still_report_one() {
        let plain = r#"{"content":"done"}"#;
        for (details, name) in [
            (r#"{"stdout":"","stderr":"a warning","interrupted":false}"#, "ok"),
            (r#"{"interrupted":true}"#, "interrupted"),
            (r#"{"status":"completed","agentId":"a1"}"#, "ok"),
            (r#"{"status":"failed"}"#, "failed"),
            (r#"{"exitCode":2}"#, "failed"),
            (r#"{"code":404,"codeText":"Not Found"}"#, "ok"),
        ] {
            assert_eq!(outcome(plain, details).name(), name, "{details}");
        }
    }

    #[test]
    fn long_output_that_is_kept_elsewhere_is_truncated() {
        let block = Json::parse(r#"{"content":"<persisted-output>\nOutput too large"}"#).unwrap();
        let details = Json::parse(r#"{"durationMs":12}"#).unwrap();
        let result = result_of(&block, Some(&details), None);
        assert!(result.is_truncated);
        assert_eq!(result.duration, Some(12));
        let block = r#"{"tool_use_id":"t1","content":"<persisted-output>\nOutput too large (40KB). Full output saved to: /h/s/tool-results/t1.txt\n\nPreview"}"#;
        let (block, stored) =
            (Json::parse(block).unwrap(), Json::parse(r#"{"t1":"all"}"#).unwrap());
        let result = result_of(&block, None, Some(&stored));
        assert_eq!((result.content.first_text(), result.is_truncated), (Some("all"), false));
        assert!(result_of(&block, None, None).is_truncated);
    }

    #[test]
    fn a_result_names_the_file_with_the_whole_output() {
        let of_command =
            |path: &str| format!("<persisted-output>\nFull output saved to: {path}\n\nPreview");
        let of_server = |path: &str| {
            format!(
                "Error: result (9 characters) exceeds maximum allowed tokens. Output has been saved to {path}.\nFormat: text"
            )
        };
        for said in [of_command, of_server] {
            assert_eq!(stored_in(&said("/h/s/tool-results/a-1_b.txt")), Some("a-1_b.txt"));
            for other in
                ["/h/s/x.txt", "/h/tool-results/../x.txt", "/h/tool-results/.x", "tool-results/"]
            {
                assert_eq!(stored_in(&said(other)), None, "{other}");
            }
        }
        assert_eq!(stored_in("saved to /h/tool-results/a.txt"), None, "it is output itself");
    }
}
