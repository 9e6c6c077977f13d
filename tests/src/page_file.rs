//! Reads a page as a browser does: by the format, not by the code that writes it.

use std::io::Read as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::DeflateDecoder;
use serde_json::Value;

/// What a page contains.
#[derive(Debug)]
#[non_exhaustive]
pub struct PageFile {
    /// The whole HTML.
    pub html: String,
    /// The head.
    pub head: Value,
    /// The index.
    pub index: PageIndex,
    /// The chunks of the files.
    pub chunks: Vec<Vec<u8>>,
}

/// Stands for no row or no item.
pub const NONE: u32 = u32::MAX;

/// The columns that tests use.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct PageIndex {
    /// The columns of items.
    pub start: Vec<f64>,
    /// How long each took.
    pub duration: Vec<f64>,
    /// The row of each.
    pub row: Vec<u32>,
    /// The row of its result.
    pub result_row: Vec<u32>,
    /// What it is called.
    pub label: Vec<String>,
    /// The id of the call.
    pub call_id: Vec<String>,
    /// The turn.
    pub turn: Vec<u32>,
    /// The outcome in words.
    pub words: Vec<String>,
    /// The exit code.
    pub exit_code: Vec<i32>,
    /// Where the content is.
    pub path: Vec<u16>,
    /// Where the command is.
    pub command_path: Vec<u16>,
    /// Where the result is.
    pub result_path: Vec<u16>,
    /// The thread that it belongs to.
    pub thread: Vec<u16>,
    /// Its flags.
    pub flags: Vec<u16>,
    /// Its kind.
    pub kind: Vec<u8>,
    /// The items of model calls.
    pub call_item: Vec<u32>,
    /// Their cached tokens.
    pub cached: Vec<u32>,
    /// The other tokens that they read.
    pub fresh: Vec<u32>,
    /// The tokens that they wrote.
    pub output: Vec<u32>,
    /// Their cost.
    pub cost: Vec<f64>,
    /// The names of threads.
    pub threads: Vec<String>,
    /// The first item of each turn.
    pub turns: Vec<u32>,
    /// All paths.
    pub paths: Vec<Vec<Value>>,
    /// What the model saw at each call; null if it is not recorded.
    pub contexts: Value,
}

impl PageFile {
    /// Parses a page.
    ///
    /// # Panics
    /// When it does not follow the format.
    pub fn parse(html: &str) -> Self {
        let head = element(html, "<script type=\"application/json\" id=\"head\">").expect("a head");
        let head: Value = serde_json::from_str(head).expect("the head is JSON");
        let chunks_of = |letter: char| {
            let tags =
                (0..).map(|number| format!("<script type=\"text/plain\" id=\"{letter}{number}\">"));
            let texts = tags.map_while(|tag| element(html, &tag));
            texts.map(inflated).collect::<Vec<_>>()
        };
        let index = PageIndex::parse(&chunks_of('i').concat());
        Self { html: html.to_owned(), head, index, chunks: chunks_of('c') }
    }

    /// The bytes of a file of the bundle.
    ///
    /// # Panics
    /// When the page does not contain it.
    pub fn file(&self, path: &str) -> Vec<u8> {
        let files = self.head["files"].as_array().expect("files");
        let file = files.iter().find(|file| file["path"] == path).expect("the file is there");
        let number =
            |name: &str| usize::try_from(file[name].as_u64().expect("a number")).expect("fits");
        let (first, count) = (number("chunk"), number("chunks"));
        let bytes = self.chunks[first..first + count].concat();
        let bytes = if file["encoding"] == "copies" { self.expanded(&bytes) } else { bytes };
        assert_eq!(bytes.len(), number("bytes"), "{path}");
        bytes
    }

    /// Fills in the strings that a file has in common with the events.
    fn expanded(&self, encoded: &[u8]) -> Vec<u8> {
        let events = self.file("events.jsonl");
        let rows: Vec<&[u8]> = events.split(|byte| *byte == b'\n').collect();
        let (mut bytes, mut rest) = (Vec::new(), encoded.iter().copied());
        while let Some(byte) = rest.next() {
            if byte != 1 {
                bytes.push(byte);
                continue;
            }
            let [row, start, length] = [(); 3].map(|()| {
                let (mut number, mut shift) = (0_usize, 0);
                loop {
                    let byte = rest.next().expect("a copy has three numbers");
                    number |= usize::from(byte & 0x7f) << shift;
                    shift += 7;
                    if byte < 0x80 {
                        return number;
                    }
                }
            });
            bytes.extend_from_slice(&rows[row][start..start + length]);
        }
        bytes
    }

    /// The rows of the events.
    ///
    /// # Panics
    /// When a row is not JSON.
    pub fn rows(&self) -> Vec<Value> {
        let events = self.file("events.jsonl");
        let lines = events.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_slice(line).expect("a row is JSON")).collect()
    }

    /// The value at a path of a row.
    pub fn follow(&self, row: &Value, path: u16) -> Option<Value> {
        let mut value = row.clone();
        for step in self.index.paths.get(usize::from(path))? {
            value = match step {
                Value::String(name) => value.get(name)?.clone(),
                Value::Number(place) => value.get(usize::try_from(place.as_u64()?).ok()?)?.clone(),
                _ => serde_json::from_str(value.as_str()?).ok()?,
            };
        }
        Some(value)
    }

    /// The items of one kind.
    pub fn of_kind(&self, kind: u8) -> Vec<usize> {
        let kinds = self.index.kind.iter().enumerate();
        kinds.filter(|(_, one)| **one == kind).map(|(item, _)| item).collect()
    }
}

fn element<'h>(html: &'h str, tag: &str) -> Option<&'h str> {
    let (_, rest) = html.split_once(tag)?;
    rest.split_once("</script>").map(|(content, _)| content)
}

fn inflated(text: &str) -> Vec<u8> {
    let packed = STANDARD.decode(text).expect("a chunk is base64");
    let mut bytes = Vec::new();
    DeflateDecoder::new(&packed[..]).read_to_end(&mut bytes).expect("a chunk is deflate");
    bytes
}

/// Reads columns one after the other.
struct Columns<'b> {
    bytes: &'b [u8],
    place: usize,
}

impl Columns<'_> {
    fn take(&mut self, count: usize) -> &[u8] {
        let bytes = &self.bytes[self.place..self.place + count];
        self.place += count;
        bytes
    }

    fn column<const N: usize, T>(&mut self, count: usize, read: fn([u8; N]) -> T) -> Vec<T> {
        let bytes = self.take(count * N);
        let column = bytes.chunks_exact(N).map(|value| read(value.try_into().expect("N bytes")));
        let column = column.collect();
        self.align();
        column
    }

    fn align(&mut self) {
        while !self.place.is_multiple_of(8) {
            assert_eq!(self.bytes[self.place], 0, "padding is zero");
            self.place += 1;
        }
    }
}

impl PageIndex {
    fn parse(bytes: &[u8]) -> Self {
        let mut columns = Columns { bytes, place: 0 };
        let header = columns.column(8, u32::from_le_bytes);
        assert_eq!(header[0], 0x544A_5031);
        let size = |place: usize| header[place] as usize;
        let (items, calls, threads, turns) = (size(1), size(2), size(5), size(6));
        let mut index = Self {
            start: columns.column(items, f64::from_le_bytes),
            duration: columns.column(items, f64::from_le_bytes),
            row: columns.column(items, u32::from_le_bytes),
            result_row: columns.column(items, u32::from_le_bytes),
            ..Self::default()
        };
        let labels = columns.column(items, u32::from_le_bytes);
        let ids = columns.column(items, u32::from_le_bytes);
        index.turn = columns.column(items, u32::from_le_bytes);
        let words = columns.column(items, u32::from_le_bytes);
        index.exit_code = columns.column(items, i32::from_le_bytes);
        let _bytes = columns.column(items, u32::from_le_bytes);
        index.path = columns.column(items, u16::from_le_bytes);
        index.command_path = columns.column(items, u16::from_le_bytes);
        index.result_path = columns.column(items, u16::from_le_bytes);
        index.thread = columns.column(items, u16::from_le_bytes);
        index.flags = columns.column(items, u16::from_le_bytes);
        index.kind = columns.column(items, |[kind]: [u8; 1]| kind);
        index.call_item = columns.column(calls, u32::from_le_bytes);
        let _at = columns.column(calls, f64::from_le_bytes);
        index.cached = columns.column(calls, u32::from_le_bytes);
        index.fresh = columns.column(calls, u32::from_le_bytes);
        index.output = columns.column(calls, u32::from_le_bytes);
        index.cost = columns.column(calls, f64::from_le_bytes);
        let _model = columns.column(calls, u32::from_le_bytes);
        let _thread = columns.column(calls, u16::from_le_bytes);
        let names = columns.column(threads, u32::from_le_bytes);
        let _parents = columns.column(threads, u16::from_le_bytes);
        let _starts = columns.column(threads, u32::from_le_bytes);
        index.turns = columns.column(turns, u32::from_le_bytes);
        let strings = strings(columns.take(size(3)));
        columns.align();
        let paths = columns.take(size(4));
        index.paths = serde_json::from_slice(&paths[4..]).expect("paths are JSON");
        assert_eq!(number(&paths[..4]), index.paths.len());
        columns.align();
        let contexts = columns.take(size(7));
        if !contexts.is_empty() {
            index.contexts = serde_json::from_slice(contexts).expect("contexts are JSON");
        }
        columns.align();
        assert_eq!(columns.place, bytes.len(), "nothing comes after the index");
        let named = |numbers: Vec<u32>| {
            numbers.into_iter().map(|number| strings[number as usize].clone()).collect()
        };
        index.label = named(labels);
        index.call_id = named(ids);
        index.words = named(words);
        index.threads = named(names);
        index
    }
}

fn number(bytes: &[u8]) -> usize {
    u32::from_le_bytes(bytes.try_into().expect("four bytes")) as usize
}

fn strings(block: &[u8]) -> Vec<String> {
    let count = number(&block[..4]);
    let (ends, texts) = block[4..].split_at(count * 4);
    let mut start = 0;
    let ends = ends.chunks_exact(4).map(number);
    let strings = ends.map(|end| {
        let text = String::from_utf8(texts[start..end].to_vec()).expect("a string is UTF-8");
        assert!(text.chars().count() <= 200, "a string of the index is short");
        start = end;
        text
    });
    strings.collect()
}
