//! What every [`Scratch`] promises.

use traj_core::port::Scratch;

/// Makes scratch files to test.
pub trait ScratchHarness {
    /// An empty scratch file, separate from earlier ones.
    fn scratch(&self) -> Box<dyn Scratch>;
}

suite! {
    $ scratch on ScratchHarness:
    it_gives_back_what_it_got,
    nothing_is_read_after_its_end,
    two_do_not_meet,
}

fn it_gives_back_what_it_got(harness: &dyn ScratchHarness) {
    let mut scratch = harness.scratch();
    scratch.append(b"0123").expect("appends");
    scratch.append(b"").expect("appends nothing");
    scratch.append(b"4567").expect("appends");
    let mut bytes = [0; 4];
    scratch.read_exact_at(2, &mut bytes).expect("reads");
    assert_eq!(&bytes, b"2345");
    scratch.append(b"89").expect("appends after reading");
    scratch.read_exact_at(6, &mut bytes).expect("reads");
    assert_eq!(&bytes, b"6789");
}

fn nothing_is_read_after_its_end(harness: &dyn ScratchHarness) {
    let mut scratch = harness.scratch();
    let mut byte = [0];
    assert!(scratch.read_exact_at(0, &mut byte).is_err());
    scratch.append(b"0").expect("appends");
    for offset in [1, 2, u64::MAX] {
        assert!(scratch.read_exact_at(offset, &mut byte).is_err(), "{offset}");
    }
}

fn two_do_not_meet(harness: &dyn ScratchHarness) {
    let (mut one, mut other) = (harness.scratch(), harness.scratch());
    one.append(b"one").expect("appends");
    other.append(b"two").expect("appends");
    for (scratch, expected) in [(one, b"one"), (other, b"two")] {
        let mut bytes = [0; 3];
        scratch.read_exact_at(0, &mut bytes).expect("reads");
        assert_eq!(&bytes, expected);
    }
}
