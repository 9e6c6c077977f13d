//! Sends a request and waits for the answer.

use std::error::Error;
use std::io::Write as _;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use traj_core::port::{TraceAnswer, TraceReceiver, TraceReceiverError};
use ureq::Agent;
use ureq::http::header::{CONTENT_ENCODING, CONTENT_TYPE, DATE, RETRY_AFTER};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

use crate::answer::Response;
use crate::{Endpoint, EndpointError, TraceHeaders};

/// How long a request may take, unless the user says otherwise.
const PATIENCE: Duration = Duration::from_secs(10);

/// The rest of a longer response is not read.
const LONGEST_ANSWER: u64 = 64 * 1024;

/// A receiver at an address.
#[derive(Debug)]
pub struct HttpTraceReceiver {
    endpoint: Endpoint,
    headers: TraceHeaders,
    timeout: Duration,
    roots: RootCerts,
    agent: Agent,
}

impl HttpTraceReceiver {
    /// A receiver with the usual timeout and the usual certificates.
    #[must_use]
    pub fn new(endpoint: Endpoint, headers: TraceHeaders) -> Self {
        let (timeout, roots) = (PATIENCE, RootCerts::WebPki);
        let agent = agent(timeout, &roots);
        Self { endpoint, headers, timeout, roots, agent }
    }

    /// Waits this long for a response.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self.agent = agent(self.timeout, &self.roots);
        self
    }

    /// Trusts only these certificates, in PEM.
    ///
    /// # Errors
    /// [`EndpointError::Certificates`].
    pub fn with_certificates(mut self, pem: &[u8]) -> Result<Self, EndpointError> {
        let items: Result<Vec<PemItem<'static>>, _> = parse_pem(pem).collect();
        let items = items.map_err(|_| EndpointError::Certificates)?;
        let certificates: Vec<Certificate<'static>> = items
            .into_iter()
            .filter_map(|item| match item {
                PemItem::Certificate(certificate) => Some(certificate),
                _ => None,
            })
            .collect();
        if certificates.is_empty() {
            return Err(EndpointError::Certificates);
        }
        self.roots = RootCerts::from(certificates);
        self.agent = agent(self.timeout, &self.roots);
        Ok(self)
    }

    fn explain(&self, error: ureq::Error) -> TraceReceiverError {
        let host = self.endpoint.host().to_owned();
        if is_untrusted(&error) {
            return TraceReceiverError::Untrusted { host, source: error.into() };
        }
        TraceReceiverError::Unreachable { host, source: error.into() }
    }
}

/// Follows no redirect, uses no proxy, and returns every response.
fn agent(timeout: Duration, roots: &RootCerts) -> Agent {
    let tls = TlsConfig::builder().root_certs(roots.clone()).build();
    let config = Agent::config_builder()
        .timeout_global(Some(timeout))
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .proxy(None)
        .user_agent(concat!("traj/", env!("CARGO_PKG_VERSION")))
        .tls_config(tls);
    config.build().into()
}

/// Whether TLS failed: somewhere among the causes is its error.
fn is_untrusted(error: &ureq::Error) -> bool {
    if matches!(error, ureq::Error::Rustls(_) | ureq::Error::Tls(_)) {
        return true;
    }
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(one) = cause {
        let text = one.to_string();
        if text.contains("invalid peer certificate") {
            return true;
        }
        cause = one.source();
    }
    false
}

impl TraceReceiver for HttpTraceReceiver {
    fn host(&self) -> &str {
        self.endpoint.host()
    }

    fn send(&self, request: &[u8]) -> Result<(TraceAnswer, u64), TraceReceiverError> {
        let body = compressed(request).map_err(|error| TraceReceiverError::Unreachable {
            host: self.endpoint.host().to_owned(),
            source: error.into(),
        })?;
        let mut post = self
            .agent
            .post(self.endpoint.url())
            .header(CONTENT_TYPE, "application/x-protobuf")
            .header(CONTENT_ENCODING, "gzip");
        for (name, value) in self.headers.iter() {
            post = post.header(name, value);
        }
        let mut response = post.send(&body[..]).map_err(|error| self.explain(error))?;
        let read = response.body_mut().with_config().limit(LONGEST_ANSWER).read_to_vec();
        let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
        let answer = Response {
            status: response.status().as_u16(),
            retry_after: header(RETRY_AFTER),
            date: header(DATE),
            content_type: header(CONTENT_TYPE),
            // An answer that is too long or torn still has its status.
            body: &read.unwrap_or_default(),
        };
        Ok((answer.answer(), body.len() as u64))
    }
}

fn compressed(request: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(request)?;
    encoder.finish()
}
