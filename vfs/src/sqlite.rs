//! Implements the callbacks through which SQLite reads the files of a mount. SQLite receives a name such as `0.3`
//! (mount 0, file 3) instead of a path, so a run's file name is never parsed as an SQLite URI and is never too long.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use sqlite_wasm_rs::WasmOsCallback;
use sqlite_wasm_rs::vfs::{
    AccessMode, DeviceCharacteristics, FileKind, LockLevel, OpenAccess, OpenOptions, OpenRequest,
    OpenedFile, SQLiteIoMethods, SQLiteVfs, SyncOptions, VfsError, VfsErrorCode, VfsFile,
    VfsResult, VfsStore, register_vfs,
};

use crate::Files;

/// The name under which this file system is registered with SQLite.
pub(crate) const NAME: &str = "prosescope";

thread_local! {
    static MOUNTS: RefCell<BTreeMap<u32, Rc<dyn Files>>> = const { RefCell::new(BTreeMap::new()) };
    static NEXT: Cell<u32> = const { Cell::new(0) };
}

/// Registers files under a new number; they stay registered until [`remove`].
pub(crate) fn add(files: Rc<dyn Files>) -> u32 {
    register();
    let number = NEXT.replace(NEXT.get().wrapping_add(1));
    MOUNTS.with_borrow_mut(|mounts| mounts.insert(number, files));
    number
}

/// Removes registered files. Open connections keep their own reference to the files.
pub(crate) fn remove(number: u32) {
    MOUNTS.with_borrow_mut(|mounts| mounts.remove(&number));
}

/// Resolves a name that SQLite passes, such as `0.3` or `0.3-wal`: returns the mounted files, and the index of the
/// file among them. The index is `None` if the mount has no such file.
fn find(name: &str) -> Option<(Rc<dyn Files>, Option<usize>)> {
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

/// An open file. A handle without an index reads as an empty file; SQLite gets such a handle for a missing `-wal`.
struct Handle {
    files: Rc<dyn Files>,
    index: Option<usize>,
}

fn read_only<T>() -> VfsResult<T> {
    Err(VfsError::new(
        VfsErrorCode::ReadOnly,
        "runs are opened read-only".into(),
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

struct FilesStore;

struct VfsState {
    os: WasmOsCallback,
    error: RefCell<Option<VfsError>>,
}

impl VfsStore for FilesStore {
    type File = Handle;
    type AppData = VfsState;

    fn record_error(state: &VfsState, error: VfsError) {
        state.error.replace(Some(error));
    }

    fn last_error(state: &VfsState) -> Option<VfsError> {
        state.error.borrow().clone()
    }

    fn open_file(_: &VfsState, request: OpenRequest<'_>) -> VfsResult<OpenedFile<Handle>> {
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

    fn close_file(_: &VfsState, _: Option<&str>, _: Handle, _: OpenOptions) -> VfsResult<()> {
        Ok(())
    }

    fn access(_: &VfsState, name: &str, mode: AccessMode) -> VfsResult<bool> {
        let there = find(name).is_some_and(|(_, index)| index.is_some());
        Ok(there && mode != AccessMode::ReadWrite)
    }

    fn full_pathname(_: &VfsState, name: &str) -> VfsResult<String> {
        Ok(name.to_owned())
    }

    fn delete_file(_: &VfsState, _: &str, _: bool) -> VfsResult<()> {
        read_only()
    }
}

struct Io;

impl SQLiteIoMethods for Io {
    type Store = FilesStore;
}

struct Vfs;

impl SQLiteVfs<Io> for Vfs {
    type Os = WasmOsCallback;

    fn os(state: &VfsState) -> &WasmOsCallback {
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
    let state = VfsState {
        os: WasmOsCallback,
        error: RefCell::default(),
    };
    // SAFETY: the crate's default callbacks and layouts are used on one thread, and the file system stays registered.
    let registered = unsafe { register_vfs::<Io, Vfs>(NAME, state, false) };
    // If the registration failed, each later attempt to open a database fails with SQLite's message "no such vfs".
    drop(registered);
}
