//! A request as one word: base64url of a JSON object.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use traj_core::id::BundleName;

use super::{ChatExport, ChatExportError};

/// The longest word that [`ChatExport::encode`] makes.
const LONGEST_MADE: usize = 8 * 1024;

/// The longest word that [`ChatExport::decode`] reads.
const LONGEST_READ: usize = 64 * 1024;

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireRequest {
    session_key: String,
    workspace: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    store: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
}

impl ChatExport {
    /// The request as one word of letters, digits, `-` and `_`.
    ///
    /// # Errors
    /// If the word would be longer than 8,192 characters.
    pub fn encode(&self) -> Result<String, ChatExportError> {
        self.check()?;
        let wire = WireRequest {
            session_key: self.session_key.clone(),
            workspace: self.workspace.clone(),
            output: self.output.as_ref().map(|name| name.as_str().to_owned()),
            store: self.store.clone(),
            agent: self.agent.clone(),
        };
        let json = serde_json::to_vec(&wire).map_err(|_| ChatExportError::NotDecodable)?;
        let word = URL_SAFE_NO_PAD.encode(json);
        if word.len() > LONGEST_MADE {
            return Err(ChatExportError::TooLong { limit: LONGEST_MADE });
        }
        Ok(word)
    }

    /// Reads a word that [`Self::encode`] made. Blank members count as missing.
    ///
    /// # Errors
    /// If it is not such a word, or lacks the session or the workspace.
    pub fn decode(word: &str) -> Result<Self, ChatExportError> {
        let word = word.trim();
        if word.len() > LONGEST_READ {
            return Err(ChatExportError::TooLong { limit: LONGEST_READ });
        }
        let json = URL_SAFE_NO_PAD.decode(word).map_err(|_| ChatExportError::NotDecodable)?;
        // A struct could also be read from a list.
        let object: serde_json::Map<String, serde_json::Value> =
            serde_json::from_slice(&json).map_err(|_| ChatExportError::NotDecodable)?;
        let wire: WireRequest =
            serde_json::from_value(object.into()).map_err(|_| ChatExportError::NotDecodable)?;
        let given = |member: Option<String>| member.filter(|text| !text.trim().is_empty());
        let request = Self {
            session_key: wire.session_key,
            workspace: wire.workspace,
            output: given(wire.output).as_deref().map(BundleName::parse).transpose()?,
            store: given(wire.store),
            agent: given(wire.agent),
        };
        request.check()?;
        Ok(request)
    }
}
