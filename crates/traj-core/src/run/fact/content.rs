//! The content of a row: a string, blocks, or a value of any shape.

use crate::json::{Json, Object};

/// The content of a prompt, a message or a tool result, as stated in its row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Content<'r> {
    /// No content.
    #[default]
    None,
    /// A string.
    Text(&'r str),
    /// A value: a list of blocks, or any other value that the tool returned.
    Value(&'r Json<'r>),
}

/// Members that hold the text of a block, best first.
const TEXT_MEMBERS: [&str; 6] = ["text", "output", "content", "result", "preview", "message"];

impl<'r> Content<'r> {
    /// The content in a value; [`Self::None`] for null.
    #[must_use]
    pub fn of(value: Option<&'r Json<'r>>) -> Self {
        match value {
            None | Some(Json::Null) => Self::None,
            Some(Json::String(text)) => Self::Text(text),
            Some(value) => Self::Value(value),
        }
    }

    /// Passes every piece of text to `show`, in order, until it returns false.
    ///
    /// Blocks yield their text; other values yield the members that tools use for
    /// their output. A string that a recorder moved to a blob yields its preview.
    pub fn each_text(&self, show: &mut dyn FnMut(&'r str) -> bool) {
        match self {
            Self::None => {}
            Self::Text(text) => {
                show(text);
            }
            Self::Value(value) => {
                texts_in(value, DEEPEST, show);
            }
        }
    }

    /// All of the text, with the pieces separated by line ends.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        self.each_text(&mut |piece| {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(piece);
            true
        });
        text
    }

    /// The first piece of text that is not blank.
    #[must_use]
    pub fn first_text(&self) -> Option<&'r str> {
        let mut first = None;
        self.each_text(&mut |piece| {
            first = (!piece.trim().is_empty()).then_some(piece);
            first.is_none()
        });
        first
    }

    /// The last piece of text that is not blank.
    #[must_use]
    pub fn last_text(&self) -> Option<&'r str> {
        let mut last = None;
        self.each_text(&mut |piece| {
            if !piece.trim().is_empty() {
                last = Some(piece);
            }
            true
        });
        last
    }

    /// How many bytes of text are elsewhere: a recorder or an export moved a string
    /// to a blob and left its preview here.
    #[must_use]
    pub fn bytes_elsewhere(&self) -> u64 {
        match self {
            Self::Value(value) => bytes_elsewhere(value, DEEPEST),
            Self::None | Self::Text(_) => 0,
        }
    }

    /// The number of bytes of text.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let mut bytes = self.bytes_elsewhere();
        self.each_text(&mut |piece| {
            bytes = bytes.saturating_add(piece.len() as u64);
            true
        });
        bytes
    }

    /// The number of image blocks.
    #[must_use]
    pub fn images(&self) -> u64 {
        let Self::Value(Json::Array(blocks)) = self else { return 0 };
        let is_image = |block: &&Json<'_>| {
            let kind = block.get("type").and_then(Json::as_str).unwrap_or_default();
            matches!(kind, "image" | "input_image" | "inputImage" | "image_url" | "localImage")
        };
        blocks.iter().filter(is_image).count() as u64
    }

    /// Whether the content is missing or blank.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        self.first_text().is_none()
    }
}

/// Blocks do not nest deeper; anything deeper is the tool's own data.
const DEEPEST: usize = 4;

/// Passes the texts in a value to `show`; `false` once `show` returns false.
fn texts_in<'r>(value: &'r Json<'r>, depth: usize, show: &mut dyn FnMut(&'r str) -> bool) -> bool {
    match value {
        Json::String(text) => show(text),
        Json::Array(items) if depth > 0 => items.iter().all(|item| texts_in(item, depth - 1, show)),
        Json::Object(object) if depth > 0 => {
            text_member(object).is_none_or(|member| texts_in(member, depth - 1, show))
        }
        _ => true,
    }
}

/// The member of a block that holds its text.
fn text_member<'r>(object: &'r Object<'r>) -> Option<&'r Json<'r>> {
    TEXT_MEMBERS.iter().find_map(|name| {
        object.get(name).filter(|member| !matches!(member, Json::Null | Json::Bool(_)))
    })
}

/// How many bytes of the texts in a value are only in a blob.
fn bytes_elsewhere(value: &Json<'_>, depth: usize) -> u64 {
    match value {
        Json::Array(items) if depth > 0 => {
            items.iter().map(|item| bytes_elsewhere(item, depth - 1)).sum()
        }
        Json::Object(object) if depth > 0 => {
            let is_cut = object.get("truncated").and_then(Json::as_bool) == Some(true);
            if is_cut && object.contains("blob") {
                let whole = object.get("originalBytes").and_then(Json::as_u64).unwrap_or_default();
                let here = object.get("preview").and_then(Json::as_str).unwrap_or_default();
                return whole.saturating_sub(here.len() as u64);
            }
            text_member(object).map_or(0, |member| bytes_elsewhere(member, depth - 1))
        }
        _ => 0,
    }
}

/// The arguments of a tool call.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Arguments<'r> {
    /// None are recorded.
    #[default]
    None,
    /// A value.
    Value(&'r Json<'r>),
    /// A string: JSON that the source did not parse, or free text such as a
    /// patch.
    Text(&'r str),
}

impl<'r> Arguments<'r> {
    /// The arguments in a value; [`Self::None`] for null.
    #[must_use]
    pub fn of(value: Option<&'r Json<'r>>) -> Self {
        match value {
            None | Some(Json::Null) => Self::None,
            Some(Json::String(text)) => Self::Text(text),
            Some(value) => Self::Value(value),
        }
    }

    /// Passes the arguments to `look` as a value; a string that contains a JSON
    /// object is parsed.
    pub fn with_value<T>(&self, look: impl FnOnce(Option<&Json<'_>>) -> T) -> T {
        match self {
            Self::None => look(None),
            Self::Value(value) => look(Some(value)),
            Self::Text(text) => {
                let parsed = Json::parse(text).ok().filter(|value| value.as_object().is_some());
                look(parsed.as_ref())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(value: &str) -> String {
        Content::of(Some(&Json::parse(value).unwrap())).to_text()
    }

    #[test]
    fn text_is_found_in_every_shape() {
        assert_eq!(text_of(r#""plain""#), "plain");
        assert_eq!(text_of(r#"[{"type":"text","text":"a"},{"type":"text","text":"b"}]"#), "a\nb");
        assert_eq!(text_of(r#"{"content":[{"text":"a\n"},{"text":"b"}]}"#), "a\nb");
        assert_eq!(text_of(r#"{"output":"x","exitCode":1}"#), "x");
        let blob = r#"{"truncated":true,"originalBytes":9,"preview":"begin","blob":"ab"}"#;
        assert_eq!(text_of(blob), "begin");
        let value = Json::parse(blob).unwrap();
        let content = Content::of(Some(&value));
        assert_eq!((content.bytes(), content.bytes_elsewhere()), (9, 4));
        assert_eq!(text_of(r#"{"n":5}"#), "");
        assert_eq!(text_of("null"), "");
    }

    #[test]
    fn blank_text_is_skipped() {
        let value = Json::parse(r#"[{"text":" "},{"text":"a"},{"text":"b"},{"text":""}]"#).unwrap();
        let content = Content::of(Some(&value));
        assert_eq!((content.first_text(), content.last_text()), (Some("a"), Some("b")));
        assert_eq!((content.bytes(), content.is_blank()), (3, false));
    }

    #[test]
    fn arguments_in_a_string_are_parsed() {
        let arguments = Arguments::Text(r#"{"cmd":"ls"}"#);
        let command = arguments.with_value(|value| {
            value.and_then(|value| value.get("cmd")).and_then(Json::as_str).map(str::to_owned)
        });
        assert_eq!(command.as_deref(), Some("ls"));
        assert!(Arguments::Text("*** Begin Patch").with_value(|value| value.is_none()));
    }
}
