//! Calls of happybase, which speaks HBase's Thrift.

use hblite::Connection;
use hblite_thrift::{InProcess, ThriftVersion};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::call::{Owned, wait};

/// Answers messages of HBase's Thrift 1 from a store: for `hblite.happybase`.
#[pyclass(module = "hblite", frozen)]
#[derive(Debug)]
pub(crate) struct ThriftChannel {
    gateway: Owned<InProcess>,
}

impl ThriftChannel {
    pub(crate) fn new(connection: &Connection) -> Self {
        Self { gateway: Owned::new(InProcess::new(connection, ThriftVersion::One)) }
    }
}

#[pymethods]
impl ThriftChannel {
    /// Answers a call.
    fn answer<'py>(&self, py: Python<'py>, message: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let gateway = self.gateway.get(py)?;
        let answer: Vec<u8> = wait(py, || Ok(gateway.answer(message)))?;
        Ok(PyBytes::new(py, &answer))
    }
}
