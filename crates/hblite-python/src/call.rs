//! Calls that may wait: without the interpreter's lock, in the process that opened the store, and
//! with errors and panics as Python's exceptions.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use hblite::ErrorKind;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// A handle that only the process that made it may use, since the threads behind it do not exist in
/// a process that forked from it. There, it is not even dropped: that would wait for them.
#[derive(Debug)]
pub(crate) struct Owned<T: Send> {
    /// `None` only while it is dropped.
    handle: Option<T>,
    process: u32,
}

impl<T: Send> Owned<T> {
    pub(crate) fn new(handle: T) -> Self {
        Self { handle: Some(handle), process: std::process::id() }
    }

    /// The handle.
    ///
    /// # Errors
    /// `ForkedError` in another process than its own.
    pub(crate) fn get(&self, py: Python<'_>) -> PyResult<&T> {
        self.check(py)?;
        self.handle.as_ref().ok_or_else(|| dropped(py))
    }

    /// The handle, as [`Owned::get`].
    pub(crate) fn get_mut(&mut self, py: Python<'_>) -> PyResult<&mut T> {
        self.check(py)?;
        self.handle.as_mut().ok_or_else(|| dropped(py))
    }

    fn check(&self, py: Python<'_>) -> PyResult<()> {
        if self.process == std::process::id() {
            return Ok(());
        }
        let message = "this process forked after the store was opened: open one after the fork, or \
                       start processes with the method \"spawn\"";
        Err(exception(py, "Forked", None, message))
    }
}

impl<T: Send> Drop for Owned<T> {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            std::mem::forget(self.handle.take());
        } else if let Some(handle) = self.handle.take() {
            // Closing a store waits for its threads. What it reports has no reader;
            // `Database.close` is the way to see it.
            let close = || {
                drop(handle);
                Ok(())
            };
            let _ = Python::try_attach(|py| wait(py, close));
        }
    }
}

fn dropped(py: Python<'_>) -> PyErr {
    exception(py, "Closed", None, "this is closed")
}

/// Runs a call that may wait, while other threads of Python continue.
///
/// # Errors
/// The call's, as an exception of the package; `InternalError` if it panicked.
pub(crate) fn wait<T: Send>(
    py: Python<'_>,
    call: impl FnOnce() -> hblite::Result<T> + Send,
) -> PyResult<T> {
    match py.detach(|| catch_unwind(AssertUnwindSafe(call))) {
        Ok(result) => result.map_err(|error| to_exception(py, &error)),
        Err(panic) => Err(exception(py, "Internal", None, &text_of(panic.as_ref()))),
    }
}

/// What a panic said.
pub(crate) fn text_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    format!("hblite failed: {}", text.unwrap_or_default())
}

/// The exception for an error.
pub(crate) fn to_exception(py: Python<'_>, error: &hblite::Error) -> PyErr {
    let kind = match error.kind() {
        ErrorKind::InvalidArgument => "InvalidArgument",
        ErrorKind::NotFound => "NotFound",
        ErrorKind::AlreadyExists => "AlreadyExists",
        ErrorKind::WrongState => "WrongState",
        ErrorKind::NotServing => "NotServing",
        ErrorKind::Busy => "Busy",
        ErrorKind::Corrupt => "Corrupt",
        ErrorKind::Locked => "Locked",
        ErrorKind::Closed => "Closed",
        ErrorKind::Unsupported => "Unsupported",
        // Also for kinds that do not exist yet.
        _ => "Io",
    };
    exception(py, kind, Some(error.exception().class_name()), error.message())
}

/// The exception of the package whose name begins with `kind`.
fn exception(py: Python<'_>, kind: &str, class: Option<&str>, message: &str) -> PyErr {
    static ERRORS: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let errors = ERRORS.get_or_try_init(py, || py.import("hblite.errors").map(Bound::unbind));
    let made = errors.and_then(|errors| {
        let class_of = errors.bind(py).getattr(format!("{kind}Error"))?;
        class_of.call1((message, class))
    });
    made.map_or_else(|error| error, PyErr::from_value)
}
