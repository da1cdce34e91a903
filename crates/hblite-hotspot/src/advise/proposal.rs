//! The advice as text: the ranking, the reasons, and the command.

use std::fmt;

use hblite_rowkey::Design;

use super::AdviceOptions;
use super::score::Score;
use crate::condition::short;

/// Rows of the ranking.
const SHOWN: usize = 8;

/// Candidates, the best first.
#[derive(Debug, Clone, PartialEq)]
pub struct Advice {
    pub(super) scores: Vec<Score>,
    pub(super) present: String,
    pub(super) options: AdviceOptions,
}

impl Advice {
    /// All candidates, the best first; the present design is among them.
    pub fn scores(&self) -> &[Score] {
        &self.scores
    }

    /// The best.
    pub fn best(&self) -> &Score {
        // The present design is always a candidate.
        &self.scores[0]
    }

    /// The present design.
    pub fn present(&self) -> Option<&Score> {
        self.scores.iter().find(|score| score.design.to_string() == self.present)
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
/// assert_eq!(command, r#"create 'logs', 'd', SPLITS => ['\x01', 'a"#']"#);
/// ```
pub fn create_command(table: &str, splits: &[Vec<u8>]) -> String {
    let table = table.replace('\\', "\\\\").replace('\'', "\\'");
    if splits.is_empty() {
        return format!("create '{table}', 'd'");
    }
    let quoted: Vec<String> = splits.iter().map(|key| quoted(key)).collect();
    format!("create '{table}', 'd', SPLITS => [{}]", quoted.join(", "))
}

/// Bytes in single quotes, for `Bytes.toBytesBinary`. In double quotes Ruby would turn `\xHH` into
/// a byte, and bytes from 0x80 on are lost on their way to Java.
fn quoted(key: &[u8]) -> String {
    format!("'{}'", hblite::bytes::to_string_binary(key).replace('\'', "\\x27"))
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let best = self.best();
        writeln!(f, "Proposed key: {}\n", best.design)?;
        self.reasons(f, best)?;
        writeln!(f, "\nCandidates; a score of 1 would be the best in every respect")?;
        let width = self.scores.iter().take(SHOWN).map(|score| name(&score.design).len()).max();
        let width = width.unwrap_or(0).max(3);
        writeln!(
            f,
            "  {:<width$}  score  max/mean  key bytes  scans, regions, rows of each query",
            "key"
        )?;
        let is_present = |score: &Score| score.design.to_string() == self.present;
        let worst = self.scores.iter().skip(SHOWN).find(|score| is_present(score));
        for score in self.scores.iter().take(SHOWN).chain(worst) {
            let queries: Vec<String> = score
                .queries
                .iter()
                .map(|q| format!("{}, {}, {}", short(q.scans), short(q.regions), short(q.rows)))
                .collect();
            writeln!(
                f,
                "  {:<width$}  {:>5}  {:>8}  {:>9}  {}{}",
                name(&score.design),
                short(score.total),
                short(score.max_over_mean),
                short(score.key_bytes),
                queries.join("; "),
                if is_present(score) { "  (as it is)" } else { "" }
            )?;
        }
        writeln!(f, "\nThe table, in HBase's shell:\n\n{}", self.create_command())
    }
}

fn name(design: &Design) -> String {
    design.to_string()
}

impl Advice {
    fn reasons(&self, f: &mut fmt::Formatter<'_>, best: &Score) -> fmt::Result {
        writeln!(f, "  writes: {}", best.design.spread())?;
        let regions = best.splits.len() + 1;
        write!(
            f,
            "          in a window the hottest of {regions} regions has {} times the mean",
            short(best.max_over_mean)
        )?;
        match self.present() {
            Some(present) if present.design != best.design => {
                writeln!(f, ", now {} times", short(present.max_over_mean))?;
            }
            _ => writeln!(f)?,
        }
        for query in &best.queries {
            let how = if query.is_full_scan { ", the whole table" } else { "" };
            writeln!(
                f,
                "  query:  {} scans into {} regions, {} rows{how}",
                short(query.scans),
                short(query.regions),
                short(query.rows)
            )?;
        }
        if best.splits.len() + 1 < self.options.regions {
            writeln!(
                f,
                "  The sample has too few different keys for {} regions, so there are {regions}.",
                self.options.regions
            )?;
        }
        Ok(())
    }
}
