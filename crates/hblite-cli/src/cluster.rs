//! Connects to a cluster, or says within seconds that none answers.

use hblite::{ClusterOptions, Connection, Result};

/// How long a cluster may take for its first answer, in milliseconds.
const FIRST_ANSWER_MS: &str = "5000";

/// How often HBase's shell repeats a call that failed.
const SHELL_RETRIES: &str = "7";

/// Connects to the cluster at `url`. One that is down is reported at once; calls later wait for it
/// as long as its settings say.
pub(crate) fn connect(url: &str) -> Result<Connection> {
    connect_with(url, ClusterOptions::new())
}

/// As [`connect`], for a shell: someone waits for its answers.
pub(crate) fn connect_shell(url: &str) -> Result<Connection> {
    connect_with(
        url,
        ClusterOptions::new().with_setting("hbase.client.retries.number", SHELL_RETRIES),
    )
}

fn connect_with(url: &str, options: ClusterOptions) -> Result<Connection> {
    let probe = ClusterOptions::new().with_setting("hbase.rpc.timeout", FIRST_ANSWER_MS);
    probe.connect(url)?.close()?;
    options.connect(url)
}
