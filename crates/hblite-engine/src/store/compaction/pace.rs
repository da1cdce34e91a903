//! Waits of a compaction that keeps a [`Pace`].

use hblite_env::time::Duration;

use crate::pace::Pace;

/// The longest sleep between two checks whether to stop or to speed up.
const NAP_MAX: Duration = Duration::from_millis(5);

/// Records bytes that were written, and waits as long as they should have taken, or until
/// `is_hurried`; false if `is_stopped` meanwhile.
pub(super) fn wait_after(
    pace: &mut Pace,
    bytes: u64,
    is_stopped: impl Fn() -> bool,
    is_hurried: impl Fn() -> bool,
) -> bool {
    pace.record(bytes);
    loop {
        let left = pace.left();
        if left.is_zero() || is_hurried() {
            return true;
        }
        if is_stopped() {
            return false;
        }
        hblite_env::thread::sleep(left.min(NAP_MAX));
    }
}

#[cfg(test)]
mod tests {
    use hblite_env::time::Instant;

    use super::*;

    #[test]
    fn bytes_take_their_time_unless_there_is_no_limit() {
        let mut pace = Pace::new(Some(1_000_000));
        let began = Instant::now();
        assert!((0..4).all(|_| wait_after(&mut pace, 5_000, || false, || false)));
        assert!(began.elapsed() >= Duration::from_millis(20));
        let mut unlimited = Pace::new(None);
        assert!(wait_after(&mut unlimited, u64::MAX, || panic!("nobody waits"), || false));
        assert!(wait_after(&mut Pace::new(Some(1)), u64::MAX, || false, || true));
    }

    #[test]
    fn a_wait_ends_when_it_is_stopped() {
        assert!(!wait_after(&mut Pace::new(Some(1)), u64::MAX, || true, || false));
    }
}
