//! Region labels: first keys without their common prefix; keys with times show these as times.

use hblite_rowkey::{Design, Encoding, Labels, Number, Part, Salt, Value};

use super::drawing::cut;
use crate::result::Counts;

/// A label for each final region, with at most this many characters.
pub(super) fn labels(counts: &Counts, key: &str, characters: usize) -> Vec<String> {
    if let Some(labels) = with_times(counts, key) {
        let texts: Vec<&str> = labels.iter().map(String::as_str).collect();
        // Most runs are within one day; only what differs is useful.
        let keys: Vec<&str> =
            texts.iter().copied().filter(|label| !label.starts_with('(')).collect();
        let shared = keys.first().map_or(0, |first| {
            first[..shared_length(&keys)].rfind(' ').map_or(0, |space| space + 1)
        });
        let label = |label: &&str| cut(label.get(shared..).unwrap_or(label), characters);
        return texts
            .iter()
            .map(|text| if text.starts_with('(') { (*text).to_owned() } else { label(text) })
            .collect();
    }
    let regions = counts.final_regions().iter();
    let starts: Vec<&str> =
        regions.map(|region| counts.regions[*region as usize].start.as_str()).collect();
    let is_cut = starts.iter().any(|start| start.len() > characters);
    let shared = if is_cut { shared_length(&starts) } else { 0 };
    let label = |start: &&str| {
        if start.is_empty() {
            "(first key)".to_owned()
        } else if shared > 4 {
            cut(&format!("…{}", &start[shared..]), characters)
        } else {
            cut(start, characters)
        }
    };
    starts.iter().map(label).collect()
}

/// Labels of keys whose design contains a time, if all of them can be read by it.
fn with_times(counts: &Counts, key: &str) -> Option<Vec<String>> {
    let design = Design::parse(key).ok()?;
    let is_time = |part: &Part| matches!(part, Part::Field(field) if is_time(field.encoding));
    design.parts().iter().any(is_time).then_some(())?;
    let regions = counts.final_regions().iter();
    let label = |region: &u32| {
        let start = counts.regions[*region as usize].start.as_str();
        if start.is_empty() {
            return Some("(first key)".to_owned());
        }
        readable(&design, &hblite::bytes::from_string_binary(start))
    };
    regions.map(label).collect()
}

fn is_time(encoding: Encoding) -> bool {
    matches!(encoding, Encoding::Number(Number::Timestamp | Number::ReverseTimestamp))
}

/// The parts of a key in words. A split key may be the beginning of a key: what is missing counts
/// as zero and is not shown.
fn readable(design: &Design, start: &[u8]) -> Option<String> {
    let mut key = start.to_vec();
    let ends = loop {
        match design.part_ends(&key) {
            Ok(ends) => break ends,
            Err(_) if key.len() < start.len() + 40 => key.push(0),
            Err(_) => return None,
        }
    };
    let values = design.decode(&key).ok()?;
    let mut values = values.iter();
    let (mut words, mut from) = (Vec::new(), 0);
    for (part, end) in design.parts().iter().zip(ends) {
        let own = key.get(from..end)?;
        let value = if let Part::Field(_) = part { values.next() } else { None };
        if from >= start.len() {
            break;
        }
        from = end;
        words.push(match (part, value) {
            (Part::Field(field), Some(value)) if is_time(field.encoding) => {
                let millis = value.as_number().and_then(|millis| u64::try_from(millis).ok())?;
                super::scale::date_time(millis)?
            }
            (_, Some(Value::Text(text))) => text.to_string(),
            (_, Some(value)) => value.to_string(),
            (Part::Salt(Salt { labels: Labels::Numbered(_), .. }) | Part::Bucket(_), _) => {
                own.iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte)).to_string()
            }
            _ => hblite::bytes::to_string_binary(own),
        });
    }
    Some(words.join(" "))
}

/// The number of bytes that all keys have in common; those of a `\xHH` stay together.
fn shared_length(starts: &[&str]) -> usize {
    let keys: Vec<&str> = starts.iter().copied().filter(|start| !start.is_empty()).collect();
    let [first, others @ ..] = keys.as_slice() else { return 0 };
    if others.is_empty() {
        return 0;
    }
    let shared = others.iter().fold(first.len(), |shared, other| {
        let pairs = first.bytes().zip(other.bytes());
        shared.min(pairs.take_while(|(left, right)| left == right).count())
    });
    let within = &first[..first.floor_char_boundary(shared)];
    match within.rfind('\\') {
        Some(escape) if within.len() - escape < 4 => escape,
        _ => within.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_in_keys_are_read() {
        let label = |design: &str, key: &[u8]| {
            readable(&Design::parse(design).expect("a design"), key).expect("a label")
        };
        let at = 1_500_000_010_500_u64.to_be_bytes();
        assert_eq!(label("ts:timestamp|host:str", &at), "2017-07-14 02:40:10.500");
        let salted = [&[3][..], &at, b"web1"].concat();
        let design = "bucket(ts, 4)|ts:timestamp|host:str";
        assert_eq!(label(design, &salted), "3 2017-07-14 02:40:10.500 web1");
        assert_eq!(label(design, &[2]), "2");
        // A shortened split key: the time that it stands for.
        assert_eq!(label("ts:timestamp", &at[..6]), "2017-07-14 02:39:21.088");
    }

    #[test]
    fn escapes_are_not_torn() {
        assert_eq!(shared_length(&["", r"\x00\x01]a", r"\x00\x01]b"]), 9);
        assert_eq!(shared_length(&[r"\x00\xA1", r"\x00\xA2"]), 4);
        assert_eq!(shared_length(&[r"\x00\xA1"]), 0);
        assert_eq!(shared_length(&["", "host1", "other"]), 0);
    }
}
