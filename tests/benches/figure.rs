//! A measured figure, its target, and its output.

use std::path::Path;

use serde_json::json;

/// One named number with its unit.
#[derive(Debug)]
pub(crate) struct Figure {
    name: String,
    value: f64,
    unit: &'static str,
    reach: Option<Reach>,
}

#[derive(Debug, Clone, Copy)]
enum Reach {
    AtLeast(f64),
    AtMost(f64),
}

impl Figure {
    pub(crate) fn new(name: impl Into<String>, value: f64, unit: &'static str) -> Self {
        Self { name: name.into(), value, unit, reach: None }
    }

    /// `numerator / denominator`, both measured in this run.
    pub(crate) fn ratio(name: impl Into<String>, numerator: f64, denominator: f64) -> Self {
        Self::new(name, numerator / denominator, "x")
    }

    /// Sets the target: the figure must not be smaller.
    pub(crate) fn at_least(mut self, bound: f64) -> Self {
        self.reach = Some(Reach::AtLeast(bound));
        self
    }

    /// Sets the target: the figure must not be larger.
    pub(crate) fn at_most(mut self, bound: f64) -> Self {
        self.reach = Some(Reach::AtMost(bound));
        self
    }

    /// Whether the target, if there is one, is met.
    pub(crate) fn is_met(&self) -> bool {
        match self.reach {
            None => true,
            Some(Reach::AtLeast(bound)) => self.value >= bound,
            Some(Reach::AtMost(bound)) => self.value <= bound,
        }
    }

    fn reach_text(&self) -> String {
        match self.reach {
            None => String::new(),
            Some(Reach::AtLeast(bound)) => format!("at least {bound}"),
            Some(Reach::AtMost(bound)) => format!("at most {bound}"),
        }
    }

    fn to_json(&self) -> serde_json::Value {
        let (at_least, at_most) = match self.reach {
            None => (None, None),
            Some(Reach::AtLeast(bound)) => (Some(bound), None),
            Some(Reach::AtMost(bound)) => (None, Some(bound)),
        };
        json!({
            "name": self.name,
            "value": self.value,
            "unit": self.unit,
            "atLeast": at_least,
            "atMost": at_most,
            "met": self.is_met(),
        })
    }
}

/// Prints the figures of one subject as a table. A smoke run ignores targets.
pub(crate) fn print(subject: &str, smoke: bool, figures: &[Figure]) {
    println!("\n{subject}{}", if smoke { " (smoke run: figures do not count)" } else { "" });
    let width = figures.iter().map(|figure| figure.name.chars().count()).max().unwrap_or_default();
    for figure in figures {
        let verdict = match (figure.reach, figure.is_met()) {
            (None, _) => "",
            (Some(_), _) if smoke => "",
            (Some(_), true) => "ok    ",
            (Some(_), false) => "MISSED",
        };
        let line = format!(
            "  {:width$}  {:>12.3} {:<8} {verdict} {}",
            figure.name,
            figure.value,
            figure.unit,
            figure.reach_text(),
        );
        println!("{}", line.trim_end());
    }
}

/// Writes `SUBJECT.json` into the directory.
pub(crate) fn write(
    folder: &Path,
    subject: &str,
    smoke: bool,
    figures: &[Figure],
) -> std::io::Result<()> {
    let document = json!({
        "schema": "traj-bench",
        "schemaVersion": 1,
        "subject": subject,
        "smoke": smoke,
        "figures": figures.iter().map(Figure::to_json).collect::<Vec<_>>(),
    });
    let mut text = serde_json::to_string_pretty(&document)?;
    text.push('\n');
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join(format!("{subject}.json")), text)
}
