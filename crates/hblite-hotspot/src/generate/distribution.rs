//! Distributions as text: `uniform`, `zipfian(0.99)`, `latest`, `power-law(2)`, `bursty(10)`, and a
//! law of entities with bursts, `zipfian+bursty`.

use std::fmt;
use std::str::FromStr;

/// Default exponent of `zipfian` and `latest`; that of YCSB.
const THETA_DEFAULT: f64 = 0.99;
/// Default exponent of `power-law`.
const ALPHA_DEFAULT: f64 = 2.0;
/// How much denser requests come in a burst by default.
const BURST_DEFAULT: f64 = 10.0;

/// Which entities requests are about, and whether they come in bursts.
///
/// ```
/// use hblite_hotspot::generate::{Distribution, EntityLaw};
/// let distribution: Distribution = "zipfian(1.2)+bursty".parse()?;
/// assert_eq!(distribution.entities, EntityLaw::Zipfian { theta: 1.2 });
/// assert_eq!(distribution.burst, Some(10.0));
/// assert_eq!(distribution.to_string(), "zipfian(1.2)+bursty(10)");
/// # Ok::<(), hblite_hotspot::generate::BadDistribution>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distribution {
    /// The law of entities.
    pub entities: EntityLaw,
    /// How many times denser requests come in a burst than between bursts; `None` for a steady
    /// Poisson stream.
    pub burst: Option<f64>,
}

/// How often requests are about each of n entities.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum EntityLaw {
    /// All equally often.
    Uniform,
    /// The entity of rank r has a share in proportion to r^−θ. Ranks are spread over the entities
    /// by a bijection. θ ≥ 0.
    Zipfian {
        /// The exponent.
        theta: f64,
    },
    /// The population grows from one to n over the stream, and the r-th newest entity has a share
    /// in proportion to r^−θ. θ ≥ 0.
    Latest {
        /// The exponent.
        theta: f64,
    },
    /// Entities have weights of which P(weight > x) = x^(1−α) for x ≥ 1, and shares in proportion
    /// to them: few have very much. α > 1.
    PowerLaw {
        /// The exponent of the weights' density.
        alpha: f64,
    },
}

impl fmt::Display for EntityLaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uniform => f.write_str("uniform"),
            Self::Zipfian { theta } => write!(f, "zipfian({theta})"),
            Self::Latest { theta } => write!(f, "latest({theta})"),
            Self::PowerLaw { alpha } => write!(f, "power-law({alpha})"),
        }
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.burst {
            None => self.entities.fmt(f),
            Some(burst) => write!(f, "{}+bursty({burst})", self.entities),
        }
    }
}

/// Text that is not the name of a distribution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadDistribution(String);

impl fmt::Display for BadDistribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadDistribution {}

impl FromStr for Distribution {
    type Err = BadDistribution;

    fn from_str(text: &str) -> Result<Self, BadDistribution> {
        let mut entities = None;
        let mut burst = None;
        for part in text.split('+') {
            let (name, argument) = name_and_argument(part.trim())?;
            if name == "bursty" {
                let ratio = argument.unwrap_or(BURST_DEFAULT);
                if ratio < 1.0 || burst.is_some() {
                    return Err(BadDistribution(format!(
                        "{text}: bursty(x) may occur once, with x >= 1, the density of requests in \
                         bursts over that between bursts"
                    )));
                }
                burst = Some(ratio);
            } else if entities.replace(law(name, argument)?).is_some() {
                return Err(BadDistribution(format!(
                    "{text}: one law of entities, with or without +bursty(x)"
                )));
            }
        }
        Ok(Self { entities: entities.unwrap_or(EntityLaw::Uniform), burst })
    }
}

fn name_and_argument(part: &str) -> Result<(&str, Option<f64>), BadDistribution> {
    let Some((name, rest)) = part.split_once('(') else { return Ok((part, None)) };
    let number = rest.strip_suffix(')').and_then(|number| number.trim().parse::<f64>().ok());
    match number.filter(|number| number.is_finite()) {
        Some(number) => Ok((name, Some(number))),
        None => {
            Err(BadDistribution(format!("{part}: expected a number in parentheses, {name}(1.5)")))
        }
    }
}

fn law(name: &str, argument: Option<f64>) -> Result<EntityLaw, BadDistribution> {
    let at_least = |what: &str, value: f64, holds: bool| {
        if holds { Ok(value) } else { Err(BadDistribution(format!("{name}: {what}, not {value}"))) }
    };
    let theta = || {
        let theta = argument.unwrap_or(THETA_DEFAULT);
        at_least("the exponent is 0 to 10", theta, (0.0..=10.0).contains(&theta))
    };
    match name {
        "uniform" if argument.is_some() => {
            Err(BadDistribution("uniform takes no number".to_owned()))
        }
        "uniform" => Ok(EntityLaw::Uniform),
        "zipfian" => Ok(EntityLaw::Zipfian { theta: theta()? }),
        "latest" => Ok(EntityLaw::Latest { theta: theta()? }),
        "power-law" => {
            let alpha = argument.unwrap_or(ALPHA_DEFAULT);
            let holds = alpha > 1.0 && alpha <= 10.0;
            let alpha = at_least("the exponent is above 1 and at most 10", alpha, holds)?;
            Ok(EntityLaw::PowerLaw { alpha })
        }
        _ => Err(BadDistribution(format!(
            "{name:?} is not a distribution: uniform, zipfian(THETA), latest(THETA), \
             power-law(ALPHA), bursty(RATIO), or one of them with +bursty(RATIO)"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_can_be_read() {
        for text in ["uniform", "zipfian(0.99)", "latest(1.1)", "power-law(2.5)+bursty(4)"] {
            assert_eq!(text.parse::<Distribution>().expect("good").to_string(), text);
        }
    }

    #[test]
    fn wrong_texts_are_told_why() {
        for (text, reason) in [
            ("zipf", "is not a distribution"),
            ("zipfian(-1)", "the exponent is 0 to 10"),
            ("zipfian(nan)", "expected a number in parentheses"),
            ("zipfian(1", "expected a number in parentheses"),
            ("power-law(1)", "above 1"),
            ("bursty(0.5)", "x >= 1"),
            ("bursty+bursty", "may occur once"),
            ("uniform+latest", "one law"),
            ("uniform(3)", "takes no number"),
            ("", "is not a distribution"),
        ] {
            let error = text.parse::<Distribution>().expect_err(text).to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
