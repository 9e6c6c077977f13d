//! What every [`BlobFolder`] promises.

use traj_core::capture::BlobDigest;
use traj_core::port::BlobFolder;

/// Runs the whole suite on an empty folder.
pub fn all(blobs: &dyn BlobFolder) {
    let (text, other) = (b"a long text".as_slice(), b"another one".as_slice());
    let (digest, second) = (BlobDigest::of(text), BlobDigest::of(other));
    assert!(blobs.list().expect("an empty folder is fine").is_empty());
    assert_eq!(blobs.read(&digest).expect("nothing is fine"), None);
    blobs.remove(&digest).expect("nothing to remove is fine");

    blobs.restore(&digest, text).expect("a blob is stored");
    blobs.restore(&digest, text).expect("storing twice is storing once");
    blobs.restore(&second, other).expect("a blob is stored");
    assert_eq!(blobs.read(&digest).expect("it can be read").as_deref(), Some(text));
    let mut expected = vec![digest.clone(), second.clone()];
    expected.sort();
    assert_eq!(blobs.list().expect("a list"), expected);

    blobs.restore(&second, text).expect_err("a blob is named after its content");
    blobs.remove(&digest).expect("it is removed");
    assert_eq!(blobs.list().expect("a list"), [second]);
}
