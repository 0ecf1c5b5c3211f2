//! A read-only SQLite file system over the [`Files`] of a source.
//!
//! SQLite never sees a path: a database is called `{mount}.{number}`, so that no name from a run is parsed as
//! one, and none is too long. Its `-wal` is the file beside it, or an empty one; its `-journal` is never shown,
//! [`super::WebSource`] refuses a hot one before.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use sqlite_wasm_rs::WasmOsCallback;
use sqlite_wasm_rs::vfs::{
    AccessMode, DeviceCharacteristics, FileKind, LockLevel, OpenAccess, OpenOptions, OpenRequest,
    OpenedFile, SQLiteIoMethods, SQLiteVfs, SyncOptions, VfsError, VfsErrorCode, VfsFile,
    VfsResult, VfsStore, register_vfs,
};

use super::source::Files;

/// The name that SQLite knows it by.
pub(crate) const NAME: &str = "prosescope";

thread_local! {
    static MOUNTS: RefCell<BTreeMap<u32, Rc<Files>>> = const { RefCell::new(BTreeMap::new()) };
    static NEXT: Cell<u32> = const { Cell::new(0) };
}

/// Files that SQLite can open while this lives; connections that are open go on after it.
pub(crate) struct Mount(u32);

impl Mount {
    /// What to tell SQLite to open.
    pub(crate) fn name(&self, file: usize) -> String {
        format!("{}.{file}", self.0)
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        MOUNTS.with_borrow_mut(|mounts| mounts.remove(&self.0));
    }
}

/// Makes files openable.
pub(crate) fn mount(files: Rc<Files>) -> Mount {
    register();
    let number = NEXT.replace(NEXT.get() + 1);
    MOUNTS.with_borrow_mut(|mounts| mounts.insert(number, files));
    Mount(number)
}

/// Finds what SQLite asks for: the files, and which of them; `None` for one that is not there.
fn find(name: &str) -> Option<(Rc<Files>, Option<usize>)> {
    let (mount, rest) = name.split_once('.')?;
    let (number, suffix) = match rest.split_once('-') {
        Some((number, suffix)) => (number, Some(suffix)),
        None => (rest, None),
    };
    let files = MOUNTS.with_borrow(|mounts| mounts.get(&mount.parse().ok()?).cloned())?;
    let main: usize = number.parse().ok()?;
    let index = match suffix {
        None => Some(main),
        Some("wal") => files.index(&format!("{}-wal", files.path(main))),
        Some(_) => None,
    };
    Some((files, index))
}

/// An open file; without an index an empty one.
struct Handle {
    files: Rc<Files>,
    index: Option<usize>,
}

fn read_only<T>() -> VfsResult<T> {
    Err(VfsError::new(
        VfsErrorCode::ReadOnly,
        "the viewer only reads".into(),
    ))
}

impl VfsFile for Handle {
    fn device_characteristics(&self) -> DeviceCharacteristics {
        DeviceCharacteristics::UNDELETABLE_WHEN_OPEN | DeviceCharacteristics::SUBPAGE_READ
    }

    fn read(&mut self, buf: &mut [u8], offset: u64) -> VfsResult<usize> {
        let Some(index) = self.index else {
            return Ok(0);
        };
        let read = self.files.read(index, offset, buf);
        read.map_err(|error| VfsError::new(VfsErrorCode::IoRead, error.to_string().into()))
    }

    fn write(&mut self, _buf: &[u8], _offset: u64) -> VfsResult<()> {
        read_only()
    }

    fn truncate(&mut self, _size: u64) -> VfsResult<()> {
        read_only()
    }

    fn sync(&mut self, _options: SyncOptions) -> VfsResult<()> {
        Ok(())
    }

    fn size(&self) -> VfsResult<u64> {
        Ok(self.index.map_or(0, |index| self.files.size(index)))
    }

    fn lock(&mut self, _level: LockLevel) -> VfsResult<()> {
        Ok(())
    }

    fn unlock(&mut self, _level: LockLevel) -> VfsResult<()> {
        Ok(())
    }

    fn check_reserved_lock(&self) -> VfsResult<bool> {
        Ok(false)
    }
}

struct Store;

struct State {
    os: WasmOsCallback,
    error: RefCell<Option<VfsError>>,
}

impl VfsStore for Store {
    type File = Handle;
    type AppData = State;

    fn record_error(state: &State, error: VfsError) {
        state.error.replace(Some(error));
    }

    fn last_error(state: &State) -> Option<VfsError> {
        state.error.borrow().clone()
    }

    fn open_file(_: &State, request: OpenRequest<'_>) -> VfsResult<OpenedFile<Handle>> {
        let name = request
            .filename
            .map(|name| name.path().to_owned())
            .unwrap_or_default();
        let is_wal = request.options.kind() == Some(FileKind::Wal);
        match find(&name) {
            Some((files, index)) if index.is_some() || is_wal => Ok(OpenedFile {
                file: Handle { files, index },
                access: OpenAccess::ReadOnly,
            }),
            _ => Err(VfsError::new(
                VfsErrorCode::CantOpen,
                format!("no file {name}").into(),
            )),
        }
    }

    fn close_file(_: &State, _: Option<&str>, _: Handle, _: OpenOptions) -> VfsResult<()> {
        Ok(())
    }

    fn access(_: &State, name: &str, mode: AccessMode) -> VfsResult<bool> {
        let there = find(name).is_some_and(|(_, index)| index.is_some());
        Ok(there && mode != AccessMode::ReadWrite)
    }

    fn full_pathname(_: &State, name: &str) -> VfsResult<String> {
        Ok(name.to_owned())
    }

    fn delete_file(_: &State, _: &str, _: bool) -> VfsResult<()> {
        read_only()
    }
}

struct Io;

impl SQLiteIoMethods for Io {
    type Store = Store;
}

struct Vfs;

impl SQLiteVfs<Io> for Vfs {
    type Os = WasmOsCallback;

    fn os(state: &State) -> &WasmOsCallback {
        &state.os
    }
}

#[expect(
    unsafe_code,
    reason = "SQLite's C interface takes the file system as raw callbacks"
)]
fn register() {
    thread_local!(static DONE: Cell<bool> = const { Cell::new(false) });
    if DONE.replace(true) {
        return;
    }
    let state = State {
        os: WasmOsCallback,
        error: RefCell::default(),
    };
    // SAFETY: the default callbacks and layouts of the crate, one thread, and it is never unregistered.
    let registered = unsafe { register_vfs::<Io, Vfs>(NAME, state, false) };
    if let Err(error) = registered {
        // Every opening then fails with SQLite's own words: no such vfs.
        web_sys::console::error_1(&format!("{error:?}").into());
    }
}
