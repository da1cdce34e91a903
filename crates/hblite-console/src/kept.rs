//! The history as bytes, which survive a restart of a store in a directory: deflated JSON.
//!
//! Bounded: a window has at most [`KEPT_KEYS_MAX`] of its sampled keys, and while there are more
//! than [`SIZE_MAX`] bytes, the older half of the windows is left out. What was counted of rows is
//! not kept: it is about the last minute.

use std::collections::HashMap;
use std::io::{Read as _, Write as _};
use std::sync::Arc;

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use hblite::{RegionInfo, TableName};
use hblite_hotspot::findings::thinned;
use serde::{Deserialize, Serialize};

use crate::history::History;
use crate::window::{KeyInWindow, Load, Window};

const VERSION: u32 = 1;
/// Bytes that are written at most, and what they may inflate to.
const SIZE_MAX: usize = 8 << 20;
const INFLATED_MAX: u64 = 256 << 20;
/// Sampled keys of a window.
const KEPT_KEYS_MAX: usize = 50;
/// No count and no time is as large: sums of them are numbers, too.
const NUMBER_MAX: u64 = 1 << 48;

#[derive(Serialize, Deserialize)]
struct Kept {
    version: u32,
    regions: Vec<Region>,
    windows: Vec<KeptWindow>,
}

/// A region. In keys and rows, each character is a byte.
#[derive(Serialize, Deserialize)]
struct Region {
    table: String,
    start: String,
    end: String,
    id: u64,
    replica: u16,
}

#[derive(Serialize, Deserialize)]
struct KeptWindow {
    start_ms: i64,
    end_ms: i64,
    calls: Option<u64>,
    /// The place of a region, and its reads, writes, bytes read and bytes written.
    loads: Vec<(usize, [u64; 4])>,
    /// The place of a region, whether it was written, and the row.
    keys: Vec<(usize, bool, String)>,
}

fn text(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

fn bytes(text: &str) -> Result<Vec<u8>, String> {
    text.chars().map(u8::try_from).collect::<Result<_, _>>().map_err(|error| error.to_string())
}

/// The windows as bytes.
pub(crate) fn encode(history: &History) -> Result<Vec<u8>, String> {
    let mut count = history.windows().len();
    loop {
        let kept = encode_last(history, count).map_err(|error| error.to_string())?;
        if kept.len() <= SIZE_MAX || count == 0 {
            return Ok(kept);
        }
        count /= 2;
    }
}

fn encode_last(history: &History, count: usize) -> std::io::Result<Vec<u8>> {
    let mut regions = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut place = |info: &RegionInfo| {
        *places.entry(info.encoded_name().to_owned()).or_insert_with(|| {
            regions.push(Region {
                table: info.table().to_string(),
                start: text(info.start_key()),
                end: text(info.end_key()),
                id: info.region_id(),
                replica: info.replica_id(),
            });
            regions.len() - 1
        })
    };
    let mut kept = |window: &Window| {
        let load = |(info, load): &(Arc<RegionInfo>, Load)| {
            (place(info), [load.reads, load.writes, load.bytes_read, load.bytes_written])
        };
        let loads = window.loads.iter().map(load).collect();
        let alike = vec![1.0; window.keys.len()];
        let few = thinned(&alike, KEPT_KEYS_MAX).take(KEPT_KEYS_MAX);
        let key = |at: usize| {
            let key = &window.keys[at];
            (place(&key.region), key.is_write, text(&key.row))
        };
        let keys = few.map(key).collect();
        let Window { start_ms, end_ms, calls, .. } = *window;
        KeptWindow { start_ms, end_ms, calls, loads, keys }
    };
    let skipped = history.windows().len() - count;
    let windows = history.windows().skip(skipped).map(&mut kept).collect();
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    let kept = Kept { version: VERSION, regions, windows };
    serde_json::to_writer(&mut encoder, &kept)?;
    encoder.flush()?;
    encoder.finish()
}

/// The windows of these bytes, the oldest first.
pub(crate) fn decode(kept: &[u8]) -> Result<Vec<Window>, String> {
    let inflated = ZlibDecoder::new(kept).take(INFLATED_MAX);
    let text = |error: serde_json::Error| error.to_string();
    let Kept { version, regions, windows } = serde_json::from_reader(inflated).map_err(text)?;
    if version != VERSION {
        return Err(format!("it has version {version}, and this program knows {VERSION}"));
    }
    let region = |region: &Region| {
        let table: TableName =
            region.table.parse().map_err(|error: hblite::Error| error.message().to_owned())?;
        if table.is_meta() {
            return Ok(Arc::new(RegionInfo::meta()));
        }
        let info = RegionInfo::new(table, &bytes(&region.start)?, &bytes(&region.end)?, region.id);
        Ok(Arc::new(if region.replica > 0 { info.replica(region.replica) } else { info }))
    };
    let regions = regions.iter().map(region).collect::<Result<Vec<_>, String>>()?;
    let known = |place: usize| {
        regions.get(place).map(Arc::clone).ok_or_else(|| format!("there is no region {place}"))
    };
    let window = |window: KeptWindow| {
        let times = [window.start_ms, window.end_ms].map(i64::unsigned_abs);
        let counts = window.loads.iter().flat_map(|(_, counts)| counts).chain(&window.calls);
        if window.start_ms >= window.end_ms || times.iter().chain(counts).any(|n| *n > NUMBER_MAX) {
            return Err("a number is out of range".to_owned());
        }
        let load = |(place, [reads, writes, bytes_read, bytes_written]): (usize, [u64; 4])| {
            Ok((known(place)?, Load { reads, writes, bytes_read, bytes_written }))
        };
        let key = |(place, is_write, row): (usize, bool, String)| {
            Ok(KeyInWindow { region: known(place)?, row: bytes(&row)?.into(), is_write })
        };
        let loads = window.loads.into_iter().map(load).collect::<Result<_, String>>()?;
        let keys = window.keys.into_iter().map(key).collect::<Result<_, String>>()?;
        let KeptWindow { start_ms, end_ms, calls, .. } = window;
        Ok(Window { start_ms, end_ms, loads, keys, rows: None, calls })
    };
    windows.into_iter().map(window).collect()
}

#[cfg(test)]
mod tests {
    use hblite::{RegionLoad, RegionStatus};

    use super::*;

    fn history(windows: usize, regions: usize, keys: usize) -> History {
        let mut history = History::default();
        history.note(0, &[], None, None);
        for window in 1..=windows {
            let status = |number: usize| RegionStatus {
                region: RegionInfo::new(
                    "ns:t".parse().unwrap(),
                    &(number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes(),
                    b"\xff\x00\\\"",
                    7,
                ),
                load: RegionLoad { write_requests: window as u64, ..RegionLoad::default() },
                store_count: 1,
                store_file_count: 0,
                store_file_size_bytes: 0,
                memstore_size_bytes: 0,
            };
            let statuses: Vec<RegionStatus> = (0..regions).map(status).collect();
            history.note(window as i64 * 5_000, &statuses, Some(1), None);
            let key = |number: usize| KeyInWindow {
                region: Arc::new(statuses[number % regions].region.clone()),
                row: [&b"\x00\xe4"[..], &(number as u64).to_be_bytes()].concat().into(),
                is_write: number.is_multiple_of(2),
            };
            let rows = hblite::RowCounts::default();
            history.add_keys((window as i64 - 1) * 5_000, (0..keys).map(key).collect(), &rows);
        }
        history
    }

    #[test]
    fn windows_are_read_as_they_were_written() {
        let history = history(30, 3, 40);
        let read = decode(&encode(&history).unwrap()).unwrap();
        assert_eq!(read.len(), 30);
        for (read, written) in read.iter().zip(history.windows()) {
            assert_eq!((read.start_ms, read.end_ms), (written.start_ms, written.end_ms));
            assert_eq!((&read.loads, &read.keys), (&written.loads, &written.keys));
            assert_eq!(read.calls, written.calls);
        }
        let meta = [(Arc::new(RegionInfo::meta()), Load { reads: 1, ..Load::default() })];
        let mut history = History::default();
        let window = Window { end_ms: 5, loads: meta.to_vec(), ..Window::default() };
        history.restore(vec![window], 10);
        assert_eq!(decode(&encode(&history).unwrap()).unwrap()[0].loads, meta);
    }

    /// The largest history that there can be fits, if need be without its oldest windows.
    #[test]
    fn the_size_is_bounded() {
        let history = history(crate::history::WINDOWS_MAX, 400, 200);
        let kept = encode(&history).unwrap();
        assert!(kept.len() <= SIZE_MAX, "{}", kept.len());
        let read = decode(&kept).unwrap();
        assert!(read.iter().all(|window| window.keys.len() <= KEPT_KEYS_MAX));
        let last = history.windows().next_back().unwrap().end_ms;
        assert_eq!(read.last().unwrap().end_ms, last);
    }

    #[test]
    fn what_is_no_history_is_refused() {
        let deflated = |text: &str| {
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(text.as_bytes()).unwrap();
            encoder.finish().unwrap()
        };
        let region = r#"{"table":"t","start":"","end":"","id":1,"replica":0}"#;
        let window = r#"{"start_ms":0,"end_ms":1,"calls":null,"loads":[[1,[0,0,0,0]]],"keys":[]}"#;
        for (text, reason) in [
            (String::new(), "EOF"),
            (
                format!(
                    r#"{{"version":1,"regions":[{region}],"windows":[{}]}}"#,
                    window.replace("[1,[0,", "[0,[281474976710657,")
                ),
                "a number",
            ),
            ("{}".to_owned(), "missing field"),
            (r#"{"version":2,"regions":[],"windows":[]}"#.to_owned(), "version 2"),
            (
                format!(r#"{{"version":1,"regions":[{region}],"windows":[{window}]}}"#),
                "no region 1",
            ),
            (
                r#"{"version":1,"regions":[{"table":"t","start":"€","end":"","id":1,"replica":0}],
                "windows":[]}"#
                    .to_owned(),
                "out of range",
            ),
        ] {
            let error = decode(&deflated(&text)).unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
        assert!(decode(b"no zlib").is_err() && decode(b"").is_err());
    }
}
