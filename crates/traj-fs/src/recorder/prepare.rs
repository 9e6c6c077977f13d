//! Turns the events of a batch into lines: nearly all of the writer's work, and
//! the part that two threads can share.
//!
//! A batch is split into shares. The writer and its helper take shares until
//! none is left, so the slower thread takes fewer. While the writer writes a
//! batch, the helper begins with the next one.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Scope};

use traj_core::capture::{BlockMemory, Capture, Captured, LineBlock};
use traj_core::event::Event;
use traj_core::port::Clock;

use super::queue::{EventBatch, TakenEvents};

/// Preparing this many events takes much longer than waking a thread. Smaller
/// batches never start a second thread.
pub(super) const WORTH_A_THREAD: usize = 128;

/// Events in a share: enough to make taking one cheap, and few enough that
/// neither thread waits long for the other's last share.
const SHARE_EVENTS: usize = 32;

/// Larger buffers are not kept for a single large event.
const KEPT_TEXT_BYTES: usize = 128 * 1024;

/// Redacts events, cuts them to their limits and encodes them.
pub(super) struct Preparer<'scope, 'env> {
    scope: &'scope Scope<'scope, 'env>,
    capture: &'env Capture,
    clock: &'env dyn Clock,
    /// Started with the first batch that is large enough.
    helper: Option<PrepareHelper<'env>>,
    /// Buffers of lines, reusable once the lines are written.
    texts: Vec<BlockMemory>,
}

/// Another thread that takes shares.
struct PrepareHelper<'c> {
    work: Sender<Arc<Mutex<BatchShares>>>,
    done: Receiver<(usize, LineBlock<'c>)>,
}

/// A batch that the helper may have begun with.
pub(super) struct BegunBatch {
    pub(super) taken: TakenEvents,
    shares: Arc<Mutex<BatchShares>>,
}

/// The shares of a batch that nobody has taken yet.
struct BatchShares {
    events: std::vec::IntoIter<Event>,
    /// The number of the next share.
    next: usize,
    /// Memory for lines.
    texts: Vec<String>,
}

impl<'scope, 'env> Preparer<'scope, 'env> {
    pub(super) const fn new(
        scope: &'scope Scope<'scope, 'env>,
        capture: &'env Capture,
        clock: &'env dyn Clock,
    ) -> Self {
        Self { scope, capture, clock, helper: None, texts: Vec::new() }
    }

    /// Lets the helper begin with a batch that is large enough. No other batch
    /// is begun before this one is complete.
    pub(super) fn begin(&mut self, batch: EventBatch) -> BegunBatch {
        let EventBatch { events, taken } = batch;
        let texts = self.texts.drain(..).filter_map(BlockMemory::reclaim);
        let shares = BatchShares { events: events.into_iter(), next: 0, texts: texts.collect() };
        let shares = Arc::new(Mutex::new(shares));
        if taken.events >= WORTH_A_THREAD {
            self.call_helper(&shares);
        }
        BegunBatch { taken, shares }
    }

    /// The outcome for each event, in order. A defect costs only the event that
    /// triggered it.
    pub(super) fn captured(
        &mut self,
        blocks: Vec<LineBlock<'env>>,
    ) -> impl Iterator<Item = Captured<'env>> {
        blocks.into_iter().flat_map(|block| {
            let (text, captured) = block.finish();
            if text.capacity() <= KEPT_TEXT_BYTES {
                self.texts.push(text);
            }
            captured
        })
    }

    /// Prepares the shares that the helper has not taken, and waits for the
    /// others.
    pub(super) fn complete(&self, begun: &BegunBatch) -> Vec<LineBlock<'env>> {
        let count = begun.taken.events;
        let share_count = count.div_ceil(SHARE_EVENTS);
        let mut done = Vec::with_capacity(share_count);
        while let Some(share) = prepare_share(self.capture, self.clock, &begun.shares) {
            done.push(share);
        }
        // The helper has the shares that the writer did not take.
        while done.len() < share_count
            && let Some(share) = self.helper.as_ref().and_then(|helper| helper.done.recv().ok())
        {
            done.push(share);
        }
        if done.len() < share_count {
            self.note_lost(&mut done, count);
        }
        done.sort_unstable_by_key(|(place, _)| *place);
        done.into_iter().map(|(_, block)| block).collect()
    }

    /// Fills in for the shares of a helper that died. Their events count as
    /// lost to a defect and keep their positions.
    fn note_lost(&self, done: &mut Vec<(usize, LineBlock<'env>)>, event_count: usize) {
        for (place, start) in (0..event_count).step_by(SHARE_EVENTS).enumerate() {
            if !done.iter().any(|(known, _)| *known == place) {
                let events = SHARE_EVENTS.min(event_count - start);
                let mut block = LineBlock::new(self.capture, String::new(), events);
                (0..events).for_each(|_| block.add_nothing());
                done.push((place, block));
            }
        }
    }

    /// Lets the helper take shares too. Without a helper, the writer takes them
    /// all.
    fn call_helper(&mut self, shares: &Arc<Mutex<BatchShares>>) {
        let helper = match self.helper.take() {
            Some(helper) => helper,
            None => {
                let Some(started) = self.start_helper() else { return };
                started
            }
        };
        if helper.work.send(Arc::clone(shares)).is_ok() {
            self.helper = Some(helper);
        }
    }

    fn start_helper(&self) -> Option<PrepareHelper<'env>> {
        let (work, wanted) = channel::<Arc<Mutex<BatchShares>>>();
        let (finished, done) = channel();
        let (capture, clock) = (self.capture, self.clock);
        let run = move || {
            for shares in wanted {
                while let Some(share) = prepare_share(capture, clock, &shares) {
                    // If the writer is gone, nobody needs the share.
                    finished.send(share).ok();
                }
            }
        };
        let started =
            thread::Builder::new().name("traj-recorder".to_owned()).spawn_scoped(self.scope, run);
        started.is_ok().then_some(PrepareHelper { work, done })
    }
}

/// Takes a share, if one is left, and turns it into lines.
fn prepare_share<'c>(
    capture: &'c Capture,
    clock: &dyn Clock,
    shares: &Mutex<BatchShares>,
) -> Option<(usize, LineBlock<'c>)> {
    let (place, events, text) = lock(shares).take()?;
    let mut block = LineBlock::new(capture, text, events.len());
    for event in events {
        let added = catch_unwind(AssertUnwindSafe(|| {
            let at = event.at.unwrap_or_else(|| clock.now());
            block.add(event, at);
        }));
        if added.is_err() {
            block.add_nothing();
        }
    }
    Some((place, block))
}

fn lock(shares: &Mutex<BatchShares>) -> MutexGuard<'_, BatchShares> {
    // Taking a share leaves nothing half done.
    shares.lock().unwrap_or_else(PoisonError::into_inner)
}

impl BatchShares {
    fn take(&mut self) -> Option<(usize, Vec<Event>, String)> {
        let events: Vec<Event> = self.events.by_ref().take(SHARE_EVENTS).collect();
        if events.is_empty() {
            return None;
        }
        let place = self.next;
        self.next += 1;
        Some((place, events, self.texts.pop().unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use traj_core::event::{EventKind, RunContext};
    use traj_core::id::SessionId;
    use traj_core::json::Object;
    use traj_core::redaction::{MarkerKey, RedactionPolicy, Redactor};
    use traj_core::settings::Settings;
    use traj_core::timestamp::UnixMillis;

    use super::*;

    /// A clock that panics; events with a time do not ask it.
    #[derive(Debug)]
    struct BrokenClock;

    impl Clock for BrokenClock {
        fn now(&self) -> UnixMillis {
            unreachable!("a defect of the clock")
        }
    }

    fn event(number: usize) -> Event {
        let mut data = Object::new();
        data.push("number", number);
        let mut event = Event::new(EventKind::parse("test.event"), Some(data));
        event.at = (number % 10 != 3).then_some(UnixMillis::EPOCH);
        event
    }

    fn batch(events: Vec<Event>) -> EventBatch {
        let taken = TakenEvents { events: events.len(), bytes: 0 };
        EventBatch { events, taken }
    }

    fn prepare<'c>(preparer: &mut Preparer<'_, 'c>, events: Vec<Event>) -> Vec<Captured<'c>> {
        let begun = preparer.begin(batch(events));
        let blocks = preparer.complete(&begun);
        preparer.captured(blocks).collect()
    }

    #[test]
    fn events_stay_in_order_and_a_defect_costs_only_its_event() {
        let redactor = Redactor::new(RedactionPolicy::standard(MarkerKey::new([7; 32])));
        let context = RunContext::new(SessionId::parse("chat").unwrap());
        let capture = Capture::new(redactor, Settings::standard().limits, &context);
        thread::scope(|scope| {
            let mut preparer = Preparer::new(scope, &capture, &BrokenClock);
            for count in [0, 1, WORTH_A_THREAD - 1, WORTH_A_THREAD, WORTH_A_THREAD + 1, 500] {
                let captured = prepare(&mut preparer, (0..count).map(event).collect());
                assert_eq!(captured.len(), count);
                for (number, captured) in captured.into_iter().enumerate() {
                    let Captured::Line(unnumbered) = captured else {
                        assert_eq!(number % 10, 3);
                        continue;
                    };
                    let mut line = String::new();
                    unnumbered.numbered(1).write(1, &mut line);
                    assert!(line.contains(&format!("\"number\":{number}}}")), "{line}");
                }
            }
        });
    }

    #[test]
    fn pending_lines_keep_their_text() {
        let redactor = Redactor::new(RedactionPolicy::standard(MarkerKey::new([7; 32])));
        let context = RunContext::new(SessionId::parse("chat").unwrap());
        let capture = Capture::new(redactor, Settings::standard().limits, &context);
        thread::scope(|scope| {
            let mut preparer = Preparer::new(scope, &capture, &BrokenClock);
            let kept = prepare(&mut preparer, vec![event(1)]);
            for number in 4..9 {
                assert_eq!(prepare(&mut preparer, vec![event(number)]).len(), 1);
            }
            let [Captured::Line(line)] = kept.as_slice() else { unreachable!("one line") };
            let mut text = String::new();
            line.clone().numbered(1).write(1, &mut text);
            assert!(text.contains("\"number\":1}"), "{text}");
        });
    }

    #[test]
    fn a_batch_begun_ahead_does_not_change_earlier_lines() {
        let redactor = Redactor::new(RedactionPolicy::standard(MarkerKey::new([7; 32])));
        let context = RunContext::new(SessionId::parse("chat").unwrap());
        let capture = Capture::new(redactor, Settings::standard().limits, &context);
        let numbers = |turn: usize| (0..200).map(move |place| 10 * (turn * 200 + place));
        thread::scope(|scope| {
            let mut preparer = Preparer::new(scope, &capture, &BrokenClock);
            let mut begun = preparer.begin(batch(numbers(0).map(event).collect()));
            for turn in 0..20 {
                let blocks = preparer.complete(&begun);
                begun = preparer.begin(batch(numbers(turn + 1).map(event).collect()));
                let mut text = String::new();
                for captured in preparer.captured(blocks) {
                    let Captured::Line(line) = captured else { unreachable!("a line each") };
                    line.numbered(1).write(1, &mut text);
                }
                let endings: Vec<_> =
                    numbers(turn).map(|number| format!("\"number\":{number}}}}}")).collect();
                assert_eq!(text.lines().count(), endings.len());
                assert!(text.lines().zip(&endings).all(|(line, end)| line.ends_with(end)));
            }
        });
    }
}
