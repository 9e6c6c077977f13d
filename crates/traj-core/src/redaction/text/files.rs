//! Files whose layout shows where a secret is, whatever it is called.
//!
//! - `manifest`: the values of a Kubernetes secret in YAML;
//! - `copy`: the rows of a PostgreSQL dump.
//!
//! Each reader starts at a keyword, reads a bounded range around it once, and
//! notes how far it came, so that no part is read again.

mod copy;
mod manifest;

use super::context::ContextScan;

pub(super) use copy::read as read_copy;
pub(super) use manifest::read as read_manifest;

/// How far the readers came.
#[derive(Debug, Default)]
pub(super) struct FilesRead {
    manifest_end: usize,
    copy_end: usize,
}

/// Whether `identified by` at `start..end` is prose: SQL names a user before it.
pub(super) fn is_prose(scan: &ContextScan<'_>, start: usize, end: usize) -> bool {
    const LONGEST: usize = 240;
    if !scan.slice(start, end).to_ascii_lowercase().starts_with(b"identified") {
        return false;
    }
    let before = scan.slice(start.saturating_sub(LONGEST), start).to_ascii_lowercase();
    ![&b"user"[..], b"grant", b"role", b"login", b"alter", b"create"]
        .iter()
        .any(|word| memchr::memmem::find(&before, word).is_some())
}

/// Whether `place` is inside the name of a cloud resource:
/// `arn:aws:secretsmanager:…:secret:db-a1b2c3`.
pub(super) fn is_in_arn(scan: &ContextScan<'_>, place: usize) -> bool {
    const LONGEST: usize = 128;
    if scan.byte(place.wrapping_sub(1)) != b':' {
        return false;
    }
    let before = scan.slice(place.saturating_sub(LONGEST), place);
    let is_break =
        |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b'=' | b',');
    let start = before.iter().rposition(is_break).map_or(0, |found| found + 1);
    before[start..].starts_with(b"arn:")
}

#[cfg(test)]
mod tests {
    use crate::redaction::{MarkerKey, RedactionPolicy, RedactionReport, Redactor};

    fn redacted(text: &str) -> String {
        let redactor = Redactor::new(RedactionPolicy::standard(MarkerKey::new([7; 32])));
        let once = redactor.text(text, &mut RedactionReport::new()).into_inner().into_owned();
        let again = redactor.text(&once, &mut RedactionReport::new()).into_inner().into_owned();
        assert_eq!(once, again, "redacting twice changes nothing");
        once
    }

    #[test]
    fn values_of_a_kubernetes_secret_are_hidden_under_any_key() {
        for kind in ["kind: Secret", "kind: \"Secret\""] {
            let text = format!(
                "apiVersion: v1\n{kind}\nmetadata:\n  name: web-settings\ndata:\n  extra: bWFwbGU3Nw==\n  tls.crt: \"Z3Jhbml0ZTE=\"\nstringData:\n  plain: maple-77\n  file.ini: |\n    a = b\n    c = maple-77\ntype: Opaque\n"
            );
            let hidden = redacted(&text);
            for secret in ["bWFwbGU3Nw", "Z3Jhbml0ZTE", "maple-77"] {
                assert!(!hidden.contains(secret), "{hidden}");
            }
            for kept in ["name: web-settings", "  extra: <redacted:", "type: Opaque", "file.ini: |"]
            {
                assert!(hidden.contains(kept), "{hidden}");
            }
        }
        let map = "kind: ConfigMap\ndata:\n  extra: bWFwbGU3Nw==\n---\nkind: Secret\nmetadata:\n  name: x\n";
        assert_eq!(redacted(map), map);
    }

    #[test]
    fn columns_of_a_database_dump_are_hidden() {
        let text = "COPY public.users (id, email, password_hash, note) FROM stdin;\n1\tann@acme.io\tmaple77wood\tfirst\n2\tbob@acme.io\t\\N\tsecond\n\\.\n3\tx\ty\tz\n";
        let hidden = redacted(text);
        assert!(!hidden.contains("maple77wood"), "{hidden}");
        assert!(
            hidden.contains("\tfirst\n2\tbob@acme.io\t\\N\tsecond\n\\.\n3\tx\ty\tz\n"),
            "{hidden}"
        );
        let text = "COPY shop.items (id, name) FROM stdin;\n1\tmaple77wood\n\\.\n";
        assert_eq!(redacted(text), text);
    }
}
