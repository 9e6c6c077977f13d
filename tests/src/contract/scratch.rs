//! What every [`Scratch`] promises.

use traj_core::port::Scratch;

/// Runs the whole suite; `fresh` makes an empty one.
pub fn all(fresh: &dyn Fn() -> Box<dyn Scratch>) {
    it_gives_back_what_it_got(fresh());
    nothing_is_read_behind_its_end(fresh());
    two_do_not_meet(fresh(), fresh());
}

fn it_gives_back_what_it_got(mut scratch: Box<dyn Scratch>) {
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

fn nothing_is_read_behind_its_end(mut scratch: Box<dyn Scratch>) {
    let mut byte = [0];
    assert!(scratch.read_exact_at(0, &mut byte).is_err());
    scratch.append(b"0").expect("appends");
    for offset in [1, 2, u64::MAX] {
        assert!(scratch.read_exact_at(offset, &mut byte).is_err(), "{offset}");
    }
}

fn two_do_not_meet(mut one: Box<dyn Scratch>, mut other: Box<dyn Scratch>) {
    one.append(b"one").expect("appends");
    other.append(b"two").expect("appends");
    for (scratch, expected) in [(one, b"one"), (other, b"two")] {
        let mut bytes = [0; 3];
        scratch.read_exact_at(0, &mut bytes).expect("reads");
        assert_eq!(&bytes, expected);
    }
}
