//! Measures work by processor time. Tests limit processor time because other processes change the wall-clock time.

use std::time::Duration;

/// The longest time for which a test waits before it fails. It suffices on a busy machine, so that only a program that
/// hangs reaches it. Limits on work are limits on processor time instead; see [`spent`].
pub const PATIENCE: Duration = Duration::from_secs(120);

/// The command that makes `sqlite3` wait up to 600 s for other writers. SQLite retries instead of queueing, so on a
/// busy machine other writers may go first for a long time.
pub const SQLITE3_WAITS: &str = ".timeout 600000";

/// Calls a function and returns its result with the processor time that this thread spent on it.
pub fn spent<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = thread_time();
    let done = work();
    (done, thread_time().saturating_sub(start))
}

/// The time that [`yardstick`] takes, in a test build, on the machine on which the limits of tests were chosen. The
/// most expensive case of the damage suite took 1.6 s on that machine.
const YARDSTICK: Duration = Duration::from_millis(40);

/// Returns the factor by which this machine is now slower than the limits of tests assume: from 1 to 4. Limits on
/// processor time are multiplied by it, because a processor that shares its core and memory with busy ones is slower.
pub fn pace() -> f64 {
    let took = (0..3).map(|_| spent(yardstick).1).min().unwrap_or_default();
    (took.as_secs_f64() / YARDSTICK.as_secs_f64()).clamp(1.0, 4.0)
}

/// Returns whether work took longer than a limit, at the machine's present speed. The speed is measured only if the
/// work took longer than the limit itself.
pub fn exceeds(took: Duration, limit: Duration) -> bool {
    took > limit && took > limit.mul_f64(pace())
}

/// A constant amount of work: builds, sorts and looks up texts.
fn yardstick() -> usize {
    let mut state = 1_u64;
    let mut names = std::collections::BTreeMap::new();
    for _ in 0..YARDSTICK_TEXTS {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        *names.entry(format!("{:x}", state >> 40)).or_insert(0) += 1_usize;
    }
    names.iter().map(|(name, times)| name.len() * times).sum()
}

/// The number of texts in the yardstick.
const YARDSTICK_TEXTS: usize = 40_000;

/// Returns the processor time of this thread so far.
#[cfg(unix)]
fn thread_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let (seconds, nanos) = (u64::try_from(time.tv_sec), u32::try_from(time.tv_nsec));
    Duration::new(seconds.unwrap_or(0), nanos.unwrap_or(0))
}

/// Returns the time since the first call, on systems that do not count the processor time of a thread.
#[cfg(not(unix))]
fn thread_time() -> Duration {
    use std::sync::OnceLock;
    use std::time::Instant;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_that_passes_without_work_is_not_counted() {
        let pause = Duration::from_millis(200);
        let ((), took) = spent(|| std::thread::sleep(pause));
        assert!(!cfg!(unix) || took < pause / 2, "{took:?}");
    }

    #[test]
    fn the_pace_is_a_factor_for_limits() {
        let pace = pace();
        assert!((1.0..=4.0).contains(&pace), "{pace}");
    }

    #[test]
    fn work_is_counted() {
        let (sum, took) =
            spent(|| (0..1_000_000_u64).fold(0, |sum, n| std::hint::black_box(sum ^ n)));
        assert!(took > Duration::ZERO, "{sum}: {took:?}");
    }
}
