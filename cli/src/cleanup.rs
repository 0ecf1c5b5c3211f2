//! Removes incomplete copies and all temporary files after Ctrl-C, before the command ends.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use prosescope_store::Aside;

/// Files and folders that are still incomplete, to be removed after a signal.
static CLEANUP: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Calls `act` with the paths to remove after a signal. No path is removed before `act` returns, so `act` may add
/// paths.
pub(crate) fn with_cleanup_list<T>(act: impl FnOnce(&mut Vec<PathBuf>) -> T) -> T {
    act(&mut CLEANUP.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Removes incomplete files when the user or the system ends the command. Returns the folder that contains all
/// temporary files of the command.
#[cfg(unix)]
pub(crate) fn on_signal() -> std::io::Result<Aside> {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use rustix::process::Signal;
    use signal_hook::{flag, low_level};

    // The handlers are registered before the folder is made. Otherwise a signal between these steps would leave the
    // folder.
    let ended = Arc::new(AtomicUsize::new(0));
    // HUP gets no handler: `nohup` makes a process ignore HUP, and a handler would undo that.
    for signal in [Signal::INT, Signal::TERM] {
        let signal = signal.as_raw();
        flag::register_usize(signal, Arc::clone(&ended), signal as usize)?;
    }
    let folder = with_cleanup_list(|paths| {
        let folder = Aside::new()?;
        paths.push(folder.path().to_owned());
        std::io::Result::Ok(folder)
    })?;
    // The call fails only if the program has already set a temporary folder, and this is the only place that sets one.
    let _ = tempfile::env::override_temp_dir(folder.path());
    std::thread::spawn(move || {
        // A signal handler may do very little, so a thread checks for a signal at intervals.
        while ended.load(Ordering::Relaxed) == 0 {
            std::thread::sleep(Duration::from_millis(20));
        }
        with_cleanup_list(|paths| {
            for path in paths.drain(..) {
                remove(&path);
            }
            let _ = low_level::emulate_default_handler(ended.load(Ordering::Relaxed) as i32);
        });
    });
    Ok(folder)
}

/// Removes a file, or a folder with its contents. The command still runs, and may add a file to the folder in the meantime, so
/// removing a folder is tried several times.
#[cfg(unix)]
fn remove(path: &std::path::Path) {
    if !path.is_dir() {
        let _ = std::fs::remove_file(path);
        return;
    }
    for _ in 0..50 {
        if std::fs::remove_dir_all(path).is_ok() || !path.exists() {
            // The folder above is empty unless another command runs.
            let _ = path.parent().map(std::fs::remove_dir);
            return;
        }
    }
}

/// Creates a temporary folder, and handles no signals. On systems other than Unix, the system ends the command at once.
#[cfg(not(unix))]
pub(crate) fn on_signal() -> std::io::Result<Aside> {
    Aside::new()
}
