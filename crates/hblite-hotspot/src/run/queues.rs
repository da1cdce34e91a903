//! The options of the simulation, checked against queueing theory: servers, handlers, service law
//! and utilization as they are given on the command line.

use super::options::{RunOptions, ServiceLaw};
use super::target::Target;
use super::{Stream, simulation};
use crate::result::{Counts, Region, Simulation};
use crate::study::{Candidate, Study};

/// Simulates a stream of names on one server, without writing it.
fn simulate(options: &RunOptions) -> Simulation {
    let study = Study::find("salting").expect("a study");
    let candidate = Candidate::new(study, "sequential", options.regions).expect("a design");
    let stream = Stream::new(&candidate, options).expect("good settings");
    let connection = hblite::open_in_memory().expect("a store");
    let table = &candidate.tables().expect("tables")[0];
    connection.admin().create_table(table).expect("a table");
    let opened = candidate.open(&connection).expect("a table");
    let mut traffic = simulation::TrafficBuilder::new(&*opened, &stream);
    for window in stream.windows() {
        traffic.window(window, (&[Vec::new()], &[0])).expect("keys");
    }
    let counts = Counts { regions: vec![Region::default()], ..Counts::default() };
    let service = simulation::service(options, &[]);
    traffic.simulate(&counts, &service, options).expect("it runs").remove(0)
}

fn options(service: &str, handlers: usize, utilization: f64) -> RunOptions {
    RunOptions {
        records: 400_000,
        regions: 1,
        servers: 1,
        handlers,
        utilization,
        windows: 10,
        service: service.parse::<ServiceLaw>().expect("a law"),
        ..RunOptions::default()
    }
}

/// The mean latency in service times.
fn latency(service: &str, handlers: usize, utilization: f64) -> f64 {
    let simulation = simulate(&options(service, handlers, utilization));
    assert_eq!(simulation.paced.completed, 400_000);
    let expected_rate = handlers as f64 * 5_000.0 * utilization;
    assert!((simulation.paced_rate / expected_rate - 1.0).abs() < 1e-9);
    let server = simulation.paced.servers[0];
    assert!((server.utilisation / utilization - 1.0).abs() < 0.01, "{server:?}");
    simulation.paced.latency.mean_ns / 200_000.0
}

fn close(found: f64, expected: f64) {
    let error = found / expected - 1.0;
    assert!(error.abs() < 0.02, "{found} instead of {expected}: off by {:.2} %", error * 100.0);
}

#[test]
fn exponential_service_is_an_m_m_1_queue() {
    for utilization in [0.3, 0.5, 0.7] {
        close(latency("exponential(200)", 1, utilization), 1.0 / (1.0 - utilization));
    }
}

#[test]
fn constant_service_is_an_m_d_1_queue() {
    for utilization in [0.3_f64, 0.5, 0.7] {
        let wait = utilization / (2.0 * (1.0 - utilization));
        close(latency("constant(200)", 1, utilization), 1.0 + wait);
    }
}

#[test]
fn four_handlers_are_an_m_m_4_queue() {
    for utilization in [0.5_f64, 0.7, 0.8] {
        let offered = 4.0 * utilization;
        // Erlang's C with its terms written out.
        let below = 1.0 + offered + offered.powi(2) / 2.0 + offered.powi(3) / 6.0;
        let all_busy = offered.powi(4) / 24.0 / (1.0 - utilization);
        let wait = all_busy / (below + all_busy) / (4.0 * (1.0 - utilization));
        close(latency("exponential(200)", 4, utilization), 1.0 + wait);
    }
}

/// A closed network of one server with exponential service answers at the rate of its handlers, as
/// long as there are as many clients; with fewer, at the rate of the clients.
#[test]
fn clients_limit_the_throughput() {
    for (clients, handlers, expected) in [(64, 1, 5_000.0), (2, 4, 10_000.0), (64, 4, 20_000.0)] {
        let options = RunOptions { clients, ..options("exponential(200)", handlers, 0.5) };
        let saturated = simulate(&options).saturated;
        close(saturated.throughput, expected);
        // Little's law.
        close(saturated.latency.mean_ns / 1e9, clients as f64 / expected);
    }
}
