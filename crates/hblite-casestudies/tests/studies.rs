//! Every design of every study, with its tables whole and split, flushed and not: each answer
//! equals the one computed without a store.

use hblite::Connection;
use hblite_casestudies::{
    CaseStudy, DataSet, Question, RecordId, SchemaDesign, Session, Trace, studies,
};
use hblite_rowkey::{Order, quantile_splits};

const RECORDS: u64 = 600;

fn answer(session: &dyn Session, question: &Question) -> (Vec<String>, Trace) {
    let trace = Trace::new();
    let mut lines = Vec::new();
    let mut visit = |found: &dyn std::fmt::Display| lines.push(found.to_string());
    session.ask(question, &trace, &mut visit).unwrap_or_else(|error| panic!("{error}"));
    (lines, trace)
}

/// The same lines in the same order, or in any where none was asked for.
fn check(name: &str, question: &Question, found: Vec<String>, expected: &[String]) {
    let query = &question.query;
    let is_ordered = *query.order() != Order::Any;
    let (mut found, mut expected) = (found, expected.to_vec());
    if !is_ordered {
        found.sort();
        expected.sort();
    }
    let place = found.iter().zip(&expected).position(|(left, right)| left != right);
    assert!(
        found == expected,
        "{name}, {}: {query}\nfound {} lines, expected {}; the first that differs: {:?} / {:?}",
        question.name,
        found.len(),
        expected.len(),
        place.map(|at| &found[at]),
        place.map(|at| &expected[at]),
    );
}

type Asked = Vec<(Question, Vec<String>)>;

/// The questions around a record with their answers.
fn asked(study: &dyn CaseStudy, data: &DataSet, around: &RecordId) -> Asked {
    let questions = study.questions(data, around).into_iter();
    questions.map(|question| (question.clone(), study.expected(data, &question))).collect()
}

fn run(study: &dyn CaseStudy, design: &dyn SchemaDesign, data: &DataSet, asked: &[Asked]) {
    let name = format!("{} {}", study.name(), design.name());
    let connection: Connection = hblite::open_in_memory().expect("a store");
    let keys: Vec<Vec<u8>> =
        data.all().map(|id| design.key(&id).unwrap_or_else(|e| panic!("{name}: {e}"))).collect();
    let splits = quantile_splits(keys, 4).expect("a sample");
    design.create(&connection, &splits).unwrap_or_else(|error| panic!("{name}: {error}"));
    let session = design.open(&connection).unwrap_or_else(|error| panic!("{name}: {error}"));
    session.load(data).unwrap_or_else(|error| panic!("{name}: {error}"));
    for table in design.tables() {
        connection.admin().flush_table(table.name()).expect("a flush");
    }
    for (question, expected) in asked.iter().flatten() {
        let (found, trace) = answer(session.as_ref(), question);
        check(&name, question, found, expected);
        for step in trace.steps() {
            let cost = step.cost();
            assert!(cost.regions >= 1 && cost.regions <= 4, "{name}: {step}");
        }
    }
    // What is done to the rows since must not change a single answer.
    session.after_load(data).unwrap_or_else(|error| panic!("{name}: {error}"));
    for (question, expected) in &asked[0] {
        check(&name, question, answer(session.as_ref(), question).0, expected);
    }
}

#[test]
fn every_design_answers_as_without_a_store() {
    for study in studies() {
        let data = study.data(RECORDS, 7);
        let arounds = [data.record(RECORDS / 2), data.record(3), data.record(RECORDS - 1)];
        let asked: Vec<Asked> =
            arounds.iter().map(|around| asked(study.as_ref(), &data, around)).collect();
        let mut names = Vec::new();
        for design in study.designs() {
            names.push(design.name().to_owned());
            run(study.as_ref(), design.as_ref(), &data, &asked);
        }
        names.sort();
        names.dedup();
        assert_eq!(names.len(), study.designs().len(), "names of {}", study.name());
    }
}

#[test]
fn questions_find_something() {
    for study in studies() {
        // Enough for what is rare.
        let data = study.data(4 * RECORDS, 7);
        for question in study.questions(&data, &data.record(2 * RECORDS)) {
            let lines = study.expected(&data, &question);
            assert!(!lines.is_empty(), "{} {}", study.name(), question.name);
        }
    }
}

#[test]
fn data_follows_from_the_seed() {
    for study in studies() {
        let lines = |seed| {
            let data = study.data(50, seed);
            let question = study.questions(&data, &data.record(20)).swap_remove(0);
            study.expected(&data, &question)
        };
        assert_eq!(lines(1), lines(1));
    }
}

/// The lengths of the rows that a scan finds are those of the puts.
#[test]
fn a_report_has_the_lengths_of_the_stored_row_keys() {
    let orders = hblite_casestudies::study("order-object").expect("a study");
    let data = orders.data(RECORDS, 7);
    for design in orders.designs() {
        let connection = hblite::open_in_memory().expect("a store");
        let options =
            hblite_casestudies::CaseStudyOptions::default().with_regions(4).with_checked(false);
        let design = design.as_ref();
        let report =
            hblite_casestudies::run_design(orders.as_ref(), design, &data, &connection, options)
                .expect("a run");
        let session = design.open(&connection).expect("a session");
        let mut rows = vec![std::collections::BTreeSet::new(); session.tables().len()];
        for write in data.all().flat_map(|id| session.writes(&id).expect("puts")) {
            rows[write.table].insert(write.put.row().to_vec());
        }
        for (own, (table, bytes)) in rows.iter().zip(&report.key_bytes) {
            let mean = own.iter().map(Vec::len).sum::<usize>() as f64 / own.len() as f64;
            assert!((mean - bytes).abs() < 1e-9, "{} {table}: {bytes}, not {mean}", report.name);
        }
        let shown = report.to_string();
        match report.name.as_str() {
            "normalised" => assert!(shown.contains("22.0 in LINE_ITEM"), "{shown}"),
            "record-types" => assert!(report.key_bytes[0].1 > 21.0, "{shown}"),
            _ => {}
        }
    }
}
