//! Exports requested in a chat.
//!
//! A bundle contains prompts, messages and tool results, so a host must not
//! write one because a stranger typed a command. [`ChatExport`] carries such a
//! request through the four steps that every host needs:
//!
//! 1. [`ChatCommand::parse`] recognises the command.
//! 2. [`ChatExport::new`] checks the sender. Only the owner may export.
//! 3. [`ChatExport::question`] is the question to the owner, asked every time.
//! 4. [`ChatExport::arguments`] is what the host runs if the answer is yes, and
//!    [`ChatAnswer::from_document`] reads the result and words the reply.
//!
//! The request travels as one base64url word, so that no shell on the way can
//! change it. [`Delivery`] says where the question and the answer go: in a
//! group, to the owner alone.

mod answer;
mod wire;

use thiserror::Error;
use traj_core::id::{BundleName, BundleNameError};

pub use answer::ChatAnswer;

/// The names of the command, without the slash.
const NAMES: [&str; 2] = ["export-trajectory", "trajectory"];

/// The longest name of a bundle in a chat, in bytes.
const LONGEST_NAME: usize = 512;

/// Why a request from a chat is refused. Contains no text from the chat.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ChatExportError {
    /// The sender may not export.
    #[error("only the owner may export a trajectory")]
    NotOwner,
    /// The argument looks like a flag.
    #[error("the command takes the name of the bundle, and no flags")]
    Flag,
    /// There is more than one argument.
    #[error("the command takes one name without spaces")]
    TooManyArguments,
    /// The name is not usable.
    #[error("the name of the bundle is not valid")]
    Name(#[from] BundleNameError),
    /// A required member is missing or blank.
    #[error("the request lacks {0}")]
    Missing(&'static str),
    /// The request is longer than a command line should carry.
    #[error("the request is longer than {limit} characters")]
    TooLong {
        /// The limit.
        limit: usize,
    },
    /// The request is not the base64url form of a JSON object.
    #[error("the encoded request is not valid")]
    NotDecodable,
}

/// Who sent the command, as the host's own checks found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sender {
    /// The owner, with the right to use commands in this chat.
    Owner,
    /// Anybody else.
    Other,
}

/// Where the command was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Room {
    /// A chat with the owner alone.
    Private,
    /// A chat that others can read.
    Shared,
}

/// Where the question and the answer go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delivery {
    /// To the chat that the command came from.
    SameChat,
    /// To the owner privately. The shared chat gets [`Self::public_note`] only.
    OwnerPrivately,
}

impl Delivery {
    /// Where they go for a command from this room.
    #[must_use]
    pub const fn of(room: Room) -> Self {
        match room {
            Room::Private => Self::SameChat,
            Room::Shared => Self::OwnerPrivately,
        }
    }

    /// The note for a shared chat; `None` in the owner's own chat.
    #[must_use]
    pub const fn public_note(self) -> Option<&'static str> {
        match self {
            Self::SameChat => None,
            Self::OwnerPrivately => Some("The owner gets the details in a private message."),
        }
    }
}

/// The command as it was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChatCommand {
    /// The requested name of the bundle.
    pub output: Option<BundleName>,
}

impl ChatCommand {
    /// Recognises `/export-trajectory [NAME]` and `/trajectory [NAME]`; a
    /// messenger may append `@bot` to the command. `None` for any other text.
    ///
    /// # Errors
    /// If it is the command, and its argument is not the name of a bundle.
    pub fn parse(message: &str) -> Option<Result<Self, ChatExportError>> {
        let mut words = message.split_whitespace();
        let command = words.next()?.strip_prefix('/')?;
        let name = command.split_once('@').map_or(command, |(name, _)| name);
        if !NAMES.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            return None;
        }
        Some(Self::with_arguments(words.next(), words.next()))
    }

    fn with_arguments(name: Option<&str>, more: Option<&str>) -> Result<Self, ChatExportError> {
        match (name, more) {
            (None, _) => Ok(Self { output: None }),
            (Some(name), _) if name.starts_with('-') => Err(ChatExportError::Flag),
            (Some(_), Some(_)) => Err(ChatExportError::TooManyArguments),
            (Some(name), None) if name.len() > LONGEST_NAME => {
                Err(ChatExportError::TooLong { limit: LONGEST_NAME })
            }
            (Some(name), None) => Ok(Self { output: Some(BundleName::parse(name)?) }),
        }
    }
}

/// An export that the owner requested in a chat.
///
/// ```
/// use traj_export::chat::{ChatCommand, ChatExport, Delivery, Room, Sender};
///
/// let Some(command) = ChatCommand::parse("/export-trajectory bug-1234") else {
///     panic!("it is the command");
/// };
/// let request = ChatExport::new(Sender::Owner, "agent:main:main", "/srv/shop", command?)?;
///
/// // Ask every time, and offer no "always".
/// let question = request.question();
/// assert!(question.contains("bug-1234"));
/// assert_eq!(Delivery::of(Room::Shared), Delivery::OwnerPrivately);
///
/// // After a yes, run `traj` with these arguments and without a shell.
/// let arguments = request.arguments()?;
/// assert_eq!(arguments[..2], ["export", "--request"]);
/// assert_eq!(ChatExport::decode(&arguments[2])?, request);
/// # Ok::<(), traj_export::chat::ChatExportError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChatExport {
    /// The key of the session.
    pub session_key: String,
    /// The directory that the agent worked in.
    pub workspace: String,
    /// The name of the bundle; by default from the session and the time.
    pub output: Option<BundleName>,
    /// The store that lists the session; by default the agent's.
    pub store: Option<String>,
    /// The agent; by default the one that the key names.
    pub agent: Option<String>,
}

impl ChatExport {
    /// The request of a sender about the session of this chat.
    ///
    /// # Errors
    /// If the sender is not the owner, or the session or the workspace is blank.
    pub fn new(
        sender: Sender,
        session_key: impl Into<String>,
        workspace: impl Into<String>,
        command: ChatCommand,
    ) -> Result<Self, ChatExportError> {
        if sender != Sender::Owner {
            return Err(ChatExportError::NotOwner);
        }
        let request = Self {
            session_key: session_key.into(),
            workspace: workspace.into(),
            output: command.output,
            store: None,
            agent: None,
        };
        request.check()?;
        Ok(request)
    }

    fn check(&self) -> Result<(), ChatExportError> {
        for (name, value) in [("sessionKey", &self.session_key), ("workspace", &self.workspace)] {
            if value.trim().is_empty() {
                return Err(ChatExportError::Missing(name));
            }
        }
        Ok(())
    }

    /// What to ask the owner before anything is written. Ask every time: a
    /// standing permission would let the next message export as well.
    #[must_use]
    pub fn question(&self) -> String {
        let name =
            self.output.as_ref().map_or("a name made of session and time", BundleName::as_str);
        format!(
            "Export the trajectory of this session as a support bundle ({name})?\n\
             The bundle contains prompts, messages, tool definitions, tool results and events. \
             Known secrets and local paths are redacted.\n\
             It is written below .openclaw/trajectory-exports in the workspace and is not sent \
             anywhere. For a general problem, try /diagnostics first.\n\
             This permission holds for one export."
        )
    }

    /// The arguments of `traj` that carry out the request. Run the program
    /// with these arguments; do not build a command line for a shell.
    ///
    /// # Errors
    /// If the request is too long.
    pub fn arguments(&self) -> Result<Vec<String>, ChatExportError> {
        Ok(vec!["export".to_owned(), "--request".to_owned(), self.encode()?, "--json".to_owned()])
    }
}

#[cfg(test)]
mod tests;
