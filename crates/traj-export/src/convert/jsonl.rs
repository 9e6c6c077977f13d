//! Tool calls as JSON Lines: one object per call, for `jq`.

use std::io::{self, Write as _};

use traj_core::json::Object;

use super::call_rows::{CallRow, Cell};
use super::losses::Losses;
use super::pieces::Piece;
use super::survey::Survey;
use super::{Converter, Output, Wants};

pub(super) struct JsonlCalls<'w> {
    out: Output<'w>,
    session: String,
    rows: u64,
}

impl<'w> JsonlCalls<'w> {
    pub(super) const fn new(out: Output<'w>) -> Self {
        Self { out, session: String::new(), rows: 0 }
    }
}

impl Converter for JsonlCalls<'_> {
    fn wants(&self) -> Wants {
        Wants::Pieces
    }

    fn begin(&mut self, survey: &Survey) -> io::Result<()> {
        self.session.clone_from(&survey.session);
        Ok(())
    }

    fn piece(&mut self, piece: Piece, _losses: &mut Losses) -> io::Result<()> {
        let Piece::Message(message) = piece else { return Ok(()) };
        for row in CallRow::of(&self.session, &message) {
            let mut object = Object::with_capacity(CallRow::COLUMNS.len());
            for (name, cell) in CallRow::COLUMNS.into_iter().zip(row.cells()) {
                if cell != Cell::Empty {
                    object.push(name, cell.to_json());
                }
            }
            let mut line = traj_core::json::Json::Object(object).to_line();
            if !line.ends_with('\n') {
                line.push('\n');
            }
            self.out.write_all(line.as_bytes())?;
            self.rows += 1;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<u64> {
        self.out.flush()?;
        Ok(self.rows)
    }
}
