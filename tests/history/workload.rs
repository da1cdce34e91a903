//! The work of a thread: random operations, within rules under which some order of the operations
//! determines their answers.
//!
//! Versions of a column are ordered by time first and by sequence id second, and plain puts and
//! deletes only share the lock of their row. So of two concurrent plain writes the one with the
//! earlier time may become visible last, and then only where the other one wrote nothing. That is
//! so in HBase, too. Therefore a plain put writes all columns, and a plain delete deletes the row.
//! Everything else locks the row exclusively and may write anything.

use hblite_env::{Random as _, SeededRandom};

use super::atomic_row::{COLUMNS, COUNTERS, Change, Column, FAMILIES, LOG, Operation, TEXTS};
use super::client::Client;

pub(crate) struct Worker<'a> {
    pub(crate) client: Client<'a>,
    pub(crate) choice: Choice<'a>,
}

impl Worker<'_> {
    /// Does this many operations; fewer if the store fails.
    pub(crate) fn work(&mut self, operations: usize) {
        let Self { client, choice } = self;
        for _ in 0..operations {
            if client.recorder.has_failed() {
                return;
            }
            match choice.below(12) {
                0 => scan(client, choice),
                1 => {
                    let rows = choice.some_rows().into_iter();
                    client.put_all(rows.map(|row| (row, choice.plain_put())).collect());
                }
                2 => {
                    let rows = choice.some_rows().into_iter();
                    client.batch(rows.map(|row| (row, choice.operation())).collect());
                }
                _ => use_one_row(client, choice),
            }
        }
    }
}

fn use_one_row(client: &mut Client<'_>, choice: &mut Choice<'_>) {
    let row = choice.row();
    match choice.below(10) {
        0 | 1 => {
            client.get(row, choice.columns());
        }
        2 | 3 => client.write(row, choice.plain_put()),
        4 => client.write(row, vec![Change::DeleteRow]),
        5 => client.write(row, choice.increments()),
        6 => client.write(row, vec![Change::Append(LOG, choice.text())]),
        7 => client.mutate_row(row, choice.mixed_changes()),
        _ => {
            let column = TEXTS[choice.below(TEXTS.len())];
            if let Some(seen) = client.get(row, vec![column]) {
                let expected = seen.get(column).cloned();
                client.check_and_mutate(row, column, expected, choice.changes_after_check(column));
            }
        }
    }
}

/// A slow scan: the thread does something else now and then.
fn scan(client: &mut Client<'_>, choice: &mut Choice<'_>) {
    let (one, other) = (choice.below(choice.rows.len()), choice.below(choice.rows.len()));
    let range = &choice.rows[one.min(other)..=one.max(other)];
    let mut rows: Vec<&str> = range.iter().map(String::as_str).collect();
    let is_reversed = choice.below(2) == 0;
    if is_reversed {
        rows.reverse();
    }
    let family = (choice.below(4) == 0).then(|| FAMILIES[choice.below(FAMILIES.len())]);
    let result = client.scan(&rows, family, is_reversed, |client| {
        if choice.below(2) == 0 {
            use_one_row(client, choice);
        }
    });
    client.recorder.errors.extend(result.err());
}

/// Generates rows and changes.
pub(crate) struct Choice<'a> {
    pub(crate) rows: &'a [String],
    pub(crate) thread: usize,
    pub(crate) random: SeededRandom,
    /// Values written so far, to write each only once.
    pub(crate) values: usize,
}

impl<'a> Choice<'a> {
    fn below(&self, limit: usize) -> usize {
        (self.random.next_u64() % limit as u64) as usize
    }

    fn row(&self) -> &'a str {
        &self.rows[self.below(self.rows.len())]
    }

    /// Two to four different rows.
    fn some_rows(&self) -> Vec<&'a str> {
        let (first, count) = (self.below(self.rows.len()), 2 + self.below(3));
        let chosen = self.rows.iter().cycle().skip(first).step_by(3).take(count);
        chosen.map(String::as_str).collect()
    }

    fn columns(&self) -> Vec<Column> {
        match self.below(4) {
            0 => vec![COLUMNS[self.below(COLUMNS.len())]],
            1 => vec!["a:n", "a:x", "b:x"],
            _ => COLUMNS.to_vec(),
        }
    }

    fn text(&mut self) -> Vec<u8> {
        self.values += 1;
        format!("[{}.{}]", self.thread, self.values).into_bytes()
    }

    /// Where a counter begins anew, far from where others begin.
    fn counter(&mut self) -> Vec<u8> {
        self.values += 1;
        ((self.thread * 1_000_000 + self.values) as i64 * 1_000).to_be_bytes().to_vec()
    }

    /// What a put may write without locking the row exclusively.
    fn plain_put(&mut self) -> Vec<Change> {
        let (text, counter) = (self.text(), self.counter());
        let texts = TEXTS.into_iter().chain([LOG]);
        let texts = texts.map(|column| Change::Put(column, text.clone()));
        let counters = COUNTERS.map(|column| Change::Put(column, counter.clone()));
        texts.chain(counters).collect()
    }

    fn increments(&self) -> Vec<Change> {
        let amount = 1 + self.below(9) as i64;
        match self.below(3) {
            0 => COUNTERS.map(|column| Change::Increment(column, amount)).to_vec(),
            _ => vec![Change::Increment(COUNTERS[self.below(COUNTERS.len())], amount)],
        }
    }

    /// Puts, increments, appends and deletes, in both families.
    fn mixed_changes(&mut self) -> Vec<Change> {
        let text = self.text();
        let mut changes = vec![Change::Put("a:x", text.clone()), Change::Put("b:x", text)];
        if self.below(2) == 0 {
            changes.extend(self.increments());
        }
        if self.below(2) == 0 {
            changes.push(Change::Append(LOG, self.text()));
        }
        if self.below(2) == 0 {
            changes.push(Change::DeleteColumn("a:y"));
        }
        changes
    }

    fn changes_after_check(&mut self, column: Column) -> Vec<Change> {
        match self.below(4) {
            0 => vec![Change::DeleteRow],
            1 => self.mixed_changes(),
            2 => self.increments(),
            _ => vec![Change::Put(column, self.text())],
        }
    }

    /// Something for a batch.
    fn operation(&mut self) -> Operation {
        match self.below(4) {
            0 => Operation::Read(COLUMNS.to_vec()),
            1 => Operation::Write(self.increments()),
            2 => Operation::Write(vec![Change::Append(LOG, self.text())]),
            _ => Operation::Write(self.plain_put()),
        }
    }
}
