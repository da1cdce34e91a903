//! Time series "on steroids": many points packed into one row.
//!
//! With one row per point, each row repeats host and metric. A row for a host, a metric and a range
//! of time has them once, and each point is a column named by its offset in the range. That is
//! OpenTSDB's way. It also replaces names with numbers of three bytes, puts the metric first, and
//! later rewrites a row's columns into a single one. [`layout`] describes the bytes.

mod compaction;
pub mod layout;
mod packed;
mod point;
mod uids;

use hblite_rowkey::Query;

pub use compaction::{compacted, points_of};
pub use point::Point;

use crate::keyed::{KeyedDesign, Record as _, expected};
use crate::study::{CaseStudy, DataSet, Question, RecordId, SchemaDesign};

use packed::{Packed, Packing};
use point::STEP_MS;

/// The study.
#[derive(Debug)]
pub struct TimeSeries;

impl CaseStudy for TimeSeries {
    fn name(&self) -> &'static str {
        "time-series"
    }

    fn title(&self) -> &'static str {
        "Time series on steroids: points as columns of a row for a range of time"
    }

    fn question(&self) -> &'static str {
        "A row for each point, or a row for a range of time with a column for each?"
    }

    fn entities(&self, records: u64) -> u64 {
        (records / 2_000).clamp(3, 1_000)
    }

    fn designs(&self) -> Vec<Box<dyn SchemaDesign>> {
        vec![
            KeyedDesign::<Point>::new(
                "row-per-point",
                "SERIES",
                "host:str|metric:str|ts:timestamp",
                "every row repeats names and time; points are written and deleted one by one",
            )
            .boxed(),
            Box::new(Packed::new(
                "five-minutes",
                Packing::HostFirst,
                "the row has names and range once; a period is few rows of many columns",
            )),
            Box::new(Packed::new(
                "opentsdb",
                Packing::OpenTsdb,
                "13 bytes of key for an hour; all hosts of a metric in one scan, and so one host \
                 reads past the others; each hour's columns are rewritten into one",
            )),
        ]
    }

    fn questions(&self, data: &DataSet, around: &RecordId) -> Vec<Question> {
        let Point { host, metric, ts, .. } = Point::generate(around);
        let span = data.records * STEP_MS;
        let period = ts.saturating_sub(span / 8)..ts + span / 8;
        let series =
            || Query::new().equals("host", host.clone()).equals("metric", metric.to_owned());
        let of_metric = || Query::new().equals("metric", metric.to_owned());
        vec![
            Question::new("series-period", series().range("ts", period.clone()).ascending("ts")),
            Question::new("series-latest", series().descending("ts").limit(10)),
            Question::new("point", series().equals("ts", ts)),
            Question::new("all-hosts", of_metric().range("ts", period).ascending("ts")),
        ]
    }

    fn expected(&self, data: &DataSet, question: &Question) -> Vec<String> {
        expected::<Point>(data, &question.query)
    }
}
