//! Counts allocated memory: that of Rust with a counting allocator, that of SQLite with SQLite's own counters.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// The most bytes that may be allocated at one time. A further allocation fails, which ends the process, and so
/// protects the machine.
const CEILING: usize = 1 << 30;

#[global_allocator]
static COUNTING: Counting = Counting;

// SAFETY: every call is passed unchanged to the system's allocator; only counters are added.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(live, Ordering::Relaxed);
        if live > CEILING {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's guarantees also hold for the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's guarantees also hold for the system's allocator.
        unsafe { System.dealloc(ptr, layout) }
    }
}

/// A measurement of the peak of allocated memory since [`Peak::start`], in bytes.
pub(crate) struct Peak {
    before: usize,
}

impl Peak {
    pub(crate) fn start() -> Peak {
        let before = LIVE.load(Ordering::Relaxed);
        PEAK.store(before, Ordering::Relaxed);
        sqlite(true);
        Peak { before }
    }

    pub(crate) fn bytes(&self) -> usize {
        PEAK.load(Ordering::Relaxed).saturating_sub(self.before) + sqlite(false)
    }
}

/// Returns SQLite's peak memory in bytes since the last reset of its counter, and optionally resets the counter.
fn sqlite(reset: bool) -> usize {
    // SAFETY: the call only reads a counter of SQLite, which SQLite protects by a mutex.
    let bytes = unsafe { rusqlite::ffi::sqlite3_memory_highwater(i32::from(reset)) };
    usize::try_from(bytes).unwrap_or(0)
}
