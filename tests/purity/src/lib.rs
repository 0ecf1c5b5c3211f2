//! Builds the core alone as a WebAssembly module, to show that it needs no clock, no randomness and no files.
//!
//! SQLite's wasm port requires five services of its host. The viewer provides them through `wasm-bindgen`. In this
//! crate they are stubs that refuse, so any import that remains in the module comes from the core itself. CI asserts
//! that no import remains, and calls [`read`] in a browser with an empty object of imports.

use std::rc::Rc;
use std::sync::Mutex;

use prosescope_core::pages::session::{Options, Session, pages};
use prosescope_core::read::sqlite::MemorySource;

/// The text that the last call of [`read`] produced.
static ANSWER: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Allocates `len` bytes for the input of [`read`], and returns their address.
#[unsafe(no_mangle)]
pub extern "C" fn room(len: usize) -> *mut u8 {
    Box::leak(vec![0; len].into_boxed_slice()).as_mut_ptr()
}

/// Opens a `state.db` of `len` bytes at `input`, which [`room`] returned, and produces its overview and its state.md.
/// Returns the length of this text, which is at [`answer`], in bytes.
///
/// # Safety
/// `input` must be the result of [`room`] for this `len`, and must not be used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn read(input: *mut u8, len: usize) -> usize {
    // SAFETY: the caller got this memory from `room` and gives it up.
    let bytes = unsafe { Vec::from_raw_parts(input, len, len) };
    let source = MemorySource::new("memory", [("state.db".to_owned(), bytes)]);
    let text = match Session::open(Rc::new(source), "state.db", &Options::default()) {
        Ok(session) => {
            let overview =
                serde_json::to_string(&pages::overview(&session, None)).unwrap_or_default();
            format!("{overview}\n{}", pages::state_md(&session, true))
        }
        Err(e) => format!("error: {e}"),
    };
    let Ok(mut answer) = ANSWER.lock() else {
        return 0;
    };
    *answer = text.into_bytes();
    answer.len()
}

/// Returns the address of the text that the last call of [`read`] produced.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> *const u8 {
    ANSWER
        .lock()
        .map_or(std::ptr::null(), |answer| answer.as_ptr())
}

/// Stubs of the five services that SQLite requires of its host. Each refuses; status 1 means "unsupported".
mod host {
    #[unsafe(no_mangle)]
    extern "C" fn rust_sqlite_wasm_host_sleep(_seconds: u64, _nanoseconds: u32) {}

    #[unsafe(no_mangle)]
    extern "C" fn rust_sqlite_wasm_host_random(_buf: *mut u8, _len: usize) -> usize {
        0
    }

    #[unsafe(no_mangle)]
    extern "C" fn rust_sqlite_wasm_host_epoch_timestamp_in_ms(_out: *mut i64) -> i32 {
        1
    }

    #[unsafe(no_mangle)]
    extern "C" fn rust_sqlite_wasm_host_fill_entropy(_buf: *mut u8, _len: usize) -> i32 {
        1
    }

    #[unsafe(no_mangle)]
    extern "C" fn rust_sqlite_wasm_host_localtime(_unix_seconds: i64, _out: *mut u8) -> i32 {
        1
    }
}
