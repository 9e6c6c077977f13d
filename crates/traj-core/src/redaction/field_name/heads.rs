//! Word lists for the last word of a name, which decides what it names.

/// Last words of names of passwords.
pub(super) const PASSWORD_HEADS: &[&str] = &[
    "password",
    "passwd",
    "pwd",
    "passcode",
    "userpass",
    "userpassword",
    "sshpass",
    "storepass",
    "keypass",
    "pw",
    "motdepasse",
    "passwort",
    "contrasena",
    "requirepass",
    "masterauth",
    "psk",
];

/// Last words of names of tokens.
pub(super) const TOKEN_HEADS: &[&str] = &[
    "token",
    "authtoken",
    "accesstoken",
    "refreshtoken",
    "idtoken",
    "apitoken",
    "bearertoken",
    "sessiontoken",
    "csrftoken",
];

/// Last words of names of API keys.
pub(super) const API_KEY_HEADS: &[&str] = &[
    "apikey",
    "accesskey",
    "privatekey",
    "masterkey",
    "signingkey",
    "encryptionkey",
    "authkey",
    "accountkey",
    "licensekey",
];

/// Words that make a key harmless, anywhere before it.
pub(super) const HARMLESS_KEY_WORDS: &[&str] = &[
    "public",
    "pub",
    "verify",
    "verifying",
    "translation",
    "cache",
    "primary",
    "foreign",
    "no",
    "any",
];

/// Words before `key` that only suggest a secret.
pub(super) const WEAK_KEY_LEADS: &[&str] = &[
    "host",
    "function",
    "client",
    "service",
    "account",
    "app",
    "admin",
    "write",
    "ca",
    "storage",
    "personal",
    "integration",
    "provider",
];

/// Last words of names that suggest a token.
pub(super) const WEAK_TOKEN_HEADS: &[&str] = &[
    "auth",
    "jwt",
    "pat",
    "bearer",
    "saml",
    "samlresponse",
    "assertion",
    "tempauth",
    "oauth",
    "sas",
];

/// Last words of names that suggest a session id.
pub(super) const SESSION_HEADS: &[&str] = &[
    "session",
    "sessionid",
    "sid",
    "phpsessid",
    "jsessionid",
    "sess",
    "xsrf",
    "csrf",
    "nonce",
    "crumb",
];
