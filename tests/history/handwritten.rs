//! Histories written by hand: what the checker must accept, and what it must not.

use super::atomic_row::{Answer, COLUMNS, Change, Column, Operation, Row, step};
use super::checker::{STEPS_MAX, Verdict, check};
use super::recorder::{Event, NEVER};
use super::report::Unexplained;

fn event(invoked: u64, returned: u64, operation: Operation, answer: Answer) -> Event {
    let (row, call) = ("r".to_owned(), "call");
    Event { row, thread: 0, call, operation, answer, invoked, returned }
}

fn row<const N: usize>(cells: [(Column, &str); N]) -> Row {
    cells.into_iter().map(|(column, value)| (column, value.as_bytes().to_vec())).collect()
}

fn count(value: i64) -> Row {
    Row::from([("a:n", value.to_be_bytes().to_vec())])
}

/// Puts the value into a column of each family.
fn put(invoked: u64, returned: u64, value: &str) -> Event {
    let change = |column| Change::Put(column, value.as_bytes().to_vec());
    let operation = Operation::Write(vec![change("a:x"), change("b:x")]);
    event(invoked, returned, operation, Answer::Done)
}

fn delete(invoked: u64, returned: u64) -> Event {
    event(invoked, returned, Operation::Write(vec![Change::DeleteRow]), Answer::Done)
}

fn increment(invoked: u64, returned: u64, told: i64) -> Event {
    let operation = Operation::Write(vec![Change::Increment("a:n", 1)]);
    event(invoked, returned, operation, Answer::Row(count(told)))
}

/// Puts `next` if column `a:x` has the value.
fn swap(invoked: u64, returned: u64, expected: &str, next: &str, holds: bool) -> Event {
    let operation = Operation::Check {
        column: "a:x",
        expected: Some(expected.as_bytes().to_vec()),
        changes: vec![Change::Put("a:x", next.as_bytes().to_vec())],
    };
    event(invoked, returned, operation, Answer::Checked(holds, Row::default()))
}

fn lost(mut write: Event) -> Event {
    (write.answer, write.returned) = (Answer::Unknown, NEVER);
    write
}

fn read_row(invoked: u64, returned: u64, seen: Row) -> Event {
    event(invoked, returned, Operation::Read(COLUMNS.to_vec()), Answer::Row(seen))
}

fn read(invoked: u64, returned: u64, value: &str) -> Event {
    read_row(invoked, returned, row([("a:x", value), ("b:x", value)]))
}

fn verdict(events: &[Event]) -> Verdict {
    check(&Row::default(), events, STEPS_MAX)
}

/// Every order, without memory or short cuts.
fn has_order(row: &Row, left: &[Event]) -> bool {
    left.iter().all(|event| !event.has_returned())
        || left.iter().enumerate().any(|(at, event)| {
            let is_next = left.iter().all(|other| other.returned >= event.invoked);
            let mut others = left.to_vec();
            others.remove(at);
            is_next
                && step(row, &event.operation, &event.answer)
                    .is_some_and(|next| has_order(&next, &others))
        })
}

#[test]
fn what_an_order_explains_is_accepted() {
    let histories = [
        vec![],
        vec![read_row(1, 2, Row::default())],
        // Each of two concurrent puts may be the last one, and may be seen before it returned.
        vec![put(1, 10, "1"), put(2, 9, "2"), read(11, 12, "1")],
        vec![put(1, 10, "1"), put(2, 9, "2"), read(11, 12, "2")],
        vec![put(1, 10, "1"), read(2, 3, "1"), read(4, 5, "1")],
        // Not seen yet by one reader, seen by the next.
        vec![put(1, 2, "0"), put(3, 20, "1"), read(4, 5, "0"), read(6, 7, "1")],
        // Readers that overlap may see new and old in any order.
        vec![put(1, 2, "0"), put(3, 20, "1"), read(4, 9, "1"), read(5, 8, "0")],
        vec![increment(1, 8, 2), increment(2, 7, 1), increment(3, 9, 3)],
        vec![put(1, 2, "0"), swap(3, 9, "0", "1", true), swap(4, 8, "0", "2", false)],
        vec![put(1, 2, "0"), delete(3, 9), put(4, 8, "1"), read(10, 11, "1")],
        vec![put(1, 2, "0"), delete(3, 9), put(4, 8, "1"), read_row(10, 11, Row::default())],
        // A delete of nothing must stay possible later: the read between is of the put.
        vec![delete(1, 9), put(2, 4, "1"), read(5, 6, "1"), read_row(10, 11, Row::default())],
        // A write with an unknown outcome: it did not happen, it did, it did much later.
        vec![put(1, 2, "0"), lost(put(3, 4, "1")), read(5, 6, "0")],
        vec![put(1, 2, "0"), lost(put(3, 4, "1")), read(5, 6, "1")],
        vec![put(1, 2, "0"), lost(put(3, 4, "1")), read(5, 6, "0"), read(7, 8, "1")],
        vec![lost(swap(1, 2, "0", "1", true)), put(3, 4, "0"), read(5, 6, "0")],
    ];
    for events in histories {
        assert_eq!(verdict(&events), Verdict::Explained, "{events:?}");
    }
}

#[test]
fn what_no_order_explains_is_refused_where_it_shows() {
    let torn = row([("a:x", "1"), ("b:x", "0")]);
    let histories = [
        ("stale read", vec![put(1, 2, "0"), put(3, 4, "1"), read(5, 6, "0")], 6),
        ("nobody wrote it", vec![put(1, 2, "0"), read(3, 4, "1")], 4),
        (
            "new, then old",
            vec![put(1, 2, "0"), put(3, 20, "1"), read(4, 5, "1"), read(6, 7, "0")],
            7,
        ),
        ("read before it was written", vec![read(1, 2, "1"), put(3, 4, "1")], 2),
        ("lost put", vec![put(1, 2, "0"), read_row(3, 4, Row::default())], 4),
        ("torn row", vec![put(1, 2, "0"), put(3, 9, "1"), read_row(4, 5, torn)], 5),
        ("lost update", vec![increment(1, 8, 1), increment(2, 9, 1)], 9),
        ("counter going back", vec![increment(1, 2, 1), increment(3, 4, 2), increment(5, 6, 2)], 6),
        ("counter read back", vec![increment(1, 2, 1), read_row(3, 4, count(0))], 4),
        (
            "two swaps of one value",
            vec![put(1, 2, "0"), swap(3, 9, "0", "1", true), swap(4, 8, "0", "2", true)],
            9,
        ),
        ("a swap that had to hold", vec![put(1, 2, "0"), swap(3, 4, "0", "1", false)], 4),
        ("deleted and there", vec![put(1, 2, "0"), delete(3, 4), read(5, 6, "0")], 6),
        (
            "applied, then not",
            vec![put(1, 2, "0"), lost(put(3, 4, "1")), read(5, 6, "1"), read(7, 8, "0")],
            8,
        ),
    ];
    for (what, events, at) in histories {
        assert_eq!(verdict(&events), Verdict::Impossible { at }, "{what}");
    }
}

#[test]
fn the_checker_agrees_with_trying_every_order() {
    use hblite_env::{Random as _, SeededRandom};
    let (mut explained, mut impossible) = (0, 0);
    for seed in 0..3_000 {
        let random = SeededRandom::new(seed);
        let below = |limit: u64| random.next_u64() % limit;
        let events: Vec<Event> = (0..6)
            .map(|_| {
                let invoked = below(12) * 2;
                let returned = invoked + 1 + below(6) * 2;
                let value = ["1", "2", "3"][below(3) as usize];
                let made = match below(7) {
                    0 | 1 => put(invoked, returned, value),
                    2 => increment(invoked, returned, below(3) as i64),
                    3 => swap(invoked, returned, value, "3", below(2) == 0),
                    4 => delete(invoked, returned),
                    5 => read(invoked, returned, value),
                    _ => read_row(invoked, returned, Row::default()),
                };
                let is_write = made.answer == Answer::Done;
                if is_write && below(5) == 0 { lost(made) } else { made }
            })
            .collect();
        let has_order = has_order(&Row::default(), &events);
        assert_eq!(verdict(&events) == Verdict::Explained, has_order, "seed {seed}: {events:?}");
        *(if has_order { &mut explained } else { &mut impossible }) += 1;
    }
    assert!(explained > 100 && impossible > 100, "{explained} explained, {impossible} not");
}

#[test]
fn the_report_has_what_matters_and_nothing_else() {
    let mut events = vec![];
    for number in 0..50 {
        let at = number * 10;
        events.push(put(at, at + 1, &format!("old {number}")));
        events.push(read(at + 2, at + 3, &format!("old {number}")));
    }
    events.push(increment(510, 513, 1));
    events.push(put(511, 512, "new"));
    let counter = count(1).remove("a:n").expect("it was put");
    let mut both = row([("a:x", "old 49"), ("b:x", "old 49")]);
    both.insert("a:n", counter);
    events.push(read_row(520, 521, both));
    events.push(read(530, 531, "new"));
    let Verdict::Impossible { at } = verdict(&events) else { panic!("a stale read was accepted") };
    assert_eq!(at, 521);
    let text = Unexplained::shrink(&Row::default(), &events, at).show();
    let expected = "the row at first: a:x=old 49 b:x=old 49\n\
        call  return  thread  operation             answer\n \
         510       ?       0  call a:n+1            ?\n \
         511     512       0  call a:x=new b:x=new  done\n \
         520     521       0  call row              a:n=1 a:x=old 49 b:x=old 49\n\
        (?: even if this happened any time after its call, or never)\n";
    assert_eq!(text, expected);
}

#[test]
fn what_never_returned_and_was_overwritten_is_no_case_of_its_own() {
    let mut events: Vec<Event> = (0..10).map(|n| lost(increment(n, 0, 0))).collect();
    events.extend((0..3).map(|n| delete(20 + 2 * n, 21 + 2 * n)));
    events.push(read(30, 31, "nobody wrote this"));
    assert_eq!(verdict(&events), Verdict::Impossible { at: 31 });
}

#[test]
fn a_search_that_takes_too_long_says_so() {
    let events: Vec<Event> = (0..12).map(|n| put(n, 100 + n, &n.to_string())).collect();
    let events = [events, vec![read(200, 201, "nobody wrote this")]].concat();
    assert_eq!(check(&Row::default(), &events, 1_000), Verdict::GaveUp { at: 201 });
    assert_eq!(verdict(&events), Verdict::Impossible { at: 201 });
}
