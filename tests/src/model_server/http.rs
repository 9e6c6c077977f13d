//! Just enough HTTP/1.1 to read one request and write one JSON answer.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

use serde_json::Value;

/// Larger bodies are refused; no prompt in the tests is this large.
const BODY_LIMIT: usize = 64 * 1024 * 1024;

/// One request: the path without its query, and the body.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) path: String,
    pub(crate) body: Vec<u8>,
}

/// Reads one request; `None` if the peer sends anything else.
pub(crate) fn read_request(stream: &mut TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first).ok()?;
    let target = first.split(' ').nth(1)?;
    let path = target.split('?').next()?.to_owned();
    let (mut length, mut is_chunked) = (0_usize, false);
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim().split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().ok()?;
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            is_chunked = value.trim().eq_ignore_ascii_case("chunked");
        }
    }
    let mut body = Vec::new();
    if is_chunked {
        while read_chunk(&mut reader, &mut body)? {}
    } else if !read_part(&mut reader, length, &mut body) {
        return None;
    }
    Some(Request { path, body })
}

/// Reads one chunk; false after the last one, `None` if it is damaged or the body too long.
fn read_chunk(reader: &mut BufReader<&mut TcpStream>, body: &mut Vec<u8>) -> Option<bool> {
    let mut size = String::new();
    reader.read_line(&mut size).ok()?;
    let length = usize::from_str_radix(size.trim().split(';').next()?, 16).ok()?;
    if !read_part(reader, length, body) {
        return None;
    }
    let mut line_end = String::new();
    reader.read_line(&mut line_end).ok()?;
    Some(length > 0)
}

fn read_part(reader: &mut BufReader<&mut TcpStream>, length: usize, body: &mut Vec<u8>) -> bool {
    if length > BODY_LIMIT - body.len() {
        return false;
    }
    let start = body.len();
    body.resize(start + length, 0);
    reader.read_exact(&mut body[start..]).is_ok()
}

/// Writes a complete JSON answer and asks the peer to close.
pub(crate) fn write_json(stream: &mut TcpStream, status: u16, body: &Value) -> std::io::Result<()> {
    let text = body.to_string();
    write!(
        stream,
        "HTTP/1.1 {status} Scripted\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}",
        text.len()
    )?;
    stream.flush()
}
