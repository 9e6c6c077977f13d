//! What a store promises about the blobs of a sidecar.

use traj_core::port::{Room, SidecarError, SidecarOptions, SidecarWriter};
use traj_core::settings::WhenFull;

use super::{CHAT, TrajectoryStoreHarness, limited, writer};
use crate::sidecar::{blob, line_with_blob, lines, options, session};

pub(super) fn blobs_are_stored_once_and_within_their_budget(harness: &dyn TrajectoryStoreHarness) {
    let chat = session(CHAT);
    let mut small = options();
    small.blob_budget_bytes = 35;
    let (mut one, mut other) = (writer(harness, &small), writer(harness, &small));
    let (ten, more, four) = (blob("ten bytes!"), blob("twenty-two bytes of it"), blob("four"));
    one.store_blob(&ten).expect("fits");
    other.store_blob(&ten).expect("is there already");
    other.store_blob(&more).expect("fits beside it");
    // The first writer knows of only ten bytes.
    let over = one.store_blob(&four);
    assert!(matches!(over, Err(SidecarError::OverBudget { budget: 35 })));
    one.store_blob(&more).expect("a stored blob needs no room");
    let large = one.store_blob(&blob("a text of more than the whole budget"));
    assert!(matches!(large, Err(SidecarError::OverBudget { .. })));
    let read = |digest| harness.store().read_blob(&chat, digest).expect("readable");
    assert_eq!(read(ten.digest()).as_deref(), Some("ten bytes!"));
    assert_eq!(read(more.digest()).as_deref(), Some("twenty-two bytes of it"));
    assert_eq!(read(four.digest()), None);
    assert_eq!(harness.content(&chat), None, "a blob alone makes no sidecar");
}

/// Whether a blob with this text can be read.
fn has_blob(harness: &dyn TrajectoryStoreHarness, text: &str) -> bool {
    let read = harness.store().read_blob(&session(CHAT), blob(text).digest());
    read.expect("readable").is_some()
}

/// Room for eight lines with a blob, and for a dozen blobs.
fn small_and_rolling() -> SidecarOptions {
    let mut rolling = limited(8 * 1_024, WhenFull::Roll);
    rolling.blob_budget_bytes = 12 * 10;
    rolling
}

pub(super) fn blobs_go_with_the_lines_that_named_them(harness: &dyn TrajectoryStoreHarness) {
    let chat = session(CHAT);
    let mut writer = writer(harness, &small_and_rolling());
    let texts: Vec<String> = (0..200).map(|number| format!("number {number:03}")).collect();
    for text in &texts {
        // The first text is stored again each time.
        for text in [text, &texts[0]] {
            let (line, blob) = line_with_blob(&chat, text);
            writer.store_blob(&blob).expect("what rolled lines named makes room");
            writer.append(&[line], Room::Ordinary).expect("rolls on");
        }
    }
    let kept = String::from_utf8(harness.content(&chat).expect("exists")).expect("UTF-8");
    let mut named = 0;
    for text in &texts {
        let is_named = kept.contains(blob(text).digest().as_str());
        assert_eq!(has_blob(harness, text), is_named, "{text}");
        named += usize::from(is_named);
    }
    assert!((2..20).contains(&named), "{named}");
}

pub(super) fn blobs_stay_while_one_is_about_to_name_them(harness: &dyn TrajectoryStoreHarness) {
    let chat = session(CHAT);
    let rolling = small_and_rolling();
    let roll = |writer: &mut dyn SidecarWriter| {
        let filler = "x".repeat(1_000);
        for _ in 0..8 {
            let batch = lines(&chat, [filler.as_str()]);
            writer.append(&batch, Room::Ordinary).expect("rolls on");
        }
    };
    let (line, again) = line_with_blob(&chat, "come again");
    let (mut one, mut other) = (writer(harness, &rolling), writer(harness, &rolling));
    one.store_blob(&again).expect("stored");
    one.append(std::slice::from_ref(&line), Room::Ordinary).expect("appends");
    // Already stored, and named by a line that is rolled away before the new line exists.
    other.store_blob(&again).expect("is there");
    roll(one.as_mut());
    assert!(has_blob(harness, "come again"), "another writer is about to name it");
    other.append(std::slice::from_ref(&line), Room::Ordinary).expect("appends");
    one.store_blob(&again).expect("is there");
    roll(one.as_mut());
    assert!(has_blob(harness, "come again"), "the same writer is about to name it");
    one.append(&[line], Room::Ordinary).expect("appends");
    roll(one.as_mut());
    assert!(!has_blob(harness, "come again"), "nobody names it any more");
}
