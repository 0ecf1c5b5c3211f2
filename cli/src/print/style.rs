//! Defines the styles of terminal text. `anstream` removes them if colours are off (`NO_COLOR`) or the output is not
//! a terminal.

use anstyle::{AnsiColor, Reset, Style};
use prosescope_core::pages::view::{Tone, icon, tone};

pub(crate) const RESET: Reset = Reset;
pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const FAINT: Style = Style::new().dimmed();
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
pub(crate) const WAIT: Style = AnsiColor::Yellow.on_default();
pub(crate) const OK: Style = AnsiColor::Green.on_default();
pub(crate) const RUN: Style = AnsiColor::Blue.on_default();

/// Returns the style of a status.
pub(crate) fn of(status: &str) -> Style {
    toned(tone(status))
}

/// Returns the style of a tone.
pub(crate) fn toned(tone: Tone) -> Style {
    match tone {
        Tone::Ok => OK,
        Tone::Run => RUN,
        Tone::Wait => WAIT,
        Tone::Bad => BAD,
        Tone::Quiet => FAINT,
    }
}

/// Returns the icon and the word of a status without a style, for a table cell.
pub(crate) fn status(word: &str) -> String {
    format!("{} {word}", icon(word))
}

/// Returns the number of bytes of the style at the beginning of a text; 0 if the text does not begin with a style of
/// this module.
pub(crate) fn len_of(text: &str) -> usize {
    // The codes mean: reset, bold, faint, and four colours.
    let styles = ["0", "1", "2", "31", "32", "33", "34"];
    let rest = text.strip_prefix("\u{1b}[").unwrap_or_default();
    let ours = styles.iter().find(|code| {
        rest.strip_prefix(**code)
            .is_some_and(|end| end.starts_with('m'))
    });
    ours.map_or(0, |code| "\u{1b}[m".len() + code.len())
}
