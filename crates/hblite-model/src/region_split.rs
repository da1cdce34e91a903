//! Where to split a new table: the algorithms of HBase's `RegionSplitter`.
//!
//! All of them divide a range of numbers into equal parts. They differ in how a row represents a
//! number: as hexadecimal text, as decimal text, or as plain bytes. The arithmetic works on the
//! digits themselves, in base 16, 10 or 256, so a number may have any length.

use crate::error::{Error, Exception, Result};

/// The maximum number of regions of a split. The keys of more regions could fill the memory.
pub const REGIONS_MAX: usize = 1 << 20;

/// How rows are distributed over the key space.
///
/// ```
/// # use hblite_model as hblite;
/// use hblite::region_split::SplitAlgorithm;
/// let keys = SplitAlgorithm::HexString.split(4)?;
/// assert_eq!(keys, [b"40000000", b"80000000", b"c0000000"]);
/// # Ok::<(), hblite_model::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SplitAlgorithm {
    /// Rows begin with 8 hexadecimal digits (`HexStringSplit`).
    HexString,
    /// Rows begin with 8 decimal digits (`DecimalStringSplit`).
    DecimalString,
    /// Rows are any bytes (`UniformSplit`).
    Uniform,
}

impl SplitAlgorithm {
    /// All algorithms.
    pub const ALL: [Self; 3] = [Self::HexString, Self::DecimalString, Self::Uniform];

    /// The class name for the shell's `SPLITALGO`.
    pub fn name(self) -> &'static str {
        match self {
            Self::HexString => "HexStringSplit",
            Self::DecimalString => "DecimalStringSplit",
            Self::Uniform => "UniformSplit",
        }
    }

    /// The algorithm with this name.
    ///
    /// # Errors
    /// `Io` with HBase's message if there is none.
    pub fn from_name(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|algorithm| algorithm.name() == name).ok_or_else(|| {
            Error::invalid_argument(Exception::Io, format!("Couldn't load split class {name}"))
        })
    }

    /// The `regions - 1` keys that divide the whole key space into equal regions.
    ///
    /// # Errors
    /// `IllegalArgument` if `regions` is 0 (for [`Self::Uniform`] also 1) or beyond
    /// [`REGIONS_MAX`].
    pub fn split(self, regions: usize) -> Result<Vec<Vec<u8>>> {
        let (first, last): (&[u8], &[u8]) = match self {
            Self::HexString => (b"00000000", b"FFFFFFFF"),
            Self::DecimalString => (b"00000000", b"99999999"),
            Self::Uniform => (b"", &[0xff; 8]),
        };
        self.split_range(first, last, regions)
    }

    /// The `regions - 1` keys that divide `first..=last` into equal regions.
    ///
    /// # Errors
    /// `IllegalArgument` if the range is empty or has fewer rows than regions, or a row is not a
    /// number of this kind.
    pub fn split_range(self, first: &[u8], last: &[u8], regions: usize) -> Result<Vec<Vec<u8>>> {
        match self {
            Self::HexString => split_numbers(first, last, regions, 16),
            Self::DecimalString => split_numbers(first, last, regions, 10),
            Self::Uniform => {
                if last <= first {
                    return Err(not_ascending(last, first));
                }
                split_bytes(first, last, regions, true)
            }
        }
    }
}

/// The `regions - 1` keys that divide the rows from `first` to `last` into regions of equal width,
/// including `last` or not (`Bytes.split` without its end points).
///
/// # Errors
/// `IllegalArgument` if `last` is not after `first`, or `regions` is below 2 or beyond
/// [`REGIONS_MAX`].
pub fn split_bytes(
    first: &[u8],
    last: &[u8],
    regions: usize,
    is_inclusive: bool,
) -> Result<Vec<Vec<u8>>> {
    check_regions(regions)?;
    let length = first.len().max(last.len());
    let padded = |row: &[u8]| [row, &vec![0; length - row.len()]].concat();
    let (mut start, mut end) = (padded(first), padded(last));
    if start >= end {
        return Err(Error::illegal_argument("b <= a"));
    }
    if regions < 2 {
        return Err(Error::illegal_argument("num cannot be <= 0"));
    }
    loop {
        let mut width = subtract(&end, &start, 256);
        if is_inclusive {
            add_one(&mut width, 256);
        }
        if let Some(keys) = cut(&start, &width, regions, 256) {
            return Ok(keys);
        }
        // The range is too narrow for that many keys: one more byte makes it 256 times as wide.
        start.push(0);
        end.push(0);
    }
}

fn split_numbers(first: &[u8], last: &[u8], regions: usize, base: u32) -> Result<Vec<Vec<u8>>> {
    check_regions(regions)?;
    let length = last.len();
    let (start, end) = (to_digits(first, length, base)?, to_digits(last, length, base)?);
    if end <= start {
        return Err(not_ascending(last, first));
    }
    let mut width = subtract(&end, &start, base);
    add_one(&mut width, base);
    let keys = cut(&start, &width, regions, base).ok_or_else(|| {
        Error::illegal_argument(format!(
            "split granularity ({regions}) is greater than the range ({})",
            String::from_utf8_lossy(&to_text(&width, base)),
        ))
    })?;
    Ok(keys.iter().map(|digits| to_text(digits, base)).collect())
}

fn check_regions(regions: usize) -> Result<()> {
    if (1..=REGIONS_MAX).contains(&regions) {
        return Ok(());
    }
    Err(Error::illegal_argument(format!(
        "the number of regions must be between 1 and {REGIONS_MAX}, not {regions}"
    )))
}

fn not_ascending(last: &[u8], first: &[u8]) -> Error {
    Error::illegal_argument(format!(
        "last row ({}) is configured less than first row ({})",
        crate::bytes::to_string_binary(last),
        crate::bytes::to_string_binary(first)
    ))
}

/// `start + i * (width / regions)` for each inner `i`; `None` if a region would be empty.
fn cut(start: &[u8], width: &[u8], regions: usize, base: u32) -> Option<Vec<Vec<u8>>> {
    let step = divide(width, regions as u64, base);
    if step.iter().all(|digit| *digit == 0) {
        return None;
    }
    let mut key = start.to_vec();
    let keys = (1..regions).map(|_| {
        add(&mut key, &step, base);
        key.clone()
    });
    Some(keys.collect())
}

/// Digits, most significant first, padded with zeros to `length`.
fn to_digits(text: &[u8], length: usize, base: u32) -> Result<Vec<u8>> {
    let not_a_number = || {
        let text = crate::bytes::to_string_binary(text);
        Error::illegal_argument(format!("For input string: \"{text}\""))
    };
    let zeros = length.checked_sub(text.len()).ok_or_else(not_a_number)?;
    let mut digits = vec![0; zeros];
    for &character in text {
        let digit = (character as char).to_digit(base).ok_or_else(not_a_number)?;
        digits.push(digit as u8);
    }
    Ok(digits)
}

fn to_text(digits: &[u8], base: u32) -> Vec<u8> {
    let character = |digit: &u8| char::from_digit(u32::from(*digit), base).unwrap_or('0') as u8;
    digits.iter().map(character).collect()
}

/// `minuend - subtrahend`, which must not be negative. The result has one more leading digit, so
/// that [`add_one`] cannot overflow.
fn subtract(minuend: &[u8], subtrahend: &[u8], base: u32) -> Vec<u8> {
    let mut difference = vec![0; minuend.len() + 1];
    let mut borrow = 0;
    for at in (0..minuend.len()).rev() {
        let taken = u32::from(subtrahend[at]) + borrow;
        let digit = u32::from(minuend[at]);
        borrow = u32::from(digit < taken);
        difference[at + 1] = (digit + borrow * base - taken) as u8;
    }
    difference
}

fn add_one(number: &mut [u8], base: u32) {
    for digit in number.iter_mut().rev() {
        if u32::from(*digit) + 1 < base {
            *digit += 1;
            return;
        }
        *digit = 0;
    }
}

/// Adds `addend`, aligned at the last digit. The callers' ranges ensure that the sum fits.
fn add(number: &mut [u8], addend: &[u8], base: u32) {
    let mut carry = 0;
    let mut addend = addend.iter().rev();
    for digit in number.iter_mut().rev() {
        let sum = u32::from(*digit) + u32::from(*addend.next().unwrap_or(&0)) + carry;
        *digit = (sum % base) as u8;
        carry = sum / base;
    }
}

fn divide(number: &[u8], divisor: u64, base: u32) -> Vec<u8> {
    let mut remainder = 0_u64;
    let digits = number.iter().map(|digit| {
        // Below divisor * base, which REGIONS_MAX keeps far below 2^64.
        let value = remainder * u64::from(base) + u64::from(*digit);
        remainder = value % divisor;
        (value / divisor) as u8
    });
    digits.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(keys: &[Vec<u8>]) -> Vec<String> {
        keys.iter().map(|key| crate::bytes::to_string_binary(key)).collect()
    }

    /// The keys that `get_splits` of Apache HBase printed for tables created with NUMREGIONS 4.
    #[test]
    fn same_keys_as_hbase() {
        let keys = SplitAlgorithm::HexString.split(4).unwrap();
        assert_eq!(texts(&keys), ["40000000", "80000000", "c0000000"]);
        let keys = SplitAlgorithm::Uniform.split(4).unwrap();
        assert_eq!(
            texts(&keys),
            [
                "@\\x00\\x00\\x00\\x00\\x00\\x00\\x00",
                "\\x80\\x00\\x00\\x00\\x00\\x00\\x00\\x00",
                "\\xC0\\x00\\x00\\x00\\x00\\x00\\x00\\x00"
            ]
        );
    }

    /// The last region gets the remainder, as with integer division.
    #[test]
    fn rounds_down() {
        let keys = SplitAlgorithm::HexString.split(3).unwrap();
        assert_eq!(texts(&keys), ["55555555", "aaaaaaaa"]);
        let keys = SplitAlgorithm::DecimalString.split(3).unwrap();
        assert_eq!(texts(&keys), ["33333333", "66666666"]);
        assert!(SplitAlgorithm::HexString.split(1).unwrap().is_empty());
    }

    #[test]
    fn ranges_have_any_width() {
        let first = "0".repeat(40);
        let last = "f".repeat(40);
        let keys =
            SplitAlgorithm::HexString.split_range(first.as_bytes(), last.as_bytes(), 2).unwrap();
        assert_eq!(texts(&keys), [format!("8{}", "0".repeat(39))]);
        // `Bytes.split("a", "b", 3)` needs a second byte to find three keys in between.
        let keys = split_bytes(b"a", b"b", 4, false).unwrap();
        assert_eq!(texts(&keys), ["a@", "a\\x80", "a\\xC0"]);
    }

    #[test]
    fn against_plain_arithmetic() {
        for regions in 2_u64..200 {
            let keys = SplitAlgorithm::HexString.split(regions as usize).unwrap();
            let step = (1 << 32) / regions;
            let expected: Vec<String> = (1..regions).map(|i| format!("{:08x}", step * i)).collect();
            assert_eq!(texts(&keys), expected);
        }
    }

    #[test]
    fn impossible_ranges_are_refused() {
        let message = |result: Result<Vec<Vec<u8>>>| result.unwrap_err().message().to_owned();
        assert_eq!(
            message(SplitAlgorithm::DecimalString.split_range(b"0", b"3", 9)),
            "split granularity (9) is greater than the range (04)"
        );
        assert_eq!(
            message(SplitAlgorithm::HexString.split_range(b"f", b"3", 2)),
            "last row (3) is configured less than first row (f)"
        );
        assert_eq!(message(split_bytes(b"b", b"a", 2, true)), "b <= a");
        assert_eq!(message(split_bytes(b"a", b"b", 1, true)), "num cannot be <= 0");
        assert!(SplitAlgorithm::HexString.split_range(b"0", b"zz", 2).is_err());
        assert!(SplitAlgorithm::HexString.split_range(b"000", b"ff", 2).is_err());
        for algorithm in SplitAlgorithm::ALL {
            assert!(algorithm.split(0).is_err());
            assert!(algorithm.split(usize::MAX).is_err());
            assert_eq!(SplitAlgorithm::from_name(algorithm.name()).unwrap(), algorithm);
        }
        assert_eq!(
            SplitAlgorithm::from_name("NoSplit").unwrap_err().message(),
            "Couldn't load split class NoSplit"
        );
    }
}
