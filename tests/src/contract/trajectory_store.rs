//! What every [`TrajectoryStore`] promises.

mod blobs;

use std::ops::ControlFlow;

use traj_core::capture::BlobDigest;
use traj_core::id::SessionId;
use traj_core::port::{
    MAX_SEQUENCE, Room, SidecarError, SidecarOptions, SidecarWriter, TrajectoryStore,
    is_credible_sequence,
};
use traj_core::settings::WhenFull;

use self::blobs::{
    blobs_are_stored_once_and_within_their_budget, blobs_go_with_the_lines_that_named_them,
    blobs_stay_while_one_is_about_to_name_them,
};
use crate::sidecar::{SidecarContent, lines, options, session};

/// A store under test, and ways to inspect and disturb it.
pub trait TrajectoryStoreHarness {
    /// The store. Several calls return stores that share their data, as
    /// processes do.
    fn store(&self) -> Box<dyn TrajectoryStore>;
    /// Appends bytes to a sidecar as a crash or another program would leave them.
    fn write_foreign(&self, session: &SessionId, bytes: &[u8]);
    /// The content of a sidecar; `None` if it does not exist.
    fn content(&self, session: &SessionId) -> Option<Vec<u8>>;
}

suite! {
    $ trajectory_store on TrajectoryStoreHarness:
    nothing_exists_before_the_first_line,
    batches_are_numbered_across_writers,
    a_batch_that_does_not_fit_leaves_nothing,
    the_reserve_is_for_the_last_word,
    rolling_keeps_the_newest_whole_lines,
    rolling_refuses_what_no_sidecar_can_hold,
    a_torn_line_is_closed_off,
    a_torn_line_goes_with_the_rolled_ones,
    zeros_are_closed_off_wherever_they_are,
    a_number_after_zeros_is_not_given_again,
    numbers_of_others_are_taken_up,
    impossible_numbers_are_not_believed,
    numbers_go_on_after_the_highest_that_is_believed,
    blobs_are_stored_once_and_within_their_budget,
    blobs_go_with_the_lines_that_named_them,
    blobs_stay_while_one_is_about_to_name_them,
    visiting_stops_when_asked,
    sessions_do_not_mix,
}

const CHAT: &str = "chat";

fn writer(
    harness: &dyn TrajectoryStoreHarness,
    options: &SidecarOptions,
) -> Box<dyn SidecarWriter> {
    harness.store().open(&session(CHAT), options).expect("opens")
}

fn content(harness: &dyn TrajectoryStoreHarness) -> SidecarContent {
    SidecarContent::of(&harness.content(&session(CHAT)).unwrap_or_default())
}

/// The size of a line with this text and a number of one digit.
fn line_bytes(text: &str) -> u64 {
    let mut line = String::new();
    for pending in lines(&session(CHAT), [text]) {
        pending.write(1, &mut line);
    }
    line.len() as u64
}

fn limited(limit_bytes: u64, when_full: WhenFull) -> SidecarOptions {
    let mut options = options();
    (options.limit_bytes, options.when_full) = (limit_bytes, when_full);
    options
}

fn nothing_exists_before_the_first_line(harness: &dyn TrajectoryStoreHarness) {
    let chat = session(CHAT);
    let mut writer = writer(harness, &limited(100, WhenFull::Stop));
    writer.flush().expect("there is nothing to do");
    writer.append(&[], Room::Ordinary).expect("nothing is appended");
    let too_much = writer.append(&lines(&chat, ["text"]), Room::Ordinary);
    assert!(matches!(too_much, Err(SidecarError::Full { .. })));
    assert_eq!(harness.content(&chat), None);
    let mut seen = 0;
    let mut count = |_: &[u8]| {
        seen += 1;
        ControlFlow::Continue(())
    };
    harness.store().visit(&chat, &mut count).expect("a missing sidecar has no lines");
    assert_eq!(seen, 0);
    let missing = harness.store().read_blob(&chat, &BlobDigest::of(b"nothing"));
    assert_eq!(missing.expect("a missing blob is not an error"), None);
}

fn batches_are_numbered_across_writers(harness: &dyn TrajectoryStoreHarness) {
    let chat = session(CHAT);
    let (mut one, mut other) = (writer(harness, &options()), writer(harness, &options()));
    let first = one.append(&lines(&chat, ["a", "b"]), Room::Ordinary).expect("appends");
    let second = other.append(&lines(&chat, ["c"]), Room::Ordinary).expect("appends");
    let third = one.append(&lines(&chat, ["d", "e"]), Room::Ordinary).expect("appends");
    let numbers = [first, second, third].map(|appended| appended.first_source_sequence);
    assert_eq!(numbers, [1, 3, 4]);
    let bytes: u64 = [first, second, third].iter().map(|appended| appended.bytes).sum();
    assert_eq!(bytes, harness.content(&chat).expect("exists").len() as u64);
    let found = content(harness);
    found.assert_sound();
    assert_eq!(found.texts(), ["a", "b", "c", "d", "e"]);
}

fn a_batch_that_does_not_fit_leaves_nothing(harness: &dyn TrajectoryStoreHarness) {
    let chat = session(CHAT);
    // With a small limit, half of it is the reserve.
    let limited = limited(6 * line_bytes("a"), WhenFull::Stop);
    let mut writer = writer(harness, &limited);
    writer.append(&lines(&chat, ["a"]), Room::Ordinary).expect("one of three fits");
    let before = harness.content(&chat);
    let error = writer.append(&lines(&chat, ["b", "c", "d"]), Room::Ordinary);
    let Err(SidecarError::Full { limit, room }) = error else {
        unreachable!("three more do not fit: {error:?}");
    };
    assert_eq!((limit, room), (6 * line_bytes("a"), 2 * line_bytes("a")));
    assert_eq!(harness.content(&chat), before);
    let appended = writer.append(&lines(&chat, ["b", "c"]), Room::Ordinary).expect("two fit");
    assert_eq!(appended.first_source_sequence, 2, "a failure takes no number");
    content(harness).assert_sound();
}

fn the_reserve_is_for_the_last_word(harness: &dyn TrajectoryStoreHarness) {
    let chat = session(CHAT);
    let mut writer = writer(harness, &limited(2 * line_bytes("a"), WhenFull::Stop));
    writer.append(&lines(&chat, ["a"]), Room::Ordinary).expect("fits");
    let ordinary = writer.append(&lines(&chat, ["b"]), Room::Ordinary);
    assert!(matches!(ordinary, Err(SidecarError::Full { room: 0, .. })));
    writer.append(&lines(&chat, ["b"]), Room::Reserve).expect("the reserve has room");
    let over = writer.append(&lines(&chat, ["c"]), Room::Reserve);
    assert!(matches!(over, Err(SidecarError::Full { room: 0, .. })));
    assert_eq!(content(harness).texts(), ["a", "b"]);
}

fn rolling_keeps_the_newest_whole_lines(harness: &dyn TrajectoryStoreHarness) {
    let chat = session(CHAT);
    let limit = 20 * line_bytes("text 00");
    let rolling = limited(limit, WhenFull::Roll);
    let (mut one, mut other) = (writer(harness, &rolling), writer(harness, &rolling));
    let texts: Vec<String> = (0..60).map(|number| format!("text {number:02}")).collect();
    let mut rolled = 0;
    for (index, text) in texts.iter().enumerate() {
        let writer = if index % 3 == 0 { &mut other } else { &mut one };
        let batch = lines(&chat, [text.as_str()]);
        rolled += writer.append(&batch, Room::Ordinary).expect("rolls on").rolled_lines;
        assert!(harness.content(&chat).expect("exists").len() as u64 <= limit);
    }
    let found = content(harness);
    found.assert_sound();
    let kept = found.rows.len();
    assert!(rolled > 0 && kept >= 5, "{kept} lines kept");
    assert_eq!(rolled as usize + kept, texts.len(), "every line is kept or counted");
    let newest: Vec<&str> = texts.iter().skip(texts.len() - kept).map(String::as_str).collect();
    assert_eq!(found.texts(), newest);
    assert_eq!(found.rows.last().expect("some").source_sequence, texts.len() as u64);
}

fn rolling_refuses_what_no_sidecar_can_hold(harness: &dyn TrajectoryStoreHarness) {
    let chat = session(CHAT);
    let mut writer = writer(harness, &limited(2 * line_bytes("a"), WhenFull::Roll));
    writer.append(&lines(&chat, ["a"]), Room::Ordinary).expect("fits");
    let before = harness.content(&chat);
    let error = writer.append(&lines(&chat, ["b", "c"]), Room::Ordinary);
    assert!(matches!(error, Err(SidecarError::Full { .. })));
    assert_eq!(harness.content(&chat), before);
    writer.append(&lines(&chat, ["b"]), Room::Ordinary).expect("takes the other's place");
    assert_eq!(content(harness).texts(), ["b"]);
}

fn a_torn_line_is_closed_off(harness: &dyn TrajectoryStoreHarness) {
    let chat = session(CHAT);
    let mut one = writer(harness, &options());
    one.append(&lines(&chat, ["a"]), Room::Ordinary).expect("appends");
    harness.write_foreign(&chat, br#"{"traceSchema":"openclaw-trajectory","sch"#);
    let mut seen = Vec::new();
    let mut keep = |line: &[u8]| {
        seen.push(line.to_vec());
        ControlFlow::Continue(())
    };
    harness.store().visit(&chat, &mut keep).expect("readable");
    assert_eq!(seen.len(), 1, "a torn line is not shown as a line");
    one.append(&lines(&chat, ["b"]), Room::Ordinary).expect("appends");
    harness.write_foreign(&chat, b"{");
    writer(harness, &options()).append(&lines(&chat, ["c"]), Room::Ordinary).expect("appends");
    let found = content(harness);
    assert_eq!((found.texts(), found.closed_torn_lines), (vec!["a", "b", "c"], 2));
    assert!(!found.ends_torn);
    found.assert_numbered();
}

/// A power failure leaves zeros instead of lines that were not on the disk.
fn zeros_are_closed_off_wherever_they_are(harness: &dyn TrajectoryStoreHarness) {
    let chat = session(CHAT);
    harness.write_foreign(&chat, &[0; 500]);
    writer(harness, &options()).append(&lines(&chat, ["a"]), Room::Ordinary).expect("appends");
    harness.write_foreign(&chat, &[0; 70_000]);
    writer(harness, &options()).append(&lines(&chat, ["b"]), Room::Ordinary).expect("appends");
    let found = content(harness);
    assert_eq!((found.texts(), found.closed_torn_lines), (vec!["a", "b"], 2));
    found.assert_numbered();
}

fn a_number_after_zeros_is_not_given_again(harness: &dyn TrajectoryStoreHarness) {
    let chat = session(CHAT);
    let mut foreign = "\0".repeat(70_000);
    for line in lines(&chat, ["old"]) {
        line.write(41, &mut foreign);
    }
    harness.write_foreign(&chat, foreign.as_bytes());
    let appended = writer(harness, &options()).append(&lines(&chat, ["new"]), Room::Ordinary);
    assert_eq!(appended.expect("appends").first_source_sequence, 42);
}

fn a_torn_line_goes_with_the_rolled_ones(harness: &dyn TrajectoryStoreHarness) {
    let chat = session(CHAT);
    let rolling = limited(4 * line_bytes("a"), WhenFull::Roll);
    writer(harness, &rolling).append(&lines(&chat, ["a"]), Room::Ordinary).expect("appends");
    let torn = format!("{{\"traceSchema\":\"openclaw-trajectory\"{}", " ".repeat(400));
    harness.write_foreign(&chat, torn.as_bytes());
    let mut late = writer(harness, &rolling);
    late.append(&lines(&chat, ["b", "c"]), Room::Ordinary).expect("rolls on");
    let found = content(harness);
    assert_eq!(found.texts(), ["b", "c"]);
    found.assert_sound();
}

fn numbers_of_others_are_taken_up(harness: &dyn TrajectoryStoreHarness) {
    let chat = session(CHAT);
    let mut foreign = String::new();
    for line in lines(&chat, ["old"]) {
        line.write(41, &mut foreign);
    }
    // In a row without `sourceSeq`, as other recorders write it, `seq` counts.
    foreign.push_str(
        &foreign.clone().replace(r#""sourceSeq":41,"#, "").replace("\"seq\":1,", "\"seq\":57,"),
    );
    harness.write_foreign(&chat, foreign.as_bytes());
    let mut writer = writer(harness, &options());
    let appended = writer.append(&lines(&chat, ["new"]), Room::Ordinary).expect("appends");
    assert_eq!(appended.first_source_sequence, 58);
}

fn impossible_numbers_are_not_believed(harness: &dyn TrajectoryStoreHarness) {
    let chat = session(CHAT);
    let mut foreign = String::new();
    for number in [MAX_SEQUENCE, MAX_SEQUENCE - 5, u64::MAX] {
        for line in lines(&chat, ["old"]) {
            line.write(number, &mut foreign);
        }
    }
    harness.write_foreign(&chat, foreign.as_bytes());
    let mut one = writer(harness, &options());
    let appended = one.append(&lines(&chat, ["a", "b"]), Room::Ordinary).expect("appends");
    assert_eq!(appended.first_source_sequence, 2, "after `seq` of the line before");
    let mut next = writer(harness, &options());
    let appended = next.append(&lines(&chat, ["c"]), Room::Ordinary).expect("appends");
    assert_eq!(appended.first_source_sequence, 4);
}

/// The numbers after the highest credible one are distinct, and every reader can
/// represent them exactly.
fn numbers_go_on_after_the_highest_that_is_believed(harness: &dyn TrajectoryStoreHarness) {
    let chat = session(CHAT);
    let credible = (0..64).map(|bit| 1_u64 << bit).filter(|n| is_credible_sequence(*n, 0)).max();
    let credible = credible.expect("small numbers are believed");
    let mut foreign = String::new();
    for line in lines(&chat, ["old"]) {
        line.write(credible, &mut foreign);
    }
    harness.write_foreign(&chat, foreign.as_bytes());
    for number in 1..4 {
        // Each time with a new writer, which knows only the file.
        let appended = writer(harness, &options()).append(&lines(&chat, ["new"]), Room::Ordinary);
        let given = appended.expect("appends").first_source_sequence;
        assert_eq!(given, credible + number);
        assert!(given <= MAX_SEQUENCE);
    }
}

fn visiting_stops_when_asked(harness: &dyn TrajectoryStoreHarness) {
    let chat = session(CHAT);
    let mut writer = writer(harness, &options());
    writer.append(&lines(&chat, ["a", "b", "c"]), Room::Ordinary).expect("appends");
    let mut seen = Vec::new();
    let mut two = |line: &[u8]| {
        seen.push(String::from_utf8_lossy(line).into_owned());
        if seen.len() == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    harness.store().visit(&chat, &mut two).expect("readable");
    assert_eq!(seen.len(), 2);
    assert!(seen.iter().all(|line| !line.ends_with('\n') && line.starts_with('{')));
}

fn sessions_do_not_mix(harness: &dyn TrajectoryStoreHarness) {
    // Other recorders would use the same file for both.
    let (plain, odd) = (session("a_b"), session("a/b"));
    let store = harness.store();
    let mut writer = store.open(&plain, &options()).expect("opens");
    writer.append(&lines(&plain, ["plain"]), Room::Ordinary).expect("appends");
    let mut seen = 0;
    let mut count = |_: &[u8]| {
        seen += 1;
        ControlFlow::Continue(())
    };
    store.visit(&odd, &mut count).expect("readable");
    assert_eq!(seen, 0, "another session's lines");
    let mut writer = store.open(&odd, &options()).expect("opens");
    writer.append(&lines(&odd, ["odd"]), Room::Ordinary).expect("appends");
    let texts = |session| {
        let content = SidecarContent::of(&harness.content(session).unwrap_or_default());
        content.texts().join(",")
    };
    assert_eq!((texts(&plain).as_str(), texts(&odd).as_str()), ("plain", "odd"));
}
