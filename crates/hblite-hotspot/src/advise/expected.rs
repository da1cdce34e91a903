//! What is known of a table whose keys are sampled: their design and the queries, or a guess.

use hblite_rowkey::{Design, Value};

use super::{NoAdvice, Sample, Wanted, design};

/// The present design of keys and the expected queries, as far as they are known.
///
/// ```
/// use hblite_hotspot::advise::{AdviceOptions, Expected, advise};
/// let keys = (0..2000).map(|index| format!("2026-01-31 {index:06}").into_bytes()).collect();
/// let expected = Expected::default();
/// let sample = expected.sample(keys)?;
/// assert_eq!(sample.design().to_string(), "row:str");
/// let wanted = expected.wanted(&sample);
/// // One second of the log: what the keys have in common, and one more character.
/// assert_eq!(wanted.queries[1].text, "row begins 14");
/// assert!(advise(&sample, &wanted, &AdviceOptions::default())?.best().max_over_mean < 1.5);
/// # Ok::<(), hblite_hotspot::advise::NoAdvice>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Expected {
    design: Option<Design>,
    wanted: Option<Wanted>,
}

impl Expected {
    /// Parses a design and queries, as `hblite hotspot advise` takes them.
    ///
    /// # Errors
    /// [`NoAdvice`] with the error marked.
    pub fn parse(key: Option<&str>, queries: Option<&str>) -> Result<Self, NoAdvice> {
        let design = key.map(design).transpose()?;
        Ok(Self { design, wanted: queries.map(Wanted::parse).transpose()? })
    }

    /// A sample of keys in write order. Without a design, a key is one field: a text if all keys
    /// can be read as one, else bytes.
    ///
    /// # Errors
    /// As [`Sample::new`].
    pub fn sample(&self, keys: Vec<Vec<u8>>) -> Result<Sample, NoAdvice> {
        if let Some(design) = &self.design {
            return Sample::new(design.clone(), keys);
        }
        let text = design("row:str")?;
        if keys.iter().all(|key| text.decode(key).is_ok()) {
            return Sample::new(text, keys);
        }
        Sample::new(design("row:bytes")?, keys)
    }

    /// The queries. Without any: a lookup of a whole key, and a range of the first field.
    pub fn wanted(&self, sample: &Sample) -> Wanted {
        if let Some(wanted) = &self.wanted {
            return wanted.clone();
        }
        let fields = sample.design().fields();
        let values: Vec<String> =
            fields.iter().map(|field| format!("{} = ?", field.name)).collect();
        let range = fields.first().map(|field| match common_length(sample.records()) {
            Some(length) => format!("{} begins {}", field.name, length + 1),
            None => format!("{} in 1 %", field.name),
        });
        let lines = [Some(values.join(" and ")), range];
        let text = lines.into_iter().flatten().collect::<Vec<_>>().join("\n");
        Wanted::parse(&text).expect("names of fields are words")
    }
}

/// How many characters, or bytes, the first values of all records have in common; `None` for
/// numbers.
fn common_length(records: &[Vec<Value<'static>>]) -> Option<usize> {
    let [first, others @ ..] = records else { return None };
    if let Some(text) = first.first()?.as_text() {
        let common = others.iter().filter_map(|record| record.first()?.as_text()).map(|other| {
            text.chars().zip(other.chars()).take_while(|(left, right)| left == right).count()
        });
        return common.min();
    }
    let bytes = first.first()?.as_bytes()?;
    let common = others.iter().filter_map(|record| record.first()?.as_bytes());
    common.map(|other| bytes.iter().zip(other).take_while(|(l, r)| l == r).count()).min()
}
