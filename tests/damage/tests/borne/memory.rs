//! Counts what is allocated: Rust's by an allocator that counts, SQLite's by its own counters.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// Beyond this an allocation fails, which ends the process: the machine that tests is spared.
const CEILING: usize = 1 << 30;

#[global_allocator]
static COUNTING: Counting = Counting;

// SAFETY: every call goes to the system's allocator as it came; only numbers are kept beside it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(live, Ordering::Relaxed);
        if live > CEILING {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's promises are handed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promises are handed on.
        unsafe { System.dealloc(ptr, layout) }
    }
}

/// The most that was held at once since [`Peak::start`], in bytes.
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

/// The most that SQLite held at once since its counter was reset.
fn sqlite(reset: bool) -> usize {
    // SAFETY: a counter of the library's own, behind its own mutex.
    let bytes = unsafe { rusqlite::ffi::sqlite3_memory_highwater(i32::from(reset)) };
    usize::try_from(bytes).unwrap_or(0)
}
