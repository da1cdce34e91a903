//! What `hblite shell` says on standard error, apart from the errors of commands: lines of text, or
//! an object on each line where results are objects.

use std::io::{self, Write as _};
use std::process::ExitCode;

use hblite::{Connection, Error, Exception, FileNote};
use hblite_shell::{Format, Object};

use crate::output::{FAILURE, fail};

/// The form of what is said.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Notices {
    /// Lines.
    Text,
    /// Objects.
    Json,
}

impl From<Format> for Notices {
    fn from(format: Format) -> Self {
        match format {
            Format::Json => Self::Json,
            _ => Self::Text,
        }
    }
}

impl Notices {
    /// Reports an error of the store; returns the exit status.
    pub(crate) fn error(self, error: &Error) -> ExitCode {
        self.failure(error.exception(), error.message())
    }

    /// Reports an error of the input or output; returns the exit status.
    pub(crate) fn io_error(self, error: &io::Error) -> ExitCode {
        self.failure(Exception::Io, &error.to_string())
    }

    fn failure(self, exception: Exception, message: &str) -> ExitCode {
        if let Self::Text = self {
            return fail(message, FAILURE);
        }
        let object = Object::new("error").with("class", exception.class_name());
        say(&object.with("message", message).finish());
        ExitCode::from(FAILURE)
    }

    /// Reports how many commands of a script failed.
    pub(crate) fn failed_commands(self, script: &str, count: u64) {
        match self {
            Self::Text => say(&format!("hblite: {script}: failed commands: {count}")),
            Self::Json => {
                say(&Object::new("failures").with("script", script).with("count", count).finish());
            }
        }
    }

    /// Reports what the open moved, and which parts of the log it could not read. After a clean end
    /// there is nothing to report.
    pub(crate) fn open(self, connection: &Connection) {
        for line in connection.open_report().iter().flat_map(|report| report.lines()) {
            self.note(&line);
        }
        self.files(&connection.file_notes());
        let Some(recovery) = connection.recovery() else { return };
        if let Some(torn) = &recovery.torn_tail {
            let (file, offset, lost) = (torn.file.display(), torn.offset, torn.bytes_lost);
            self.note(&format!(
                "the log broke off at {file}, offset {offset}; {lost} later bytes are dropped"
            ));
        }
        if let Some(end) = &recovery.unclosed {
            let (file, offset, synced) = (end.file.display(), end.offset, end.synced_offset);
            self.note(&format!(
                "the store was not closed; its log ends at {file}, offset {offset}, and is known \
                 to be on disk up to offset {synced}"
            ));
        }
        for damage in &recovery.salvaged {
            let (file, offset, what) = (damage.file.display(), damage.offset, &damage.what);
            let lost = damage.bytes_lost;
            self.note(&format!(
                "skipped {lost} bytes of the log at {file}, offset {offset}: {what}"
            ));
        }
    }

    /// Reports what was dropped, kept or set aside.
    pub(crate) fn files(self, notes: &[FileNote]) {
        for note in notes {
            self.note(&format!("{}: {}", note.path.display(), note.what));
        }
    }

    fn note(self, line: &str) {
        match self {
            Self::Text => say(&format!("hblite: {line}")),
            Self::Json => say(&Object::new("note").with("message", line).finish()),
        }
    }
}

/// Standard error may be closed; there is nothing to be done about that.
fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}
