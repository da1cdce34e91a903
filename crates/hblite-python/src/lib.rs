//! The module `hblite._native` of the Python package in `kits/python`: stores and tables as Python
//! classes.
//!
//! - `database`, `table`, `scanner`, `batch` and `clock` are the classes
//! - `data` turns Python's objects into operations, and rows into Python's objects; `writes` and
//!   `schema` have writes, and tables with families
//! - `arrow` has scans as tables of Arrow
//! - `call` runs what may wait, without the interpreter's lock
//! - `thrift` answers happybase's calls
//!
//! Panics become exceptions, and a process that forked gets an error.

#![forbid(unsafe_code)]

mod arrow;
mod batch;
mod call;
mod clock;
mod data;
mod database;
mod scanner;
mod schema;
mod table;
mod thrift;
mod writes;

use pyo3::prelude::*;

use self::database::Database;

/// The native part of hblite. Programs import `hblite`.
#[pymodule]
#[pyo3(name = "_native")]
fn native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Database>()?;
    module.add_class::<table::Table>()?;
    module.add_class::<scanner::Scanner>()?;
    module.add_class::<batch::Batch>()?;
    module.add_class::<clock::Clock>()?;
    module.add_class::<thrift::ThriftChannel>()?;
    module.add_function(wrap_pyfunction!(database::open, module)?)?;
    module.add_function(wrap_pyfunction!(database::memory, module)?)?;
    module.add_function(wrap_pyfunction!(database::connect, module)?)
}
