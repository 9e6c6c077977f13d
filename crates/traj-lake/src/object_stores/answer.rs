//! Interprets the responses of an object store.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use traj_core::port::DatasetStoreError;
use ureq::http::{HeaderMap, StatusCode};

/// Longer names of errors are not repeated.
const LONGEST_CODE: usize = 64;

/// The root elements of a list: S3 and Google, Azure.
const LISTS: [&str; 2] = ["<ListBucketResult", "<EnumerationResults"];

/// Names of errors that mean that there is no such bucket or container.
const NO_BUCKET: [&str; 3] = ["NoSuchBucket", "ContainerNotFound", "ContainerBeingDeleted"];

/// Names of temporary errors, whatever the status.
const PASSING: [&str; 3] = ["RequestTimeout", "SlowDown", "OperationAborted"];

/// Names of errors that concern the credentials, whatever the status.
const CREDENTIALS: [&str; 5] = [
    "ExpiredToken",
    "InvalidAccessKeyId",
    "InvalidToken",
    "AuthorizationHeaderMalformed",
    "AuthenticationFailed",
];

/// Why a request did not succeed. It contains no text of the answer except the
/// name of an error.
#[derive(Clone, Debug, thiserror::Error)]
pub(super) enum Fault {
    /// It may succeed later.
    #[error("the store answered with the status {status}{}", of(code.as_deref()))]
    Busy { status: u16, code: Option<String>, retry_after: Option<Duration> },
    /// The credentials are not accepted.
    #[error("the store refused access with the status {status}{}", of(code.as_deref()))]
    Denied { status: u16, code: Option<String> },
    /// There is no such bucket.
    #[error("the store has no bucket or container of this name, or it is in another region")]
    NoBucket,
    /// The store names another address. Credentials are not sent there.
    #[error(
        "the store redirects to another address (status {status}), which is not followed; the \
         region may be wrong"
    )]
    Elsewhere { status: u16 },
    /// The store does not do what was asked.
    #[error("the store does not support the request: status {status}{}", of(code.as_deref()))]
    Unsupported { status: u16, code: Option<String> },
    /// The address is not encrypted.
    #[error("the address of the store must use https, unless it is on this machine")]
    NotEncrypted,
    /// The certificate of the store is not trusted.
    #[error("the certificate of the store is not trusted")]
    Untrusted { source: Arc<ureq::Error> },
    /// No complete response arrived.
    #[error("the store did not send a complete response")]
    Unreachable { source: Arc<ureq::Error> },
    /// The response is not a list: it may come from a captive portal. The
    /// client would take it for an empty list.
    #[error("the list of files is invalid")]
    NoList,
    /// The file is too large to be read.
    #[error("the file is too large")]
    TooLarge,
}

fn of(code: Option<&str>) -> String {
    code.map(|code| format!(" ({code})")).unwrap_or_default()
}

impl Fault {
    /// Interprets a response; `None` for one that the client of the store
    /// handles itself.
    pub(super) fn of(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Option<Self> {
        let code = code(headers, body);
        let name = code.as_deref().unwrap_or_default();
        let number = status.as_u16();
        // The name exists.
        let exists = matches!(number, 304 | 412) || (number == 409 && name == "BlobAlreadyExists");
        if status.is_success() || exists {
            return None;
        }
        if NO_BUCKET.contains(&name) {
            return Some(Self::NoBucket);
        }
        let is_passing = status.is_server_error() && !matches!(number, 501 | 505);
        if is_passing || matches!(number, 408 | 409 | 425 | 429) || PASSING.contains(&name) {
            return Some(Self::Busy { status: number, code, retry_after: retry_after(headers) });
        }
        if matches!(number, 401 | 403) || CREDENTIALS.contains(&name) {
            return Some(Self::Denied { status: number, code });
        }
        match number {
            // There is no such file.
            404 => None,
            300..=399 => Some(Self::Elsewhere { status: number }),
            _ => Some(Self::Unsupported { status: number, code }),
        }
    }

    /// Why a response is not a list.
    pub(super) fn of_list(body: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(body).unwrap_or_default();
        let is_list = LISTS.iter().any(|element| text.contains(element));
        (!is_list).then_some(Self::NoList)
    }

    /// Why a request got no answer.
    pub(super) fn unanswered(error: ureq::Error) -> Self {
        match error {
            ureq::Error::BodyExceedsLimit(_) => Self::TooLarge,
            // They repeat the address, which can contain a credential.
            ureq::Error::BadUri(_) | ureq::Error::RequireHttpsOnly(_) => Self::NotEncrypted,
            error if is_untrusted(&error) => Self::Untrusted { source: Arc::new(error) },
            error => Self::Unreachable { source: Arc::new(error) },
        }
    }

    /// The same in the terms of the port.
    pub(super) fn into_port(self) -> DatasetStoreError {
        match self {
            Self::Busy { retry_after, .. } => {
                DatasetStoreError::Busy { retry_after, source: self.into() }
            }
            Self::Unreachable { .. } => DatasetStoreError::busy(self),
            Self::Denied { .. } | Self::NoBucket | Self::Elsewhere { .. } => {
                DatasetStoreError::Denied { source: self.into() }
            }
            Self::Unsupported { .. }
            | Self::NotEncrypted
            | Self::Untrusted { .. }
            | Self::NoList
            | Self::TooLarge => DatasetStoreError::failed(self),
        }
    }
}

/// The name of an error: in a header of Azure, else in the XML of the others.
fn code(headers: &HeaderMap, body: &[u8]) -> Option<String> {
    let stated = headers.get("x-ms-error-code").and_then(|value| value.to_str().ok());
    let text = std::str::from_utf8(body).unwrap_or_default();
    let inside = || Some(text.split_once("<Code>")?.1.split_once("</Code>")?.0);
    let code = stated.or_else(inside)?;
    let is_name = code.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.');
    (is_name && !code.is_empty() && code.len() <= LONGEST_CODE).then(|| code.to_owned())
}

/// How long the store asks to wait. The form with a date needs a clock that
/// agrees with the store's.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get("retry-after")?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

/// Whether TLS failed: somewhere among the causes is its error.
fn is_untrusted(error: &ureq::Error) -> bool {
    if matches!(error, ureq::Error::Rustls(_) | ureq::Error::Tls(_) | ureq::Error::Pem(_)) {
        return true;
    }
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(one) = cause {
        if one.to_string().contains("invalid peer certificate") {
            return true;
        }
        cause = one.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use ureq::http::HeaderValue;

    use super::*;

    fn fault(status: u16, headers: &[(&'static str, &str)], body: &str) -> Option<Fault> {
        let headers = headers
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_str(value).unwrap()));
        Fault::of(StatusCode::from_u16(status).unwrap(), &headers.collect(), body.as_bytes())
    }

    fn port(status: u16, body: &str) -> DatasetStoreError {
        fault(status, &[], body).unwrap().into_port()
    }

    #[test]
    fn what_the_client_understands_is_left_to_it() {
        for status in [200, 204, 206, 304, 404, 412] {
            assert!(fault(status, &[], "").is_none(), "{status}");
        }
        assert!(fault(409, &[("x-ms-error-code", "BlobAlreadyExists")], "").is_none());
    }

    #[test]
    fn what_passes_is_busy() {
        for status in [408, 409, 429, 500, 502, 503, 504, 520] {
            assert!(port(status, "").is_busy(), "{status}");
        }
        assert!(port(400, "<Error><Code>RequestTimeout</Code></Error>").is_busy());
        let after = fault(503, &[("retry-after", " 7 ")], "").unwrap().into_port();
        let seven = Duration::from_secs(7);
        assert!(
            matches!(after, DatasetStoreError::Busy { retry_after: Some(time), .. } if time == seven)
        );
        let date = fault(503, &[("retry-after", "Wed, 21 Oct 2026 07:28:00 GMT")], "").unwrap();
        assert!(matches!(date.into_port(), DatasetStoreError::Busy { retry_after: None, .. }));
    }

    #[test]
    fn what_needs_a_person_is_not_busy() {
        let no_bucket = "<Error><Code>NoSuchBucket</Code></Error>";
        let expired = "<Error><Code>ExpiredToken</Code></Error>";
        for (status, body) in
            [(401, ""), (403, ""), (404, no_bucket), (400, expired), (301, ""), (307, "")]
        {
            let error = port(status, body);
            assert!(matches!(error, DatasetStoreError::Denied { .. }), "{status}: {error:?}");
        }
        for status in [400, 405, 413, 501, 505] {
            let error = port(status, "");
            assert!(matches!(error, DatasetStoreError::Failed { .. }), "{status}: {error:?}");
        }
    }

    #[test]
    fn only_the_name_of_an_error_is_repeated() {
        let text = |body: &str| fault(403, &[], body).unwrap().to_string();
        let named = "<Error><Code>RequestTimeTooSkewed</Code><Message>made-up</Message></Error>";
        assert_eq!(
            text(named),
            "the store refused access with the status 403 (RequestTimeTooSkewed)"
        );
        let plain = "the store refused access with the status 403";
        assert_eq!(text("<Error><Code>two words</Code></Error>"), plain);
        assert_eq!(text(&format!("<Code>{}</Code>", "a".repeat(65))), plain);
        assert_eq!(text("made-up"), plain);
    }
}
