//! Word lists for the last word of a name, which decides its class.

/// Last words of password names.
pub(super) const PASSWORD_HEADS: &[&str] = &[
    "password",
    "passwd",
    "authtok",
    "pwd",
    "passcode",
    "userpass",
    "userpassword",
    "sshpass",
    "storepass",
    "keypass",
    "pw",
    "pswd",
    "passw",
    "pword",
    "motdepasse",
    "mdp",
    "passwort",
    "kennwort",
    "contrasena",
    "clave",
    "senha",
    "parola",
    "haslo",
    "heslo",
    "wachtwoord",
    "losenord",
    "salasana",
    "jelszo",
    "sifre",
    "requirepass",
    "masterauth",
    "psk",
];

/// Last words of token names.
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

/// Last words of API key names.
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

/// Words that make a key harmless if they occur anywhere before it.
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
pub(super) const SESSION_HEADS: &[&str] =
    &["session", "sessionid", "sid", "phpsessid", "jsessionid", "sess", "xsrf", "csrf", "crumb"];

/// Words that end in `pass` and name a password. Others are `bypass`, `compass`.
pub(super) const JOINED_PASS: &[&str] = &[
    "dbpass",
    "rootpass",
    "adminpass",
    "mypass",
    "mailpass",
    "smtppass",
    "ftppass",
    "mysqlpass",
    "pgpass",
    "redispass",
    "ldappass",
    "wifipass",
    "loginpass",
    "authpass",
    "proxypass",
    "certpass",
    "zippass",
];
