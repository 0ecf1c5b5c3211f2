//! A Chromium that runs as long as the test program, or as the one test that has it alone.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::work::PATIENCE;

/// Starts the program that follows the profile's folder; ends it, and removes the folder, once the input ends: after a panic
/// or a kill of the test program too. A Chromium that does not end when it is asked to is killed.
const GUARD: &str = r#"profile=$1; shift; "$@" & browser=$!
cat >/dev/null
kill $browser; (sleep 5; kill -KILL $browser) & late=$!
wait $browser; kill $late; rm -rf "$profile""#;

/// A running Chromium and its profile, ended and deleted together.
pub(super) struct Chromium {
    guard: Child,
    input: Option<ChildStdin>,
    profile: PathBuf,
}

impl Chromium {
    /// Returns the browser that the tests of one program share.
    pub(super) fn shared(program: &Path) -> &'static Chromium {
        static SHARED: OnceLock<Chromium> = OnceLock::new();
        SHARED.get_or_init(|| Chromium::start(program))
    }

    /// Starts a browser.
    pub(super) fn start(program: &Path) -> Chromium {
        let profile = tempfile::tempdir()
            .expect("a folder for the profile")
            .keep();
        let mut guard = Command::new("sh")
            .args(["-c", GUARD, "sh"])
            .arg(&profile)
            .arg(program)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                // A page is no slower for standing behind another test's.
                "--disable-background-timer-throttling",
                "--disable-backgrounding-occluded-windows",
                "--disable-renderer-backgrounding",
                "--remote-debugging-port=0",
                "--window-size=1280,900",
            ])
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|e| panic!("{} does not start: {e}", program.display()));
        Chromium {
            input: guard.stdin.take(),
            guard,
            profile,
        }
    }

    /// The port and path that it listens at: it writes them into its profile when it is ready.
    pub(super) fn endpoint(&self) -> (u16, String) {
        let file = self.profile.join("DevToolsActivePort");
        let start = Instant::now();
        loop {
            if let Ok(text) = fs::read_to_string(&file)
                && let Some((port, path)) = text.split_once('\n')
                && let Ok(port) = port.parse()
                && !path.is_empty()
            {
                return (port, path.trim().to_owned());
            }
            assert!(
                start.elapsed() < PATIENCE,
                "Chromium did not start within {} s",
                PATIENCE.as_secs()
            );
            sleep(Duration::from_millis(20));
        }
    }

    /// The process below which all of the browser's are.
    pub(super) fn id(&self) -> u32 {
        self.guard.id()
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.guard.wait();
    }
}
