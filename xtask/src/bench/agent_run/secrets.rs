//! Made-up secrets, each in the context in which such secrets leak. They are
//! assembled here, so that no scanner reports this file.

const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/// The secret part of secret `number`.
pub(super) fn value(number: usize) -> String {
    match number / 4 % 10 {
        0 => format!("{}{}", "ghp_", letters(number, 36)),
        1 => format!("{}{}", "sk-proj-", letters(number, 48)),
        2 => format!("{}{}AA", "sk-ant-api03-", letters(number, 93)),
        3 => letters(number, 40),
        4 => {
            let digits = 100_000_000_000 + number * 7_919;
            format!("{}{digits}-{digits}-{}", "xoxb-", letters(number, 24))
        }
        5 | 8 => letters(number, 20),
        6 => letters(number, 44),
        7 => format!("{}{}", "sk_live_", letters(number, 24)),
        _ => format!("{}{}", "AIza", letters(number, 35)),
    }
}

/// The same secret with its context.
pub(super) fn in_context(number: usize) -> String {
    let secret = value(number);
    match number / 4 % 10 {
        0 => format!("export GITHUB_TOKEN={secret}"),
        1 => format!("OPENAI_API_KEY={secret}"),
        3 => format!("AWS_SECRET_ACCESS_KEY={secret}"),
        5 => format!("DATABASE_URL=postgres://app:{secret}@db.internal.example:5432/orders"),
        6 => format!("Authorization: Bearer {secret}"),
        8 => format!("DB_PASSWORD={secret}"),
        _ => format!("the key is {secret}"),
    }
}

fn letters(number: usize, length: usize) -> String {
    let mut seed = number as u64 * 2_654_435_761 + 99;
    (0..length)
        .map(|_| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(7);
            char::from(LETTERS[(seed >> 33) as usize % LETTERS.len()])
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_secret_is_different_and_stands_in_its_context() {
        let all: std::collections::BTreeSet<String> = (0..200).map(value).collect();
        assert_eq!(all.len(), 200);
        assert!((0..200).all(|number| in_context(number).contains(&value(number))));
    }
}
