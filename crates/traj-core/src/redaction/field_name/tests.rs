//! What names mean.

use super::*;

#[test]
fn credential_names_are_known_in_every_spelling() {
    for name in [
        "password",
        "DB_PASSWORD",
        "dbPassword",
        "ansible_ssh_pass",
        "apiKey",
        "api_key",
        "x-api-key",
        "OPENAI_API_KEY",
        "openaiApiKey",
        "accessToken",
        "access_token",
        "clientSecret",
        "client-secret",
        "spring.integration.api-key",
        "githubToken",
        "hecToken",
        "passphrase",
        "privateKey",
        "secret_key_base",
        "_authToken",
        "PGPASSWORD",
        "SharedAccessKey",
        "cvv",
        "authorization",
        "Proxy-Authorization",
        "csrf_token",
        "TOKEN_2",
        "CREDENTIAL_TOKEN_B64",
    ] {
        assert!(matches!(classify(name.as_bytes()), NameClass::Strong(_)), "{name}");
    }
}

#[test]
fn names_that_only_resemble_credentials_are_plain() {
    for name in [
        "total_tokens",
        "maxTokens",
        "tokenizer",
        "keyboard",
        "keyName",
        "monkey",
        "sessionKey",
        "nextPageToken",
        "tokenLimit",
        "usage",
        "secretName",
        "secretRef",
        "hasSecret",
        "isSecret",
        "passwordPolicy",
        "password_hint",
        "passwordFile",
        "credentialType",
        "cookiePolicy",
        "author",
        "authority",
        "secretary",
        "primaryKey",
        "cacheKey",
        "idempotencyKey",
        "publicKey",
        "keyId",
        "stopToken",
        "eos_token",
        "designTokens",
        "tokenEndpoint",
        "hotkey",
        "s3Key",
        "passwordless",
        "keyframes",
        "authMethod",
        "apiKeySource",
        "key_count",
        "TOKENIZERS_PARALLELISM",
        "secrets_dir",
    ] {
        assert_eq!(classify(name.as_bytes()), NameClass::Plain, "{name}");
    }
}

#[test]
fn ambiguous_names_wait_for_the_value() {
    for name in [
        "key",
        "sid",
        "openrouterKey",
        "signature",
        "cookie",
        "credentials",
        "session",
        "AZURE_DEVOPS_EXT_PAT",
        "ageSdkSig",
    ] {
        assert!(matches!(classify(name.as_bytes()), NameClass::Weak(_)), "{name}");
    }
}
