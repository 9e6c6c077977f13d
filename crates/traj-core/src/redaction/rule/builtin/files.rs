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
        "mail-relay-password",
        "Password of a mail relay",
        &["]:587", "]:465", "]:25", "static:"],
        r"(?:\]:(?:587|465|25)[ \t]{1,40}[^\s:]{1,80}|\bstatic:[A-Za-z0-9._@-]{1,64}):([^\s:]{6,128})",
        &[
            "[smtp.example.org]:587 ops@example.org:{an:14}",
            "[mail.acme.io]:465    relay:{an:20}",
            "smtp_sasl_password_maps = static:ops:{an:14}",
        ],
        &["[::1]:587 listening on eth0", "static:web:assets", "[smtp.example.org]:587"],
    )
    .check(MatchCheck::Entropy(2.8)),
    near(
        "domain-login",
        "Domain, user and password before a host",
        &["impacket", "psexec", "wmiexec", "smbexec", "atexec", "dcomexec", "secretsdump", "smbclient.py", "getuserspns", "getnpusers"],
        r#"[ \t]['"]?(?:[A-Za-z0-9._-]{1,64}/)?[A-Za-z0-9._$-]{1,64}:([^\s'"@:/]{4,128})['"]?@[A-Za-z0-9]"#,
        &[
            "impacket-psexec corp/ada:{an:14}@10.0.0.3",
            "secretsdump.py 'acme.io/ops:{an:12}'@dc1",
            "wmiexec.py ops:{an:16}@host",
        ],
        &["impacket-psexec corp/ada@10.0.0.3 -hashes", "psexec ssh://git@host"],
    )
    .check(MatchCheck::Entropy(2.0)),
    near(
        "password-scheme",
        "Password of a mail server or a directory with its scheme",
        &["{plain}", "{cleartext}", "{ssha", "{sha512", "{sha256", "{crypt}", "{blf-crypt}", "{argon2", "{pbkdf2", "{scram"],
        r"(?i)\{(?:PLAIN|CLEARTEXT|SSHA(?:256|512)?|SHA(?:256|512)(?:-CRYPT)?|CRYPT|BLF-CRYPT|ARGON2(?:I|ID)?|PBKDF2[A-Z0-9-]{0,12}|SCRAM-[A-Z0-9-]{3,12})\}([^\s:{}]{6,512})",
        &["ops:{PLAIN}{an:14}:1000:1000", "userPassword: {SSHA}{b64:32}", "{CRYPT}$6${an:8}${an:86}"],
        &["the {PLAIN} scheme", "{sha256} of the file"],
    )
    .check(MatchCheck::Entropy(2.8)),
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
