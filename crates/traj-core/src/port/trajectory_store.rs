//! Storing trajectories: opening a sidecar, appending to it, reading it.

use std::error::Error;
use std::fmt::Debug;
use std::ops::ControlFlow;

use crate::capture::{Blob, PendingLine};
use crate::id::SessionId;
use crate::limits::Limits;
use crate::settings::{Durability, Settings, WhenFull};

/// A cause that only the adapter understands.
type Cause = Box<dyn Error + Send + Sync>;

/// Why a sidecar could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SidecarError {
    /// The sidecar is at its limit; nothing of the call was written.
    #[error("the sidecar has reached its limit of {limit} bytes")]
    Full {
        /// The limit.
        limit: u64,
        /// Bytes that would still fit.
        room: u64,
    },
    /// The blobs are at their budget; this one was not stored.
    #[error("the blobs have reached their budget of {budget} bytes")]
    OverBudget {
        /// The budget.
        budget: u64,
    },
    /// The file at the sidecar's path must not be touched.
    #[error("the sidecar is not safe to use")]
    Refused {
        /// What is wrong with it.
        #[source]
        source: Cause,
    },
    /// Storage is full; it may have some later, or
    /// for less.
    #[error("no space left for the sidecar")]
    NoSpace {
        /// What went wrong.
        #[source]
        source: Cause,
    },
    /// Storage failed; it may work again later.
    #[error("the sidecar cannot be used at the moment")]
    Storage {
        /// What went wrong.
        #[source]
        source: Cause,
    },
}

impl SidecarError {
    /// Whether the same call may work later.
    #[must_use]
    pub const fn is_temporary(&self) -> bool {
        matches!(self, Self::NoSpace { .. } | Self::Storage { .. })
    }
}

/// Why a sidecar is not safe from others, although it can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Exposure {
    /// Everyone can put files into its directory, and perhaps replace ours.
    #[error("the sidecar's directory is world-writable")]
    OthersCanWrite,
    /// Whoever owns its directory can replace what is in it.
    #[error("the sidecar's directory belongs to another user")]
    ForeignOwner,
}

/// Which part of a sidecar a call may fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a line is ordinary or it is the last word")]
pub enum Room {
    /// All but the reserve.
    Ordinary,
    /// The reserve too: for the line that says why no other follows.
    Reserve,
}

/// How a sidecar is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SidecarOptions {
    /// Bytes it may have.
    pub limit_bytes: u64,
    /// Bytes its blobs may have.
    pub blob_budget_bytes: u64,
    /// What happens at the limit.
    pub when_full: WhenFull,
    /// When lines are forced to the disk.
    pub durability: Durability,
}

impl SidecarOptions {
    /// What the settings of a recorder ask for.
    #[must_use]
    pub const fn from_settings(settings: &Settings) -> Self {
        let Limits { sidecar_bytes, blob_budget_bytes, .. } = settings.limits;
        Self {
            limit_bytes: sidecar_bytes,
            blob_budget_bytes,
            when_full: settings.when_full,
            durability: settings.durability,
        }
    }

    /// Bytes a call may fill the sidecar to.
    #[must_use]
    pub fn capacity(&self, room: Room) -> u64 {
        let reserve = (self.limit_bytes / 2).min(2_048);
        match room {
            Room::Ordinary => self.limit_bytes - reserve,
            Room::Reserve => self.limit_bytes,
        }
    }

    /// Bytes of old lines that may stay when `incoming` bytes roll the sidecar
    /// on: well below the limit, so that not every batch has to roll.
    #[must_use]
    pub fn kept_when_rolling(&self, incoming: u64) -> u64 {
        (self.capacity(Room::Ordinary) / 4 * 3).saturating_sub(incoming)
    }
}

/// What an append did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Appended {
    /// The number of the first line in the file; the others follow it.
    pub first_source_sequence: u64,
    /// Bytes written, line ends included.
    pub bytes: u64,
    /// Old lines that were removed to make room.
    pub rolled_lines: u64,
}

impl Appended {
    /// An append of `bytes` whose first line got this number.
    #[must_use]
    pub const fn new(first_source_sequence: u64, bytes: u64, rolled_lines: u64) -> Self {
        Self { first_source_sequence, bytes, rolled_lines }
    }
}

/// Appends lines to one sidecar.
///
/// Implementations keep all lines of a call, in order and in one piece, or on
/// error none. Lines of several writers to one sidecar never mix, and their
/// numbers in the file rise without gaps. A torn line that a crash left is
/// closed off before the first line is added. Blobs that only lines named which
/// made room for others go with them, but never one that a writer has stored
/// and not named yet.
pub trait SidecarWriter: Debug + Send {
    /// Appends a batch of lines; an empty one does nothing.
    ///
    /// # Errors
    /// When the batch does not fit ([`SidecarError::Full`]) or cannot be
    /// stored; the sidecar is as it was.
    fn append(&mut self, lines: &[PendingLine], room: Room) -> Result<Appended, SidecarError>;

    /// Stores a blob beside the sidecar, once however often it is given.
    ///
    /// # Errors
    /// When the budget is met or the blob cannot be stored.
    fn store_blob(&mut self, blob: &Blob) -> Result<(), SidecarError>;

    /// Forces what was appended to the disk, as the options ask.
    ///
    /// # Errors
    /// When the disk fails.
    fn flush(&mut self) -> Result<(), SidecarError>;

    /// Why what is written here is not safe from others, if it is not.
    fn exposure(&self) -> Option<Exposure> {
        None
    }
}

/// Finds and opens the sidecars of sessions.
pub trait TrajectoryStore: Debug + Send + Sync {
    /// Opens the sidecar of a session for appending. Nothing exists until the
    /// first line is there.
    ///
    /// # Errors
    /// When the file at its path is refused or cannot be opened.
    fn open(
        &self,
        session: &SessionId,
        options: &SidecarOptions,
    ) -> Result<Box<dyn SidecarWriter>, SidecarError>;

    /// Shows the complete lines of a session's sidecar in order, without their
    /// line ends, until `visit` breaks. A sidecar that does not exist has none.
    ///
    /// # Errors
    /// When it is refused or cannot be read.
    fn visit(
        &self,
        session: &SessionId,
        visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<(), SidecarError>;

    /// The content of a blob; `None` when there is no such blob.
    ///
    /// # Errors
    /// When it is refused or cannot be read.
    fn read_blob(
        &self,
        session: &SessionId,
        digest: &crate::capture::BlobDigest,
    ) -> Result<Option<String>, SidecarError>;
}

/// The highest number a line can have: the last whole number that every JSON
/// reader distinguishes from the next.
pub const MAX_SEQUENCE: u64 = (1 << 53) - 1;

/// The highest number that is believed of any line. Nobody counts that far, and
/// from here on there is room for as many lines again.
const CREDIBLE_SEQUENCE: u64 = 1 << 52;

/// Whether a line can have this number when `before` is the highest of those
/// above it. A number that is out of all reason is believed only if it follows
/// from the lines before, so that no line can bring the count to its end.
#[must_use]
pub const fn is_credible_sequence(number: u64, before: u64) -> bool {
    number <= CREDIBLE_SEQUENCE || (number <= MAX_SEQUENCE && number <= before.saturating_add(1))
}

/// The number of a line in its file, else in its run; for finding the next.
/// `before` is the highest of the lines above. Zeros that a loss of power left
/// before a line do not hide its number.
#[must_use]
pub fn source_sequence_of(line: &[u8], before: u64) -> Option<u64> {
    let zeros = line.iter().take_while(|byte| **byte == 0).count();
    let value = crate::json::Json::parse_lossy(line.get(zeros..)?).ok()?;
    let number = |name| {
        let number = value.get(name).and_then(crate::json::Json::as_u64);
        number.filter(|number| is_credible_sequence(*number, before))
    };
    number("sourceSeq").or_else(|| number("seq"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_rolled_sidecar_has_room_for_what_rolled_it(
            limit_bytes in any::<u64>(),
            incoming in any::<u64>(),
        ) {
            let options =
                SidecarOptions { limit_bytes, ..SidecarOptions::from_settings(&Settings::standard()) };
            let ordinary = options.capacity(Room::Ordinary);
            prop_assert_eq!(options.capacity(Room::Reserve), limit_bytes);
            prop_assert!(ordinary <= limit_bytes && limit_bytes - ordinary <= 2_048);
            let kept = options.kept_when_rolling(incoming);
            prop_assert!(kept <= ordinary);
            if incoming <= ordinary {
                prop_assert!(kept + incoming <= ordinary);
            }
        }

        #[test]
        fn any_bytes_can_be_looked_at_for_a_number(bytes in any::<Vec<u8>>()) {
            prop_assert!(source_sequence_of(&bytes, 0).is_none_or(|number| number <= MAX_SEQUENCE));
        }
    }
}
