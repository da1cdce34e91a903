//! What a window's sample says about the ranges of a region.
//!
//! A sample of 200 keys over 100 ranges has two of each on average, and none or six of some by
//! chance. So the sample of all windows, which is much larger, says what to expect, and that of a
//! window only where it differs by more than chance: in a range, or in one half of some neighbors.

/// How unlikely a difference must be: the deviance of one that has four standard errors.
pub(crate) const DEVIANCE_MIN: f64 = 16.0;

/// The shares of ranges, in which `found` keys were and which are `expected` to have these shares.
/// Both are of the whole region; so is the sum of the result, if that of `expected` is 1.
pub(crate) fn supported(found: &[u64], expected: &[f64]) -> Vec<f64> {
    let sum: u64 = found.iter().sum();
    let sum = sum as f64;
    let mut shares = vec![0.0; expected.len()];
    let (mut others, mut rest) = (Vec::new(), 1.0);
    for (at, (&count, &share)) in found.iter().zip(expected).enumerate() {
        let count = count as f64;
        if deviance(count, sum * share) - 2.0 * (count - sum * share) < DEVIANCE_MIN {
            others.push(Range { at, count, share });
        } else {
            shares[at] = count / sum;
            rest -= shares[at];
        }
    }
    divide(&others, rest.max(0.0), &mut shares);
    shares
}

struct Range {
    at: usize,
    count: f64,
    share: f64,
}

/// Divides a share among neighbors: half by half.
fn divide(ranges: &[Range], share: f64, shares: &mut [f64]) {
    if let [only] = ranges {
        shares[only.at] = share;
    }
    if ranges.len() < 2 {
        return;
    }
    let (one, other) = ranges.split_at(ranges.len() / 2);
    let sums = |ranges: &[Range]| {
        ranges.iter().fold((0.0, 0.0), |sum, range| (sum.0 + range.count, sum.1 + range.share))
    };
    let ((count, expected), (count_of_other, expected_of_other)) = (sums(one), sums(other));
    let found = count + count_of_other;
    let part = match expected + expected_of_other {
        0.0 => 0.5,
        sum => expected / sum,
    };
    let differs = deviance(count, found * part) + deviance(count_of_other, found * (1.0 - part));
    let part = if differs < DEVIANCE_MIN { part } else { count / found };
    divide(one, share * part, shares);
    divide(other, share * (1.0 - part), shares);
}

/// What a count contributes to the deviance from the expected one.
pub(crate) fn deviance(count: f64, expected: f64) -> f64 {
    if count == 0.0 { 0.0 } else { 2.0 * count * (count / expected).ln() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANGES: usize = 100;

    /// Keys of ranges that follow no pattern.
    fn found(keys: u64, range: impl Fn(u64) -> usize) -> Vec<u64> {
        let mut found = vec![0; RANGES];
        (0..keys).for_each(|key| found[range(key)] += 1);
        found
    }

    fn mixed(key: u64) -> u64 {
        let key = (key ^ (key >> 31)).wrapping_mul(0x7fb5_d329_728e_a185);
        (key ^ (key >> 27)).wrapping_mul(0x81da_def4_bc2d_d44d) >> 33
    }

    fn even() -> Vec<f64> {
        vec![1.0 / RANGES as f64; RANGES]
    }

    #[test]
    fn chance_does_not_show() {
        let mut rounds_shown = 0;
        for round in 0..1_000 {
            let found = found(200, |key| (mixed(round * 1_000 + key) % RANGES as u64) as usize);
            assert!(found.contains(&0) && found.iter().any(|count| *count > 4));
            let shares = supported(&found, &even());
            let sum: f64 = shares.iter().sum();
            assert!((sum - 1.0).abs() < 1e-9, "{sum}");
            rounds_shown += u32::from(shares.iter().any(|share| (share - 0.01).abs() > 1e-9));
        }
        assert!(rounds_shown < 30, "{rounds_shown} of 1,000");
    }

    #[test]
    fn what_is_more_than_chance_shows() {
        // A row that had no such share before.
        let burst =
            found(
                200,
                |key| {
                    if key % 10 == 0 { 37 } else { (mixed(key) % RANGES as u64) as usize }
                },
            );
        let shares = supported(&burst, &even());
        assert!((shares[37] - burst[37] as f64 / 200.0).abs() < 1e-9, "{shares:?}");
        assert!(shares[36] > 0.005 && shares[38] < 0.015, "{shares:?}");
        // All keys in a part of the ranges, evenly.
        let part = found(200, |key| 40 + (mixed(key) % 20) as usize);
        let shares = supported(&part, &even());
        assert!(shares[41..59].iter().all(|share| (0.01..0.1).contains(share)), "{shares:?}");
        // The sample cannot tell the outermost ranges from their neighbors.
        assert!(shares[36..64].iter().sum::<f64>() > 0.99, "{shares:?}");
        assert!(shares[40..60].iter().sum::<f64>() > 0.9, "{shares:?}");
        // One range only.
        let one = found(50, |_| 99);
        assert!(supported(&one, &even())[99] > 0.999);
    }

    #[test]
    fn nothing_found_or_expected_divides_by_nothing() {
        assert_eq!(supported(&[], &[]), [0.0; 0]);
        assert_eq!(supported(&[0, 0], &[0.25, 0.75]), [0.25, 0.75]);
        assert_eq!(supported(&[0, 0], &[0.0, 0.0]), [0.5, 0.5]);
        assert_eq!(supported(&[3, 0], &[0.0, 1.0]), [1.0, 0.0]);
    }
}
