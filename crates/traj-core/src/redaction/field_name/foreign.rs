//! Credential words in other languages and scripts.
//!
//! The automaton ignores the case of ASCII letters only, so words in other
//! scripts are listed as they are written at the beginning and inside of a
//! sentence.

use super::NameClass;
use crate::redaction::rule::Frame;

const PASSWORD: NameClass = NameClass::Strong(Frame::Password);
const KEY: NameClass = NameClass::Weak(Frame::ApiKey);
const TOKEN: NameClass = NameClass::Weak(Frame::Token);

/// Words before a value, with the class of the value.
pub(in crate::redaction) const FOREIGN_LABELS: &[(&str, NameClass)] = &[
    // Spanish, Catalan, Portuguese, French, Italian, Romanian
    ("contrase", PASSWORD),
    ("contrasenya", PASSWORD),
    ("palabra de paso", PASSWORD),
    ("senha", PASSWORD),
    ("palavra-passe", PASSWORD),
    ("palavra passe", PASSWORD),
    ("mot de passe", PASSWORD),
    ("mots de passe", PASSWORD),
    ("code d'accès", PASSWORD),
    ("parola d'ordine", PASSWORD),
    ("parola chiave", PASSWORD),
    ("parola d’ordine", PASSWORD),
    ("parolă", PASSWORD),
    ("parola", PASSWORD),
    ("clave", PASSWORD),
    ("chiave", KEY),
    ("chave", KEY),
    ("clé", KEY),
    ("jeton", TOKEN),
    // German, Dutch, Scandinavian languages
    ("kennwort", PASSWORD),
    ("passwort", PASSWORD),
    ("zugangscode", PASSWORD),
    ("schlüssel", KEY),
    ("wachtwoord", PASSWORD),
    ("toegangscode", PASSWORD),
    ("sleutel", KEY),
    ("lösenord", PASSWORD),
    ("adgangskode", PASSWORD),
    ("kodeord", PASSWORD),
    ("passord", PASSWORD),
    ("aðgangsorð", PASSWORD),
    ("lykilorð", PASSWORD),
    // Finnish, Estonian, Hungarian, Turkish
    ("salasana", PASSWORD),
    ("parool", PASSWORD),
    ("jelszó", PASSWORD),
    ("jelszava", PASSWORD),
    ("şifre", PASSWORD),
    ("Şifre", PASSWORD),
    ("ŞİFRE", PASSWORD),
    ("anahtar", KEY),
    // Slavic and Baltic languages in Latin script
    ("hasło", PASSWORD),
    ("heslo", PASSWORD),
    ("lozinka", PASSWORD),
    ("geslo", PASSWORD),
    ("slaptažodis", PASSWORD),
    ("klucz", KEY),
    ("klíč", KEY),
    // Cyrillic
    ("пароль", PASSWORD),
    ("Пароль", PASSWORD),
    ("ПАРОЛЬ", PASSWORD),
    ("парола", PASSWORD),
    ("Парола", PASSWORD),
    ("лозинка", PASSWORD),
    ("Лозинка", PASSWORD),
    ("ключ", KEY),
    ("Ключ", KEY),
    ("секрет", KEY),
    ("Секрет", KEY),
    ("токен", TOKEN),
    ("Токен", TOKEN),
    // Greek, Hebrew, Arabic, Persian, Urdu
    ("κωδικός", PASSWORD),
    ("Κωδικός", PASSWORD),
    ("κωδικο", PASSWORD),
    ("συνθηματικό", PASSWORD),
    ("Συνθηματικό", PASSWORD),
    ("κλειδί", KEY),
    ("Κλειδί", KEY),
    ("סיסמה", PASSWORD),
    ("סיסמא", PASSWORD),
    ("סיסמת", PASSWORD),
    ("מפתח", KEY),
    ("كلمة المرور", PASSWORD),
    ("كلمة السر", PASSWORD),
    ("كلمة مرور", PASSWORD),
    ("كلمه المرور", PASSWORD),
    ("الرقم السري", PASSWORD),
    ("مفتاح", KEY),
    ("رمز عبور", PASSWORD),
    ("گذرواژه", PASSWORD),
    ("کلمه عبور", PASSWORD),
    ("پاس ورڈ", PASSWORD),
    // South and South-East Asia
    ("पासवर्ड", PASSWORD),
    ("कूटशब्द", PASSWORD),
    ("कुंजी", KEY),
    ("পাসওয়ার্ড", PASSWORD),
    ("பாஸ்வேர்ட்", PASSWORD),
    ("கடவுச்சொல்", PASSWORD),
    ("పాస్‌వర్డ్", PASSWORD),
    ("mật khẩu", PASSWORD),
    ("mat khau", PASSWORD),
    ("khóa", KEY),
    ("kata sandi", PASSWORD),
    ("kata kunci", PASSWORD),
    ("kata laluan", PASSWORD),
    ("sandi", PASSWORD),
    ("รหัสผ่าน", PASSWORD),
    ("กุญแจ", KEY),
    // Chinese, Japanese, Korean
    ("密码", PASSWORD),
    ("密碼", PASSWORD),
    ("口令", PASSWORD),
    ("密钥", KEY),
    ("密鑰", KEY),
    ("金鑰", KEY),
    ("秘钥", KEY),
    ("令牌", TOKEN),
    ("パスワード", PASSWORD),
    ("暗証番号", PASSWORD),
    ("合言葉", PASSWORD),
    ("秘密鍵", KEY),
    ("トークン", TOKEN),
    ("キー", KEY),
    ("비밀번호", PASSWORD),
    ("패스워드", PASSWORD),
    ("암호", PASSWORD),
    ("토큰", TOKEN),
];

/// Whether a member name in another script ends with a word for a password.
pub(super) fn names_password(name: &[u8]) -> bool {
    !name.is_ascii()
        && FOREIGN_LABELS.iter().any(|(label, class)| {
            *class == PASSWORD && !label.is_ascii() && name.ends_with(label.as_bytes())
                || *label == "contrase" && name.starts_with(label.as_bytes())
        })
}
