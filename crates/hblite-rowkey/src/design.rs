//! A design: parts that were checked to fit together, and the keys they make.
//!
//! A key is its parts in order, with nothing between them but the delimiters of text. The first
//! part decides where a row is stored. What a query knows decides how much of the front of the key
//! can be given, and so how much is read.

use crate::check::check;
use crate::error::{Error, Result};
use crate::hash::{MD5_WIDTH, md5, push_hex, salt_hash};
use crate::number::Number;
use crate::part::{
    Encoding, Field, HashForm, KEY_LENGTH_MAX, Labels, Part, SaltBy, numbered_width, push_numbered,
};
use crate::text::Text;
use crate::value::Value;

/// A checked design of row keys.
///
/// ```
/// use hblite_rowkey::{Design, Value};
///
/// let design = Design::parse("bucket(ts, 4)|ts:timestamp|host:str|event:str")?;
/// let values = [Value::from(1_500_000_007_u64), "web1".into(), "login".into()];
/// let key = design.encode(&values)?;
/// assert_eq!(key, b"\x03\x00\x00\x00\x00Yh/\x07web1\x00login");
/// assert_eq!(design.decode(&key)?, values);
/// # Ok::<(), hblite_rowkey::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Design {
    parts: Vec<Part>,
    steps: Vec<Step>,
    fields: Vec<Field>,
    has_random_salt: bool,
}

/// A part, with its fields resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    Random(Labels),
    SaltByFields(Labels, Vec<usize>),
    SaltByRest(Labels),
    Bucket { field: usize, count: u32 },
    Hash { fields: Vec<usize>, form: HashForm },
    Literal(Vec<u8>),
    Number { field: usize, number: Number },
    Text { field: usize, text: Text, is_last: bool },
    Md5 { field: usize, form: HashForm },
}

impl Step {
    /// The number of bytes, if it is the same in all keys.
    pub(crate) fn width(&self) -> Option<usize> {
        match self {
            Self::Random(labels) | Self::SaltByFields(labels, _) | Self::SaltByRest(labels) => {
                Some(labels.width())
            }
            Self::Bucket { count, .. } => Some(numbered_width(*count)),
            Self::Hash { form, .. } | Self::Md5 { form, .. } => Some(form.width()),
            Self::Literal(bytes) => Some(bytes.len()),
            Self::Number { number, .. } => Some(number.width()),
            Self::Text { text, .. } => Encoding::Text(*text).width(),
        }
    }

    /// The field that this step writes.
    pub(crate) fn field(&self) -> Option<usize> {
        match self {
            Self::Number { field, .. } | Self::Text { field, .. } | Self::Md5 { field, .. } => {
                Some(*field)
            }
            _ => None,
        }
    }
}

impl Design {
    /// Checks that the parts can be combined.
    ///
    /// # Errors
    /// `Design` with the reason and the part: a field of unknown length before another one, a
    /// bucket count of 0, a salt computed from a field that does not exist, and so on.
    pub fn new(parts: Vec<Part>) -> Result<Self> {
        check(&parts)?;
        let fields: Vec<Field> = parts
            .iter()
            .filter_map(|part| match part {
                Part::Field(field) => Some(field.clone()),
                _ => None,
            })
            .collect();
        let last = parts.len().saturating_sub(1);
        let steps: Vec<Step> = parts
            .iter()
            .enumerate()
            .map(|(index, part)| step(part, &fields, index == last))
            .collect();
        let has_random_salt = steps.iter().any(|step| matches!(step, Step::Random(_)));
        Ok(Self { parts, steps, fields, has_random_salt })
    }

    /// The parts.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    pub(crate) fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The fields in the order of values.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The position of a field among the values.
    ///
    /// # Errors
    /// `Query` if there is no such field; the message lists the known ones.
    pub fn field_index(&self, name: &str) -> Result<usize> {
        self.fields.iter().position(|field| field.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.fields.iter().map(|field| field.name.as_str()).collect();
            Error::query(format!("no field {name} in the key; its fields are {}", names.join(", ")))
        })
    }

    /// Whether a key depends on a random number. If so, [`Design::encode`] refuses.
    pub fn has_random_salt(&self) -> bool {
        self.has_random_salt
    }

    /// The number of bytes of a key, if it is the same for all.
    pub fn width(&self) -> Option<usize> {
        self.steps.iter().map(Step::width).sum()
    }

    /// The key of a record with these values, in the order of [`Design::fields`].
    ///
    /// # Errors
    /// `Value` if a value does not fit its field, if the key is empty or longer than HBase accepts,
    /// and for a design with a random salt; use [`Design::encode_into`] for those.
    pub fn encode(&self, values: &[Value<'_>]) -> Result<Vec<u8>> {
        if self.has_random_salt {
            return Err(Error::value(
                "salt",
                "a random salt needs a random number: call encode_into with one",
            ));
        }
        let mut key = Vec::with_capacity(64);
        self.encode_into(values, 0, &mut key)?;
        Ok(key)
    }

    /// As [`Design::encode`], into a reusable buffer, with the random number that selects the
    /// salts.
    ///
    /// # Errors
    /// As [`Design::encode`]; the contents of `key` are then undefined.
    pub fn encode_into(&self, values: &[Value<'_>], random: u64, key: &mut Vec<u8>) -> Result<()> {
        key.clear();
        if values.len() != self.fields.len() {
            return Err(self.wrong_count(values.len()));
        }
        let mut salt_of_rest = None;
        for step in &self.steps {
            match step {
                Step::Number { field, number } => match number.bits(&values[*field]) {
                    Some(bits) => number.push(bits, key),
                    None => return Err(self.misfit(*field, &values[*field])),
                },
                Step::SaltByRest(labels) => {
                    salt_of_rest = Some((key.len(), labels));
                    labels.push(0, key);
                }
                Step::Random(labels) => {
                    labels.push((random % u64::from(labels.count())) as u32, key);
                }
                step => self.push_step(step, |field| values.get(field), key)?,
            }
        }
        if let Some((at, labels)) = salt_of_rest {
            patch_salt(labels, at, key);
        }
        if key.is_empty() || key.len() > KEY_LENGTH_MAX {
            return Err(bad_length(key.len()));
        }
        Ok(())
    }

    /// Writes a step that depends on values only. Every field that it uses must be present.
    pub(crate) fn push_step<'v>(
        &self,
        step: &Step,
        value: impl Fn(usize) -> Option<&'v Value<'v>>,
        key: &mut Vec<u8>,
    ) -> Result<()> {
        let of = |field: usize| {
            value(field).ok_or_else(|| Error::value(&self.fields[field].name, "has no value"))
        };
        match step {
            Step::Literal(bytes) => key.extend_from_slice(bytes),
            Step::Bucket { field, count } => {
                let number = of(*field)?.as_number().and_then(|number| u64::try_from(number).ok());
                let number = number.ok_or_else(|| self.misfit_of(*field, value(*field)))?;
                push_numbered(*count, (number % u64::from(*count)) as u32, key);
            }
            Step::SaltByFields(labels, fields) => {
                let start = key.len();
                for field in fields {
                    self.push_open(*field, of(*field)?, key)?;
                }
                let hash = salt_hash(&key[start..]);
                key.truncate(start);
                labels.push((hash % u64::from(labels.count())) as u32, key);
            }
            Step::Hash { fields, form } => {
                let start = key.len();
                for field in fields {
                    self.push_open(*field, of(*field)?, key)?;
                }
                let digest = md5(&key[start..]);
                key.truncate(start);
                push_digest(&digest, *form, key);
            }
            Step::Text { field, text, is_last } => {
                let refused = |message| Error::value(&self.fields[*field].name, message);
                let start = key.len();
                text.push_open(of(*field)?, *is_last, key).map_err(refused)?;
                text.push_end(key.len() - start, *is_last, key).map_err(refused)?;
            }
            Step::Number { field, .. } | Step::Md5 { field, .. } => {
                self.push_open(*field, of(*field)?, key)?;
            }
            Step::Random(_) | Step::SaltByRest(_) => {
                return Err(Error::value("salt", "does not follow from single fields"));
            }
        }
        Ok(())
    }

    /// Writes a value without delimiter and padding.
    pub(crate) fn push_open(
        &self,
        field: usize,
        value: &Value<'_>,
        key: &mut Vec<u8>,
    ) -> Result<()> {
        let Field { name, encoding } = &self.fields[field];
        match encoding {
            Encoding::Number(number) => {
                let bits = number.bits(value).ok_or_else(|| self.misfit(field, value))?;
                number.push(bits, key);
            }
            Encoding::Text(text) => {
                text.push_open(value, self.is_last(field), key)
                    .map_err(|message| Error::value(name, message))?;
            }
            Encoding::Md5 => push_hashed(value, HashForm::Bytes(MD5_WIDTH as u8), key)
                .map_err(|message| Error::value(name, message))?,
            Encoding::Md5Hex(count) => push_hashed(value, HashForm::Hex(*count), key)
                .map_err(|message| Error::value(name, message))?,
        }
        Ok(())
    }

    /// Whether the key ends with this field.
    pub(crate) fn is_last(&self, field: usize) -> bool {
        self.steps.last().and_then(Step::field) == Some(field)
    }

    /// The values of a key, in the order of [`Design::fields`]; for hashed fields, the digest.
    /// Salts, buckets and hashes are skipped, and not compared with the fields they were computed
    /// from.
    ///
    /// # Errors
    /// `Key` if the bytes are not a key of this design.
    pub fn decode<'k>(&self, key: &'k [u8]) -> Result<Vec<Value<'k>>> {
        let mut values = Vec::with_capacity(self.fields.len());
        self.walk(key, &mut values, |_| {})?;
        Ok(values)
    }

    /// Where each part of a key ends, in bytes from its start: one number per part. The end of a
    /// text includes its delimiter or padding.
    ///
    /// ```
    /// let design = hblite_rowkey::Design::parse("salt(4, host)|host:str|ts:timestamp")?;
    /// let key = design.encode(&["web1".into(), 7_u64.into()])?;
    /// assert_eq!(design.part_ends(&key)?, [1, 6, 14]);
    /// # Ok::<(), hblite_rowkey::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Design::decode`].
    pub fn part_ends(&self, key: &[u8]) -> Result<Vec<usize>> {
        let mut ends = Vec::with_capacity(self.steps.len());
        self.walk(key, &mut Vec::with_capacity(self.fields.len()), |end| ends.push(end))?;
        Ok(ends)
    }

    /// Reads a key from its start; `visit` is called with the end of each part.
    fn walk<'k>(
        &self,
        key: &'k [u8],
        values: &mut Vec<Value<'k>>,
        mut visit: impl FnMut(usize),
    ) -> Result<()> {
        let mut rest = key;
        for step in &self.steps {
            if let Step::Text { field, text, is_last } = step {
                let read = text.read(rest, *is_last);
                let (value, after) = read.map_err(|message| self.no_key(*field, &message))?;
                values.push(value);
                rest = after;
                visit(key.len() - rest.len());
                continue;
            }
            let width = step.width().unwrap_or(0);
            let Some((bytes, after)) = rest.split_at_checked(width) else {
                return Err(Error::key(format!(
                    "the key has {} bytes and ends within a part of {width}",
                    key.len()
                )));
            };
            rest = after;
            visit(key.len() - rest.len());
            match step {
                Step::Literal(literal) if bytes != literal.as_slice() => {
                    return Err(Error::key(format!(
                        "the key does not have {} at byte {}",
                        crate::value::Quoted(literal),
                        key.len() - after.len() - width
                    )));
                }
                Step::Number { field, number } => {
                    let value = number.read(bytes);
                    values.push(value.ok_or_else(|| {
                        self.no_key(*field, "the bytes are beyond Long.MAX_VALUE")
                    })?);
                }
                Step::Md5 { .. } => values.push(Value::Digest(bytes.into())),
                _ => {}
            }
        }
        if !rest.is_empty() {
            return Err(Error::key(format!("{} bytes follow the last field", rest.len())));
        }
        Ok(())
    }

    fn no_key(&self, field: usize, message: &str) -> Error {
        Error::key(format!("field {}: {message}", self.fields[field].name))
    }

    #[cold]
    fn misfit_of(&self, field: usize, value: Option<&Value<'_>>) -> Error {
        value.map_or_else(
            || Error::value(&self.fields[field].name, "has no value"),
            |value| self.misfit(field, value),
        )
    }

    #[cold]
    fn misfit(&self, field: usize, value: &Value<'_>) -> Error {
        let Field { name, encoding } = &self.fields[field];
        match encoding {
            Encoding::Number(number) => Error::value(
                name,
                format_args!(
                    "{value} is not a number from {} to {}, as {} holds",
                    number.least(),
                    number.greatest(),
                    number.name()
                ),
            ),
            _ => Error::value(name, format_args!("{value} does not fit")),
        }
    }

    #[cold]
    fn wrong_count(&self, count: usize) -> Error {
        let wanted = self.fields.len();
        Error::value("key", format_args!("{count} values were given for {wanted} fields"))
    }
}

fn step(part: &Part, fields: &[Field], is_last: bool) -> Step {
    // The names have been checked.
    let find = |name: &String| fields.iter().position(|field| field.name == *name).unwrap_or(0);
    match part {
        Part::Salt(salt) => match &salt.by {
            SaltBy::Random => Step::Random(salt.labels.clone()),
            SaltBy::Rest => Step::SaltByRest(salt.labels.clone()),
            SaltBy::Fields(names) => {
                Step::SaltByFields(salt.labels.clone(), names.iter().map(find).collect())
            }
        },
        Part::Bucket(bucket) => Step::Bucket { field: find(&bucket.field), count: bucket.count },
        Part::Hash(hash) => {
            Step::Hash { fields: hash.fields.iter().map(find).collect(), form: hash.form }
        }
        Part::Literal(bytes) => Step::Literal(bytes.clone()),
        Part::Field(field) => {
            let index = find(&field.name);
            match field.encoding {
                Encoding::Number(number) => Step::Number { field: index, number },
                Encoding::Text(text) => Step::Text { field: index, text, is_last },
                Encoding::Md5 => Step::Md5 { field: index, form: HashForm::Bytes(MD5_WIDTH as u8) },
                Encoding::Md5Hex(count) => Step::Md5 { field: index, form: HashForm::Hex(count) },
            }
        }
    }
}

fn push_hashed(value: &Value<'_>, form: HashForm, key: &mut Vec<u8>) -> Result<(), String> {
    match value {
        Value::Digest(digest) if digest.len() == form.width() => key.extend_from_slice(digest),
        Value::Digest(digest) => {
            let width = form.width();
            return Err(format!("the digest has {} bytes, the field {width}", digest.len()));
        }
        Value::Text(text) => push_digest(&md5(text.as_bytes()), form, key),
        Value::Bytes(bytes) => push_digest(&md5(bytes), form, key),
        Value::Unsigned(number) => push_digest(&md5(&number.to_be_bytes()), form, key),
        Value::Signed(number) => push_digest(&md5(&number.to_be_bytes()), form, key),
    }
    Ok(())
}

#[inline]
fn push_digest(digest: &[u8; MD5_WIDTH], form: HashForm, key: &mut Vec<u8>) {
    match form {
        HashForm::Hex(characters) => push_hex(digest, characters, key),
        HashForm::Bytes(count) => {
            key.extend_from_slice(&digest[..usize::from(count).min(MD5_WIDTH)]);
        }
    }
}

/// Writes the salt that the rest of the key determines into the space reserved for it.
fn patch_salt(labels: &Labels, at: usize, key: &mut [u8]) {
    let width = labels.width();
    let hash = salt_hash(&key[at + width..]);
    let mut label = Vec::with_capacity(width);
    labels.push((hash % u64::from(labels.count())) as u32, &mut label);
    key[at..at + width].copy_from_slice(&label);
}

#[cold]
fn bad_length(length: usize) -> Error {
    Error::value("key", format_args!("has {length} bytes; HBase takes 1 to {KEY_LENGTH_MAX}"))
}
