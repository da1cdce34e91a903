//! Rows under another key: decoded with one design, encoded with another.
//!
//! Both designs have the same fields, and each field can be read back, so two different records
//! never get the same key. Rows that differ only in a random salt are the same record:
//! [`Rekey::siblings`] names them, and [`copy`](crate::copy) refuses them unless told to merge.

use hblite_rowkey::{Design, Part, SaltBy, Value, salt_hash};

use crate::error::{BadRow, TransferError};

/// From the keys of one design to those of another.
#[derive(Debug, Clone)]
pub struct Rekey {
    from: KeyFields,
    to: Design,
    /// For each field of `to`, its place in `from`.
    places: Vec<usize>,
    /// How many keys a record may have.
    salts: u32,
    /// Whether rows that differ only in a random salt become one.
    is_merging: bool,
}

/// The fields of keys, which are the same whatever their order and encoding.
#[derive(Debug, Clone)]
pub struct KeyFields {
    design: Design,
    /// The places of the fields, in the order of their names.
    by_name: Vec<usize>,
    skips_bad_rows: bool,
}

impl KeyFields {
    /// The fields of a design.
    ///
    /// # Errors
    /// `Invalid` if one of them is only kept as a hash.
    pub fn new(design: Design) -> Result<Self, TransferError> {
        let hashed = design.fields().iter().find(|field| !field.encoding.is_reversible());
        if let Some(field) = hashed {
            let name = &field.name;
            let message = format!(
                "{design}: the key has only a hash of {name}, which cannot be read back; for a \
                 key that begins with a hash, write md5hex({name}, 6)|{name}:str"
            );
            return Err(TransferError::Invalid(message));
        }
        let mut by_name: Vec<usize> = (0..design.fields().len()).collect();
        by_name.sort_by_key(|place| &design.fields()[*place].name);
        Ok(Self { design, by_name, skips_bad_rows: false })
    }

    /// Sets whether rows that are not keys of the design are left out of a digest, instead of
    /// ending it.
    #[must_use]
    pub fn with_bad_rows_skipped(self, skips_bad_rows: bool) -> Self {
        Self { skips_bad_rows, ..self }
    }

    pub(crate) fn skips_bad_rows(&self) -> bool {
        self.skips_bad_rows
    }

    /// The values of a row's key.
    fn values<'r>(&self, row: &'r [u8]) -> Result<Vec<Value<'r>>, TransferError> {
        let bad = |reason: String| BadRow { row: row.to_vec(), reason };
        let values = self.design.decode(row).map_err(|error| bad(error.message().to_owned()))?;
        if !self.design.has_random_salt() {
            let again = self.design.encode(&values).unwrap_or_default();
            if again != row {
                let expected = hblite_rowkey::printable(&again);
                return Err(bad(format!("the key of its fields is {expected}")).into());
            }
        }
        Ok(values)
    }

    /// Writes the fields of a row's key in a form that does not depend on the design:
    ///
    /// ```text
    /// for each field by name: u16 length of the name | name | u8 kind | u32 length | value
    /// kind 0: a number of 16 bytes, big-endian; kind 1: text or bytes
    /// ```
    ///
    /// # Errors
    /// `BadRow` if it is not a key of the design.
    pub(crate) fn write(&self, row: &[u8], bytes: &mut Vec<u8>) -> Result<(), TransferError> {
        let values = self.values(row)?;
        bytes.clear();
        for place in &self.by_name {
            let name = self.design.fields()[*place].name.as_bytes();
            bytes.extend((name.len() as u16).to_be_bytes());
            bytes.extend(name);
            let value = &values[*place];
            let mut push = |kind, value: &[u8]| {
                bytes.push(kind);
                bytes.extend((value.len() as u32).to_be_bytes());
                bytes.extend(value);
            };
            match value.as_number() {
                Some(number) => push(0, &number.to_be_bytes()),
                None => push(1, value.as_bytes().unwrap_or_default()),
            }
        }
        Ok(())
    }
}

impl Rekey {
    /// Moves records from the keys of one design to those of another.
    ///
    /// # Errors
    /// `Invalid` if the designs do not have the same fields, or a field is only kept as a hash.
    pub fn new(from: Design, to: Design) -> Result<Self, TransferError> {
        let place = |name: &str| from.fields().iter().position(|field| field.name == name);
        let lacks = |design: &Design, name: &str| {
            let message = format!(
                "{design} has no field {name}: both keys need the same fields, or records would \
                 be lost or confused"
            );
            TransferError::Invalid(message)
        };
        let places = to
            .fields()
            .iter()
            .map(|field| place(&field.name).ok_or_else(|| lacks(&from, &field.name)));
        let places = places.collect::<Result<Vec<usize>, _>>()?;
        let missing = from.fields().iter().find(|field| to.field_index(&field.name).is_err());
        if let Some(field) = missing {
            return Err(lacks(&to, &field.name));
        }
        let to = KeyFields::new(to)?.design;
        let random = from.parts().iter().filter_map(|part| match part {
            Part::Salt(salt) if salt.by == SaltBy::Random => Some(salt.labels.count()),
            _ => None,
        });
        let counts: Vec<u32> = random.collect();
        if counts.len() > 1 {
            let message = format!("{from}: keys with several random salts cannot be moved");
            return Err(TransferError::Invalid(message));
        }
        let salts = counts.first().copied().unwrap_or(1);
        Ok(Self { from: KeyFields::new(from)?, to, places, salts, is_merging: false })
    }

    /// Sets whether rows that differ only in a random salt become one row, with the cells of all.
    #[must_use]
    pub fn with_merging(self, is_merging: bool) -> Self {
        Self { is_merging, ..self }
    }

    /// The design of the new keys.
    pub fn to(&self) -> &Design {
        &self.to
    }

    /// The new key of a row. A random salt follows from the old key, so that a copy that is
    /// repeated writes the same rows.
    ///
    /// # Errors
    /// `BadRow` if the row is not a key of the old design, or its fields do not fit the new one.
    pub fn key(&self, row: &[u8]) -> Result<Vec<u8>, TransferError> {
        let mut values = self.from.values(row)?;
        let mut ordered = Vec::with_capacity(values.len());
        for place in &self.places {
            ordered.push(std::mem::replace(&mut values[*place], Value::Unsigned(0)));
        }
        let mut key = Vec::new();
        let encoded = self.to.encode_into(&ordered, salt_hash(row), &mut key);
        encoded
            .map_err(|error| BadRow { row: row.to_vec(), reason: error.message().to_owned() })?;
        Ok(key)
    }

    /// The rows before this one that would get the same key: those of the same fields with another
    /// random salt. None if they are merged.
    ///
    /// # Errors
    /// As [`Rekey::key`].
    pub fn siblings(&self, row: &[u8]) -> Result<Vec<Vec<u8>>, TransferError> {
        if self.salts == 1 || self.is_merging {
            return Ok(Vec::new());
        }
        let values = self.from.values(row)?;
        let mut siblings = Vec::new();
        for salt in 0..self.salts {
            let mut key = Vec::new();
            let encoded = self.from.design.encode_into(&values, salt.into(), &mut key);
            if encoded.is_ok() && key.as_slice() < row {
                siblings.push(key);
            }
        }
        Ok(siblings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn design(text: &str) -> Design {
        Design::parse(text).unwrap()
    }

    fn rekey(from: &str, to: &str) -> Result<Rekey, String> {
        Rekey::new(design(from), design(to)).map_err(|error| error.to_string())
    }

    #[test]
    fn a_key_is_that_of_its_fields() {
        let rekey = rekey("ts:timestamp|host:str", "salt(4, host)|host:str|ts:reverse_timestamp");
        let rekey = rekey.unwrap();
        let old = design("ts:timestamp|host:str").encode(&[7_u64.into(), "web1".into()]).unwrap();
        let new = design("salt(4, host)|host:str|ts:reverse_timestamp");
        let new = new.encode(&["web1".into(), 7_u64.into()]).unwrap();
        assert_eq!(rekey.key(&old).unwrap(), new);
        assert!(rekey.siblings(&old).unwrap().is_empty());
        let error = rekey.key(b"short").unwrap_err().to_string();
        assert!(error.starts_with("row short: "), "{error}");
    }

    #[test]
    fn a_salt_that_is_not_that_of_the_fields_is_no_key() {
        let rekey = rekey("salt(4, host)|host:str", "host:str").unwrap();
        let mut row = design("salt(4, host)|host:str").encode(&["web1".into()]).unwrap();
        assert_eq!(rekey.key(&row).unwrap(), b"web1");
        row[0] ^= 1;
        let error = rekey.key(&row).unwrap_err().to_string();
        assert!(error.contains("the key of its fields is"), "{error}");
    }

    #[test]
    fn designs_that_lose_something_are_refused() {
        let lost = rekey("a:str|b:str", "a:str").unwrap_err();
        assert!(lost.starts_with("a:str has no field b:"), "{lost}");
        let invented = rekey("a:str", "a:str|b:str").unwrap_err();
        assert!(invented.starts_with("a:str has no field b:"), "{invented}");
        for designs in [("a:md5|b:str", "a:str|b:str"), ("a:str|b:str", "a:md5hex(6)|b:str")] {
            let hashed = rekey(designs.0, designs.1).unwrap_err();
            assert!(hashed.contains("only a hash of a"), "{hashed}");
        }
    }

    #[test]
    fn rows_of_one_record_are_siblings_and_salts_are_repeated() {
        let rekey = rekey("salt(4)|a:str", "salt(8)|a:str").unwrap();
        let row = |salt: u8| [&[salt][..], b"x"].concat();
        assert_eq!(rekey.siblings(&row(2)).unwrap(), [row(0), row(1)]);
        assert!(rekey.siblings(&row(0)).unwrap().is_empty());
        assert_eq!(rekey.key(&row(2)).unwrap(), rekey.key(&row(2)).unwrap());
        assert!(rekey.with_merging(true).siblings(&row(2)).unwrap().is_empty());
    }

    /// Fields are the same bytes in every order and encoding of numbers and texts.
    #[test]
    fn fields_do_not_depend_on_the_design() {
        let values = |text: &str, values: &[Value<'_>]| {
            let design = design(text);
            let mut key = Vec::new();
            design.encode_into(values, 3, &mut key).unwrap();
            let mut bytes = Vec::new();
            KeyFields::new(design).unwrap().write(&key, &mut bytes).unwrap();
            bytes
        };
        let one = values("n:u32|s:str", &[9_u64.into(), "ab".into()]);
        assert_eq!(values("salt(4)|s:reversed_str(8)|n:i64", &["ab".into(), 9_u64.into()]), one);
        assert_ne!(values("n:u32|s:str", &[9_u64.into(), "abc".into()]), one);
        assert_ne!(values("n:u32|t:str", &[9_u64.into(), "ab".into()]), one);
    }
}
