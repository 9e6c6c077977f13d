//! Sends the requests of the client of a store, over the same HTTP and TLS as
//! everything else in traj: no redirect is followed, no proxy is used, and
//! nothing is sent again.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use async_trait::async_trait;
use http_body_util::BodyExt as _;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
};
use ureq::Agent;
use ureq::http::{Method, Request, Response, Uri};
use ureq::tls::{RootCerts, TlsConfig};

use super::answer::Fault;

/// How long it may take to connect.
const CONNECT: Duration = Duration::from_secs(10);
/// How long the store may take to answer a complete request.
const ANSWER: Duration = Duration::from_secs(60);
/// How long the transfer of a request or of a response may take.
const TRANSFER: Duration = Duration::from_secs(5 * 60);
/// How long a request may take in all.
const WHOLE: Duration = Duration::from_secs(10 * 60);

/// The longest response that is read. Files are read whole.
const LONGEST_ANSWER: u64 = 1 << 30;

/// Connects the client of a store.
#[derive(Clone)]
pub(super) struct Connector {
    agent: Agent,
    allow_http: bool,
}

impl fmt::Debug for Connector {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Connector").field("allow_http", &self.allow_http).finish()
    }
}

impl Connector {
    /// Trusts these certificates. Waits for the usual time, or for at most
    /// `patience`. Without `allow_http`, only stores of this machine are used
    /// without encryption.
    pub(super) fn new(roots: RootCerts, patience: Option<Duration>, allow_http: bool) -> Self {
        let tls = TlsConfig::builder().root_certs(roots).build();
        let or_usual = |usual: Duration| Some(patience.map_or(usual, |time| time.min(usual)));
        let config = Agent::config_builder()
            .timeout_connect(or_usual(CONNECT))
            .timeout_resolve(or_usual(CONNECT))
            .timeout_send_request(or_usual(TRANSFER))
            .timeout_send_body(or_usual(TRANSFER))
            .timeout_recv_response(or_usual(ANSWER))
            .timeout_recv_body(or_usual(TRANSFER))
            .timeout_global(or_usual(WHOLE))
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .proxy(None)
            .user_agent(concat!("traj/", env!("CARGO_PKG_VERSION")))
            .tls_config(tls);
        Self { agent: config.build().into(), allow_http }
    }

    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        if !self.allow_http && !is_encrypted(request.uri()) {
            return Err(unknown(Fault::NotEncrypted));
        }
        let asks_for_list = is_list(request.uri());
        let (parts, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        let has_body = matches!(parts.method, Method::PUT | Method::POST);
        let answered = if has_body {
            self.agent.run(Request::from_parts(parts, &body[..]))
        } else {
            self.agent.run(Request::from_parts(parts, ()))
        };
        let answered = answered.map_err(|error| unknown(Fault::unanswered(error)))?;
        let (parts, mut body) = answered.into_parts();
        let read = body.with_config().limit(LONGEST_ANSWER).read_to_vec();
        let body = read.map_err(|error| unknown(Fault::unanswered(error)))?;
        let fault = Fault::of(parts.status, &parts.headers, &body);
        let fault = fault.or_else(|| {
            if asks_for_list && parts.status.is_success() { Fault::of_list(&body) } else { None }
        });
        match fault {
            Some(fault) => Err(unknown(fault)),
            None => Ok(Response::from_parts(parts, body.into())),
        }
    }
}

/// An error that the client passes on without a retry.
fn unknown(fault: Fault) -> HttpError {
    HttpError::new(HttpErrorKind::Unknown, fault)
}

/// Whether a request asks for a list of files.
fn is_list(uri: &Uri) -> bool {
    let mut parameters = uri.query().unwrap_or_default().split('&');
    parameters.any(|parameter| matches!(parameter, "list-type=2" | "comp=list"))
}

fn is_encrypted(uri: &Uri) -> bool {
    uri.scheme_str() == Some("https") || uri.host().is_some_and(is_this_machine)
}

fn is_this_machine(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || address.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

impl HttpConnector for Connector {
    fn connect(&self, _options: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.clone()))
    }
}

#[async_trait]
impl HttpService for Connector {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        self.send(request).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_spoken_to_without_encryption() {
        let encrypted = |uri: &str| is_encrypted(&uri.parse().unwrap());
        for uri in ["https://s3.example/b", "http://127.0.0.1:5000/b", "http://[::1]:5000/b"] {
            assert!(encrypted(uri), "{uri}");
        }
        for uri in
            ["http://s3.example/b", "http://127.0.0.1.s3.example/b", "http://169.254.169.254/"]
        {
            assert!(!encrypted(uri), "{uri}");
        }
    }
}
