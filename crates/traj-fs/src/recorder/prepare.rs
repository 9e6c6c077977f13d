//! Redacting the events of a batch: most of the writer's work, and the part
//! that two threads can share.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};
use std::thread;

use traj_core::capture::{Capture, Prepared};
use traj_core::event::Event;
use traj_core::port::Clock;

/// So many events take a good deal longer than starting a thread. A host that
/// records less than that at once never sees a second one.
const WORTH_A_THREAD: usize = 128;

/// Redacts events and cuts them to their limits, in order; `None` for one that
/// met a defect, which must cost this event and not the recorder.
pub(super) fn prepare_all<'c>(
    capture: &'c Capture,
    clock: &dyn Clock,
    mut events: Vec<Event>,
) -> Vec<Option<Prepared<'c>>> {
    let prepare = |events: Vec<Event>| -> Vec<_> {
        events.into_iter().map(|event| prepare_one(capture, clock, event)).collect()
    };
    if events.len() < WORTH_A_THREAD {
        return prepare(events);
    }
    let later_count = events.len() / 2;
    let later = Mutex::new(events.split_off(events.len() - later_count));
    // Whoever comes first takes them: the helper, or the writer without one.
    let prepare_later =
        || prepare(std::mem::take(&mut *later.lock().unwrap_or_else(PoisonError::into_inner)));
    thread::scope(|scope| {
        let helper = thread::Builder::new()
            .name("traj-recorder".to_owned())
            .spawn_scoped(scope, prepare_later);
        let mut prepared = prepare(events);
        match helper.map(thread::ScopedJoinHandle::join) {
            Ok(Ok(later)) => prepared.extend(later),
            Ok(Err(_)) => prepared.extend((0..later_count).map(|_| None)),
            Err(_) => prepared.extend(prepare_later()),
        }
        prepared
    })
}

fn prepare_one<'c>(capture: &'c Capture, clock: &dyn Clock, event: Event) -> Option<Prepared<'c>> {
    catch_unwind(AssertUnwindSafe(|| {
        let at = event.at.unwrap_or_else(|| clock.now());
        capture.prepare(event, at)
    }))
    .ok()
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

    /// Events that bring their time do not ask for it.
    #[derive(Debug)]
    struct BrokenClock;

    impl Clock for BrokenClock {
        fn now(&self) -> UnixMillis {
            unreachable!("a defect of the clock's")
        }
    }

    fn event(number: usize) -> Event {
        let mut data = Object::new();
        data.push("number", number);
        let mut event = Event::new(EventKind::parse("test.event"), Some(data));
        event.at = (number % 10 != 3).then_some(UnixMillis::EPOCH);
        event
    }

    #[test]
    fn events_stay_in_order_and_a_defect_costs_its_event_only() {
        let redactor = Redactor::new(RedactionPolicy::standard(MarkerKey::new([7; 32])));
        let context = RunContext::new(SessionId::parse("chat").unwrap());
        let capture = Capture::new(redactor, Settings::standard().limits, &context);
        for count in [0, 1, WORTH_A_THREAD - 1, WORTH_A_THREAD, WORTH_A_THREAD + 1, 500] {
            let prepared = prepare_all(&capture, &BrokenClock, (0..count).map(event).collect());
            assert_eq!(prepared.len(), count);
            for (number, prepared) in prepared.into_iter().enumerate() {
                let Some(mut prepared) = prepared else {
                    assert_eq!(number % 10, 3);
                    continue;
                };
                let mut line = String::new();
                prepared.encode(1).unwrap().write(1, &mut line);
                assert!(line.contains(&format!("\"number\":{number}}}")), "{line}");
            }
        }
    }
}
