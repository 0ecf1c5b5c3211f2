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
    fn work_is_counted() {
        let (sum, took) =
            spent(|| (0..1_000_000_u64).fold(0, |sum, n| std::hint::black_box(sum ^ n)));
        assert!(took > Duration::ZERO, "{sum}: {took:?}");
    }
}
