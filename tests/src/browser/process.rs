//! Starts browsers for tests. A browser's process lives as long as the test program, or as long as one test.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::work::PATIENCE;

/// A shell script that starts the browser. When the script's input ends, the script ends the browser and removes the
/// profile. The input also ends if the test program panics or is killed. A browser that does not end within 5 s is
/// killed.
const GUARD: &str = r#"profile=$1; shift; "$@" & browser=$!
cat >/dev/null
kill $browser; (sleep 5; kill -KILL $browser) & late=$!
wait $browser; kill $late; rm -rf "$profile""#;

/// A running browser and its profile. Dropping it ends the browser and deletes the profile.
pub(super) struct Process {
    guard: Child,
    input: Option<ChildStdin>,
    profile: PathBuf,
}

impl Process {
    /// Returns the Chromium that all tests of this test program share. The first call starts it.
    pub(super) fn shared_chromium(program: &Path) -> &'static Process {
        static SHARED: OnceLock<Process> = OnceLock::new();
        SHARED.get_or_init(|| Process::chromium(program))
    }

    /// Starts a headless Chromium with a new profile.
    pub(super) fn chromium(program: &Path) -> Process {
        Process::start(program, |profile| {
            let arguments = [
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                // These options keep a page fast while the page of another test covers it.
                "--disable-background-timer-throttling",
                "--disable-backgrounding-occluded-windows",
                "--disable-renderer-backgrounding",
                "--remote-debugging-port=0",
                "--window-size=1280,900",
            ];
            let mut arguments: Vec<OsString> = arguments.map(OsString::from).into();
            let mut folder = OsString::from("--user-data-dir=");
            folder.push(profile);
            arguments.extend([folder, "about:blank".into()]);
            arguments
        })
    }

    /// Starts a headless Firefox with a new profile.
    pub(super) fn firefox(program: &Path) -> Process {
        Process::start(program, |profile| {
            let arguments = ["--headless", "--no-remote", "--remote-debugging-port=0"];
            let mut arguments: Vec<OsString> = arguments.map(OsString::from).into();
            arguments.extend(["--profile".into(), profile.into(), "about:blank".into()]);
            arguments
        })
    }

    fn start(program: &Path, arguments: impl FnOnce(&Path) -> Vec<OsString>) -> Process {
        let profile = tempfile::tempdir()
            .expect("a folder for the profile")
            .keep();
        let mut guard = Command::new("sh")
            .args(["-c", GUARD, "sh"])
            .arg(&profile)
            .arg(program)
            .args(arguments(&profile))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|e| panic!("{} does not start: {e}", program.display()));
        Process {
            input: guard.stdin.take(),
            guard,
            profile,
        }
    }

    /// Returns the port and path of Chromium's DevTools. Chromium writes both into its profile when it is ready.
    pub(super) fn devtools(&self) -> (u16, String) {
        self.written("DevToolsActivePort", |text| {
            let (port, path) = text.split_once('\n')?;
            let path = path.trim();
            Some((port.parse().ok()?, path.to_owned())).filter(|_| !path.is_empty())
        })
    }

    /// Returns the port of Firefox's WebDriver BiDi.
    pub(super) fn bidi(&self) -> u16 {
        self.written("WebDriverBiDiServer.json", |text| {
            let server: Value = serde_json::from_str(text).ok()?;
            server["ws_port"].as_u64()?.try_into().ok()
        })
    }

    /// Waits until the browser has written a file of its profile, and returns the value that `read` finds in the file.
    fn written<T>(&self, name: &str, read: impl Fn(&str) -> Option<T>) -> T {
        let file = self.profile.join(name);
        let start = Instant::now();
        loop {
            if let Some(found) = fs::read_to_string(&file).ok().as_deref().and_then(&read) {
                return found;
            }
            assert!(
                start.elapsed() < PATIENCE,
                "the browser did not start within {} s",
                PATIENCE.as_secs()
            );
            sleep(Duration::from_millis(20));
        }
    }

    /// Returns the id of the guard's process, which is the ancestor of all processes of the browser.
    pub(super) fn id(&self) -> u32 {
        self.guard.id()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.guard.wait();
    }
}
