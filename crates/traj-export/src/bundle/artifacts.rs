//! `artifacts.json`: how the latest run ended.

use traj_core::json::Json;

use super::Common;

/// Where the value of a member is looked for, in order.
#[derive(Clone, Copy)]
enum From {
    Artifacts,
    ArtifactsThenEnd,
    ArtifactsThenEndThenCompletion,
    ArtifactsThenCompletion,
}

const MEMBERS: [(&str, From); 22] = [
    ("aborted", From::ArtifactsThenEnd),
    ("externalAbort", From::ArtifactsThenEnd),
    ("timedOut", From::ArtifactsThenEnd),
    ("idleTimedOut", From::ArtifactsThenEnd),
    ("timedOutDuringCompaction", From::ArtifactsThenEnd),
    ("timedOutDuringToolExecution", From::ArtifactsThenEnd),
    ("promptError", From::ArtifactsThenEndThenCompletion),
    ("promptErrorSource", From::ArtifactsThenCompletion),
    ("terminalError", From::ArtifactsThenEndThenCompletion),
    ("usage", From::ArtifactsThenCompletion),
    ("promptCache", From::ArtifactsThenCompletion),
    ("compactionCount", From::ArtifactsThenCompletion),
    ("assistantTexts", From::ArtifactsThenCompletion),
    ("finalPromptText", From::ArtifactsThenCompletion),
    ("itemLifecycle", From::Artifacts),
    ("toolMetas", From::Artifacts),
    ("didSendViaMessagingTool", From::Artifacts),
    ("successfulCronAdds", From::Artifacts),
    ("messagingToolSentTexts", From::Artifacts),
    ("messagingToolSentMediaUrls", From::Artifacts),
    ("messagingToolSentTargets", From::Artifacts),
    ("lastToolError", From::Artifacts),
];

/// Whether the file tells this member of an event's data.
pub(crate) fn is_result_member(name: &str) -> bool {
    matches!(name, "finalStatus" | "status") || MEMBERS.iter().any(|(member, _)| *member == name)
}

/// The file's content from the data of the run's last events; `None` when
/// none of them has any.
pub(crate) fn artifacts<'a>(
    common: &'a Common,
    artifacts: Option<&Json<'a>>,
    completed: Option<&Json<'a>>,
    ended: Option<&Json<'a>>,
) -> Option<Json<'a>> {
    if artifacts.is_none() && completed.is_none() && ended.is_none() {
        return None;
    }
    let mut object = common.members();
    let status = first_given([
        artifacts.and_then(|data| data.get("finalStatus")),
        ended.and_then(|data| data.get("status")),
    ]);
    object.push_some("finalStatus", status);
    for (name, from) in MEMBERS {
        let sources: &[Option<&Json<'a>>] = match from {
            From::Artifacts => &[artifacts],
            From::ArtifactsThenEnd => &[artifacts, ended],
            From::ArtifactsThenEndThenCompletion => &[artifacts, ended, completed],
            From::ArtifactsThenCompletion => &[artifacts, completed],
        };
        let values = sources.iter().map(|data| data.and_then(|data| data.get(name)));
        object.push_some(name, first_given(values));
    }
    Some(Json::Object(object))
}

/// The first value that is there and not null; else the last one, if it is
/// there at all.
fn first_given<'e, 'a: 'e>(
    values: impl IntoIterator<Item = Option<&'e Json<'a>>>,
) -> Option<Json<'a>> {
    let mut last = None;
    for value in values {
        last = value;
        if value.is_some_and(|value| !value.is_null()) {
            break;
        }
    }
    last.cloned()
}

#[cfg(test)]
mod tests {
    use traj_core::timestamp::UnixMillis;

    use super::*;

    #[test]
    fn nulls_fall_through_and_other_values_do_not() {
        let parse = |text| Json::parse(text).unwrap();
        let common = Common {
            session_id: "s".to_owned(),
            session_key: None,
            workspace_dir: "/w".to_owned(),
            now: UnixMillis::EPOCH,
        };
        let art = parse(
            r#"{"aborted":null,"timedOut":false,"promptCache":null,"compactionCount":0,"toolMetas":null,"extra":1}"#,
        );
        let completed = parse(r#"{"promptCache":{"c":1},"compactionCount":4,"terminalError":"c"}"#);
        let ended = parse(r#"{"status":"ended","aborted":true,"terminalError":null}"#);
        let file = artifacts(&common, Some(&art), Some(&completed), Some(&ended)).unwrap();
        insta::assert_snapshot!(file.to_line(), @r#"{"traceSchema":"openclaw-trajectory","schemaVersion":1,"generatedAt":"1970-01-01T00:00:00.000Z","traceId":"s","sessionId":"s","finalStatus":"ended","aborted":true,"timedOut":false,"terminalError":"c","promptCache":{"c":1},"compactionCount":0,"toolMetas":null}"#);
        assert_eq!(artifacts(&common, None, None, None), None);
    }
}
