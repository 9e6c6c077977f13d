//! `artifacts.json`: how the latest run ended.

use traj_core::dialect::Endings;
use traj_core::json::Json;

use super::CommonMembers;

/// The file's content; `None` if no event states how the run ended.
pub(crate) fn artifacts<'a>(
    common: &'a CommonMembers,
    endings: Endings<'_, 'a>,
) -> Option<Json<'a>> {
    if endings.is_empty() {
        return None;
    }
    let mut object = common.members();
    endings.push_members(&mut object);
    Some(Json::Object(object))
}

#[cfg(test)]
mod tests {
    use traj_core::timestamp::UnixMillis;

    use super::*;

    #[test]
    fn nulls_fall_through_and_other_values_do_not() {
        let parse = |text| Json::parse(text).unwrap();
        let common = CommonMembers {
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
        let file = artifacts(
            &common,
            Endings { artifacts: Some(&art), completed: Some(&completed), ended: Some(&ended) },
        )
        .unwrap();
        insta::assert_snapshot!(file.to_line(), @r#"{"traceSchema":"openclaw-trajectory","schemaVersion":1,"generatedAt":"1970-01-01T00:00:00.000Z","traceId":"s","sessionId":"s","finalStatus":"ended","aborted":true,"timedOut":false,"terminalError":"c","promptCache":{"c":1},"compactionCount":0,"toolMetas":null}"#);
        assert_eq!(artifacts(&common, Endings::default()), None);
    }
}
