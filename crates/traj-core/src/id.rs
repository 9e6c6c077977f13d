//! Identifiers: newtypes that are checked once, when a string becomes an id.
//!
//! Ids come from hosts and from files, so an id may be almost any string. An id
//! never becomes part of a path; a safe name is derived from it (see
//! [`FileStem`]).

mod bundle_name;
mod file_stem;
pub(crate) mod invisible;

pub use bundle_name::{BundleName, BundleNameError};
pub use file_stem::FileStem;

/// The longest accepted id, in bytes.
pub const MAX_ID_BYTES: usize = 64 * 1024;

/// Why a string is not an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IdError {
    /// The string is empty.
    #[error("an id must not be empty")]
    Empty,
    /// The string is longer than [`MAX_ID_BYTES`].
    #[error("an id must not be longer than {MAX_ID_BYTES} bytes")]
    TooLong,
}

macro_rules! id_type {
    ($(#[doc = $doc:literal])+ $name:ident) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// Checks a string and makes it an id.
            ///
            /// # Errors
            /// When the string is empty or longer than [`MAX_ID_BYTES`].
            pub fn parse(text: impl Into<String>) -> Result<Self, IdError> {
                let text = text.into();
                match text.len() {
                    0 => Err(IdError::Empty),
                    length if length > MAX_ID_BYTES => Err(IdError::TooLong),
                    _ => Ok(Self(text)),
                }
            }

            /// The id as a string.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }
    };
}

id_type! {
    /// A session: one conversation with its transcript and its sidecar.
    SessionId
}
id_type! {
    /// One run of an agent within a session.
    RunId
}
id_type! {
    /// A thread on the app-server.
    ThreadId
}
id_type! {
    /// One turn of a thread.
    TurnId
}
id_type! {
    /// A tool call, as the model named it.
    ToolCallId
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ids_are_checked_where_they_enter() {
        assert_eq!(SessionId::parse(""), Err(IdError::Empty));
        assert_eq!(RunId::parse("x".repeat(MAX_ID_BYTES + 1)), Err(IdError::TooLong));
        assert_eq!(
            ThreadId::parse("../any text").map(|id| id.to_string()),
            Ok("../any text".into())
        );
    }

    proptest! {
        #[test]
        fn any_string_of_reasonable_length_is_an_id(text in "(?s).{0,60}", repeats in 0_usize..3_000) {
            let text = text.repeat(repeats);
            let expected = match text.len() {
                0 => Err(IdError::Empty),
                length if length > MAX_ID_BYTES => Err(IdError::TooLong),
                _ => Ok(text.clone()),
            };
            prop_assert_eq!(TurnId::parse(text).map(|id| id.as_str().to_owned()), expected);
        }
    }
}
