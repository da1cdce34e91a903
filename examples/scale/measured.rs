//! Figures by name, passed from phases as lines `name=value`.

use std::collections::BTreeMap;

/// Figures of all phases.
#[derive(Debug, Default)]
pub(crate) struct Measured(BTreeMap<String, f64>);

impl Measured {
    /// Parses a line from a phase; `false` if it is not a figure.
    pub(crate) fn take(&mut self, line: &str) -> bool {
        let Some((name, value)) = line.split_once('=') else { return false };
        let Ok(value) = value.parse() else { return false };
        self.0.insert(name.to_owned(), value);
        true
    }

    /// A figure; NaN if it was not measured.
    pub(crate) fn get(&self, name: &str) -> f64 {
        self.0.get(name).copied().unwrap_or(f64::NAN)
    }
}
