//! The values of settings, as `hbase-site.xml` and URLs write them.

use std::time::Duration;

use hblite_model::{Error, Result};

pub(crate) fn number(name: &str, value: &str, min: u32) -> Result<u32> {
    let max = i32::MAX as u32;
    let number = value.parse().ok().filter(|number| (min..=max).contains(number));
    number.ok_or_else(|| {
        let message = format!("{name}: {value:?} is not a number from {min} to {max}");
        Error::illegal_argument(message)
    })
}

pub(crate) fn millis(name: &str, value: &str) -> Result<Duration> {
    number(name, value, 1).map(|millis| Duration::from_millis(u64::from(millis)))
}

pub(crate) fn micros(name: &str, value: &str) -> Result<Duration> {
    number(name, value, 0).map(|micros| Duration::from_micros(u64::from(micros)))
}

pub(crate) fn boolean(name: &str, value: &str) -> Result<bool> {
    match value {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(Error::illegal_argument(format!("{name}: {value:?} is neither true nor false"))),
    }
}

pub(crate) fn fraction(name: &str, value: &str) -> Result<f64> {
    let fraction = value.parse().ok().filter(|fraction| (0.0..=1.0).contains(fraction));
    fraction.ok_or_else(|| {
        Error::illegal_argument(format!("{name}: {value:?} is not a number from 0 to 1"))
    })
}
