//! The simulation against queueing theory.

use rand::RngExt as _;

use super::*;
use crate::generate::{Arrivals, random};

const MEAN_NS: u64 = 100_000;
/// Requests per second that one handler can answer.
const RATE: f64 = 10_000.0;

fn exponential() -> Service {
    Service::alike(ServiceTime::Exponential(MEAN_NS))
}

/// A Poisson stream to regions chosen by a function.
fn stream(count: u64, rate: f64, mut region: impl FnMut(u64) -> u32) -> Vec<Request> {
    let mut arrivals = Arrivals::new(rate, None, count, 17);
    let request = |index| Request {
        arrival_ns: arrivals.next_ns(),
        region: region(index),
        kind: Kind::Write,
    };
    (0..count).map(request).collect()
}

fn at_random(regions: u32, seed: u64) -> impl FnMut(u64) -> u32 {
    let mut random = random(seed, 99);
    move |_| random.random_range(0..regions)
}

fn simulate(requests: &[Request], regions: u32, cluster: &Cluster, pace: Pace) -> Outcome {
    let windows = [Window { first_request: 0, regions: (0..regions).collect() }];
    let parents = vec![None; regions as usize];
    let traffic = Traffic { requests, windows: &windows, parents: &parents };
    run(traffic, &exponential(), cluster, pace).expect("the settings are good")
}

fn close(found: f64, expected: f64, tolerance: f64) {
    let error = (found / expected - 1.0).abs();
    assert!(error < tolerance, "{found} instead of {expected}: off by {:.1} %", error * 100.0);
}

/// The probability that a call waits, of M/M/c with c handlers and an offered load of a.
fn erlang_c(handlers: u32, offered: f64) -> f64 {
    let c = f64::from(handlers);
    let mut term = 1.0;
    let mut sum = 0.0;
    for k in 0..handlers {
        sum += term;
        term *= offered / f64::from(k + 1);
    }
    let waiting = term * c / (c - offered);
    waiting / (sum + waiting)
}

#[test]
fn one_server_is_an_m_m_1_queue() {
    for load in [0.3, 0.5, 0.7, 0.9] {
        // At 0.9 the mean of a run of two million is off by 1.3 % in one of three.
        let count = if load < 0.9 { 2_000_000 } else { 4_000_000 };
        let requests = stream(count, RATE * load, |_| 0);
        let outcome = simulate(&requests, 1, &Cluster::default(), Pace::Arrivals);
        // The time in the system is exponential with rate μ − λ.
        let mean_ns = 1e9 / (RATE - RATE * load);
        close(outcome.latency.mean_ns, mean_ns, 0.02);
        close(outcome.latency.p50_ns as f64, mean_ns * 2f64.ln(), 0.04);
        close(outcome.latency.p99_ns as f64, mean_ns * 100f64.ln(), 0.06);
        close(outcome.latency.p999_ns as f64, mean_ns * 1000f64.ln(), 0.1);
        close(outcome.servers[0].utilisation, load, 0.01);
        assert_eq!(outcome.completed, count);
    }
}

#[test]
fn a_server_with_handlers_is_an_m_m_c_queue() {
    for (handlers, load) in [(2u32, 0.8), (4, 0.7), (30, 0.9)] {
        let rate = RATE * f64::from(handlers) * load;
        let requests = stream(2_000_000, rate, |_| 0);
        let cluster = Cluster { handlers: handlers as usize, ..Cluster::default() };
        let outcome = simulate(&requests, 1, &cluster, Pace::Arrivals);
        let waits = erlang_c(handlers, rate / RATE);
        let wait_ns = waits * 1e9 / (RATE * f64::from(handlers) - rate);
        close(outcome.latency.mean_ns, wait_ns + MEAN_NS as f64, 0.02);
    }
}

#[test]
fn constant_service_is_an_m_d_1_queue() {
    let requests = stream(1_000_000, RATE * 0.8, |_| 0);
    let windows = [Window { first_request: 0, regions: vec![0] }];
    let traffic = Traffic { requests: &requests, windows: &windows, parents: &[None] };
    let service = Service::alike(ServiceTime::Constant(MEAN_NS));
    let outcome = run(traffic, &service, &Cluster::default(), Pace::Arrivals).expect("good");
    // Pollaczek and Khinchine: the wait is half of that of M/M/1.
    let wait_ns = 0.8 / (2.0 * 0.2) * MEAN_NS as f64;
    close(outcome.latency.mean_ns, wait_ns + MEAN_NS as f64, 0.02);
}

/// A closed network of S equal servers and C clients answers SμC/(C + S − 1).
#[test]
fn four_regions_give_four_times_the_throughput() {
    let requests = stream(1_000_000, RATE, at_random(4, 1));
    let saturated = |servers, clients| {
        let cluster = Cluster { servers, clients: Some(clients), ..Cluster::default() };
        simulate(&requests, 4, &cluster, Pace::Saturating).throughput
    };
    close(saturated(1, 256), RATE, 0.01);
    for clients in [1, 4, 16, 256] {
        let expected = 4.0 * RATE * clients as f64 / (clients as f64 + 3.0);
        close(saturated(4, clients), expected, 0.02);
    }
    close(saturated(4, 256) / saturated(1, 256), 4.0, 0.02);
}

/// Little's law: the number of calls in progress equals the number of clients.
#[test]
fn saturated_latency_is_that_of_a_call() {
    let requests = stream(200_000, RATE, at_random(4, 1));
    for clients in [4, 64] {
        let cluster = Cluster { servers: 4, clients: Some(clients), ..Cluster::default() };
        let outcome = simulate(&requests, 4, &cluster, Pace::Saturating);
        let expected_ns = clients as f64 / outcome.throughput * 1e9;
        close(outcome.latency.mean_ns, expected_ns, 0.01);
    }
}

#[test]
fn sequential_keys_get_the_throughput_of_one_server() {
    let requests = stream(400_000, RATE, |index| (index / 100_000) as u32);
    let cluster = Cluster { servers: 4, clients: Some(64), ..Cluster::default() };
    let outcome = simulate(&requests, 4, &cluster, Pace::Saturating);
    close(outcome.throughput, RATE, 0.01);
    assert!(outcome.servers.iter().all(|server| server.requests == 100_000));
}

#[test]
fn few_clients_wait_and_the_wait_counts() {
    // Arrivals at twice the rate at which one client can be answered.
    let requests = stream(10_000, RATE * 2.0, |_| 0);
    let cluster = Cluster { servers: 8, clients: Some(1), ..Cluster::default() };
    let outcome = simulate(&requests, 1, &cluster, Pace::Arrivals);
    close(outcome.throughput, RATE, 0.03);
    // The last one waited for half of the stream.
    close(outcome.latency.max_ns as f64, 10_000.0 / RATE * 1e9 / 2.0, 0.1);
}

#[test]
fn a_full_queue_sends_clients_away_until_they_give_up() {
    let requests = stream(20_000, RATE * 3.0, |_| 0);
    let cluster = Cluster { queue_max: 10, retries_max: 0, ..Cluster::default() };
    let outcome = simulate(&requests, 1, &cluster, Pace::Arrivals);
    assert_eq!(outcome.completed + outcome.failed, 20_000);
    assert_eq!(outcome.retries, 0);
    // M/M/1/11 with offered load 3 loses (1 − ρ)ρ¹¹/(1 − ρ¹²) of the calls.
    let lost = (1.0 - 3.0) * 3f64.powi(11) / (1.0 - 3f64.powi(12));
    close(outcome.failed as f64 / 20_000.0, lost, 0.03);

    // Temporarily three times too much: clients that retry later are answered in the end.
    let patient = Cluster { queue_max: 10, retry_pause_ns: 5_000_000, ..Cluster::default() };
    let outcome = simulate(&requests, 1, &patient, Pace::Arrivals);
    assert_eq!((outcome.completed, outcome.failed), (20_000, 0));
    assert!(outcome.retries > 10_000, "{}", outcome.retries);
}

#[test]
fn a_region_on_the_move_is_waited_for() {
    let requests = stream(10_000, RATE / 2.0, |index| if index < 5_000 { 0 } else { 1 });
    let windows = [
        Window { first_request: 0, regions: vec![0] },
        Window { first_request: 5_000, regions: vec![1, 2] },
    ];
    let parents = [None, Some(0), Some(0)];
    let traffic = Traffic { requests: &requests, windows: &windows, parents: &parents };
    let cluster = Cluster {
        servers: 2,
        move_ns: 50_000_000,
        retry_pause_ns: 10_000_000,
        ..Cluster::default()
    };
    let outcome = run(traffic, &exponential(), &cluster, Pace::Arrivals).expect("good");
    assert_eq!((outcome.moves, outcome.completed, outcome.failed), (1, 10_000, 0));
}

#[test]
fn balancing_by_load_parts_two_hot_regions_of_one_server() {
    // Of four regions on two servers, the first and third, which share a server, have everything.
    let requests = stream(200_000, RATE, |index| if index % 2 == 0 { 0 } else { 2 });
    let windows: Vec<Window> = (0..20)
        .map(|index| Window { first_request: index * 10_000, regions: vec![0, 1, 2, 3] })
        .collect();
    let traffic = Traffic { requests: &requests, windows: &windows, parents: &[None; 4] };
    let throughput = |balancer| {
        let cluster = Cluster { servers: 2, clients: Some(64), balancer, ..Cluster::default() };
        run(traffic, &exponential(), &cluster, Pace::Saturating).expect("good").throughput
    };
    close(throughput(Balancer::RegionCount), RATE, 0.02);
    // All windows but the first have two busy servers.
    close(throughput(Balancer::Load), RATE / (0.05 + 0.95 / 2.0), 0.05);
}

#[test]
fn impossible_settings_are_refused() {
    let requests = stream(10, RATE, |_| 3);
    let windows = [Window { first_request: 0, regions: vec![0] }];
    let traffic = Traffic { requests: &requests, windows: &windows, parents: &[None] };
    let error = |cluster: &Cluster, pace| run(traffic, &exponential(), cluster, pace).err();
    let nobody = Cluster { servers: 0, ..Cluster::default() };
    assert_eq!(error(&nobody, Pace::Arrivals), Some(BadCluster::Nobody));
    assert_eq!(error(&Cluster::default(), Pace::Saturating), Some(BadCluster::Endless));
    assert_eq!(error(&Cluster::default(), Pace::Arrivals), Some(BadCluster::NoSuchRegion));
}

#[test]
fn the_same_seed_gives_the_same_outcome() {
    let requests = stream(10_000, RATE, at_random(4, 2));
    let cluster = Cluster { servers: 3, clients: Some(9), ..Cluster::default() };
    let one = simulate(&requests, 4, &cluster, Pace::Arrivals);
    assert_eq!(one, simulate(&requests, 4, &cluster, Pace::Arrivals));
    let other = Cluster { seed: 1, ..cluster };
    assert_ne!(one, simulate(&requests, 4, &other, Pace::Arrivals));
}

/// With constant times everything can be computed by hand.
#[test]
fn what_servers_share_and_time_outside_of_them_count() {
    let requests = stream(10_000, RATE, |index| (index % 4) as u32);
    let windows = [Window { first_request: 0, regions: vec![0, 1, 2, 3] }];
    let traffic = Traffic { requests: &requests, windows: &windows, parents: &[None; 4] };
    let service = Service::alike(ServiceTime::Constant(100_000));
    let times = |write_ns| CallTimes { write_ns, read_ns: 7 };
    let outcome = |clients, shared, outside| {
        let cluster = Cluster {
            servers: 4,
            clients: Some(clients),
            shared: times(shared),
            outside: times(outside),
            ..Cluster::default()
        };
        run(traffic, &service, &cluster, Pace::Saturating).expect("good")
    };
    // One client: each call takes the sum.
    let alone = outcome(1, 20_000, 30_000);
    assert_eq!(alone.duration_ns, 10_000 * 150_000);
    assert_eq!(alone.latency.max_ns / 1000, 150);
    // Many: the servers together answer a call in 25 µs, what they share lets one pass in 40 µs.
    close(outcome(64, 40_000, 30_000).throughput, 1e9 / 40_000.0, 0.01);
    close(outcome(64, 10_000, 30_000).throughput, 1e9 / 25_000.0, 0.01);
    // Four clients are not enough for either: each waits 160 µs for an answer.
    close(outcome(4, 10_000, 50_000).throughput, 4.0 * 1e9 / 160_000.0, 0.01);
}

/// What servers share is an M/D/1 queue in front of theirs.
#[test]
fn calls_wait_for_what_servers_share() {
    let requests = stream(1_000_000, RATE * 0.8, |_| 0);
    let windows = [Window { first_request: 0, regions: vec![0] }];
    let traffic = Traffic { requests: &requests, windows: &windows, parents: &[None] };
    let shared = CallTimes { write_ns: MEAN_NS, read_ns: 0 };
    let service = Service::alike(ServiceTime::Constant(MEAN_NS / 2));
    let cluster = Cluster { shared, ..Cluster::default() };
    let outcome = run(traffic, &service, &cluster, Pace::Arrivals).expect("good");
    // Calls leave the first at least its constant time apart, so the second never has a queue.
    let wait_ns = 0.8 / (2.0 * 0.2) * MEAN_NS as f64;
    close(outcome.latency.mean_ns, wait_ns + MEAN_NS as f64 * 1.5, 0.02);
}
