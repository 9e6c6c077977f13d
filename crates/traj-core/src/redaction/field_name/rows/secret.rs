//! Names of passwords, secrets and tokens.

use super::super::heads::{JOINED_PASS, PASSWORD_HEADS, TOKEN_HEADS};
use super::super::row::{Before, NameRow, row};
use super::super::vocabulary::{SALT_QUALIFIERS, TOKEN_LIFTED};
use crate::redaction::field_name::NameClass::{Field, Plain, Strong, Weak};
use crate::redaction::rule::Frame;

pub(super) const ROWS: &[NameRow] = &[
    row(
        "name-question",
        "A question or a switch, not a value",
        Plain,
        &[],
        &["hasSecret", "is_token", "requiresPassword", "forgotPassword", "show-api-key"],
        &["password", "userToken", "historySecret"],
    )
    .before(Before::First(&[
        "is", "has", "no", "num", "allow", "require", "requires", "needs", "use", "show", "hide",
        "enable", "disable", "forgot", "invalid", "missing",
    ])),
    row(
        "name-password",
        "Names of a password",
        Strong(Frame::Password),
        PASSWORD_HEADS,
        &["DB_PASSWORD", "adminPwd", "ansible-ssh-passwd", "dbpw", "PGPASSWORD", "wachtwoord"],
        &["passwordPolicy", "password_hint", "passwordless", "secretary"],
    )
    .endings(&["password", "passwd", "passcode", "pwd", "pw", "passwort", "wachtwoord"]),
    row(
        "name-password-list",
        "Names of several passwords",
        Field(Frame::Password),
        &["passwords", "passwds", "pwds", "passcodes", "passphrases", "pins", "pws"],
        &["passwords", "DB_PASSWORDS", "oldPasswords"],
        &["passwordsUrl", "passwordCount"],
    ),
    row(
        "name-pass",
        "Pass as the end of a name",
        Strong(Frame::Password),
        &["pass"],
        &["ansible_ssh_pass", "smtpPass", "DB_PASS"],
        &["pass", "passRate"],
    )
    .before(Before::Something),
    row(
        "name-joined-pass",
        "Pass at the end of a word",
        Strong(Frame::Password),
        JOINED_PASS,
        &["dbpass", "ROOTPASS", "smtppass"],
        &["pass", "bypass", "minipass"],
    ),
    row(
        "name-pass-alone",
        "Pass alone, which may be a number of passed tests",
        Weak(Frame::Password),
        &["pass"],
        &["pass", "PASS", "Pass"],
        &["passed", "passes"],
    ),
    row(
        "name-passphrase",
        "Names of a passphrase",
        Strong(Frame::Passphrase),
        &["passphrase"],
        &["passphrase", "keyPassphrase", "sshpassphrase"],
        &["phrase", "passphraseFile"],
    )
    .endings(&["passphrase"]),
    row(
        "name-seed-phrase",
        "Names of a wallet's seed",
        Strong(Frame::SeedPhrase),
        &["phrase", "words"],
        &["seedPhrase", "recovery_phrase", "wallet-seed-words"],
        &["phrase", "searchPhrase", "key_words"],
    )
    .before(Before::Directly(&["seed", "recovery", "mnemonic", "secret", "backup"])),
    row(
        "name-mnemonic",
        "A mnemonic",
        Strong(Frame::SeedPhrase),
        &["mnemonic"],
        &["mnemonic", "walletMnemonic", "larch_mnemonic"],
        &["mnemonicLength"],
    ),
    row(
        "name-secret-object",
        "An object of a cluster, or a function that reads one",
        Plain,
        &["secret", "secrets"],
        &["kubernetesSecret", "k8s_secret", "get_secret", "externalSecrets"],
        &["clientSecret", "dbSecrets"],
    )
    .before(Before::Directly(&["kubernetes", "k8s", "get", "external", "list", "sealed"])),
    row(
        "name-secret",
        "Names of a secret",
        Strong(Frame::Secret),
        &[
            "secret",
            "secrete",
            "clientsecret",
            "appsecret",
            "secretkey",
            "sharedsecret",
            "secretstring",
        ],
        &["secret", "client_secret", "totpSecret", "STRIPE_WEBHOOK_SECRET", "SecretString"],
        &["secretName", "secretRef", "secrets_dir"],
    )
    .endings(&["secret"]),
    row(
        "name-secret-list",
        "Names of several secrets",
        Field(Frame::Secret),
        &["secrets"],
        &["secrets", "appSecrets", "DB_SECRETS"],
        &["secretsDir", "secretCount"],
    ),
    row(
        "name-salt",
        "Names of the salts and keys of a site",
        Strong(Frame::Secret),
        &["salt"],
        &["SECURE_AUTH_SALT", "password_salt", "NONCE_SALT"],
        &["salt", "sea_salt", "saltLength"],
    )
    .before(Before::Directly(SALT_QUALIFIERS)),
    row(
        "name-text-token",
        "A unit of text, a cursor or a design value",
        Plain,
        &["token", "tokens"],
        &["nextPageToken", "stop_token", "eos_token", "max_tokens", "designTokens", "total_tokens"],
        &["accessToken", "token", "userTokens"],
    )
    .before(Before::Directly(TOKEN_LIFTED)),
    row(
        "name-token",
        "Names of a token",
        Strong(Frame::Token),
        TOKEN_HEADS,
        &["token", "githubToken", "_authToken", "csrf_token", "TOKEN_2"],
        &["tokenizer", "tokenLimit", "tokenEndpoint"],
    ),
    row(
        "name-token-list",
        "Names of several tokens; a number is a count",
        Field(Frame::Token),
        &["tokens"],
        &["tokens", "refreshTokens", "device_tokens"],
        &["tokenCount", "outputTokens"],
    ),
];
