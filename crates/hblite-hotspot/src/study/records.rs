//! Records: the values of a study's fields at one moment.

use hblite_rowkey::Value;

use crate::mix::mixed;

/// The start of the simulated clock: 2017-07-14 02:40 UTC.
pub const EPOCH_MS: u64 = 1_500_000_000_000;

/// What determines a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// Which entity it is about.
    pub entity: u64,
    /// The number of earlier records.
    pub sequence: u64,
    /// When it is written, in nanoseconds after [`EPOCH_MS`].
    pub arrival_ns: u64,
    /// The seed of the run.
    pub seed: u64,
}

/// The values of a record, in the order of the study's fields.
pub type Record = Vec<Value<'static>>;

impl Moment {
    /// The time, in milliseconds since 1970.
    pub fn millis(&self) -> u64 {
        EPOCH_MS + self.arrival_ns / 1_000_000
    }

    /// A pseudo-random number for the moment, different for each purpose.
    pub fn random(&self, purpose: u64) -> u64 {
        mixed(self.seed ^ mixed(self.sequence ^ mixed(purpose)))
    }
}

const EVENTS: [&str; 8] = [
    "com.package1.subpackage2.subsubpackage3.ImportantService",
    "com.package1.subpackage2.Login",
    "com.package1.subpackage2.Logout",
    "com.package1.cart.Add",
    "com.package1.cart.Checkout",
    "com.package2.disk.Full",
    "com.package2.disk.Replaced",
    "com.package3.Heartbeat",
];

/// ts, host, event, host_id, event_id.
pub(super) fn log(moment: &Moment) -> Record {
    let event = moment.random(1) % EVENTS.len() as u64;
    vec![
        moment.millis().into(),
        format!("myserver{:05}.mycompany.com", moment.entity).into(),
        EVENTS[event as usize].into(),
        moment.entity.into(),
        event.into(),
    ]
}

/// customer, order, customer_id.
pub(super) fn order(moment: &Moment) -> Record {
    vec![
        format!("C{:09}", moment.entity).into(),
        format!("O{:011}", moment.sequence).into(),
        moment.entity.into(),
    ]
}

/// car, ts.
pub(super) fn car(moment: &Moment) -> Record {
    vec![format!("CAR{:07}", moment.entity).into(), moment.millis().into()]
}

/// uid, ts.
pub(super) fn operation(moment: &Moment) -> Record {
    vec![format!("{:010}", moment.entity).into(), moment.millis().into()]
}

/// user, value.
pub(super) fn list_entry(moment: &Moment) -> Record {
    vec![format!("user{:08}", moment.entity).into(), moment.random(1).into()]
}

/// name.
pub(super) fn name(moment: &Moment) -> Record {
    vec![format!("foo{:010}", moment.sequence).into()]
}
