//! When requests arrive: a Poisson stream, or one with bursts.
//!
//! Bursts are a Poisson stream whose rate switches between two values after exponentially
//! distributed times (a Markov-modulated Poisson process). A tenth of the time is in bursts.

use rand_distr::{Distribution as _, Exp1};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::random;

const PURPOSE: u64 = 3;
/// The share of time in bursts.
const BURST_SHARE: f64 = 0.1;
/// The number of bursts in the expected time of the stream.
const BURSTS: f64 = 20.0;

/// Returns the arrival times of successive requests, in nanoseconds from the start, ascending.
///
/// ```
/// use hblite_hotspot::generate::Arrivals;
/// let mut arrivals = Arrivals::new(1000.0, None, 10_000, 7);
/// let last = (0..10_000).map(|_| arrivals.next_ns()).last().unwrap_or(0);
/// assert!((9_000_000_000..11_000_000_000).contains(&last), "about ten seconds: {last}");
/// ```
#[derive(Debug)]
pub struct Arrivals {
    random: Xoshiro256PlusPlus,
    now_s: f64,
    /// Requests per second now; the other rate, in or between bursts.
    rate: f64,
    other_rate: f64,
    switch_at_s: f64,
    /// Mean length of the present phase and of the other, in seconds.
    phase_s: f64,
    other_phase_s: f64,
}

impl Arrivals {
    /// A stream of `rate` requests per second on average (above 0), denser by `burst` in bursts.
    /// About twenty bursts fall into the time of the expected `requests`.
    pub fn new(rate: f64, burst: Option<f64>, requests: u64, seed: u64) -> Self {
        let rate = if rate.is_finite() && rate > 0.0 { rate } else { 1.0 };
        let mut arrivals = Self {
            random: random(seed, PURPOSE),
            now_s: 0.0,
            rate,
            other_rate: rate,
            switch_at_s: f64::INFINITY,
            phase_s: f64::INFINITY,
            other_phase_s: f64::INFINITY,
        };
        if let Some(burst) = burst {
            let period_s = requests.max(1) as f64 / rate / BURSTS;
            arrivals.rate = rate / (1.0 - BURST_SHARE + BURST_SHARE * burst);
            arrivals.other_rate = arrivals.rate * burst;
            arrivals.phase_s = period_s * (1.0 - BURST_SHARE);
            arrivals.other_phase_s = period_s * BURST_SHARE;
            arrivals.switch_at_s = arrivals.exponential(arrivals.phase_s);
        }
        arrivals
    }

    /// The arrival of the next request.
    pub fn next_ns(&mut self) -> u64 {
        loop {
            let arrival_s = self.now_s + self.exponential(1.0 / self.rate);
            if arrival_s < self.switch_at_s {
                self.now_s = arrival_s;
                return (arrival_s * 1e9) as u64;
            }
            // An exponential wait has no memory: it starts over in the next phase.
            self.now_s = self.switch_at_s;
            std::mem::swap(&mut self.rate, &mut self.other_rate);
            std::mem::swap(&mut self.phase_s, &mut self.other_phase_s);
            self.switch_at_s = self.now_s + self.exponential(self.phase_s);
        }
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        let unit: f64 = Exp1.sample(&mut self.random);
        unit * mean
    }
}

#[cfg(test)]
mod tests {
    use super::super::chi_square::assert_fits;
    use super::*;

    #[test]
    fn gaps_of_a_steady_stream_are_exponential() {
        let rate = 2_000.0;
        let mut arrivals = Arrivals::new(rate, None, 200_000, 5);
        let mut bins = vec![0u64; 40];
        let mut previous = 0;
        for _ in 0..200_000 {
            let arrival = arrivals.next_ns();
            let gap_s = (arrival - previous) as f64 / 1e9;
            previous = arrival;
            bins[(((-gap_s * rate).exp() * 40.0) as usize).min(39)] += 1;
        }
        assert_fits(&bins, &[1.0 / 40.0; 40]);
    }

    /// Variance over mean of the counts in intervals of length t is, for phases of rates a and b
    /// left at rates x and y, 1 + A − A/(rt)·(1 − e^−rt) with r = x + y and
    /// A = 2xy(a − b)² / (r²(ay + bx)).
    #[test]
    fn bursts_have_the_variance_of_their_process() {
        let (requests, rate, burst) = (2_000_000u64, 1_000.0, 10.0);
        let mut arrivals = Arrivals::new(rate, Some(burst), 2_000, 3);
        let (quiet, dense) = (arrivals.rate, arrivals.other_rate);
        let (leave_quiet, leave_dense) = (1.0 / arrivals.phase_s, 1.0 / arrivals.other_phase_s);
        let interval_s = 1.0;
        let mut counts: Vec<f64> = Vec::new();
        let mut last = 0;
        for _ in 0..requests {
            last = arrivals.next_ns();
            let index = (last as f64 / 1e9 / interval_s) as usize;
            counts.resize(counts.len().max(index + 1), 0.0);
            counts[index] += 1.0;
        }
        counts.pop();
        let found_rate = requests as f64 / (last as f64 / 1e9);
        assert!((found_rate / rate - 1.0).abs() < 0.05, "{found_rate} a second");

        let mean = counts.iter().sum::<f64>() / counts.len() as f64;
        let variance =
            counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / counts.len() as f64;
        let change = leave_quiet + leave_dense;
        let factor = 2.0 * leave_quiet * leave_dense * (quiet - dense).powi(2)
            / (change.powi(2) * (quiet * leave_dense + dense * leave_quiet));
        let spread = change * interval_s;
        let expected = 1.0 + factor - factor / spread * (1.0 - (-spread).exp());
        let ratio = variance / mean / expected;
        assert!((0.9..1.1).contains(&ratio), "{} instead of {expected}", variance / mean);
    }
}
