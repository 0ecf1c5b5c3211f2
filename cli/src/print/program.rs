use std::fmt::Write as _;

use prosescope_core::pages::view::{ProgramView, icon};
use prosescope_core::record::render::text::escape;

use super::style::{FAINT, RESET, of};

/// Formats a program, one line for each of its lines: the number, the result as an icon, the text. A result that is
/// more than completed, or less, is named behind the text.
pub(crate) fn program(view: &ProgramView) -> String {
    let mut out = String::new();
    if let Some(note) = &view.note {
        let _ = writeln!(out, "{FAINT}{}{RESET}", escape(note, false));
    }
    let last = view.lines.last().map_or(0, |line| line.line);
    let digits = last.to_string().len();
    for line in &view.lines {
        let style = of(&line.status);
        let (mark, told) = match line.annotation.as_str() {
            "" => (" ", String::new()),
            "completed" => (icon(&line.status), String::new()),
            told => {
                let told = format!("  {FAINT}← {}{RESET}", escape(told, false));
                (icon(&line.status), told)
            }
        };
        let (number, text) = (line.line, escape(&line.text, false));
        let _ = write!(out, "{FAINT}{number:>digits$}{RESET}");
        if !text.is_empty() {
            let _ = write!(out, " {style}{mark}{RESET} {text}{told}");
        }
        out.push('\n');
    }
    out
}
