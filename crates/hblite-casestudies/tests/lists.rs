//! Pages: values that come one by one, in any order, give the list that is written at once.

use hblite_casestudies::{RecordId, Session, Trace, study};

fn ask(session: &dyn Session, user: &str) -> Vec<String> {
    let query = hblite_rowkey::Query::new().equals("user", user.to_owned()).ascending("value");
    let question = hblite_casestudies::Question::new("list", query);
    let mut lines = Vec::new();
    session
        .ask(&question, &Trace::new(), &mut |line| lines.push(line.to_string()))
        .expect("an answer");
    lines
}

#[test]
fn values_in_any_order_make_the_same_pages() {
    let lists = study("lists").expect("a study");
    for design in lists.designs() {
        let connection = hblite::open_in_memory().expect("a store");
        design.create(&connection, &[]).expect("tables");
        let session = design.open(&connection).expect("a session");
        // 131 is prime: every number below it comes once.
        for step in 0..131_u64 {
            let id = RecordId { seed: 1, index: step * 37 % 131, entity: 5 };
            for write in session.writes(&id).expect("puts") {
                session.tables()[write.table].table().put(&write.put).expect("a put");
            }
        }
        let wanted: Vec<String> = (0..131).map(|value| format!("u0000005 {}", value * 2)).collect();
        assert_eq!(ask(session.as_ref(), "u0000005"), wanted, "{}", design.name());
        assert!(ask(session.as_ref(), "u0000006").is_empty());
    }
}

#[test]
fn a_value_in_the_middle_rewrites_the_pages_behind_it() {
    let lists = study("lists").expect("a study");
    let design = lists.design("paged").expect("a design");
    let connection = hblite::open_in_memory().expect("a store");
    design.create(&connection, &[]).expect("tables");
    let session = design.open(&connection).expect("a session");
    let puts = |index: u64| {
        let id = RecordId { seed: 1, index, entity: 5 };
        let writes = session.writes(&id).expect("puts");
        for write in &writes {
            session.tables()[0].table().put(&write.put).expect("a put");
        }
        writes.len()
    };
    for index in 0..120 {
        if index != 50 {
            puts(index);
        }
    }
    // 119 values are four pages; the 51st value is in the second.
    assert_eq!(puts(50), 3);
    assert_eq!(puts(50), 0, "it is there already");
    assert_eq!(puts(120), 2, "the last page is full: it gets a next one");
}

#[test]
fn a_run_asks_about_a_user_with_at_least_thirty_values_behind_the_record() {
    let lists = study("lists").expect("a study");
    for records in [10_000, 1_000_000] {
        let data = lists.data(records, 1);
        let around = lists.around(&data);
        assert!(around.index >= records / 2);
        let own = (around.index..records).filter(|i| data.record(*i).entity == around.entity);
        assert!(own.count() >= 30, "{records} records");
        let next = lists.questions(&data, &around).swap_remove(1);
        assert_eq!(lists.expected(&data, &next).len(), 30, "{}", next.query);
    }
}
