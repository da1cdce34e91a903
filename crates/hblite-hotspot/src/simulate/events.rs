//! The event loop.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use rand::RngExt as _;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::balancer::Placement;
use super::outcome::{Latencies, Outcome, ServerLoad};
use super::service::Service;
use super::timeline::BusyTime;
use super::{BadCluster, Cluster, Pace, Request, Traffic};

const PURPOSE: u64 = 4;

/// HBase's retry pauses as multiples of the first (`HConstants.RETRY_BACKOFF`).
const RETRY_BACKOFF: [u64; 13] = [1, 2, 3, 5, 10, 20, 40, 100, 100, 100, 100, 200, 200];

/// Runs a stream on a cluster.
///
/// ```
/// use hblite_hotspot::simulate::{
///     run, Cluster, Kind, Pace, Request, Service, ServiceTime, Traffic, Window,
/// };
/// // Four calls at once to one region, each a millisecond of work.
/// let requests = [Request { arrival_ns: 0, region: 0, kind: Kind::Write }; 4];
/// let windows = [Window { first_request: 0, regions: vec![0] }];
/// let traffic = Traffic { requests: &requests, windows: &windows, parents: &[None] };
/// let service = Service::alike(ServiceTime::Constant(1_000_000));
/// let outcome = run(traffic, &service, &Cluster::default(), Pace::Arrivals)?;
/// assert_eq!(outcome.duration_ns, 4_000_000);
/// # Ok::<(), hblite_hotspot::simulate::BadCluster>(())
/// ```
///
/// # Errors
/// [`BadCluster`] if there are no clients, servers or handlers, or the stream does not fit its
/// windows.
pub fn run(
    traffic: Traffic<'_>,
    service: &Service,
    cluster: &Cluster,
    pace: Pace,
) -> Result<Outcome, BadCluster> {
    if cluster.servers == 0 || cluster.handlers == 0 || cluster.clients == Some(0) {
        return Err(BadCluster::Nobody);
    }
    if pace == Pace::Saturating && cluster.clients.is_none() {
        return Err(BadCluster::Endless);
    }
    let mut simulation = Simulation::new(traffic, service, cluster, pace);
    simulation.run()?;
    Ok(simulation.outcome())
}

/// A server: when its handlers become free, and when its waiting calls will start.
struct Server {
    handlers: BinaryHeap<Reverse<u64>>,
    starts: VecDeque<u64>,
    busy_ns: u64,
    requests: u64,
}

/// A call to retry; ordered by time.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Retry {
    at_ns: u64,
    /// When its latency began.
    since_ns: u64,
    request: usize,
    tries: usize,
}

struct Simulation<'s> {
    traffic: Traffic<'s>,
    service: &'s Service,
    cluster: &'s Cluster,
    pace: Pace,
    random: Xoshiro256PlusPlus,
    servers: Vec<Server>,
    placement: Placement,
    /// Requests of this window per region, for the balancer.
    loads: Vec<u64>,
    /// When a region accepts calls again.
    available_ns: Vec<u64>,
    window: usize,
    /// When clients become free; empty if there are always enough of them.
    clients: BinaryHeap<Reverse<u64>>,
    retries: BinaryHeap<Reverse<Retry>>,
    latencies: Latencies,
    timeline: BusyTime,
    completed: u64,
    failed: u64,
    retry_count: u64,
    moves: u64,
    /// When what the servers share becomes free.
    shared_free_ns: u64,
    last_ns: u64,
}

impl<'s> Simulation<'s> {
    fn new(traffic: Traffic<'s>, service: &'s Service, cluster: &'s Cluster, pace: Pace) -> Self {
        let region_count = traffic.parents.len();
        let server = || Server {
            handlers: (0..cluster.handlers).map(|_| Reverse(0)).collect(),
            starts: VecDeque::new(),
            busy_ns: 0,
            requests: 0,
        };
        Self {
            traffic,
            service,
            cluster,
            pace,
            random: crate::generate::random(cluster.seed, PURPOSE),
            servers: (0..cluster.servers).map(|_| server()).collect(),
            placement: Placement::new(cluster.balancer, cluster.servers, region_count),
            loads: vec![0; region_count],
            available_ns: vec![0; region_count],
            window: 0,
            clients: (0..cluster.clients.unwrap_or(0)).map(|_| Reverse(0)).collect(),
            retries: BinaryHeap::new(),
            latencies: Latencies::new(),
            timeline: BusyTime::new(cluster.servers),
            completed: 0,
            failed: 0,
            retry_count: 0,
            moves: 0,
            shared_free_ns: 0,
            last_ns: 0,
        }
    }

    fn run(&mut self) -> Result<(), BadCluster> {
        let mut next = 0;
        loop {
            let send_ns = self.next_send_ns(next);
            let retry_ns = self.retries.peek().map(|Reverse(retry)| retry.at_ns);
            match (send_ns, retry_ns) {
                (None, None) => return Ok(()),
                (Some(send_ns), retry_ns) if retry_ns.is_none_or(|retry_ns| send_ns < retry_ns) => {
                    if self.cluster.clients.is_some() {
                        self.clients.pop();
                    }
                    self.enter_windows(next, send_ns)?;
                    let region = self.region(next)?;
                    self.loads[region] += 1;
                    let since_ns = self.since_ns(next, send_ns);
                    self.send(Retry { at_ns: send_ns, since_ns, request: next, tries: 0 })?;
                    next += 1;
                }
                _ => {
                    if let Some(Reverse(retry)) = self.retries.pop() {
                        self.send(retry)?;
                    }
                }
            }
        }
    }

    fn arrival_ns(&self, request: &Request) -> u64 {
        match self.pace {
            Pace::Arrivals => request.arrival_ns,
            Pace::Faster(factor) => (request.arrival_ns as f64 / factor) as u64,
            Pace::Saturating => 0,
        }
    }

    /// When the latency of a request begins: with its arrival, or if it never waits to be sent,
    /// with the first call.
    fn since_ns(&self, request: usize, send_ns: u64) -> u64 {
        match self.pace {
            Pace::Saturating => send_ns,
            _ => self.arrival_ns(&self.traffic.requests[request]),
        }
    }

    /// When the next request is sent: once it has arrived and a client is free.
    fn next_send_ns(&self, next: usize) -> Option<u64> {
        let arrival_ns = self.arrival_ns(self.traffic.requests.get(next)?);
        if self.cluster.clients.is_none() {
            return Some(arrival_ns);
        }
        self.clients.peek().map(|Reverse(free_ns)| arrival_ns.max(*free_ns))
    }

    fn region(&self, request: usize) -> Result<usize, BadCluster> {
        let region = self.traffic.requests[request].region as usize;
        if region < self.loads.len() { Ok(region) } else { Err(BadCluster::NoSuchRegion) }
    }

    fn enter_windows(&mut self, next: usize, now_ns: u64) -> Result<(), BadCluster> {
        while let Some(window) = self.traffic.windows.get(self.window)
            && window.first_request <= next
        {
            let is_known = |region: &u32| (*region as usize) < self.loads.len();
            if !window.regions.iter().all(is_known) {
                return Err(BadCluster::NoSuchRegion);
            }
            let moved = self.placement.begin(window, self.traffic.parents, &self.loads);
            self.moves += moved.len() as u64;
            for region in moved {
                self.available_ns[region as usize] = now_ns + self.cluster.move_ns;
            }
            self.loads.fill(0);
            self.window += 1;
        }
        Ok(())
    }

    fn send(&mut self, call: Retry) -> Result<(), BadCluster> {
        let request = self.traffic.requests[call.request];
        let now_ns = self.pass_shared(call.at_ns, self.cluster.shared.of(request.kind));
        let call = Retry { at_ns: now_ns, ..call };
        let place = self.placement.server_of(request.region).ok_or(BadCluster::NoSuchRegion)?;
        let server = &mut self.servers[place];
        while server.starts.front().is_some_and(|&start_ns| start_ns <= now_ns) {
            server.starts.pop_front();
        }
        let is_on_the_move = now_ns < self.available_ns[request.region as usize];
        let handler_ns = server.handlers.peek().map_or(0, |Reverse(free_ns)| *free_ns);
        let must_wait = handler_ns > now_ns;
        let is_refused = must_wait && server.starts.len() >= self.cluster.queue_max;
        if is_on_the_move || is_refused {
            self.send_again(call);
            return Ok(());
        }
        let start_ns = now_ns.max(handler_ns);
        let service_ns = self.service.draw(request.kind, &mut self.random);
        let end_ns = start_ns + service_ns;
        server.handlers.pop();
        server.handlers.push(Reverse(end_ns));
        if must_wait {
            server.starts.push_back(start_ns);
        }
        server.busy_ns += service_ns;
        self.timeline.add(place, start_ns, service_ns);
        server.requests += 1;
        self.completed += 1;
        let answered_ns = end_ns + self.cluster.outside.of(request.kind);
        self.latencies.record(answered_ns - call.since_ns);
        self.release_client(answered_ns);
        Ok(())
    }

    /// When a call that is sent now reaches its server.
    fn pass_shared(&mut self, now_ns: u64, takes_ns: u64) -> u64 {
        self.shared_free_ns = self.shared_free_ns.max(now_ns) + takes_ns;
        self.shared_free_ns
    }

    fn send_again(&mut self, call: Retry) {
        if call.tries >= self.cluster.retries_max {
            self.failed += 1;
            self.release_client(call.at_ns);
            return;
        }
        self.retry_count += 1;
        let factor = RETRY_BACKOFF[call.tries.min(RETRY_BACKOFF.len() - 1)];
        let pause_ns = self.cluster.retry_pause_ns.saturating_mul(factor).max(1);
        // As in HBase's client, so that not all calls return at once.
        let jitter_ns = self.random.random_range(0..=pause_ns / 100);
        let at_ns = call.at_ns.saturating_add(pause_ns).saturating_add(jitter_ns);
        self.retries.push(Reverse(Retry { at_ns, tries: call.tries + 1, ..call }));
    }

    fn release_client(&mut self, at_ns: u64) {
        self.last_ns = self.last_ns.max(at_ns);
        if self.cluster.clients.is_some() {
            self.clients.push(Reverse(at_ns));
        }
    }

    fn outcome(&self) -> Outcome {
        let first_ns = self.traffic.requests.first().map_or(0, |first| self.arrival_ns(first));
        let duration_ns = self.last_ns.saturating_sub(first_ns);
        let handler_ns = (duration_ns as f64 * self.cluster.handlers as f64).max(1.0);
        let load = |server: &Server| ServerLoad {
            requests: server.requests,
            utilisation: server.busy_ns as f64 / handler_ns,
        };
        Outcome {
            completed: self.completed,
            failed: self.failed,
            retries: self.retry_count,
            duration_ns,
            throughput: self.completed as f64 / (duration_ns as f64 / 1e9).max(1e-9),
            latency: self.latencies.summary(),
            servers: self.servers.iter().map(load).collect(),
            moves: self.moves,
            timeline: self.timeline.finish(self.cluster.handlers),
        }
    }
}
