//! The decisions of a recording, with storage that follows a script.

use std::collections::VecDeque;

use proptest::prelude::*;

use super::*;
use crate::capture::Capture;
use crate::event::{EventKind, RunContext};
use crate::id::SessionId;
use crate::json::Object;
use crate::limits::Limits;
use crate::redaction::{MarkerKey, RedactionPolicy, Redactor};
use crate::settings::Settings;
use crate::timestamp::UnixMillis;

/// The result of one call to the storage.
#[derive(Clone, Copy, Debug)]
enum Answer {
    Take,
    /// Accepts at most this many lines at once.
    NoSpaceAbove(usize),
    Full(u64),
    Storage,
    Refused,
}

impl Answer {
    fn to(self, lines: &[PendingLine]) -> Result<(), SidecarError> {
        let source = || "the script says so".into();
        match self {
            Self::Take => Ok(()),
            Self::NoSpaceAbove(most) if lines.len() <= most => Ok(()),
            Self::NoSpaceAbove(_) => Err(SidecarError::NoSpace { source: source() }),
            Self::Full(room) => Err(SidecarError::Full { limit: 10_000, room }),
            Self::Storage => Err(SidecarError::Storage { source: source() }),
            Self::Refused => Err(SidecarError::Refused { source: source() }),
        }
    }
}

/// A storage, and the lines that it received.
#[derive(Debug, Default)]
struct ScriptedStorage {
    answers: VecDeque<Answer>,
    written: Vec<String>,
    calls: Vec<usize>,
    closed: Vec<Dropped>,
}

impl ScriptedStorage {
    fn new(answers: impl IntoIterator<Item = Answer>) -> Self {
        Self { answers: answers.into_iter().collect(), ..Self::default() }
    }

    /// Executes steps until none is left; after the end of the script, all
    /// calls succeed.
    fn execute(&mut self, recording: &mut Recording, phase: Phase) -> AfterWrite {
        loop {
            let error = match recording.next_step() {
                WriteStep::Done => return recording.after_write(None, phase),
                WriteStep::Close(dropped) => {
                    self.closed.push(dropped);
                    continue;
                }
                WriteStep::Append(lines) => {
                    assert!(!lines.is_empty(), "an append of nothing");
                    self.calls.push(lines.len());
                    let answer = self.answers.pop_front().unwrap_or(Answer::Take);
                    match answer.to(lines) {
                        Ok(()) => {
                            self.written.extend(lines.iter().map(text_of));
                            recording.appended();
                            continue;
                        }
                        Err(error) => error,
                    }
                }
            };
            if recording.append_failed(&error).is_break() {
                return recording.after_write(Some(&error), phase);
            }
        }
    }
}

fn text_of(line: &PendingLine) -> String {
    let mut text = String::new();
    line.write(1, &mut text);
    text
}

fn options(when_full: WhenFull) -> SidecarOptions {
    SidecarOptions { when_full, ..SidecarOptions::from_settings(&Settings::standard()) }
}

/// Lines of roughly these lengths.
fn lines(lengths: &[usize]) -> Vec<PendingLine> {
    let redactor = Redactor::new(RedactionPolicy::standard(MarkerKey::new([7; 32])));
    let context = RunContext::new(SessionId::parse("chat").unwrap());
    let capture = Capture::new(redactor, Limits::standard(), &context);
    let line = |(number, length): (u64, &usize)| {
        let data = Object::from_iter([("words", "a ".repeat(*length))]);
        let event = Event::new(EventKind::ToolCall, Some(data));
        capture.prepare(event, UnixMillis::EPOCH).encode(number).unwrap()
    };
    (1..).zip(lengths).map(line).collect()
}

fn recording_of(lines: &[PendingLine], when_full: WhenFull) -> Recording {
    let mut recording = Recording::new(options(when_full));
    for line in lines {
        recording.push(line.clone()).unwrap();
    }
    recording
}

/// Writes ten equal lines with these answers. Returns how many lines each call
/// had, and the outcome.
fn ten(when_full: WhenFull, answers: &[Answer]) -> (Vec<usize>, AfterWrite, ScriptedStorage) {
    let mut recording = recording_of(&lines(&[10; 10]), when_full);
    let mut storage = ScriptedStorage::new(answers.iter().copied());
    let after = storage.execute(&mut recording, Phase::Running);
    (storage.calls.clone(), after, storage)
}

#[test]
fn a_storage_that_works_takes_everything_at_once() {
    let (calls, after, storage) = ten(WhenFull::Stop, &[]);
    assert_eq!((calls, after, storage.written.len()), (vec![10], AfterWrite::Settled, 10));
}

#[test]
fn a_full_disk_is_offered_half_until_it_takes_something() {
    let answers = [Answer::NoSpaceAbove(2); 20];
    let (calls, after, storage) = ten(WhenFull::Stop, &answers);
    assert_eq!(calls, [10, 5, 2, 3, 1, 2, 5, 2, 3, 1, 2]);
    assert_eq!((after, storage.written.len()), (AfterWrite::Settled, 10));
}

#[test]
fn pauses_grow_while_the_disk_is_full() {
    let mut recording = recording_of(&lines(&[10; 4]), WhenFull::Stop);
    let mut storage = ScriptedStorage::new([Answer::NoSpaceAbove(0); 6]);
    let pauses = [50, 100].map(Duration::from_millis);
    for pause in pauses {
        let after = storage.execute(&mut recording, Phase::Running);
        assert_eq!((after, recording.pause()), (AfterWrite::Retry(pause), Some(pause)));
    }
    assert_eq!((storage.calls.as_slice(), recording.waiting()), (&[4, 2, 1, 4, 2, 1][..], 4));
    assert_eq!(storage.execute(&mut recording, Phase::Running), AfterWrite::Settled);
    assert_eq!((recording.pause(), storage.written.len()), (None, 4));
}

#[test]
fn a_part_that_was_written_is_not_tried_again() {
    let (_, after, storage) =
        ten(WhenFull::Stop, &[Answer::NoSpaceAbove(5), Answer::Take, Answer::Storage]);
    assert_eq!(after, AfterWrite::Retry(Duration::from_millis(50)));
    assert_eq!((storage.calls, storage.written.len()), (vec![10, 5, 5], 5));
}

#[test]
fn a_failure_that_is_not_about_space_is_not_halved() {
    for answer in [Answer::Storage, Answer::Refused] {
        assert_eq!(ten(WhenFull::Roll, &[answer]).0, [10]);
    }
}

#[test]
fn lines_are_given_up_in_an_unsafe_place_and_at_the_end() {
    for (answer, phase) in [(Answer::Refused, Phase::Running), (Answer::Storage, Phase::Ending)] {
        let mut recording = recording_of(&lines(&[10; 3]), WhenFull::Stop);
        let after = ScriptedStorage::new([answer]).execute(&mut recording, phase);
        let AfterWrite::GivenUp(dropped) = after else { panic!("{after:?}") };
        assert_eq!((dropped.storage, dropped.total(), recording.waiting()), (3, 3, 0));
        assert!(dropped.bytes > 300 && recording.pause().is_none());
    }
}

#[test]
fn a_full_sidecar_takes_what_fits_and_is_closed_once() {
    let all = lines(&[10; 10]);
    let room = all.iter().take(3).map(bytes_in_file).sum::<usize>() as u64 + 1;
    let (calls, after, storage) = ten(WhenFull::Stop, &[Answer::Full(room)]);
    assert_eq!((calls, after, storage.written.len()), (vec![10, 3], AfterWrite::Settled, 3));
    let [dropped] = storage.closed.as_slice() else { panic!("{:?}", storage.closed) };
    assert_eq!((dropped.sidecar_full, dropped.total()), (7, 7));
}

#[test]
fn a_completely_full_sidecar_gets_only_the_final_report() {
    let mut recording = recording_of(&lines(&[10; 3]), WhenFull::Stop);
    let mut storage = ScriptedStorage::new([Answer::Full(0)]);
    assert_eq!(storage.execute(&mut recording, Phase::Running), AfterWrite::Settled);
    assert_eq!((storage.calls, storage.closed.len()), (vec![3], 1));
    assert!(recording.is_full());
    assert_eq!(recording.report_of(&storage.closed[0]).1, Room::Reserve);
}

#[test]
fn a_rolling_sidecar_takes_smaller_parts_instead() {
    let (calls, after, storage) = ten(WhenFull::Roll, &[Answer::Full(9_000)]);
    assert_eq!((calls, after, storage.closed.len()), (vec![10, 5, 5], AfterWrite::Settled, 0));
}

#[test]
fn a_line_too_large_for_a_rolling_sidecar_is_refused_at_once() {
    let line = lines(&[2_000]).remove(0);
    let mut small =
        Recording::new(SidecarOptions { limit_bytes: 2_000, ..options(WhenFull::Roll) });
    let error = small.push(line.clone()).unwrap_err();
    assert_eq!((error.limit, small.waiting()), (1_000, 0));
    let stopping = SidecarOptions { limit_bytes: 2_000, ..options(WhenFull::Stop) };
    assert!(Recording::new(stopping).push(line).is_ok());
}

#[test]
fn drops_are_reported_once_with_the_most_severe_reason() {
    let mut recording = Recording::new(options(WhenFull::Stop));
    let mut dropped = Dropped::default();
    assert_eq!(recording.unreported(&dropped), None);
    let mut report = |dropped: &Dropped| {
        let unreported = recording.unreported(dropped).unwrap();
        recording.mark_reported(dropped);
        assert_eq!(recording.unreported(dropped), None);
        (unreported.reason(), unreported.total())
    };
    dropped.queue_full = 2;
    assert_eq!(report(&dropped), ("trajectory-queue-limit", 2));
    (dropped.queue_full, dropped.too_large) = (3, 1);
    assert_eq!(report(&dropped), ("trajectory-event-size-limit", 2));
    (dropped.too_large, dropped.defect) = (2, 4);
    assert_eq!(report(&dropped), ("trajectory-storage-failure", 5));
    (dropped.storage, dropped.sidecar_full) = (1, 1);
    assert_eq!(report(&dropped), ("trajectory-runtime-file-size-limit", 2));
}

#[test]
fn drops_of_a_full_sidecar_are_reported_only_once() {
    let mut recording = recording_of(&lines(&[10; 3]), WhenFull::Stop);
    let mut storage = ScriptedStorage::new([Answer::Full(0)]);
    storage.execute(&mut recording, Phase::Running);
    let mut counted = storage.closed[0];
    assert_eq!(recording.unreported(&counted), None);
    counted.sidecar_full += 5;
    assert_eq!(recording.unreported(&counted).map(|dropped| dropped.total()), Some(5));
}

#[test]
fn numbering_continues_after_lines_and_reports() {
    let mut recording = recording_of(&lines(&[10; 3]), WhenFull::Stop);
    assert_eq!((recording.next_number(), recording.report_number()), (4, 1));
    ScriptedStorage::default().execute(&mut recording, Phase::Running);
    assert_eq!((recording.next_number(), recording.report_number()), (4, 4));
    recording.report_written();
    assert_eq!(recording.next_number(), 5);
}

fn answer() -> impl Strategy<Value = Answer> {
    prop_oneof![
        Just(Answer::Take),
        (0_usize..6).prop_map(Answer::NoSpaceAbove),
        (0_u64..3_000).prop_map(Answer::Full),
        Just(Answer::Storage),
        Just(Answer::Refused),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Whatever the storage does, each line is written once, dropped once or
    /// still pending; the order is kept, and the number of tries is bounded.
    #[test]
    fn every_line_has_one_end(
        lengths in prop::collection::vec(0_usize..60, 1..12),
        rounds in prop::collection::vec(prop::collection::vec(answer(), 0..12), 1..4),
        rolls in any::<bool>(),
    ) {
        let all = lines(&lengths);
        let mut recording = recording_of(&all, if rolls { WhenFull::Roll } else { WhenFull::Stop });
        let (mut written, mut dropped) = (Vec::new(), 0);
        let last = rounds.len() - 1;
        for (round, answers) in rounds.into_iter().enumerate() {
            let phase = if round == last { Phase::Ending } else { Phase::Running };
            let before = recording.waiting();
            let mut storage = ScriptedStorage::new(answers);
            let after = storage.execute(&mut recording, phase);
            prop_assert!(storage.calls.len() <= 3 * before.max(1), "{:?}", storage.calls);
            written.append(&mut storage.written);
            dropped += storage.closed.iter().map(Dropped::total).sum::<u64>();
            match after {
                AfterWrite::Settled => prop_assert_eq!(recording.waiting(), 0),
                AfterWrite::Retry(_) => {
                    prop_assert!(phase == Phase::Running && recording.waiting() > 0);
                }
                AfterWrite::GivenUp(lost) => {
                    dropped += lost.total();
                    prop_assert_eq!(recording.waiting(), 0);
                }
            }
            let ends = written.len() + usize::try_from(dropped).unwrap();
            prop_assert_eq!(ends + recording.waiting(), all.len());
        }
        prop_assert_eq!(recording.waiting(), 0);
        let mut expected = all.iter().map(text_of);
        prop_assert!(written.iter().all(|line| expected.any(|other| other == *line)), "the order");
    }
}
