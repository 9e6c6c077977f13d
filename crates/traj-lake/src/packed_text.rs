//! Long texts as they are stored: compressed with zstd.

use std::io::Read as _;

use crate::DamagedFile;

/// Longer texts are not stored.
const LONGEST: u64 = 16 * 1024 * 1024;

/// The same for each writer of one version.
const LEVEL: i32 = 3;

/// A text as a file. The same text gives the same bytes.
pub(crate) fn pack(text: &[u8]) -> std::io::Result<Vec<u8>> {
    zstd::bulk::compress(text, LEVEL)
}

/// The text in a file.
pub(crate) fn unpack(content: &[u8]) -> Result<Vec<u8>, DamagedFile> {
    const NOT_TEXT: DamagedFile = DamagedFile { what: "it is not a compressed text" };
    let decoder = zstd::stream::read::Decoder::new(content).map_err(|_| NOT_TEXT)?;
    let mut text = Vec::new();
    decoder.take(LONGEST + 1).read_to_end(&mut text).map_err(|_| NOT_TEXT)?;
    if text.len() as u64 > LONGEST {
        return Err(DamagedFile { what: "it unpacks to more than any text has" });
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_comes_back_and_a_bomb_does_not() {
        let text = "line\n".repeat(10_000).into_bytes();
        let packed = pack(&text).unwrap();
        assert!(packed.len() < 1_000);
        assert_eq!(pack(&text).unwrap(), packed);
        assert_eq!(unpack(&packed).unwrap(), text);
        unpack(packed.get(..packed.len() / 2).unwrap()).unwrap_err();
        unpack(b"text").unwrap_err();
        let bomb = pack(&vec![0; 16 * 1024 * 1024 + 1]).unwrap();
        assert_eq!(unpack(&bomb).unwrap_err().what, "it unpacks to more than any text has");
    }
}
