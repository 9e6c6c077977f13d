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
