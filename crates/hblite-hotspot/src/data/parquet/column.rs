//! The values of a column chunk as text, row by row.

use super::delta::Deltas;
use super::footer::{Chunk, Column, Physical};
use super::levels::{Runs, take, width_of};
use super::page::{Page, PageKind, for_each_page};
use super::{Bad, Result, text};

/// Values of a dictionary.
const DICTIONARY_MAX: usize = 4 << 20;

/// Calls `each` with the text of every row's value. There are `rows` of them.
pub(super) fn read(
    column: &Column,
    chunk: &Chunk,
    bytes: &[u8],
    rows: usize,
    mut each: impl FnMut(&str) -> Result<()>,
) -> Result<()> {
    let mut dictionary: Option<Vec<String>> = None;
    let mut seen = 0_usize;
    for_each_page(bytes, chunk.codec, |page| {
        if page.kind == PageKind::Dictionary {
            if dictionary.is_some() {
                return Err(Bad::new("it has two dictionaries"));
            }
            dictionary = Some(read_dictionary(column, &page)?);
            return Ok(());
        }
        seen = seen.saturating_add(page.count);
        if seen > rows {
            return Err(Bad::new(format!("more than {rows} values, one for each row")));
        }
        data_page(column, &page, dictionary.as_deref(), &mut each)
    })?;
    if seen != rows {
        return Err(Bad::new(format!("{seen} values for {rows} rows")));
    }
    Ok(())
}

fn read_dictionary(column: &Column, page: &Page) -> Result<Vec<String>> {
    if page.count > DICTIONARY_MAX || page.count > page.bytes.len() {
        return Err(Bad::new(format!("a dictionary of {} values", page.count)));
    }
    let mut values = Values::Plain { bytes: &page.bytes, bit: 0 };
    let mut dictionary = Vec::new();
    for _ in 0..page.count {
        let mut value = String::new();
        values.append_next(column, &mut value)?;
        dictionary.push(value);
    }
    Ok(dictionary)
}

fn data_page(
    column: &Column,
    page: &Page,
    dictionary: Option<&[String]>,
    each: &mut impl FnMut(&str) -> Result<()>,
) -> Result<()> {
    let mut bytes = &page.bytes[..];
    let levels = match page.kind {
        PageKind::DataV2(length) => take(&mut bytes, length as u64)?,
        _ if column.is_optional => {
            let length = take(&mut bytes, 4)?;
            let length = u32::from_le_bytes([length[0], length[1], length[2], length[3]]);
            take(&mut bytes, u64::from(length))?
        }
        _ => &[],
    };
    let mut levels = match column.is_optional {
        true => Some(Runs::new(levels, width_of(1))?),
        false => None,
    };
    let mut values = Values::new(column, page, bytes, dictionary)?;
    let mut value = String::new();
    for _ in 0..page.count {
        let is_present = match &mut levels {
            Some(levels) => levels.next_number()? == 1,
            None => true,
        };
        value.clear();
        match &mut values {
            _ if !is_present => each("")?,
            Values::Dictionary { positions, dictionary } => {
                let position = positions.next_number()?;
                let known = dictionary.get(position as usize);
                let missing = || Bad::new(format!("its dictionary has no value {position}"));
                each(known.ok_or_else(missing)?)?;
            }
            values => {
                values.append_next(column, &mut value)?;
                each(&value)?;
            }
        }
    }
    Ok(())
}

/// The values of a page, one after the other.
enum Values<'p> {
    Plain { bytes: &'p [u8], bit: u64 },
    Dictionary { positions: Runs<'p>, dictionary: &'p [String] },
    Booleans(Runs<'p>),
    Deltas(Deltas<'p>),
    Lengths { lengths: std::vec::IntoIter<usize>, bytes: &'p [u8] },
    Prefixed { lengths: std::vec::IntoIter<(usize, usize)>, bytes: &'p [u8], last: Vec<u8> },
    Split { bytes: &'p [u8], width: usize, next: usize },
}

impl<'p> Values<'p> {
    fn new(
        column: &Column,
        page: &Page,
        mut bytes: &'p [u8],
        dictionary: Option<&'p [String]>,
    ) -> Result<Self> {
        let is_bytes = matches!(column.physical, Physical::Bytes | Physical::FixedBytes(_));
        let width = width(column.physical);
        Ok(match (page.encoding, column.physical) {
            (0, _) => Self::Plain { bytes, bit: 0 },
            (2 | 8, _) => {
                let dictionary = dictionary.ok_or_else(|| Bad::new("it has no dictionary"))?;
                // A page without values may have no width.
                let width = bytes.first().copied().unwrap_or(0);
                let bytes = bytes.get(1..).unwrap_or(&[]);
                let positions = Runs::new(bytes, u32::from(width))?;
                Self::Dictionary { positions, dictionary }
            }
            (3, Physical::Boolean) => {
                // The length of the runs comes first, in four bytes.
                take(&mut bytes, 4)?;
                Self::Booleans(Runs::new(bytes, 1)?)
            }
            (5, Physical::Int32 | Physical::Int64) => Self::Deltas(Deltas::new(bytes)?),
            (6, Physical::Bytes) => {
                let (lengths, bytes) = Deltas::new(bytes)?.lengths(page.count)?;
                Self::Lengths { lengths: lengths.into_iter(), bytes }
            }
            (7, _) if is_bytes => {
                let (prefixes, rest) = Deltas::new(bytes)?.lengths(page.count)?;
                let (suffixes, bytes) = Deltas::new(rest)?.lengths(page.count)?;
                let lengths: Vec<_> = prefixes.into_iter().zip(suffixes).collect();
                Self::Prefixed { lengths: lengths.into_iter(), bytes, last: Vec::new() }
            }
            (9, _) if width > 0 => Self::Split { bytes, width, next: 0 },
            (encoding, _) => {
                return Err(Bad::new(format!("its encoding has the unknown number {encoding}")));
            }
        })
    }

    /// Appends the text of the next value.
    fn append_next(&mut self, column: &Column, out: &mut String) -> Result<()> {
        match self {
            Self::Plain { bytes, bit } => {
                if column.physical == Physical::Boolean {
                    let index = (*bit / 8) as usize;
                    let byte = *bytes.get(index).ok_or_else(early)?;
                    let value = byte >> (*bit % 8) & 1;
                    *bit += 1;
                    return text::append(column, &[value], out);
                }
                let length = match column.physical {
                    Physical::Bytes => {
                        let length = take(bytes, 4)?;
                        u32::from_le_bytes([length[0], length[1], length[2], length[3]]) as usize
                    }
                    physical => width(physical),
                };
                text::append(column, take(bytes, length as u64)?, out)
            }
            Self::Dictionary { positions, dictionary } => {
                let position = positions.next_number()? as usize;
                out.push_str(dictionary.get(position).ok_or_else(early)?);
                Ok(())
            }
            Self::Booleans(runs) => text::append(column, &[runs.next_number()? as u8], out),
            Self::Deltas(deltas) => {
                let value = deltas.next_number()?.ok_or_else(early)?;
                match column.physical {
                    // Differences of 32-bit numbers wrap around.
                    Physical::Int32 => text::append(column, &(value as i32).to_le_bytes(), out),
                    _ => text::append(column, &value.to_le_bytes(), out),
                }
            }
            Self::Lengths { lengths, bytes } => {
                let length = lengths.next().ok_or_else(early)?;
                text::append(column, take(bytes, length as u64)?, out)
            }
            Self::Prefixed { lengths, bytes, last } => {
                let (prefix, suffix) = lengths.next().ok_or_else(early)?;
                if prefix > last.len() {
                    return Err(Bad::new("a value begins with more than the previous one has"));
                }
                last.truncate(prefix);
                last.extend_from_slice(take(bytes, suffix as u64)?);
                text::append(column, last, out)
            }
            Self::Split { bytes, width, next } => {
                let count = bytes.len() / *width;
                if *next >= count {
                    return Err(early());
                }
                let value: Vec<u8> =
                    (0..*width).map(|stream| bytes[stream * count + *next]).collect();
                *next += 1;
                text::append(column, &value, out)
            }
        }
    }
}

fn early() -> Bad {
    Bad::new("its values end early")
}

/// Bytes of a value; 0 if values have no fixed length in bytes.
fn width(physical: Physical) -> usize {
    match physical {
        Physical::Boolean | Physical::Bytes => 0,
        Physical::Int32 | Physical::Float => 4,
        Physical::Int64 | Physical::Double => 8,
        Physical::Int96 => 12,
        Physical::FixedBytes(length) => length,
    }
}
