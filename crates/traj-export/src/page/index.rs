//! The index of a page: one column after the other, in binary.

pub(super) mod contexts;

use std::io::{self, Write};

use super::items::{Item, ItemList, ModelCallRow, PageThread};
use super::paths::PathTable;
use super::sink::PageSink;

/// The first four bytes.
const MAGIC: u32 = 0x544A_5031;

/// A chunk of the index has at most this many bytes.
const CHUNK_BYTES: usize = 1 << 20;

/// Columns begin at multiples of this.
const ALIGNMENT: usize = 8;

/// What the index is made of.
#[derive(Debug)]
pub(super) struct Index<'p> {
    list: &'p ItemList,
    threads: &'p [PageThread],
    turns: &'p [u32],
    strings: u32,
    /// How many paths there are, and their JSON.
    paths: (u32, Vec<u8>),
    /// What the model saw at each call, as JSON; empty if it is not recorded.
    contexts: &'p [u8],
}

impl<'p> Index<'p> {
    pub(super) fn new(
        list: &'p ItemList,
        threads: &'p [PageThread],
        turns: &'p [u32],
        paths: &PathTable,
        contexts: &'p [u8],
    ) -> Self {
        let strings = 4 + list.strings.iter().map(|text| text.len() + 4).sum::<usize>();
        // Steps of paths are strings and numbers, which can be written.
        let json = serde_json::to_vec(paths.all()).unwrap_or_default();
        let paths = (length(paths.all().len()), json);
        Self { list, threads, turns, strings: length(strings), paths, contexts }
    }

    /// How many chunks it takes.
    pub(super) fn chunks(&self) -> usize {
        let mut count = CountedBytes::default();
        // Counting does not fail.
        self.write(&mut count).ok();
        count.0.div_ceil(CHUNK_BYTES)
    }

    /// Writes its chunks.
    pub(super) fn write_chunks(&self, sink: &mut dyn PageSink) -> io::Result<()> {
        let mut chunks = ChunkedWriter { sink, buffer: Vec::new(), number: 0 };
        self.write(&mut chunks)?;
        chunks.end_chunk()
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut columns = Columns { out, written: 0 };
        let (items, calls) = (&self.list.items, &self.list.calls);
        let (count, json) = &self.paths;
        let header = [
            MAGIC,
            length(items.len()),
            length(calls.len()),
            self.strings,
            length(json.len() + 4),
            length(self.threads.len()),
            length(self.turns.len()),
            length(self.contexts.len()),
        ];
        columns.column(header.iter().map(|number| number.to_le_bytes()))?;
        items_columns(items, &mut columns)?;
        calls_columns(calls, &mut columns)?;
        columns.column(self.threads.iter().map(|thread| thread.name.to_le_bytes()))?;
        columns.column(self.threads.iter().map(|thread| thread.parent.to_le_bytes()))?;
        columns.column(self.threads.iter().map(|thread| thread.start_item.to_le_bytes()))?;
        columns.column(self.turns.iter().map(|item| item.to_le_bytes()))?;
        columns.put(&length(self.list.strings.len()).to_le_bytes())?;
        let mut end = 0_usize;
        for text in self.list.strings.iter() {
            end += text.len();
            columns.put(&length(end).to_le_bytes())?;
        }
        for text in self.list.strings.iter() {
            columns.put(text.as_bytes())?;
        }
        columns.align()?;
        columns.put(&count.to_le_bytes())?;
        columns.put(json)?;
        columns.align()?;
        columns.put(self.contexts)?;
        columns.align()
    }
}

fn items_columns(items: &[Item], columns: &mut Columns<'_>) -> io::Result<()> {
    columns.column(items.iter().map(|item| item.start.to_le_bytes()))?;
    columns.column(items.iter().map(|item| item.duration.to_le_bytes()))?;
    columns.column(items.iter().map(|item| item.row.to_le_bytes()))?;
    columns.column(items.iter().map(|item| item.result_row.to_le_bytes()))?;
    columns.column(items.iter().map(|item| item.label.to_le_bytes()))?;
    columns.column(items.iter().map(|item| item.call_id.to_le_bytes()))?;
    columns.column(items.iter().map(|item| item.turn.to_le_bytes()))?;
    columns.column(items.iter().map(|item| item.words.to_le_bytes()))?;
    columns.column(items.iter().map(|item| item.exit_code.to_le_bytes()))?;
    columns.column(items.iter().map(|item| item.bytes.to_le_bytes()))?;
    columns.column(items.iter().map(|item| item.path.to_le_bytes()))?;
    columns.column(items.iter().map(|item| item.command_path.to_le_bytes()))?;
    columns.column(items.iter().map(|item| item.result_path.to_le_bytes()))?;
    columns.column(items.iter().map(|item| item.thread.to_le_bytes()))?;
    columns.column(items.iter().map(|item| item.flags.to_le_bytes()))?;
    columns.column(items.iter().map(|item| [item.kind as u8]))
}

fn calls_columns(calls: &[ModelCallRow], columns: &mut Columns<'_>) -> io::Result<()> {
    columns.column(calls.iter().map(|call| call.item.to_le_bytes()))?;
    columns.column(calls.iter().map(|call| call.at.to_le_bytes()))?;
    columns.column(calls.iter().map(|call| call.cached.to_le_bytes()))?;
    columns.column(calls.iter().map(|call| call.fresh.to_le_bytes()))?;
    columns.column(calls.iter().map(|call| call.output.to_le_bytes()))?;
    columns.column(calls.iter().map(|call| call.cost.to_le_bytes()))?;
    columns.column(calls.iter().map(|call| call.model.to_le_bytes()))?;
    columns.column(calls.iter().map(|call| call.thread.to_le_bytes()))
}

/// Writes columns, each at a multiple of eight bytes.
struct Columns<'w> {
    out: &'w mut dyn Write,
    written: usize,
}

impl Columns<'_> {
    fn column<const N: usize>(&mut self, values: impl Iterator<Item = [u8; N]>) -> io::Result<()> {
        for value in values {
            self.put(&value)?;
        }
        self.align()
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.written += bytes.len();
        self.out.write_all(bytes)
    }

    fn align(&mut self) -> io::Result<()> {
        let padding = self.written.next_multiple_of(ALIGNMENT) - self.written;
        let zeros = [0; ALIGNMENT];
        self.put(zeros.get(..padding).unwrap_or_default())
    }
}

/// Counts what is written.
#[derive(Default)]
struct CountedBytes(usize);

impl Write for CountedBytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Cuts what is written into chunks.
struct ChunkedWriter<'s> {
    sink: &'s mut dyn PageSink,
    buffer: Vec<u8>,
    number: usize,
}

impl ChunkedWriter<'_> {
    fn end_chunk(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let buffer = std::mem::take(&mut self.buffer);
        self.sink.chunk(&format!("i{}", self.number), &mut |out| out.write_all(&buffer))?;
        self.number += 1;
        Ok(())
    }
}

impl Write for ChunkedWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = CHUNK_BYTES - self.buffer.len();
        let part = bytes.get(..room).unwrap_or(bytes);
        self.buffer.extend_from_slice(part);
        if self.buffer.len() == CHUNK_BYTES {
            self.end_chunk()?;
        }
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A length of the index. More than four billion do not fit into memory.
fn length(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
