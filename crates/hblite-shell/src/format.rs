//! What the shell prints: headers, rows, footers, times; or lines of JSON, or CSV.
//!
//! Columns that go to a pipe or file are separated and not padded. On a terminal, the first of two
//! columns gets a quarter of the width and the second the rest; longer texts continue on the next
//! line within their column (`Shell::Formatter`).

use std::io::{self, Write};
use std::time::Duration;

use crate::object::Object;

const RED: &str = "\x1b[1;31m";
const BOLD: &str = "\x1b[1m";
const PLAIN: &str = "\x1b[0m";

/// The form of a shell's output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Format {
    /// What HBase's shell prints.
    #[default]
    Text,
    /// A JSON object on each line. Its field `kind` says what it is: `row`, `table`, `region`,
    /// `server`, `status`, `namespace`, `snapshot`, `counter`, `metrics`, or the `value` of a
    /// statement. What has no form of its own is `text`. Errors are written as objects, too, where
    /// the [errors](crate::ShellOptions::errors) go.
    Json,
    /// The rows of gets and scans as CSV with a line of titles. Everything else goes where the
    /// [errors](crate::ShellOptions::errors) go.
    Csv,
}

/// The output of a shell.
pub(crate) struct Output {
    writer: Box<dyn Write>,
    /// Where everything goes that is not in the format that was asked for.
    errors: Box<dyn Write>,
    format: Format,
    width: Option<usize>,
    is_colored: bool,
    /// Objects of JSON that the running statement has printed, texts aside.
    pub(crate) object_count: u64,
    has_csv_titles: bool,
}

impl Output {
    /// `width` is that of the terminal, `None` if there is none.
    pub(crate) fn new(writer: Box<dyn Write>, width: Option<usize>, is_colored: bool) -> Self {
        let mut output = Self {
            writer,
            errors: Box::new(io::sink()),
            format: Format::Text,
            width: None,
            is_colored,
            object_count: 0,
            has_csv_titles: false,
        };
        output.set_width(width);
        output
    }

    /// Sets the format, and where other output and errors go.
    pub(crate) fn with_format(self, format: Format, errors: Box<dyn Write>) -> Self {
        Self { format, errors, ..self }
    }

    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// Prints an object as a line of JSON.
    pub(crate) fn object(&mut self, object: Object) -> io::Result<()> {
        self.object_count += 1;
        writeln!(self.writer, "{}", object.finish())
    }

    /// Prints an object where errors go.
    pub(crate) fn error_object(&mut self, object: Object) -> io::Result<()> {
        self.writer.flush()?;
        writeln!(self.errors, "{}", object.finish())?;
        self.errors.flush()
    }

    /// Prints a line of CSV, before the first one the titles.
    pub(crate) fn csv(&mut self, titles: &[&str], fields: &[&str]) -> io::Result<()> {
        if !std::mem::replace(&mut self.has_csv_titles, true) {
            writeln!(self.writer, "{}", titles.join(","))?;
        }
        let quoted = |field: &&str| match field.contains([',', '"', '\n', '\r']) {
            true => format!("\"{}\"", field.replace('"', "\"\"")),
            false => (*field).to_owned(),
        };
        let fields: Vec<String> = fields.iter().map(quoted).collect();
        writeln!(self.writer, "{}", fields.join(","))
    }

    pub(crate) fn set_width(&mut self, width: Option<usize>) {
        // Two columns and the blanks between them need some space.
        self.width = width.filter(|width| *width >= 20);
    }

    /// Prints a line of text as it is.
    pub(crate) fn line(&mut self, text: &str) -> io::Result<()> {
        match self.format {
            Format::Text => writeln!(self.writer, "{text}"),
            Format::Json => {
                writeln!(self.writer, "{}", Object::new("text").with("text", text).finish())
            }
            Format::Csv => writeln!(self.errors, "{text}"),
        }
    }

    /// Prints bytes as they are, without a line's end.
    pub(crate) fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self.format {
            Format::Text => self.writer.write_all(bytes),
            Format::Json => self.line(&String::from_utf8_lossy(bytes)),
            Format::Csv => self.errors.write_all(bytes),
        }
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }

    /// Prints the titles above rows.
    pub(crate) fn header(&mut self, titles: &[&str]) -> io::Result<()> {
        if self.format != Format::Text {
            return Ok(());
        }
        if self.is_colored {
            self.writer.write_all(BOLD.as_bytes())?;
        }
        match titles {
            [first, second] => self.columns("", first, "  ", second)?,
            _ => self.wrapped(&titles.join(" "))?,
        }
        if self.is_colored {
            self.writer.write_all(PLAIN.as_bytes())?;
        }
        Ok(())
    }

    /// Prints a row of one column, or as JSON an object of this kind with the text as its `name`.
    pub(crate) fn name(&mut self, kind: &str, name: &str) -> io::Result<()> {
        match self.format {
            Format::Json => self.object(Object::new(kind).with("name", name)),
            Format::Text | Format::Csv => self.row(name),
        }
    }

    /// Prints a row of one column.
    pub(crate) fn row(&mut self, text: &str) -> io::Result<()> {
        self.wrapped(text)
    }

    /// Prints a row of two columns, indented by a blank.
    pub(crate) fn row_of_two(&mut self, first: &str, second: &str) -> io::Result<()> {
        self.columns(" ", first, " ", second)
    }

    /// Prints the number of rows.
    pub(crate) fn footer(&mut self, count: u64) -> io::Result<()> {
        if self.format != Format::Text {
            return Ok(());
        }
        writeln!(self.writer, "{count} row(s)")
    }

    /// Like [`Self::footer`]; also says if replicas that may lag behind have answered.
    pub(crate) fn footer_of_read(&mut self, count: u64, is_stale: bool) -> io::Result<()> {
        self.footer(count)?;
        // Both blanks are HBase's.
        if is_stale && self.format == Format::Text {
            self.line(" (possible stale results) ")
        } else {
            Ok(())
        }
    }

    /// Prints how long a command took.
    pub(crate) fn took(&mut self, duration: Duration) -> io::Result<()> {
        if self.format != Format::Text {
            return Ok(());
        }
        writeln!(self.writer, "Took {:.4} seconds", duration.as_secs_f64())
    }

    /// Prints a command's error, and where to read about the command.
    pub(crate) fn error(&mut self, message: &str, command: &str) -> io::Result<()> {
        let (start, end) = if self.is_colored { (RED, PLAIN) } else { ("", "") };
        let out = self.for_errors();
        writeln!(out, "\n{start}ERROR:{end} {message}\n")?;
        writeln!(out, "For usage try 'help \"{command}\"'\n")
    }

    /// Prints that the user interrupted the command.
    pub(crate) fn interrupted(&mut self) -> io::Result<()> {
        let (start, end) = if self.is_colored { (RED, PLAIN) } else { ("", "") };
        writeln!(self.for_errors(), "\n{start}ERROR:{end} interrupted\n")
    }

    /// Prints an error of the language, as Ruby's console does.
    pub(crate) fn traceback(
        &mut self,
        class: &str,
        message: &str,
        picture: Option<&str>,
    ) -> io::Result<()> {
        let out = self.for_errors();
        writeln!(out, "Traceback (most recent call last):\n{class} ({message})")?;
        picture.map_or(Ok(()), |picture| writeln!(out, "{picture}"))
    }

    /// Where errors are printed as text.
    fn for_errors(&mut self) -> &mut dyn Write {
        match self.format {
            Format::Text => &mut self.writer,
            Format::Json | Format::Csv => &mut self.errors,
        }
    }

    fn wrapped(&mut self, text: &str) -> io::Result<()> {
        let Some(width) = self.width.filter(|_| self.format == Format::Text) else {
            return self.line(text);
        };
        split(width, text).iter().try_for_each(|part| self.line(part))
    }

    fn columns(
        &mut self,
        inset: &str,
        first: &str,
        separator: &str,
        second: &str,
    ) -> io::Result<()> {
        let Some(width) = self.width.filter(|_| self.format == Format::Text) else {
            return match self.format {
                Format::Text => writeln!(self.writer, "{inset}{first}{separator}{second}"),
                Format::Json | Format::Csv => self.line(&format!("{first} {second}")),
            };
        };
        let first_width = width / 4;
        let first = split(first_width, first);
        let second = split(width - first_width - 2, second);
        for at in 0..first.len().max(second.len()) {
            let left = first.get(at).map_or("", String::as_str);
            let right = second.get(at).map_or("", String::as_str);
            writeln!(self.writer, "{inset}{left:first_width$}{separator}{right}")?;
        }
        Ok(())
    }
}

/// Divides `text` into pieces of at most `width` characters.
fn split(width: usize, text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(width).map(|chunk| chunk.iter().collect()).collect()
}

/// A timestamp as Java's `LocalDateTime.toString`: `1970-01-01T00:00:00.160`, without trailing
/// parts that are zero.
///
/// `offset_seconds` is the offset of the wanted time zone from UTC, positive to the east.
pub(crate) fn local_date_time(millis: i64, offset_seconds: i32) -> String {
    // i128: every i64 is a legal timestamp, and none may overflow.
    let local = i128::from(millis) + i128::from(offset_seconds) * 1000;
    let (days, millis_of_day) = (local.div_euclid(86_400_000), local.rem_euclid(86_400_000));
    let (year, month, day) = civil_from_days(days);
    let seconds_of_day = millis_of_day / 1000;
    let (hour, minute) = (seconds_of_day / 3600, seconds_of_day / 60 % 60);
    let (second, milli) = (seconds_of_day % 60, millis_of_day % 1000);
    let sign = if year > 9999 { "+" } else { "" };
    let year = if year < 0 { format!("-{:04}", -year) } else { format!("{sign}{year:04}") };
    let mut text = format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}");
    if second > 0 || milli > 0 {
        text.push_str(&format!(":{second:02}"));
    }
    if milli > 0 {
        text.push_str(&format!(".{milli:03}"));
    }
    text
}

/// A time as Ruby's `Time#to_s`: `2026-11-21 11:05:38 +0000`.
///
/// `offset_seconds` is the offset of the wanted time zone from UTC, positive to the east.
pub(crate) fn ruby_time(millis: i64, offset_seconds: i32) -> String {
    let seconds = i128::from(millis.div_euclid(1000)) + i128::from(offset_seconds);
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = civil_from_days(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let (sign, offset) = (if offset_seconds < 0 { '-' } else { '+' }, offset_seconds.abs() / 60);
    let zone = format!("{sign}{:02}{:02}", offset / 60, offset % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} {zone}")
}

/// A time in UTC as `template` says: `%Y-%m-%d %H:%M:%S`, and `%L` for milliseconds.
pub(crate) fn strftime(millis: i64, template: &str) -> String {
    let seconds = i128::from(millis.div_euclid(1000));
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = civil_from_days(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let mut text = String::new();
    let mut characters = template.chars();
    while let Some(character) = characters.next() {
        match (character, character == '%') {
            (_, true) => match characters.next() {
                Some('Y') => text.push_str(&format!("{year:04}")),
                Some('m') => text.push_str(&format!("{month:02}")),
                Some('d') => text.push_str(&format!("{day:02}")),
                Some('H') => text.push_str(&format!("{hour:02}")),
                Some('M') => text.push_str(&format!("{minute:02}")),
                Some('S') => text.push_str(&format!("{second:02}")),
                Some('L') => text.push_str(&format!("{:03}", millis.rem_euclid(1000))),
                Some('s') => text.push_str(&seconds.to_string()),
                Some(other) => text.push(other),
                None => text.push('%'),
            },
            (other, false) => text.push(other),
        }
    }
    text
}

/// A time as Java's `Date.toString` in a zone of this offset: `Sun Nov 29 16:31:42 UTC 2026`.
pub(crate) fn java_date(millis: i64, offset_seconds: i32) -> String {
    let seconds = i128::from(millis.div_euclid(1000)) + i128::from(offset_seconds);
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = civil_from_days(days);
    let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][days.rem_euclid(7) as usize];
    let months =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = months[(month - 1) as usize];
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let zone = match offset_seconds {
        0 => "UTC".to_owned(),
        offset => {
            let sign = if offset < 0 { '-' } else { '+' };
            format!("GMT{sign}{:02}:{:02}", offset.abs() / 3600, offset.abs() / 60 % 60)
        }
    };
    format!("{weekday} {month} {day:02} {hour:02}:{minute:02}:{second:02} {zone} {year}")
}

/// Year, month and day of the proleptic Gregorian calendar, from days since 1970-01-01.
fn civil_from_days(days: i128) -> (i128, i128, i128) {
    // Years that begin in March, so that the leap day is the last; eras of 400 years.
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let leap_days = day_of_era / 1_460 - day_of_era / 36_524 + day_of_era / 146_096;
    let year_of_era = (day_of_era - leap_days) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i128::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use super::*;

    #[derive(Clone, Default)]
    struct Shared(Rc<RefCell<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn printed(width: Option<usize>, print: impl Fn(&mut Output) -> io::Result<()>) -> String {
        let shared = Shared::default();
        print(&mut Output::new(Box::new(shared.clone()), width, false)).unwrap();
        let bytes = shared.0.borrow().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_pipe_gets_no_padding_and_a_terminal_gets_columns() {
        let print = |output: &mut Output| {
            output.header(&["ROW", "COLUMN+CELL"])?;
            output.row_of_two("row-one", "column=f:q, value=abcdefghijkl")
        };
        assert_eq!(
            printed(None, print),
            "ROW  COLUMN+CELL\n row-one column=f:q, value=abcdefghijkl\n"
        );
        assert_eq!(
            printed(Some(24), print),
            "ROW     COLUMN+CELL\n row-on column=f:q, valu\n e      e=abcdefghijkl\n"
        );
    }

    #[test]
    fn answers_of_replicas_may_be_stale() {
        assert_eq!(printed(None, |output| output.footer_of_read(2, false)), "2 row(s)\n");
        let stale = "1 row(s)\n (possible stale results) \n";
        assert_eq!(printed(None, |output| output.footer_of_read(1, true)), stale);
    }

    #[test]
    fn times_are_rubys() {
        assert_eq!(ruby_time(1_795_259_138_999, 0), "2026-11-21 11:05:38 +0000");
        assert_eq!(ruby_time(-1, -19_800), "1969-12-31 18:29:59 -0530");
        assert_eq!(java_date(1_795_259_138_999, 0), "Sat Nov 21 11:05:38 UTC 2026");
        assert_eq!(java_date(0, 3600), "Thu Jan 01 01:00:00 GMT+01:00 1970");
    }

    #[test]
    fn timestamps_are_javas_local_date_times() {
        for (millis, text) in [
            (0, "1970-01-01T00:00"),
            (160, "1970-01-01T00:00:00.160"),
            (1_000, "1970-01-01T00:00:01"),
            (60_000, "1970-01-01T00:01"),
            (951_782_400_000, "2000-02-29T00:00"),
            (1_795_259_005_697, "2026-11-21T11:03:25.697"),
            (-1, "1969-12-31T23:59:59.999"),
            (i64::MAX, "+292278994-08-17T07:12:55.807"),
            (i64::MIN, "-292275055-05-16T16:47:04.192"),
        ] {
            assert_eq!(local_date_time(millis, 0), text);
        }
        assert_eq!(local_date_time(0, -3600), "1969-12-31T23:00");
    }
}
