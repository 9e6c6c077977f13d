//! Tables in JSON: a list of column names, and a list of rows.

use super::DocumentPass;
use crate::json::{Json, Object};
use crate::redaction::field_name::NameClass;

/// Maximum number of columns of a table.
const MAX_COLUMNS: usize = 256;

/// Whether a member with this name may list the columns of a table.
pub(super) fn names_columns(name: &str) -> bool {
    matches!(
        name,
        "columns" | "fields" | "headers" | "header" | "cols" | "columnNames" | "column_names"
    )
}

fn holds_rows(name: &str) -> bool {
    matches!(
        name,
        "rows" | "data" | "values" | "records" | "results" | "tuples" | "dataset" | "items"
    )
}

impl DocumentPass<'_> {
    /// Redacts the cells of the rows by the names of their columns:
    /// `{"columns":["id","password"],"rows":[[1,…]]}`.
    pub(super) fn columns(&mut self, object: &mut Object<'_>) {
        let names = self.finder.engine.names();
        let classes: Vec<NameClass> = object
            .iter()
            .filter(|(name, _)| names_columns(name))
            .filter_map(|(_, value)| match value {
                Json::Array(items) if items.len() <= MAX_COLUMNS => Some(items),
                _ => None,
            })
            .map(|items| {
                let class = |item: &Json<'_>| {
                    column_name(item).map_or(NameClass::Plain, |name| names.class_of_member(name))
                };
                items.iter().map(class).collect()
            })
            .find(|classes: &Vec<_>| classes.iter().any(|class| *class != NameClass::Plain))
            .unwrap_or_default();
        if classes.is_empty() {
            return;
        }
        for (name, value) in object.iter_mut() {
            let Json::Array(rows) = value else { continue };
            if !holds_rows(name) {
                continue;
            }
            let mark = self.push_step(name);
            for row in rows {
                self.row(row, &classes);
            }
            self.path.truncate(mark);
        }
    }

    fn row(&mut self, row: &mut Json<'_>, classes: &[NameClass]) {
        let Json::Array(cells) = row else { return };
        if cells.len() != classes.len() {
            return;
        }
        let mark = self.path.len();
        self.path.push_str("/*/*");
        for (cell, class) in cells.iter_mut().zip(classes) {
            // Lists and objects are walked once, later: walked twice on every level,
            // nested tables would take exponential time.
            let is_leaf = matches!(cell, Json::String(_) | Json::Number(_));
            if is_leaf && *class != NameClass::Plain {
                self.value(cell, *class);
            }
        }
        self.path.truncate(mark);
    }
}

/// The name of a column: a string, or the name in an object.
fn column_name<'j>(item: &'j Json<'_>) -> Option<&'j str> {
    match item {
        Json::String(name) => Some(name),
        Json::Object(object) => ["name", "field", "key", "label"]
            .into_iter()
            .find_map(|member| object.get(member).and_then(Json::as_str)),
        _ => None,
    }
}
