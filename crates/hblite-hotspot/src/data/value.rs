//! Values of fields as text: numbers, times in the usual formats, text, bytes.

use hblite::bytes::from_string_binary;
use hblite_rowkey::{Encoding, Field, Number, Text, Value};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

/// The value of a field: a number, a time as milliseconds or in a format of [`parse_time`], text,
/// or bytes with `\xHH`.
///
/// # Errors
/// If the field is a number or a time, and the text is not.
pub fn parse_value(field: &Field, text: &str) -> Result<Value<'static>, String> {
    let name = &field.name;
    match field.encoding {
        Encoding::Number(Number::I64) => {
            let number = text.parse::<i64>();
            number.map(Value::from).map_err(|_| format!("{name}: {text:?} is not a number"))
        }
        Encoding::Number(number) => {
            if let Ok(number) = text.parse::<u64>() {
                return Ok(Value::from(number));
            }
            let is_time = matches!(number, Number::Timestamp | Number::ReverseTimestamp);
            match parse_time(text).filter(|_| is_time) {
                Some(millis) => Ok(Value::from(millis)),
                None if is_time => Err(format!(
                    "{name}: {text:?} is neither milliseconds nor a time such as \
                     2026-01-31T12:00:00Z"
                )),
                None => Err(format!("{name}: {text:?} is not a number of at least 0")),
            }
        }
        Encoding::Text(Text { is_text: false, .. }) => Ok(Value::from(from_string_binary(text))),
        Encoding::Text(_) | Encoding::Md5 | Encoding::Md5Hex(_) => Ok(Value::from(text.to_owned())),
    }
}

/// A time as milliseconds since 1970; `None` if the text is in no known format or before 1970. A
/// time without a zone is in UTC.
///
/// ```
/// use hblite_hotspot::data::parse_time;
/// for text in [
///     "2017-07-14T02:40:00Z",
///     "2017-07-14T04:40:00+02:00",
///     "2017-07-14 02:40:00.000",
///     "2017/07/14 02:40",
///     "14/Jul/2017:02:40:00 +0000",
///     "Fri, 14 Jul 2017 02:40:00 GMT",
/// ] {
///     assert_eq!(parse_time(text), Some(1_500_000_000_000), "{text}");
/// }
/// assert_eq!(parse_time("1500000000000"), None);
/// ```
pub fn parse_time(text: &str) -> Option<u64> {
    let text = text.trim();
    if !text.contains(['-', '/', ':']) || text.len() > 64 {
        return None;
    }
    let dashed = text.replacen('/', "-", 2);
    let zoned = || text.parse::<Timestamp>().or_else(|_| dashed.parse::<Timestamp>()).ok();
    let civil = || {
        let time = dashed.parse::<DateTime>().ok()?;
        time.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
    };
    let log = || Zoned::strptime("%d/%b/%Y:%H:%M:%S %z", text).ok().map(|zoned| zoned.timestamp());
    let mail = || jiff::fmt::rfc2822::parse(text).ok().map(|zoned| zoned.timestamp());
    let time = zoned().or_else(civil).or_else(log).or_else(mail)?;
    u64::try_from(time.as_millisecond()).ok()
}
