//! The HTML around the data: head, policy, style and script.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use crate::bundle::output::hex;

/// The constant parts of a page.
#[derive(Clone, Debug)]
pub(super) struct PageAssets {
    /// The program that writes them.
    pub(super) generator: Cow<'static, str>,
    pub(super) style: Cow<'static, str>,
    /// It is built from `crates/traj-export/page`.
    pub(super) script: Cow<'static, str>,
}

impl Default for PageAssets {
    /// Those of this version.
    fn default() -> Self {
        Self {
            generator: Cow::Borrowed(GENERATOR),
            style: Cow::Borrowed(include_str!("assets/page.css")),
            script: Cow::Borrowed(include_str!("assets/page.js")),
        }
    }
}

/// The program that writes a page.
const GENERATOR: &str = concat!("traj ", env!("CARGO_PKG_VERSION"));

/// The constant parts of an earlier version, by their SHA-256.
struct EarlierVersion {
    generator: &'static str,
    style: &'static str,
    script: &'static str,
}

/// The earlier versions whose pages are accepted.
const EARLIER: [EarlierVersion; 0] = [];

impl PageAssets {
    /// The parts of a page if an earlier version is listed with them, else
    /// those of this version.
    pub(super) fn listed(generator: &str, style: &[u8], script: &[u8]) -> Self {
        let digest = |text: &[u8]| hex(&Sha256::digest(text).into());
        let is_listed = |version: &EarlierVersion| {
            version.generator == generator
                && version.style == digest(style)
                && version.script == digest(script)
        };
        if !EARLIER.iter().any(is_listed) {
            return Self::default();
        }
        let text = |bytes: &[u8]| Cow::Owned(String::from_utf8_lossy(bytes).into_owned());
        let generator = Cow::Owned(generator.to_owned());
        Self { generator, style: text(style), script: text(script) }
    }

    /// The head of the page up to the summary.
    pub(super) fn opening(&self, title: &str) -> String {
        format!(
            "<!doctype html>\n<html lang=\"en\"><head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\
             <meta name=\"referrer\" content=\"no-referrer\">\
             <meta name=\"robots\" content=\"noindex\">\n\
             <title>{}</title>\n<style>{}</style></head>\n<body>\n",
            self.policy(),
            escape(title),
            self.style,
        )
    }

    /// Nothing is loaded, and nothing runs but our script.
    fn policy(&self) -> String {
        let hash = |text: &str| STANDARD.encode(Sha256::digest(text.as_bytes()));
        format!(
            "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data:; \
             base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; \
             trusted-types 'none'",
            hash(&self.script),
            hash(&self.style),
        )
    }
}

/// The tag before the head of the data.
pub(super) const HEAD_OPENING: &str = "<script type=\"application/json\" id=\"head\">";

/// The tags around the script.
pub(super) const SCRIPT_OPENING: &str = "<script>";

/// The end of the page: the script sees that everything is there.
pub(super) const ENDING: &str =
    "<script type=\"text/plain\" id=\"end\"></script>\n</body></html>\n";

/// Text as it is written in HTML.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // A browser would replace it, and a terminal would obey it.
            control if control.is_control() && !matches!(control, '\n' | '\t') => {
                escaped.push('\u{fffd}');
            }
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_become_markup() {
        assert_eq!(
            escape("<a href='x'>&\"\u{1b}"),
            "&lt;a href=&#39;x&#39;&gt;&amp;&quot;\u{fffd}"
        );
    }

    #[test]
    fn the_constants_can_be_put_into_a_page() {
        let assets = PageAssets::default();
        for (text, tag) in [(assets.script, "</script"), (assets.style, "</style")] {
            let lower = text.to_ascii_lowercase();
            assert!(!lower.contains(tag) && !lower.contains("<!--"), "{tag}");
        }
    }
}
