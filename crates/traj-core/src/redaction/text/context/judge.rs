//! Decides whether the value of a name must be hidden.

mod shape;

use self::shape::{
    is_duration, is_measure, is_path, is_public, is_template, is_translation, is_type_name,
    says_something,
};
use crate::redaction::engine::checksum;
use crate::redaction::field_name::NameClass;
use crate::redaction::rule::Frame;
use crate::redaction::text::value::{
    Classes, behind_mask, entropy, is_code, is_date, is_placeholder, is_sentence, is_uuid, is_word,
    looks_chosen, looks_random, made_of_words,
};

/// The form in which a value was found; the looser the form, the more the value
/// itself must look like a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::redaction) enum Style {
    /// A string or number in parsed data.
    Data,
    /// `name=value` without spaces, a flag, an element: written for machines.
    Machine,
    /// `name = "value"` or `name: "value"`.
    Quoted,
    /// `name = value` or `name: value` without quotes.
    Open,
    /// A value in a cell beside or below its name.
    Cell,
    /// `the name is value`.
    Prose,
}

/// Whether `value`, under a name of `class`, must be hidden.
pub(in crate::redaction) fn judge(value: &[u8], class: NameClass, style: Style) -> bool {
    let value = value.trim_ascii();
    if value.is_empty() || is_placeholder(value) {
        return false;
    }
    let value = behind_mask(value);
    if is_public(value) || is_template(value) || is_translation(value) {
        return false;
    }
    match class {
        NameClass::Plain => false,
        NameClass::Weak(frame) => weak(value, frame, style),
        NameClass::Strong(frame) => strong(value, frame, style),
        NameClass::Field(frame) if style == Style::Data => strong(value, frame, style),
        // In code, such a name often has a type or a constructor as its value.
        NameClass::Field(frame) => weak(value, frame, style) && Classes::of(value).digit > 0,
        NameClass::Inside(frame) => inside(value, frame),
    }
}

fn weak(value: &[u8], frame: Frame, style: Style) -> bool {
    match frame {
        Frame::OneTimeCode => value.len() >= 20 && looks_random(value),
        Frame::Password => {
            // `pass: *const c_char`
            let is_pointer = matches!(value, b"*const" | b"*mut");
            value.len() >= 6 && looks_chosen(value) && !is_duration(value) && !is_pointer
                || looks_random(value)
        }
        Frame::CardNumber => is_card(value),
        // The URL reader handles a password inside.
        Frame::Credential
            if value.contains(&b'@') || value.windows(3).any(|window| window == b"://") =>
        {
            false
        }
        Frame::Cookie => value.len() >= 16 && !value.contains(&b'=') && looks_random(value),
        Frame::Token if style == Style::Machine || style == Style::Data => {
            looks_random(value)
                || (value.len() >= 8
                    && looks_chosen(value)
                    && entropy(value) > 2.8
                    && !is_path(value))
        }
        _ => looks_random(value),
    }
}

/// Whether a value inside a secret one may be secret: it is not a word, a number,
/// a path, a date or prose.
fn inside(value: &[u8], frame: Frame) -> bool {
    let classes = Classes::of(value);
    let password = matches!(frame, Frame::Password | Frame::Passphrase);
    if classes.digit == value.len() {
        return password && value.len() >= 4 || value.len() >= 20;
    }
    if is_path(value) || is_date(value) || classes.space > 0 {
        return false;
    }
    let shortest = if matches!(frame, Frame::Token | Frame::Cookie) { 8 } else { 4 };
    looks_random(value)
        || is_uuid(value)
        || value.len() >= shortest && looks_chosen(value) && !is_measure(value)
}

/// Whether the value of a cookie field has something that is not plainly harmless:
/// a word, or a short number.
fn has_telling_pair(value: &[u8]) -> bool {
    !is_sentence(value)
        && value.split(|byte| *byte == b';').any(|pair| {
            let value = pair.split(|byte| *byte == b'=').next_back().unwrap_or(pair).trim_ascii();
            let is_number = value.len() < 6 && value.iter().all(u8::is_ascii_digit);
            !is_number && !is_word(value) && !is_placeholder(value) && !is_path(value)
        })
}

fn strong(value: &[u8], frame: Frame, style: Style) -> bool {
    let classes = Classes::of(value);
    match frame {
        Frame::OneTimeCode => return one_time_code(value, style),
        Frame::CardCode => {
            return matches!(value.len(), 3..=12) && classes.digit == value.len();
        }
        Frame::CardNumber => return is_card(value),
        Frame::SeedPhrase => {
            return classes.space >= 5 || looks_random(value);
        }
        Frame::Authorization if style == Style::Data => {
            return !is_path(value) && !is_sentence(value) && !is_word(value);
        }
        Frame::Authorization => {
            return classes.space == 0
                && !is_path(value)
                && (looks_random(value) || value.len() >= 20 && looks_chosen(value));
        }
        Frame::Cookie => return has_telling_pair(value),
        _ => {}
    }
    // A number may be a password. A short one under `token` or `key` is a count.
    if classes.digit == value.len() {
        return matches!(frame, Frame::Password | Frame::Passphrase | Frame::Secret)
            && value.len() >= 3
            && style != Style::Prose
            || value.len() >= 10
            || value.len() >= 6 && style == Style::Data;
    }
    if is_path(value) && !value.contains(&b'@') {
        return false;
    }
    if classes.space > 0 {
        return spaced(value, frame, style);
    }
    match style {
        Style::Data => {
            !matches!(frame, Frame::Token | Frame::Credential) || !is_reference_name(value, frame)
        }
        Style::Quoted => !is_type_name(value) && !is_reference_name(value, frame),
        // Tokens and keys are issued by machines: a plain word is not one.
        Style::Machine => {
            let word = matches!(frame, Frame::Token | Frame::ApiKey) && is_word(value);
            value.len() >= 3 && !word && !is_code(value) && !is_type_name(value)
        }
        Style::Cell => {
            let is_password = matches!(frame, Frame::Password | Frame::Passphrase);
            let is_chosen = looks_chosen(value)
                && (is_password && !is_duration(value) || !is_password && !made_of_words(value));
            (is_chosen || looks_random(value) || is_uuid(value)) && !is_code(value)
        }
        Style::Open => {
            if is_code(value) || is_type_name(value) {
                return false;
            }
            if is_word(value) {
                return matches!(frame, Frame::Password | Frame::Passphrase)
                    && classes.upper == 0
                    && value.len() >= 6
                    && !value.contains(&b'_')
                    && !value.contains(&b'.')
                    && !value.ends_with(b"-");
            }
            // An issued token is longer than a type such as `Colon2`.
            let issued = matches!(frame, Frame::Token | Frame::ApiKey);
            looks_random(value)
                || looks_chosen(value) && (!issued || value.len() >= 8)
                || is_uuid(value)
        }
        Style::Prose => {
            !is_word(value)
                && !is_code(value)
                && value.len() >= 6
                && (looks_random(value) || looks_chosen(value) || is_uuid(value))
        }
    }
}

/// A value with spaces: a passphrase, or prose.
fn spaced(value: &[u8], frame: Frame, style: Style) -> bool {
    if !matches!(style, Style::Data | Style::Quoted) || value.len() > 256 {
        return false;
    }
    // Four words and more of a passphrase are lower-case and without punctuation.
    let is_phrase = frame == Frame::Passphrase
        && value.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'-'))
        && !says_something(value);
    if !is_phrase && is_sentence(value) {
        return false;
    }
    if is_app_password(value) {
        return true;
    }
    let classes = Classes::of(value);
    match frame {
        Frame::Password | Frame::Passphrase | Frame::Secret => classes.letters() > 0,
        _ => {
            classes.digit > 1
                && looks_random(
                    &value.iter().copied().filter(|byte| *byte != b' ').collect::<Vec<_>>(),
                )
        }
    }
}

/// Four groups of four lowercase letters.
pub(super) fn is_app_password(value: &[u8]) -> bool {
    value.len() == 19
        && value.iter().enumerate().all(|(place, byte)| {
            if place % 5 == 4 { matches!(byte, b' ' | b'-') } else { byte.is_ascii_lowercase() }
        })
}

fn one_time_code(value: &[u8], style: Style) -> bool {
    let classes = Classes::of(value);
    let separated = value.iter().filter(|byte| matches!(byte, b'-' | b' ')).count();
    if classes.digit >= 4 && classes.digit + separated == value.len() && value.len() <= 11 {
        return true;
    }
    if classes.space > 0 {
        return false;
    }
    classes.digit > 0
        && (value.len() >= 6 && value.len() <= 12 && classes.lower == 0 && classes.upper > 0
            || looks_random(value)
            || matches!(style, Style::Data | Style::Machine)
                && value.len() >= 16
                && looks_chosen(value))
}

/// Whether `value` names or locates a secret instead of being one.
fn is_reference_name(value: &[u8], frame: Frame) -> bool {
    if matches!(frame, Frame::Password | Frame::Passphrase) {
        return false;
    }
    // `token: "refresh_token"`, `secret: "db-credentials"`.
    let value = value.strip_suffix(b".*").unwrap_or(value);
    is_word(value) && value.len() < 40
        || value.contains(&b'/') && made_of_words(value)
        || value.windows(3).any(|window| window == b"://")
}

/// Whether the name of a user is a key: random, or longer than a name and with
/// signs that names do not have.
pub(super) fn is_user_key(user: &[u8]) -> bool {
    const LONGEST_NAME: usize = 10;
    let classes = Classes::of(user);
    let is_mixed = classes.digit > 1 && classes.upper > 0 && classes.lower > 0;
    !is_placeholder(user)
        && (looks_random(user) || user.len() > LONGEST_NAME && is_mixed && looks_chosen(user))
}

fn is_card(value: &[u8]) -> bool {
    let digits: Vec<u8> = value.iter().copied().filter(u8::is_ascii_digit).collect();
    let others =
        value.iter().filter(|byte| !byte.is_ascii_digit() && !matches!(byte, b' ' | b'-')).count();
    others == 0 && (12..=19).contains(&digits.len()) && checksum::luhn(&digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_a_program_are_not_secrets() {
        let password = NameClass::Strong(Frame::Password);
        let token = NameClass::Strong(Frame::Token);
        for (text, class, style) in [
            ("channels.sms.${id}.authToken", token, Style::Quoted),
            ("sha256:${hash.digest('hex')}", token, Style::Quoted),
            ("Пароль (не зберігається)", password, Style::Quoted),
            ("Senha (não armazenada)", password, Style::Quoted),
            ("API 密码", password, Style::Quoted),
            ("minimax/MiniMax-M3", token, Style::Cell),
            ("qwen-oauth/qwen3.5-plus", token, Style::Quoted),
            ("3,897ms", password, Style::Cell),
            ("challengePassword", password, Style::Quoted),
            ("^0.3.0", token, Style::Quoted),
            ("ed25519_test_key.pem", token, Style::Quoted),
        ] {
            assert!(!judge(text.as_bytes(), class, style), "{text}");
        }
        for (text, class, style) in [
            ("pre-${id}-q8Zt4Lr2Wm9Xc1Vb", token, Style::Quoted),
            ("Пароль77", password, Style::Quoted),
            ("sova-лампа7", password, Style::Quoted),
            ("q8Zt4/Lr2Wm9Xc1Vb7", token, Style::Cell),
            ("m4ple!Wood7", password, Style::Cell),
        ] {
            assert!(judge(text.as_bytes(), class, style), "{text}");
        }
    }
}
