//! Tests of the classification of names.

use super::*;

#[test]
fn credential_names_are_recognised_in_every_spelling() {
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
        assert!(
            matches!(NameTable::default().classify(name.as_bytes()), NameClass::Strong(_)),
            "{name}"
        );
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
        assert_eq!(NameTable::default().classify(name.as_bytes()), NameClass::Plain, "{name}");
    }
}

#[test]
fn ambiguous_names_are_weak() {
    for name in
        ["key", "sid", "openrouterKey", "signature", "session", "AZURE_DEVOPS_EXT_PAT", "ageSdkSig"]
    {
        assert!(
            matches!(NameTable::default().classify(name.as_bytes()), NameClass::Weak(_)),
            "{name}"
        );
    }
}

#[test]
fn some_names_are_secret_only_in_fields() {
    for name in ["cookie", "credentials", "passwords", "DB_PASSWORDS", "tokens", "apiKeys"] {
        let class = NameTable::default().classify(name.as_bytes());
        assert!(matches!(class, NameClass::Field(_)), "{name}");
    }
}

#[test]
fn a_disabled_row_decides_about_no_name() {
    let table = NameTable::new(|id| id != "name-cookie" && id != "name-text-token");
    assert_eq!(table.classify(b"cookie"), NameClass::Plain);
    assert_eq!(table.classify(b"nextPageToken"), NameClass::Strong(Frame::Token));
    assert_eq!(table.classify(b"password"), NameClass::Strong(Frame::Password));
}

#[test]
fn names_in_other_languages_are_recognised() {
    for name in ["пароль", "密码", "数据库密码", "contraseña", "senha", "mdp", "heslo"]
    {
        let class = NameTable::default().class_of_member(name);
        assert_eq!(class, NameClass::Strong(Frame::Password), "{name}");
    }
    assert_eq!(NameTable::default().class_of_member("größe"), NameClass::Plain);
}

#[test]
fn descriptions_of_input_fields_are_recognised() {
    for text in ["input[name=password]", "#login-pwd", "Password field", "//input[@id='db_passwd']"]
    {
        let class = NameTable::default().class_of_field(text);
        assert_eq!(class, NameClass::Strong(Frame::Password), "{text}");
    }
    for text in ["#search", "input[name=user]", "Sort by key"] {
        assert!(
            !matches!(NameTable::default().class_of_field(text), NameClass::Strong(_)),
            "{text}"
        );
    }
}

#[test]
fn payload_fields_are_recognised() {
    for name in ["image", "screenshot", "attachmentText", "fileData", "file_data", "imageSvg"] {
        assert!(is_payload(name), "{name}");
    }
    for name in ["imageUrl", "screenshotPath", "file", "data", "imagine", "image_id"] {
        assert!(!is_payload(name), "{name}");
    }
}
