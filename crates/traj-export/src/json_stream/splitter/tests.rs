//! Tests of `splitter`: valid documents, and bytes that are not JSON.

use proptest::prelude::*;

use super::*;

/// Returns one byte at a time: the hardest case for a reader.
struct Drops<'b>(&'b [u8]);

impl ByteStream for Drops<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, ReadError> {
        let Some((first, rest)) = self.0.split_first() else { return Ok(0) };
        buffer[0] = *first;
        self.0 = rest;
        Ok(1)
    }
}

fn split(document: &str) -> Result<Vec<String>, String> {
    let mut drops = Drops(document.as_bytes());
    let mut splitter = Splitter::new(&mut drops, 1_000);
    let mut parts = Vec::new();
    while let Some(part) = splitter.next(None).map_err(|error| format!("{error:?}"))? {
        let name = part.name.unwrap_or_default();
        let name = String::from_utf8_lossy(name);
        let mark = if part.is_item { "[]" } else { "" };
        let value = String::from_utf8_lossy(part.value);
        let start = part.offset as usize;
        assert_eq!(document.as_bytes()[start..][..part.value.len()], *part.value);
        parts.push(format!("{}:{name}{mark}={}", part.line, value.trim()));
    }
    Ok(parts)
}

#[test]
fn members_and_items_come_one_by_one() {
    let document = "{\n \"a\": {\"x\": [1]},\n \"b\": [\n  1,\n  \"]\\\"\" ],\n \"c\": null\n}\n";
    assert_eq!(
        split(document).unwrap(),
        ["2:\"a\"={\"x\": [1]}", "4:\"b\"[]=1", "5:\"b\"[]=\"]\\\"\"", "6:\"c\"=null"]
    );
    assert_eq!(split("[1, {}]").unwrap(), ["1:[]=1", "1:[]={}"]);
    assert!(split("[]").unwrap().is_empty());
    assert!(split("{\"e\":[]}").unwrap().is_empty());
}

#[test]
fn items_of_known_length_are_not_searched_for_their_end() {
    let document = r#"{"a": 1, "b": [{"x":"]"}, 22]}"#;
    let lengths = |lengths: [usize; 2]| {
        let mut drops = Drops(document.as_bytes());
        let mut splitter = Splitter::new(&mut drops, 1_000);
        let mut values = Vec::new();
        let mut lengths = lengths.into_iter().peekable();
        loop {
            match splitter.next(lengths.peek().copied()) {
                Ok(Some(part)) => {
                    values.push(String::from_utf8_lossy(part.value).into_owned());
                    lengths.next_if(|_| part.is_item);
                }
                Ok(None) => return Some(values),
                Err(_) => return None,
            }
        }
    };
    assert_eq!(lengths([9, 2]).unwrap(), ["1", r#"{"x":"]"}"#, "22"]);
    // A wrong length leaves a remainder that is not a document.
    for wrong in [[8, 2], [10, 2], [9, 1], [9, 3], [9, 2_000], [9, 900]] {
        assert_eq!(lengths(wrong), None, "{wrong:?}");
    }
}

#[test]
fn spaces_between_values_are_not_kept() {
    /// This many spaces before the document.
    struct Blanks(usize, Drops<'static>);
    impl ByteStream for Blanks {
        fn read(&mut self, buffer: &mut [u8]) -> Result<usize, ReadError> {
            let blanks = buffer.len().min(self.0);
            buffer[..blanks].fill(b' ');
            self.0 -= blanks;
            if blanks > 0 { Ok(blanks) } else { self.1.read(buffer) }
        }
    }
    let mut blanks = Blanks(64 << 20, Drops(b"[1]"));
    let mut splitter = Splitter::new(&mut blanks, 1_000);
    assert_eq!(splitter.next(None).unwrap().unwrap().value, b"1");
    assert!(splitter.window.room() <= 2 * PIECE, "{}", splitter.window.room());
}

#[test]
fn invalid_documents_are_refused() {
    for broken in ["", "{", "{\"a\"}", "{\"a\":1 \"b\":2}", "[1", "{} {}", "[1]]", "{,}", "[,]"] {
        assert!(split(broken).is_err(), "{broken}");
    }
    assert!(split(&format!("[\"{}\"]", "x".repeat(2_000))).unwrap_err().contains("TooLong"));
}

proptest! {
    #[test]
    fn any_input_terminates(document in ".{0,200}") {
        split(&document).ok();
    }
}
