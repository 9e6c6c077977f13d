//! What every [`BundleSink`] promises.

use traj_core::constant_text;
use traj_core::id::BundleName;
use traj_core::port::{BundleFile, BundleSink, BundleSinkError, BundleWriter, NameTaken};
use traj_core::redaction::{ConstantText, Redacted, RedactedText};

/// A sink under test, and ways to read its visible bundles.
pub trait BundleSinkHarness {
    /// The sink.
    fn sink(&self) -> &dyn BundleSink;
    /// The names of all visible entries, sorted.
    fn names(&self) -> Vec<String>;
    /// The content of a file in a visible bundle.
    fn read(&self, bundle: &str, file: &str) -> Option<String>;
}

suite! {
    $ bundle_sink on BundleSinkHarness:
    a_bundle_appears_with_its_commit,
    what_is_dropped_leaves_nothing,
    a_file_is_written_once,
    files_are_written_side_by_side,
    a_chosen_name_is_never_taken_twice,
    a_made_up_name_gets_a_number,
}

fn name(text: &str) -> BundleName {
    BundleName::parse(text).expect("a plain name")
}

fn text(content: ConstantText) -> Redacted<String> {
    let mut text = RedactedText::new();
    text.push_constant(content);
    text.finish()
}

fn put(writer: &mut dyn BundleWriter, file: BundleFile, content: ConstantText) {
    let mut output = writer.create(file).expect("creates");
    output.append(&text(content)).expect("appends");
    output.finish().expect("finishes");
}

fn a_bundle_appears_with_its_commit(harness: &dyn BundleSinkHarness) {
    let mut writer = harness.sink().begin(&name("one"), NameTaken::Refuse).expect("begins");
    put(&mut *writer, BundleFile::Events, constant_text!("a\n"));
    put(&mut *writer, BundleFile::Blob([0xab; 32]), constant_text!("long"));
    let back = writer.read_back(BundleFile::Events).expect("reads back");
    let mut bytes = [0; 2];
    back.read_exact_at(0, &mut bytes).expect("reads");
    assert_eq!((&bytes, back.len()), (b"a\n", 2));
    assert!(harness.names().is_empty(), "nothing is visible before the commit");
    assert_eq!(writer.commit().expect("commits"), "one");
    assert_eq!(harness.names(), ["one"]);
    assert_eq!(harness.read("one", "events.jsonl").as_deref(), Some("a\n"));
    let blob = format!("blobs/{}.txt", "ab".repeat(32));
    assert_eq!(harness.read("one", &blob).as_deref(), Some("long"));
}

fn what_is_dropped_leaves_nothing(harness: &dyn BundleSinkHarness) {
    let mut writer = harness.sink().begin(&name("one"), NameTaken::Refuse).expect("begins");
    put(&mut *writer, BundleFile::Events, constant_text!("a\n"));
    let scratch = writer.scratch().expect("makes room");
    drop(writer);
    drop(scratch);
    assert!(harness.names().is_empty());
}

fn a_file_is_written_once(harness: &dyn BundleSinkHarness) {
    let mut writer = harness.sink().begin(&name("one"), NameTaken::Refuse).expect("begins");
    put(&mut *writer, BundleFile::Events, constant_text!("a\n"));
    let again = writer.create(BundleFile::Events);
    assert!(matches!(again, Err(BundleSinkError::Repeated { file: BundleFile::Events })));
    assert!(writer.read_back(BundleFile::Tools).is_err());
}

fn files_are_written_side_by_side(harness: &dyn BundleSinkHarness) {
    let mut writer = harness.sink().begin(&name("one"), NameTaken::Refuse).expect("begins");
    let [line, document] = constant_text!(["a\n", "{}\n"]);
    let files = [(BundleFile::Events, line), (BundleFile::SessionBranch, document)];
    let mut open = files.map(|(file, content)| (writer.create(file).expect("creates"), content));
    for _ in 0..2 {
        for (output, content) in &mut open {
            output.append(&text(*content)).expect("appends");
        }
    }
    for (output, _) in open {
        output.finish().expect("finishes");
    }
    writer.commit().expect("commits");
    for (file, content) in files {
        assert_eq!(harness.read("one", &file.to_string()), Some(content.as_str().repeat(2)));
    }
}

fn a_chosen_name_is_never_taken_twice(harness: &dyn BundleSinkHarness) {
    let sink = harness.sink();
    let mut first = sink.begin(&name("one"), NameTaken::Refuse).expect("begins");
    let mut second = sink.begin(&name("one"), NameTaken::Refuse).expect("not taken yet");
    put(&mut *first, BundleFile::Events, constant_text!("first\n"));
    put(&mut *second, BundleFile::Events, constant_text!("second\n"));
    first.commit().expect("commits");
    assert!(matches!(second.commit(), Err(BundleSinkError::Exists { .. })));
    let third = sink.begin(&name("one"), NameTaken::Refuse);
    assert!(matches!(third, Err(BundleSinkError::Exists { .. })));
    assert_eq!(harness.names(), ["one"]);
    assert_eq!(harness.read("one", "events.jsonl").as_deref(), Some("first\n"));
}

fn a_made_up_name_gets_a_number(harness: &dyn BundleSinkHarness) {
    for expected in ["one", "one-2", "one-3"] {
        let mut writer = harness.sink().begin(&name("one"), NameTaken::Renumber).expect("begins");
        put(&mut *writer, BundleFile::Events, constant_text!("x\n"));
        assert_eq!(writer.commit().expect("commits"), expected);
    }
    assert_eq!(harness.names().len(), 3);
}
