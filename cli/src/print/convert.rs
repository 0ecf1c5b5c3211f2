use std::collections::BTreeMap;
use std::fmt::Write as _;

use prosescope_core::pages::view::RunConverted;
use prosescope_core::record::render::text::escape;

use super::style::{BOLD, FAINT, RESET, WAIT};
use super::wrap;

/// Maximum number of places that a remark lists.
const LISTED: usize = 6;

pub(crate) fn converted(converted: &RunConverted, width: usize) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{BOLD}{}{RESET}  {FAINT}{} as {}{RESET}",
        escape(&converted.folder, false),
        escape(&converted.run, false),
        converted.state
    );
    if converted.already {
        out.push_str("nothing was copied: a complete copy of this run already exists there\n");
    } else if converted.left.is_empty() {
        out.push_str("the copy is complete\n");
    }
    // A remark that is the same for several places is printed once, with these places.
    let mut order: Vec<&str> = Vec::new();
    let mut places: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for left in &converted.left {
        let of = places.entry(&left.what).or_insert_with(|| {
            order.push(&left.what);
            Vec::new()
        });
        of.push(&left.place);
    }
    for what in order {
        let of = places.get(what).map_or(&[][..], Vec::as_slice);
        let mut named = of
            .iter()
            .take(LISTED)
            .copied()
            .collect::<Vec<_>>()
            .join("; ");
        if let Some(more) = of.len().checked_sub(LISTED).filter(|more| *more > 0) {
            let _ = write!(named, "; and {more} more (--json lists them)");
        }
        let _ = write!(out, "{WAIT}·{RESET}");
        out.push_str(&wrap(&format!("{named}: {what}"), width, " "));
    }
    out
}
