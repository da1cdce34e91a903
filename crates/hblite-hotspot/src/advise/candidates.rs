//! Candidates: the field orders that the queries suggest, each with every prefix to try.

use hblite_rowkey::{
    Bucket, Design, Encoding, End, Field, HashForm, HashPrefix, Labels, Number, Part, Salt, SaltBy,
    Text, Turn,
};

use super::sample::Sample;
use super::wanted::{Known, Wanted, WantedQuery};

/// Characters of the MD5 digest before hashed keys: enough for the maximum number of regions.
const HASH_CHARACTERS: u8 = 5;

/// All candidates, including the present design.
pub(super) fn candidates(sample: &Sample, wanted: &Wanted, regions: usize) -> Vec<Design> {
    let mut designs = vec![sample.design().clone()];
    let mut add = |parts: Vec<Part>| {
        // A design that cannot work is not a candidate.
        if let Ok(design) = Design::new(parts)
            && !designs.contains(&design)
        {
            designs.push(design);
        }
    };
    for order in orders(sample, wanted) {
        add(order.clone());
        for front in fronts(&order, regions) {
            add([&[front], order.as_slice()].concat());
        }
    }
    designs
}

/// The best order for each query, and the present one.
fn orders(sample: &Sample, wanted: &Wanted) -> Vec<Vec<Part>> {
    let mut orders: Vec<Vec<Part>> = Vec::new();
    let present: Vec<Part> = sample
        .design()
        .fields()
        .iter()
        .filter_map(|field| sample.field(&field.name).cloned())
        .collect();
    for order in std::iter::once(present).chain(wanted.queries.iter().map(|q| order(sample, q))) {
        let order = delimited(order);
        if !orders.contains(&order) {
            orders.push(order);
        }
    }
    orders
}

/// Fields with a known value first, then those known in part or sorted by, then the rest.
fn order(sample: &Sample, query: &WantedQuery) -> Vec<Part> {
    let rank = |name: &str| {
        let known = query.asks.iter().position(|(field, _)| field == name);
        match known.map(|place| (place, query.asks[place].1)) {
            Some((place, Known::Value)) => (0, place),
            _ if query.newest_by.as_deref() == Some(name) => (1, 0),
            Some((place, _)) => (1, place + 1),
            None => (2, 0),
        }
    };
    let mut fields: Vec<&Field> = sample.design().fields().iter().collect();
    fields.sort_by_key(|field| rank(&field.name));
    let part = |field: &Field| {
        let is_newest = query.newest_by.as_deref() == Some(&field.name);
        let encoding = match field.encoding {
            Encoding::Number(Number::Timestamp) if is_newest => {
                Encoding::Number(Number::ReverseTimestamp)
            }
            encoding => encoding,
        };
        Part::Field(Field::new(field.name.clone(), encoding))
    };
    fields.into_iter().map(part).collect()
}

/// Text ends at a zero byte if another field follows.
fn delimited(mut parts: Vec<Part>) -> Vec<Part> {
    let last = parts.len().saturating_sub(1);
    for part in &mut parts[..last] {
        if let Part::Field(Field { encoding: Encoding::Text(text), .. }) = part
            && text.end == End::Rest
        {
            *text = Text { end: End::Delimiter(0), turn: Turn::Plain, ..*text };
        }
    }
    parts
}

/// The prefixes to try before an order of fields.
fn fronts(order: &[Part], regions: usize) -> Vec<Part> {
    let Some(Part::Field(first)) = order.first() else { return Vec::new() };
    let mut fronts = Vec::new();
    let mut counts: Vec<u32> =
        [regions / 4, regions / 2, regions].into_iter().filter_map(|n| n.try_into().ok()).collect();
    counts.retain(|count| (2..=1 << 16).contains(count));
    counts.dedup();
    for count in counts {
        let salt = |by| Part::Salt(Salt { labels: Labels::Numbered(count), by });
        fronts.push(salt(SaltBy::Rest));
        match first.encoding {
            Encoding::Number(_) => {
                fronts.push(Part::Bucket(Bucket { field: first.name.clone(), count }));
            }
            _ => fronts.push(salt(SaltBy::Fields(vec![first.name.clone()]))),
        }
    }
    let form = HashForm::Hex(HASH_CHARACTERS);
    fronts.push(Part::Hash(HashPrefix { fields: vec![first.name.clone()], form }));
    fronts
}
