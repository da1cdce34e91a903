//! The log of the calls that a server answers, and of the connections that it refuses.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hblite_wire::complaints::Complaints;

/// Which calls are logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// Those that were answered with an exception.
    Errors,
    /// All.
    Calls,
}

/// The destination of lines about calls.
#[derive(Clone)]
pub struct Log {
    level: LogLevel,
    write: Arc<dyn Fn(&str) + Send + Sync>,
    complaints: Complaints,
}

impl Log {
    /// Passes each line, without its line end, to `write`, which is called from many threads and
    /// must be fast.
    pub fn new(level: LogLevel, write: impl Fn(&str) + Send + Sync + 'static) -> Self {
        let write: Arc<dyn Fn(&str) + Send + Sync> = Arc::new(write);
        let complaints = Complaints::new({
            let write = Arc::clone(&write);
            move |line| write(line)
        });
        Self { level, write, complaints }
    }

    /// Writes a line that is not about a call.
    pub(crate) fn report(&self, line: &str) {
        (self.write)(line);
    }

    /// Logs why `port` refuses the connection of `peer`, a few times per minute.
    pub(crate) fn refuse(&self, port: &str, peer: Option<SocketAddr>, why: &dyn fmt::Display) {
        self.complaints.note(port, peer, why);
    }

    /// Logs a call of `method` of `service` if the settings say so.
    pub(crate) fn tell(
        &self,
        service: &dyn fmt::Debug,
        method: &str,
        took: Duration,
        exception: Option<&dyn fmt::Display>,
    ) {
        let micros = took.as_micros();
        match exception {
            Some(exception) => {
                (self.write)(&format!("{service:?}.{method} {micros} us {exception}"));
            }
            None if self.level == LogLevel::Calls => {
                (self.write)(&format!("{service:?}.{method} {micros} us"));
            }
            None => {}
        }
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Log").field("level", &self.level).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use parking_lot::Mutex;

    use super::*;

    #[test]
    fn errors_are_told_and_other_calls_only_if_wanted() {
        for (level, count) in [(LogLevel::Errors, 1), (LogLevel::Calls, 2)] {
            let lines = Arc::new(Mutex::new(Vec::new()));
            let sink = Arc::clone(&lines);
            let log = Log::new(level, move |line| sink.lock().push(line.to_owned()));
            log.tell(&"Client", "Get", Duration::from_micros(7), None);
            log.tell(&"Client", "Get", Duration::from_micros(8), Some(&"broken"));
            let lines = lines.lock();
            assert_eq!(lines.len(), count);
            assert_eq!(lines.last().unwrap(), "\"Client\".Get 8 us broken");
        }
    }
}
