//! What every [`TurnLeases`] promises.

use traj_core::port::{BindingKey, TurnLease, TurnLeases};

/// Leases to test, with their resources.
pub trait TurnLeasesHarness {
    /// The leases, as one more process sees them.
    fn leases(&self) -> Box<dyn TurnLeases>;
}

suite! {
    $ turn_leases on TurnLeasesHarness:
    one_holder_at_a_time,
    each_session_has_its_own_lease,
    a_released_lease_can_be_taken_again_and_again,
    of_many_at_once_one_gets_it,
}

fn key(name: &str) -> BindingKey {
    BindingKey::parse(name).expect("a plain name")
}

fn take(leases: &dyn TurnLeases, name: &str) -> Option<Box<dyn TurnLease>> {
    leases.try_take(&key(name)).expect("a lease can be asked for")
}

fn one_holder_at_a_time(harness: &dyn TurnLeasesHarness) {
    let (one, other) = (harness.leases(), harness.leases());
    let held = take(&*one, "s.jsonl").expect("nobody holds it");
    assert!(take(&*other, "s.jsonl").is_none());
    assert!(take(&*one, "s.jsonl").is_none(), "nor does the holder get it twice");
    drop(held);
    assert!(take(&*other, "s.jsonl").is_some());
}

fn each_session_has_its_own_lease(harness: &dyn TurnLeasesHarness) {
    let leases = harness.leases();
    let _held = take(&*leases, "s.jsonl").expect("nobody holds it");
    assert!(take(&*leases, "t.jsonl").is_some());
    assert!(take(&*leases, "s").is_some());
}

fn a_released_lease_can_be_taken_again_and_again(harness: &dyn TurnLeasesHarness) {
    let leases = harness.leases();
    for _ in 0..20 {
        assert!(take(&*leases, "s.jsonl").is_some());
    }
}

/// Threads take and release the lease; never do two hold it.
fn of_many_at_once_one_gets_it(harness: &dyn TurnLeasesHarness) {
    use std::sync::atomic::{AtomicU32, Ordering};
    let (holders, taken) = (AtomicU32::new(0), AtomicU32::new(0));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let leases = harness.leases();
            let (holders, taken) = (&holders, &taken);
            scope.spawn(move || {
                for _ in 0..500 {
                    let Some(lease) = take(&*leases, "s.jsonl") else { continue };
                    assert_eq!(holders.fetch_add(1, Ordering::SeqCst), 0, "two hold it");
                    taken.fetch_add(1, Ordering::SeqCst);
                    holders.fetch_sub(1, Ordering::SeqCst);
                    drop(lease);
                }
            });
        }
    });
    assert!(taken.load(Ordering::SeqCst) > 0);
}
