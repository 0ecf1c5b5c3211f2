//! Work, measured by processor time: a limit in a test is about the program, and other processes take wall time from it.

use std::time::Duration;

/// How long a test waits for something before it fails: long enough for a busy machine, so only what hangs gets there.
/// A limit on work is not measured with this clock.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// The command that has `sqlite3` wait for other writers: it asks again and again instead of queueing, so on a busy
/// machine others may go first for long.
pub const SQLITE3_WAITS: &str = ".timeout 600000";

/// Runs some work and returns its result with the processor time that this thread spent on it.
pub fn spent<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = thread_time();
    let done = work();
    (done, thread_time().saturating_sub(start))
}

/// What [`yardstick`] takes on a machine on which the limits of tests hold as they are written, built for tests. The
/// limits were written where the dearest case of the damage suite took 1.6 s; where it takes 3.2 s, this takes twice as
/// long.
const YARDSTICK: Duration = Duration::from_millis(40);

/// How many times as long as the limits of tests suppose this machine takes for the same work, now: from 1 to 4. A limit
/// on processor time is multiplied by it, as a processor that shares its core and its memory with busy ones is slower.
pub fn pace() -> f64 {
    let took = (0..3).map(|_| spent(yardstick).1).min().unwrap_or_default();
    (took.as_secs_f64() / YARDSTICK.as_secs_f64()).clamp(1.0, 4.0)
}

/// Always the same work: texts are made, sorted and looked up.
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

/// Texts of the yardstick.
const YARDSTICK_TEXTS: usize = 40_000;

/// Processor time of this thread so far.
#[cfg(unix)]
fn thread_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let (seconds, nanos) = (u64::try_from(time.tv_sec), u32::try_from(time.tv_nsec));
    Duration::new(seconds.unwrap_or(0), nanos.unwrap_or(0))
}

/// Time since the first call, where the system counts no processor time for a thread.
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
