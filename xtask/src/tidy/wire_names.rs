//! Only the module `protocol` of codex-binding knows the JSON of the app-server.

use super::interpreters::{code, is_test_file, literals};

const CRATE: &str = "crates/codex-binding/src/";

/// The modules that know the server's JSON, and JSON-RPC itself.
const ROOMS: [&str; 2] = ["protocol", "rpc"];

/// What the names of methods begin with.
const METHODS: [&str; 4] = ["thread/", "turn/", "item/", "initialize"];

/// Code that reads a member by its name.
const READS: &str = ".get(\"";

/// Reports names of methods and members in a source of the crate outside `ROOMS`.
pub(super) fn check(path: &str, text: &str) -> Vec<String> {
    let Some(file) = path.strip_prefix(CRATE) else { return Vec::new() };
    let is_room =
        |room: &str| file.strip_prefix(room).is_some_and(|rest| rest.starts_with(['/', '.']));
    if ROOMS.into_iter().any(is_room) || is_test_file(path) {
        return Vec::new();
    }
    let names = |line: &str| {
        literals(line).any(|literal| METHODS.iter().any(|start| literal.starts_with(start)))
    };
    code(text)
        .filter(|(_, line)| line.contains(READS) || names(line))
        .map(|(number, _)| format!("{path}:{number}: only protocol may name the server's JSON"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_server_outside_the_protocol_are_found() {
        let method = "    self.call(\"turn/start\", params).await\n";
        let member = "    let id = answer.get(\"turn\");\n";
        let count = |path: &str, text: &str| check(path, text).len();
        for path in ["client.rs", "client/app_server.rs", "protocols.rs"] {
            let path = format!("{CRATE}{path}");
            assert_eq!(count(&path, &format!("{method}{member}")), 2, "{path}");
        }
        for path in ["protocol.rs", "protocol/turn.rs", "rpc/frame.rs", "client/tests.rs"] {
            assert_eq!(count(&format!("{CRATE}{path}"), method), 0, "{path}");
        }
        assert_eq!(count("crates/traj-core/src/memory/app_server.rs", method), 0);
        let test = format!("#[cfg(test)]\nmod tests {{\n{method}}}\n");
        assert_eq!(count(&format!("{CRATE}client.rs"), &test), 0);
    }
}
