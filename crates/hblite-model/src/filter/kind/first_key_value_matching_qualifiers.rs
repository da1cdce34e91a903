//! `FirstKeyValueMatchingQualifiersFilter`: the cells of each row up to the first with one of the
//! qualifiers.

use std::fmt;

use super::first_key_only::Evaluator;
use super::{Filter, Kind};
use crate::filter::state::{Evaluate, Evaluators};

/// The cells of each row up to and including the first with one of the qualifiers.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FirstKeyValueMatchingQualifiersFilter {
    /// The qualifiers, ascending and distinct.
    pub qualifiers: Vec<Vec<u8>>,
}

impl Filter {
    /// The cells up to the first with one of the qualifiers
    /// (`FirstKeyValueMatchingQualifiersFilter`).
    pub fn first_key_value_matching_qualifiers<Q: Into<Vec<u8>>>(
        qualifiers: impl IntoIterator<Item = Q>,
    ) -> Self {
        let mut qualifiers: Vec<Vec<u8>> = qualifiers.into_iter().map(Into::into).collect();
        qualifiers.sort_unstable();
        qualifiers.dedup();
        Self::FirstKeyValueMatchingQualifiers(FirstKeyValueMatchingQualifiersFilter { qualifiers })
    }
}

impl Kind for FirstKeyValueMatchingQualifiersFilter {
    fn evaluator(&self, _: &mut Evaluators) -> Box<dyn Evaluate> {
        Box::new(Evaluator::matching(self.qualifiers.clone()))
    }
}

impl fmt::Display for FirstKeyValueMatchingQualifiersFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FirstKeyValueMatchingQualifiersFilter")
    }
}
