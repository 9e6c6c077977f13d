//! Who may run a turn of a session.

use std::fmt::Debug;

use super::binding_store::BindingKey;

/// Why a lease could not be requested.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[error("cannot take the lease of {key}")]
pub struct TurnLeaseError {
    /// The session.
    pub key: String,
    /// Why.
    pub source: Box<dyn std::error::Error + Send + Sync>,
}

impl TurnLeaseError {
    /// The lease of `key` cannot be requested, because of `source`.
    #[must_use]
    pub fn new(
        key: &BindingKey,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self { key: key.as_str().to_owned(), source: source.into() }
    }
}

/// The right to run a turn of a session, until it is dropped.
pub trait TurnLease: Debug + Send {}

/// One lease per session, for the length of a turn.
///
/// Two turns of one session at once could each start a thread, and one of the
/// threads would be lost with its turn. At most one process holds the lease of a
/// session. A holder that dies releases it.
pub trait TurnLeases: Debug + Send + Sync {
    /// Takes the lease of a session; `None` if somebody else holds it. Never waits.
    ///
    /// # Errors
    /// If it cannot be determined whether somebody holds it.
    fn try_take(&self, key: &BindingKey) -> Result<Option<Box<dyn TurnLease>>, TurnLeaseError>;
}
