//! The advice as text: the ranking, the reasons, and the command.

use std::fmt;

use super::front::{self, Cost, Tradeoff};
use super::hot::percent;
use super::score::Score;
use super::wanted::Wanted;
use super::{AdviceOptions, Hot, TwoPaths};
use crate::condition::{NamedFigures, counted, short};
use hblite_rowkey::Spread;

/// Rows of the ranking.
const SHOWN: usize = 8;

/// With a max/mean below this, a key needs other splits, not another key.
const EVEN: f64 = 1.5;

/// Candidates, the best first.
#[derive(Debug, Clone, PartialEq)]
pub struct Advice {
    pub(super) scores: Vec<Score>,
    /// A table and its index, if no single key serves the queries.
    pub(super) paths: Option<TwoPaths>,
    /// The current design with the present table's split keys, if they are known.
    pub(super) today: Option<Score>,
    pub(super) wanted: Wanted,
    pub(super) present: String,
    pub(super) options: AdviceOptions,
    /// Designs that were tried.
    pub(super) candidates: usize,
    /// Records that the sample was taken from, and their time in milliseconds.
    pub(super) sampled: (u64, Option<u64>),
}

impl Advice {
    /// The best candidates, the best first; the current design is among them.
    pub fn scores(&self) -> &[Score] {
        &self.scores
    }

    /// The best.
    pub fn best(&self) -> &Score {
        // The current design is always a candidate.
        &self.scores[0]
    }

    /// A table and its index, if no single key serves the queries.
    pub fn paths(&self) -> Option<&TwoPaths> {
        self.paths.as_ref()
    }

    /// The current design in the present table, or, if its split keys are not known, in one that is
    /// split like those of the candidates.
    pub fn today(&self) -> Option<&Score> {
        self.today.as_ref().or_else(|| self.present())
    }

    /// The current design.
    pub fn present(&self) -> Option<&Score> {
        self.scores.iter().find(|score| score.design.to_string() == self.present)
    }

    /// The designs that no other beats in both writes and reads, the most even writes first.
    pub fn front(&self) -> Vec<Tradeoff<'_>> {
        let tradeoff = |score| Tradeoff {
            score,
            rationale: front::rationale(score, &self.wanted, self.options.regions),
        };
        front::front(&self.scores).into_iter().map(tradeoff).collect()
    }

    /// What other splits or other designs would change for the sampled writes, in sentences.
    /// Covers the front without the current design. `is_new` says whether the table can be split
    /// at a key.
    pub fn changes(&self, is_new: impl Fn(&[u8]) -> bool) -> Vec<String> {
        let Some(present) = self.present() else { return Vec::new() };
        let front = self.front();
        let others = front.iter().filter(|tradeoff| tradeoff.score.design != present.design);
        let mut lines: Vec<String> = others
            .map(|Tradeoff { score, rationale }| {
                let mean = short(score.max_over_mean);
                format!("  {}: {mean} times the mean; {rationale}", score.design)
            })
            .collect();
        let now =
            format!("(now {}: {} times the mean)", self.present, short(present.max_over_mean));
        let regions = self.options.regions;
        let splits: Vec<String> = present
            .splits
            .iter()
            .filter(|key| present.max_over_mean < EVEN && is_new(key))
            .map(|key| format!("  split '{}', {}", name(&self.options.table), quoted(key)))
            .collect();
        if !splits.is_empty() {
            let mean = short(present.max_over_mean);
            let first = format!(
                "The key {} is even enough, its regions are not: with {regions} regions split as \
                 here, the hottest has {mean} times the mean. HBase splits a new region again once \
                 it is compacted.",
                self.present
            );
            return std::iter::once(first).chain(splits).collect();
        }
        lines.insert(
            0,
            match lines.is_empty() {
                true => format!("No other key has more even writes for these queries {now}."),
                false => format!("Other keys, by these writes with {regions} regions {now}:"),
            },
        );
        lines
    }

    /// The figures of the current design by name, for conditions. Reads are those per query, with
    /// the queries' weights.
    pub fn present_figures(&self) -> NamedFigures {
        let mut named = NamedFigures::new();
        let Some(score) = self.today() else { return named };
        if let Some((windowed, total)) = &score.writes {
            let scopes =
                [("windowed", &windowed.mean), ("worst", &windowed.worst), ("total", total)];
            for (scope, figures) in scopes {
                for (name, value) in figures.named() {
                    named.insert(format!("writes {scope} {}", name.text()), value);
                }
            }
        }
        let weights: f64 = self.wanted.queries.iter().map(|query| query.weight).sum();
        let queries = || self.wanted.queries.iter().zip(&score.queries);
        let mean = |of: fn(&super::score::QueryScore) -> f64| {
            queries().map(|(query, cost)| query.weight / weights * of(cost)).sum::<f64>()
        };
        named.insert("scans per query".to_owned(), mean(|cost| cost.scans));
        named.insert("regions per query".to_owned(), mean(|cost| cost.regions));
        named.insert("rows per query".to_owned(), mean(|cost| cost.rows));
        named.insert("key bytes".to_owned(), score.key_bytes);
        named
    }

    /// The HBase shell command that creates the table.
    pub fn create_command(&self) -> String {
        create_command(&self.options.table, &self.best().splits)
    }
}

/// The HBase shell command that creates a table with these split keys.
///
/// ```
/// let command = hblite_hotspot::advise::create_command("logs", &[vec![1], b"a\"#".to_vec()]);
/// assert_eq!(command, r##"create 'logs', 'd', SPLITS => ['\x01', 'a"#']"##);
/// ```
pub fn create_command(table: &str, splits: &[Vec<u8>]) -> String {
    let table = name(table);
    if splits.is_empty() {
        return format!("create '{table}', 'd'");
    }
    let quoted: Vec<String> = splits.iter().map(|key| quoted(key)).collect();
    format!("create '{table}', 'd', SPLITS => [{}]", quoted.join(", "))
}

/// The name of a table between single quotes.
fn name(table: &str) -> String {
    table.replace('\\', "\\\\").replace('\'', "\\'")
}

/// Bytes in single quotes, for `Bytes.toBytesBinary`. In double quotes Ruby would turn `\xHH` into
/// a byte, and bytes from 0x80 on would be lost between Ruby and Java.
fn quoted(key: &[u8]) -> String {
    format!("'{}'", hblite::bytes::to_string_binary(key).replace('\'', "\\x27"))
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let best = self.best();
        writeln!(f, "Proposed key: {}\n", best.design)?;
        self.reasons(f, best)?;
        self.ranking(f)?;
        writeln!(f, "\nNo other design has both more even writes and cheaper reads than these")?;
        for (index, tradeoff) in self.front().iter().enumerate() {
            let Score { design, max_over_mean, reads, .. } = tradeoff.score;
            writeln!(
                f,
                "  {}. {design}: writes {}, reads {}\n     {}",
                index + 1,
                short(*max_over_mean),
                short(*reads),
                tradeoff.rationale
            )?;
        }
        if let Some(paths) = &self.paths {
            let (writes, reads) = (short(paths.max_over_mean), short(paths.reads));
            let place = self.front().len() + 1;
            writeln!(f, "  {place}. {}: writes {writes}, reads {reads}", paths.name())?;
            paths.explain(f, &self.wanted, (best, &self.options))?;
        }
        writeln!(f, "\nThe table, in HBase's shell:\n\n{}", self.create_command())?;
        if let Some(paths) = &self.paths {
            let [table, index] = paths.create_commands(&self.options.table);
            writeln!(f, "\nOr the table and its index:\n\n{table}\n{index}")?;
        }
        Ok(())
    }
}

impl Advice {
    fn reasons(&self, f: &mut fmt::Formatter<'_>, best: &Score) -> fmt::Result {
        let regions = best.splits.len() + 1;
        match (best.design.spread(), &best.hot) {
            (Spread::ByValue { field }, Some(hot)) if hot.is_hot(self.options.regions) => {
                writeln!(f, "  writes: like the values of {field}, one of which is hot")?;
            }
            (spread, _) => writeln!(f, "  writes: {spread}")?,
        }
        write!(
            f,
            "          in a window of the next period, the hottest of {regions} regions has {} \
             times the mean",
            short(best.max_over_mean)
        )?;
        match (&self.today, self.present()) {
            (Some(today), _) => {
                let regions = counted((today.splits.len() + 1) as f64, "region");
                let mean = short(today.max_over_mean);
                writeln!(f, ", today, in {regions}, {mean} times")?;
            }
            (None, Some(present)) if present.design != best.design => {
                writeln!(f, ", today {} times", short(present.max_over_mean))?;
            }
            _ => writeln!(f)?,
        }
        self.hot_entity(f, best)?;
        for (query, cost) in self.wanted.queries.iter().zip(&best.queries) {
            writeln!(
                f,
                "  query:  {}\n          {}, {}",
                query.text,
                Cost(cost),
                counted(cost.regions, "region")
            )?;
        }
        self.period(f)?;
        if regions < self.options.regions {
            writeln!(
                f,
                "  The sample has too few entities for {} regions, so there are {regions}.",
                self.options.regions
            )?;
        }
        Ok(())
    }

    /// What time the rows of the table are taken to be.
    fn period(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (records, Some(millis)) = self.sampled else { return Ok(()) };
        let duration = |millis: f64| crate::condition::duration(millis * 1e6);
        let rows = self.options.rows;
        write!(f, "  period: {records} records in {}; {rows} rows ", duration(millis as f64))?;
        match self.options.period_ms {
            Some(own) => writeln!(f, "in {}", duration(own as f64)),
            None => {
                let millis = millis as f64 * (rows as f64 / records as f64).max(1.0);
                writeln!(f, "at this rate in {}", duration(millis))
            }
        }
    }

    /// Names the hottest entity of the workload, and what helps.
    fn hot_entity(&self, f: &mut fmt::Formatter<'_>, best: &Score) -> fmt::Result {
        let regions = self.options.regions;
        let unsalted = |score: &&Score| score.hot.as_ref().is_some_and(|hot| hot.is_hot(regions));
        if let Some(hot) = best.hot.as_ref().filter(|hot| hot.is_hot(regions)) {
            write!(f, "  hot:    {hot}")?;
            if let Some((windowed, _)) = &best.writes {
                write!(f, "; the hottest region has {}", percent(windowed.mean.hottest_share))?;
            }
            writeln!(f)?;
            return self.remedies(f, best, hot);
        }
        let hidden = self.scores.iter().filter(unsalted);
        let shared = |score: &&Score| {
            let fields = |hot: &Hot| hot.fields.clone();
            let own = best.hot.as_ref().map(fields);
            own.is_some() && score.hot.as_ref().map(fields) == own
        };
        let shares = hidden.filter(shared).filter_map(|score| score.hot.as_ref());
        if let Some(hot) = shares.max_by(|one, other| one.share.total_cmp(&other.share)) {
            writeln!(f, "  hot:    {hot}; this key spreads it over several regions")?;
        }
        Ok(())
    }

    /// Designs that divide the hot entity, with their price.
    fn remedies(&self, f: &mut fmt::Formatter<'_>, best: &Score, hot: &Hot) -> fmt::Result {
        let of_best = |score: &&Score| {
            score.max_over_mean < best.max_over_mean
                && score.hot.as_ref().is_none_or(|other| other.together < hot.together)
        };
        let starts = [("A salt within the entity", "salt("), ("A bucket of the time", "bucket(")];
        let mut is_any = false;
        for (what, start) in starts {
            let helps =
                |score: &&Score| of_best(score) && score.design.to_string().starts_with(start);
            let Some(score) = self.scores.iter().find(helps) else { continue };
            is_any = true;
            let scans = score.queries.iter().map(|query| query.scans).fold(0.0, f64::max);
            writeln!(
                f,
                "          {what} helps: with {} it is {} times the mean, and a query takes up \
                 to {}",
                score.design,
                short(score.max_over_mean),
                counted(scans, "scan")
            )?;
        }
        if !is_any {
            writeln!(
                f,
                "          A salt within the entity, salt(4, *), or a bucket of the time would \
                 divide it, for as many scans per query."
            )?;
        }
        Ok(())
    }

    fn ranking(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "\nThe best of {} candidates; a score of 1 would be the best in every respect",
            self.candidates
        )?;
        let is_present = |score: &Score| score.design.to_string() == self.present;
        let worst = self.scores.iter().skip(SHOWN).find(|score| is_present(score));
        let shown: Vec<&Score> = self.scores.iter().take(SHOWN).chain(worst).collect();
        let width = shown.iter().map(|score| score.design.to_string().len()).max();
        let width = width.unwrap_or(0).max(3);
        writeln!(
            f,
            "  {:<width$}  score  max/mean  key bytes  scans, regions, rows of each query",
            "key"
        )?;
        for score in shown {
            let queries: Vec<String> = score
                .queries
                .iter()
                .map(|q| format!("{}, {}, {}", short(q.scans), short(q.regions), short(q.rows)))
                .collect();
            writeln!(
                f,
                "  {:<width$}  {:>5}  {:>8}  {:>9}  {}{}",
                score.design.to_string(),
                short(score.total),
                short(score.max_over_mean),
                short(score.key_bytes),
                queries.join("; "),
                if is_present(score) { "  (today)" } else { "" }
            )?;
        }
        Ok(())
    }
}
