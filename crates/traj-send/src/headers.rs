//! Headers that the user configured. They may be credentials, so nothing shows
//! them.

use std::fmt;

use ureq::http::{HeaderName, HeaderValue};

use crate::EndpointError;

/// Headers of every request.
#[derive(Clone, Default)]
pub struct TraceHeaders(Vec<(HeaderName, HeaderValue)>);

impl fmt::Debug for TraceHeaders {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "TraceHeaders({})", self.0.len())
    }
}

impl TraceHeaders {
    /// The headers in a list of `NAME=VALUE`, separated by commas, with `%` escapes
    /// in the values.
    ///
    /// # Errors
    /// [`EndpointError::Headers`].
    pub fn parse(text: &str) -> Result<Self, EndpointError> {
        let pairs = text.split(',').filter(|pair| !pair.trim().is_empty());
        let header = |pair: &str| {
            let (name, value) = pair.split_once('=')?;
            let name = HeaderName::from_bytes(name.trim().as_bytes()).ok()?;
            let mut value = HeaderValue::from_bytes(&unescaped(value.trim())?).ok()?;
            value.set_sensitive(true);
            Some((name, value))
        };
        let headers: Option<Vec<_>> = pairs.map(header).collect();
        headers.map(Self).ok_or(EndpointError::Headers)
    }

    /// How many there are.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&HeaderName, &HeaderValue)> {
        self.0.iter().map(|(name, value)| (name, value))
    }
}

/// The bytes of a text with `%` escapes; `None` if one is not complete.
fn unescaped(text: &str) -> Option<Vec<u8>> {
    let mut bytes = text.bytes();
    let mut plain = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            plain.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
        let (high, low) = (digit(bytes.next())?, digit(bytes.next())?);
        plain.push(u8::try_from(high * 16 + low).ok()?);
    }
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_pairs_and_never_shown() {
        let headers =
            TraceHeaders::parse("authorization=Bearer%20made-up, x-team = a=b ,").unwrap();
        let pairs: Vec<_> =
            headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
        assert_eq!(pairs, [("authorization", "Bearer made-up"), ("x-team", "a=b")]);
        assert_eq!(format!("{headers:?}"), "TraceHeaders(2)");
        for text in ["authorization", "a b=c", "a=%2", "a=%zz", "a=b%0ac"] {
            assert_eq!(TraceHeaders::parse(text).unwrap_err(), EndpointError::Headers, "{text}");
        }
        assert_eq!(TraceHeaders::parse("").unwrap().count(), 0);
    }
}
