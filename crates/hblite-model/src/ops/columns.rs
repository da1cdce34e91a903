//! Which columns a read selects.

use std::collections::{BTreeMap, BTreeSet};

/// Families and, optionally, single columns. An empty selection means everything.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ColumnSelection(BTreeMap<Vec<u8>, Qualifiers>);

/// The selected columns of one family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Qualifiers {
    /// All columns.
    All,
    /// These columns, in order.
    Some(BTreeSet<Vec<u8>>),
}

impl ColumnSelection {
    /// Whether everything is selected.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Selects a whole family instead of single columns of it.
    pub fn add_family(&mut self, family: &[u8]) {
        self.0.insert(family.to_vec(), Qualifiers::All);
    }

    /// Selects a column. If the whole family was selected, only this column is selected from then
    /// on, as with HBase's `addColumn`.
    pub fn add_column(&mut self, family: &[u8], qualifier: &[u8]) {
        match self.0.get_mut(family) {
            Some(Qualifiers::Some(qualifiers)) => {
                qualifiers.insert(qualifier.to_vec());
            }
            _ => {
                let qualifiers = BTreeSet::from([qualifier.to_vec()]);
                self.0.insert(family.to_vec(), Qualifiers::Some(qualifiers));
            }
        }
    }

    /// The selection in `family`; `None` if there is none.
    pub fn get(&self, family: &[u8]) -> Option<&Qualifiers> {
        if self.0.is_empty() { Some(&Qualifiers::All) } else { self.0.get(family) }
    }

    /// The selected families in order; none if everything is selected.
    pub fn families(&self) -> impl Iterator<Item = (&[u8], &Qualifiers)> {
        self.0.iter().map(|(family, qualifiers)| (family.as_slice(), qualifiers))
    }
}
