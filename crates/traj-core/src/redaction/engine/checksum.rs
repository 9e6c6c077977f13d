//! Checks that reject most random numbers of the right length.

/// Whether ASCII digits have the check digit of payment cards.
pub(in crate::redaction) fn luhn(digits: &[u8]) -> bool {
    if digits.len() < 12 || digits.iter().all(|digit| *digit == digits[0]) {
        return false;
    }
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| {
            let digit = u32::from(digit.wrapping_sub(b'0'));
            match (place % 2, digit * 2) {
                (0, _) => digit,
                (_, double) if double > 9 => double - 9,
                (_, double) => double,
            }
        })
        .sum();
    sum.is_multiple_of(10)
}

/// Whether the check digits of an IBAN are valid; separators are skipped.
pub(in crate::redaction) fn iban(text: &[u8]) -> bool {
    let compact: Vec<u8> = text.iter().copied().filter(u8::is_ascii_alphanumeric).collect();
    if !(15..=34).contains(&compact.len()) {
        return false;
    }
    let (head, tail) = compact.split_at(4);
    let mut rest = 0_u32;
    for byte in tail.iter().chain(head) {
        rest = match byte {
            b'0'..=b'9' => (rest * 10 + u32::from(byte - b'0')) % 97,
            b'A'..=b'Z' => (rest * 100 + u32::from(byte - b'A') + 10) % 97,
            _ => return false,
        };
    }
    rest == 1
}

/// Whether `text` is a public IPv4 address.
pub(super) fn public_address(text: &[u8]) -> bool {
    let Some(address) =
        std::str::from_utf8(text).ok().and_then(|text| text.parse::<std::net::Ipv4Addr>().ok())
    else {
        return false;
    };
    !(address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_unspecified()
        || address.is_broadcast()
        || address.is_multicast()
        || address.is_documentation())
        && address.octets()[0] != 0
}

/// Whether `text` has 8 to 15 digits that are not all the same.
pub(in crate::redaction) fn phone(text: &[u8]) -> bool {
    let digits: Vec<u8> = text.iter().copied().filter(u8::is_ascii_digit).collect();
    (8..=15).contains(&digits.len()) && digits.iter().any(|digit| *digit != digits[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_digits_are_computed() {
        assert!(luhn(b"4111111111111111"));
        assert!(!luhn(b"4111111111111112"));
        assert!(!luhn(b"0000000000000000"));
        assert!(iban(b"GB82 WEST 1234 5698 7654 32"));
        assert!(!iban(b"GB82 WEST 1234 5698 7654 33"));
        assert!(public_address(b"93.184.216.34"));
        assert!(!public_address(b"10.0.3.14"));
        assert!(phone(b"+49 30 901820"));
    }
}
