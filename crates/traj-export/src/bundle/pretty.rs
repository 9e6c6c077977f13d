//! Writes a JSON object member by member, without building it in memory.

use traj_core::constant_text;
use traj_core::json::Json;
use traj_core::port::BundleSinkError;
use traj_core::redaction::{ConstantText, Redacted, RedactedText};

use crate::bundle::output::FileOutput;

/// Writes an object, indented by two spaces.
pub(crate) struct PrettyObject {
    output: FileOutput,
    is_empty: bool,
}

impl PrettyObject {
    pub(crate) fn begin(mut output: FileOutput) -> Result<Self, BundleSinkError> {
        constant(&mut output, constant_text!("{"))?;
        Ok(Self { output, is_empty: true })
    }

    /// Writes a member.
    pub(crate) fn member(
        &mut self,
        name: ConstantText,
        value: Redacted<&Json<'_>>,
    ) -> Result<(), BundleSinkError> {
        let mut text = self.lead(name);
        text.push_pretty(value, 1);
        self.output.append(&text.finish())
    }

    /// Writes a member that is already rendered on one line.
    pub(crate) fn rendered(
        &mut self,
        name: ConstantText,
        value: &Redacted<String>,
    ) -> Result<(), BundleSinkError> {
        let mut text = self.lead(name);
        text.push_text(value);
        self.output.append(&text.finish())
    }

    /// Starts a member that is an array.
    pub(crate) fn array(mut self, name: ConstantText) -> Result<PrettyArray, BundleSinkError> {
        let mut text = self.lead(name);
        text.push_constant(constant_text!("["));
        self.output.append(&text.finish())?;
        Ok(PrettyArray { object: self, is_empty: true })
    }

    pub(crate) fn end(mut self) -> Result<FileOutput, BundleSinkError> {
        let [empty, end] = constant_text!(["}\n", "\n}\n"]);
        constant(&mut self.output, if self.is_empty { empty } else { end })?;
        Ok(self.output)
    }

    fn lead(&mut self, name: ConstantText) -> RedactedText {
        let mut text = RedactedText::new();
        let [first, next] = constant_text!(["\n  \"", ",\n  \""]);
        text.push_constant(if self.is_empty { first } else { next });
        text.push_constant(name).push_constant(constant_text!("\": "));
        self.is_empty = false;
        text
    }
}

/// Writes the items of an array that is a member of an object.
pub(crate) struct PrettyArray {
    object: PrettyObject,
    is_empty: bool,
}

impl PrettyArray {
    /// The separator of two items.
    pub(crate) const BETWEEN: ConstantText = constant_text!(",\n    ");

    /// Writes items that are already rendered, with their separators.
    pub(crate) fn items(&mut self, items: &Redacted<String>) -> Result<(), BundleSinkError> {
        let output = &mut self.object.output;
        constant(output, if self.is_empty { constant_text!("\n    ") } else { Self::BETWEEN })?;
        self.is_empty = false;
        output.append(items)
    }

    /// Ends the array and returns to the object.
    pub(crate) fn end(mut self) -> Result<PrettyObject, BundleSinkError> {
        let [empty, end] = constant_text!(["]", "\n  ]"]);
        constant(&mut self.object.output, if self.is_empty { empty } else { end })?;
        Ok(self.object)
    }
}

fn constant(output: &mut FileOutput, text: ConstantText) -> Result<(), BundleSinkError> {
    let mut constant = RedactedText::new();
    constant.push_constant(text);
    output.append(&constant.finish())
}
