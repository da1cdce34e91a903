//! Lists in pages: thirty values in a cell, and the number of the next page.
//!
//! The first page is one get. Inserting a value into the middle moves the last value of its page to
//! the next one, and so on to the end of the list: every page from there on is rewritten.

use std::collections::BTreeMap;

use hblite::{Connection, Delete, Get, Put, RowResult, TableDescriptor};
use hblite_model::counted;
use hblite_rowkey::{KeyRange, next_after_prefix};

use super::ListValue;
use crate::descriptor;
use crate::error::{Error, Result};
use crate::keyed::{FAMILY, Record as _};
use crate::study::{DataSet, Question, RecordId, SchemaDesign, Session, Visitor, Write};
use crate::trace::{TableReader, Trace};

/// Values of a page.
const PAGE: usize = 30;
/// The number that means "no next page".
const NO_PAGE: u32 = u32::MAX;
const TABLE: &str = "LIST_PAGED";
const COLUMN: &str = "l";

pub(super) struct Paged;

impl SchemaDesign for Paged {
    fn name(&self) -> &str {
        "paged"
    }

    fn pictures(&self) -> Vec<String> {
        vec![format!("{TABLE}: user:str(8)|page:u32, column [length 4][next page 4][value 4]…")]
    }

    fn why(&self) -> String {
        "the first thirty are one get of one cell; a value in the middle rewrites all pages from \
         there on"
            .to_owned()
    }

    fn tables(&self) -> Vec<TableDescriptor> {
        vec![descriptor(TABLE, &[FAMILY])]
    }

    fn natural_splits(&self, regions: usize) -> Result<Vec<Vec<u8>>> {
        Ok(hblite_rowkey::Design::parse("user:str(8)|page:u32")?.natural_splits(regions)?)
    }

    /// The page of a value depends on the other values, so its user's first page represents it.
    fn key(&self, id: &RecordId) -> Result<Vec<u8>> {
        Ok(row(&ListValue::generate(id).user, 0))
    }

    fn open(&self, connection: &Connection) -> Result<Box<dyn Session>> {
        Ok(Box::new(PagedSession { tables: [TableReader::new(connection.table(TABLE)?)?] }))
    }
}

fn row(user: &str, page: u32) -> Vec<u8> {
    [user.as_bytes(), &page.to_be_bytes()].concat()
}

fn page_put(user: &str, page: u32, values: &[u32], has_next: bool) -> Put {
    let next = if has_next { page + 1 } else { NO_PAGE };
    let mut cell = (values.len() as u32).to_be_bytes().to_vec();
    cell.extend_from_slice(&next.to_be_bytes());
    values.iter().for_each(|value| cell.extend_from_slice(&value.to_be_bytes()));
    Put::new(row(user, page)).add(FAMILY, COLUMN, cell)
}

/// The values of a page, and the next one.
fn read_page(row: &RowResult) -> Result<(Vec<u32>, Option<u32>)> {
    let wrong = || Error::row(row.row(), "the page does not have the length it states");
    let cell = row.value(FAMILY, COLUMN).ok_or_else(wrong)?;
    let mut numbers =
        cell.chunks(4).map(|bytes| <[u8; 4]>::try_from(bytes).map(u32::from_be_bytes));
    let mut number = || numbers.next().transpose().ok().flatten().ok_or_else(wrong);
    let (length, next) = (number()?, number()?);
    if cell.len() != 8 + 4 * length as usize {
        return Err(wrong());
    }
    let values = (0..length).map(|_| number()).collect::<Result<_>>()?;
    Ok((values, (next != NO_PAGE).then_some(next)))
}

/// The puts of a list's pages, starting at one of them.
fn pages(user: &str, first: u32, values: &[u32]) -> Vec<Put> {
    let count = values.len().div_ceil(PAGE);
    let pages = values.chunks(PAGE).enumerate();
    pages.map(|(at, page)| page_put(user, first + at as u32, page, at + 1 < count)).collect()
}

struct PagedSession {
    tables: [TableReader; 1],
}

impl PagedSession {
    /// The pages of a user, starting at one, until `is_enough`.
    fn read(
        &self,
        user: &str,
        trace: &Trace,
        is_enough: &mut dyn FnMut(&[u32]) -> bool,
    ) -> Result<()> {
        // One get answers most questions; reading further takes a scan.
        let first = self.tables[0].get(&Get::new(row(user, 0)), "", trace)?;
        if first.is_empty() {
            return Ok(());
        }
        let (values, next) = read_page(&first)?;
        if is_enough(&values) {
            return Ok(());
        }
        let Some(next) = next else { return Ok(()) };
        let range = KeyRange { start: row(user, next), stop: next_after_prefix(user.as_bytes()) };
        for page in self.tables[0].scan(&range.scan(false), None, "", |scan| scan, trace)? {
            if is_enough(&read_page(&page?.0)?.0) {
                break;
            }
        }
        Ok(())
    }

    /// The puts that add a value to a list or remove it, and the page that is dropped.
    fn change(&self, user: &str, value: u32, is_there: bool) -> Result<(Vec<Put>, Option<u32>)> {
        let trace = Trace::new();
        let (mut first, mut values, mut page) = (0, Vec::new(), 0);
        self.read(user, &trace, &mut |of_page| {
            // Pages before the value's own stay unchanged.
            if values.is_empty() && of_page.last().is_some_and(|last| *last < value) {
                first = page;
                page += 1;
                values.clear();
                return false;
            }
            if values.is_empty() {
                first = page;
            }
            values.extend_from_slice(of_page);
            page += 1;
            false
        })?;
        if values.is_empty() && page > 0 {
            // It belongs at the end: in the last page, or after it.
            let last = self.tables[0].table().get(&Get::new(row(user, page - 1)))?;
            first = page - 1;
            values = read_page(&last)?.0;
        }
        let before = values.len().div_ceil(PAGE);
        match (values.binary_search(&value), is_there) {
            (Err(at), true) => values.insert(at, value),
            (Ok(at), false) => {
                values.remove(at);
            }
            _ => return Ok((Vec::new(), None)),
        }
        let puts = pages(user, first, &values);
        let falls_away = (puts.len() < before).then_some(first + puts.len() as u32);
        Ok((puts, falls_away))
    }
}

impl Session for PagedSession {
    fn tables(&self) -> &[TableReader] {
        &self.tables
    }

    /// Reads the list from the value's position on, and rewrites it.
    fn writes(&self, id: &RecordId) -> Result<Vec<Write>> {
        let ListValue { user, value } = ListValue::generate(id);
        Ok(self.change(&user, value, true)?.0.into_iter().map(Write::new).collect())
    }

    /// Lists that are completely known are written page by page.
    fn load(&self, data: &DataSet) -> Result<u64> {
        let mut lists: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for ListValue { user, value } in data.all().map(|id| ListValue::generate(&id)) {
            lists.entry(user).or_default().push(value);
        }
        let mut count = 0;
        for (user, mut values) in lists {
            values.sort_unstable();
            let puts = pages(&user, 0, &values);
            count += puts.len() as u64;
            self.tables[0].table().put_all(&puts)?;
        }
        Ok(count)
    }

    fn ask(&self, question: &Question, trace: &Trace, visit: Visitor<'_>) -> Result<()> {
        let query = &question.query;
        let users = query.conditions().iter().filter(|(field, _)| field == "user");
        let mut users = users.filter_map(|(_, condition)| match condition {
            hblite_rowkey::FieldCondition::Equals(user) => user.as_text(),
            _ => None,
        });
        let Some(user) = users.next() else {
            return Err(Error::Unknown {
                what: format!("answer to {query} from pages"),
                known: "questions about one user".to_owned(),
            });
        };
        let limit = query.row_limit().unwrap_or(u64::MAX);
        let mut count = 0;
        self.read(user, trace, &mut |page| {
            for value in page {
                let value = ListValue { user: user.to_owned(), value: *value };
                if count < limit && query.matches(|field| value.value(field)) {
                    visit(&value);
                    count += 1;
                }
            }
            count >= limit
        })
    }

    /// Inserts a value into the middle of the longest list, and removes it again.
    fn after_load(&self, data: &DataSet) -> Result<Vec<String>> {
        let user = "u0000000";
        let value = u32::try_from(data.records).unwrap_or(u32::MAX) | 1;
        let table = self.tables[0].table();
        let (puts, _) = self.change(user, value, true)?;
        table.put_all(&puts)?;
        let count = counted(puts.len() as u64, "put");
        let told = format!("a value in the middle of the longest list takes {count}");
        let (puts, falls_away) = self.change(user, value, false)?;
        table.put_all(&puts)?;
        if let Some(page) = falls_away {
            table.delete(&Delete::new(row(user, page)))?;
        }
        Ok(vec![told])
    }
}
