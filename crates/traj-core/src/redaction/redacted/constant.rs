//! Texts that the program was compiled with.

/// A text that is a constant of the program.
///
/// It is made from an associated constant, which the compiler evaluates. A text
/// that was read or built while the program runs cannot become one, not even if
/// it is leaked. [`constant_text!`](crate::constant_text) makes one:
///
/// ```
/// use traj_core::constant_text;
/// use traj_core::redaction::RedactedText;
///
/// let mut line = RedactedText::new();
/// line.push_constant(constant_text!("count: ")).push_number(3);
/// assert_eq!(line.finish().into_inner(), "count: 3");
/// ```
///
/// ```compile_fail
/// let read: &'static str = std::env::args().collect::<String>().leak();
/// traj_core::constant_text!(read);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConstantText(&'static str);

/// Provides the text of a [`ConstantText`].
pub trait Constant {
    /// The text.
    const TEXT: &'static str;
}

impl ConstantText {
    /// The text that `C` provides.
    #[must_use]
    pub const fn of<C: Constant>() -> Self {
        Self(C::TEXT)
    }

    /// The text.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

/// Makes a [`ConstantText`](crate::redaction::ConstantText) from a constant
/// expression, or an array of them from a list.
#[macro_export]
macro_rules! constant_text {
    ([$($text:expr),+ $(,)?]) => {
        [$($crate::constant_text!($text)),+]
    };
    ($text:expr) => {{
        struct Text;
        impl $crate::redaction::Constant for Text {
            const TEXT: &'static str = $text;
        }
        $crate::redaction::ConstantText::of::<Text>()
    }};
}
