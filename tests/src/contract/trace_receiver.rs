//! What every [`TraceReceiver`] promises.

use std::time::Duration;

use traj_core::port::{TraceAnswer, TraceReceiver, TraceReceiverError};

/// A receiver to test, with its resources.
pub trait TraceReceiverHarness {
    /// A receiver that gives these answers, one after the other; `None` is a
    /// connection that ends early. After the last one, nobody answers.
    fn receiver(&self, answers: Vec<Option<TraceAnswer>>) -> Box<dyn TraceReceiver>;

    /// The requests that arrived, as they were sent.
    fn received(&self) -> Vec<Vec<u8>>;
}

suite! {
    $ trace_receiver on TraceReceiverHarness:
    gives_every_answer_in_our_terms,
    sends_each_request_once_and_unchanged,
    reports_a_connection_that_ends,
}

fn gives_every_answer_in_our_terms(harness: &dyn TraceReceiverHarness) {
    let answers = [
        TraceAnswer::Taken { rejected: 0 },
        TraceAnswer::Taken { rejected: 3 },
        TraceAnswer::Busy { code: 503, retry_after: Some(Duration::from_secs(7)) },
        TraceAnswer::Busy { code: 429, retry_after: None },
        TraceAnswer::Refused { code: 400 },
        TraceAnswer::Elsewhere { code: 307 },
    ];
    let receiver = harness.receiver(answers.clone().map(Some).to_vec());
    for expected in answers {
        let (answer, bytes) = receiver.send(b"a request").expect("an answer");
        assert_eq!(answer, expected);
        assert!(bytes > 0);
    }
}

fn sends_each_request_once_and_unchanged(harness: &dyn TraceReceiverHarness) {
    let taken = Some(TraceAnswer::Taken { rejected: 0 });
    let receiver = harness.receiver(vec![taken.clone(), taken]);
    let long: Vec<u8> = (0..=255).cycle().take(200_000).collect();
    for request in [&b"one"[..], &long] {
        receiver.send(request).expect("an answer");
    }
    assert_eq!(harness.received(), [b"one".to_vec(), long]);
}

fn reports_a_connection_that_ends(harness: &dyn TraceReceiverHarness) {
    let receiver = harness.receiver(vec![None]);
    // The second time, nobody listens.
    for _ in 0..2 {
        let error = receiver.send(b"a request").expect_err("no answer");
        assert!(matches!(error, TraceReceiverError::Unreachable { .. }), "{error:?}");
    }
    assert_eq!(harness.received().len(), 1, "whether to repeat it is not decided here");
}
