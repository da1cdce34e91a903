//! What all requests to a console share.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use parking_lot::Mutex;

use crate::recorder::Recorder;
use crate::source::Source;

/// The commands that run, by the ids that the page gave them, and what stops each.
pub(crate) type Prompts = Mutex<HashMap<String, Arc<AtomicBool>>>;

/// What all requests share.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) source: Arc<Source>,
    pub(crate) recorder: Recorder,
    pub(crate) prompts: Prompts,
    /// Held by the request for advice that is computed.
    pub(crate) advice: Mutex<()>,
}
