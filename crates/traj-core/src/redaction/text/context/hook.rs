//! The keywords of the context readers, and which reader each one starts.

use std::collections::BTreeSet;

use super::{call, command, one_time};
use crate::redaction::field_name::FOREIGN_LABELS;

/// The kind of context that a keyword points to; selects its reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::redaction) enum Hook {
    /// A word that may be the head of a credential name.
    Label,
    /// A credential word in another script or language.
    Foreign,
    /// `://`
    Url,
    /// The start of an armoured key block.
    Armour,
    /// The end of a key block whose beginning may be cut off.
    ArmourEnd,
    /// The private part of a PuTTY key file.
    Putty,
    /// An authentication scheme.
    Scheme,
    /// A call that takes a password, or types one.
    Call,
    /// A command that takes a password.
    Command,
    /// A command that prints a secret.
    Output,
    /// `insert into`
    Insert,
    /// A value that its object calls sensitive.
    Sensitive,
    /// A cluster's object of secrets.
    Manifest,
    /// A Go struct without names.
    Struct,
    /// Rows of a table, after `from stdin`.
    Copy,
    /// A command that prints a file.
    File,
    /// Words that announce a user and a password.
    Pair,
    /// Words that announce codes or a seed.
    Announced,
    /// Words that say what a code before them is for.
    Purpose,
    /// `@tcp(` and the like.
    Dsn,
    /// The start of an escape sequence.
    Escape,
}

/// The context keywords; matched case-insensitively.
const HOOKS: &[(&str, Hook)] = &[
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
    ("cc_n", Hook::Label),
    ("cc-n", Hook::Label),
    ("ccn", Hook::Label),
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
    ("_salt", Hook::Label),
    ("salt'", Hook::Label),
    ("salt\"", Hook::Label),
    ("salt=", Hook::Label),
    ("salt:", Hook::Label),
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
    ("net use ", Hook::Command),
    ("sqlplus", Hook::Command),
    ("expdp", Hook::Command),
    ("impdp", Hook::Command),
    ("sqlldr", Hook::Command),
    ("rman target", Hook::Command),
    ("curlopt_userpwd", Hook::Command),
    ("curlopt_proxyuserpwd", Hook::Command),
    ("--from-literal", Hook::Command),
    ("oracle:thin:", Hook::Command),
    ("convertto-securestring", Hook::Command),
    ("identified by", Hook::Command),
    ("identified with", Hook::Command),
    ("send \"", Hook::Command),
    ("op read", Hook::Output),
    ("initial-password", Hook::Output),
    ("lpass show", Hook::Output),
    ("gopass show", Hook::Output),
    ("bw get ", Hook::Output),
    ("rbw get", Hook::Output),
    ("keyring get", Hook::Output),
    ("credstash get", Hook::Output),
    ("chamber read", Hook::Output),
    ("config:get ", Hook::Output),
    ("token create", Hook::Output),
    ("print token", Hook::Output),
    ("mkpasswd", Hook::Output),
    ("openssl passwd", Hook::Output),
    ("secrets.token_", Hook::Output),
    ("get-session-token", Hook::Output),
    ("get-login", Hook::Output),
    ("generate-password", Hook::Output),
    ("reset-password", Hook::Output),
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
    ("from stdin", Hook::Copy),
    ("sensitive", Hook::Sensitive),
    ("kind: secret", Hook::Manifest),
    ("kind: \"secret\"", Hook::Manifest),
    ("&{", Hook::Struct),
    ("cat ", Hook::File),
    ("less ", Hook::File),
    ("head ", Hook::File),
    ("type ", Hook::File),
    ("get-content ", Hook::File),
    ("log in with ", Hook::Pair),
    ("login with ", Hook::Pair),
    ("sign in with ", Hook::Pair),
    ("log in as ", Hook::Pair),
    ("logged in as ", Hook::Pair),
    ("login as ", Hook::Pair),
    ("creds are ", Hook::Pair),
    ("creds: ", Hook::Pair),
    ("credentials are ", Hook::Pair),
    ("credentials: ", Hook::Pair),
    ("account: ", Hook::Pair),
    ("admin login: ", Hook::Pair),
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

/// Every keyword of a reader, once for each kind of context.
pub(in crate::redaction) fn hooks() -> BTreeSet<(&'static str, Hook)> {
    let foreign = FOREIGN_LABELS.iter().map(|(label, _)| (*label, Hook::Foreign));
    let calls = call::keywords().map(|call| (call, Hook::Call));
    let commands = command::commands().map(|command| (command, Hook::Command));
    let purposes = one_time::PURPOSES.iter().map(|purpose| (*purpose, Hook::Purpose));
    HOOKS.iter().copied().chain(purposes).chain(foreign).chain(calls).chain(commands).collect()
}
