//! Values in a fixed format that are not secrets by themselves: ids and dates.

/// Whether a value has the UUID format.
pub(in crate::redaction) fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(place, byte)| match place {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// Whether a value begins with a date such as `2026-04-02`.
pub(in crate::redaction) fn is_date(value: &[u8]) -> bool {
    value.get(..10).is_some_and(|head| {
        head.iter().enumerate().all(|(place, byte)| match place {
            4 | 7 => matches!(byte, b'-' | b'/' | b'.'),
            _ => byte.is_ascii_digit(),
        })
    })
}
