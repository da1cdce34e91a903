//! The active faults, and which calls they affect.
//!
//! Each fault counts the calls that it matches and has its own random generator: its effect on a
//! sequence of calls depends only on its seed and that sequence.
//!
//! Threads: any. While no fault is set, a call costs one load.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hblite_env::{Random as _, SeededRandom};
use hblite_model::{RegionInfo, Result};
use hblite_wire::RemoteException;
use hblite_wire::frame::Request;
use parking_lot::Mutex;

use super::exception;
use super::rule::{FaultAction, FaultRule};
use super::target::Target;
use crate::role::Role;

/// Maximum number of active faults.
const FAULTS_MAX: usize = 1_000;

/// What happens to a call.
#[derive(Debug)]
pub(crate) struct Verdict {
    /// How long it waits first.
    pub(crate) delay: Duration,
    pub(crate) outcome: Outcome,
}

#[derive(Debug)]
pub(crate) enum Outcome {
    CarriedOut,
    Refused(RemoteException),
    DroppedBefore,
    DroppedAfter,
}

/// A fault and its effects so far.
#[derive(Debug, Clone, PartialEq)]
pub struct FaultStatus {
    /// Its number.
    pub id: u64,
    /// Its rule.
    pub rule: FaultRule,
    /// Calls that it could have affected.
    pub seen: u64,
    /// Calls that it affected.
    pub happened: u64,
}

#[derive(Debug)]
struct Active {
    status: FaultStatus,
    random: SeededRandom,
}

/// The faults that are set.
#[derive(Debug, Default)]
pub(crate) struct ActiveFaults {
    are_any: AtomicBool,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    last_id: u64,
    active: Vec<Active>,
}

/// The server, method and regions of a call.
struct Asked<'a> {
    role: Role,
    method: &'a str,
    named: Named,
}

/// How the regions that a call names match a rule.
#[derive(Debug, Clone, Copy, Default)]
struct Named {
    /// The call names a region.
    any: bool,
    /// The rule is for one of them.
    meant: bool,
}

impl Named {
    /// Records one more region.
    fn note(&mut self, rule: &FaultRule, target: &Target) {
        self.any = true;
        self.meant |= match rule.tables.is_empty() && rule.regions.is_empty() {
            true => !target.is_meta(),
            false => {
                (rule.tables.is_empty() || rule.tables.contains(&target.table))
                    && (rule.regions.is_empty() || rule.regions.contains(&target.encoded_name))
            }
        };
    }
}

impl ActiveFaults {
    /// # Errors
    /// `IllegalArgument` for an invalid rule, or if there are too many.
    pub(crate) fn add(&self, rule: FaultRule) -> Result<u64> {
        rule.check()?;
        let mut known = self.known.lock();
        if known.active.len() >= FAULTS_MAX {
            let message = format!("{FAULTS_MAX} faults are set; clear some first");
            return Err(hblite_model::Error::illegal_argument(message));
        }
        known.last_id += 1;
        let id = known.last_id;
        let random = SeededRandom::new(rule.seed.unwrap_or(id));
        known
            .active
            .push(Active { status: FaultStatus { id, rule, seen: 0, happened: 0 }, random });
        self.are_any.store(true, Ordering::Release);
        Ok(id)
    }

    /// Whether there was such a fault.
    pub(crate) fn remove(&self, id: u64) -> bool {
        let mut known = self.known.lock();
        let before = known.active.len();
        known.active.retain(|active| active.status.id != id);
        self.are_any.store(!known.active.is_empty(), Ordering::Release);
        known.active.len() < before
    }

    pub(crate) fn clear(&self) {
        self.known.lock().active.clear();
        self.are_any.store(false, Ordering::Release);
    }

    pub(crate) fn list(&self) -> Vec<FaultStatus> {
        self.known.lock().active.iter().map(|active| active.status.clone()).collect()
    }

    /// What happens to this call; `None` if nothing does. `targets` calls its argument with the
    /// regions that the call names.
    pub(crate) fn verdict(
        &self,
        role: Role,
        request: &Request,
        targets: impl FnOnce(&mut dyn FnMut(&Target)),
    ) -> Option<Verdict> {
        if !self.are_any.load(Ordering::Acquire) {
            return None;
        }
        let mut known = self.known.lock();
        let mut named = vec![Named::default(); known.active.len()];
        targets(&mut |target| {
            for (named, active) in named.iter_mut().zip(&known.active) {
                named.note(&active.status.rule, target);
            }
        });
        let (mut delay, mut outcome) = (Duration::ZERO, None);
        for (active, named) in known.active.iter_mut().zip(named) {
            let asked = Asked { role, method: request.method(), named };
            if is_for_regions_of_multi(&active.status.rule, asked.method)
                || !matches(&active.status.rule, &asked)
                || outcome.is_some()
                || !active.happens()
            {
                continue;
            }
            match &active.status.rule.action {
                FaultAction::Delay(from, to) => delay += between(*from, *to, &active.random),
                FaultAction::Error(name) => {
                    let exception = exception_of(name, active.status.id, asked.method, None);
                    outcome = Some(Outcome::Refused(exception));
                }
                FaultAction::DropBefore => outcome = Some(Outcome::DroppedBefore),
                FaultAction::DropAfter => outcome = Some(Outcome::DroppedAfter),
            }
        }
        if delay.is_zero() && outcome.is_none() {
            return None;
        }
        Some(Verdict { delay, outcome: outcome.unwrap_or(Outcome::CarriedOut) })
    }

    /// The error that a `Multi` reports for one of its regions, if a fault affects it.
    pub(crate) fn refusal_of_region(
        &self,
        role: Role,
        method: &str,
        info: &RegionInfo,
    ) -> Option<RemoteException> {
        if !self.are_any.load(Ordering::Acquire) {
            return None;
        }
        let target = Target::of(info);
        let mut known = self.known.lock();
        let active = known.active.iter_mut().find_map(|active| {
            let rule = &active.status.rule;
            let mut named = Named::default();
            named.note(rule, &target);
            let asked = Asked { role, method, named };
            let is_it = is_for_regions_of_multi(rule, method) && matches(rule, &asked);
            (is_it && active.happens()).then_some(active)
        })?;
        match &active.status.rule.action {
            FaultAction::Error(name) => {
                Some(exception_of(name, active.status.id, method, Some(info)))
            }
            _ => None,
        }
    }
}

impl Active {
    /// Counts a call that the rule matches, and returns whether the fault affects it.
    fn happens(&mut self) -> bool {
        let FaultStatus { rule, seen, happened, .. } = &mut self.status;
        *seen += 1;
        if *seen <= rule.skip || rule.count.is_some_and(|count| *happened >= count) {
            return false;
        }
        // 53 bits: the precision of a float.
        let drawn = (self.random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        if drawn >= rule.rate {
            return false;
        }
        *happened += 1;
        true
    }
}

fn is_for_regions_of_multi(rule: &FaultRule, method: &str) -> bool {
    let is_of_region = |name: &str| exception::of_name(name).is_ok_and(exception::is_of_regions);
    method == "Multi" && matches!(&rule.action, FaultAction::Error(name) if is_of_region(name))
}

fn matches(rule: &FaultRule, asked: &Asked<'_>) -> bool {
    let is_method = |method: &String| method == asked.method;
    let is_server = |server: &super::rule::FaultServer| server.is(asked.role);
    if !(rule.methods.is_empty() || rule.methods.iter().any(is_method))
        || !(rule.servers.is_empty() || rule.servers.iter().any(is_server))
    {
        return false;
    }
    let is_for_all = rule.tables.is_empty() && rule.regions.is_empty();
    asked.named.meant || (is_for_all && !asked.named.any)
}

fn between(from: Duration, to: Duration, random: &SeededRandom) -> Duration {
    let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let span = nanos(to.saturating_sub(from)).saturating_add(1);
    from + Duration::from_nanos(random.next_u64() % span)
}

fn exception_of(name: &str, id: u64, method: &str, region: Option<&RegionInfo>) -> RemoteException {
    // Names were checked when the fault was set.
    let class_name = exception::of_name(name).unwrap_or(hblite_wire::exception::class::IO);
    let region = region.map(|info| format!(" of {}", info.region_name_as_string()));
    let message = format!("fault {id} was injected into {method}{}", region.unwrap_or_default());
    RemoteException::new(class_name, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(table: &str, region: &str) -> Option<Target> {
        Some(Target { table: table.to_owned(), encoded_name: region.to_owned() })
    }

    #[test]
    fn lists_say_which_calls_are_meant() {
        let server = Role::RegionServer(1);
        let (users, meta, none) = (target("t", "r"), target("hbase:meta", "1588230740"), None);
        let is_meant_by = |rule: &FaultRule, target: &Option<Target>| {
            let mut named = Named::default();
            target.iter().for_each(|target| named.note(rule, target));
            matches(rule, &Asked { role: server, method: "Get", named })
        };
        let rule = || FaultRule::new(FaultAction::DropAfter);
        let of_all = |target| is_meant_by(&rule(), target);
        assert!(of_all(&users) && of_all(&none) && !of_all(&meta));
        let is_meant = |rule: FaultRule| is_meant_by(&rule, &users);
        assert!(is_meant(rule().methods(["Multi", "Get"])) && !is_meant(rule().methods(["Scan"])));
        assert!(is_meant(rule().table("t")) && !is_meant(rule().table("u")));
        assert!(
            is_meant(rule().table("t").region("r")) && !is_meant(rule().table("u").region("r"))
        );
        assert!(is_meant(rule().server("1".parse().unwrap())));
        assert!(!is_meant(rule().server("master".parse().unwrap())));
        assert!(is_meant_by(&rule().table("hbase:meta"), &meta));
        assert!(!is_meant_by(&rule().table("t"), &none));
    }

    #[test]
    fn the_same_seed_chooses_the_same_calls() {
        let run = |seed, rate| {
            let faults = ActiveFaults::default();
            let rule = FaultRule::new(FaultAction::DropAfter).rate(rate).seed(seed);
            faults.add(rule.skip(10).count(100)).unwrap();
            let mut known = faults.known.lock();
            (0..1_000).filter(|_| known.active[0].happens()).collect::<Vec<_>>()
        };
        let half = run(7, 0.5);
        assert_eq!(half, run(7, 0.5));
        assert_ne!(half, run(8, 0.5));
        assert_eq!(half.len(), 100);
        assert!((180..240).contains(half.last().unwrap()), "{half:?}");
        assert_eq!(run(7, 1.0), (10..110).collect::<Vec<_>>());
        assert_eq!(run(7, 0.0), Vec::<i32>::new());
    }

    #[test]
    fn a_delay_is_within_its_range() {
        let random = SeededRandom::new(1);
        let (from, to) = (Duration::from_millis(5), Duration::from_millis(8));
        for _ in 0..1_000 {
            assert!((from..=to).contains(&between(from, to, &random)));
        }
        assert_eq!(between(to, to, &random), to);
    }
}
