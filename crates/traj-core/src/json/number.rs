//! A JSON number that keeps its spelling.

use std::borrow::Cow;
use std::fmt;

/// A number as it is spelled in the source, so that no precision is lost.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Number<'a>(Cow<'a, str>);

impl<'a> Number<'a> {
    /// Wraps a string that the parser has already matched against the grammar.
    pub(super) fn from_checked(text: &'a str) -> Self {
        Self(Cow::Borrowed(text))
    }

    /// The number as it is spelled.
    #[must_use]
    pub fn as_text(&self) -> &str {
        &self.0
    }

    /// The value as an unsigned integer, if it is written as one that fits.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        self.0.parse().ok()
    }

    /// The value as a signed integer, if it is written as one that fits.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        self.0.parse().ok()
    }

    /// The nearest finite float; `None` if it would overflow.
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        self.0.parse().ok().filter(|value: &f64| value.is_finite())
    }

    /// Detaches the number from the input it was read from.
    #[must_use]
    pub fn into_owned(self) -> Number<'static> {
        Number(Cow::Owned(self.0.into_owned()))
    }

    /// The shortest decimal of a float; `None` for infinities and NaN, which
    /// JSON cannot express.
    #[must_use]
    pub fn from_f64(value: f64) -> Option<Self> {
        value.is_finite().then(|| Self(Cow::Owned(value.to_string())))
    }
}

impl fmt::Debug for Number<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

macro_rules! from_integer {
    ($($integer:ty),*) => {$(
        impl From<$integer> for Number<'_> {
            fn from(value: $integer) -> Self {
                Self(Cow::Owned(value.to_string()))
            }
        }
    )*};
}
from_integer!(u8, u16, u32, u64, usize, i32, i64);
