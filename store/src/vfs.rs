//! Registers copies of SQLite's own file system layers (VFS) with two changes.
//!
//! - A failed read is reported as such. SQLite treats an EIO as a damaged file (`SQLITE_IOERR_CORRUPTFS`, shown as
//!   "malformed"). Damage leads to repair, but a failed read should be tried again.
//! - In a directory that is held open, a name is used unchanged instead of being resolved to a real path.

/// The name of the file system that reads with locks.
pub(crate) const LOCKED: &str = "prosescope";
/// The name of the file system that reads without locks.
pub(crate) const UNLOCKED: &str = "prosescope-none";
/// The name of the file system that reads and writes with locks, below a directory that is held open.
#[cfg(target_os = "linux")]
pub(crate) const HELD: &std::ffi::CStr = c"prosescope-held";

/// Registers the file systems with SQLite; returns `false` if SQLite has none to copy.
#[cfg(unix)]
pub(crate) fn are_registered() -> bool {
    use std::sync::OnceLock;

    static DONE: OnceLock<bool> = OnceLock::new();
    *DONE.get_or_init(unix::register)
}

#[cfg(not(unix))]
pub(crate) fn are_registered() -> bool {
    false
}

#[cfg(unix)]
mod unix {
    use std::collections::BTreeMap;
    use std::ffi::{CStr, c_char, c_int, c_void};
    use std::ptr;
    use std::sync::{Mutex, OnceLock, PoisonError};

    use rusqlite::ffi;

    /// A copied table of file methods, with a pointer to the original table.
    #[repr(C)]
    struct Methods {
        ours: ffi::sqlite3_io_methods,
        theirs: &'static ffi::sqlite3_io_methods,
    }

    type Open = unsafe extern "C" fn(
        *mut ffi::sqlite3_vfs,
        *const c_char,
        *mut ffi::sqlite3_file,
        c_int,
        *mut c_int,
    ) -> c_int;

    /// The open function that all of SQLite's own file systems share.
    static OPEN: OnceLock<Open> = OnceLock::new();

    pub(super) fn register() -> bool {
        // SAFETY: the names are texts that end in NUL; the found file system is static, and each copy is registered
        // once and never freed.
        unsafe {
            let plain = copy(c"unix", c"prosescope", false);
            let none = copy(c"unix-none", c"prosescope-none", false);
            let held = copy(c"unix", c"prosescope-held", true);
            plain && none && held
        }
    }

    unsafe fn copy(of: &CStr, name: &'static CStr, as_named: bool) -> bool {
        // SAFETY: see `register`.
        unsafe {
            let found = ffi::sqlite3_vfs_find(of.as_ptr());
            if found.is_null() {
                return false;
            }
            let mut own = *found;
            let Some(opens) = own.xOpen else {
                return false;
            };
            if !std::ptr::fn_addr_eq(*OPEN.get_or_init(|| opens), opens) {
                return false;
            }
            own.pNext = ptr::null_mut();
            own.zName = name.as_ptr();
            own.xOpen = Some(open);
            if as_named {
                own.xFullPathname = Some(as_it_is);
            }
            ffi::sqlite3_vfs_register(Box::leak(Box::new(own)), 0) == ffi::SQLITE_OK
        }
    }

    unsafe extern "C" fn open(
        vfs: *mut ffi::sqlite3_vfs,
        name: *const c_char,
        file: *mut ffi::sqlite3_file,
        flags: c_int,
        out: *mut c_int,
    ) -> c_int {
        let Some(theirs) = OPEN.get() else {
            return ffi::SQLITE_CANTOPEN;
        };
        // SAFETY: SQLite's arguments are passed to SQLite's function. The methods that it stores in the file are
        // static.
        unsafe {
            let done = theirs(vfs, name, file, flags, out);
            if done == ffi::SQLITE_OK
                && let Some(methods) = (*file).pMethods.as_ref()
            {
                (*file).pMethods = &raw const ours(methods).ours;
            }
            done
        }
    }

    /// Returns a copy of a table of file methods, with [`read`] as its read function. Each copy is made once and never
    /// freed, because SQLite has only a few such tables.
    fn ours(theirs: &'static ffi::sqlite3_io_methods) -> &'static Methods {
        static KNOWN: Mutex<BTreeMap<usize, &'static Methods>> = Mutex::new(BTreeMap::new());
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        known
            .entry(ptr::from_ref(theirs).addr())
            .or_insert_with(|| {
                let mut ours = *theirs;
                ours.xRead = Some(read);
                Box::leak(Box::new(Methods { ours, theirs }))
            })
    }

    unsafe extern "C" fn read(
        file: *mut ffi::sqlite3_file,
        to: *mut c_void,
        most: c_int,
        from: ffi::sqlite3_int64,
    ) -> c_int {
        // SAFETY: only a file whose methods are one of our tables is read by this function, and that table is the first
        // field of `Methods`.
        unsafe {
            let methods = &*(*file).pMethods.cast::<Methods>();
            let Some(theirs) = methods.theirs.xRead else {
                return ffi::SQLITE_IOERR_READ;
            };
            match theirs(file, to, most, from) {
                ffi::SQLITE_IOERR_CORRUPTFS => ffi::SQLITE_IOERR_READ,
                done => done,
            }
        }
    }

    unsafe extern "C" fn as_it_is(
        _: *mut ffi::sqlite3_vfs,
        name: *const c_char,
        room: c_int,
        out: *mut c_char,
    ) -> c_int {
        // SAFETY: SQLite passes a name that ends in NUL, and `room` bytes for the result.
        unsafe {
            let bytes = CStr::from_ptr(name).to_bytes_with_nul();
            if usize::try_from(room).is_ok_and(|room| bytes.len() <= room) {
                ptr::copy_nonoverlapping(bytes.as_ptr().cast(), out, bytes.len());
                ffi::SQLITE_OK
            } else {
                ffi::SQLITE_CANTOPEN
            }
        }
    }
}
