//! What all requests to a console share.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use hblite::Connection;
use parking_lot::Mutex;

use crate::recorder::Recorder;
use crate::source::Source;

/// The running commands, by the ids that the page assigned, with the flag that stops each.
pub(crate) type Prompts = Mutex<HashMap<String, Arc<AtomicBool>>>;

/// What all requests share.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) source: Arc<Source>,
    /// The connection of the prompt.
    pub(crate) prompt: Connection,
    pub(crate) recorder: Recorder,
    pub(crate) prompts: Prompts,
    /// Held by the request whose advice is being computed.
    pub(crate) advice: Mutex<()>,
}
