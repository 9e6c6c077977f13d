//! A server on this machine that answers as instructed, including with faults:
//! a receiver of traces, or an object store.

use std::io::{BufReader, Read, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use flate2::read::GzDecoder;

/// How long a server waits for a client, and a client for a server.
const PATIENCE: Duration = Duration::from_secs(20);

/// What the server does with a connection.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Fault {
    /// Answers with a status, headers and a body.
    Answer(u16, Vec<(String, String)>, Vec<u8>),
    /// Ends the connection before the answer is complete.
    Cut,
    /// Announces a body, and ends the connection in the middle of it.
    Torn(u16, Vec<u8>),
    /// Reads the request, answers nothing, and closes its end of the connection
    /// for writing only.
    HalfClosed,
    /// Never answers.
    Silence,
}

impl Fault {
    /// An answer without a body.
    pub fn status(code: u16) -> Self {
        Self::Answer(code, Vec::new(), Vec::new())
    }

    /// The same with a header.
    #[must_use]
    pub fn with(self, name: &str, value: &str) -> Self {
        match self {
            Self::Answer(code, mut headers, body) => {
                headers.push((name.to_owned(), value.to_owned()));
                Self::Answer(code, headers, body)
            }
            other => other,
        }
    }

    /// An answer that rejects some spans, in protobuf.
    pub fn rejecting(spans: u8) -> Self {
        Self::Answer(200, Vec::new(), vec![0x0a, 0x02, 0x08, spans])
            .with("content-type", "application/x-protobuf")
    }
}

/// A request as it arrived, with its body unpacked.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Arrived {
    /// The method.
    pub method: String,
    /// The path.
    pub path: String,
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Arrived {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// A server on its own port. It stops after its last answer, or when it is
/// dropped.
#[derive(Debug)]
pub struct FaultServer {
    address: String,
    arrived: Arc<Mutex<Vec<Arrived>>>,
    thread: Option<JoinHandle<()>>,
    port: u16,
}

impl FaultServer {
    /// Listens, and applies the faults to the connections, one after the other.
    pub fn start(faults: Vec<Fault>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let arrived: Arc<Mutex<Vec<Arrived>>> = Arc::default();
        let seen = Arc::clone(&arrived);
        let thread = std::thread::spawn(move || {
            for fault in faults {
                let Ok((stream, _)) = listener.accept() else { return };
                serve(stream, &fault, &seen);
            }
        });
        let address = format!("http://127.0.0.1:{port}");
        Self { address, arrived, thread: Some(thread), port }
    }

    /// The address that it listens on.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The requests that arrived so far.
    pub fn arrived(&self) -> Vec<Arrived> {
        self.arrived.lock().expect("no test panics with it").clone()
    }
}

impl Drop for FaultServer {
    fn drop(&mut self) {
        // Connections that never came: each ends one wait.
        while self.thread.as_ref().is_some_and(|thread| !thread.is_finished()) {
            drop(TcpStream::connect(("127.0.0.1", self.port)));
            std::thread::yield_now();
        }
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

fn serve(stream: TcpStream, fault: &Fault, seen: &Mutex<Vec<Arrived>>) {
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    let mut reader = BufReader::new(&stream);
    let Some(request) = read_request(&mut reader) else { return };
    seen.lock().expect("no test panics with it").push(request);
    let mut stream = &stream;
    match fault {
        Fault::Answer(code, headers, body) => {
            let mut head = format!("HTTP/1.1 {code} made up\r\nconnection: close\r\n");
            for (name, value) in headers {
                head.push_str(&[name, ": ", value, "\r\n"].concat());
            }
            let length = body.len().to_string();
            head.push_str(&["content-length: ", &length, "\r\n\r\n"].concat());
            stream.write_all(&[head.as_bytes(), body].concat()).ok();
        }
        Fault::Cut => {
            stream.write_all(b"HTTP/1.1 2").ok();
        }
        Fault::Torn(code, body) => {
            let announced = body.len();
            let head = format!("HTTP/1.1 {code} made up\r\ncontent-length: {announced}\r\n\r\n");
            stream.write_all(&[head.as_bytes(), &body[..announced / 2]].concat()).ok();
        }
        Fault::HalfClosed => {
            stream.shutdown(Shutdown::Write).ok();
            wait_for_end(&mut reader);
        }
        Fault::Silence => wait_for_end(&mut reader),
    }
}

/// Reads until the client gives up and closes its end.
fn wait_for_end(reader: &mut impl Read) {
    let mut rest = Vec::new();
    reader.read_to_end(&mut rest).ok();
}

/// Reads a request; `None` for a connection without one.
pub fn read_request(reader: &mut impl std::io::BufRead) -> Option<Arrived> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split(' ').map(str::to_owned);
    let (method, path) = (words.next()?, words.next()?);
    let mut request = Arrived { method, path, ..Arrived::default() };
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        request.headers.push((name.to_ascii_lowercase(), value.to_owned()));
    }
    let length = request.header("content-length").and_then(|length| length.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    request.body = match request.header("content-encoding") {
        Some("gzip") => {
            let mut plain = Vec::new();
            GzDecoder::new(&body[..]).read_to_end(&mut plain).ok()?;
            plain
        }
        _ => body,
    };
    Some(request)
}
