//! When a request is sent again, and when not.

use traj_core::memory::{MemoryScratch, MemoryTraceReceiver};

use super::*;

const TAKEN: Option<TraceAnswer> = Some(TraceAnswer::Taken { rejected: 0 });

const fn busy(seconds: Option<u64>) -> Option<TraceAnswer> {
    let retry_after = match seconds {
        Some(seconds) => Some(Duration::from_secs(seconds)),
        None => None,
    };
    Some(TraceAnswer::Busy { code: 503, retry_after })
}

/// Notes the pauses instead of waiting; says stop after some.
struct Notes {
    pauses: Vec<Duration>,
    most: usize,
}

impl Pace for Notes {
    fn wait(&mut self, pause: Duration) -> bool {
        self.pauses.push(pause);
        self.pauses.len() < self.most
    }

    fn random(&mut self) -> u64 {
        999
    }
}

/// Two requests of one span each, sent to a receiver with these answers.
fn sent(
    answers: Vec<Option<TraceAnswer>>,
    most: usize,
) -> (Result<(), SendError>, SendReport, Vec<u64>, usize) {
    use std::io::Write as _;

    use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
    use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span};
    use prost::Message as _;

    let scope_spans = vec![ScopeSpans { spans: vec![Span::default()], ..ScopeSpans::default() }];
    let resource_spans = vec![ResourceSpans { scope_spans, ..ResourceSpans::default() }];
    let request = ExportTraceServiceRequest { resource_spans }.encode_to_vec();
    let mut scratch = MemoryScratch::default();
    let mut waiting = WaitingRequests::default();
    let mut writer = TraceRequests::new(&mut scratch, &mut waiting);
    writer.write_all(&request).unwrap();
    writer.write_all(&request).unwrap();
    writer.write_all(&request[..request.len() - 1]).unwrap_err();
    assert_eq!((waiting.count(), waiting.spans()), (2, 2));
    let receiver = MemoryTraceReceiver::new(answers);
    let (mut pace, mut report) = (Notes { pauses: Vec::new(), most }, SendReport::default());
    let done = send_traces(&waiting, &scratch, &receiver, &mut pace, &mut report);
    let received = receiver.received();
    assert!(received.iter().all(|one| *one == request), "requests arrive as they were written");
    let pauses = pace.pauses.iter().map(|pause| pause.as_millis() as u64).collect();
    (done, report, pauses, received.len())
}

#[test]
fn every_request_is_sent_once_if_the_receiver_takes_it() {
    let (done, report, pauses, received) = sent(vec![TAKEN, TAKEN], 9);
    done.unwrap();
    assert_eq!((report.requests, report.spans, report.rejected, report.repeated), (2, 2, 0, 0));
    assert_eq!((pauses, received), (vec![], 2));
}

#[test]
fn a_busy_receiver_is_asked_again_after_growing_pauses() {
    let answers = vec![busy(None), None, busy(None), TAKEN, busy(Some(30)), TAKEN];
    let (done, report, pauses, received) = sent(answers, 9);
    done.unwrap();
    assert_eq!(pauses, [999, 1_999, 3_998, 30_000], "what the receiver asks for is respected");
    assert_eq!((report.repeated, received), (4, 6));
}

#[test]
fn sending_ends_after_some_attempts() {
    let (done, report, pauses, _) = sent(vec![busy(None); 9], 9);
    assert!(matches!(done, Err(SendError::Busy { code: 503, attempts: 6 })), "{done:?}");
    assert_eq!((report.requests, pauses.len()), (0, 5));
    let (done, _, pauses, _) = sent(vec![busy(Some(3_600))], 9);
    assert!(matches!(done, Err(SendError::TooLong { seconds: 3_600, .. })), "{done:?}");
    assert!(pauses.is_empty(), "nobody waits for an hour");
    let (done, _, _, _) = sent(vec![], 9);
    let is_unreachable =
        matches!(done, Err(SendError::Receiver(TraceReceiverError::Unreachable { .. })));
    assert!(is_unreachable, "{done:?}");
    let (done, _, pauses, _) = sent(vec![busy(None); 9], 2);
    assert!(matches!(done, Err(SendError::Stopped)), "{done:?}");
    assert_eq!(pauses.len(), 2);
}

#[test]
fn a_refusal_and_another_address_end_it_at_once() {
    for (answer, code) in
        [(TraceAnswer::Refused { code: 400 }, 400), (TraceAnswer::Elsewhere { code: 307 }, 307)]
    {
        let (done, report, pauses, received) = sent(vec![TAKEN, Some(answer), TAKEN], 9);
        let found = match done {
            Err(SendError::Refused { code } | SendError::Elsewhere { code }) => code,
            other => panic!("{other:?}"),
        };
        assert_eq!((found, report.requests, received), (code, 1, 2));
        assert!(pauses.is_empty());
    }
}

#[test]
fn rejected_spans_are_counted() {
    let some = Some(TraceAnswer::Taken { rejected: 7 });
    let (done, report, _, _) = sent(vec![some, TAKEN], 9);
    done.unwrap();
    assert_eq!((report.spans, report.rejected), (2, 1), "no more than were sent");
}
