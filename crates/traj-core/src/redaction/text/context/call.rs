//! Arguments of calls: passwords by their position, and text that is typed into
//! an input field.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::reading::{self, ValueSpan};
use super::{ContextScan, Style};
use crate::redaction::field_name::NameClass;
use crate::redaction::rule::Frame;
use crate::redaction::text::value::{is_placeholder, is_uuid, looks_chosen, looks_random};

/// Any argument.
const ANY: usize = usize::MAX;
/// The only argument of the call.
const ONLY: usize = usize::MAX - 1;

/// The last argument of several.
const LAST: usize = usize::MAX - 2;

/// How a call passes the secret: the number of its argument, counted from zero.
const POSITIONS: &[(&str, usize, Frame)] = &[
    ("basicauth(", 1, Frame::Password),
    ("basic_auth(", 1, Frame::Password),
    ("digestauth(", 1, Frame::Password),
    ("ntlmauth(", 1, Frame::Password),
    ("proxyauth(", 1, Frame::Password),
    ("networkcredential(", 1, Frame::Password),
    ("pscredential(", 1, Frame::Password),
    ("passwordcredentials(", 1, Frame::Password),
    ("passwordcredential(", 1, Frame::Password),
    ("passwordauthentication(", 1, Frame::Password),
    ("passwordauthenticator(", 1, Frame::Password),
    ("plainauth(", 2, Frame::Password),
    ("plain_auth(", 2, Frame::Password),
    ("plaincredentials(", 1, Frame::Password),
    ("staticcredentials(", 1, Frame::Secret),
    ("staticcredentialsprovider(", 1, Frame::Secret),
    ("awscredentials(", 1, Frame::Secret),
    ("sharedkeycredential(", 1, Frame::Secret),
    ("clientsecretcredential(", 2, Frame::Secret),
    ("mysqli(", 2, Frame::Password),
    ("mysqli_connect(", 2, Frame::Password),
    ("mysql_connect(", 2, Frame::Password),
    ("mysql_real_connect(", 3, Frame::Password),
    ("pdo(", 2, Frame::Password),
    ("getconnection(", 2, Frame::Password),
    ("oci_connect(", 1, Frame::Password),
    ("odbc_connect(", 2, Frame::Password),
    ("mssql_connect(", 2, Frame::Password),
    ("sqlsrv_connect(", 2, Frame::Password),
    ("dbi->connect(", 2, Frame::Password),
    ("ftp_login(", 2, Frame::Password),
    ("ldap_bind(", 2, Frame::Password),
    ("directoryentry(", 2, Frame::Password),
    ("principalcontext(", 3, Frame::Password),
    ("simple_bind_s(", 1, Frame::Password),
    ("simple_bind(", 1, Frame::Password),
    ("login(", 1, Frame::Password),
    ("signin(", 1, Frame::Password),
    ("sign_in(", 1, Frame::Password),
    ("authenticate(", 1, Frame::Password),
    ("credentials.basic(", 1, Frame::Password),
    (".connect(", 2, Frame::Password),
    ("sequelize(", 2, Frame::Password),
    (".login(", ONLY, Frame::Token),
    ("load_cert_chain(", 2, Frame::Password),
    ("twilio(", 1, Frame::Secret),
    ("client(", ANY, Frame::ApiKey),
    ("openai(", ANY, Frame::ApiKey),
    ("anthropic(", ANY, Frame::ApiKey),
    ("sdk(", ANY, Frame::ApiKey),
    ("create_user(", 2, Frame::Password),
    ("create_superuser(", 2, Frame::Password),
    ("check_password(", 0, Frame::Password),
    ("createhmac(", 1, Frame::Secret),
    ("hmac.new(", 0, Frame::Secret),
    ("jwt.sign(", 1, Frame::Secret),
    ("jwt.verify(", 1, Frame::Secret),
    ("jwt.encode(", 1, Frame::Secret),
    ("jwt.decode(", 1, Frame::Secret),
    ("cookieparser(", 0, Frame::Secret),
    ("createcipheriv(", 1, Frame::Secret),
    ("aes.new(", 0, Frame::Secret),
    ("fernet(", 0, Frame::Secret),
    ("secretkeyspec(", 0, Frame::Secret),
    ("authenticationtoken(", 1, Frame::Password),
    ("ldap.bind(", 1, Frame::Password),
    ("client.bind(", 1, Frame::Password),
    ("emailandpassword(", LAST, Frame::Password),
    ("ftp(", 2, Frame::Password),
    ("ftp_tls(", 2, Frame::Password),
    ("keyring.set_password(", 2, Frame::Password),
    ("basic_auth ", 1, Frame::Password),
    ("pgp_sym_encrypt(", 1, Frame::Secret),
    ("pgp_sym_decrypt(", 1, Frame::Secret),
    ("aes_encrypt(", 1, Frame::Secret),
    ("aes_decrypt(", 1, Frame::Secret),
    ("hash_hmac(", 2, Frame::Secret),
    ("hmac.new(sha1.new", 1, Frame::Secret),
    ("hmac.new(sha256.new", 1, Frame::Secret),
    ("hmac.new(sha512.new", 1, Frame::Secret),
    ("db.auth(", 1, Frame::Password),
    ("credentials(", 3, Frame::Password),
    ("wifi.begin(", 1, Frame::Password),
    ("wifi.softap(", 1, Frame::Password),
    ("wifi.connect(", 1, Frame::Password),
    (".addap(", 1, Frame::Password),
    ("ssh.password(", 0, Frame::Password),
];

/// Calls that type their last argument into an input field.
const TYPING: &[&str] = &[
    ".type(",
    ".fill(",
    ".sendkeys(",
    ".send_keys(",
    ".typetext(",
    ".setvalue(",
    ".set_value(",
    ".presssequentially(",
    ".addvalue(",
    ".fill_in(",
    "fill_in ",
    ".change(",
    ".val(",
    ".value = ",
    ".value=",
    "strcmp(",
    "strncmp(",
    "compare_digest(",
    "input text ",
    "input password ",
    "typewrite(",
    "browser_type(",
    "browser_fill(",
    ".sendline(",
];

/// A call on a literal that only passwords need: `"…".toCharArray()`.
const CHARACTERS: &str = "\".tochararray()";

/// Every keyword of this reader.
pub(super) fn keywords() -> impl Iterator<Item = &'static str> {
    POSITIONS.iter().map(|(call, ..)| *call).chain(TYPING.iter().copied()).chain([CHARACTERS])
}

/// Maximum length of the arguments of a call, in bytes.
const MAX_ARGUMENTS: usize = 512;
/// How far before a call the description of its input field may be.
const MAX_BEFORE: usize = 160;
const MOST_ARGUMENTS: usize = 6;

/// Reads the call whose keyword is at `start..end`.
pub(super) fn read(scan: &mut ContextScan<'_>, start: usize, end: usize) {
    let call = scan.slice(start, end);
    if call.eq_ignore_ascii_case(CHARACTERS.as_bytes()) {
        return literal_before(scan, start);
    }
    let position = POSITIONS.iter().find(|(name, ..)| call.eq_ignore_ascii_case(name.as_bytes()));
    match position {
        Some((_, number, frame)) => positional(scan, end, *number, *frame),
        None => typed(scan, start, end),
    }
}

/// Reads the literal that ends with the quote at `end`.
fn literal_before(scan: &mut ContextScan<'_>, end: usize) {
    let floor = end.saturating_sub(MAX_BEFORE);
    let before = scan.slice(floor, end);
    let Some(open) = memchr::memrchr2(b'"', b'\n', before) else { return };
    // As an argument; elsewhere it is more often a list of characters.
    let call = before[..open].trim_ascii_end();
    let is_argument = call.ends_with(b"(") || call.ends_with(b",");
    let is_text = [&b"valueOf("[..], b"String(", b"sort("].iter().any(|end| call.ends_with(end));
    if before.get(open) == Some(&b'"') && is_argument && !is_text && is_telling(&before[open + 1..])
    {
        scan.hide(floor + open + 1, end, Frame::Password);
    }
}

/// The quoted arguments from `start`, by their number.
pub(super) fn arguments(scan: &ContextScan<'_>, start: usize) -> Vec<(usize, ValueSpan)> {
    let limit = (start + MAX_ARGUMENTS).min(scan.text.len());
    let mut out = Vec::new();
    let mut number = 0;
    let mut depth = 0_i32;
    let mut place = start;
    while place < limit && number <= MOST_ARGUMENTS {
        match scan.byte(place) {
            b'"' | b'\'' | b'`' => {
                let Some(value) = reading::quoted_value(scan, place) else { break };
                if value.end > limit {
                    break;
                }
                if out.last().is_none_or(|(last, _)| *last != number) {
                    out.push((number, value));
                }
                place = value.end;
                while scan.byte(place) == b'\\' {
                    place += 1;
                }
            }
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' if depth == 0 => break,
            b')' | b']' | b'}' => depth -= 1,
            b',' if depth == 0 => number += 1,
            b'\n' if number == 0 && !out.is_empty() => {}
            b';' => break,
            _ => {}
        }
        place += 1;
    }
    out
}

/// Whether a literal in code may be a secret. A word is a stand-in of an example.
fn is_telling(bytes: &[u8]) -> bool {
    bytes.len() >= 4
        && !is_placeholder(bytes)
        && (looks_random(bytes) || looks_chosen(bytes) || is_uuid(bytes))
}

fn positional(scan: &mut ContextScan<'_>, start: usize, wanted: usize, frame: Frame) {
    // A client takes many arguments: only a long random one is its key.
    let is_counted = wanted < ONLY;
    // Where the number of the argument depends on the library.
    let last = |found: &[(usize, ValueSpan)]| found.last().map_or(0, |(number, _)| *number);
    let is_secret = |value: &ValueSpan| {
        let bytes = scan.slice(value.start, value.end);
        is_telling(bytes) && (is_counted || bytes.len() >= 20 && looks_random(bytes))
    };
    let found = arguments(scan, start);
    if wanted == ONLY && found.len() != 1 {
        return;
    }
    let wanted = if wanted == LAST { last(&found).max(1) } else { wanted };
    let mut found = found.into_iter();
    let found =
        found.find(|(number, value)| (*number == wanted || !is_counted) && is_secret(value));
    if let Some((_, value)) = found {
        scan.hide_if(value.start, value.end, NameClass::Strong(frame), Style::Quoted);
    }
}

/// Words that describe an input field for a secret.
const SECRET_FIELDS: &[&str] = &[
    "assword",
    "passwd",
    "pwd",
    "passphrase",
    "passcode",
    "secret",
    "otp",
    "userpass",
    "pass\"",
    "pass'",
    "pass]",
    "-pass",
    "_pass",
    "#pass",
    "token",
    "pincode",
    "contrase",
    "passwort",
    "senha",
    "mot de passe",
    "api_key",
    "apikey",
    "api-key",
];

/// Whether a text describes an input field for a secret.
fn describes_secret(text: &[u8]) -> bool {
    static WORDS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
        AhoCorasick::builder().ascii_case_insensitive(true).build(SECRET_FIELDS).ok()
    });
    WORDS.as_ref().is_some_and(|words| words.is_match(text))
}

fn typed(scan: &mut ContextScan<'_>, start: usize, end: usize) {
    // Only this statement: since the last semicolon or the line above.
    let floor = start.saturating_sub(MAX_BEFORE);
    let before = scan.slice(floor, start);
    let lines: Vec<usize> = memchr::memrchr_iter(b'\n', before).take(2).collect();
    let before = &before[lines.get(1).copied().unwrap_or(0)..];
    let found = arguments(scan, end);
    let Some((number, value)) = found.last().copied() else {
        return keystrokes(scan, start, end);
    };
    let first = scan.slice(end, value.start);
    // With one argument the field is named before the call, else by the first.
    let described = if number > 0 { describes_secret(first) } else { false }
        || describes_secret(statement(before));
    let bytes = scan.slice(value.start, value.end);
    if described && !is_placeholder(bytes) {
        scan.hide_if(value.start, value.end, NameClass::Strong(Frame::Password), Style::Quoted);
    }
}

/// The last statement of a text.
fn statement(text: &[u8]) -> &[u8] {
    let trimmed = text.trim_ascii_end();
    let start = trimmed.iter().rposition(|byte| *byte == b';').map_or(0, |place| place + 1);
    &trimmed[start..]
}

/// `input text hunter2`, `Input Password    id:login    hunter2`: the last word.
fn keystrokes(scan: &mut ContextScan<'_>, start: usize, end: usize) {
    if !scan.slice(start, end).ends_with(b" ") {
        return;
    }
    let line = scan.slice(end, scan.line_end(end, MAX_BEFORE)).trim_ascii_end();
    let described = describes_secret(line) || describes_secret(scan.slice(start, end));
    let word = line.iter().rposition(u8::is_ascii_whitespace).map_or(0, |place| place + 1);
    if described && is_telling(&line[word..]) {
        scan.hide(end + word, end + line.len(), Frame::Password);
    }
}
