//! Detects standard streams that were closed when the process started.
//!
//! Before `main` runs, Rust opens `/dev/null` in place of a closed stream. Then writing seems to succeed, and reading returns an
//! empty input. So a function that the system calls while it loads the program checks the streams first. A later check for
//! `/dev/null` would be wrong, because a parent process may choose it (Python's `DEVNULL`, Node's `"ignore"`).

use std::sync::atomic::{AtomicBool, Ordering};

static NO_INPUT: AtomicBool = AtomicBool::new(false);
static NO_OUTPUT: AtomicBool = AtomicBool::new(false);

/// Returns whether the process was started without a standard input. Always `false` on systems other than Linux and macOS.
pub(crate) fn no_input() -> bool {
    NO_INPUT.load(Ordering::Relaxed)
}

/// Returns whether the process was started without a standard output. Always `false` on systems other than Linux and macOS.
pub(crate) fn no_output() -> bool {
    NO_OUTPUT.load(Ordering::Relaxed)
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
mod at_start {
    use std::sync::atomic::Ordering;

    use rustix::io::{Errno, fcntl_getfd};
    use rustix::stdio::{stdin, stdout};

    // Safety: the system calls each function in these sections once, without arguments, before Rust's runtime starts. `look` does
    // not need that runtime: it only makes a system call and sets a flag.
    #[used]
    #[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
    #[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
    static LOOK: extern "C" fn() = look;

    extern "C" fn look() {
        for (stream, closed) in [(stdin(), &super::NO_INPUT), (stdout(), &super::NO_OUTPUT)] {
            closed.store(fcntl_getfd(stream) == Err(Errno::BADF), Ordering::Relaxed);
        }
    }
}
