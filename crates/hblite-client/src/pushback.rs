//! Client pushback: how long a batch waits before it goes to a loaded region.
//!
//! Servers report the load of the regions in the answers to batches. The wait grows with the fourth
//! power of the highest share: that of the memstore, of the server's memory above a mark, or of the
//! pressure to compact.
//!
//! Source: `ExponentialClientBackoffPolicy` and `ServerStatisticTracker` of HBase 2.6.
//!
//! Threads: any.

use std::collections::HashMap;
use std::time::Duration;

use hblite_wire::pb;
use parking_lot::Mutex;

use crate::locator::Location;
use crate::pushback_settings::PushbackSettings;
use crate::url::ServerAddress;

/// The wait for a region with a memory share at the low mark, as a share of the highest load.
const AT_LOW_MARK: f64 = 0.1;

/// What a server said last about a region: shares in percent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct RegionLoad {
    memstore: i32,
    heap: i32,
    compaction: i32,
}

/// The loads by server and region name.
type Loads = HashMap<ServerAddress, HashMap<Vec<u8>, RegionLoad>>;

/// The loads that servers reported.
#[derive(Debug)]
pub(crate) struct Pushback {
    settings: PushbackSettings,
    loads: Mutex<Loads>,
}

impl Pushback {
    pub(crate) fn new(settings: PushbackSettings) -> Self {
        Self { settings, loads: Mutex::default() }
    }

    /// Remembers the loads in the answer of a server to a batch for these regions.
    pub(crate) fn note<'l>(
        &self,
        statistics: Option<&pb::MultiRegionLoadStats>,
        regions: impl Iterator<Item = &'l Location>,
    ) {
        let Some(statistics) = statistics.filter(|_| self.settings.is_enabled) else { return };
        let mut loads = self.loads.lock();
        for location in regions {
            let mut reported = statistics.region.iter().zip(&statistics.stat);
            let of_region = reported.find(|(region, _)| region.value == location.region_name);
            let Some((_, stat)) = of_region else { continue };
            let load = RegionLoad {
                memstore: stat.mem_store_load(),
                heap: stat.heap_occupancy(),
                compaction: stat.compaction_pressure(),
            };
            let of_server = loads.entry(location.server.clone()).or_default();
            of_server.insert(location.region_name.clone(), load);
        }
    }

    /// How long a batch for this region should wait.
    pub(crate) fn wait(&self, location: &Location) -> Duration {
        if !self.settings.is_enabled || !self.settings.is_exponential {
            return Duration::ZERO;
        }
        let loads = self.loads.lock();
        let load = loads.get(&location.server).and_then(|all| all.get(&location.region_name));
        load.map_or(Duration::ZERO, |load| wait(&self.settings, *load))
    }
}

fn wait(settings: &PushbackSettings, load: RegionLoad) -> Duration {
    let share = |percent: i32| f64::from(percent) / 100.0;
    let (low, high) = (settings.heap_low_mark, settings.heap_high_mark);
    let mut highest = share(load.memstore).max(share(load.compaction));
    let heap = share(load.heap);
    if heap >= low {
        let above = if high > low { (heap.min(high) - low) / (high - low) } else { 1.0 };
        highest = highest.max(AT_LOW_MARK + (1.0 - AT_LOW_MARK) * above);
    }
    let factor = highest.clamp(0.0, 1.0).powi(4);
    // HBase counts whole milliseconds.
    Duration::from_millis((settings.backoff_max.as_millis() as f64 * factor) as u64)
}

#[cfg(test)]
mod tests {
    use hblite_model::RegionInfo;

    use super::*;

    fn settings() -> PushbackSettings {
        PushbackSettings {
            is_enabled: true,
            is_exponential: true,
            backoff_max: Duration::from_secs(10),
            ..PushbackSettings::default()
        }
    }

    /// The waits that `ExponentialClientBackoffPolicy` of HBase 2.6.1 computes.
    #[test]
    fn waits_are_hbases() {
        let wait = |memstore, heap, compaction| {
            wait(&settings(), RegionLoad { memstore, heap, compaction }).as_millis()
        };
        assert_eq!([wait(0, 0, 0), wait(10, 0, 0), wait(50, 0, 0)], [0, 1, 625]);
        assert_eq!([wait(90, 94, 0), wait(100, 0, 0), wait(150, 0, 0)], [6_561, 10_000, 10_000]);
        assert_eq!([wait(0, 0, 50), wait(20, 0, 100), wait(-5, 0, -5)], [625, 10_000, 0]);
        // The memory counts from 95 %, and no further than 98 %.
        assert_eq!([wait(0, 94, 0), wait(0, 95, 0)], [0, 1]);
        assert_eq!([wait(0, 98, 0), wait(0, 100, 0)], [10_000, 10_000]);
    }

    fn location(port: u16) -> Location {
        let region = RegionInfo::new("t".parse().unwrap(), b"", b"", 7);
        Location::new(region, ServerAddress { host: "h".to_owned(), port })
    }

    fn report(region_name: &[u8], memstore: i32) -> pb::MultiRegionLoadStats {
        let stat = pb::RegionLoadStats { mem_store_load: Some(memstore), ..Default::default() };
        let region = pb::RegionSpecifier {
            value: region_name.to_vec().into(),
            ..hblite_wire::convert::region_specifier(region_name)
        };
        pb::MultiRegionLoadStats { region: vec![region], stat: vec![stat] }
    }

    #[test]
    fn a_load_is_that_of_a_region_on_a_server() {
        let pushback = Pushback::new(settings());
        let (here, elsewhere) = (location(1), location(2));
        let wait = |location: &Location| pushback.wait(location).as_millis();
        pushback.note(Some(&report(&here.region_name, 50)), [&here].into_iter());
        pushback.note(Some(&report(b"another", 100)), [&here].into_iter());
        pushback.note(None, [&here].into_iter());
        assert_eq!((wait(&here), wait(&elsewhere)), (625, 0));
        pushback.note(Some(&report(&here.region_name, 0)), [&here].into_iter());
        assert_eq!(wait(&here), 0);
    }

    #[test]
    fn nothing_waits_unless_the_settings_say_so() {
        for (is_enabled, is_exponential) in [(false, true), (true, false), (false, false)] {
            let settings = PushbackSettings { is_enabled, is_exponential, ..settings() };
            let (pushback, here) = (Pushback::new(settings), location(1));
            pushback.note(Some(&report(&here.region_name, 100)), [&here].into_iter());
            assert!(pushback.wait(&here).is_zero());
        }
    }
}
