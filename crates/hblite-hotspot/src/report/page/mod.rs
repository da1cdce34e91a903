//! The report as one HTML page that needs no network: it contains style, script, pictures and
//! counts.
//!
//! Counts are 32-bit numbers, column by column, deflated and in base64; the script unpacks those of
//! the displayed design. Everything that is not part of the template (names, keys) is escaped.

use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde::Serialize;

use super::drawing::{Drawing, NARROW, Theme, WIDE};
use super::grid::Grid;
use super::svg::{escaped, svg};
use super::table::{Table, tables};
use super::trade_off::Cost;
use super::{bars, scale, trade_off};
use crate::condition::{counted, short};
use crate::result::{Counts, Metric, RunResult};

const TEMPLATE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The script's input.
#[derive(Serialize)]
struct Data {
    /// 256 colours, `rrggbb` each, from cold to hot.
    colours: String,
    designs: Vec<DesignData>,
}

#[derive(Serialize)]
struct DesignData {
    name: String,
    key: String,
    summary: String,
    end_ns: u64,
    columns: usize,
    rows: usize,
    /// The labels of the rows.
    labels: Vec<String>,
    /// First and end keys of all regions that ever existed.
    regions: Vec<(String, String)>,
    /// The final regions, by their number.
    layout: Vec<u32>,
    /// The region numbers of the cells; `None` if they are those of the layout throughout.
    cells: Option<String>,
    writes: String,
    reads: String,
    bytes: String,
    /// The metrics with counts.
    metrics: Vec<&'static str>,
}

/// Sentences about a result.
#[derive(Debug, Clone, Default)]
pub struct Notes {
    /// Which result.
    pub title: String,
    /// The sentences; without any, nothing was found.
    pub lines: Vec<String>,
}

/// The page.
pub fn page(results: &[RunResult]) -> String {
    page_with_notes(results, &[])
}

/// The page, with what was hot in the results.
pub fn page_with_notes(results: &[RunResult], notes: &[Notes]) -> String {
    let data = Data { colours: colours(), designs: results.iter().map(design_data).collect() };
    // A result consists of numbers and strings, so JSON can represent it.
    let json = serde_json::to_string(&data).unwrap_or_default().replace('<', "\\u003c");
    let studies: Vec<&str> = results.iter().map(|result| result.study.as_str()).collect();
    let mut studies: Vec<&str> = studies;
    studies.dedup();
    let parts = [
        ("{{style}}", STYLE.to_owned()),
        ("{{title}}", escaped(&format!("Where the load goes: {}", studies.join(", ")))),
        ("{{summary}}", summary(results)),
        ("{{notes}}", findings(notes)),
        ("{{servers}}", servers(results)),
        ("{{trade-off}}", trade_offs(results)),
        ("{{tables}}", tables(results).iter().map(html).collect()),
        ("{{data}}", json),
        ("{{script}}", SCRIPT.to_owned()),
    ];
    fill(TEMPLATE, &parts)
}

/// Replaces placeholders by parts. A placeholder within a part is not replaced.
fn fill(template: &str, parts: &[(&str, String)]) -> String {
    let mut page = String::new();
    let mut rest = template;
    while let Some(start) = rest.find("{{") {
        page.push_str(&rest[..start]);
        rest = &rest[start..];
        let part = parts.iter().find(|(name, _)| rest.starts_with(name));
        match part {
            Some((name, text)) => {
                page.push_str(text);
                rest = &rest[name.len()..];
            }
            None => {
                page.push_str("{{");
                rest = &rest[2..];
            }
        }
    }
    page + rest
}

fn servers(results: &[RunResult]) -> String {
    let picture = picture(|width| bars::drawing(results, Theme::PAGE, width));
    picture.map_or_else(String::new, |picture| {
        format!(
            "<section aria-labelledby=\"bars-title\">\n<h2 id=\"bars-title\">Region servers</h2>\n\
             {picture}\n</section>"
        )
    })
}

/// A picture for pages of any width.
fn picture(drawn: impl Fn(f64) -> Option<Drawing>) -> Option<String> {
    let (wide, narrow) = (svg(&drawn(WIDE)?), svg(&drawn(NARROW)?));
    Some(format!(r#"<div class="wide">{wide}</div><div class="narrow">{narrow}</div>"#))
}

/// All runs of a study have the same settings; watched times differ.
fn summary(results: &[RunResult]) -> String {
    match results {
        [_, _, ..] if results.iter().all(RunResult::is_watched) => {
            let of = |result: &RunResult| {
                format!("{}: {}", escaped(&result.design), summary_of_run(result))
            };
            results.iter().map(of).collect::<Vec<_>>().join("<br>")
        }
        _ => results.first().map(summary_of_run).unwrap_or_default(),
    }
}

fn findings(notes: &[Notes]) -> String {
    if notes.is_empty() {
        return String::new();
    }
    let list = |notes: &Notes| {
        let items = notes.lines.iter().map(|line| format!("<li>{}</li>", escaped(line)));
        let items: String = items.collect();
        let items = if items.is_empty() { "<li>Nothing was hot.</li>".to_owned() } else { items };
        format!("<h3>{}</h3><ul>{items}</ul>", escaped(&notes.title))
    };
    format!(
        "<section aria-labelledby=\"hot-title\">\n<h2 id=\"hot-title\">What was hot</h2>\n{}\n\
         </section>",
        notes.iter().map(list).collect::<String>()
    )
}

fn summary_of_run(result: &RunResult) -> String {
    let settings = &result.settings;
    let end_ns = result.counts.windows.last().map_or(0, |window| window.end_ns) as f64;
    let time = scale::duration(end_ns);
    let layout = format!(
        "{} ({}), {} windows.",
        counted(settings.regions as f64, "region"),
        settings.splits,
        settings.windows
    );
    if result.is_watched() {
        let sums = [Metric::Writes, Metric::Reads].into_iter().filter_map(|metric| {
            let sum = result.counts.sum(metric);
            let rate = scale::number(sum as f64 / (end_ns / 1e9).max(1e-9));
            let count = scale::number(sum as f64);
            (sum > 0).then(|| format!("{count} {}, {rate} a second", metric.text()))
        });
        let sums = sums.collect::<Vec<_>>().join(", and ");
        return escaped(&format!("{sums}, for {time}; {layout}"));
    }
    // Only records that were generated have entities.
    let entities = match settings.entities {
        0 | 1 => String::new(),
        count => {
            let count = scale::number(count as f64);
            format!(" about {count} entities, {}", settings.distribution)
        }
    };
    escaped(&format!(
        "{} records{entities}, {} requests a second for {time}; {layout}",
        scale::number(settings.records as f64),
        scale::number(settings.rate),
    ))
}

fn design_data(result: &RunResult) -> DesignData {
    let counts = &result.counts;
    let spread = result.spread.writes;
    let summary = spread.map_or_else(String::new, |spread| {
        let mean = &spread.windowed.mean;
        format!(
            "In a window the hottest region has {} times the writes of the mean one, {} of all; \
             over the whole run {} times.",
            short(mean.max_over_mean),
            scale::percent(mean.hottest_share),
            short(spread.total.max_over_mean)
        )
    });
    let regions = counts.regions.iter();
    DesignData {
        name: result.design.clone(),
        key: result.key.clone(),
        summary,
        end_ns: counts.windows.last().map_or(0, |window| window.end_ns),
        columns: counts.windows.len(),
        rows: counts.final_regions().len(),
        labels: super::keys::labels(counts, &result.key, 24),
        regions: regions.map(|region| (region.start.clone(), region.end.clone())).collect(),
        layout: counts.final_regions().to_vec(),
        cells: (counts.layouts.len() > 1)
            .then(|| packed(Grid::new(counts, Metric::Writes).regions())),
        writes: metric_data(counts, Metric::Writes),
        reads: metric_data(counts, Metric::Reads),
        bytes: metric_data(counts, Metric::Bytes),
        metrics: [Metric::Writes, Metric::Reads, Metric::Bytes]
            .into_iter()
            .filter(|metric| counts.sum(*metric) > 0)
            .map(Metric::text)
            .collect(),
    }
}

fn metric_data(counts: &Counts, metric: Metric) -> String {
    let grid = Grid::new(counts, metric);
    let cells = (0..grid.columns).flat_map(|column| (0..grid.rows).map(move |row| (column, row)));
    let numbers: Vec<u32> = cells
        .map(|(column, row)| u32::try_from(grid.count(column, row)).unwrap_or(u32::MAX))
        .collect();
    packed(&numbers)
}

fn packed(numbers: &[u32]) -> String {
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    // Writing to memory cannot fail.
    let packed = encoder.write_all(&bytes).and_then(|()| encoder.finish()).unwrap_or_default();
    STANDARD.encode(packed)
}

fn colours() -> String {
    let hex = |index: u8| {
        let (r, g, b) = scale::colour(f64::from(index) / 255.0);
        format!("{r:02x}{g:02x}{b:02x}")
    };
    (0..=u8::MAX).map(hex).collect()
}

fn trade_offs(results: &[RunResult]) -> String {
    let of_cost = |cost: Cost| {
        let both = picture(|width| trade_off::drawing(results, cost, Theme::PAGE, width))?;
        let hidden = if cost == Cost::Regions { "" } else { " hidden" };
        Some(format!(r#"<div data-cost="{}"{hidden}>{both}</div>"#, cost.name()))
    };
    let pictures: Vec<String> = Cost::ALL.into_iter().filter_map(of_cost).collect();
    if pictures.is_empty() {
        return String::new();
    }
    let option = |cost: &Cost| format!(r#"<option value="{0}">{0}</option>"#, cost.name());
    let options: String = Cost::ALL.iter().map(option).collect();
    format!(
        r#"<section aria-labelledby="trade-title">
<h2 id="trade-title">Writes against reads</h2>
<p><label>Cost of reading in <select id="cost">{options}</select></label></p>{}
</section>"#,
        pictures.concat()
    )
}

fn html(table: &Table) -> String {
    let cells = |row: &[String], tag: &str| -> String {
        let cell = |(column, text): (usize, &String)| {
            let text = escaped(text);
            if column == 0 {
                format!(r#"<th scope="{}">{text}</th>"#, if tag == "th" { "col" } else { "row" })
            } else if tag == "th" {
                format!(r#"<th scope="col">{text}</th>"#)
            } else {
                format!("<td>{text}</td>")
            }
        };
        row.iter().enumerate().map(cell).collect()
    };
    let rows: String =
        table.rows.iter().map(|row| format!("<tr>{}</tr>", cells(row, "td"))).collect();
    format!(
        "<div class=\"table\"><table><caption>{}</caption><thead><tr>{}</tr></thead>\
         <tbody>{rows}</tbody></table></div>",
        escaped(&table.title),
        cells(&table.head, "th")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_not_taken_for_places() {
        let parts = [("{{one}}", "{{two}} {{".to_owned()), ("{{two}}", "2".to_owned())];
        assert_eq!(fill("<{{one}}|{{two}}|{{three}}>", &parts), "<{{two}} {{|2|{{three}}>");
    }
}
