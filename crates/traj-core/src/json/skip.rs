//! Checks and skips a container without building it: takes one byte of memory
//! per open level, whatever the content.

use super::parse::{ParseError, Parser};

/// The kinds of container that can be open.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ContainerKind {
    Array,
    Object,
}

/// Skips the container that starts here, checking it as if it were parsed.
pub(super) fn container(parser: &mut Parser<'_>) -> Result<(), ParseError> {
    let mut open: Vec<ContainerKind> = Vec::new();
    loop {
        // A value starts here.
        parser.skip_blanks();
        let complete = if parser.take(b'[') {
            parser.skip_blanks();
            let empty = parser.take(b']');
            if !empty {
                open.push(ContainerKind::Array);
            }
            empty
        } else if parser.take(b'{') {
            parser.skip_blanks();
            let empty = parser.take(b'}');
            if !empty {
                member_name(parser)?;
                open.push(ContainerKind::Object);
            }
            empty
        } else if parser.peek() == Some(b'"') {
            parser.skip_text()?;
            true
        } else {
            parser.scalar()?;
            true
        };
        if complete && close(parser, &mut open)? {
            return Ok(());
        }
    }
}

/// Closes the containers that end after a value; true when none is open.
fn close(parser: &mut Parser<'_>, open: &mut Vec<ContainerKind>) -> Result<bool, ParseError> {
    while let Some(kind) = open.last().copied() {
        parser.skip_blanks();
        if parser.take(b',') {
            if kind == ContainerKind::Object {
                parser.skip_blanks();
                member_name(parser)?;
            }
            return Ok(false);
        }
        parser.expect(if kind == ContainerKind::Array { b']' } else { b'}' })?;
        open.pop();
    }
    Ok(true)
}

/// Skips `"name" :`.
fn member_name(parser: &mut Parser<'_>) -> Result<(), ParseError> {
    parser.skip_text()?;
    parser.skip_blanks();
    parser.expect(b':')
}
