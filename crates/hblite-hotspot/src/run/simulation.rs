//! The stream that was written, as input for the simulation.
//!
//! Queries are left out: what they cost depends on how often they run, and a single one that reads
//! the whole table outweighs a thousand writes. Their costs are reported separately.

use super::error::RunError;
use super::options::{RunOptions, ServiceLaw};
use super::stream::{Stream, WindowOfStream};
use super::target::Opened;
use super::target::position_of;
use crate::result::{Counts, Simulation};
use crate::simulate::{
    Balancer, Cluster, Kind, Pace, Request, Service, ServiceTime, Traffic, Window, run,
};

/// Calls that may wait at a server for each handler, HBase's default, and the minimum: that of
/// HBase's 30 handlers.
const QUEUED_PER_HANDLER: usize = 10;
const QUEUE_MIN: usize = 300;

/// Collects the requests of windows with their regions.
pub(super) struct TrafficBuilder<'t> {
    opened: &'t dyn Opened,
    stream: &'t Stream,
    requests: Vec<Request>,
    windows: Vec<Window>,
}

impl<'t> TrafficBuilder<'t> {
    pub(super) fn new(opened: &'t dyn Opened, stream: &'t Stream) -> Self {
        let requests = Vec::with_capacity(stream.len());
        Self { opened, stream, requests, windows: Vec::new() }
    }

    /// Adds the records of a window. Returns how many of them went to each region of the layout.
    pub(super) fn window(
        &mut self,
        window: &WindowOfStream,
        (start_keys, numbers): (&[Vec<u8>], &[u32]),
    ) -> Result<Vec<u64>, RunError> {
        let first_request = self.requests.len();
        self.windows.push(Window { first_request, regions: numbers.to_vec() });
        let mut sent = vec![0; numbers.len()];
        let mut key = Vec::new();
        for index in window.records.clone() {
            self.opened.row(&self.stream.moment(index), &mut key)?;
            let position = position_of(start_keys, &key);
            sent[position] += 1;
            self.requests.push(Request {
                arrival_ns: self.stream.arrival_ns(index),
                region: numbers[position],
                kind: Kind::Write,
            });
        }
        Ok(sent)
    }

    /// Runs the stream with each balancer.
    pub(super) fn simulate(
        &self,
        counts: &Counts,
        service: &Service,
        options: &RunOptions,
    ) -> Result<Vec<Simulation>, RunError> {
        let parents: Vec<Option<u32>> = counts.regions.iter().map(|region| region.parent).collect();
        let traffic =
            Traffic { requests: &self.requests, windows: &self.windows, parents: &parents };
        let cluster = Cluster {
            servers: options.servers,
            clients: Some(options.clients),
            handlers: options.handlers,
            queue_max: QUEUE_MIN.max(QUEUED_PER_HANDLER * options.handlers),
            move_ns: options.move_ms * 1_000_000,
            seed: options.seed,
            ..Cluster::default()
        };
        let one = Cluster { servers: 1, ..cluster.clone() };
        let one_server = run(traffic, service, &one, Pace::Saturating)?;
        // The upper limit: all servers work all the time.
        let handlers = (options.servers * options.handlers) as f64;
        let paced_rate = handlers * 1e9 / service.write.mean_ns().max(1.0) * options.utilization;
        let last_ns = self.requests.last().map_or(1, |last| last.arrival_ns.max(1));
        let stream_rate = self.requests.len() as f64 / (last_ns as f64 / 1e9);
        let pace = Pace::Faster(paced_rate / stream_rate);
        let mut simulations = Vec::new();
        for balancer in [Balancer::RegionCount, Balancer::Load] {
            let cluster = Cluster { balancer, ..cluster.clone() };
            let saturated = run(traffic, service, &cluster, Pace::Saturating)?;
            // Arrivals do not wait for answers, so there are as many clients as needed.
            let open = Cluster { clients: None, queue_max: usize::MAX, ..cluster.clone() };
            simulations.push(Simulation {
                write_service_ns: service.write.mean_ns(),
                speed_up: saturated.throughput / one_server.throughput.max(1e-9),
                saturated,
                one_server_throughput: one_server.throughput,
                paced: run(traffic, service, &open, pace)?,
                paced_rate,
                cluster,
            });
        }
        Ok(simulations)
    }
}

/// The service times of puts: as given, or as measured.
pub(super) fn service(options: &RunOptions, write_ns: &[u64]) -> Service {
    match &options.service {
        ServiceLaw::Given(time) => Service::alike(time.clone()),
        ServiceLaw::Measured => Service::alike(ServiceTime::Measured(without_outliers(write_ns))),
    }
}

/// The times up to the 99th percentile: higher ones mostly show other work on this machine.
fn without_outliers(times_ns: &[u64]) -> Vec<u64> {
    let mut sorted = times_ns.to_vec();
    sorted.sort_unstable();
    sorted.truncate((sorted.len() * 99).div_ceil(100));
    sorted
}
