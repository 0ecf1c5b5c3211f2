use std::fmt::Write as _;

use prosescope_core::render::text::escape;

use super::style::{BOLD, FAINT, RESET, WAIT};
use super::wrap;
use crate::commands::Converted;

pub(crate) fn converted(converted: &Converted, width: usize) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{BOLD}{}{RESET}  {FAINT}{} as {}{RESET}",
        escape(&converted.folder, false),
        escape(&converted.run, false),
        converted.state
    );
    if converted.left.is_empty() {
        out.push_str("everything was carried\n");
    }
    for left in &converted.left {
        let _ = write!(out, "{WAIT}·{RESET}");
        out.push_str(&wrap(left, width, " "));
    }
    out
}
