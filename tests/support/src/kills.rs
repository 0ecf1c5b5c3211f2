//! Kills commands at moments spread over their duration, independently of the machine's present speed.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// One of this many commands is not killed, so that the test also covers complete commands.
const SPARED: usize = 8;

/// A schedule of the moments at which commands are killed.
#[derive(Debug)]
pub struct Kills {
    /// The estimated time that a command takes if it is not killed.
    whole: Duration,
    /// The number of the next command, from 0.
    next: usize,
}

impl Kills {
    /// Runs a command to its end, to estimate its duration. Returns its result, too.
    pub fn learn<T>(whole: impl FnOnce() -> T) -> (Kills, T) {
        let begun = Instant::now();
        let done = whole();
        let whole = begun.elapsed();
        (Kills { whole, next: 0 }, done)
    }

    /// Starts a command with this input, kills the command, and returns its output. The first command is killed at
    /// once. Later commands are killed at various moments between the beginning and a little after the estimated end.
    /// One command in eight is not killed.
    ///
    /// # Panics
    /// If the command does not start.
    pub fn kill(&mut self, command: &mut Command, input: &[u8]) -> String {
        let n = self.next;
        self.next += 1;
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("prosescope starts");
        // Writing fails if a command that reads no input has already ended.
        let _ = child.stdin.take().expect("a pipe").write_all(input);
        if n % SPARED != SPARED - 1 {
            let part = (n * 61 % 100) as f64 / 85.0;
            thread::sleep(self.whole.mul_f64(part));
            let ended = child.try_wait().expect("asked").is_some();
            // The estimate is adjusted, because the machine may have become faster or slower.
            match ended {
                true if part < 0.7 => self.whole = self.whole.mul_f64(0.8),
                false if part > 0.9 => self.whole = self.whole.mul_f64(1.25),
                _ => {}
            }
            let _ = child.kill();
        }
        let out = child.wait_with_output().expect("it ended").stdout;
        String::from_utf8_lossy(&out).into_owned()
    }
}
