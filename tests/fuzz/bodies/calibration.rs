//! Any bytes as the calibration file of `hblite hotspot predict`. Whatever is read is written and
//! read back, and requests are predicted with it.

use hblite_hotspot::predict::{
    Calibration, KeyChoice, PredictOptions, RecordedLoad, RecordedRequest, Servers, predict,
};
use hblite_hotspot::simulate::Kind;

/// Returns 1 if the bytes are a calibration, otherwise 0.
pub(crate) fn run(bytes: &[u8]) -> usize {
    let Ok(calibration) = Calibration::parse(&String::from_utf8_lossy(bytes)) else { return 0 };
    let text = calibration.to_text();
    assert_eq!(Calibration::parse(&text).as_ref(), Ok(&calibration), "{text}");
    let request = |at_ms: i64| RecordedRequest {
        at_ms,
        kind: if at_ms % 3 == 0 { Kind::Read } else { Kind::Write },
        row: at_ms.to_string().into_bytes(),
    };
    let load = RecordedLoad::new((0..20).map(request).collect(), 10, None).expect("requests");
    let options = PredictOptions::default().with_servers(calibration.servers.min(4));
    let choice = KeyChoice { name: "recorded".to_owned(), design: None };
    let servers = Servers::Calibrated(calibration);
    if let Ok(predicted) = predict(&load, None, &choice, &servers, &options, None) {
        for figure in [predicted.throughput, predicted.p50_ns, predicted.p99_ns] {
            let (least, most) = figure.interval.expect("a calibration gives an interval");
            assert!(least <= figure.predicted && figure.predicted <= most, "{figure:?}: {text}");
        }
    }
    1
}
