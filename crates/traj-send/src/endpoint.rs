//! Where requests go.

use ureq::http::Uri;

/// The path at which receivers accept traces, unless the address has another one.
const TRACES: &str = "/v1/traces";

/// Why requests cannot be sent as configured. No variant repeats what was
/// configured: it may contain a secret.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum EndpointError {
    /// It is not an address.
    #[error("the address is not a URL such as https://HOST:4318")]
    NotAnAddress,
    /// It contains a user name or a password.
    #[error("the address contains credentials")]
    Credentials,
    /// It has a query or a fragment, which may be a credential.
    #[error("the address has a query or a fragment")]
    Query,
    /// It is not encrypted, and not on this machine.
    #[error("the address must use https, unless it is on this machine")]
    NotEncrypted,
    /// The headers are not a list of names and values.
    #[error("the headers are not a list such as NAME=VALUE,NAME=VALUE")]
    Headers,
    /// The certificates cannot be read.
    #[error("the certificates are not PEM")]
    Certificates,
}

/// An address without credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    url: String,
    host: String,
}

impl Endpoint {
    /// The address that a user gave. If it has no path, the usual one for traces is
    /// appended.
    ///
    /// # Errors
    /// See [`EndpointError`].
    pub fn parse(text: &str) -> Result<Self, EndpointError> {
        let text = text.trim();
        // Fragments are not part of what is parsed.
        if text.contains('#') {
            return Err(EndpointError::Query);
        }
        let uri: Uri = text.parse().map_err(|_| EndpointError::NotAnAddress)?;
        let authority = uri.authority().ok_or(EndpointError::NotAnAddress)?;
        if authority.as_str().contains('@') {
            return Err(EndpointError::Credentials);
        }
        if uri.query().is_some() {
            return Err(EndpointError::Query);
        }
        match uri.scheme_str() {
            Some("https") => {}
            Some("http") if is_this_machine(authority.host()) => {}
            Some("http") => return Err(EndpointError::NotEncrypted),
            _ => return Err(EndpointError::NotAnAddress),
        }
        let path = if uri.path() == "/" { TRACES } else { uri.path() };
        let scheme = uri.scheme_str().unwrap_or_default();
        let url = format!("{scheme}://{authority}{path}");
        Ok(Self { url, host: authority.to_string() })
    }

    /// The address for traces below the address for all signals.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn below(text: &str) -> Result<Self, EndpointError> {
        let mut endpoint = Self::parse(text)?;
        if !endpoint.url.ends_with(TRACES) || text.trim().trim_end_matches('/').ends_with(TRACES) {
            endpoint.url = format!("{}{TRACES}", endpoint.url.trim_end_matches('/'));
        }
        Ok(endpoint)
    }

    /// The host and its port, if the address states one.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The whole address.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }
}

fn is_this_machine(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    let is_loopback = address.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback());
    host == "localhost" || is_loopback
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_no_credentials_and_is_encrypted() {
        let url = |text: &str| Endpoint::parse(text).map(|endpoint| endpoint.url);
        let fine = |text: &str| Ok(text.to_owned());
        assert_eq!(url("https://a.example:4318"), fine("https://a.example:4318/v1/traces"));
        assert_eq!(url("https://a.example/otlp/"), fine("https://a.example/otlp/"));
        assert_eq!(url("http://127.0.0.1:6006"), fine("http://127.0.0.1:6006/v1/traces"));
        assert_eq!(url("http://[::1]:6006/x"), fine("http://[::1]:6006/x"));
        assert_eq!(url("http://localhost/"), fine("http://localhost/v1/traces"));
        for (text, error) in [
            ("https://key:made-up@a.example", EndpointError::Credentials),
            ("https://a.example/?api-key=made-up", EndpointError::Query),
            ("https://a.example/#made-up", EndpointError::Query),
            ("http://a.example", EndpointError::NotEncrypted),
            ("http://127.0.0.1.a.example", EndpointError::NotEncrypted),
            ("a.example", EndpointError::NotAnAddress),
            ("ftp://a.example", EndpointError::NotAnAddress),
            ("", EndpointError::NotAnAddress),
        ] {
            assert_eq!(url(text), Err(error), "{text}");
        }
    }

    #[test]
    fn the_address_of_all_signals_gets_the_path_of_traces() {
        let url = |text: &str| Endpoint::below(text).unwrap().url;
        assert_eq!(url("https://a.example"), "https://a.example/v1/traces");
        assert_eq!(url("https://a.example/otlp/"), "https://a.example/otlp/v1/traces");
    }
}
