//! Connects to a cluster, or says within seconds that none answers.

use hblite::{ClusterOptions, Connection, Result};

/// How long a cluster may take for its first answer, in milliseconds.
const FIRST_ANSWER_MS: &str = "5000";

/// Connects to the cluster at `url`. One that is down is reported at once; calls later wait for it
/// as long as its settings say.
pub(crate) fn connect(url: &str) -> Result<Connection> {
    let probe = ClusterOptions::new().with_setting("hbase.rpc.timeout", FIRST_ANSWER_MS);
    probe.connect(url)?.close()?;
    hblite::connect(url)
}
