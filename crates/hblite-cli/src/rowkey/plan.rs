//! `hblite rowkey plan`: a query as text, and its scans.
//!
//! ```text
//! query     = condition { "and" condition } { "newest" field | "oldest" field | "limit" n }
//! condition = field "=" value | field "begins" value | field "ends" value
//!           | field "in" value ".." value          from the first up to but excluding the second
//! ```

use std::fmt::Write as _;

use clap::Args;
use hblite::bytes::to_string_binary;
use hblite_rowkey::{Access, Design, FieldCondition, Plan, Query, Value};

use super::design;
use hblite_hotspot::data::parse_value as value;

/// The design and the query.
#[derive(Debug, Args)]
pub(super) struct PlanArguments {
    /// The design
    design: String,
    /// The query: 'host = web1 and ts in 1500000000000..1500000060000 newest ts limit 10'. Further
    /// conditions: FIELD begins TEXT, FIELD ends TEXT. Put a value with spaces in double quotes
    query: String,
}

pub(super) fn plan(arguments: &PlanArguments) -> Result<String, String> {
    let design = design(&arguments.design)?;
    let query = query(&design, &arguments.query)?;
    let plan = design.plan(&query).map_err(|error| error.to_string())?;
    Ok(shown(&plan))
}

fn query(design: &Design, text: &str) -> Result<Query, String> {
    let words = words(text)?;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut rest = words.as_slice();
    let mut query = Query::new();
    while !rest.is_empty() {
        (query, rest) = match rest {
            ["and", rest @ ..] => (query, rest),
            ["newest", name, rest @ ..] => (query.descending(name), rest),
            ["oldest", name, rest @ ..] => (query.ascending(name), rest),
            ["limit", count, rest @ ..] => {
                let count = count.parse().map_err(|_| format!("{count:?} is not a limit"))?;
                (query.limit(count), rest)
            }
            [name, operator @ ("=" | "begins" | "ends" | "in"), text, rest @ ..] => {
                (query.condition(name, condition(design, name, operator, text)?), rest)
            }
            _ => {
                return Err(format!(
                    "{:?} is not a condition: use FIELD = VALUE, FIELD begins TEXT, FIELD ends \
                     TEXT, FIELD in FROM..TO, newest FIELD, oldest FIELD, limit 10",
                    rest.join(" ")
                ));
            }
        };
    }
    Ok(query)
}

fn condition(
    design: &Design,
    name: &str,
    operator: &str,
    text: &str,
) -> Result<FieldCondition, String> {
    let index = design.field_index(name).map_err(|error| error.to_string())?;
    let field = &design.fields()[index];
    let text_value = || Value::from(text.to_owned());
    Ok(match operator {
        "=" => FieldCondition::Equals(value(field, text)?),
        "begins" => FieldCondition::Prefix(text_value()),
        "ends" => FieldCondition::Suffix(text_value()),
        _ => {
            let (from, to) = text
                .split_once("..")
                .ok_or_else(|| format!("{name} in {text}: write a range as FROM..TO"))?;
            let bound = |text: &str| {
                if text.is_empty() { Ok(None) } else { value(field, text).map(Some) }
            };
            FieldCondition::Range { from: bound(from)?, to: bound(to)? }
        }
    })
}

/// Words, which may be in double quotes; `=` is a separate word.
fn words(text: &str) -> Result<Vec<String>, String> {
    let mut words: Vec<String> = Vec::new();
    let mut is_open = false;
    let mut is_quoted = false;
    for c in text.chars() {
        match c {
            '"' => {
                is_quoted = !is_quoted;
                if !is_open {
                    words.push(String::new());
                    is_open = true;
                }
            }
            c if c.is_whitespace() && !is_quoted => is_open = false,
            '=' if !is_quoted => {
                words.push("=".to_owned());
                is_open = false;
            }
            c => {
                if !is_open {
                    words.push(String::new());
                    is_open = true;
                }
                if let Some(word) = words.last_mut() {
                    word.push(c);
                }
            }
        }
    }
    if is_quoted { Err(format!("a quote is not closed: {text}")) } else { Ok(words) }
}

fn shown(plan: &Plan) -> String {
    let mut text = match (plan.access, plan.ranges.len()) {
        (Access::Nothing, _) => "no rows: the conditions exclude every key\n".to_owned(),
        (access, 1) => format!("{access}\n"),
        (access, count) => format!("{access}, {count} scans\n"),
    };
    for range in &plan.ranges {
        let _ = match range.as_row() {
            Some(row) => writeln!(text, "  get  {}", to_string_binary(row)),
            None => {
                let end = |key: &[u8], name: &str| {
                    if key.is_empty() { name.to_owned() } else { to_string_binary(key) }
                };
                let (start, stop) = (end(&range.start, "(first)"), end(&range.stop, "(end)"));
                writeln!(text, "  scan {start} up to {stop}")
            }
        };
    }
    if plan.is_reversed {
        text.push_str("each scan runs backwards, from its end\n");
    }
    if let Some(skip) = plan.merge_skip {
        let _ = writeln!(text, "merged in order of what follows the first {skip} bytes");
    }
    for check in &plan.checks {
        let place = if check.is_in_key { "the key" } else { "a column" };
        let _ = writeln!(text, "checked on each row, in {place}: {}", check.field);
    }
    if !plan.is_in_order {
        text.push_str("all rows are read and sorted: keys are not in the order asked for\n");
    }
    if let Some(limit) = plan.limit_per_scan() {
        let _ = writeln!(text, "each scan may stop after {limit} rows");
    }
    text
}
