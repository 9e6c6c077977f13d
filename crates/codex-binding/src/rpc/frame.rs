//! One message: JSON-RPC without its version member.

use traj_core::json::{Json, Object};

/// A message from the server.
#[derive(Debug, PartialEq)]
pub(crate) enum RpcFrame {
    /// A request from the server. Its id is sent back unchanged.
    Request { id: Json<'static>, method: String, params: Json<'static> },
    /// A notification from the server.
    Notification { method: String, params: Json<'static> },
    /// The answer to a call of this client.
    Answer { id: u64, result: Json<'static> },
    /// An error response to a call of this client.
    Refusal { id: u64, code: i64, message: String, data: Json<'static> },
}

impl RpcFrame {
    /// Reads a parsed line. `None` if it is not a message, or its id cannot be one of this client.
    pub(crate) fn read(value: Json<'_>) -> Option<Self> {
        let Json::Object(mut object) = value else { return None };
        let id = object.remove("id");
        let method = object.remove("method");
        let params =
            |object: &mut Object<'_>| object.remove("params").map_or(Json::Null, Json::into_owned);
        match (method, id) {
            (Some(Json::String(method)), Some(id)) => Some(Self::Request {
                id: id.into_owned(),
                method: method.into_owned(),
                params: params(&mut object),
            }),
            (Some(Json::String(method)), None) => Some(Self::Notification {
                method: method.into_owned(),
                params: params(&mut object),
            }),
            (None, Some(id)) => {
                let id = id.as_u64()?;
                if let Some(error) = object.remove("error") {
                    let code = error.get("code").and_then(Json::as_i64).unwrap_or(0);
                    let message = error.get("message").and_then(Json::as_str).unwrap_or_default();
                    let message = message.to_owned();
                    let data = error.get("data").cloned().map_or(Json::Null, Json::into_owned);
                    return Some(Self::Refusal { id, code, message, data });
                }
                let result = object.remove("result")?;
                Some(Self::Answer { id, result: result.into_owned() })
            }
            _ => None,
        }
    }
}

fn line(object: Object<'_>) -> String {
    let mut text = Json::Object(object).to_line();
    text.push('\n');
    text
}

/// The line of a call.
pub(super) fn request_line(id: u64, method: &str, params: &Json<'_>) -> String {
    let mut object = Object::with_capacity(3);
    object.push("id", id);
    object.push("method", method);
    object.push("params", params.clone());
    line(object)
}

/// The line of a notification.
pub(crate) fn notification_line(method: &str) -> String {
    line(std::iter::once(("method", method)).collect())
}

/// The line of an answer to the server; an error response if there is no answer.
pub(super) fn answer_line(id: &Json<'_>, answer: Option<Json<'_>>) -> String {
    let mut object = Object::with_capacity(2);
    object.push("id", id.clone());
    if let Some(answer) = answer {
        object.push("result", answer);
    } else {
        let mut error = Object::with_capacity(2);
        error.push("code", -32601_i64);
        error.push("message", "this client does not answer this request");
        object.push("error", error);
    }
    line(object)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<RpcFrame> {
        RpcFrame::read(Json::parse(text).unwrap())
    }

    #[test]
    fn messages_are_distinguished() {
        assert!(matches!(read(r#"{"id":1,"result":{}}"#), Some(RpcFrame::Answer { id: 1, .. })));
        let refusal = read(r#"{"error":{"code":-32600,"message":"no"},"id":2}"#);
        assert!(matches!(refusal, Some(RpcFrame::Refusal { id: 2, code: -32600, .. })));
        assert!(matches!(read(r#"{"method":"m","id":0}"#), Some(RpcFrame::Request { .. })));
        assert!(matches!(read(r#"{"method":"m","id":null}"#), Some(RpcFrame::Request { .. })));
        let told = read(r#"{"method":"m","emittedAtMs":1,"params":{}}"#);
        assert!(matches!(told, Some(RpcFrame::Notification { .. })));
    }

    #[test]
    fn a_line_that_is_not_a_message_is_none() {
        for text in ["[]", "1", "{}", r#"{"id":1}"#, r#"{"id":"x","result":1}"#, r#"{"method":3}"#]
        {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn no_version_member_is_written() {
        let text = request_line(7, "initialize", &Json::Null);
        assert_eq!(text, "{\"id\":7,\"method\":\"initialize\",\"params\":null}\n");
        assert_eq!(notification_line("initialized"), "{\"method\":\"initialized\"}\n");
        assert_eq!(
            answer_line(&Json::from("x"), Some(Json::Null)),
            "{\"id\":\"x\",\"result\":null}\n"
        );
    }
}
