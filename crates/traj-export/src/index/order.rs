//! The order of events: by instant, then source, then sequence number.

use std::cmp::Ordering;

use traj_core::json::Json;
use traj_core::redaction::SpillSlot;
use traj_core::timestamp::UnixMillis;

use crate::index::record_store::{FixedRecord, RecordDecoder, RecordEncoder};
use crate::json_stream::rows::ByteRange;

/// The source of an event, and where its content is. Among events of the same
/// instant, runtime events come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventOrigin {
    /// A row of the sidecar.
    Runtime(ByteRange),
    /// A transcript event that was set aside: its head, and its tail directly
    /// after it. `is_seen` says whether the rules approved it.
    Transcript { head: SpillSlot, tail_length: u32, is_seen: bool },
}

/// The record of one event, for sorting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EventRecord {
    pub(crate) instant: UnixMillis,
    pub(crate) rank: u64,
    /// Position among the events of its source; keeps the order stable.
    pub(crate) position: u64,
    pub(crate) origin: EventOrigin,
}

impl EventRecord {
    fn key(&self) -> (UnixMillis, bool, u64, u64) {
        let is_transcript = matches!(self.origin, EventOrigin::Transcript { .. });
        (self.instant, is_transcript, self.rank, self.position)
    }
}

impl Ord for EventRecord {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for EventRecord {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl FixedRecord for EventRecord {
    const SIZE: usize = 41;

    fn encode(&self, bytes: &mut RecordEncoder<'_>) {
        bytes.u64(self.instant.as_millis().cast_unsigned());
        bytes.u64(self.rank);
        bytes.u64(self.position);
        match self.origin {
            EventOrigin::Runtime(place) => {
                bytes.u8(0);
                bytes.u64(place.offset);
                bytes.u64(place.length);
            }
            EventOrigin::Transcript { head, tail_length, is_seen } => {
                bytes.u8(if is_seen { 2 } else { 1 });
                bytes.u64(head.offset);
                bytes.u32(head.length);
                bytes.u32(tail_length);
            }
        }
    }

    fn decode(bytes: &mut RecordDecoder<'_>) -> Self {
        let instant = UnixMillis::new(bytes.u64().cast_signed()).unwrap_or_default();
        let (rank, position) = (bytes.u64(), bytes.u64());
        let origin = match bytes.u8() {
            0 => EventOrigin::Runtime(ByteRange { offset: bytes.u64(), length: bytes.u64() }),
            kind => {
                let head = SpillSlot::new(bytes.u64(), bytes.u32());
                let (tail_length, is_seen) = (bytes.u32(), kind == 2);
                EventOrigin::Transcript { head, tail_length, is_seen }
            }
        };
        Self { instant, rank, position, origin }
    }
}

/// The rank of a runtime row: its source sequence number or, without one, its
/// own. Numbers are parsed as leniently as the original exporter does; other
/// values come last.
pub(crate) fn sequence_rank(row: &Json<'_>) -> u64 {
    let number = match row.get("sourceSeq") {
        None | Some(Json::Null) => row.get("seq").and_then(Json::as_f64),
        Some(Json::Number(number)) => number.as_f64(),
        Some(Json::String(text)) if text.trim().is_empty() => Some(0.0),
        Some(Json::String(text)) => text.trim().parse().ok(),
        Some(Json::Bool(value)) => Some(f64::from(u8::from(*value))),
        Some(_) => None,
    };
    number.map_or(u64::MAX, rank)
}

/// Maps numbers to integers with the same order.
fn rank(number: f64) -> u64 {
    // -0 and 0 are equal.
    let bits = (number + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | (1 << 63) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ranks_sort_as_numbers_do(left in any::<f64>(), right in any::<f64>()) {
            prop_assume!(!left.is_nan() && !right.is_nan());
            prop_assert_eq!(rank(left).cmp(&rank(right)), left.partial_cmp(&right).unwrap());
        }
    }

    #[test]
    fn sequence_numbers_are_read_leniently() {
        let rank_of = |row: &str| sequence_rank(&Json::parse(row).unwrap());
        assert_eq!(rank_of(r#"{"sourceSeq":"7","seq":1.5}"#), rank(7.0));
        assert_eq!(rank_of(r#"{"sourceSeq":null,"seq":6}"#), rank(6.0));
        assert_eq!(rank_of(r#"{"sourceSeq":"x","seq":3}"#), u64::MAX);
        assert!(rank_of(r#"{"seq":-1}"#) < rank_of(r#"{"seq":0}"#));
    }
}
