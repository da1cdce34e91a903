//! Reports of results: a page, pictures, tables, and a heat map for the terminal.

mod bars;
mod drawing;
mod front;
mod grid;
mod heat_map;
mod keys;
mod labels;
mod page;
mod raster;
mod scale;
mod svg;
mod table;
mod terminal;
#[cfg(test)]
mod tests;
mod trade_off;

use std::fs;
use std::path::{Path, PathBuf};

pub use front::{front_png, front_svg};
pub use page::{Notes, page, page_with_notes};
pub use scale::date_time;
pub use table::{Table, tables};
pub use terminal::{Colours, heat_map as terminal_heat_map};

use crate::result::{Metric, ResultError, RunResult, file_name};
use drawing::{Drawing, Theme, WIDE};
use raster::Raster;

use trade_off::Cost;

/// Writes `report.html`, `heat-map-<design>.png`, and, if the run simulated servers and ran
/// queries, `servers.png` and `trade-off-….png` into a directory; returns the files.
///
/// # Errors
/// [`ResultError::Io`] if a file cannot be written.
pub fn write(dir: &Path, results: &[RunResult]) -> Result<Vec<PathBuf>, ResultError> {
    let mut files = Vec::new();
    let mut add = |name: String, bytes: &[u8]| {
        let path = dir.join(name);
        fs::write(&path, bytes).map_err(|error| ResultError::Io(path.clone(), error))?;
        files.push(path);
        Ok(())
    };
    add("report.html".to_owned(), page(results).as_bytes())?;
    for (name, bytes) in pictures(results) {
        match bytes {
            Ok(bytes) => add(name, &bytes)?,
            Err(reason) => {
                let error = std::io::Error::other(reason);
                return Err(ResultError::Io(dir.join(name), error));
            }
        }
    }
    Ok(files)
}

type Picture = (String, Result<Vec<u8>, String>);

/// The PNG files by name. All heat maps use one scale, so that designs can be compared.
fn pictures(results: &[RunResult]) -> Vec<Picture> {
    let max = greatest(results, Metric::Writes);
    let rastered = |drawing: &Drawing| Raster::new(drawing).and_then(|raster| raster.png());
    let mut pictures: Vec<Picture> = results
        .iter()
        .map(|result| {
            let name = format!("heat-map-{}.png", file_name(&result.design));
            (name, heat_map::png(result, Metric::Writes, max))
        })
        .collect();
    if let Some(drawing) = bars::drawing(results, Theme::LIGHT, WIDE) {
        pictures.push(("servers.png".to_owned(), rastered(&drawing)));
    }
    for cost in [Cost::Regions, Cost::Rows] {
        if let Some(drawing) = trade_off::drawing(results, cost, Theme::LIGHT, WIDE) {
            pictures.push((format!("trade-off-{}.png", cost.name()), rastered(&drawing)));
        }
    }
    pictures
}

/// The greatest count of any window and region, for a scale shared by all designs.
pub fn greatest(results: &[RunResult], metric: Metric) -> u64 {
    let windows = results.iter().flat_map(|result| &result.counts.windows);
    windows.flat_map(|window| window.of(metric)).copied().max().unwrap_or(0)
}
