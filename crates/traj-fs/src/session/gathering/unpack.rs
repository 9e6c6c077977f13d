//! Unpacks zstd, with limits: a small frame can hold any number of bytes.

use std::io::{self, Read};

use cap_std::fs::File;
use traj_core::gather::{GatherError, RowWriter};
#[cfg(feature = "sqlite")]
use traj_core::port::Cell;
use traj_core::port::SourceError;

use crate::safe::position::FileReader;
use crate::stop_flag::{StopFlag, StoppableReader, is_stop};

/// How much is unpacked at once.
const BLOCK: usize = 256 * 1024;

/// The largest window, as a power of two: 128 MiB, which every decoder accepts.
const LARGEST_WINDOW: u32 = 27;

/// Unpacks a whole file.
pub(super) fn file(
    file: &File,
    stop: &StopFlag,
    rows: &mut RowWriter<'_>,
) -> Result<(), GatherError> {
    let input = StoppableReader::new(FileReader::new(file, 0), stop);
    let mut decoder = decoder(input)?;
    let mut block = vec![0; BLOCK];
    loop {
        let count = decoder.read(&mut block).map_err(damaged)?;
        if count == 0 {
            return Ok(());
        }
        rows.bytes(block.get(..count).unwrap_or_default())?;
    }
}

fn decoder<R: Read>(input: R) -> Result<zstd::Decoder<'static, io::BufReader<R>>, GatherError> {
    let mut decoder = zstd::Decoder::new(input).map_err(damaged)?;
    decoder.window_log_max(LARGEST_WINDOW).map_err(damaged)?;
    Ok(decoder)
}

/// The content of a frame in a cell, up to `longest` bytes; nothing if the frame
/// is damaged.
#[cfg(feature = "sqlite")]
pub(super) fn cell(bytes: &[u8], longest: usize) -> Cell {
    let mut content = Vec::new();
    let read = decoder(bytes).and_then(|decoder| {
        decoder.take(longest as u64 + 1).read_to_end(&mut content).map_err(damaged)
    });
    match read {
        Ok(count) if count > longest => Cell::TooLong(count as u64),
        Ok(_) => Cell::Blob(content),
        Err(_) => Cell::Null,
    }
}

/// A failed read, or a frame that cannot be unpacked.
fn damaged(error: io::Error) -> GatherError {
    if error.raw_os_error().is_some() || is_stop(&error) {
        let name = "the compressed file".to_owned();
        return SourceError::Storage { name, source: error.into() }.into();
    }
    GatherError::Damaged
}
