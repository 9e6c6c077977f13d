//! The structure of rows, for code that changes them in place: trimming and
//! repair. Which rows state which facts is up to the decoders.

pub(crate) mod call;
pub(crate) mod image;
pub(crate) mod message;
pub(crate) mod row;

use crate::json::Json;

fn text<'j>(value: &'j Json<'_>, name: &str) -> Option<&'j str> {
    value.get(name).and_then(Json::as_str)
}
