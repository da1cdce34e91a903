//! The pieces for Rust, whose standard library has no MD5.

use super::runtime::Pieces;

pub(super) const RUST: Pieces = &[
    (
        "number",
        "\
fn number(value: u64, width: usize, most: u64, mask: u64) -> Result<Vec<u8>, String> {
    if value > most {
        return Err(format!(\"{value} is not from 0 to {most}\"));
    }
    Ok((value ^ mask).to_be_bytes()[8 - width..].to_vec())
}
",
    ),
    (
        "value",
        "\
fn value(taken: &[u8], most: u64, mask: u64) -> Result<u64, String> {
    let number = taken.iter().fold(0, |number, one| number << 8 | u64::from(*one)) ^ mask;
    if number > most {
        return Err(format!(\"{number} is greater than {most}\"));
    }
    Ok(number)
}
",
    ),
    (
        "fixed",
        "\
fn fixed(data: Vec<u8>, width: usize, is_text: bool) -> Result<Vec<u8>, String> {
    let is_wrong = if is_text { data.contains(&0) } else { data.len() < width };
    if data.len() > width || is_wrong {
        return Err(format!(\"{data:?} does not fit into {width} bytes\"));
    }
    Ok(data)
}
",
    ),
    (
        "padded",
        "\
fn padded(data: &[u8], width: usize) -> Vec<u8> {
    let mut data = data.to_vec();
    data.resize(width, 0);
    data
}
",
    ),
    (
        "delimited",
        "\
fn delimited(data: Vec<u8>, delimiter: u8) -> Result<Vec<u8>, String> {
    match data.iter().find(|one| **one <= delimiter) {
        Some(one) => Err(format!(\"the byte {one} is not above the delimiter {delimiter}\")),
        None => Ok(data),
    }
}
",
    ),
    (
        "escaped",
        "\
fn escaped(data: &[u8]) -> Vec<u8> {
    let escape = |one: &u8| if *one == 0 { vec![0, 0xFF] } else { vec![*one] };
    data.iter().flat_map(escape).collect()
}
",
    ),
    (
        "domain",
        "\
fn domain(text: &str) -> String {
    text.rsplit('.').collect::<Vec<_>>().join(\".\")
}
",
    ),
    (
        "text",
        "\
fn text(data: Vec<u8>) -> Result<String, String> {
    String::from_utf8(data).map_err(|error| error.to_string())
}
",
    ),
    (
        "trimmed",
        "\
fn trimmed(mut data: Vec<u8>) -> Vec<u8> {
    while data.last() == Some(&0) {
        data.pop();
    }
    data
}
",
    ),
    (
        "hash",
        "\
/// FNV-1a, 64 bits, then the finalizer of MurmurHash3.
fn hash(data: &[u8]) -> u64 {
    let fnv = |h: u64, one: &u8| (h ^ u64::from(*one)).wrapping_mul(0x100000001B3);
    let mut h = data.iter().fold(0xCBF29CE484222325, fnv);
    h = (h ^ h >> 33).wrapping_mul(0xFF51AFD7ED558CCD);
    h = (h ^ h >> 33).wrapping_mul(0xC4CEB9FE1A85EC53);
    h ^ h >> 33
}
",
    ),
    (
        "md5",
        "\
/// RFC 1321.
fn md5(data: &[u8]) -> Vec<u8> {
    let shifts = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];
    let mut state = [0x67452301_u32, 0xEFCDAB89, 0x98BADCFE, 0x10325476];
    let mut padded = data.to_vec();
    padded.push(0x80);
    padded.resize(padded.len() + (120 - padded.len() % 64) % 64, 0);
    padded.extend_from_slice(&(data.len() as u64 * 8).to_le_bytes());
    for block in padded.chunks(64) {
        let [mut a, mut b, mut c, mut d] = state;
        for i in 0..64 {
            let (mixed, place) = match i / 16 {
                0 => (b & c | !b & d, i),
                1 => (d & b | !d & c, (5 * i + 1) % 16),
                2 => (b ^ c ^ d, (3 * i + 5) % 16),
                _ => (c ^ (b | !d), 7 * i % 16),
            };
            let word = block[4 * place..4 * place + 4].iter().rev();
            let word = word.fold(0, |word, one| word << 8 | u32::from(*one));
            let sine = (f64::sin((i + 1) as f64).abs() * 4294967296.0) as u32;
            let sum = a.wrapping_add(mixed).wrapping_add(sine).wrapping_add(word);
            let next = b.wrapping_add(sum.rotate_left(shifts[i / 16][i % 4]));
            (a, d, c, b) = (d, c, b, next);
        }
        for (one, more) in state.iter_mut().zip([a, b, c, d]) {
            *one = one.wrapping_add(more);
        }
    }
    state.iter().flat_map(|one| one.to_le_bytes()).collect()
}
",
    ),
    (
        "hexed",
        "\
fn hexed(data: &[u8]) -> Vec<u8> {
    data.iter().flat_map(|one| format!(\"{one:02x}\").into_bytes()).collect()
}
",
    ),
    (
        "unhex",
        "\
fn unhex(digits: &str) -> Vec<u8> {
    let digit = |one: char| one.to_digit(16).unwrap_or(0) as u8;
    let digits: Vec<u8> = digits.chars().map(digit).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}
",
    ),
    (
        "Reader",
        "\
struct Reader<'k>(&'k [u8]);

#[allow(dead_code)]
impl Reader<'_> {
    fn take(&mut self, width: usize) -> Result<Vec<u8>, String> {
        if self.0.len() < width {
            return Err(\"the key is too short\".to_owned());
        }
        let (taken, key) = self.0.split_at(width);
        self.0 = key;
        Ok(taken.to_vec())
    }

    fn until(&mut self, delimiter: u8) -> Result<Vec<u8>, String> {
        let at = self.0.iter().position(|one| *one == delimiter);
        let taken = self.take(at.ok_or(\"a delimiter is missing\")?)?;
        self.take(1)?;
        Ok(taken)
    }

    fn unescaped(&mut self) -> Result<Vec<u8>, String> {
        let mut taken = Vec::new();
        loop {
            taken.extend(self.until(0)?);
            if self.take(1)? == [1] {
                return Ok(taken);
            }
            taken.push(0);
        }
    }

    fn expect(&mut self, literal: &[u8]) -> Result<(), String> {
        match self.take(literal.len())? == literal {
            true => Ok(()),
            false => Err(format!(\"the key does not have {literal:?}\")),
        }
    }

    fn finish(&self) -> Result<(), String> {
        match self.0.is_empty() {
            true => Ok(()),
            false => Err(format!(\"{:?} follows the last field\", self.0)),
        }
    }
}
",
    ),
];
