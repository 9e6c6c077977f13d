//! Names of headers, codes, sessions, signatures and cards.

use super::super::heads::{SESSION_HEADS, WEAK_TOKEN_HEADS};
use super::super::row::{Before, NameRow, row};
use super::super::vocabulary::{CODE_QUALIFIERS, PIN_QUALIFIERS};
use crate::redaction::field_name::NameClass::{Field, Plain, Strong, Weak};
use crate::redaction::rule::Frame;

pub(super) const ROWS: &[NameRow] = &[
    row(
        "name-authorization",
        "Names of an authorisation header",
        Strong(Frame::Authorization),
        &["authorization", "authorisation"],
        &["authorization", "Proxy-Authorization", "x-authorization"],
        &["authorizationUrl", "authMode", "author"],
    ),
    row(
        "name-cookie",
        "Names of cookies",
        Field(Frame::Cookie),
        &["cookie", "cookies"],
        &["cookie", "Set-Cookie", "sessionCookies"],
        &["cookieConsent", "cookiePolicy"],
    ),
    row(
        "name-credential",
        "Names of credentials",
        Field(Frame::Credential),
        &["credential", "credentials", "creds", "cred"],
        &["credential", "awsCredentials", "DB_CREDS"],
        &["credentialType", "credential_helper"],
    ),
    row(
        "name-card-code",
        "Security codes of cards",
        Strong(Frame::CardCode),
        &["cvv", "cvc", "cvv2", "cvc2", "csc"],
        &["cvv", "card_cvc", "cvv2"],
        &["cvvRequired"],
    ),
    row(
        "name-pin-alone",
        "A PIN",
        Strong(Frame::CardCode),
        &["pin"],
        &["pin", "PIN", "Pin"],
        &["pinned", "gpioPin"],
    )
    .before(Before::Nothing),
    row(
        "name-pin",
        "A PIN of a person or a device; circuit boards also have pins",
        Strong(Frame::CardCode),
        &["pin"],
        &["cardPin", "sim_pin", "cardholder_card_pin"],
        &["gpio_pin", "pinCount"],
    )
    .before(Before::Directly(PIN_QUALIFIERS)),
    row(
        "name-one-time-code",
        "One-time passwords",
        Strong(Frame::OneTimeCode),
        &["otp", "totp", "mfa"],
        &["otp", "userTotp", "login_totp"],
        &["otpLength", "mfaEnabled"],
    ),
    row(
        "name-code",
        "Codes that people type in",
        Strong(Frame::OneTimeCode),
        &["code", "codes"],
        &["verificationCode", "recovery_codes", "2fa-code"],
        &["exitCode", "statusCode", "code"],
    )
    .before(Before::Directly(CODE_QUALIFIERS)),
    row(
        "name-code-alone",
        "Any other code",
        Weak(Frame::OneTimeCode),
        &["code", "codes"],
        &["code", "codes", "Code"],
        &["zipCode", "exit_code"],
    )
    .before(Before::Nothing),
    row(
        "name-seed",
        "Seeds of one-time codes and wallets",
        Strong(Frame::Secret),
        &["seed"],
        &["totpSeed", "wallet_seed", "mfa_seed"],
        &["seed", "randomSeed"],
    )
    .before(Before::Directly(&["totp", "otp", "wallet", "mfa", "hd"])),
    row(
        "name-card-number",
        "Numbers of payment cards",
        Strong(Frame::CardNumber),
        &["number", "no", "num", "nr"],
        &["cardNumber", "cc_no", "primaryPanNumber", "ccNum"],
        &["orderNumber", "number"],
    )
    .before(Before::Directly(&["card", "pan", "cc"])),
    row(
        "name-auth",
        "Names that suggest a token",
        Weak(Frame::Token),
        WEAK_TOKEN_HEADS,
        &["auth", "AZURE_DEVOPS_EXT_PAT", "idJwt"],
        &["authMethod", "author"],
    ),
    row(
        "name-refresh",
        "Tokens named by their purpose",
        Weak(Frame::Token),
        &["refresh", "access"],
        &["oauth_refresh", "tokenAccess", "jwtRefresh"],
        &["refresh", "lastRefresh"],
    )
    .before(Before::Directly(&["config", "oauth", "token", "jwt"])),
    row(
        "name-session",
        "Names of a session",
        Weak(Frame::Session),
        SESSION_HEADS,
        &["session", "sid", "PHPSESSID", "loginCrumb"],
        &["sessionKey", "sessionCount"],
    )
    .endings(&["sessid", "sessionid"]),
    row(
        "name-signature",
        "Names of a signature",
        Weak(Frame::Signature),
        &["sig", "signature", "hmac"],
        &["signature", "ageSdkSig", "callback_hmac"],
        &["signatureVersion"],
    ),
    row(
        "name-connection",
        "Connection strings and bare salts",
        Weak(Frame::Credential),
        &["dsn", "connectionstring", "salt"],
        &["dsn", "salt", "mainDsn"],
        &["dsnCount", "saltRounds"],
    ),
    row(
        "name-password-hash",
        "Hashes of passwords",
        Weak(Frame::Password),
        &["hash"],
        &["passwordHash", "pw_hash", "userPasswdHash"],
        &["commitHash", "hash"],
    )
    .before(Before::Anywhere(&["password", "passwd", "pw", "pass"])),
    row(
        "name-ciphertext",
        "Key material",
        Weak(Frame::PrivateKey),
        &["ciphertext", "privkey", "seedhex"],
        &["ciphertext", "node_privkey", "walletPrivkey"],
        &["cipher"],
    ),
    row(
        "name-parser-token",
        "Names of libraries and cursors",
        Plain,
        &["jsonwebtoken", "stoptoken", "nexttoken", "pagetoken", "nextpagetoken"],
        &["jsonwebtoken", "nexttoken", "pagetoken"],
        &["gittoken"],
    ),
    row(
        "name-joined-token",
        "Token at the end of a word",
        Weak(Frame::Token),
        &[],
        &["gittoken", "DEPLOYTOKEN", "larchtoken"],
        &["token", "nexttoken"],
    )
    .endings(&["token"]),
    row(
        "name-card",
        "Names of a payment card",
        Weak(Frame::CardNumber),
        &["card", "pan", "creditcard", "ccnum", "ccnumber"],
        &["card", "creditcard", "customerPan"],
        &["cardinality", "cardCount"],
    )
    .endings(&["cardnumber"]),
];
