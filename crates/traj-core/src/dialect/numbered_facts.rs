//! The facts of one row of a transcript, numbered in their order.

use crate::json::Json;
use crate::run::{Fact, Origin, Place, RunEvent};

/// Makes events of the facts of a row, and numbers them. `complete` adds what all
/// of them share, such as their time.
pub(super) fn numbered_facts<'r>(
    row: &'r Json<'r>,
    place: Place,
    emit: &mut dyn FnMut(RunEvent<'r>),
    complete: impl Fn(&mut RunEvent<'r>),
) -> impl FnMut(Fact<'r>) {
    let mut step = 0;
    move |fact| {
        let mut event = RunEvent::new(Origin::Transcript, place.step(step), row, fact);
        step += 1;
        complete(&mut event);
        emit(event);
    }
}
