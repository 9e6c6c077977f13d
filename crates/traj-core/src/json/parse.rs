//! The parser: one pass, bounded recursion, errors that name only a position.

use std::borrow::Cow;

use super::depth::depth_marker;
use super::{Json, MAX_DEPTH, Number, Object, skip, text};

/// Spaces that are skipped in one step.
const BLANKS: [u8; 8] = [b' '; 8];

/// Why a string is not JSON.
// As wide as a word: next to a string in a `Result`, a narrower type makes the
// compiler move the string's last word in pieces, which slows every value down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[repr(usize)]
pub enum ParseErrorKind {
    /// The input ends inside a value.
    UnexpectedEnd,
    /// A different character was expected here.
    UnexpectedCharacter,
    /// A number does not follow the JSON grammar.
    InvalidNumber,
    /// A backslash is followed by an invalid escape.
    InvalidEscape,
    /// A string contains a raw control character.
    ControlCharacter,
    /// More characters follow a complete value.
    TrailingText,
}

impl ParseErrorKind {
    const fn describe(self) -> &'static str {
        match self {
            Self::UnexpectedEnd => "unexpected end of input",
            Self::UnexpectedCharacter => "unexpected character",
            Self::InvalidNumber => "invalid number",
            Self::InvalidEscape => "invalid escape",
            Self::ControlCharacter => "control character inside a string",
            Self::TrailingText => "unexpected input after the value",
        }
    }
}

/// Why input is not JSON: where and what is wrong, never the content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} at byte {offset}", kind.describe())]
#[non_exhaustive]
pub struct ParseError {
    /// Byte offset into the input.
    pub offset: usize,
    /// What is wrong there.
    pub kind: ParseErrorKind,
}

/// Parses a document; containers inside `depth` others are skipped.
pub(super) fn parse(source: &str, depth: usize) -> Result<Json<'_>, ParseError> {
    let mut parser = Parser { source, at: 0, max_depth: depth };
    let mut value = Json::Null;
    parser.value(0, &mut value)?;
    parser.skip_blanks();
    if parser.at == source.len() {
        Ok(value)
    } else {
        Err(parser.error(ParseErrorKind::TrailingText))
    }
}

pub(super) struct Parser<'a> {
    pub(super) source: &'a str,
    pub(super) at: usize,
    max_depth: usize,
}

impl<'a> Parser<'a> {
    /// Parses a value inside `depth` containers directly into its place: moving
    /// a value around takes longer than parsing it. Recursion ends at the
    /// maximum depth, so stack use is bounded.
    fn value(&mut self, depth: usize, place: &mut Json<'a>) -> Result<(), ParseError> {
        self.skip_blanks();
        match self.peek() {
            Some(first @ (b'[' | b'{')) if depth >= self.max_depth => {
                skip::container(self)?;
                *place = match first {
                    _ if self.max_depth == MAX_DEPTH => depth_marker(),
                    b'[' => Json::Array(Vec::new()),
                    _ => Json::Object(Object::new()),
                };
            }
            // Most values are strings.
            Some(b'"') => {
                self.at += 1;
                *place = Json::String(self.text()?);
            }
            Some(b'[') => *place = Json::Array(self.array(depth)?),
            Some(b'{') => *place = Json::Object(self.object(depth)?),
            _ => *place = self.scalar()?,
        }
        Ok(())
    }

    fn array(&mut self, depth: usize) -> Result<Vec<Json<'a>>, ParseError> {
        self.at += 1;
        self.skip_blanks();
        let mut items = Vec::new();
        if self.take(b']') {
            return Ok(items);
        }
        loop {
            self.value(depth + 1, items.push_mut(Json::Null))?;
            self.skip_blanks();
            if !self.take(b',') {
                self.expect(b']')?;
                return Ok(items);
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Object<'a>, ParseError> {
        self.at += 1;
        self.skip_blanks();
        if self.take(b'}') {
            return Ok(Object::new());
        }
        // A row has many members, nested objects have few.
        let mut object = Object::with_capacity(if depth == 0 { 16 } else { 4 });
        loop {
            let name = self.member_name()?;
            self.value(depth + 1, object.push_slot(name))?;
            self.skip_blanks();
            if !self.take(b',') {
                self.expect(b'}')?;
                return Ok(object);
            }
            self.skip_blanks();
        }
    }

    /// Parses `"name" :`.
    pub(super) fn member_name(&mut self) -> Result<Cow<'a, str>, ParseError> {
        self.expect(b'"')?;
        let name = self.text()?;
        self.skip_blanks();
        self.expect(b':')?;
        Ok(name)
    }

    /// Parses a value that is neither a container nor a string.
    pub(super) fn scalar(&mut self) -> Result<Json<'a>, ParseError> {
        match self.peek() {
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'n') => self.word("null", Json::Null),
            Some(b'-' | b'0'..=b'9') => self.number().map(Json::Number),
            Some(_) => Err(self.error(ParseErrorKind::UnexpectedCharacter)),
            None => Err(self.error(ParseErrorKind::UnexpectedEnd)),
        }
    }

    fn word(&mut self, word: &str, value: Json<'a>) -> Result<Json<'a>, ParseError> {
        let rest = self.source.as_bytes().get(self.at..).unwrap_or_default();
        if rest.starts_with(word.as_bytes()) {
            self.at += word.len();
            Ok(value)
        } else if word.as_bytes().starts_with(rest) {
            Err(ParseError { offset: self.source.len(), kind: ParseErrorKind::UnexpectedEnd })
        } else {
            Err(self.error(ParseErrorKind::UnexpectedCharacter))
        }
    }

    fn number(&mut self) -> Result<Number<'a>, ParseError> {
        let start = self.at;
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            if !self.take(b'+') {
                self.take(b'-');
            }
            self.digits()?;
        }
        Ok(Number::from_checked(self.source.get(start..self.at).unwrap_or_default()))
    }

    fn digits(&mut self) -> Result<(), ParseError> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        match (self.at > start, self.peek()) {
            (true, _) => Ok(()),
            (false, None) => Err(self.error(ParseErrorKind::UnexpectedEnd)),
            (false, Some(_)) => Err(self.error(ParseErrorKind::InvalidNumber)),
        }
    }

    /// Parses a string after its opening quote.
    fn text(&mut self) -> Result<Cow<'a, str>, ParseError> {
        let literal = text::read(self.source, self.at)
            .map_err(|(offset, kind)| ParseError { offset, kind })?;
        self.at = literal.end;
        Ok(literal.text)
    }

    /// Skips a string, checking it as if it were parsed.
    pub(super) fn skip_text(&mut self) -> Result<(), ParseError> {
        self.expect(b'"')?;
        self.at = text::skip(self.source, self.at)
            .map_err(|(offset, kind)| ParseError { offset, kind })?;
        Ok(())
    }

    #[inline]
    pub(super) fn skip_blanks(&mut self) {
        // Lines of events have no white space between tokens.
        if matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.skip_these_blanks();
        }
    }

    fn skip_these_blanks(&mut self) {
        while let Some(blank @ (b' ' | b'\t' | b'\n' | b'\r')) = self.peek() {
            self.at += 1;
            if blank == b'\n' {
                self.skip_indentation();
            }
        }
    }

    /// Skips spaces in blocks; indented files consist largely of spaces.
    fn skip_indentation(&mut self) {
        let rest = self.source.as_bytes().get(self.at..).unwrap_or_default();
        let (words, _) = rest.as_chunks::<8>();
        self.at += 8 * words.iter().take_while(|word| **word == BLANKS).count();
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.source.as_bytes().get(self.at).copied()
    }

    pub(super) fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    pub(super) fn expect(&mut self, byte: u8) -> Result<(), ParseError> {
        if self.take(byte) {
            return Ok(());
        }
        let at_end = self.peek().is_none();
        Err(self.error(if at_end {
            ParseErrorKind::UnexpectedEnd
        } else {
            ParseErrorKind::UnexpectedCharacter
        }))
    }

    pub(super) const fn error(&self, kind: ParseErrorKind) -> ParseError {
        ParseError { offset: self.at, kind }
    }
}
