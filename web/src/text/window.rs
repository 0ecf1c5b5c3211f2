//! Computes which rows of a long list to draw, and how far to scroll to a row.

use std::ops::Range;

/// The number of rows that are drawn above and below the visible ones, so that a small scroll shows no gap.
const SPARE: u64 = 8;

/// Returns the indexes of the rows to draw. The list has `total` rows, each `height` pixels high; `top` pixels are
/// scrolled away, and `seen` pixels are visible.
pub(crate) fn visible(total: u64, height: f64, top: f64, seen: f64) -> Range<u64> {
    let first = (top / height).floor().max(0.0) as u64;
    let last = ((top + seen) / height).ceil().max(0.0) as u64;
    first.saturating_sub(SPARE).min(total)..last.saturating_add(SPARE).min(total)
}

/// Returns the scroll position, in pixels, at which a row is completely visible. Returns `None` if the row is visible
/// already.
pub(crate) fn reveal(row: u64, height: f64, top: f64, seen: f64) -> Option<f64> {
    let (begin, end) = (row as f64 * height, (row + 1) as f64 * height);
    if begin < top {
        Some(begin)
    } else if end > top + seen {
        Some((end - seen).max(0.0))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_rows_are_drawn_however_many_there_are() {
        for (total, top, seen, want) in [
            (0, 0.0, 600.0, 0..0),
            (5, 0.0, 600.0, 0..5),
            (50_000, 0.0, 600.0, 0..28),
            (50_000, 3000.0, 600.0, 92..128),
            (50_000, 1_499_400.0, 600.0, 49_972..50_000),
            (10, 90_000.0, 600.0, 10..10),
            (10, -50.0, 600.0, 0..10),
        ] {
            assert_eq!(visible(total, 30.0, top, seen), want, "{total} {top}");
        }
    }

    #[test]
    fn a_row_is_scrolled_to_only_when_it_is_not_seen() {
        for (row, top, want) in [
            (0, 0.0, None),
            (19, 0.0, None),
            (20, 0.0, Some(30.0)),
            (3, 120.0, Some(90.0)),
            (4, 120.0, None),
        ] {
            assert_eq!(reveal(row, 30.0, top, 600.0), want, "{row}");
        }
    }
}
