//! Finds the line breaks that only wrap a paragraph of prose, at 80 or 120 columns. The page is narrower or wider than
//! that, so it wraps such a paragraph itself. All other breaks are kept: those of code, tables, lists and verses.

/// The widths, in characters, at which texts are wrapped. Shorter lines are verses, addresses or facts; longer lines are
/// whole paragraphs.
const WIDTHS: std::ops::RangeInclusive<usize> = 50..=130;

/// The length of the longest name in front of a colon that begins a fact, as in `Owner: ops-team`.
const NAME: usize = 20;

/// Returns the offsets of the line breaks that only wrap a paragraph, in ascending order.
///
/// A break wraps a paragraph if the next word did not fit in the line, compared with the paragraph's longest line.
pub(crate) fn wraps(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    // The lines of the paragraph, with their offsets. Its lines are contiguous.
    let mut paragraph: Vec<(usize, &str)> = Vec::new();
    let mut at = 0;
    for line in text.split('\n') {
        if !is_prose(line) {
            found.extend(breaks_of(&paragraph));
            paragraph.clear();
        } else if begins(line) {
            found.extend(breaks_of(&paragraph));
            paragraph = vec![(at, line)];
        } else {
            paragraph.push((at, line));
        }
        at += line.len() + 1;
    }
    found.extend(breaks_of(&paragraph));
    found
}

/// Returns a text with a blank in the place of each break that only wraps a paragraph.
pub(crate) fn flowed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for at in wraps(text) {
        out.push_str(text.get(from..at).unwrap_or_default().trim_end());
        out.push(' ');
        from = at + 1;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out
}

fn breaks_of(paragraph: &[(usize, &str)]) -> Vec<usize> {
    let length = |line: &str| line.trim_end().chars().count();
    let lengths: Vec<usize> = paragraph.iter().map(|(_, line)| length(line)).collect();
    let width = lengths.iter().copied().max().unwrap_or_default();
    if !WIDTHS.contains(&width) {
        return Vec::new();
    }
    let next = paragraph.iter().skip(1).zip(&lengths);
    let next = next.filter(|((_, line), before)| {
        let word = line.split_whitespace().next().unwrap_or_default();
        *before + 1 + word.chars().count() > width
    });
    next.map(|((at, _), _)| at - 1).collect()
}

/// Returns whether a line may belong to a paragraph: it is not empty, not indented, and has no columns.
fn is_prose(line: &str) -> bool {
    let line = line.trim_end();
    !line.is_empty() && !line.starts_with(' ') && !has_columns(line)
}

/// Returns whether a line has columns.
pub(super) fn has_columns(line: &str) -> bool {
    let line = line.trim();
    line.contains("   ") || line.contains('\t') || line.contains('|')
}

/// Returns whether a line begins a part of its own: an item of a list, a heading, a quotation, or a fact with its name.
fn begins(line: &str) -> bool {
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_item = number.len() < line.len() && number.starts_with(['.', ')']);
    let marks = ["- ", "* ", "+ ", "#", ">", "```", "• ", "– "];
    let is_fact = line.split_once(':').is_some_and(|(name, rest)| {
        name.chars().count() <= NAME && (rest.is_empty() || rest.starts_with([' ', '*']))
    });
    is_item || is_fact || marks.iter().any(|mark| line.starts_with(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRAPPED: &str = "The checkout suite was red on eleven of sixty nights because a test helper\n\
        slept 50 ms instead of waiting for the cart to be written. The nightly backup\n\
        keeps the disk busy at just that time.";

    #[test]
    fn a_wrapped_paragraph_flows() {
        assert!(!flowed(WRAPPED).contains('\n'), "{}", flowed(WRAPPED));
        assert_eq!(flowed(WRAPPED), WRAPPED.replace('\n', " "));
        let two = format!("{WRAPPED}\n\n{WRAPPED}\n");
        assert_eq!(flowed(&two).matches('\n').count(), 3);
    }

    #[test]
    fn other_breaks_stay() {
        for text in [
            "Roses are red,\nviolets are blue,\nsugar is sweet",
            "Owner: the people of the payments team, as every week in this quarter\nUntil: Friday",
            "- one item that is long enough to fill a line of a text of eighty columns\n- two",
            "    let code = stays as it is even if its lines are about as long as prose\n    more",
            "test name                                                       nights\nalpha        12",
            "| German | English | a note that makes the row of the table long |\n|---|---|---|",
            "The list of what is left to do, in the order in which it should be done:\n1. one\n2. two",
            &format!("{}\nnext", "a paragraph on one line ".repeat(8)),
        ] {
            assert_eq!(flowed(text), text);
        }
    }

    #[test]
    fn a_short_line_in_a_wrapped_text_keeps_its_break() {
        let text = format!("Left to do\n{WRAPPED}");
        assert_eq!(flowed(&text).matches('\n').count(), 1);
    }
}
