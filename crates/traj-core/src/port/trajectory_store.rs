//! Stores trajectories: opens, appends to and reads sidecars.

use std::error::Error;
use std::fmt::Debug;
use std::ops::ControlFlow;

use crate::capture::{Blob, PendingLine};
use crate::id::SessionId;
use crate::limits::Limits;
use crate::settings::{Durability, Settings, WhenFull};

/// An adapter-specific cause.
type Cause = Box<dyn Error + Send + Sync>;

/// Why a sidecar could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SidecarError {
    /// The sidecar is at its limit; nothing was written.
    #[error("the sidecar has reached its limit of {limit} bytes")]
    Full {
        /// The limit.
        limit: u64,
        /// Bytes that would still fit.
        room: u64,
    },
    /// The blobs have reached their budget; this one was not stored.
    #[error("the blobs have reached their budget of {budget} bytes")]
    OverBudget {
        /// The budget.
        budget: u64,
    },
    /// The file at the sidecar's path is unsafe and must not be used.
    #[error("the sidecar is not safe to use")]
    Refused {
        /// What is wrong with it.
        #[source]
        source: Cause,
    },
    /// Storage is full; a later or smaller write may succeed.
    #[error("no space left for the sidecar")]
    NoSpace {
        /// What went wrong.
        #[source]
        source: Cause,
    },
    /// Storage failed; it may work again later.
    #[error("cannot use the sidecar right now")]
    Storage {
        /// What went wrong.
        #[source]
        source: Cause,
    },
}

impl SidecarError {
    /// Whether the same call may succeed later.
    #[must_use]
    pub const fn is_temporary(&self) -> bool {
        matches!(self, Self::NoSpace { .. } | Self::Storage { .. })
    }
}

/// Why others can tamper with a sidecar, although it can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Exposure {
    /// Anyone can add files to its directory, and perhaps replace the sidecar.
    #[error("the sidecar's directory is world-writable")]
    OthersCanWrite,
    /// The owner of its directory can replace its files.
    #[error("the sidecar's directory belongs to another user")]
    ForeignOwner,
}

/// How much of a sidecar a call may fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a line is ordinary or the final report")]
pub enum Room {
    /// All but the reserve.
    Ordinary,
    /// The reserve too: for the line that reports why recording stopped.
    Reserve,
}

/// The options of a sidecar.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SidecarOptions {
    /// The most bytes of the sidecar.
    pub limit_bytes: u64,
    /// The most bytes of its blobs.
    pub blob_budget_bytes: u64,
    /// What happens at the limit.
    pub when_full: WhenFull,
    /// When lines are synced to disk.
    pub durability: Durability,
}

impl SidecarOptions {
    /// The options from a recorder's settings.
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

    /// The size up to which a call may fill the sidecar, in bytes.
    #[must_use]
    pub fn capacity(&self, room: Room) -> u64 {
        let reserve = (self.limit_bytes / 2).min(2_048);
        match room {
            Room::Ordinary => self.limit_bytes - reserve,
            Room::Reserve => self.limit_bytes,
        }
    }

    /// Bytes of old lines to keep when `incoming` bytes make the sidecar roll:
    /// well below the limit, so that not every batch causes a roll.
    #[must_use]
    pub fn kept_when_rolling(&self, incoming: u64) -> u64 {
        (self.capacity(Room::Ordinary) / 4 * 3).saturating_sub(incoming)
    }
}

/// The result of an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Appended {
    /// The number of the first line in the file; the other lines are numbered
    /// consecutively.
    pub first_source_sequence: u64,
    /// Bytes written, newlines included.
    pub bytes: u64,
    /// Old lines removed to make room.
    pub rolled_lines: u64,
}

impl Appended {
    /// An append of `bytes` whose first line has this number.
    #[must_use]
    pub const fn new(first_source_sequence: u64, bytes: u64, rolled_lines: u64) -> Self {
        Self { first_source_sequence, bytes, rolled_lines }
    }
}

/// Appends lines to one sidecar.
///
/// Implementations write all lines of a call, in order and contiguously, or on
/// error none. Lines of concurrent writers never mix, and their numbers in the
/// file increase without gaps. A torn line left by a crash is terminated before
/// the first line is added. When old lines are removed to make room, the blobs
/// that only they named are removed too, but never a blob that a writer has
/// stored and not named yet.
pub trait SidecarWriter: Debug + Send {
    /// Appends a batch of lines; an empty batch does nothing.
    ///
    /// # Errors
    /// When the batch does not fit ([`SidecarError::Full`]) or cannot be
    /// stored; the sidecar is unchanged.
    fn append(&mut self, lines: &[PendingLine], room: Room) -> Result<Appended, SidecarError>;

    /// Stores a blob next to the sidecar; the same blob is stored only once.
    ///
    /// # Errors
    /// When the budget is exhausted or the blob cannot be stored.
    fn store_blob(&mut self, blob: &Blob) -> Result<(), SidecarError>;

    /// Syncs appended lines to disk, as the options require.
    ///
    /// # Errors
    /// When the disk fails.
    fn flush(&mut self) -> Result<(), SidecarError>;

    /// Why others can tamper with this sidecar, if they can.
    fn exposure(&self) -> Option<Exposure> {
        None
    }
}

/// Finds and opens the sidecars of sessions.
pub trait TrajectoryStore: Debug + Send + Sync {
    /// Opens the sidecar of a session for appending. No file is created before
    /// the first line.
    ///
    /// # Errors
    /// When the file at its path is unsafe or cannot be opened.
    fn open(
        &self,
        session: &SessionId,
        options: &SidecarOptions,
    ) -> Result<Box<dyn SidecarWriter>, SidecarError>;

    /// Passes the complete lines of a session's sidecar to `visit`, in order
    /// and without newlines, until it breaks. A missing sidecar has no lines.
    ///
    /// # Errors
    /// When it is unsafe or cannot be read.
    fn visit(
        &self,
        session: &SessionId,
        visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<(), SidecarError>;

    /// The content of a blob; `None` if there is no such blob.
    ///
    /// # Errors
    /// When it is unsafe or cannot be read.
    fn read_blob(
        &self,
        session: &SessionId,
        digest: &crate::capture::BlobDigest,
    ) -> Result<Option<String>, SidecarError>;
}

/// The highest number of a line: the last integer that every JSON reader
/// distinguishes from the next.
pub const MAX_SEQUENCE: u64 = (1 << 53) - 1;

/// The highest number that is accepted whatever the lines before say. No
/// recorder counts that far, and as many numbers again remain above it.
const CREDIBLE_SEQUENCE: u64 = 1 << 52;

/// Whether a line can have this number, if `before` is the highest number so
/// far. An implausibly high number is accepted only if it continues the lines
/// before, so that a single line cannot exhaust the numbers.
#[must_use]
pub const fn is_credible_sequence(number: u64, before: u64) -> bool {
    number <= CREDIBLE_SEQUENCE || (number <= MAX_SEQUENCE && number <= before.saturating_add(1))
}

/// The number of a line in its file, else in its run; used to find the next
/// number. `before` is the highest number so far. Zero bytes before the line,
/// as a power failure leaves them, are ignored.
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
        fn a_rolled_sidecar_has_room_for_the_incoming_lines(
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
        fn any_bytes_can_be_searched_for_a_number(bytes in any::<Vec<u8>>()) {
            prop_assert!(source_sequence_of(&bytes, 0).is_none_or(|number| number <= MAX_SEQUENCE));
        }
    }
}
