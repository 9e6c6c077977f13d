//! Just enough HTTP/1.1 to read one request and write one JSON answer.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

use serde_json::Value;

/// Larger bodies are refused; no prompt in the tests is this large.
const BODY_LIMIT: usize = 64 * 1024 * 1024;

/// One request: the path without its query, and the body.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) path: String,
    pub(super) body: Vec<u8>,
}

/// Reads one request; `None` if the peer sends anything else.
pub(super) fn read_request(stream: &mut TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first).ok()?;
    let target = first.split(' ').nth(1)?;
    let path = target.split('?').next()?.to_owned();
    let mut length = 0_usize;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim().split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().ok()?;
        }
    }
    if length > BODY_LIMIT {
        return None;
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request { path, body })
}

/// Writes a complete JSON answer and asks the peer to close.
pub(super) fn write_json(stream: &mut TcpStream, status: u16, body: &Value) -> std::io::Result<()> {
    let text = body.to_string();
    write!(
        stream,
        "HTTP/1.1 {status} Scripted\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}",
        text.len()
    )?;
    stream.flush()
}
