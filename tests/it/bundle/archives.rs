//! Archives that must be refused, and what an archive may contain besides its files.

use std::error::Error as _;
use std::io::{Cursor, Write as _};

use cap_std::fs::Dir;
use traj_core::port::{BundleFile, BundleSource as _, BundleSourceError};
use traj_fs::FsBundleSource;

#[expect(clippy::disallowed_methods, reason = "a test opens its own directory")]
#[expect(clippy::unwrap_in_result, reason = "the result is the subject, the rest is the test's")]
fn visit(bytes: &[u8]) -> Result<(), BundleSourceError> {
    let temporary = tempfile::tempdir().unwrap();
    let folder = Dir::open_ambient_dir(temporary.path(), cap_std::ambient_authority()).unwrap();
    folder.write("archive", bytes).unwrap();
    let visited = FsBundleSource::open(&folder, "archive")?.visit(&mut |_, content| {
        let mut buffer = vec![0; 64 * 1024];
        while content.read(&mut buffer)? > 0 {}
        Ok(())
    });
    assert_eq!(folder.entries().unwrap().count(), 1, "nothing is ever unpacked");
    visited
}

fn zip_of(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in entries {
        writer.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn tar_zst_of(entries: &[(&str, tar::EntryType, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, kind, content) in entries {
        let mut header = tar::Header::new_gnu();
        // Set directly, because the builder rejects hostile names.
        header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(*kind);
        header.set_size(content.len() as u64);
        header.set_cksum();
        builder.append(&header, *content).unwrap();
    }
    zstd::encode_all(Cursor::new(builder.into_inner().unwrap()), 3).unwrap()
}

#[test]
fn archives_that_could_leave_their_directory_are_refused() {
    let regular = tar::EntryType::Regular;
    for name in ["../x", "/etc/x", "a/../../x", "a\\..\\x"] {
        let refused = |result| matches!(result, Err(BundleSourceError::UnsafeEntry { number: 1 }));
        assert!(refused(visit(&zip_of(&[(name, b"x")]))), "{name}");
        assert!(refused(visit(&tar_zst_of(&[(name, regular, b"x")]))), "{name}");
    }
    for kind in [tar::EntryType::Symlink, tar::EntryType::Link, tar::EntryType::Directory] {
        let result = visit(&tar_zst_of(&[("events.jsonl", kind, b"")]));
        assert!(matches!(result, Err(BundleSourceError::UnsafeEntry { .. })), "{kind:?}");
    }
}

#[test]
fn names_count_once_and_their_number_is_limited() {
    let regular = tar::EntryType::Regular;
    let twice = tar_zst_of(&[("a", regular, b"1"), ("A", regular, b"2")]);
    assert!(matches!(visit(&twice), Err(BundleSourceError::RepeatedEntry { number: 2 })));
    // A zip writer refuses repeated names, so one is renamed afterwards.
    let mut zip = zip_of(&[("first", b"1"), ("other", b"2")]);
    let places: Vec<usize> =
        (0..zip.len() - 5).filter(|at| &zip[*at..at + 5] == b"other").collect();
    for place in places {
        zip[place..place + 5].copy_from_slice(b"first");
    }
    assert!(matches!(visit(&zip), Err(BundleSourceError::RepeatedEntry { .. })));
    let names: Vec<String> =
        (0..=BundleFile::MOST_BLOBS + 100).map(|number| format!("f{number}")).collect();
    let many: Vec<_> = names.iter().map(|name| (name.as_str(), &b""[..])).collect();
    assert!(matches!(visit(&zip_of(&many)), Err(BundleSourceError::TooManyEntries { .. })));
}

#[test]
fn an_archive_may_shrink_as_much_as_it_likes_if_its_manifest_says_so() {
    let zeros = vec![b'0'; 70 * 1024 * 1024];
    let stating = |bytes: usize| {
        format!(r#"{{"contents":[{{"path":"events.jsonl","bytes":{bytes}}}]}}"#).into_bytes()
    };
    let regular = tar::EntryType::Regular;
    for (stated, is_read) in [(zeros.len(), true), (5_000_000, false)] {
        let manifest = stating(stated);
        let (manifest, events) = (("manifest.json", &*manifest), ("events.jsonl", &*zeros));
        // A zip file is read through its central directory, so the order does not matter.
        let zip = visit(&zip_of(&[events, manifest]));
        let tar =
            visit(&tar_zst_of(&[(manifest.0, regular, manifest.1), (events.0, regular, events.1)]));
        for result in [zip, tar] {
            let is_bomb = matches!(result, Err(BundleSourceError::Bomb));
            assert!(result.is_ok() == is_read && is_bomb != is_read, "{result:?}");
        }
    }
}

#[test]
fn bombs_and_damaged_archives_are_refused() {
    let zeros = vec![0; 70 * 1024 * 1024];
    assert!(matches!(visit(&zip_of(&[("events.jsonl", &zeros)])), Err(BundleSourceError::Bomb)));
    let tar = tar_zst_of(&[("events.jsonl", tar::EntryType::Regular, &zeros)]);
    assert!(matches!(visit(&tar), Err(BundleSourceError::Bomb)));
    let whole = zip_of(&[("events.jsonl", b"x")]);
    assert!(matches!(visit(&whole[..whole.len() - 8]), Err(BundleSourceError::Damaged { .. })));
    assert!(matches!(
        visit(&tar[..tar.len() / 2]),
        Err(BundleSourceError::Damaged { .. } | BundleSourceError::Bomb)
    ));
    assert!(matches!(visit(b"{}"), Err(BundleSourceError::NotABundle { .. })));
}

/// The reported damage of an archive.
fn damage(bytes: &[u8]) -> String {
    match visit(bytes) {
        Err(error @ BundleSourceError::Damaged { .. }) => error.source().unwrap().to_string(),
        other => format!("{other:?}"),
    }
}

const STRAY: &str = "it has bytes outside its entries";
const NO_END: &str = "it does not end with the list of its entries";

#[test]
fn a_zip_file_is_its_entries_and_their_list_and_nothing_else() {
    let large = zip::write::SimpleFileOptions::default().large_file(true);
    for options in [zip::write::SimpleFileOptions::default(), large] {
        let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for name in ["manifest.json", "events.jsonl"] {
            writer.start_file(name, options).unwrap();
            writer.write_all(b"{}\n").unwrap();
        }
        let whole = writer.finish().unwrap().into_inner();
        visit(&whole).unwrap();
        let changed = |at: usize, to: u8| {
            let mut changed = whole.clone();
            changed[at] = to;
            damage(&changed)
        };
        let find = |bytes: &[u8]| whole.windows(bytes.len()).position(|part| part == bytes);
        let list = find(b"PK\x01\x02").unwrap();
        let differs = "entry 1 differs from the list of entries";
        // The version, the method, the time, the date, the checksum and the name of
        // the first entry.
        for at in [4, 8, 10, 12, 14, 30] {
            assert_eq!(changed(at, 0x55), differs, "at {at}");
        }
        assert!(changed(list + 20, 0x55).contains("entry"), "the size in the list");
        assert_eq!(damage(&[&*whole, &*whole].concat()), NO_END);
        assert_eq!(damage(&[&*whole, b"more"].concat()), NO_END);
        let end = whole.len() - 22;
        let comment = [&whole[..end + 20], b"\x04\x00more"].concat();
        assert_eq!(damage(&comment), NO_END);
        // A gap between the entries and the central directory, with its offset adjusted.
        let mut gap = [&whole[..list], b"more", &whole[list..]].concat();
        let start = u32::try_from(list).unwrap() + 4;
        gap[end + 4 + 16..end + 4 + 20].copy_from_slice(&start.to_le_bytes());
        assert_eq!(damage(&gap), STRAY);
    }
    let named = zip_of(&[("manifest.json", b"{}")]);
    let mut renamed = named.clone();
    renamed[30..43].copy_from_slice(b"../../evil.js");
    assert_eq!(damage(&renamed), "entry 1 differs from the list of entries");
    // A comment on an entry.
    let end = named.len() - 22;
    let list = u32::from_le_bytes(named[end + 16..end + 20].try_into().unwrap()) as usize;
    let mut commented = [&named[..end], b"hi", &named[end..]].concat();
    commented[list + 32] = 2;
    commented[end + 2 + 12] += 2;
    assert_eq!(damage(&commented), "entry 1 has a header with unexpected fields");
}

#[test]
fn a_tar_file_is_its_entries_and_zeros_and_one_frame() {
    let packed = |tar: &[u8]| zstd::encode_all(Cursor::new(tar), 3).unwrap();
    let whole = tar_zst_of(&[("manifest.json", tar::EntryType::Regular, b"{}\n")]);
    let tar = zstd::decode_all(Cursor::new(&whole)).unwrap();
    visit(&whole).unwrap();
    visit(&packed(&[&*tar, &[0; 10_240]].concat())).unwrap();
    assert_eq!(damage(&packed(&[&*tar, b"more"].concat())), STRAY);
    assert_eq!(damage(&packed(&[&*tar, &*tar].concat())), STRAY);
    assert_eq!(damage(&[&*whole, b"more"].concat()), STRAY);
    assert_eq!(damage(&[&*whole, &*whole].concat()), STRAY, "a second frame");
    let changed = |at: usize| {
        let mut changed = tar.clone();
        changed[at] = b'x';
        // The checksum of the header is adjusted, so that it is not the damage.
        let header = tar::Header::from_byte_slice(&changed[..512]);
        let mut header = header.clone();
        header.set_cksum();
        changed[..512].copy_from_slice(header.as_bytes());
        damage(&packed(&changed))
    };
    assert_eq!(changed(600), STRAY, "after the content of an entry");
    // After the name; in the link target; in the owner names; at the end.
    for at in [50, 160, 270, 300, 400, 511] {
        let header = "entry 1 has a header with unexpected fields";
        assert_eq!(changed(at), header, "at {at}");
    }
    let mut sum = tar.clone();
    sum[100] = b'7';
    assert!(damage(&packed(&sum)).starts_with("entry 1 has a header"), "the sum of a header");
    assert_eq!(damage(&packed(&tar[..514])), "entry 1 is truncated");
}

/// A zip file with one deflated entry. `change` edits its compressed bytes; both
/// headers are adjusted.
fn zip_with_packed(content: &[u8], change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let whole = zip_of(&[("manifest.json", content)]);
    let number = |at: usize| u32::from_le_bytes(whole[at..at + 4].try_into().unwrap()) as usize;
    let (start, length) = (30 + "manifest.json".len(), number(18));
    let mut packed = whole[start..start + length].to_vec();
    change(&mut packed);
    let mut changed = [&whole[..start], &packed, &whole[start + length..]].concat();
    let end = changed.len() - 22;
    let list = number(whole.len() - 22 + 16) + packed.len() - length;
    for (at, value) in [(18, packed.len()), (list + 20, packed.len()), (end + 16, list)] {
        changed[at..at + 4].copy_from_slice(&u32::try_from(value).unwrap().to_le_bytes());
    }
    changed
}

#[test]
fn every_packed_byte_of_a_zip_entry_belongs_to_its_content() {
    let numbers: String = (0..40_000).map(|number| format!("{number} ")).collect();
    for content in ["", "x", "{}\n", &"0".repeat(64 * 1024), &"a b".repeat(100_000), &numbers] {
        let changed = |change: fn(&mut Vec<u8>)| zip_with_packed(content.as_bytes(), change);
        visit(&changed(|_| ())).unwrap();
        let length = content.len();
        assert_eq!(damage(&changed(|packed| packed.push(0))), STRAY, "{length}");
        assert_eq!(damage(&changed(|packed| packed.extend(b"hi"))), STRAY, "{length}");
        let secret = |packed: &mut Vec<u8>| packed.extend(b"a whole file".repeat(10_000));
        assert_eq!(damage(&changed(secret)), STRAY, "{length}");
        let cut = damage(&changed(|packed| packed.truncate(packed.len() - 1)));
        assert!(!cut.starts_with("Ok"), "{length}: {cut}");
    }
}

#[test]
fn a_zip_entry_is_as_long_as_the_list_says() {
    let stored =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for options in [zip::write::SimpleFileOptions::default(), stored] {
        let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
        writer.start_file("manifest.json", options).unwrap();
        writer.write_all(b"{}\n").unwrap();
        let mut zip = writer.finish().unwrap().into_inner();
        visit(&zip).unwrap();
        let list = zip.windows(4).position(|part| part == b"PK\x01\x02").unwrap();
        (zip[22], zip[list + 24]) = (4, 4);
        assert_eq!(damage(&zip), "entry 1 differs from the list of entries");
    }
}

#[test]
fn the_numbers_of_a_tar_header_are_numbers_and_its_kind_is_one() {
    let whole = tar_zst_of(&[("manifest.json", tar::EntryType::Regular, b"{}\n")]);
    let tar = zstd::decode_all(Cursor::new(&whole)).unwrap();
    let changed = |at: usize, to: &[u8], sum_end: &[u8]| {
        let mut changed = tar.clone();
        changed[at..at + to.len()].copy_from_slice(to);
        changed[148..156].fill(b' ');
        let sum: u32 = changed[..512].iter().map(|byte| u32::from(*byte)).sum();
        let sum = [format!("{sum:06o}").as_bytes(), sum_end].concat();
        changed[148..156].copy_from_slice(&sum);
        damage(&zstd::encode_all(Cursor::new(changed), 3).unwrap())
    };
    let header = "entry 1 has a header with unexpected fields";
    let (size, kind) = (124, 257);
    for (at, to, sum_end) in [
        (size, &b"3\0hidden"[..], &b"\0 "[..]),
        (size, b"3 hidden", b"\0 "),
        (size, b"hidden", b"\0 "),
        (size, b"\x80hid\0\0\0\0\0\0\0\x03", b"\0 "),
        (kind, b"hidden!!", b"\0 "),
        (kind, b"ustar\0hi", b"\0 "),
        (kind, b"ustar  \0", b"\0x"),
    ] {
        assert_eq!(changed(at, to, sum_end), header, "{to:?} {sum_end:?}");
    }
    // Variants that tar programs write.
    for (at, to, sum_end) in [
        (size, &b"00000000003\0"[..], &b"\0 "[..]),
        (size, b"00000000003 ", b" \0"),
        (size, b"          3 ", b"\0 "),
        (size, b"\x80\0\0\0\0\0\0\0\0\0\0\x03", b"\0\0"),
        (kind, b"ustar\x0000", b"\0 "),
        (kind, &[0; 8], b"\0 "),
    ] {
        assert_eq!(changed(at, to, sum_end), "Ok(())", "{to:?} {sum_end:?}");
    }
}
