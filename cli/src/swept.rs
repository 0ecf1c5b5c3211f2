//! What Ctrl-C leaves: nothing. A copy that was begun, and all that was unpacked or built anew for it, is removed before the command ends.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use tempfile::TempDir;

/// Files and folders that are not to stay.
static BEGUN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Does what a sweep must not fall into; it may add what is to be swept.
pub(crate) fn while_none_sweeps<T>(act: impl FnOnce(&mut Vec<PathBuf>) -> T) -> T {
    act(&mut BEGUN.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Sweeps when the user or the system ends the command. All temporary files lie in one folder until then.
#[cfg(unix)]
pub(crate) fn on_signal() -> std::io::Result<TempDir> {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use rustix::process::Signal;
    use signal_hook::{flag, low_level};

    // The handlers come first: a folder that was made before them would stay if the signal came between.
    let ended = Arc::new(AtomicUsize::new(0));
    // Not HUP: `nohup` has it ignored, and a handler would undo that.
    for signal in [Signal::INT, Signal::TERM] {
        let signal = signal.as_raw();
        flag::register_usize(signal, Arc::clone(&ended), signal as usize)?;
    }
    let folder = while_none_sweeps(|paths| {
        let folder = tempfile::Builder::new().prefix("prosescope-").tempdir()?;
        paths.push(folder.path().to_owned());
        std::io::Result::Ok(folder)
    })?;
    // It fails where another folder was named already, which nothing in this program does.
    let _ = tempfile::env::override_temp_dir(folder.path());
    std::thread::spawn(move || {
        // A handler may do next to nothing; so this looks now and then whether there was a signal.
        while ended.load(Ordering::Relaxed) == 0 {
            std::thread::sleep(Duration::from_millis(20));
        }
        while_none_sweeps(|paths| {
            for path in paths.drain(..) {
                remove(&path);
            }
            let _ = low_level::emulate_default_handler(ended.load(Ordering::Relaxed) as i32);
        });
    });
    Ok(folder)
}

/// Removes a file, or a folder with all in it. The command still works while this runs and may put a new file into a folder that is
/// being emptied, so a folder is tried again a few times.
#[cfg(unix)]
fn remove(path: &std::path::Path) {
    if !path.is_dir() {
        let _ = std::fs::remove_file(path);
        return;
    }
    for _ in 0..50 {
        if std::fs::remove_dir_all(path).is_ok() || !path.exists() {
            return;
        }
    }
}

/// Elsewhere the system ends the command as it is.
#[cfg(not(unix))]
pub(crate) fn on_signal() -> std::io::Result<TempDir> {
    tempfile::Builder::new().prefix("prosescope-").tempdir()
}
