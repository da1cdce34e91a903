//! The clock of a store.

use hblite::{Clock as _, ClockMode, Connection, SystemClock};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::call::{Owned, wait};

/// The clock of an embedded store: timestamps and times to live follow it.
///
/// It shows the real time until it is stopped, or runs independently. Then it can be set and
/// advanced.
///
/// >>> import hblite
/// >>> db = hblite.memory()
/// >>> db.create_table("t", {"f": dict(ttl=60)})
/// >>> db["t"].put("r", {"f:q": "v"})
/// >>> db.clock.stop()
/// >>> db.clock.advance(hours=1)
/// >>> db["t"].get("r")
/// {}
/// >>> db.close()
#[pyclass(module = "hblite", frozen)]
#[derive(Debug)]
pub(crate) struct Clock {
    connection: Owned<Connection>,
}

impl Clock {
    pub(crate) fn new(connection: Connection) -> Self {
        Self { connection: Owned::new(connection) }
    }

    fn change(
        &self,
        py: Python<'_>,
        mode: impl FnOnce(&Connection) -> hblite::Result<ClockMode> + Send,
    ) -> PyResult<()> {
        let connection = self.connection.get(py)?;
        wait(py, || connection.set_clock(mode(connection)?))
    }
}

/// A clock that shows this time now, and runs on.
fn running(now_ms: i64) -> ClockMode {
    ClockMode::Offset(now_ms.saturating_sub(SystemClock.now_millis()))
}

#[pymethods]
impl Clock {
    /// Milliseconds since 1970-01-01 UTC.
    fn now_ms(&self, py: Python<'_>) -> PyResult<i64> {
        Ok(self.connection.get(py)?.now_millis())
    }

    /// Stops it at its present time; from then on it moves only on request.
    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        self.change(py, |connection| Ok(ClockMode::Manual(connection.now_millis())))
    }

    /// Restarts it at its present time, independent of the real time.
    fn run(&self, py: Python<'_>) -> PyResult<()> {
        self.change(py, |connection| Ok(running(connection.now_millis())))
    }

    /// Sets it to the real time.
    fn reset(&self, py: Python<'_>) -> PyResult<()> {
        self.change(py, |_| Ok(ClockMode::Real))
    }

    /// Sets the time, in milliseconds since 1970-01-01 UTC. A clock that was not stopped runs on.
    fn set(&self, py: Python<'_>, now_ms: i64) -> PyResult<()> {
        self.change(py, |connection| match connection.clock()? {
            ClockMode::Manual(_) => Ok(ClockMode::Manual(now_ms)),
            _ => Ok(running(now_ms)),
        })
    }

    /// Moves it forward by the arguments of `datetime.timedelta`, such as `days=1`.
    #[pyo3(signature = (**duration))]
    fn advance(&self, py: Python<'_>, duration: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        let timedelta = py.import("datetime")?.getattr("timedelta")?;
        let duration = timedelta.call((), duration)?;
        let seconds: f64 = duration.call_method0("total_seconds")?.extract()?;
        let millis = (seconds * 1000.0).round() as i64;
        self.set(py, self.now_ms(py)?.saturating_add(millis))
    }
}
