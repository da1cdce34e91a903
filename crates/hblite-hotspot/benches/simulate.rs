//! Ten million requests on sixteen servers, saturated and as they arrive.
//!
//! `cargo bench -p hblite-hotspot --bench simulate`

use criterion::{Criterion, criterion_group, criterion_main};
use hblite_hotspot::generate::{Arrivals, Entities, EntityLaw};
use hblite_hotspot::simulate::{
    Cluster, Kind, Pace, Request, Service, ServiceTime, Traffic, Window, run,
};

/// Few where it only matters that it runs.
const REQUESTS: u64 = if cfg!(debug_assertions) { 100_000 } else { 10_000_000 };
const REGIONS: u64 = 64;

fn simulate(criterion: &mut Criterion) {
    let law = EntityLaw::Zipfian { theta: 0.99 };
    let mut regions = Entities::new(law, REGIONS, REQUESTS, 1);
    let mut arrivals = Arrivals::new(40_000.0, None, REQUESTS, 1);
    let request = |_| Request {
        arrival_ns: arrivals.next_ns(),
        region: regions.next_entity() as u32,
        kind: Kind::Write,
    };
    let requests: Vec<Request> = (0..REQUESTS).map(request).collect();
    let windows = [Window { first_request: 0, regions: (0..REGIONS as u32).collect() }];
    let parents = [None; REGIONS as usize];
    let traffic = Traffic { requests: &requests, windows: &windows, parents: &parents };
    let service = Service::alike(ServiceTime::Exponential(100_000));
    let cluster = Cluster { servers: 16, clients: Some(256), ..Cluster::default() };

    let mut group = criterion.benchmark_group("10M requests");
    group.sample_size(10);
    for (name, pace) in [("saturating", Pace::Saturating), ("arrivals", Pace::Arrivals)] {
        group.bench_function(name, |bencher| {
            bencher.iter(|| run(traffic, &service, &cluster, pace).expect("the settings are good"));
        });
    }
    group.finish();
}

criterion_group!(benches, simulate);
criterion_main!(benches);
