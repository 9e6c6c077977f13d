//! A rule as data: its id, how it matches, its examples and counter-examples.

use std::borrow::Cow;

use crate::redaction::field_name::NameRow;

/// A rule's position in its rule set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::redaction) struct RuleIndex(u16);

impl RuleIndex {
    pub(in crate::redaction) const fn new(place: u16) -> Self {
        Self(place)
    }

    pub(in crate::redaction) fn place(self) -> usize {
        usize::from(self.0)
    }
}

/// Rules that go by the context of a value. Their code is in `text::context`;
/// their ids and examples are in `rule::builtin::context`, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::redaction) enum Frame {
    Password,
    Passphrase,
    Secret,
    Token,
    ApiKey,
    PrivateKey,
    Credential,
    Authorization,
    Cookie,
    Session,
    Signature,
    OneTimeCode,
    RecoveryCode,
    SeedPhrase,
    CardNumber,
    CardCode,
    UrlPassword,
    UrlToken,
    PemPrivateKey,
    PuttyKey,
    CommandPassword,
    CommandOutput,
    BasicAuth,
    Jwk,
}

impl Frame {
    /// The rule that findings of this frame belong to.
    pub(in crate::redaction) const fn rule(self) -> RuleIndex {
        RuleIndex(self as u16)
    }
}

/// What a rule protects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RuleClass {
    /// A credential; always on.
    Credential,
    /// Data about a person; off unless the policy asks for it.
    Personal,
    /// A network address; off unless the policy asks for it.
    Address,
}

impl RuleClass {
    /// The name used in rule files and listings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Credential => "credential",
            Self::Personal => "personal",
            Self::Address => "address",
        }
    }
}

/// How a rule finds its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::redaction) enum Matcher {
    /// By its context, in code.
    Frame,
    /// By the name of its field: a row of the name table.
    Name,
    /// A pattern that begins with one of the keywords.
    Prefix,
    /// A pattern near a keyword.
    Near,
    /// A pattern in a long run of token characters, without any keyword.
    Run,
    /// A pattern anywhere in a string that contains a keyword.
    Anywhere,
    /// Not at all: the user disabled the rule.
    Off,
}

/// An additional condition for a match.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::redaction) enum MatchCheck {
    /// No condition.
    None,
    /// At least this entropy, in bits per character.
    Entropy(f64),
    /// Looks random: no words, no path.
    Random,
    /// Looks random, and at least every eighth character is a digit.
    Dense,
    /// Looks like an issued key, or is a UUID.
    Issued,
    /// The check digit of payment cards.
    Luhn,
    /// The check digits of an IBAN.
    Iban,
    /// An IPv4 address that is not local or reserved.
    PublicAddress,
    /// As many digits as a telephone number has.
    Phone,
}

/// One rule.
#[derive(Clone, Debug)]
pub(in crate::redaction) struct Rule {
    pub(in crate::redaction) id: Cow<'static, str>,
    pub(in crate::redaction) title: Cow<'static, str>,
    pub(in crate::redaction) class: RuleClass,
    pub(in crate::redaction) matcher: Matcher,
    pub(in crate::redaction) pattern: Cow<'static, str>,
    /// Which group of the pattern is the secret; 0 means the first group that
    /// matched, or the whole match if none did.
    pub(in crate::redaction) group: usize,
    pub(in crate::redaction) keywords: Cow<'static, [Cow<'static, str>]>,
    pub(in crate::redaction) check: MatchCheck,
    pub(in crate::redaction) examples: Cow<'static, [Cow<'static, str>]>,
    pub(in crate::redaction) counter_examples: Cow<'static, [Cow<'static, str>]>,
    pub(in crate::redaction) user: bool,
}

/// One row of a built-in table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(in crate::redaction) id: &'static str,
    pub(in crate::redaction) title: &'static str,
    pub(in crate::redaction) class: RuleClass,
    pub(in crate::redaction) matcher: Matcher,
    pub(in crate::redaction) pattern: &'static str,
    pub(in crate::redaction) keywords: &'static [&'static str],
    pub(in crate::redaction) check: MatchCheck,
    pub(in crate::redaction) examples: &'static [&'static str],
    pub(in crate::redaction) counter_examples: &'static [&'static str],
}

/// A token that begins with its issuer's prefix.
pub(in crate::redaction) const fn prefix(
    id: &'static str,
    title: &'static str,
    keywords: &'static [&'static str],
    pattern: &'static str,
    examples: &'static [&'static str],
    counter_examples: &'static [&'static str],
) -> Row {
    Row {
        id,
        title,
        class: RuleClass::Credential,
        matcher: Matcher::Prefix,
        pattern,
        keywords,
        check: MatchCheck::Entropy(2.5),
        examples,
        counter_examples,
    }
}

/// A token with a keyword inside or near it.
pub(in crate::redaction) const fn near(
    id: &'static str,
    title: &'static str,
    keywords: &'static [&'static str],
    pattern: &'static str,
    examples: &'static [&'static str],
    counter_examples: &'static [&'static str],
) -> Row {
    Row {
        matcher: Matcher::Near,
        ..prefix(id, title, keywords, pattern, examples, counter_examples)
    }
}

/// A token that is recognised only by its format.
pub(in crate::redaction) const fn run(
    id: &'static str,
    title: &'static str,
    pattern: &'static str,
    bits: f64,
    examples: &'static [&'static str],
    counter_examples: &'static [&'static str],
) -> Row {
    Row { matcher: Matcher::Run, ..prefix(id, title, &[], pattern, examples, counter_examples) }
        .check(MatchCheck::Entropy(bits))
}

/// A rule whose code is in `text::context`.
pub(in crate::redaction) const fn frame(
    id: &'static str,
    title: &'static str,
    examples: &'static [&'static str],
    counter_examples: &'static [&'static str],
) -> Row {
    Row { matcher: Matcher::Frame, ..prefix(id, title, &[], "", examples, counter_examples) }
        .check(MatchCheck::None)
}

/// A row of the name table as a rule.
pub(super) fn named(row: &NameRow) -> Rule {
    Rule {
        matcher: Matcher::Name,
        ..frame(row.id, row.title, row.examples, row.counter_examples).rule()
    }
}

impl Row {
    /// The same row with another condition.
    pub(in crate::redaction) const fn check(mut self, check: MatchCheck) -> Self {
        self.check = check;
        self
    }

    /// The same row in another class.
    pub(in crate::redaction) const fn class(mut self, class: RuleClass) -> Self {
        self.class = class;
        self
    }

    /// The row as a rule.
    pub(in crate::redaction) fn rule(&self) -> Rule {
        let owned = |texts: &'static [&'static str]| -> Cow<'static, [Cow<'static, str>]> {
            texts.iter().map(|text| Cow::Borrowed(*text)).collect::<Vec<_>>().into()
        };
        Rule {
            id: Cow::Borrowed(self.id),
            title: Cow::Borrowed(self.title),
            class: self.class,
            matcher: self.matcher,
            pattern: Cow::Borrowed(self.pattern),
            group: 0,
            keywords: owned(self.keywords),
            check: self.check,
            examples: owned(self.examples),
            counter_examples: owned(self.counter_examples),
            user: false,
        }
    }
}
