//! Keys per second: numeric composites, and MD5 prefixes compared with the digest alone.

use std::hint::black_box;

use criterion::{Criterion, Throughput};
use hblite_rowkey::{Design, Value, md5};

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    numbers(&mut criterion);
    hashes(&mut criterion);
    plans(&mut criterion);
    criterion.final_summary();
}

fn design(text: &str) -> Design {
    Design::parse(text).expect("a design")
}

fn numbers(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("encode");
    group.throughput(Throughput::Elements(1));
    for text in [
        "host:u64|event:u64|ts:timestamp",
        "host:u64|event:u64|ts:reverse_timestamp",
        "bucket(ts, 16)|ts:timestamp|host:u64",
        "salt(16, host)|host:u64|ts:timestamp",
    ] {
        let design = design(text);
        let mut key = Vec::with_capacity(64);
        let mut number = 0_u64;
        let count = design.fields().len();
        group.bench_function(text, |bencher| {
            bencher.iter(|| {
                number += 1;
                let value = || Value::from(number);
                let values = [value(), value(), value()];
                design.encode_into(&values[..count], number, &mut key).expect("a key");
                black_box(key.as_slice()).len()
            });
        });
    }
    let text = design("host:str|event:str|ts:timestamp");
    let mut key = Vec::with_capacity(64);
    let mut number = 0_u64;
    group.bench_function("host:str|event:str|ts:timestamp", |bencher| {
        bencher.iter(|| {
            number += 1;
            let values = ["myserver1.mycompany.com".into(), "login".into(), number.into()];
            text.encode_into(&values, 0, &mut key).expect("a key");
            black_box(key.as_slice()).len()
        });
    });
    group.finish();
}

fn hashes(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("md5");
    group.throughput(Throughput::Elements(1));
    let names: Vec<String> = (0..1024).map(|number| format!("car{number:05}")).collect();
    let mut turns = names.iter().cycle();
    group.bench_function("bare digest", |bencher| {
        bencher.iter(|| md5(black_box(turns.next().expect("endless").as_bytes())));
    });
    for text in ["md5hex(car, 6)|car:str", "md5(car, 4)|car:str", "car:md5"] {
        let design = design(text);
        let mut key = Vec::with_capacity(64);
        let mut turns = names.iter().cycle();
        group.bench_function(text, |bencher| {
            bencher.iter(|| {
                let car = Value::from(turns.next().expect("endless"));
                design.encode_into(&[car], 0, &mut key).expect("a key");
                black_box(key.as_slice()).len()
            });
        });
    }
    group.finish();
}

fn plans(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("plan");
    for (name, text) in [
        ("host first", "host:str|ts:timestamp"),
        ("100 buckets", "bucket(ts, 100)|ts:timestamp|host:str"),
    ] {
        let design = design(text);
        let query = hblite_rowkey::Query::new().range("ts", 1_000_u64..900_000).descending("ts");
        let query = if name == "host first" { query.equals("host", "web1") } else { query };
        group.bench_function(name, |bencher| {
            bencher.iter(|| design.plan(black_box(&query)).expect("a plan"));
        });
    }
    group.finish();
}
