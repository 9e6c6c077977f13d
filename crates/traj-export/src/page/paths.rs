//! Where in a row a text is: the way from the row to the node that a fact
//! borrows, found by identity.

use std::collections::HashMap;

use serde::ser::{Serialize, SerializeMap as _, Serializer};
use traj_core::json::Json;
use traj_core::run::{Arguments, Content};

/// Texts are not looked for below this depth.
const DEEPEST: usize = 12;

/// At most this many paths get a number.
const MOST_PATHS: usize = u16::MAX as usize;

/// How many known paths are tried before a row is searched.
const TRIED: usize = 32;

/// One step on the way to a text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum PathStep {
    Name(String),
    Index(usize),
    /// The string is JSON; the path continues inside it.
    Json,
}

impl Serialize for PathStep {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Name(name) => serializer.serialize_str(name),
            Self::Index(index) => serializer.serialize_u64(*index as u64),
            Self::Json => {
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry("json", &true)?;
                map.end()
            }
        }
    }
}

/// A node of a row.
#[derive(Clone, Copy, Debug)]
pub(super) enum Node<'r> {
    Value(&'r Json<'r>),
    Text(&'r str),
}

impl<'r> Node<'r> {
    pub(super) fn of_content(content: &Content<'r>) -> Option<Self> {
        match *content {
            Content::Text(text) => Some(Self::Text(text)),
            Content::Value(value) => Some(Self::Value(value)),
            _ => None,
        }
    }

    pub(super) const fn of_arguments(arguments: &Arguments<'r>) -> Option<Self> {
        match *arguments {
            Arguments::Text(text) => Some(Self::Text(text)),
            Arguments::Value(value) => Some(Self::Value(value)),
            _ => None,
        }
    }

    fn is(self, other: &Json<'_>) -> bool {
        match (self, other) {
            (Self::Value(value), other) => std::ptr::eq(
                std::ptr::from_ref(value).cast::<()>(),
                std::ptr::from_ref(other).cast(),
            ),
            // Where an empty text lies says nothing.
            (Self::Text(text), Json::String(other)) => {
                !text.is_empty() && text.len() == other.len() && text.as_ptr() == other.as_ptr()
            }
            _ => false,
        }
    }
}

/// Paths, each with a number. Number 0 is the row itself.
#[derive(Debug)]
pub(super) struct PathTable {
    paths: Vec<Vec<PathStep>>,
    numbers: HashMap<Vec<PathStep>, u16>,
}

impl Default for PathTable {
    fn default() -> Self {
        Self { paths: vec![Vec::new()], numbers: HashMap::from([(Vec::new(), 0)]) }
    }
}

impl PathTable {
    /// All paths, by number.
    pub(super) fn all(&self) -> &[Vec<PathStep>] {
        &self.paths
    }

    /// The number of the path to a node; 0 if it cannot be found.
    pub(super) fn find(&mut self, row: &Json<'_>, node: Option<Node<'_>>) -> u16 {
        let Some(node) = node else { return 0 };
        let known = self.paths.iter().take(TRIED).position(|path| leads_to(path, row, node));
        if let Some(number) = known {
            return u16::try_from(number).unwrap_or_default();
        }
        let mut path = Vec::new();
        if search(row, node, &mut path, DEEPEST) { self.number(path) } else { 0 }
    }

    /// The number of a path that continues another one; 0 if there are too
    /// many.
    pub(super) fn below(&mut self, path: u16, steps: impl IntoIterator<Item = PathStep>) -> u16 {
        let Some(mut path) = self.paths.get(usize::from(path)).cloned() else { return 0 };
        path.extend(steps);
        self.number(path)
    }

    fn number(&mut self, path: Vec<PathStep>) -> u16 {
        if let Some(number) = self.numbers.get(&path) {
            return *number;
        }
        let Some(number) = u16::try_from(self.paths.len()).ok().filter(|_| self.has_room()) else {
            return 0;
        };
        self.numbers.insert(path.clone(), number);
        self.paths.push(path);
        number
    }

    const fn has_room(&self) -> bool {
        self.paths.len() < MOST_PATHS
    }
}

fn leads_to(path: &[PathStep], row: &Json<'_>, node: Node<'_>) -> bool {
    let mut place = row;
    for step in path {
        let next = match step {
            PathStep::Name(name) => place.get(name),
            PathStep::Index(index) => place.as_array().and_then(|items| items.get(*index)),
            PathStep::Json => None,
        };
        let Some(next) = next else { return false };
        place = next;
    }
    node.is(place)
}

/// Searches a value; leaves the way to the node in `path`.
fn search(value: &Json<'_>, node: Node<'_>, path: &mut Vec<PathStep>, depth: usize) -> bool {
    if node.is(value) {
        return true;
    }
    if depth == 0 {
        return false;
    }
    match value {
        Json::Array(items) => items.iter().enumerate().any(|(index, item)| {
            path.push(PathStep::Index(index));
            let is_found = search(item, node, path, depth - 1);
            if !is_found {
                path.pop();
            }
            is_found
        }),
        Json::Object(object) => object.iter().any(|(name, member)| {
            path.push(PathStep::Name(name.to_owned()));
            // Of members with the same name, readers see the last one.
            let is_seen = object.get(name).is_some_and(|seen| std::ptr::eq(seen, member));
            let is_found = is_seen && search(member, node, path, depth - 1);
            if !is_found {
                path.pop();
            }
            is_found
        }),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path_of(table: &mut PathTable, row: &Json<'_>, node: Node<'_>) -> String {
        let number = table.find(row, Some(node));
        serde_json::to_string(&table.all()[usize::from(number)]).unwrap()
    }

    #[test]
    fn a_text_is_found_by_identity_and_not_by_its_words() {
        let text = r#"{"a":"same","b":[{"x":1},{"text":"same"}],"c":"same","c":"same"}"#;
        let row = Json::parse(text).unwrap();
        let mut table = PathTable::default();
        let inner = row.get("b").unwrap().as_array().unwrap()[1].get("text").unwrap();
        let found = path_of(&mut table, &row, Node::Text(inner.as_str().unwrap()));
        assert_eq!(found, r#"["b",1,"text"]"#);
        assert_eq!(path_of(&mut table, &row, Node::Value(row.get("a").unwrap())), r#"["a"]"#);
        let last = row.get("c").unwrap();
        assert_eq!(path_of(&mut table, &row, Node::Value(last)), r#"["c"]"#);
        assert_eq!(path_of(&mut table, &row, Node::Text("same")), "[]", "it is another text");
        assert_eq!(path_of(&mut table, &row, Node::Value(&row)), "[]");
    }

    #[test]
    fn a_path_continues_inside_a_string() {
        let row = Json::parse(r#"{"arguments":"{\"cmd\":\"ls\"}"}"#).unwrap();
        let mut table = PathTable::default();
        let arguments = table.find(&row, row.get("arguments").map(Node::Value));
        let command = table.below(arguments, [PathStep::Json, PathStep::Name("cmd".to_owned())]);
        let path = serde_json::to_string(&table.all()[usize::from(command)]).unwrap();
        assert_eq!(path, r#"["arguments",{"json":true},"cmd"]"#);
    }
}
