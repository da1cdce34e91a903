//! Refreshes the servers of the registry while the client exists: periodically, and sooner after a
//! server did not answer.

use std::sync::{Arc, OnceLock};

use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::endpoints::Endpoints;
use crate::registry_settings::RegistrySettings;

/// The task that refreshes, once it is started. It ends with this handle.
#[derive(Debug, Default)]
pub(super) struct Refresher {
    task: OnceLock<AbortHandle>,
}

impl Refresher {
    /// Starts the task, unless it runs or the settings turn it off.
    pub(super) fn start(&self, endpoints: &Arc<Endpoints>, settings: &RegistrySettings) {
        if settings.refresh_interval.is_zero() {
            return;
        }
        self.task.get_or_init(|| {
            let work = refresh(Arc::clone(endpoints), settings.clone());
            tokio::spawn(work).abort_handle()
        });
    }
}

impl Drop for Refresher {
    fn drop(&mut self) {
        if let Some(task) = self.task.get() {
            task.abort();
        }
    }
}

async fn refresh(endpoints: Arc<Endpoints>, settings: RegistrySettings) {
    let interval = settings.refresh_interval;
    let (mut last, mut wait) = (Instant::now(), settings.initial_delay());
    loop {
        if timeout_at(last + wait, endpoints.outdated()).await.is_ok() {
            sleep_until(last + settings.refresh_interval_min.min(wait)).await;
        }
        endpoints.refresh().await;
        (last, wait) = (Instant::now(), interval);
    }
}
