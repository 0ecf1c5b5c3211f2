//! How far a long copy is, on a line of a terminal's own.

use std::cell::Cell;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::out::Out;

/// Copies that are done sooner show nothing.
const SOON: Duration = Duration::from_secs(1);

const LINE: &str =
    "{msg} {decimal_bytes} of {decimal_total_bytes} [{wide_bar}] {percent}%, {eta} left";

/// A line on standard error, once the copy takes longer than a second; nothing where standard error is not a terminal.
pub(crate) struct Progress {
    bar: ProgressBar,
    begun: Instant,
    hidden: Cell<bool>,
}

impl Progress {
    /// Begins with nothing of `total` bytes. `--json` is for scripts: nothing is shown.
    pub(crate) fn of(what: &'static str, total: u64, out: &Out) -> Progress {
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template(LINE) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_message(what);
        Progress {
            bar,
            begun: Instant::now(),
            hidden: Cell::new(!out.json),
        }
    }

    /// Adds bytes that were copied.
    pub(crate) fn add(&self, bytes: u64) {
        if self.hidden.get() && self.begun.elapsed() > SOON {
            self.hidden.set(false);
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.inc(bytes);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
