//! The search space: every order of the fields, with every encoding and every prefix.
//!
//! - reorder: all orders of up to four fields; of more, those of the fields that queries name, and
//!   the others last
//! - reverse: the first text, and every text whose end a query knows; times of
//!   which a query asks for the newest; the bits of a first number that grows
//! - widen: texts before other fields padded to the length of the longest, without a delimiter
//! - salt: 2, 4, … up to the number of regions, by the whole key, the first field or the first two
//! - bucket: of every growing number
//! - hash: of the first field or the first two

use hblite_rowkey::{
    Bucket, Design, Encoding, End, Field, HashForm, HashPrefix, Labels, Number, Part, Salt, SaltBy,
    Text, Turn,
};

use super::sample::Sample;
use super::wanted::{Known, Wanted, WantedQuery};

/// Characters of the MD5 digest before hashed keys: enough for the maximum number of regions.
const HASH_CHARACTERS: u8 = 5;
/// Of more fields than this, only some orders are tried.
const PERMUTED_MAX: usize = 4;

/// All candidates, including the current design.
pub(super) fn candidates(sample: &Sample, wanted: &Wanted, regions: usize) -> Vec<Design> {
    let mut designs = vec![sample.design().clone()];
    let mut known: std::collections::HashSet<String> =
        designs.iter().map(ToString::to_string).collect();
    let mut add = |parts: Vec<Part>| {
        // A design that cannot work is not a candidate.
        if let Ok(design) = Design::new(parts)
            && known.insert(design.to_string())
        {
            designs.push(design);
        }
    };
    for order in orders(sample, wanted) {
        for fields in turned(sample, wanted, &order) {
            let parts = ended(sample, fields);
            for parts in widened(sample, &parts).into_iter().chain([parts]) {
                for front in fronts(sample, &parts, regions) {
                    add([&[front], parts.as_slice()].concat());
                }
                add(parts);
            }
        }
    }
    designs
}

/// The orders of fields to try, as positions.
fn orders(sample: &Sample, wanted: &Wanted) -> Vec<Vec<usize>> {
    let fields = sample.design().fields();
    let all: Vec<usize> = (0..fields.len()).collect();
    let is_named = |index: &usize| {
        let name = &fields[*index].name;
        wanted.queries.iter().any(|query| {
            query.asks.iter().any(|(field, _)| field == name)
                || query.newest_by.as_ref() == Some(name)
        })
    };
    let mut orders: Vec<Vec<usize>> = vec![all.clone()];
    let mut add = |order: Vec<usize>| {
        if !orders.contains(&order) {
            orders.push(order);
        }
    };
    let (named, other): (Vec<usize>, Vec<usize>) = all.iter().partition(|i| is_named(i));
    if named.len() <= PERMUTED_MAX {
        permutations(&named).iter().for_each(|order| add([order.as_slice(), &other].concat()));
    } else {
        wanted.queries.iter().for_each(|query| add(suggested(sample, query)));
    }
    // Without a query to serve it, a field can still spread the writes.
    if all.len() <= PERMUTED_MAX {
        permutations(&all).into_iter().for_each(add);
    }
    orders
}

fn permutations(of: &[usize]) -> Vec<Vec<usize>> {
    if of.is_empty() {
        return vec![Vec::new()];
    }
    let with_first = |&first: &usize| {
        let rest: Vec<usize> = of.iter().copied().filter(|index| *index != first).collect();
        permutations(&rest).into_iter().map(move |rest| [&[first], rest.as_slice()].concat())
    };
    of.iter().flat_map(with_first).collect()
}

/// Fields with a known value first, then those known in part or sorted by, then the rest.
fn suggested(sample: &Sample, query: &WantedQuery) -> Vec<usize> {
    let fields = sample.design().fields();
    let rank = |name: &str| {
        let known = query.asks.iter().position(|(field, _)| field == name);
        match known.map(|place| (place, query.asks[place].1)) {
            Some((place, Known::Value)) => (0, place),
            _ if query.newest_by.as_deref() == Some(name) => (1, 0),
            Some((place, _)) => (1, place + 1),
            None => (2, 0),
        }
    };
    let mut order: Vec<usize> = (0..fields.len()).collect();
    order.sort_by_key(|index| rank(&fields[*index].name));
    order
}

/// An order of fields with every choice of encodings.
fn turned(sample: &Sample, wanted: &Wanted, order: &[usize]) -> Vec<Vec<Field>> {
    let fields = sample.design().fields();
    let mut choices: Vec<Vec<Field>> = vec![Vec::new()];
    for (place, &index) in order.iter().enumerate() {
        let encodings = encodings(sample, wanted, &fields[index], place == 0);
        let with = |chosen: &Vec<Field>| {
            let field = |encoding: &Encoding| Field::new(fields[index].name.clone(), *encoding);
            let extended = |encoding| [chosen.as_slice(), &[field(encoding)]].concat();
            encodings.iter().map(extended).collect::<Vec<_>>()
        };
        choices = choices.iter().flat_map(with).collect();
    }
    choices
}

/// The encodings to try for a field, the plain one first.
fn encodings(sample: &Sample, wanted: &Wanted, field: &Field, is_first: bool) -> Vec<Encoding> {
    let has_end_known = wanted.queries.iter().any(|query| {
        query
            .asks
            .iter()
            .any(|(name, known)| *name == field.name && matches!(known, Known::Ends(_)))
    });
    let is_newest = wanted.queries.iter().any(|q| q.newest_by.as_ref() == Some(&field.name));
    match field.encoding {
        Encoding::Text(text) if text.is_text => {
            let turned = |turn| Encoding::Text(Text { turn, ..text });
            let mut encodings = vec![turned(Turn::Plain)];
            if is_first || has_end_known {
                encodings.push(turned(Turn::Reversed));
                if is_mostly_domains(sample, &field.name) {
                    encodings.push(turned(Turn::Domain));
                }
            }
            encodings
        }
        Encoding::Number(Number::Timestamp | Number::ReverseTimestamp) => {
            let newest_first = Encoding::Number(Number::ReverseTimestamp);
            let mut encodings = vec![Encoding::Number(Number::Timestamp)];
            encodings.extend(is_newest.then_some(newest_first));
            encodings
        }
        Encoding::Number(Number::U64 | Number::ReversedU64 | Number::BitReversedU64) => {
            let of = |number| Encoding::Number(number);
            let mut encodings = vec![of(Number::U64)];
            encodings.extend(is_newest.then_some(of(Number::ReversedU64)));
            let is_spread = is_first && sample.is_growing(&field.name);
            encodings.extend(is_spread.then_some(of(Number::BitReversedU64)));
            encodings
        }
        encoding => vec![encoding],
    }
}

fn texts<'s>(sample: &'s Sample, name: &str) -> impl Iterator<Item = &'s str> {
    let index = sample.design().field_index(name).ok();
    sample.records().iter().filter_map(move |record| record[index?].as_text())
}

/// Whether most values have dots between labels.
fn is_mostly_domains(sample: &Sample, name: &str) -> bool {
    let is_domain = |text: &&str| {
        let mut labels = text.split('.');
        let is_label = |label: &str| {
            !label.is_empty() && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
        };
        text.contains('.')
            && labels.all(is_label)
            && text.bytes().any(|byte| byte.is_ascii_alphabetic())
    };
    let count = texts(sample, name).filter(is_domain).count();
    count * 10 >= sample.records().len() * 9
}

/// Text needs an end if another field follows: a fixed width if all values have it, or else a zero
/// byte.
fn ended(sample: &Sample, fields: Vec<Field>) -> Vec<Part> {
    let last = fields.len().saturating_sub(1);
    let end = |(index, field): (usize, Field)| {
        let Encoding::Text(text) = field.encoding else { return Part::Field(field) };
        let end = match text.end {
            End::Rest | End::Delimiter(_) if index == last => {
                Text { end: End::Delimiter(0), ..text }
            }
            End::Rest => Text { end: common_end(sample, &field.name), ..text },
            _ => text,
        };
        Part::Field(Field { encoding: Encoding::Text(end), ..field })
    };
    fields.into_iter().enumerate().map(end).collect()
}

/// Candidates with more bytes of padding than this are dropped.
const WIDTH_MAX: usize = 64;

/// The same parts with texts in fixed widths; `None` if this would save no delimiter, or a value
/// cannot be padded.
fn widened(sample: &Sample, parts: &[Part]) -> Option<Vec<Part>> {
    let last = parts.len().saturating_sub(1);
    let mut is_any = false;
    let widen = |(index, part): (usize, &Part)| {
        let Part::Field(Field { name, encoding: Encoding::Text(text) }) = part else {
            return Some(part.clone());
        };
        if index == last || matches!(text.end, End::Fixed(_)) {
            return Some(part.clone());
        }
        let width = width(sample, name)?;
        is_any = true;
        let text = Text { end: End::Fixed(width), ..*text };
        Some(Part::Field(Field::new(name.clone(), Encoding::Text(text))))
    };
    let widened: Option<Vec<Part>> = parts.iter().enumerate().map(widen).collect();
    widened.filter(|_| is_any)
}

/// The length of a field's longest text in the sample, in bytes.
fn width(sample: &Sample, name: &str) -> Option<u16> {
    let mut longest = 0;
    for text in texts(sample, name) {
        if text.len() > WIDTH_MAX || text.contains('\0') {
            return None;
        }
        longest = longest.max(text.len());
    }
    u16::try_from(longest).ok().filter(|width| *width > 0)
}

fn common_end(sample: &Sample, name: &str) -> End {
    let index = sample.design().field_index(name).unwrap_or(0);
    let values = || sample.records().iter().filter_map(|record| record[index].as_bytes());
    if values().any(|bytes| bytes.contains(&0)) {
        return End::Escaped;
    }
    End::Delimiter(0)
}

/// The prefixes to try before an order of fields.
fn fronts(sample: &Sample, parts: &[Part], regions: usize) -> Vec<Part> {
    let fields: Vec<&Field> = parts
        .iter()
        .filter_map(|part| if let Part::Field(field) = part { Some(field) } else { None })
        .collect();
    let Some(first) = fields.first() else { return Vec::new() };
    let is_turned = |f: &Field| match f.encoding {
        Encoding::Text(text) => text.turn != Turn::Plain,
        Encoding::Number(number) => number == Number::BitReversedU64,
        _ => false,
    };
    // A reversed field is another way to spread the same rows.
    let is_second_way = is_turned(first);
    let leading: Vec<Vec<String>> = (1..=fields.len().min(2))
        .map(|count| &fields[..count])
        .filter(|fields| fields.len() == 1 || !sample.is_growing(&fields[1].name))
        .map(|fields| fields.iter().map(|field| field.name.clone()).collect())
        .collect();
    let mut fronts = Vec::new();
    for count in counts(regions) {
        let salt = |by| Part::Salt(Salt { labels: Labels::Numbered(count), by });
        fronts.push(salt(SaltBy::Rest));
        if is_second_way {
            continue;
        }
        let is_counter = |field: &&&Field| {
            matches!(field.encoding, Encoding::Number(_)) && sample.is_growing(&field.name)
        };
        for field in fields.iter().filter(is_counter) {
            fronts.push(Part::Bucket(Bucket { field: field.name.clone(), count }));
        }
        fronts.extend(leading.iter().cloned().map(|names| salt(SaltBy::Fields(names))));
    }
    if !is_second_way {
        let form = HashForm::Hex(HASH_CHARACTERS);
        fronts.extend(leading.into_iter().map(|fields| Part::Hash(HashPrefix { fields, form })));
    }
    fronts
}

/// Numbers of salts or buckets: powers of two below the number of regions, and that number.
fn counts(regions: usize) -> Vec<u32> {
    let regions = u32::try_from(regions).unwrap_or(u32::MAX).min(hblite_rowkey::COUNT_MAX);
    let mut counts: Vec<u32> = (1..16).map(|power| 1 << power).filter(|n| *n < regions).collect();
    counts.push(regions);
    counts.retain(|count| *count >= 2 && regions.is_multiple_of(*count));
    counts
}
