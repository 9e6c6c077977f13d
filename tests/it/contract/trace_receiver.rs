//! Receivers of traces: in memory, and over HTTP.

use std::cell::RefCell;
use std::rc::Rc;

use traj_core::memory::MemoryTraceReceiver;
use traj_core::port::{TraceAnswer, TraceReceiver, TraceReceiverError};
use traj_send::{Endpoint, HttpTraceReceiver, TraceHeaders};
use traj_tests::contract::trace_receiver::TraceReceiverHarness;
use traj_tests::contract_tests;
use traj_tests::fault_server::{Fault, FaultServer};

#[derive(Default)]
struct Memory(RefCell<Rc<MemoryTraceReceiver>>);

/// The same receiver again.
#[derive(Debug)]
struct Shared(Rc<MemoryTraceReceiver>);

impl TraceReceiver for Shared {
    fn host(&self) -> &str {
        self.0.host()
    }

    fn send(&self, request: &[u8]) -> Result<(TraceAnswer, u64), TraceReceiverError> {
        self.0.send(request)
    }
}

impl TraceReceiverHarness for Memory {
    fn receiver(&self, answers: Vec<Option<TraceAnswer>>) -> Box<dyn TraceReceiver> {
        *self.0.borrow_mut() = Rc::new(MemoryTraceReceiver::new(answers));
        Box::new(Shared(Rc::clone(&self.0.borrow())))
    }

    fn received(&self) -> Vec<Vec<u8>> {
        self.0.borrow().received()
    }
}

#[derive(Default)]
struct Http(RefCell<Option<FaultServer>>);

fn fault_of(answer: Option<TraceAnswer>) -> Fault {
    match answer {
        None => Fault::Cut,
        Some(TraceAnswer::Taken { rejected: 0 }) => Fault::status(200),
        Some(TraceAnswer::Taken { rejected }) => Fault::rejecting(u8::try_from(rejected).unwrap()),
        Some(TraceAnswer::Busy { code, retry_after: None }) => Fault::status(code),
        Some(TraceAnswer::Busy { code, retry_after: Some(pause) }) => {
            Fault::status(code).with("retry-after", &pause.as_secs().to_string())
        }
        Some(TraceAnswer::Elsewhere { code }) => {
            Fault::status(code).with("location", "https://elsewhere.example/v1/traces")
        }
        Some(TraceAnswer::Refused { code }) => Fault::status(code),
        Some(other) => unreachable!("no case gives {other:?}"),
    }
}

impl TraceReceiverHarness for Http {
    fn receiver(&self, answers: Vec<Option<TraceAnswer>>) -> Box<dyn TraceReceiver> {
        let server = FaultServer::start(answers.into_iter().map(fault_of).collect());
        let endpoint = Endpoint::parse(server.address()).unwrap();
        *self.0.borrow_mut() = Some(server);
        Box::new(HttpTraceReceiver::new(endpoint, TraceHeaders::default()))
    }

    fn received(&self) -> Vec<Vec<u8>> {
        let server = self.0.borrow();
        server.as_ref().unwrap().arrived().into_iter().map(|request| request.body).collect()
    }
}

contract_tests! {
    trace_receiver:
    memory => Memory::default(),
    http => Http::default(),
}
