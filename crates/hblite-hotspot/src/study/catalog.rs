//! The studies of keys: the choices that HBase's design guides compare, in their simplest form. The
//! case studies themselves, with all tables, are in `hblite-casestudies`.

use super::query_template::Ask::{Around, Begins, Same};
use super::query_template::QueryTemplate;
use super::{Study, records};

const fn question(
    name: &'static str,
    about: &'static str,
    asks: &'static [super::Ask],
) -> QueryTemplate {
    QueryTemplate { name, about, asks, newest_by: None, limit: None }
}

const fn newest(
    name: &'static str,
    about: &'static str,
    asks: &'static [super::Ask],
    limit: u64,
) -> QueryTemplate {
    QueryTemplate { name, about, asks, newest_by: Some("ts"), limit: Some(limit) }
}

/// All studies, in the order of the guide.
pub(super) const STUDIES: &[Study] = &[SALTING, LOGS, ORDERS, CARS, USERS, LISTS];

const SALTING: Study = Study {
    name: "salting",
    about: "names with a rising number, foo0000000001, foo0000000002, …",
    entity: "names",
    fields: &["name"],
    substitutes: &[],
    records_per_entity: 1,
    designs: &[
        ("sequential", "name:str", "the name unchanged"),
        ("salted", "salt({n})|name:str", "a random salt before it"),
        ("salted-by-hash", "salt({n}, name)|name:str", "a salt computed from its hash"),
        ("hashed", "md5hex(name, 6)|name:str", "the beginning of its MD5 digest before it"),
        ("reversed", "name:reversed_str", "the name backwards"),
    ],
    questions: &[
        question("one name", "the row of one name", &[Same("name")]),
        question("hundred names", "the names that differ in two digits", &[Begins("name", 2)]),
    ],
    record: records::name,
};

const LOGS: Study = Study {
    name: "log-keys",
    about: "events of hosts in order of time",
    entity: "hosts",
    fields: &["ts", "host", "event", "host_id", "event_id"],
    substitutes: &[("host", "host_id"), ("event", "event_id")],
    records_per_entity: 1000,
    designs: &[
        ("timestamp-lead", "ts:timestamp|host:str|event:str", "the time first"),
        ("bucketed", "bucket(ts, {n})|ts:timestamp|host:str|event:str", "time % n first"),
        ("host-lead", "host:str|event:str|ts:timestamp", "the host first"),
        (
            "host-lead-reverse",
            "host:str|event:str|ts:reverse_timestamp",
            "the host first, newest events first",
        ),
        ("md5", "host:md5|event:md5|ts:timestamp", "digests of 16 bytes for host and event"),
        ("numeric", "host_id:u64|event_id:u64|ts:timestamp", "8-byte numbers for host and event"),
    ],
    questions: &[
        question("all in time", "all hosts in 1 % of the time", &[Around("ts", 10)]),
        question(
            "host in time",
            "one host in 10 % of the time",
            &[Same("host"), Around("ts", 100)],
        ),
        question(
            "event in time",
            "one event of one host in 10 % of the time",
            &[Same("host"), Same("event"), Around("ts", 100)],
        ),
        newest(
            "latest 10",
            "the newest of one event of one host",
            &[Same("host"), Same("event")],
            10,
        ),
    ],
    record: records::log,
};

const ORDERS: Study = Study {
    name: "order-keys",
    about: "orders of customers, numbered in order of time",
    entity: "customers",
    fields: &["customer", "order", "customer_id"],
    substitutes: &[("customer", "customer_id")],
    records_per_entity: 20,
    designs: &[
        ("raw", "customer:str(10)|order:str(12)", "customer and order unchanged"),
        ("md5-md5", "customer:md5|order:md5", "digests of both"),
        ("long-md5", "customer_id:u64|order:md5", "a number for the customer, a digest"),
        ("order-lead", "order:str(12)|customer:str(10)", "the order first"),
    ],
    questions: &[
        question("one order", "one order of one customer", &[Same("customer"), Same("order")]),
        question("orders of one", "all orders of one customer", &[Same("customer")]),
        question("order alone", "an order whose customer is unknown", &[Same("order")]),
    ],
    record: records::order,
};

const CARS: Study = Study {
    name: "car-keys",
    about: "positions of cars in order of time",
    entity: "cars",
    fields: &["car", "ts"],
    substitutes: &[],
    records_per_entity: 200,
    designs: &[
        ("ts-car", "ts:timestamp|car:str(10)", "the time first"),
        ("car-ts", "car:str(10)|ts:timestamp", "the car first"),
        (
            "md5-car-ts",
            "md5hex(car, 5)|car:str(10)|ts:timestamp",
            "the beginning of the car's MD5 digest first",
        ),
        (
            "salted-car-ts",
            "salt({n}, car)|car:str(10)|ts:timestamp",
            "a salt from a hash of the car first",
        ),
    ],
    questions: &[
        question("car in time", "one car in 10 % of the time", &[Same("car"), Around("ts", 100)]),
        newest("latest of car", "the newest position of one car", &[Same("car")], 1),
        question("all in time", "all cars in 0.2 % of the time", &[Around("ts", 2)]),
    ],
    record: records::car,
};

const USERS: Study = Study {
    name: "user-keys",
    about: "operations of users, read newest first",
    entity: "users",
    fields: &["uid", "ts"],
    substitutes: &[],
    records_per_entity: 100,
    designs: &[
        ("uid-ts", "uid:str(10)|ts:timestamp", "the user, oldest first"),
        ("uid-reverse-ts", "uid:str(10)|ts:reverse_timestamp", "the user, newest first"),
        (
            "md5-uid-reverse-ts",
            "md5hex(uid, 5)|uid:str(10)|ts:reverse_timestamp",
            "the beginning of the user's MD5 digest before that",
        ),
        ("reverse-ts-uid", "ts:reverse_timestamp|uid:str(10)", "newest first, then the user"),
    ],
    questions: &[
        newest("latest 30", "the newest operations of one user", &[Same("uid")], 30),
        question("user in time", "one user in 10 % of the time", &[Same("uid"), Around("ts", 100)]),
    ],
    record: records::operation,
};

const LISTS: Study = Study {
    name: "list-keys",
    about: "values in the lists of users",
    entity: "users",
    fields: &["user", "value"],
    substitutes: &[],
    records_per_entity: 30,
    designs: &[
        ("tall", "user:str(12)|value:u64", "a row for each value"),
        ("salted", "salt({n}, user)|user:str(12)|value:u64", "a salt hashed from the user first"),
        ("hashed", "md5hex(user, 5)|user:str(12)|value:u64", "the MD5 digest's beginning first"),
        ("reversed", "user:reversed_str(12)|value:u64", "the user reversed"),
    ],
    questions: &[
        QueryTemplate {
            name: "first 30",
            about: "the first values of one user",
            asks: &[Same("user")],
            newest_by: None,
            limit: Some(30),
        },
        question("one value", "whether a user's list has a value", &[Same("user"), Same("value")]),
    ],
    record: records::list_entry,
};

#[cfg(test)]
mod tests {
    use super::super::{Candidate, Moment};
    use super::*;

    #[test]
    fn every_candidate_encodes_records_of_its_study() {
        for study in STUDIES {
            for (design, ..) in study.designs {
                let candidate = Candidate::new(study, design, 4)
                    .unwrap_or_else(|error| panic!("{} {design}: {error}", study.name));
                let mut key = Vec::new();
                for sequence in 0..100 {
                    let moment = Moment {
                        entity: sequence % 7,
                        sequence,
                        arrival_ns: sequence << 20,
                        seed: 1,
                    };
                    let record = study.record(&moment);
                    assert_eq!(record.len(), study.fields.len(), "{}", study.name);
                    candidate
                        .encode_into(&record, moment.random(0), &mut key)
                        .unwrap_or_else(|error| panic!("{} {design}: {error}", study.name));
                }
            }
        }
    }

    #[test]
    fn every_question_is_about_fields_of_its_study() {
        for study in STUDIES {
            for question in study.questions {
                for ask in question.asks {
                    let is_known = study.field_index(ask.field()).is_some();
                    assert!(is_known, "{}: {}", study.name, ask.field());
                }
            }
        }
    }
}
