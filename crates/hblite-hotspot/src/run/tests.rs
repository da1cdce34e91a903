//! Runs against plain arithmetic: counters against the stream, answers against a filter in memory.

use std::collections::BTreeMap;

use hblite_rowkey::Value;

use super::target::answer;
use super::*;
use crate::generate::{Distribution, EntityLaw};
use crate::result::Metric;
use crate::study::{Candidate, Record, Study};

fn small() -> RunOptions {
    RunOptions {
        records: 3_000,
        windows: 6,
        reads: 12,
        value_bytes: 8,
        batch: 100,
        threads: 2,
        ..RunOptions::default()
    }
}

fn run_design(study: &str, design: &str, options: &RunOptions) -> RunResult {
    let study = Study::find(study).expect("there is such a study");
    let candidate = Candidate::new(study, design, options.regions).expect("a good design");
    let stream = Stream::new(&candidate, options).expect("good settings");
    run(&candidate, &stream, options, |_| {}).expect("the run succeeds")
}

fn windowed(result: &RunResult) -> f64 {
    result.spread.writes.expect("there were writes").windowed.mean.max_over_mean
}

/// For every candidate of every study, the counters agree with what was sent, window by window.
#[test]
fn counters_agree_with_the_stream() {
    let options = small();
    for study in Study::all() {
        for (design, ..) in study.designs {
            let candidate = Candidate::new(study, design, options.regions).expect(design);
            let stream = Stream::new(&candidate, &options).expect("good settings");
            let result = run(&candidate, &stream, &options, |_| {})
                .unwrap_or_else(|error| panic!("{} {design}: {error}", study.name));
            assert_eq!(result.counts.check(), Ok(()));
            assert_eq!(result.counts.sum(Metric::Writes), options.records, "{design}");
            for (window, counted) in stream.windows().iter().zip(&result.counts.windows) {
                let mut sent: BTreeMap<u32, u64> = BTreeMap::new();
                for index in window.records.clone() {
                    *sent.entry(region_of(&candidate, &stream, index, &result)).or_default() += 1;
                }
                let layout = &result.counts.layouts[counted.layout];
                for (region, writes) in layout.iter().zip(&counted.writes) {
                    let sent = sent.get(region).copied().unwrap_or(0);
                    assert_eq!(*writes, sent, "{} {design}, region {region}", study.name);
                }
            }
            assert_eq!(result.queries.len(), study.questions.len(), "{design}");
        }
    }
}

fn region_of(candidate: &Candidate, stream: &Stream, index: usize, result: &RunResult) -> u32 {
    let moment = stream.moment(index);
    let mut key = Vec::new();
    let record = candidate.workload().record(&moment);
    candidate.encode_into(&record, moment.random(0), &mut key).expect("it fits");
    let start = |region: &u32| {
        hblite::bytes::from_string_binary(&result.counts.regions[*region as usize].start)
    };
    *result.counts.layouts[0].iter().rev().find(|region| start(region) <= key).expect("one has it")
}

/// Every candidate answers every query as a filter over the records would.
#[test]
fn answers_are_those_of_a_filter() {
    let options = small();
    for study in Study::all() {
        for (design, ..) in study.designs {
            let candidate = Candidate::new(study, design, options.regions).expect(design);
            let stream = Stream::new(&candidate, &options).expect("good settings");
            let place = Place::own(&candidate, &options).expect("in memory");
            let splits = splits::split_keys(&candidate, &stream, &options).expect("splits");
            let descriptors = Target::tables(&candidate).expect("a table");
            let tables = Tables::create(&place, &descriptors, &splits).expect("a table");
            let connection = place.connection();
            let name = tables.first("").expect("a table").clone();
            let table = connection.table(&name).expect("a table");
            let opened = candidate.open(connection).expect("a table");
            let mut writer = Writer::new(&*opened, &options, None);
            for window in stream.windows() {
                writer.write(&stream, window).expect("written");
            }
            let regions = table.regions().expect("regions");
            let start_keys: Vec<Vec<u8>> =
                regions.iter().map(|region| region.start_key().to_vec()).collect();
            // A record with the same key replaces the one before it.
            let mut rows: BTreeMap<Vec<u8>, Record> = BTreeMap::new();
            for index in 0..stream.len() {
                let moment = stream.moment(index);
                let mut key = Vec::new();
                opened.row(&moment, &mut key).expect("it fits");
                rows.insert(key, study.record(&moment));
            }
            for index in [0, 17, 1_499, 2_999] {
                compare(&candidate, &table, &stream, index, (&start_keys, &rows));
            }
        }
    }
}

/// Runs all queries about one record.
fn compare(
    candidate: &Candidate,
    table: &hblite::Table,
    stream: &Stream,
    index: usize,
    (start_keys, written): (&[Vec<u8>], &BTreeMap<Vec<u8>, Record>),
) {
    let study = Study::find(candidate.workload().name()).expect("a study");
    let about = study.record(&stream.moment(index));
    for question in study.questions {
        let query = question.fill(study, &about, stream.duration_ms());
        let plan = candidate.design.plan(&candidate.translate(&query, &about)).expect("a plan");
        let found = answer(candidate, table, &plan, &query, start_keys).expect("an answer");
        let what = format!("{} {}: {query}", study.name, candidate.name);

        let field = |record: &Record, name: &str| {
            study.field_index(name).map(|place| record[place].clone())
        };
        let matches = |record: &Record| query.matches(|name| field(record, name));
        let rows: BTreeMap<&Vec<u8>, &Record> =
            written.iter().filter(|(_, record)| matches(record)).collect();
        let keys: Vec<&Vec<u8>> = found.rows.iter().map(|(key, _)| key).collect();
        match question.newest_by {
            None if question.limit.is_none() => {
                let mut keys = keys;
                keys.sort();
                assert!(keys.iter().eq(rows.keys()), "{what}");
            }
            None => assert!(keys.iter().all(|key| rows.contains_key(*key)), "{what}"),
            Some(newest_by) => {
                let value = |key: &&Vec<u8>| field(rows[*key], newest_by);
                let times: Vec<Option<Value<'static>>> = keys.iter().map(value).collect();
                let mut expected: Vec<_> = rows.keys().map(value).collect();
                expected.sort();
                expected.reverse();
                expected.truncate(question.limit.unwrap_or(u64::MAX) as usize);
                assert_eq!(times, expected, "{what}");
            }
        }
        let limit = question.limit.unwrap_or(u64::MAX) as usize;
        assert_eq!(found.rows.len(), rows.len().min(limit), "{what}");
    }
}

#[test]
fn four_salts_give_four_times_the_throughput_of_sequential_keys() {
    let options = RunOptions {
        records: 40_000,
        reads: 0,
        service: "exponential(100)".parse().expect("good"),
        ..small()
    };
    let sequential = run_design("salting", "sequential", &options);
    let salted = run_design("salting", "salted", &options);
    assert!(windowed(&sequential) > 3.0, "{}", windowed(&sequential));
    assert!(windowed(&salted) < 1.1, "{}", windowed(&salted));
    let speed_up = |result: &RunResult| result.simulations[0].speed_up;
    assert!((0.95..1.15).contains(&speed_up(&sequential)), "{}", speed_up(&sequential));
    // 64 clients keep four servers busy to 64/67.
    let expected = 4.0 * 64.0 / 67.0;
    assert!((speed_up(&salted) / expected - 1.0).abs() < 0.03, "{}", speed_up(&salted));
}

#[test]
fn a_salt_makes_every_scan_n_scans() {
    let options = RunOptions { regions: 8, ..small() };
    let scans = |design: &str| {
        let result = run_design("salting", design, &options);
        let query = result.queries.iter().find(|query| query.name == "hundred names");
        query.expect("it was asked").scans
    };
    assert_eq!(scans("sequential"), 1.0);
    assert_eq!(scans("salted"), 8.0);
}

#[test]
fn quantiles_of_numbered_names_are_those_of_all_names() {
    // Names with reversed numbers: a sample of every tenth would contain one digit only.
    let options = RunOptions { records: 40_000, reads: 0, ..small() };
    let result = run_design("salting", "reversed", &options);
    assert!(windowed(&result) < 1.2, "{}", windowed(&result));
}

#[test]
fn a_growing_table_is_split_and_nothing_is_lost() {
    let options = RunOptions {
        records: 30_000,
        regions: 8,
        windows: 12,
        splits: Splits::Growing,
        value_bytes: 200,
        ..small()
    };
    let result = run_design("car-keys", "car-ts", &options);
    assert_eq!(result.counts.check(), Ok(()));
    assert!(result.counts.final_regions().len() > 1, "it was split");
    assert_eq!(result.counts.sum(Metric::Writes), 30_000);
    let totals = result.counts.totals(Metric::Writes);
    assert_eq!(totals.iter().sum::<u64>(), 30_000);
}

#[test]
fn a_run_can_be_made_again() {
    let options = RunOptions {
        distribution: Distribution {
            entities: EntityLaw::Zipfian { theta: 1.1 },
            burst: Some(5.0),
        },
        ..small()
    };
    let one = run_design("log-keys", "host-lead", &options);
    let other = run_design("log-keys", "host-lead", &options);
    assert_eq!(one.counts, other.counts);
    assert_eq!(one.spread, other.spread);
}

#[test]
fn impossible_runs_are_refused_with_the_reason() {
    let study = Study::find("log-keys").expect("there is such a study");
    for (design, reason) in [
        ("nothing", "has no design \"nothing\": use one of timestamp-lead"),
        ("bucket(ts, 0)|ts:timestamp", "at least one bucket"),
        ("car:str", "have no field car; their fields are ts, host"),
    ] {
        let error = Candidate::new(study, design, 4).expect_err(design).to_string();
        assert!(error.contains(reason), "{design}: {error}");
    }
    let options = small();
    let salted = Candidate::new(study, "salt(16)|ts:timestamp|host:str", 4).expect("a design");
    let stream = Stream::new(&salted, &options).expect("good settings");
    let error = run(&salted, &stream, &options, |_| {}).expect_err("more salts than regions");
    assert!(error.to_string().contains("16 salts over 4 regions"), "{error}");

    for (options, reason) in [
        (RunOptions { regions: 0, ..small() }, "--regions is 1 to"),
        (RunOptions { rate: 0.0, ..small() }, "--rate is above 0"),
        (RunOptions { records: 5, ..small() }, "an empty window"),
        (RunOptions { regions: 50_000, windows: 3_000, ..small() }, "times --windows"),
    ] {
        let error = Stream::new(&salted, &options).expect_err(reason).to_string();
        assert!(error.contains(reason), "{error}");
    }
}

/// The case studies: the counters of their first tables agree with what was sent.
#[test]
fn case_studies_are_run_and_counted() {
    let options = RunOptions { records: 600, reads: 3, regions: 16, ..small() };
    for study in hblite_casestudies::studies() {
        for design in study.designs() {
            let what = format!("{} {}", study.name(), design.name());
            let target = CaseStudyDesign::new(study.name(), design.name()).expect(&what);
            let options = RunOptions { splits: Splits::Quantiles, ..options.clone() };
            let stream = Stream::new(&target, &options).expect(&what);
            let result = run(&target, &stream, &options, |_| {})
                .unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_eq!(result.counts.check(), Ok(()), "{what}");
            assert_eq!(result.storage.rows, options.records, "{what}");
            assert!(!result.queries.is_empty(), "{what}");
            if design.name() == "numbered" {
                // Its numbers come from a table: the quantiles must be those of such numbers.
                assert!(windowed(&result) < 8.0, "{what}: {}", windowed(&result));
            }
        }
    }
}

/// The counters of regions count the rows of scans, as HBase's do.
#[test]
fn reads_are_rows() {
    let result = run_design("log-keys", "host-lead", &small());
    let rows: f64 = result.queries.iter().map(|query| query.runs as f64 * query.rows_read).sum();
    let regions: f64 = result.queries.iter().map(|query| query.runs as f64 * query.regions).sum();
    let reads = result.counts.sum(Metric::Reads) as f64;
    // Each query runs once more, to learn its kind.
    assert!(rows > 1_000.0 && reads >= rows, "{reads} reads of {rows} rows");
    assert!(reads <= rows + regions + 4.0 * 500.0, "{reads} reads of {rows} rows");
}
