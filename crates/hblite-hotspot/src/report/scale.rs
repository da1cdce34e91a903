//! Axes and colours: round ticks, readable numbers, and a map from requests to brightness.

pub(super) use crate::condition::duration;

/// How counts become brightness.
///
/// The square root makes cold regions visible next to hot ones and keeps their order. The colours
/// are matplotlib's inferno, whose lightness increases evenly.
pub(super) fn brightness(count: f64, max: f64) -> f64 {
    if max <= 0.0 { 0.0 } else { (count / max).clamp(0.0, 1.0).sqrt() }
}

/// The colour of a brightness between 0 and 1.
pub(super) fn colour(brightness: f64) -> (u8, u8, u8) {
    let colour = colorous::INFERNO.eval_continuous(brightness.clamp(0.0, 1.0));
    (colour.r, colour.g, colour.b)
}

/// About `count` round values from 0 to `max`.
pub(super) fn ticks(max: f64, count: usize) -> Vec<f64> {
    if max.is_nan() || max <= 0.0 {
        return vec![0.0];
    }
    let step = round_step(max / count.max(1) as f64);
    let steps = (max / step + 1e-9).floor() as usize;
    (0..=steps).map(|index| index as f64 * step).collect()
}

/// The smallest of 1, 2 or 5 times a power of ten that is not below a value.
fn round_step(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    let factors = [1.0, 2.0, 5.0, 10.0];
    let factor = factors.into_iter().find(|factor| factor * power >= value * (1.0 - 1e-9));
    factor.unwrap_or(10.0) * power
}

/// Powers of ten within a positive range, and numbers between them if there would be few.
pub(super) fn logarithmic_ticks(from: f64, to: f64) -> Vec<f64> {
    let powers = (from.log10().floor() as i32)..=(to.log10().ceil() as i32);
    let of = |factors: &[f64]| -> Vec<f64> {
        let all =
            powers.clone().flat_map(|power| factors.iter().map(move |f| f * 10f64.powi(power)));
        all.filter(|tick| *tick >= from * 0.999 && *tick <= to * 1.001).collect()
    };
    let choices: [&[f64]; 3] = [&[1.0], &[1.0, 2.0, 5.0], &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0]];
    let enough = choices.iter().map(|factors| of(factors)).find(|ticks| ticks.len() >= 4);
    enough.unwrap_or_else(|| of(choices[2]))
}

/// A number for people: 1.2k, 35M, 0.25.
pub(super) fn number(value: f64) -> String {
    let size = value.abs();
    let (scaled, unit) = match size {
        _ if size >= 999_500_000.0 => (value / 1e9, "G"),
        _ if size >= 999_500.0 => (value / 1e6, "M"),
        _ if size >= 9_999.5 => (value / 1e3, "k"),
        _ => (value, ""),
    };
    format!("{}{unit}", crate::condition::short(scaled))
}

/// Milliseconds since 1970 as a date and time in UTC; `None` beyond the year 9999.
pub fn date_time(millis: u64) -> Option<String> {
    let (days, in_day) = (millis / 86_400_000, millis % 86_400_000);
    // From the civil calendar's days in 400, 100, 4 years and 1 year, counted from 1 March 0000.
    let day = days + 719_468;
    let (era, of_era) = (day / 146_097, day % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (seconds, millis) = (in_day / 1000, in_day % 1000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    (year <= 9999).then(|| {
        format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{millis:03}")
    })
}

/// A share as a percentage.
pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 0.0 && percent < 9.95 {
        format!("{percent:.1} %")
    } else {
        format!("{percent:.0} %")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_within() {
        assert_eq!(ticks(10.0, 5), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(ticks(7.3, 4), [0.0, 2.0, 4.0, 6.0]);
        assert_eq!(ticks(0.0, 4), [0.0]);
        assert_eq!(logarithmic_ticks(1.0, 10_000.0), [1.0, 10.0, 100.0, 1000.0, 10_000.0]);
        assert_eq!(logarithmic_ticks(1.0, 10.0), [1.0, 2.0, 5.0, 10.0]);
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (millis, expected) in [
            (0, "1970-01-01 00:00:00.000"),
            (951_782_399_999, "2000-02-28 23:59:59.999"),
            (951_782_400_000, "2000-02-29 00:00:00.000"),
            (1_709_164_800_000, "2024-02-29 00:00:00.000"),
            (4_107_542_400_000, "2100-03-01 00:00:00.000"),
        ] {
            assert_eq!(date_time(millis).as_deref(), Some(expected));
        }
        assert_eq!(date_time(u64::MAX), None);
    }

    #[test]
    fn numbers_have_units() {
        assert_eq!(number(999.0), "999");
        assert_eq!(number(12_345.0), "12.3k");
        assert_eq!(number(2_000_000.0), "2M");
        assert_eq!(duration(1_500.0), "1.5 µs");
        assert_eq!(duration(20e9), "20 s");
        assert_eq!(percent(0.25), "25 %");
        assert_eq!(percent(0.004), "0.4 %");
    }

    #[test]
    fn brighter_means_more() {
        let lightness = |b: f64| {
            let (r, g, b) = colour(b);
            0.2126 * f64::from(r) + 0.7152 * f64::from(g) + 0.0722 * f64::from(b)
        };
        for step in 0..20 {
            let (low, high) = (f64::from(step) / 20.0, f64::from(step + 1) / 20.0);
            assert!(lightness(low) < lightness(high));
            assert!(brightness(low, 1.0) < brightness(high, 1.0));
        }
    }
}
