//! Names of a program: types, constants, words in camel case.

/// Endings of type names. Passwords rarely end like this.
const TYPE_ENDINGS: &[&[u8]] = &[
    b"Address",
    b"Arn",
    b"Auth",
    b"Array",
    b"Buffer",
    b"Builder",
    b"Bytes",
    b"Cache",
    b"Callback",
    b"Class",
    b"Client",
    b"Command",
    b"Config",
    b"Context",
    b"Credential",
    b"Credentials",
    b"Data",
    b"Der",
    b"Engine",
    b"Error",
    b"Event",
    b"Factory",
    b"Fn",
    b"Handle",
    b"Handler",
    b"Hook",
    b"Id",
    b"Impl",
    b"Info",
    b"Instance",
    b"Interface",
    b"Item",
    b"Key",
    b"Kind",
    b"Len",
    b"List",
    b"Manager",
    b"Map",
    b"Mode",
    b"Name",
    b"Object",
    b"Option",
    b"Options",
    b"Page",
    b"Params",
    b"Password",
    b"Policy",
    b"Projection",
    b"Prop",
    b"Props",
    b"Provider",
    b"Reader",
    b"Reference",
    b"Request",
    b"Response",
    b"Result",
    b"Schema",
    b"Secret",
    b"Selector",
    b"Service",
    b"Session",
    b"Settings",
    b"Source",
    b"Spec",
    b"State",
    b"Status",
    b"Str",
    b"String",
    b"Support",
    b"Token",
    b"Type",
    b"Value",
    b"Writer",
];

/// Whether an unquoted value is a name of the program: `__u32`, `c_long`,
/// `TEST_DATA_BASE64`, `Ed25519PrivateKey`, `+dir`.
pub(super) fn is_code_name(value: &[u8]) -> bool {
    is_machine_type(value)
        || is_constant(value)
        || is_capital_type(value)
        || is_snake(value)
        || is_type(value)
        || is_joined(value)
}

/// `__u32`, `c_long`, `u64`, `uint8_t`.
fn is_machine_type(value: &[u8]) -> bool {
    let is_word = |word: &[u8]| {
        !word.is_empty()
            && word.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    let width = |word: &[u8]| matches!(word, b"8" | b"16" | b"32" | b"64" | b"128" | b"size");
    match value {
        [b'_', b'_', word @ ..] => is_word(word) && word.len() <= 8,
        [b'c', b'_', word @ ..] => word.len() <= 12 && word.iter().all(u8::is_ascii_lowercase),
        [b'u' | b'i' | b'f', rest @ ..] if width(rest) => true,
        _ => value.len() <= 10 && value.ends_with(b"_t") && is_word(&value[..value.len() - 2]),
    }
}

/// `BEARER_TOKEN_FORMAT`, `TEST_DATA_BASE64`: several words in capitals.
fn is_constant(value: &[u8]) -> bool {
    let start = value.iter().position(|byte| *byte != b'_').unwrap_or_default();
    let value = &value[start..];
    let mut words = 0;
    for word in value.split(|byte| *byte == b'_') {
        // `STORAGE_OFFLOAD_TOKEN_0_0`
        if words >= 2 && matches!(word, [b'0'..=b'9']) {
            continue;
        }
        let digits = word.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let letters = word.len() - digits;
        if letters < 1 || digits > 3 || !word[..letters].iter().all(u8::is_ascii_uppercase) {
            return false;
        }
        words += 1;
    }
    words >= 3 && value.len() >= words * 4
}

/// `D3DKMT_PRESENTHISTORYTOKEN`: two long words in capitals, with few digits.
fn is_capital_type(value: &[u8]) -> bool {
    let is_name = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
    let value = value.strip_suffix(b"_0").unwrap_or(value);
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    value.len() >= 14
        && digits <= 2
        && value.split(|byte| *byte == b'_').count() == 2
        && value
            .split(|byte| *byte == b'_')
            .all(|word| word.len() >= 4 && word[0].is_ascii_uppercase() && word.iter().all(is_name))
}

/// `nl80211_pattern_support`: lower-case words after a name with digits.
fn is_snake(value: &[u8]) -> bool {
    let mut words = value.split(|byte| *byte == b'_');
    let is_name =
        |word: &[u8]| word.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    let is_plain = |word: &[u8]| word.len() >= 3 && word.iter().all(u8::is_ascii_lowercase);
    let starts_with_letter = |word: &[u8]| word.first().is_some_and(u8::is_ascii_lowercase);
    let is_listed = is_snake_name(value)
        && words.clone().all(starts_with_letter)
        && words.clone().filter(|word| is_plain(word)).count() >= 3;
    is_listed
        || words.next().is_some_and(is_name)
            && words.clone().count() >= 2
            && words.all(|word| word.len() >= 4 && word.iter().all(u8::is_ascii_lowercase))
}

/// Whether a value is a name such as `rejected_by_ed25519_with_p256_sha256`: short
/// lower-case words, with more underscores than a random value has.
pub(in crate::redaction) fn is_snake_name(value: &[u8]) -> bool {
    const LONGEST_WORD: usize = 14;
    let is_small = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let words = value.split(|byte| *byte == b'_');
    words.clone().count() >= 3
        && words.clone().all(|word| word.len() <= LONGEST_WORD && word.iter().all(is_small))
}

/// `XmlStringMaxLen256`, `SyncBailHook`: words in camel case that end like a type.
fn is_type(value: &[u8]) -> bool {
    let digits = value.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let stem = &value[..value.len() - digits];
    // An ending is a capital followed by lower-case letters.
    let small = stem.iter().rev().take_while(|byte| byte.is_ascii_lowercase()).count();
    let last = stem.len().checked_sub(small + 1).and_then(|place| stem.get(place..));
    let is_ending = |last: &[u8]| {
        let same_head = |ending: &&&[u8]| ending.len() == last.len() && ending[0] == last[0];
        TYPE_ENDINGS.iter().filter(same_head).any(|ending| *ending == last)
    };
    digits <= 4
        && last.is_some_and(is_ending)
        && camel_words(value, usize::MAX).is_some_and(|words| {
            let most_short = if words.count >= 4 { words.count / 2 } else { 1 };
            words.count >= 2
                && words.short <= most_short
                && words.letters * 2 >= words.count * 7
                && words.letters * 5 >= words.capitals * 13
        })
}

/// `"PWD="+dir`: a variable that is joined to a string.
fn is_joined(value: &[u8]) -> bool {
    matches!(value, [b'+', name @ ..] if !name.is_empty()
        && name.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b'_'))
}

/// Whether a value is a capitalised name in letters: `SyncBailHook`, `Option`.
pub(super) fn is_capitalised(value: &[u8]) -> bool {
    value.first().is_some_and(u8::is_ascii_uppercase)
        && value.iter().all(u8::is_ascii_alphabetic)
        && value.iter().any(u8::is_ascii_lowercase)
}

/// Whether a value consists of at least three long words in camel case, such as
/// `ReadUint16LengthPrefixed`. Random letters change their case more often.
pub(super) fn has_camel_words(value: &[u8]) -> bool {
    camel_words(value, 0).is_some_and(|words| {
        let letters = if words.count >= 4 { 4 } else { 5 };
        words.count >= 3
            && words.letters >= words.count * letters
            && words.letters >= words.capitals * 3
    })
}

/// `awsEnvVar`, `rawApiKey`: a name in camel case of two or more words, none of them
/// short.
pub(super) fn is_camel_name(value: &[u8]) -> bool {
    value.len() <= 24
        && value.first().is_some_and(u8::is_ascii_lowercase)
        && value.iter().all(u8::is_ascii_alphabetic)
        && camel_words(value, 0).is_some_and(|words| {
            words.count >= 2
                && words.capitals + 1 == words.count
                && words.letters >= words.count * 3
        })
}

/// The words of a value in camel case.
#[derive(Clone, Copy, Debug, Default)]
struct CamelWords {
    count: usize,
    /// Words with a single small letter or none.
    short: usize,
    letters: usize,
    capitals: usize,
}

/// Splits a value into words that begin with capitals and end with digits; `None`
/// if it has other characters, more capitals or digits than names have, or more than
/// `most_short` short words.
fn camel_words(value: &[u8], most_short: usize) -> Option<CamelWords> {
    if value.len() > 64 || !value.iter().all(u8::is_ascii_alphanumeric) {
        return None;
    }
    let mut words = CamelWords::default();
    let mut rest = value;
    while !rest.is_empty() {
        let capitals = rest.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
        let after = &rest[capitals..];
        let small = after.iter().take_while(|byte| byte.is_ascii_lowercase()).count();
        let after = &after[small..];
        let digits = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits > 5 || capitals > 6 || capitals + small == 0 {
            return None;
        }
        words.count += 1;
        words.short += usize::from(small < 2);
        if words.short > most_short {
            return None;
        }
        words.letters += capitals + small;
        words.capitals += capitals;
        rest = &after[digits..];
    }
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ending_is_a_capital_and_small_letters() {
        for ending in TYPE_ENDINGS {
            let (first, rest) = ending.split_first().unwrap();
            assert!(first.is_ascii_uppercase() && rest.iter().all(u8::is_ascii_lowercase));
        }
    }

    #[test]
    fn names_of_a_program_are_recognised() {
        for text in [
            "__u32",
            "c_long",
            "u64",
            "uint8_t",
            "TEST_DATA_BASE64",
            "__X32_SYSCALL_BIT",
            "D3DKMT_PRESENTHISTORYTOKEN",
            "nl80211_pattern_support",
            "Base64URLString",
            "BCryptExportKeyFn",
            "Sam2VideoInferenceSession",
            "XmlStringMaxLen256",
            "+dir",
            "Ed25519PrivateKey",
            "SpGetContextTokenFn",
            "PrivatePkcs8KeyDer",
            "CreateOAuth2TokenCommand",
            "STORAGE_OFFLOAD_TOKEN_0_0",
            "D3DKMT_PRESENTHISTORYTOKEN_0",
            "docker_e2e_test_state_function_b64",
        ] {
            assert!(is_code_name(text.as_bytes()), "{text}");
        }
        for text in [
            "Ember3294willow",
            "tango77Kestrel",
            "Summer2024",
            "AKIAQ7XW2ZKP9SLM",
            "+4915112345",
            "aMjxes65KX3AYYwjq4vy",
            "CorrectHorse9",
            "maple_river_candle_77",
        ] {
            assert!(!is_code_name(text.as_bytes()), "{text}");
        }
        assert!(has_camel_words(b"ReadUint16LengthPrefixed"));
        assert!(is_camel_name(b"awsEnvVar") && is_camel_name(b"rawApiKey"));
        assert!(!is_camel_name(b"KwuRteVbs") && !is_camel_name(b"aMjxesKXAYY"));
        assert!(!has_camel_words(b"q7Xw2ZkP9sLmD4vTr8Yb1NcJ"));
    }
}
