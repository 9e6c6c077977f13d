//! Names of keys. Most keys identify a record.

use super::super::heads::{API_KEY_HEADS, HARMLESS_KEY_WORDS, WEAK_KEY_LEADS};
use super::super::row::{Before, NameRow, row};
use super::super::vocabulary::{KEY_LIFTED, KEY_QUALIFIERS};
use crate::redaction::field_name::NameClass::{Field, Plain, Strong, Weak};
use crate::redaction::rule::Frame;

pub(super) const ROWS: &[NameRow] = &[
    row(
        "name-api-key",
        "Keys in one word",
        Strong(Frame::ApiKey),
        API_KEY_HEADS,
        &["apikey", "ACCESSKEY", "masterkey"],
        &["monkey", "hotkey", "keyboard"],
    ),
    row(
        "name-harmless-key",
        "A key that is public or identifies a record",
        Plain,
        &["key", "keys"],
        &["publicKey", "cacheKey", "primary_key", "foreignKeys"],
        &["privateKey", "apiKey"],
    )
    .before(Before::Anywhere(HARMLESS_KEY_WORDS)),
    row(
        "name-record-key",
        "A key of a record, a column or a keyboard",
        Plain,
        &["key", "keys"],
        &["sessionKey", "partition_key", "idempotencyKey", "s3Key", "arrow_keys"],
        &["apiKey", "secretKeys", "private_host_key"],
    )
    .before(Before::DirectlyUnless(KEY_LIFTED, &["api", "secret", "private"])),
    row(
        "name-private-key",
        "Names of a private key",
        Strong(Frame::PrivateKey),
        &["key"],
        &["privateKey", "ssh_key", "PRIV_KEY"],
        &["publicKey", "key"],
    )
    .before(Before::Directly(&["private", "priv", "ssh", "age"])),
    row(
        "name-service-key",
        "Keys that may be identifiers",
        Weak(Frame::ApiKey),
        &["key"],
        &["serviceKey", "host_api_key_account_key", "client-key"],
        &["apiKey", "key"],
    )
    .before(Before::Directly(WEAK_KEY_LEADS)),
    row(
        "name-credential-key",
        "Keys that are credentials",
        Strong(Frame::ApiKey),
        &["key"],
        &["apiKey", "x-api-key", "OPENAI_API_KEY", "SharedAccessKey", "unsealKey"],
        &["key", "keyId", "keyName"],
    )
    .before(Before::Directly(KEY_QUALIFIERS)),
    row(
        "name-credential-key-list",
        "Several keys that are credentials",
        Field(Frame::ApiKey),
        &["keys"],
        &["apiKeys", "access_keys", "PRIVATE_KEYS"],
        &["keys", "sortKeys"],
    )
    .before(Before::Directly(KEY_QUALIFIERS)),
    row(
        "name-api-key-list",
        "Several keys in one word",
        Field(Frame::ApiKey),
        &["apikeys", "accesskeys", "privatekeys"],
        &["apikeys", "APIKEYS", "privatekeys"],
        &["monkeys"],
    ),
    row(
        "name-key",
        "Any other key",
        Weak(Frame::ApiKey),
        &["key"],
        &["key", "openrouterKey", "ledgerKey"],
        &["keyId", "keyframes"],
    ),
    row(
        "name-keys-alone",
        "Keys without another word",
        Weak(Frame::ApiKey),
        &["keys"],
        &["keys", "KEYS", "Keys"],
        &["recvKeys", "keystore"],
    )
    .before(Before::Nothing),
    row(
        "name-joined-key",
        "Key at the end of a word",
        Strong(Frame::ApiKey),
        &[],
        &["stripeapikey", "awssecretkey", "rsaprivatekey"],
        &["hotkey", "turkey"],
    )
    .endings(&["apikey", "secretkey", "accesskey", "privatekey"]),
];
