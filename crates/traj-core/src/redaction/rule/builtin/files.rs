//! Secrets that the layout of a configuration file shows.

use crate::redaction::rule::definition::{MatchCheck, Row, near};

pub(super) const ROWS: &[Row] = &[
    near(
        "wordpress-salt",
        "WordPress key or salt",
        &["auth_key", "auth_salt", "logged_in_key", "logged_in_salt", "nonce_key", "nonce_salt"],
        r#"(?:SECURE_AUTH|AUTH|LOGGED_IN|NONCE)_(?:KEY|SALT)['"]?\s{0,40}[,=:]\s{0,40}(?:'([^'\r\n]{24,})'|"([^"\r\n]{24,})")"#,
        &[
            "define('AUTH_KEY',         '{an:20}(x)#{an:20} |{an:20}');",
            "define( \"NONCE_SALT\", \"{an:30}&${an:30}\" );",
            "LOGGED_IN_SALT='{an:64}'",
        ],
        &["define('AUTH_KEY', 'put your unique phrase here');"],
    )
    .check(MatchCheck::Entropy(4.2)),
    near(
        "sensitive-output",
        "Output that Terraform marks as sensitive",
        &["\"sensitive\": true", "\"sensitive\":true", "\\\"sensitive\\\": true", "\\\"sensitive\\\":true"],
        r#"value\\?"\s{0,8}:\s{0,8}\\?"([^"\\\r\n]{3,512})\\?"[^{}]{0,160}sensitive\\?"\s{0,4}:\s{0,4}true|sensitive\\?"\s{0,4}:\s{0,4}true[^{}]{0,160}value\\?"\s{0,8}:\s{0,8}\\?"([^"\\\r\n]{3,512})"#,
        &[
            "\"admin\": {\n  \"value\": \"{an:14}\",\n  \"type\": \"string\",\n  \"sensitive\": true\n}",
            "\"db\": {\"sensitive\": true, \"type\": \"string\", \"value\": \"{an:20}\"}",
            "\"x\":{\"value\":\"maple{d:4}\",\"sensitive\":true",
        ],
        &["\"x\": {\"value\": \"eu-1\", \"sensitive\": false}", "{\"sensitive\": true}"],
    )
    .check(MatchCheck::None),
    near(
        "xml-secret-element",
        "XML element with attributes that names a secret",
        &["<pass", "<pwd", "<secret", "<token", "<apikey", ":password ", "password encoding", "password type="],
        r"(?i)<(?:[a-z0-9]+:)?[a-z0-9_.-]{0,24}(?:pass|passwd|password|pwd|secret|token|apikey)[ \t][^<>\r\n]{1,200}>([^<>\s]{6,512})</",
        &[
            "<Pass encoding=\"plain\">{an:18}</Pass>",
            "<db:password xsi:type=\"xsd:string\">{an:16}</db:password>",
            "<secret id='1'>{an:30}</secret>",
        ],
        &["<token type=\"word\">required</token>", "<password/>"],
    )
    .check(MatchCheck::Issued),
];
