//! A scan of the embedded engine that ends with an error when the store is rewound.
//!
//! Its rows are those of the state before the rewind, which is gone. Scanners of a server end in
//! the same way.
//!
//! Threads: not shared; each scan owns one.

use std::sync::Arc;

use hblite_engine::{TableScanner, Timeline};
use hblite_model::{Error, Exception, Result};

/// A scan of a store that can be rewound.
#[derive(Debug)]
pub(crate) struct EmbeddedScanner {
    scanner: TableScanner,
    timeline: Arc<Timeline>,
    /// The generation of the store that the scan reads.
    generation: u64,
}

impl EmbeddedScanner {
    pub(crate) fn new(scanner: TableScanner, timeline: Arc<Timeline>, generation: u64) -> Self {
        Self { scanner, timeline, generation }
    }

    /// The scanner, if the store was not rewound since it was opened.
    ///
    /// # Errors
    /// `UnknownScanner`.
    #[inline]
    pub(crate) fn now(&mut self) -> Result<&mut TableScanner> {
        if self.timeline.generation() == self.generation {
            return Ok(&mut self.scanner);
        }
        let message = "the store was rewound after the scan began; open a new scanner";
        Err(Error::new(Exception::UnknownScanner, message))
    }
}
