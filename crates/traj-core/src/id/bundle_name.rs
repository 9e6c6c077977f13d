//! Names of bundles: relative paths of safe components, inside their root.

use super::{FileStem, SessionId};
use crate::id::invisible::is_invisible;
use crate::timestamp::UnixMillis;

/// The longest component of a name, in bytes: leaves room for the temporary
/// name that a bundle is written under.
const MAX_COMPONENT_BYTES: usize = 200;

/// The longest name, in bytes.
const MAX_BYTES: usize = 1_024;

/// Why a string is not a bundle name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BundleNameError {
    /// The name is empty or has only separators.
    #[error("the name is empty")]
    Empty,
    /// The name starts at the root of a filesystem or in a home directory.
    #[error("the name must be relative to the exports directory")]
    NotRelative,
    /// A component is `.` or `..`.
    #[error("the name must stay inside the exports directory")]
    Escapes,
    /// A component has a character or an ending that filesystems treat
    /// specially.
    #[error("the name contains a component that is not safe as a file name")]
    UnsafeComponent,
    /// The name or a component is too long.
    #[error("the name is too long")]
    TooLong,
}

/// The path of a bundle below its root: one or more plain components.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BundleName(String);

impl BundleName {
    /// Checks a name given by a user.
    ///
    /// # Errors
    /// When the name is absolute, would leave its root, or is unsafe or
    /// ambiguous on some filesystem.
    pub fn parse(text: &str) -> Result<Self, BundleNameError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(BundleNameError::Empty);
        }
        let drive = text.as_bytes().get(1) == Some(&b':');
        if text.starts_with(['/', '\\', '~']) || drive {
            return Err(BundleNameError::NotRelative);
        }
        if text.len() > MAX_BYTES {
            return Err(BundleNameError::TooLong);
        }
        let components: Vec<&str> = text.split('/').filter(|part| !part.is_empty()).collect();
        components.iter().try_for_each(|component| check_component(component))?;
        if components.is_empty() {
            Err(BundleNameError::Empty)
        } else {
            Ok(Self(components.join("/")))
        }
    }

    /// The default name, if the user gives none.
    #[must_use]
    pub fn for_session(session: &SessionId, at: UnixMillis) -> Self {
        let stem = FileStem::legacy(session);
        let short: String = stem.as_str().chars().take(8).collect();
        Self(format!("openclaw-trajectory-{short}-{}", at.to_file_stamp()))
    }

    /// The same name with a counter, if the name is taken.
    #[must_use]
    pub fn with_counter(&self, counter: u32) -> Self {
        Self(format!("{}-{counter}", self.0))
    }

    /// The name, components joined by `/`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The components, starting at the root.
    pub fn components(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/')
    }
}

fn check_component(component: &str) -> Result<(), BundleNameError> {
    if component == "." || component == ".." {
        return Err(BundleNameError::Escapes);
    }
    if component.len() > MAX_COMPONENT_BYTES {
        return Err(BundleNameError::TooLong);
    }
    let special = |character: char| {
        is_invisible(character)
            || matches!(character, '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|')
    };
    if component.contains(special) || component.ends_with(['.', ' ']) || component.starts_with('~')
    {
        return Err(BundleNameError::UnsafeComponent);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_that_could_leave_the_root_are_refused() {
        let cases = [
            ("", BundleNameError::Empty),
            ("  ", BundleNameError::Empty),
            ("/tmp/x", BundleNameError::NotRelative),
            ("~/x", BundleNameError::NotRelative),
            ("C:\\x", BundleNameError::NotRelative),
            ("..", BundleNameError::Escapes),
            ("a/../../b", BundleNameError::Escapes),
            ("a/./b", BundleNameError::Escapes),
            ("a\\..\\b", BundleNameError::UnsafeComponent),
            ("name.", BundleNameError::UnsafeComponent),
            ("a\0b", BundleNameError::UnsafeComponent),
            ("bug-\u{202e}4321", BundleNameError::UnsafeComponent),
        ];
        for (text, error) in cases {
            assert_eq!(BundleName::parse(text), Err(error), "{text:?}");
        }
        assert_eq!(BundleName::parse(&"x".repeat(2_000)), Err(BundleNameError::TooLong));
        assert_eq!(BundleName::parse("bug-1234/").map(|name| name.0), Ok("bug-1234".into()));
    }

    #[test]
    fn default_names_contain_session_and_second() {
        let session = SessionId::parse("0123456789ab").unwrap();
        let name = BundleName::for_session(&session, UnixMillis::EPOCH);
        assert_eq!(name.as_str(), "openclaw-trajectory-01234567-1970-01-01T00-00-00");
    }

    proptest! {
        #[test]
        fn parsed_names_stay_inside_the_root(text in ".{0,60}") {
            if let Ok(name) = BundleName::parse(&text) {
                prop_assert!(name.components().all(|part| !part.is_empty() && part != ".." && part != "."));
                prop_assert_eq!(&BundleName::parse(name.as_str()).unwrap(), &name);
            }
        }
    }
}
