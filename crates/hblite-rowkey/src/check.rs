//! The reasons for refusing a design.

use crate::error::{Error, Result};
use crate::number::Number;
use crate::part::{
    Bucket, COUNT_MAX, Encoding, Field, HashForm, HashPrefix, KEY_LENGTH_MAX, Labels, Part, Salt,
    SaltBy,
};
use crate::text::{End, Text};

/// A row key has no more parts than this.
const PARTS_MAX: usize = 64;

pub(crate) fn check(parts: &[Part]) -> Result<()> {
    if parts.len() > PARTS_MAX {
        return Err(Error::design(PARTS_MAX, format!("a key has at most {PARTS_MAX} parts")));
    }
    if !parts.iter().any(|part| matches!(part, Part::Field(_))) {
        return Err(Error::design(0, "no field: all rows would have the same few keys"));
    }
    let mut scans = 1_u64;
    let mut width = 0;
    for (index, part) in parts.iter().enumerate() {
        let is_last = index + 1 == parts.len();
        let refused = |message| Error::design(index, message);
        match part {
            Part::Salt(salt) => {
                check_salt(salt, parts).map_err(refused)?;
                scans *= u64::from(salt.labels.count());
                width += salt.labels.width();
            }
            Part::Bucket(bucket) => {
                check_bucket(bucket, parts).map_err(refused)?;
                scans *= u64::from(bucket.count);
                width += 2;
            }
            Part::Hash(hash) => check_hash(hash, parts).map_err(refused)?,
            Part::Literal(bytes) if bytes.is_empty() => {
                return Err(refused("an empty literal has no effect".to_owned()));
            }
            Part::Literal(bytes) => width += bytes.len(),
            Part::Field(field) => {
                check_name(&field.name, &parts[..index]).map_err(refused)?;
                check_encoding(field, is_last).map_err(refused)?;
                width += field.encoding.width().unwrap_or(0);
            }
        }
        if scans > u64::from(COUNT_MAX) {
            return Err(refused(format!(
                "salts and buckets together make {scans} prefixes, and a query one scan for each: \
                 at most {COUNT_MAX}"
            )));
        }
        if width > KEY_LENGTH_MAX {
            return Err(refused(format!(
                "the fixed widths add up to {width} bytes; a row key has at most {KEY_LENGTH_MAX}"
            )));
        }
    }
    Ok(())
}

fn field<'p>(name: &str, parts: &'p [Part]) -> Option<&'p Field> {
    parts.iter().find_map(|part| match part {
        Part::Field(field) if field.name == name => Some(field),
        _ => None,
    })
}

fn named<'p>(name: &str, parts: &'p [Part], what: &str) -> Result<&'p Field, String> {
    field(name, parts).ok_or_else(|| {
        format!(
            "{what} of {name}, which is not a field of the key: without {name} in it, a key could \
             not be computed from a record's other values"
        )
    })
}

fn check_name(name: &str, before: &[Part]) -> Result<(), String> {
    let mut characters = name.chars();
    let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    let is_name = characters.next().is_some_and(is_letter)
        && characters.all(|c| is_letter(c) || c.is_ascii_digit());
    if !is_name {
        return Err(format!("{name:?} is not a name: use letters, digits and _, a letter first"));
    }
    if field(name, before).is_some() {
        return Err(format!("field {name} appears twice"));
    }
    Ok(())
}

fn check_salt(salt: &Salt, parts: &[Part]) -> Result<(), String> {
    match salt.labels.count() {
        0 => return Err("a salt needs at least one value: use 1 to 65536".to_owned()),
        count if count > COUNT_MAX => {
            return Err(format!("a salt has at most {COUNT_MAX} values, since each costs a scan"));
        }
        _ => {}
    }
    if let Labels::Texts(texts) = &salt.labels {
        let width = salt.labels.width();
        if width == 0 || texts.iter().any(|text| text.len() != width) {
            return Err(
                "the salts must have one length, at least 1: with others nobody could tell \
                        where the key goes on"
                    .to_owned(),
            );
        }
        let mut sorted: Vec<&Vec<u8>> = texts.iter().collect();
        sorted.sort();
        sorted.dedup();
        if sorted.len() != texts.len() {
            return Err("two salts are equal".to_owned());
        }
    }
    if let SaltBy::Fields(names) = &salt.by {
        if names.is_empty() {
            return Err("a salt computed from no field is the same for every row".to_owned());
        }
        for name in names {
            named(name, parts, "a salt by the hash")?;
        }
    }
    Ok(())
}

fn check_bucket(bucket: &Bucket, parts: &[Part]) -> Result<(), String> {
    match bucket.count {
        0 => {
            return Err("there must be at least one bucket: use 1 to 65536".to_owned());
        }
        count if count > COUNT_MAX => {
            return Err(format!("at most {COUNT_MAX} buckets, since each costs a scan"));
        }
        _ => {}
    }
    let field = named(&bucket.field, parts, "the bucket")?;
    match field.encoding {
        Encoding::Number(Number::I64) => Err(format!(
            "a bucket of {}, which may be negative: the remainder of negative numbers differs \
             between languages; use timestamp or u64",
            field.name
        )),
        Encoding::Number(_) => Ok(()),
        _ => Err(format!(
            "a bucket of {}, which is not a number: use a salt computed from it, salt({}, {})",
            field.name, bucket.count, field.name
        )),
    }
}

fn check_hash(hash: &HashPrefix, parts: &[Part]) -> Result<(), String> {
    hash.form.check()?;
    if hash.fields.is_empty() {
        return Err("a hash of no field is the same for every row".to_owned());
    }
    for name in &hash.fields {
        named(name, parts, "a hash")?;
    }
    Ok(())
}

fn check_encoding(field: &Field, is_last: bool) -> Result<(), String> {
    let name = &field.name;
    match field.encoding {
        Encoding::Text(Text { end: End::Fixed(0), .. }) => {
            Err(format!("{name} has 0 bytes, which cannot hold a value"))
        }
        Encoding::Text(Text { end: End::Rest, is_text, .. }) if !is_last => {
            let kind = if is_text { "str" } else { "bytes" };
            Err(format!(
                "{name} has no end and another part follows: keys could not be read back, and \
                 different records could share one. Give it a width, {kind}(16), or an end, \
                 {kind}(escape)"
            ))
        }
        Encoding::Text(Text { end: End::Delimiter(delimiter), is_text, .. })
            if !is_last && delimiter >= if is_text { GREATEST_IN_TEXT } else { u8::MAX } =>
        {
            Err(format!(
                "{name} cannot hold a value: every byte of it would have to be greater than the \
                 delimiter {delimiter:#04x}"
            ))
        }
        Encoding::Md5Hex(count) => HashForm::Hex(count).check(),
        _ => Ok(()),
    }
}

/// Every character of several bytes in UTF-8 has one that is not greater than this, and every other
/// is less.
const GREATEST_IN_TEXT: u8 = 0xbf;
