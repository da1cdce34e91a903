//! How long a server works on a call.

use rand::RngExt as _;
use rand_distr::{Distribution as _, Exp1};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use super::Kind;

/// How long servers work on writes and on reads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Service {
    /// On a put.
    pub write: ServiceTime,
    /// On a get or scan.
    pub read: ServiceTime,
}

/// A distribution of service times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ServiceTime {
    /// Always this long, in nanoseconds.
    Constant(u64),
    /// Exponential with this mean, in nanoseconds.
    Exponential(u64),
    /// One of these measured times, in nanoseconds, all equally likely.
    Measured(Vec<u64>),
}

impl Service {
    /// The same distribution for both.
    pub fn alike(time: ServiceTime) -> Self {
        Self { write: time.clone(), read: time }
    }

    pub(super) fn draw(&self, kind: Kind, random: &mut Xoshiro256PlusPlus) -> u64 {
        match kind {
            Kind::Write => self.write.draw(random),
            Kind::Read => self.read.draw(random),
        }
    }
}

impl ServiceTime {
    /// The mean, in nanoseconds.
    pub fn mean_ns(&self) -> f64 {
        match self {
            Self::Constant(time) | Self::Exponential(time) => *time as f64,
            Self::Measured(times) if times.is_empty() => 0.0,
            Self::Measured(times) => {
                times.iter().map(|&time| time as f64).sum::<f64>() / times.len() as f64
            }
        }
    }

    fn draw(&self, random: &mut Xoshiro256PlusPlus) -> u64 {
        match self {
            Self::Constant(time) => *time,
            Self::Exponential(mean) => {
                let unit: f64 = Exp1.sample(random);
                (unit * *mean as f64) as u64
            }
            Self::Measured(times) if times.is_empty() => 0,
            Self::Measured(times) => times[random.random_range(0..times.len())],
        }
    }
}
