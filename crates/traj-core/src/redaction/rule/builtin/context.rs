//! Rules that rest on the surroundings of a value, in the order of `Frame`.
//!
//! An example is a whole text; what must be hidden is written between `⟦` and `⟧`.

use crate::redaction::rule::definition::{Row, frame};

pub(super) const ROWS: &[Row] = &[
    frame(
        "password",
        "Value of a field, flag or label that names a password",
        &[
            "DB_PASSWORD=⟦{an:12}⟧",
            "password: ⟦hunter2⟧",
            "mysqldump --password=⟦a!b{an:8}⟧ shop",
            "{'pwd': '⟦willow-harbor-735*⟧'}",
            "password=⟦pass⟧",
            "backup --password '⟦a b⟧' --all",
        ],
        &[
            "password = getpass.getpass('Password: ')",
            "Your password must be at least 12 characters long.",
            "password: String,",
        ],
    ),
    frame(
        "passphrase",
        "Value named as a passphrase",
        &["passphrase: \"⟦correct-horse-battery-{d:3}⟧\""],
        &["Enter passphrase for key '/home/ada/.ssh/id_ed25519': "],
    ),
    frame(
        "secret",
        "Value named as a secret",
        &["client_secret=⟦{an:24}⟧", "\"totpSecret\": \"⟦{b32:32}⟧\""],
        &["secretName: web-tls", "Secret Santa draws happen on Friday."],
    ),
    frame(
        "token",
        "Value named as a token",
        &["--token ⟦{an:32}⟧", "token = \"⟦{an:24}⟧\"", "\"hecToken\": \"⟦{uuid}⟧\""],
        &[
            "const token = await getToken();",
            "token: CancellationToken,",
            "MAX_TOKENS=4096",
            "nextPageToken: \"CAUQAA\"",
        ],
    ),
    frame(
        "api-key",
        "Value named as a key",
        &[
            "api_key: ⟦{hex:32}⟧",
            "The cloudflare api key is ⟦{hex:37}⟧, keep it",
            "x-api-key: ⟦{an:32}⟧",
        ],
        &["sort_key=created_at", "key=lambda x: x[1]", "apiKeySource=environment"],
    ),
    frame(
        "private-key",
        "Value named as a private key",
        &["ed25519_private_key = ⟦{hex:128}⟧"],
        &["private_key_path: /run/secrets/key.pem"],
    ),
    frame(
        "credential",
        "Value named as credentials",
        &["CREDENTIALS_B64=⟦{an:44}⟧"],
        &["credential.helper=store"],
    ),
    frame(
        "authorization",
        "Credential of an authorisation header",
        &[
            "Authorization: Bearer ⟦{an:40}⟧",
            "authorization: Token ⟦{hex:40}⟧",
            "[\"authorization\", \"Bearer ⟦{an:40}⟧\"]",
        ],
        &[
            "Bearer token authentication is required for this endpoint.",
            "headers: { Authorization: `Bearer ${token}` }",
            "token_type=bearer expires_in=3600",
        ],
    ),
    frame(
        "cookie",
        "Value of a cookie header",
        &["Cookie: theme=dark; tracking=⟦{an:40}⟧; lang=en"],
        &["Cookie: theme=dark; lang=en", "The cookie banner blocks the button on mobile."],
    ),
    frame("session", "Value named as a session", &["sid=⟦{an:40}⟧"], &["session=main"]),
    frame(
        "signature",
        "Value named as a signature",
        &["https://h/x?sig=⟦{an:43}⟧"],
        &["signature=v2"],
    ),
    frame(
        "one-time-code",
        "One-time code",
        &["Your verification code is ⟦283771⟧. It expires in 10 minutes."],
        &["Verification code sent to your phone.", "exit code 137"],
    ),
    frame(
        "recovery-code",
        "Recovery codes in a list",
        &["Recovery codes:\n⟦xxd2j-yby9a⟧\n⟦7w1vy-grc15⟧"],
        &["Recovery codes are printed below."],
    ),
    frame(
        "seed-phrase",
        "Words of a wallet's seed",
        &[
            "seed phrase: ⟦allow arch actor weekend again waste achieve awesome write wrestle add alter⟧",
        ],
        &["The seed phrase has twelve words and never expires."],
    ),
    frame(
        "card-number",
        "Payment card number named as one",
        &["card_number=⟦4111111111111111⟧ exp=09/29"],
        &["card_number=n/a"],
    ),
    frame("card-code", "Security code or PIN", &["cvc=⟦674⟧", "pin: ⟦4821⟧"], &["pin=required"]),
    frame(
        "url-password",
        "Password in a URL",
        &["postgres://app:⟦{an:14}⟧@db:5432/app", "redis://:⟦{an:14}⟧@cache:6379/0"],
        &["ssh://git@gitlab.com:22/acme/app.git", "postgres://app:${PGPASSWORD}@db/app"],
    ),
    frame(
        "url-token",
        "Token as the user of a URL",
        &["https://⟦{hex:40}⟧@pypi.acme.io/simple"],
        &["https://ada@acme.io/"],
    ),
    frame(
        "pem-private-key",
        "Private key in PEM or OpenSSH armour",
        &[
            "-----BEGIN PRIVATE KEY-----\n⟦{b64:64}\n{b64:64}⟧\n-----END PRIVATE KEY-----",
            "-----BEGIN RSA PRIVATE KEY-----\\n⟦{b64:64}⟧",
        ],
        &["-----BEGIN PUBLIC KEY-----\n{b64:64}\n-----END PUBLIC KEY-----"],
    ),
    frame(
        "putty-key",
        "Private half of a PuTTY key file",
        &["Private-Lines: 2\n⟦{b64:64}\n{b64:32}⟧\nPrivate-MAC: ⟦{hex:40}⟧"],
        &["Public-Lines: 2\n{b64:64}\n{b64:32}"],
    ),
    frame(
        "command-password",
        "Password as an argument of a known command",
        &[
            "curl -u root:⟦{an:12}⟧ https://h/",
            "docker login -u ci -p ⟦{an:14}⟧ registry.acme.io",
            "redis-cli -h c -a ⟦{an:14}⟧ ping",
        ],
        &["mkdir -p src/components/buttons", "docker run -p 8080:80 web"],
    ),
    frame(
        "command-output",
        "Output of a command that prints a secret",
        &["$ op read op://prod/db/password\n⟦Quartz!{d:4}amber⟧"],
        &["$ gh auth status\nLogged in"],
    ),
    frame(
        "basic-auth",
        "User and password in base64",
        &["proxy auth ⟦YWRtaW46Z3Jhbml0ZS1zYWZmcm9uLTIzMz8=⟧"],
        &["echo SGVsbG8gd29ybGQ= | base64 -d"],
    ),
    frame(
        "jwk",
        "Private member of a JSON web key",
        &["{\"kty\":\"oct\",\"k\":\"⟦{url:43}⟧\"}"],
        &["{\"kty\":\"RSA\",\"e\":\"AQAB\",\"n\":\"{url:342}\"}"],
    ),
];
