//! Which standard streams the process was started without.
//!
//! Rust opens `/dev/null` in the place of a stream that is closed, before `main` runs. What is written there then seems
//! to be written, and what is read seems to be empty. So the streams are looked at before that, where the system calls
//! functions of ours while it loads the program. To look later whether a stream is `/dev/null` would not do: a parent
//! process may mean it (Python's `DEVNULL`, Node's `"ignore"`).

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

    // Safety: both sections hold addresses of functions without arguments, which are called once. `look` needs nothing of
    // Rust's runtime, which is not there yet: it asks the system and sets a flag.
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
