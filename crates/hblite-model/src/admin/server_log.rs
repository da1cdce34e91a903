//! The logs of calls that region servers keep in memory.

/// A log that the master keeps of the balancer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BalancerLog {
    /// Runs that moved regions.
    Decisions,
    /// Runs that moved nothing.
    Rejections,
}

/// An entry of such a log.
#[derive(Debug, Clone, PartialEq)]
pub enum BalancerRecord {
    /// A run that moved regions.
    Decision {
        /// The costs of the parts before it.
        costs_before: String,
        /// The costs of the parts after it.
        costs_after: String,
        /// The cost before it.
        cost_before: f64,
        /// The cost after it.
        cost_after: f64,
        /// Steps of its search.
        steps: u64,
        /// The moves.
        moves: Vec<String>,
    },
    /// A run that moved nothing.
    Rejection {
        /// Why.
        reason: String,
        /// The costs of the parts.
        costs: Vec<String>,
    },
}

/// Which of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerLog {
    /// Calls that took long.
    Slow,
    /// Calls with large requests or results.
    Large,
}

/// Which calls are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerLogRequest {
    /// The log.
    pub log: ServerLog,
    /// The greatest number of calls of each server.
    pub limit: u32,
    /// The name of the region.
    pub region: Option<String>,
    /// The name of the table.
    pub table: Option<String>,
    /// The address of the client.
    pub client: Option<String>,
    /// The user.
    pub user: Option<String>,
    /// Whether a call must match all that is given, or only something.
    pub matches_all: bool,
}

/// A call that was slow or large.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct LoggedCall {
    /// When it began, in milliseconds.
    pub started_ms: i64,
    /// How long it ran, in milliseconds.
    pub processing_ms: i32,
    /// How long it waited, in milliseconds.
    pub queue_ms: i32,
    /// The size of the result, in bytes.
    pub response_bytes: i64,
    /// The size of the blocks that were read, in bytes.
    pub block_bytes: i64,
    /// How long reads of files took, in milliseconds.
    pub file_read_ms: i64,
    /// Gets of a batch.
    pub gets: i32,
    /// Writes of a batch.
    pub mutations: i32,
    /// Calls of endpoints of a batch.
    pub service_calls: i32,
    /// The address of the client.
    pub client: String,
    /// The class of the server.
    pub server_class: String,
    /// The method.
    pub method: String,
    /// The method and the class of its request.
    pub call: String,
    /// The parameters.
    pub parameters: Option<String>,
    /// The user.
    pub user: String,
    /// The region.
    pub region: Option<String>,
}
