//! Goal: the `tracing` events of a client report its calls and retries.
//! Method: a subscriber for this thread. The test has a process of its own: `tracing` asks the
//! thread that reaches an event first whether anyone listens, and keeps its answer for all threads.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use hblite_model::Get;
use hblite_server::{FaultAction, FaultRule};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use support::Cluster;

/// Collects what `tracing` reports, as text.
#[derive(Clone, Default)]
struct Collector(Arc<Mutex<String>>);

struct Fields<'t>(&'t mut String);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        write!(self.0, " {field}={value:?}").unwrap();
    }
}

impl Subscriber for Collector {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("hblite_client")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut text = self.0.lock().unwrap();
        text.push_str(span.metadata().name());
        span.record(&mut Fields(&mut text));
        text.push('\n');
        Id::from_u64(1)
    }

    fn event(&self, event: &Event<'_>) {
        let mut text = self.0.lock().unwrap();
        event.record(&mut Fields(&mut text));
        text.push('\n');
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[tokio::test]
async fn tracing_reports_calls_and_retries() {
    let cluster = Cluster::start(1);
    cluster.table("t", &[]).await;
    let table = cluster.client().table("t".parse().unwrap());
    let collector = Collector::default();
    let _guard = tracing::subscriber::set_default(collector.clone());
    let rule = FaultRule::new(FaultAction::Error("NotServingRegionException".to_owned()));
    cluster.server.faults().set(rule.methods(["Get"]).table("t").count(1)).unwrap();
    table.get(&Get::new("a")).await.unwrap();
    let text = collector.0.lock().unwrap().clone();
    let port = cluster.server.ports().region_servers[0];
    for part in [
        &format!("call method=\"Get\" server=127.0.0.1:{port}"),
        " message=connection opened server=127.0.0.1:",
        " message=location cleared ",
        " message=another attempt failures=1 pause=",
        "NotServingRegionException",
    ] {
        assert!(text.contains(part), "{part:?} is not in:\n{text}");
    }
}
