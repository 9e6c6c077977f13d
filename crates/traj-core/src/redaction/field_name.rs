//! Field names with judgement: by the words in a name, never by substring.
//!
//! `userToken`, `USER_TOKEN` and `user-token` are the words *user*, *token*.
//! The last word that carries meaning decides (`tokenLimit` is a limit,
//! `secretName` a name), the words before it may lift it (`nextPageToken`,
//! `publicKey`, `stop_token`).

mod heads;
mod part;
mod vocabulary;
mod words;

use heads::{
    API_KEY_HEADS, HARMLESS_KEY_WORDS, PASSWORD_HEADS, SESSION_HEADS, TOKEN_HEADS, WEAK_KEY_LEADS,
    WEAK_TOKEN_HEADS,
};
use vocabulary::{
    CODE_QUALIFIERS, KEY_LIFTED, KEY_QUALIFIERS, PIN_QUALIFIERS, TOKEN_LIFTED, TRAILERS,
};

use words::{MAX_WORDS, ends_with, is, is_any, words};

use super::marker;
use super::rule::Frame;

pub(super) use part::class_of_member;

/// What a field name says about its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameClass {
    /// Nothing.
    Plain,
    /// A secret if the value has the look of one.
    Weak(Frame),
    /// A secret, whatever it looks like.
    Strong(Frame),
}

impl NameClass {
    /// The context rule for the class.
    pub(super) const fn frame(self) -> Option<Frame> {
        match self {
            Self::Plain => None,
            Self::Weak(frame) | Self::Strong(frame) => Some(frame),
        }
    }
}

/// Names longer than this are not field names.
pub(super) const MAX_NAME: usize = 96;

/// Judges a field name.
pub(super) fn classify(name: &[u8]) -> NameClass {
    if name.len() < 2 || name.len() > MAX_NAME || marker::is_whole(name) {
        return NameClass::Plain;
    }
    // However its case is mixed: `PassWord`, `pASSWORD`.
    if is_any(name, &["password", "passwd", "passcode", "passphrase"]) {
        return NameClass::Strong(if is(name, "passphrase") {
            Frame::Passphrase
        } else {
            Frame::Password
        });
    }
    let mut buffer: [&[u8]; MAX_WORDS] = [b""; MAX_WORDS];
    let count = words(name, &mut buffer);
    classify_words(&buffer[..count])
}

/// Judges a name that is already split into words.
pub(super) fn classify_words(all: &[&[u8]]) -> NameClass {
    let mut words = all;
    // Numbers and words such as `value`, `b64`, `prod` after the credential
    // word leave its meaning as it is; bare, they mean nothing.
    while let Some((last, before)) = words.split_last() {
        if before.is_empty() || !(last.iter().all(u8::is_ascii_digit) || is_any(last, TRAILERS)) {
            break;
        }
        words = before;
    }
    let Some((head, before)) = words.split_last() else {
        return NameClass::Plain;
    };
    let lead = before.last().copied().unwrap_or_default();
    if is_any(
        all.first().copied().unwrap_or_default(),
        &[
            "is", "has", "no", "num", "allow", "require", "requires", "needs", "use", "show",
            "hide", "enable", "disable", "forgot", "invalid", "missing",
        ],
    ) && all.len() > 1
    {
        return NameClass::Plain;
    }
    let digits = head.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let head = if digits < head.len() { &head[..head.len() - digits] } else { *head };
    judge(head, lead, before)
}

fn judge(head: &[u8], lead: &[u8], before: &[&[u8]]) -> NameClass {
    use NameClass::{Plain, Strong, Weak};
    if is_any(head, PASSWORD_HEADS)
        || ends_with(head, "password")
        || ends_with(head, "passwd")
        || ends_with(head, "passcode")
    {
        return Strong(Frame::Password);
    }
    if is(head, "pass") {
        // Alone it may count tests that passed.
        return if before.is_empty() { Weak(Frame::Password) } else { Strong(Frame::Password) };
    }
    if is(head, "passphrase") || ends_with(head, "passphrase") {
        return Strong(Frame::Passphrase);
    }
    if is(head, "phrase") && is_any(lead, &["seed", "recovery", "mnemonic", "secret", "backup"])
        || is(head, "mnemonic")
    {
        return Strong(Frame::SeedPhrase);
    }
    if is_any(head, &["secret", "clientsecret", "appsecret", "secretkey", "sharedsecret"])
        || ends_with(head, "secret")
    {
        return if is_any(lead, &["kubernetes", "k8s", "get", "external"]) {
            Plain
        } else {
            Strong(Frame::Secret)
        };
    }
    if is_any(head, TOKEN_HEADS) {
        if is(head, "token") && is_any(lead, TOKEN_LIFTED) {
            return Plain;
        }
        return Strong(Frame::Token);
    }
    if is_any(head, API_KEY_HEADS) {
        return Strong(Frame::ApiKey);
    }
    if is(head, "key") {
        return judge_key(lead, before);
    }
    if is(head, "authorization") {
        return if before.is_empty() || is(lead, "proxy") || is(lead, "x") {
            Strong(Frame::Authorization)
        } else {
            Weak(Frame::Authorization)
        };
    }
    if is_any(head, &["cookie", "cookies"]) {
        return Weak(Frame::Cookie);
    }
    if is_any(head, &["credential", "credentials", "creds", "cred"]) {
        return Weak(Frame::Credential);
    }
    if let Some(class) = judge_code(head, lead, before) {
        return class;
    }
    if is(head, "seed") && is_any(lead, &["totp", "otp", "wallet", "mfa", "hd"]) {
        return Strong(Frame::Secret);
    }
    if is_any(head, &["number", "no"]) && is_any(lead, &["card", "pan", "cc"]) {
        return Strong(Frame::CardNumber);
    }
    judge_weak(head, lead, before)
}

/// Codes that are typed in: of cards, PINs and one-time codes.
fn judge_code(head: &[u8], lead: &[u8], before: &[&[u8]]) -> Option<NameClass> {
    use NameClass::{Plain, Strong, Weak};
    if is_any(head, &["cvv", "cvc", "cvv2", "cvc2", "csc"]) {
        return Some(Strong(Frame::CardCode));
    }
    // Boards have pins as well.
    if is(head, "pin") && (before.is_empty() || is_any(lead, PIN_QUALIFIERS)) {
        return Some(Strong(Frame::CardCode));
    }
    if is_any(head, &["otp", "totp", "mfa"]) {
        return Some(Strong(Frame::OneTimeCode));
    }
    if is_any(head, &["code", "codes"]) {
        return Some(if is_any(lead, CODE_QUALIFIERS) {
            Strong(Frame::OneTimeCode)
        } else if before.is_empty() {
            Weak(Frame::OneTimeCode)
        } else {
            Plain
        });
    }
    None
}

fn judge_key(lead: &[u8], before: &[&[u8]]) -> NameClass {
    if before.iter().any(|word| is_any(word, HARMLESS_KEY_WORDS)) {
        return NameClass::Plain;
    }
    if is_any(lead, KEY_LIFTED)
        && !before.iter().any(|word| is_any(word, &["api", "secret", "private"]))
    {
        return NameClass::Plain;
    }
    if is_any(lead, KEY_QUALIFIERS) {
        return if is_any(lead, &["private", "priv", "ssh", "age"]) {
            NameClass::Strong(Frame::PrivateKey)
        } else if is_any(lead, WEAK_KEY_LEADS) {
            NameClass::Weak(Frame::ApiKey)
        } else {
            NameClass::Strong(Frame::ApiKey)
        };
    }
    NameClass::Weak(Frame::ApiKey)
}

fn judge_weak(head: &[u8], lead: &[u8], before: &[&[u8]]) -> NameClass {
    use NameClass::{Plain, Weak};
    if is_any(head, WEAK_TOKEN_HEADS) {
        return Weak(Frame::Token);
    }
    if is_any(head, &["refresh", "access"])
        && !before.is_empty()
        && is_any(lead, &["config", "oauth", "token", "jwt"])
    {
        return Weak(Frame::Token);
    }
    if is_any(head, &["tokens", "secrets", "passwords", "keys", "apikeys"]) {
        return if before.is_empty()
            || is_any(lead, &["api", "access", "secret", "auth", "refresh", "backup", "recovery"])
        {
            Weak(Frame::Secret)
        } else {
            Plain
        };
    }
    if is_any(head, SESSION_HEADS)
        || ends_with(head, "sessid")
        || ends_with(head, "sessionid")
        || (is(head, "id")
            && is_any(lead, &["session"])
            && before.len() == 1
            && lead.iter().all(u8::is_ascii_uppercase))
    {
        return if is(head, "nonce") { Plain } else { Weak(Frame::Session) };
    }
    if is_any(head, &["sig", "signature", "hmac"]) {
        return Weak(Frame::Signature);
    }
    if is_any(head, &["dsn", "connectionstring"]) {
        return Weak(Frame::Credential);
    }
    if is(head, "hash")
        && before.iter().any(|word| is_any(word, &["password", "passwd", "pw", "pass"]))
    {
        return Weak(Frame::Password);
    }
    if is_any(head, &["ciphertext", "privkey", "seedhex"]) || (is(head, "hex") && is(lead, "seed"))
    {
        return Weak(Frame::PrivateKey);
    }
    if is(head, "url") && before.iter().any(|word| is_any(word, &["webhook"])) {
        return Plain;
    }
    if ends_with(head, "token")
        && !is_any(head, &["jsonwebtoken", "stoptoken", "nexttoken", "pagetoken", "nextpagetoken"])
    {
        return Weak(Frame::Token);
    }
    if ends_with(head, "apikey")
        || ends_with(head, "secretkey")
        || ends_with(head, "accesskey")
        || ends_with(head, "privatekey")
    {
        return NameClass::Strong(Frame::ApiKey);
    }
    if is_any(head, &["card", "pan", "creditcard"]) || ends_with(head, "cardnumber") {
        return Weak(Frame::CardNumber);
    }
    Plain
}

#[cfg(test)]
mod tests;
