//! Shows the progress of a long copy on one line of a terminal.

use std::cell::Cell;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::out::Out;

/// Time before the progress line appears, so that short copies show no line.
const SOON: Duration = Duration::from_secs(1);

const LINE: &str =
    "{msg} {decimal_bytes} of {decimal_total_bytes} [{wide_bar}] {percent}%, {eta} left";

/// A progress line on standard error. It appears after a second, and only on a terminal.
pub(crate) struct Progress {
    bar: ProgressBar,
    begun: Instant,
    hidden: Cell<bool>,
}

impl Progress {
    /// Starts a progress line at 0 of `total` bytes. With `--json`, the line is never shown.
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

    /// Adds `bytes` to the number of copied bytes.
    pub(crate) fn add(&self, bytes: u64) {
        self.shown_soon();
        self.bar.inc(bytes);
    }

    /// Sets the number of copied bytes, and their total.
    pub(crate) fn at(&self, bytes: u64, total: u64) {
        self.shown_soon();
        self.bar.set_length(total);
        self.bar.set_position(bytes);
    }

    /// Removes the line, so that other text can be printed.
    pub(crate) fn clear(&self) {
        if !self.bar.is_hidden() {
            self.bar.finish_and_clear();
            self.bar.set_draw_target(ProgressDrawTarget::hidden());
            self.bar.reset();
            self.hidden.set(true);
        }
    }

    fn shown_soon(&self) {
        if self.hidden.get() && self.begun.elapsed() > SOON {
            self.hidden.set(false);
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
