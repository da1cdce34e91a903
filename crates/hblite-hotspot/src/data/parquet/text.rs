//! A value as text, from the bytes in which it is stored.

use std::fmt::Write as _;

use super::footer::{Column, Logical, Physical, TimeUnit};
use super::{Bad, Result};

const MILLIS_PER_DAY: i64 = 86_400_000;
/// The Julian day of 1970-01-01.
const JULIAN_1970: i64 = 2_440_588;
/// Digits of a decimal after the point.
const SCALE_MAX: u32 = 38;

/// Appends the text of a value of `column`, whose bytes are those of PLAIN without a length.
pub(super) fn append(column: &Column, bytes: &[u8], out: &mut String) -> Result<()> {
    let short = || Bad::new("a value has the wrong length");
    let written = match column.physical {
        Physical::Boolean => write!(out, "{}", bytes.first().is_some_and(|byte| *byte != 0)),
        Physical::Int32 => {
            let value = i32::from_le_bytes(bytes.try_into().map_err(|_| short())?);
            if column.logical == Logical::Unsigned {
                write!(out, "{}", value as u32)
            } else {
                return integer(column, i64::from(value), out);
            }
        }
        Physical::Int64 => {
            let value = i64::from_le_bytes(bytes.try_into().map_err(|_| short())?);
            return integer(column, value, out);
        }
        Physical::Int96 => {
            let (nanos, day) = bytes.split_at_checked(8).ok_or_else(short)?;
            let nanos = i64::from_le_bytes(nanos.try_into().map_err(|_| short())?);
            let day = u32::from_le_bytes(day.try_into().map_err(|_| short())?);
            let millis = (i64::from(day) - JULIAN_1970) * MILLIS_PER_DAY + nanos / 1_000_000;
            write!(out, "{millis}")
        }
        Physical::Float => {
            write!(out, "{}", f32::from_le_bytes(bytes.try_into().map_err(|_| short())?))
        }
        Physical::Double => {
            write!(out, "{}", f64::from_le_bytes(bytes.try_into().map_err(|_| short())?))
        }
        Physical::Bytes | Physical::FixedBytes(_) => return bytes_as(column, bytes, out),
    };
    written.map_err(|error| Bad::new(error.to_string()))
}

fn integer(column: &Column, value: i64, out: &mut String) -> Result<()> {
    let written = match column.logical {
        Logical::Unsigned => write!(out, "{}", value as u64),
        Logical::Date => write!(out, "{}", value.saturating_mul(MILLIS_PER_DAY)),
        Logical::Time(TimeUnit::Millis) => write!(out, "{value}"),
        Logical::Time(TimeUnit::Micros) => write!(out, "{}", value.div_euclid(1_000)),
        Logical::Time(TimeUnit::Nanos) => write!(out, "{}", value.div_euclid(1_000_000)),
        Logical::Decimal(scale) => return decimal(i128::from(value), scale, out),
        _ => write!(out, "{value}"),
    };
    written.map_err(|error| Bad::new(error.to_string()))
}

fn bytes_as(column: &Column, bytes: &[u8], out: &mut String) -> Result<()> {
    match column.logical {
        Logical::Text => {
            let text = std::str::from_utf8(bytes);
            out.push_str(text.map_err(|_| Bad::new("a text is not UTF-8"))?);
        }
        Logical::Decimal(scale) => {
            let mut value = match bytes.first() {
                Some(first) if *first >= 0x80 => -1_i128,
                _ => 0,
            };
            if bytes.len() > size_of::<i128>() {
                return Err(Bad::new("a decimal of more than 16 bytes"));
            }
            for byte in bytes {
                value = value << 8 | i128::from(*byte);
            }
            return decimal(value, scale, out);
        }
        Logical::Uuid if bytes.len() == 16 => {
            for (index, byte) in bytes.iter().enumerate() {
                let dash = if matches!(index, 4 | 6 | 8 | 10) { "-" } else { "" };
                let _ = write!(out, "{dash}{byte:02x}");
            }
        }
        Logical::Half => return Err(Bad::new("numbers of 16 bits are not supported")),
        _ => out.push_str(&hblite::bytes::to_string_binary(bytes)),
    }
    Ok(())
}

fn decimal(value: i128, scale: u32, out: &mut String) -> Result<()> {
    if scale > SCALE_MAX {
        return Err(Bad::new(format!("a decimal with {scale} digits after the point")));
    }
    let digits = format!("{:0>width$}", value.unsigned_abs(), width = scale as usize + 1);
    let (whole, part) = digits.split_at(digits.len() - scale as usize);
    if value < 0 {
        out.push('-');
    }
    out.push_str(whole);
    if scale > 0 {
        out.push('.');
        out.push_str(part);
    }
    Ok(())
}
