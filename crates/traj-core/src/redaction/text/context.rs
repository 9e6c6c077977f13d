//! Context in which a value is a secret: labels and assignments, headers, URLs,
//! commands, tables, key blocks. One file per kind of context; `reading` finds
//! where a value ends, and `judge` decides whether it is a secret.
//!
//! Every reader here starts at a keyword the automaton found, looks at a
//! bounded range before it and moves only forward after it, so the work is linear
//! in the length of the string.

mod assignment;
mod auth;
mod code;
mod command;
mod judge;
mod label;
mod output;
mod pair;
mod pem;
mod reading;
mod spaced;
mod table;
mod url;

use super::deobfuscate;
use crate::redaction::cache::names::ShortStrings;
use crate::redaction::engine::span::Span;
use crate::redaction::field_name::{self, NameClass};
use crate::redaction::marker;
use crate::redaction::rule::Frame;

pub(in crate::redaction) use auth::is_user_and_password;
pub(in crate::redaction) use judge::{Style, judge};

/// What a keyword of the surroundings calls for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::redaction) enum Hook {
    /// A word that may be the head of a credential name.
    Label,
    /// A credential word in another script or language.
    Foreign,
    /// `://`
    Url,
    /// The armour of a key block.
    Armour,
    /// The end of a key block whose beginning may be cut off.
    ArmourEnd,
    /// The private part of a PuTTY key file.
    Putty,
    /// An authentication scheme.
    Scheme,
    /// A command that takes a password.
    Command,
    /// A command that prints a secret.
    Output,
    /// `insert into`
    Insert,
    /// Words that announce codes or a seed.
    Announced,
    /// `@tcp(` and the like.
    Dsn,
    /// What an escape begins with.
    Escape,
}

/// The keywords of the surroundings; matched without regard to case.
pub(in crate::redaction) const HOOKS: &[(&str, Hook)] = &[
    ("pass", Hook::Label),
    ("pwd", Hook::Label),
    ("secret", Hook::Label),
    ("token", Hook::Label),
    ("key", Hook::Label),
    ("auth", Hook::Label),
    ("cred", Hook::Label),
    ("cookie", Hook::Label),
    ("session", Hook::Label),
    ("sid", Hook::Label),
    ("jwt", Hook::Label),
    ("otp", Hook::Label),
    ("code", Hook::Label),
    ("pin", Hook::Label),
    ("cvv", Hook::Label),
    ("cvc", Hook::Label),
    ("card", Hook::Label),
    ("mnemonic", Hook::Label),
    ("phrase", Hook::Label),
    ("seed", Hook::Label),
    ("sig", Hook::Label),
    ("_pat", Hook::Label),
    ("pat ", Hook::Label),
    ("pat=", Hook::Label),
    ("pat:", Hook::Label),
    ("pat\"", Hook::Label),
    ("crumb", Hook::Label),
    ("bearer", Hook::Label),
    ("assertion", Hook::Label),
    ("refresh", Hook::Label),
    ("ciphertext", Hook::Label),
    ("dsn", Hook::Label),
    ("login", Hook::Label),
    ("hmac", Hook::Label),
    ("csrf", Hook::Label),
    ("pw:", Hook::Label),
    ("pw=", Hook::Label),
    ("pw ", Hook::Label),
    ("psk", Hook::Label),
    ("contrase", Hook::Foreign),
    ("mot de passe", Hook::Foreign),
    ("senha", Hook::Foreign),
    ("wachtwoord", Hook::Foreign),
    ("kennwort", Hook::Foreign),
    ("lösenord", Hook::Foreign),
    ("hasło", Hook::Foreign),
    ("пароль", Hook::Foreign),
    ("Пароль", Hook::Foreign),
    ("密码", Hook::Foreign),
    ("密碼", Hook::Foreign),
    ("パスワード", Hook::Foreign),
    ("비밀번호", Hook::Foreign),
    ("://", Hook::Url),
    ("-begin ", Hook::Armour),
    ("- begin ", Hook::Armour),
    ("private key-----", Hook::ArmourEnd),
    ("private key ----", Hook::ArmourEnd),
    ("private-lines:", Hook::Putty),
    ("private-mac:", Hook::Putty),
    ("bearer ", Hook::Scheme),
    ("bearer\t", Hook::Scheme),
    ("basic ", Hook::Scheme),
    ("curl", Hook::Command),
    ("docker", Hook::Command),
    ("podman", Hook::Command),
    ("sshpass", Hook::Command),
    ("mysql", Hook::Command),
    ("mariadb", Hook::Command),
    ("mongo", Hook::Command),
    ("redis-cli", Hook::Command),
    ("ldap", Hook::Command),
    ("htpasswd", Hook::Command),
    ("openssl", Hook::Command),
    ("smbclient", Hook::Command),
    ("helm", Hook::Command),
    ("az login", Hook::Command),
    ("gh secret set", Hook::Command),
    ("-stdin", Hook::Command),
    ("useradd", Hook::Command),
    ("chpasswd", Hook::Command),
    ("net user", Hook::Command),
    ("7z ", Hook::Command),
    ("zip ", Hook::Command),
    ("gpg ", Hook::Command),
    ("xfreerdp", Hook::Command),
    ("wget", Hook::Command),
    ("http ", Hook::Command),
    ("psexec", Hook::Command),
    ("net use ", Hook::Command),
    ("sudo -s", Hook::Command),
    ("sqlplus", Hook::Command),
    ("oracle:thin:", Hook::Command),
    ("convertto-securestring", Hook::Command),
    ("identified by", Hook::Command),
    ("identified with", Hook::Command),
    ("send \"", Hook::Command),
    ("op read", Hook::Output),
    ("base64 -d", Hook::Output),
    ("base64 --decode", Hook::Output),
    ("print-access-token", Hook::Output),
    ("print-identity-token", Hook::Output),
    ("auth token", Hook::Output),
    ("get-login-password", Hook::Output),
    ("find-generic-password", Hook::Output),
    ("find-internet-password", Hook::Output),
    ("pass show", Hook::Output),
    ("secret-tool lookup", Hook::Output),
    ("vault kv get -field", Hook::Output),
    ("vault read -field", Hook::Output),
    ("get-secret-value", Hook::Output),
    ("secrets versions access", Hook::Output),
    ("keyvault secret show", Hook::Output),
    ("get-access-token", Hook::Output),
    ("create token", Hook::Output),
    ("doppler secrets get", Hook::Output),
    ("openssl rand", Hook::Output),
    ("pwgen", Hook::Output),
    ("wg genkey", Hook::Output),
    ("insert into", Hook::Insert),
    ("recovery code", Hook::Announced),
    ("backup code", Hook::Announced),
    ("scratch code", Hook::Announced),
    ("seed phrase", Hook::Announced),
    ("recovery phrase", Hook::Announced),
    ("seed words", Hook::Announced),
    ("mnemonic", Hook::Announced),
    ("@tcp(", Hook::Dsn),
    ("@unix(", Hook::Dsn),
    ("@udp(", Hook::Dsn),
    ("\\u00", Hook::Escape),
    ("\\x", Hook::Escape),
    ("%2", Hook::Escape),
    ("%3", Hook::Escape),
    ("%4", Hook::Escape),
    ("%5", Hook::Escape),
    ("%6", Hook::Escape),
    ("%7", Hook::Escape),
    ("&amp;", Hook::Escape),
    ("&quot;", Hook::Escape),
    ("&apos;", Hook::Escape),
    ("&lt;", Hook::Escape),
    ("&gt;", Hook::Escape),
    ("&equals;", Hook::Escape),
    ("&colon;", Hook::Escape),
    ("&#", Hook::Escape),
    ("=3d", Hook::Escape),
    ("quoted-printable", Hook::Escape),
];

/// One string while the context readers search it.
pub(in crate::redaction) struct ContextScan<'t> {
    /// The text.
    pub(in crate::redaction) text: &'t [u8],
    /// Names that were judged before.
    labels: &'t ShortStrings<NameClass>,
    /// What was found so far.
    pub(in crate::redaction) spans: Vec<Span>,
    /// Markers already in the text, in order; they are read as one character
    /// that ends nothing.
    pub(in crate::redaction) markers: Vec<(usize, usize)>,
    /// Bodies of public key blocks; key material in them is not a secret.
    pub(super) quiet: Vec<(usize, usize)>,
    /// Whether the head of a token was seen, whole or not.
    pub(in crate::redaction) token_seen: bool,
    /// Whether anything is written as an escape.
    pub(super) escape_seen: bool,
    label_end: usize,
    table_end: usize,
    insert_end: usize,
    armour_end: usize,
    armour_none: usize,
    line_done: usize,
}

impl<'t> ContextScan<'t> {
    /// A fresh scan of `text`.
    pub(in crate::redaction) fn new(text: &'t [u8], labels: &'t ShortStrings<NameClass>) -> Self {
        Self {
            text,
            labels,
            spans: Vec::new(),
            markers: marker::find_all(text),
            quiet: Vec::new(),
            token_seen: false,
            escape_seen: false,
            label_end: 0,
            table_end: 0,
            insert_end: 0,
            armour_end: 0,
            armour_none: 0,
            line_done: 0,
        }
    }

    /// Reads on from a keyword at `start..end`.
    pub(in crate::redaction) fn hook(&mut self, hook: Hook, start: usize, end: usize) {
        if self.is_inside_marker(start) {
            return;
        }
        match hook {
            Hook::Label => label::read(self, start, end),
            Hook::Foreign => label::read_foreign(self, end),
            Hook::Url => url::read(self, start, end),
            Hook::Armour => pem::read(self, end),
            Hook::ArmourEnd => pem::read_tail(self, start),
            Hook::Putty => pem::read_putty(self, start, end),
            Hook::Scheme => auth::read_scheme(self, start, end),
            Hook::Command => command::read(self, start, end),
            Hook::Output => output::read(self, end),
            Hook::Insert => table::read_insert(self, end),
            Hook::Announced => code::read(self, start, end),
            Hook::Dsn => url::read_dsn(self, start),
            Hook::Escape => {
                self.escape_seen |= deobfuscate::is_escape(self.slice(start, usize::MAX));
            }
        }
    }

    /// Judges a name. Most strings have the same few.
    fn class_of(&self, name: &[u8]) -> NameClass {
        let Ok(text) = std::str::from_utf8(name) else { return field_name::classify(name) };
        self.labels.get(text).copied().unwrap_or_else(|| {
            let class = field_name::classify(name);
            self.labels.put(text, class);
            class
        })
    }

    pub(in crate::redaction) fn byte(&self, place: usize) -> u8 {
        self.text.get(place).copied().unwrap_or(0)
    }

    /// The bytes from `start` to `end`, or to the end of the text.
    pub(in crate::redaction) fn slice(&self, start: usize, end: usize) -> &'t [u8] {
        self.text.get(start..end.min(self.text.len())).unwrap_or_default()
    }

    /// The end of a marker that begins at `place`.
    pub(super) fn marker_at(&self, place: usize) -> Option<usize> {
        let found = self.markers.binary_search_by_key(&place, |(start, _)| *start).ok()?;
        self.markers.get(found).map(|(_, end)| *end)
    }

    /// Whether `place` lies in a marker.
    pub(in crate::redaction) fn is_inside_marker(&self, place: usize) -> bool {
        let before = self.markers.partition_point(|(start, _)| *start <= place);
        before
            .checked_sub(1)
            .and_then(|last| self.markers.get(last))
            .is_some_and(|(_, end)| place < *end)
    }

    /// Whether `start..end` contains only markers and spaces between them.
    pub(in crate::redaction) fn is_marked(&self, start: usize, end: usize) -> bool {
        let mut place = start;
        let mut has_marker = false;
        while place < end {
            match self.marker_at(place) {
                Some(after) => {
                    place = after;
                    has_marker = true;
                }
                None if self.byte(place).is_ascii_whitespace() => place += 1,
                None => return false,
            }
        }
        has_marker
    }

    /// Notes a finding, unless it is nothing but markers.
    pub(in crate::redaction) fn hide(&mut self, start: usize, end: usize, frame: Frame) {
        if start < end && !self.is_marked(start, end) {
            self.spans.push(Span::frame(start, end, frame.rule()));
        }
    }

    /// Judges a value under a name and notes it if it must be hidden.
    pub(super) fn hide_if(&mut self, start: usize, end: usize, class: NameClass, style: Style) {
        let Some(frame) = class.frame() else {
            return;
        };
        // Names inside a long value are not searched again.
        if end - start > 512 {
            self.label_end = self.label_end.max(end);
        }
        if self.is_marked(start, end) {
            return;
        }
        if judge(self.slice(start, end), class, style) {
            self.spans.push(Span::frame(start, end, frame.rule()));
        }
    }

    /// Start of the line that `place` is in, looking back at most `limit`.
    pub(super) fn line_start(&self, place: usize, limit: usize) -> usize {
        let floor = place.saturating_sub(limit);
        let before = self.slice(floor, place);
        memchr::memrchr2(b'\n', b'\r', before).map_or(floor, |found| floor + found + 1)
    }

    /// End of the line that `place` is in, looking ahead at most `limit`.
    pub(super) fn line_end(&self, place: usize, limit: usize) -> usize {
        let ceiling = (place.saturating_add(limit)).min(self.text.len());
        let after = self.slice(place, ceiling);
        memchr::memchr2(b'\n', b'\r', after).map_or(ceiling, |found| place + found)
    }

    /// Skips spaces and tabs.
    pub(super) fn skip_blanks(&self, mut place: usize) -> usize {
        while matches!(self.byte(place), b' ' | b'\t') {
            place += 1;
        }
        place
    }
}
