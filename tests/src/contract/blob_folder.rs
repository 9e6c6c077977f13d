//! What every [`BlobFolder`] promises.

use traj_core::capture::BlobDigest;
use traj_core::port::BlobFolder;

/// A directory of blobs to test, with its resources.
pub trait BlobFolderHarness {
    /// The directory; empty at first.
    fn blobs(&self) -> &dyn BlobFolder;
}

suite! {
    $ blob_folder on BlobFolderHarness:
    an_empty_directory_has_nothing_to_give,
    what_is_stored_is_read_and_listed_once,
    a_blob_is_named_after_its_content,
    what_is_removed_is_gone,
}

const TEXT: &[u8] = b"a long text";
const OTHER: &[u8] = b"another one";

fn an_empty_directory_has_nothing_to_give(harness: &dyn BlobFolderHarness) {
    let (blobs, digest) = (harness.blobs(), BlobDigest::of(TEXT));
    assert!(blobs.list().expect("an empty directory is fine").is_empty());
    assert_eq!(blobs.read(&digest).expect("nothing is fine"), None);
    blobs.remove(&digest).expect("nothing to remove is fine");
    assert!(blobs.list().expect("a list").is_empty());
}

fn what_is_stored_is_read_and_listed_once(harness: &dyn BlobFolderHarness) {
    let (blobs, digest, second) = (harness.blobs(), BlobDigest::of(TEXT), BlobDigest::of(OTHER));
    blobs.restore(&digest, TEXT).expect("a blob is stored");
    blobs.restore(&digest, TEXT).expect("storing twice is storing once");
    blobs.restore(&second, OTHER).expect("a blob is stored");
    assert_eq!(blobs.read(&digest).expect("it can be read").as_deref(), Some(TEXT));
    assert_eq!(blobs.read(&second).expect("it can be read").as_deref(), Some(OTHER));
    let mut expected = vec![digest, second];
    expected.sort();
    assert_eq!(blobs.list().expect("a list"), expected);
}

fn a_blob_is_named_after_its_content(harness: &dyn BlobFolderHarness) {
    let (blobs, second) = (harness.blobs(), BlobDigest::of(OTHER));
    blobs.restore(&second, OTHER).expect("a blob is stored");
    blobs.restore(&second, TEXT).expect_err("another content has another name");
    assert_eq!(blobs.read(&second).expect("it can be read").as_deref(), Some(OTHER));
}

fn what_is_removed_is_gone(harness: &dyn BlobFolderHarness) {
    let (blobs, digest, second) = (harness.blobs(), BlobDigest::of(TEXT), BlobDigest::of(OTHER));
    blobs.restore(&digest, TEXT).expect("a blob is stored");
    blobs.restore(&second, OTHER).expect("a blob is stored");
    blobs.remove(&digest).expect("it is removed");
    assert_eq!(blobs.list().expect("a list"), [second]);
    assert_eq!(blobs.read(&digest).expect("nothing is fine"), None);
}
