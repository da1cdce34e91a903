//! HBase's own measure of imbalance: that of its `StochasticLoadBalancer`.
//!
//! Formulas as in hbase-balancer 2.6.1, package `org.apache.hadoop.hbase.master.balancer`:
//!
//! - `DoubleArrayCost`: the cost of a list of amounts, one per server, is the root of the summed
//!   square deviations from the mean, scaled so that the best possible spread of whole units is 0
//!   and everything on one server is 1 (`getMinSkew`, `getMaxSkew`, `CostFunction.scale`).
//! - `RegionCountSkewCostFunction`: amounts are numbers of regions; weight 500.
//! - `WriteRequestCostFunction`, `ReadRequestCostFunction`: amounts are requests; weight 5 each.
//!   Both are `CostFromRegionLoadAsRateFunction`s: a region's amount is the mean growth of its
//!   counter between the reports that the master keeps.
//! - The imbalance is the weighted mean of the costs. The balancer acts from
//!   `hbase.master.balancer.stochastic.minCostNeedBalance` on, 0.025.
//!
//! Its other functions (locality, racks, store files, memstores, moves) have no counterpart here
//! and are left out of the mean.

use serde::{Deserialize, Serialize};

/// Weight of the skew of region counts (`hbase.master.balancer.stochastic.regionCountCost`).
pub const REGION_COUNT_WEIGHT: f64 = 500.0;
/// Weight of the skew of writes (`hbase.master.balancer.stochastic.writeRequestCost`).
pub const WRITE_REQUEST_WEIGHT: f64 = 5.0;
/// Weight of the skew of reads (`hbase.master.balancer.stochastic.readRequestCost`).
pub const READ_REQUEST_WEIGHT: f64 = 5.0;

/// How HBase's balancer rates a spread over servers. All values are between 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Imbalance {
    /// Cost of the numbers of regions.
    pub region_count_cost: f64,
    /// Cost of the writes.
    pub write_request_cost: f64,
    /// Cost of the reads.
    pub read_request_cost: f64,
    /// The weighted mean of the three.
    pub imbalance: f64,
}

impl Imbalance {
    /// From amounts per server: regions, writes and reads.
    ///
    /// ```
    /// use hblite_hotspot::figures::balancer::Imbalance;
    /// // As many regions on each server, all the writes on one: HBase's balancer does not act.
    /// let imbalance = Imbalance::of(&[4, 4], &[1000.0, 0.0], &[0.0, 0.0]);
    /// assert_eq!(imbalance.write_request_cost, 1.0);
    /// assert!(imbalance.imbalance < 0.025);
    /// ```
    pub fn of(regions: &[usize], writes: &[f64], reads: &[f64]) -> Self {
        let regions: Vec<f64> = regions.iter().map(|&count| count as f64).collect();
        let region_count_cost = cost(&regions);
        let write_request_cost = cost(writes);
        let read_request_cost = cost(reads);
        let weighted = region_count_cost * REGION_COUNT_WEIGHT
            + write_request_cost * WRITE_REQUEST_WEIGHT
            + read_request_cost * READ_REQUEST_WEIGHT;
        let weights = REGION_COUNT_WEIGHT + WRITE_REQUEST_WEIGHT + READ_REQUEST_WEIGHT;
        Self {
            region_count_cost,
            write_request_cost,
            read_request_cost,
            imbalance: weighted / weights,
        }
    }
}

/// Cost of amounts per server, 0 to 1 (`DoubleArrayCost.computeCost`).
pub fn cost(amounts: &[f64]) -> f64 {
    if amounts.is_empty() {
        return 0.0;
    }
    let count = amounts.len() as f64;
    let total: f64 = amounts.iter().sum();
    let mean = total / count;
    let skew = amounts.iter().map(|amount| (mean - amount).powi(2)).sum::<f64>().sqrt();
    scale(skew_min(total, count), skew_max(total, count), skew)
}

/// The skew of the best spread of `total` whole units (`getMinSkew`).
fn skew_min(total: f64, count: f64) -> f64 {
    let mean = total / count;
    let square = if count > total {
        (count - total) * mean * mean + (1.0 - mean) * (1.0 - mean) * total
    } else {
        let high = (total - mean.floor() * count).trunc();
        let low = (count - high).trunc();
        high * (mean.ceil() - mean).powi(2) + low * (mean - mean.floor()).powi(2)
    };
    square.sqrt()
}

/// The skew with everything on one server (`getMaxSkew`).
fn skew_max(total: f64, count: f64) -> f64 {
    let mean = total / count;
    ((total - mean).powi(2) + (count - 1.0) * mean * mean).sqrt()
}

/// The position of a value between bounds, 0 to 1 (`CostFunction.scale`).
fn scale(min: f64, max: f64, value: f64) -> f64 {
    let unit_in_last_place = max.next_up() - max;
    if max <= min
        || value <= min
        || (max - min).abs() <= unit_in_last_place
        || (value - min).abs() <= unit_in_last_place
    {
        return 0.0;
    }
    ((value - min) / (max - min)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answers of `DoubleArrayCost` of HBase 2.6.1 to the same amounts.
    #[test]
    fn costs_are_those_that_hbase_computes() {
        let recorded: [(&[f64], f64); 11] = [
            (&[5.0, 5.0, 5.0, 5.0], 0.0),
            (&[20.0, 0.0, 0.0, 0.0], 1.0),
            (&[10.0, 5.0, 3.0, 2.0], 0.35590260840104365),
            (&[1.0, 0.0, 0.0, 0.0], 0.0),
            (&[1.0, 1.0, 0.0, 0.0], 0.0),
            (&[3.0, 3.0, 3.0, 1.0], 0.0955648212124931),
            (&[1000.0, 900.0, 1100.0, 1000.0], 0.040824829046386304),
            (&[2.0, 2.0, 1.0], 0.0),
            (&[0.5, 0.25, 0.25, 0.0], 0.0),
            (&[0.0, 0.0, 0.0], 0.0),
            (&[7.0], 0.0),
        ];
        for (amounts, expected) in recorded {
            let found = cost(amounts);
            assert!((found - expected).abs() < 1e-12, "{amounts:?}: {found}, HBase {expected}");
        }
        assert_eq!(cost(&[]), 0.0);
    }

    #[test]
    fn the_imbalance_is_the_weighted_mean() {
        let imbalance = Imbalance::of(&[2, 0], &[10.0, 0.0], &[5.0, 5.0]);
        assert_eq!(imbalance.region_count_cost, 1.0);
        assert_eq!(imbalance.read_request_cost, 0.0);
        assert!((imbalance.imbalance - 505.0 / 510.0).abs() < 1e-12);
    }
}
