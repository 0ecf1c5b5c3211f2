//! The few styles of the terminal; `anstream` drops them where colour is not wanted (`NO_COLOR`, no terminal).

use anstyle::{AnsiColor, Reset, Style};
use prosescope_core::view::{Tone, icon, tone};

pub(crate) const RESET: Reset = Reset;
pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const FAINT: Style = Style::new().dimmed();
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
pub(crate) const WAIT: Style = AnsiColor::Yellow.on_default();
pub(crate) const OK: Style = AnsiColor::Green.on_default();
pub(crate) const RUN: Style = AnsiColor::Blue.on_default();

/// The style of a status word.
pub(crate) fn of(status: &str) -> Style {
    match tone(status) {
        Tone::Ok => OK,
        Tone::Run => RUN,
        Tone::Wait => WAIT,
        Tone::Bad => BAD,
        Tone::Quiet => FAINT,
    }
}

/// Icon and word of a status, without a style: what a table's cell holds.
pub(crate) fn status(word: &str) -> String {
    format!("{} {word}", icon(word))
}
