//! JSON values and their conversions.

use std::borrow::Cow;

use serde::ser::{Serialize, SerializeMap as _, SerializeSeq as _, Serializer};

use super::{Number, Object, ParseError, parse, write};

/// A JSON value that borrows its strings from the input where it can.
///
/// Cloning, comparing, writing and dropping recurse. A parsed value has at most
/// [`MAX_DEPTH`](super::MAX_DEPTH) levels, which any stack can hold. If you
/// build
/// a deeper value by hand, cut it with [`limit_depth`](Self::limit_depth) or
/// drop
/// it with [`dismantle`](Self::dismantle). Events cut the values that hosts
/// give
/// them.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "JSON has these six kinds of value and no others")]
pub enum Json<'a> {
    /// `null`
    #[default]
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number with its exact spelling.
    Number(Number<'a>),
    /// A string, unescaped.
    String(Cow<'a, str>),
    /// Values in order.
    Array(Vec<Self>),
    /// Members in order.
    Object(Object<'a>),
}

impl<'a> Json<'a> {
    /// Parses a JSON value, borrowing from `text`.
    ///
    /// # Errors
    /// When `text` is not exactly one JSON value. The error names the position,
    /// never the content.
    pub fn parse(text: &'a str) -> Result<Self, ParseError> {
        parse::parse(text, super::MAX_DEPTH)
    }

    /// Parses only the outer levels of a document: containers inside `depth`
    /// others are checked just as strictly, but come out empty. Use it to read
    /// the ids of a row without building its content.
    ///
    /// # Errors
    /// Same as [`Json::parse`].
    pub fn parse_shallow(text: &'a str, depth: usize) -> Result<Self, ParseError> {
        parse::parse(text, depth.min(super::MAX_DEPTH))
    }

    /// Parses a JSON value from bytes; invalid UTF-8 becomes U+FFFD.
    ///
    /// # Errors
    /// Same as [`Json::parse`].
    pub fn parse_lossy(bytes: &'a [u8]) -> Result<Self, ParseError> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::parse(text),
            Err(_) => Json::parse(&String::from_utf8_lossy(bytes)).map(Json::into_owned),
        }
    }

    /// Converts any serializable value to JSON.
    ///
    /// # Errors
    /// When the value cannot be expressed in JSON, such as a map with keys that
    /// are not strings.
    pub fn from_serialize(value: &impl Serialize) -> Result<Json<'static>, serde_json::Error> {
        let text = serde_json::to_string(value)?;
        // Output of serde_json always parses; a default value would only hide a
        // bug.
        Json::parse(&text).map(Json::into_owned).map_err(serde::ser::Error::custom)
    }

    /// Detaches the value from the input it was read from.
    #[must_use]
    pub fn into_owned(self) -> Json<'static> {
        match self {
            Self::Null => Json::Null,
            Self::Bool(value) => Json::Bool(value),
            Self::Number(number) => Json::Number(number.into_owned()),
            Self::String(text) => Json::String(Cow::Owned(text.into_owned())),
            Self::Array(items) => Json::Array(items.into_iter().map(Json::into_owned).collect()),
            Self::Object(object) => Json::Object(object.into_owned()),
        }
    }

    /// Appends the value to `out` without white space.
    pub fn write_compact(&self, out: &mut String) {
        write::compact(self, out);
    }

    /// Like [`Json::write_compact`], but leaves out the value of an object's
    /// first member called `name`. Returns the position where it belongs, if
    /// there is one.
    pub(crate) fn write_compact_around(&self, name: &str, out: &mut String) -> Option<usize> {
        write::compact_around(self, name, out)
    }

    /// Appends the value to `out`, indented by two spaces per level, starting
    /// at `level`.
    pub fn write_pretty(&self, level: usize, out: &mut String) {
        write::pretty(self, level, out);
    }

    /// The value on one line, without a newline.
    #[must_use]
    pub fn to_line(&self) -> String {
        let mut line = String::with_capacity(256);
        self.write_compact(&mut line);
        line
    }

    /// The value on several lines, without a final newline.
    #[must_use]
    pub fn to_pretty(&self) -> String {
        let mut text = String::new();
        self.write_pretty(0, &mut text);
        text
    }

    /// The member called `name`, if this is an object that has one.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Self> {
        self.as_object()?.get(name)
    }

    /// The string, if this is one.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    /// The boolean, if this is one.
    #[must_use]
    pub const fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(value) = self { Some(*value) } else { None }
    }

    /// The number, if this is one.
    #[must_use]
    pub const fn as_number(&self) -> Option<&Number<'a>> {
        if let Self::Number(number) = self { Some(number) } else { None }
    }

    /// The number as an unsigned integer, if it is one that fits.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        self.as_number()?.as_u64()
    }

    /// The number as a signed integer, if it is one that fits.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        self.as_number()?.as_i64()
    }

    /// The number as a finite float.
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        self.as_number()?.as_f64()
    }

    /// The items, if this is an array.
    #[must_use]
    pub fn as_array(&self) -> Option<&[Self]> {
        if let Self::Array(items) = self { Some(items) } else { None }
    }

    /// The members, if this is an object.
    #[must_use]
    pub const fn as_object(&self) -> Option<&Object<'a>> {
        if let Self::Object(object) = self { Some(object) } else { None }
    }

    /// The members, mutably, if this is an object.
    pub const fn as_object_mut(&mut self) -> Option<&mut Object<'a>> {
        if let Self::Object(object) = self { Some(object) } else { None }
    }

    /// Whether this is `null`.
    #[must_use]
    pub const fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }
}

/// For passing a value to a serde format. Integers within 64 bits and floats
/// keep their value; other numbers become strings, so that no digit is lost.
impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
                (Some(value), _, _) => serializer.serialize_u64(value),
                (_, Some(value), _) => serializer.serialize_i64(value),
                (_, _, Some(value)) => serializer.serialize_f64(value),
                _ => serializer.serialize_str(number.as_text()),
            },
            Self::String(text) => serializer.serialize_str(text),
            Self::Array(items) => {
                let mut sequence = serializer.serialize_seq(Some(items.len()))?;
                items.iter().try_for_each(|item| sequence.serialize_element(item))?;
                sequence.end()
            }
            Self::Object(object) => {
                let mut map = serializer.serialize_map(Some(object.len()))?;
                object.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
                map.end()
            }
        }
    }
}

impl From<bool> for Json<'_> {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl<'a> From<&'a str> for Json<'a> {
    fn from(text: &'a str) -> Self {
        Self::String(Cow::Borrowed(text))
    }
}

impl From<String> for Json<'_> {
    fn from(text: String) -> Self {
        Self::String(Cow::Owned(text))
    }
}

impl<'a> From<Cow<'a, str>> for Json<'a> {
    fn from(text: Cow<'a, str>) -> Self {
        Self::String(text)
    }
}

impl<'a> From<Object<'a>> for Json<'a> {
    fn from(object: Object<'a>) -> Self {
        Self::Object(object)
    }
}

impl<'a> From<Number<'a>> for Json<'a> {
    fn from(number: Number<'a>) -> Self {
        Self::Number(number)
    }
}

impl<'a, T: Into<Self>> From<Vec<T>> for Json<'a> {
    fn from(items: Vec<T>) -> Self {
        Self::Array(items.into_iter().map(Into::into).collect())
    }
}

macro_rules! from_integer {
    ($($integer:ty),*) => {$(
        impl From<$integer> for Json<'_> {
            fn from(value: $integer) -> Self {
                Self::Number(Number::from(value))
            }
        }
    )*};
}
from_integer!(u8, u16, u32, u64, usize, i32, i64);
