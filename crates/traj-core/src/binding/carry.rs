//! What a new thread inherits from the history of its predecessor.
//!
//! A thread that no longer suits the configuration is replaced by one with an empty history. The
//! messages of the old thread can be given to the model of the new one, whole or shortened.

/// The most characters of one message in a summary.
const SUMMARY_MESSAGE_CHARACTERS: usize = 400;

/// What a new thread gets of the history of the thread that it replaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CarryOver {
    /// Nothing.
    #[default]
    Nothing,
    /// One message that quotes the beginning of each message.
    Summary {
        /// The most characters of the summary. The oldest messages are left out first.
        most_characters: usize,
    },
    /// The messages themselves, without tool calls.
    History {
        /// The most characters of all messages. The oldest are left out first.
        most_characters: usize,
    },
}

impl CarryOver {
    /// A summary of a usual size.
    #[must_use]
    pub const fn summary() -> Self {
        Self::Summary { most_characters: 8_000 }
    }

    /// As much of the history as usually fits into the context of a model.
    #[must_use]
    pub const fn history() -> Self {
        Self::History { most_characters: 200_000 }
    }

    /// A short name for people and for machines.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Summary { .. } => "summary",
            Self::History { .. } => "history",
        }
    }
}

/// A message of a thread.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PastMessage {
    /// Who wrote it.
    pub speaker: Speaker,
    /// What it says.
    pub text: String,
}

impl PastMessage {
    /// A message.
    #[must_use]
    pub const fn new(speaker: Speaker, text: String) -> Self {
        Self { speaker, text }
    }
}

impl std::fmt::Debug for PastMessage {
    /// Shows only the length of the text: a message does not belong in a log.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("PastMessage")
            .field("speaker", &self.speaker)
            .field("text", &self.text.len())
            .finish()
    }
}

/// Who wrote a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a thread has these two sides")]
pub enum Speaker {
    /// The person, or the host on behalf of the person.
    Person,
    /// The model.
    Model,
}

/// The messages that the new thread gets, from the `messages` of the old one, oldest first.
#[must_use]
pub fn carried_messages(carry: CarryOver, messages: &[PastMessage]) -> Vec<PastMessage> {
    let has_text = |message: &&PastMessage| !message.text.trim().is_empty();
    let messages: Vec<PastMessage> = messages.iter().filter(has_text).cloned().collect();
    match carry {
        CarryOver::Nothing => Vec::new(),
        CarryOver::History { most_characters } => newest(messages, most_characters).1,
        CarryOver::Summary { most_characters } => summary(messages, most_characters),
    }
}

/// The newest messages that fit, and how many were left out.
fn newest(messages: Vec<PastMessage>, most_characters: usize) -> (usize, Vec<PastMessage>) {
    let mut left = most_characters;
    let fitting = messages.iter().rev().take_while(|message| {
        let fits = left.checked_sub(message.text.chars().count());
        left = fits.unwrap_or(0);
        fits.is_some()
    });
    let omitted = messages.len() - fitting.count();
    (omitted, messages.into_iter().skip(omitted).collect())
}

fn summary(messages: Vec<PastMessage>, most_characters: usize) -> Vec<PastMessage> {
    let quoted = messages.into_iter().map(|message| {
        let speaker = match message.speaker {
            Speaker::Person => "Person",
            Speaker::Model => "You",
        };
        let quote = beginning(message.text.trim());
        PastMessage::new(message.speaker, format!("{speaker}: {quote}"))
    });
    let (omitted, lines) = newest(quoted.collect(), most_characters);
    if lines.is_empty() {
        return Vec::new();
    }
    let begin = "This conversation continues from an earlier thread that you no longer see. Its \
                 messages, shortened:"
        .to_owned();
    let omitted = (omitted > 0).then(|| format!("({omitted} earlier messages are left out.)"));
    let quotes = lines.into_iter().map(|line| line.text);
    let text: Vec<String> = std::iter::once(begin).chain(omitted).chain(quotes).collect();
    let text = text.join("\n\n");
    // The quotes are the person's words too, so they get no more authority than the person has.
    vec![PastMessage::new(Speaker::Person, text)]
}

/// The beginning of a text, with an ellipsis if the rest was left out.
fn beginning(text: &str) -> String {
    match text.char_indices().nth(SUMMARY_MESSAGE_CHARACTERS) {
        Some((end, _)) => format!("{} …", text.get(..end).unwrap_or(text)),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conversation() -> Vec<PastMessage> {
        vec![
            PastMessage::new(Speaker::Person, "first question".to_owned()),
            PastMessage::new(Speaker::Model, "first answer".to_owned()),
            PastMessage::new(Speaker::Model, "  ".to_owned()),
            PastMessage::new(Speaker::Person, "second question".to_owned()),
        ]
    }

    fn texts(messages: &[PastMessage]) -> Vec<&str> {
        messages.iter().map(|message| message.text.as_str()).collect()
    }

    #[test]
    fn the_history_is_carried_from_its_newest_message_back() {
        let carry = |most_characters| {
            carried_messages(CarryOver::History { most_characters }, &conversation())
        };
        assert_eq!(texts(&carry(1_000)), ["first question", "first answer", "second question"]);
        assert_eq!(texts(&carry(28)), ["first answer", "second question"]);
        assert_eq!(texts(&carry(3)), [""; 0]);
        assert_eq!(carried_messages(CarryOver::Nothing, &conversation()), []);
    }

    #[test]
    fn a_summary_is_one_message_that_quotes_the_others() {
        let mut messages = conversation();
        messages.push(PastMessage::new(Speaker::Model, "long ".repeat(200)));
        let summary = carried_messages(CarryOver::Summary { most_characters: 440 }, &messages);
        assert_eq!(summary.len(), 1);
        assert_eq!(summary[0].speaker, Speaker::Person);
        let text = summary[0].text.replace(&"long ".repeat(80), "[long]");
        insta::assert_snapshot!(text, @r"
        This conversation continues from an earlier thread that you no longer see. Its messages, shortened:

        (2 earlier messages are left out.)

        Person: second question

        You: [long] …
        ");
    }

    #[test]
    fn an_empty_history_needs_no_summary() {
        assert_eq!(carried_messages(CarryOver::summary(), &[]), []);
    }

    #[test]
    fn a_message_is_not_in_its_debug_output() {
        assert!(!format!("{:?}", conversation()).contains("question"));
    }
}
