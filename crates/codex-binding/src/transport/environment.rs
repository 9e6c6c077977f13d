//! The environment of the child: an allow-list of variables, and those that the caller adds.

/// The variables that are passed to the child: user, locations, network access, no secrets.
const PASSED: [&str; 36] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "LC_MESSAGES",
    "LC_TIME",
    "LC_COLLATE",
    "TERM",
    "COLORTERM",
    "TZ",
    "TMPDIR",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_CACHE_HOME",
    "XDG_STATE_HOME",
    "XDG_RUNTIME_DIR",
    "CODEX_HOME",
    "CODEX_CA_CERTIFICATE",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "HTTP_PROXY",
    "http_proxy",
    "HTTPS_PROXY",
    "https_proxy",
    "ALL_PROXY",
    "all_proxy",
    "NO_PROXY",
    "no_proxy",
    "RUST_LOG",
    "SYSTEMROOT",
];

/// The child's environment: the allowed variables of `host`, overridden by `added`.
///
/// Add the API key of a model provider explicitly, by name.
pub fn child_environment<'a>(
    host: impl Fn(&str) -> Option<String>,
    added: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Vec<(String, String)> {
    let mut out: Vec<(String, String)> =
        PASSED.iter().filter_map(|name| Some(((*name).to_owned(), host(name)?))).collect();
    for (name, value) in added {
        let is_name = !name.is_empty() && !name.contains(['=', '\0']) && !value.contains('\0');
        if is_name {
            out.retain(|(known, _)| known != name);
            out.push((name.to_owned(), value.to_owned()));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scenario 81: variables that are not in the allow-list are not passed on.
    #[test]
    fn only_named_variables_reach_the_child() {
        let host = |name: &str| match name {
            "PATH" | "HOME" | "CODEX_HOME" | "HTTPS_PROXY" => Some(format!("host {name}")),
            "OPENAI_API_KEY" | "CODEX_API_KEY" | "LD_PRELOAD" | "NODE_OPTIONS" => {
                Some("never".to_owned())
            }
            _ => None,
        };
        let environment =
            child_environment(host, [("CODEX_HOME", "/mine"), ("MOCK_KEY", "k"), ("bad=", "x")]);
        let names: Vec<String> =
            environment.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(
            names,
            [
                "PATH=host PATH",
                "HOME=host HOME",
                "HTTPS_PROXY=host HTTPS_PROXY",
                "CODEX_HOME=/mine",
                "MOCK_KEY=k"
            ]
        );
    }
}
