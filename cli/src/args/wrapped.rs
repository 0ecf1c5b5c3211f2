//! Wraps help texts and usage errors to the width of the terminal.
//!
//! clap's own wrapping ignores the columns of a list, and skips the text of a template. So the source has one line for
//! each paragraph or list item of a longer text. This module wraps these lines before clap gets the text.

use clap::Command;
use unicode_width::UnicodeWidthStr;

/// Maximum width of a help text in columns, on a wide terminal.
const WIDEST: usize = 100;

/// Returns the width of a help text in columns: the width of the terminal, but at most [`WIDEST`].
pub(crate) fn columns() -> usize {
    crate::out::columns(true).min(WIDEST)
}

/// Wraps the longer texts of a command and of all its subcommands.
pub(super) fn command(mut command: Command, width: usize) -> Command {
    let wrapped = |text: &clap::builder::StyledStr| text_of(&text.to_string(), width);
    if let Some(text) = command.get_after_help().map(wrapped) {
        command = command.after_help(text);
    }
    if let Some(text) = command.get_long_about().map(wrapped) {
        command = command.long_about(text);
    }
    command
        .term_width(width)
        .mut_subcommands(|below| self::command(below, width))
}

/// Wraps each line of a text. In a list with two columns (`name    description`), each continued line begins at the
/// second column.
pub(crate) fn text_of(text: &str, width: usize) -> String {
    let lines: Vec<String> = text.lines().map(|line| line_of(line, width)).collect();
    lines.join("\n")
}

fn line_of(line: &str, width: usize) -> String {
    if anstream::adapter::strip_str(line).to_string().width() <= width {
        return line.to_owned();
    }
    let words = line.trim_start_matches(' ');
    let indent = line.len() - words.len();
    // Two or more spaces separate the two columns.
    let second = words.find("  ").map(|gap| {
        let spaces = words[gap..].len() - words[gap..].trim_start_matches(' ').len();
        indent + gap + spaces
    });
    let (head, rest, hang) = match second {
        Some(at) if line[..at].width() * 2 <= width => {
            let (head, rest) = line.split_at(at);
            (head, rest, head.width())
        }
        // A narrow terminal has no room for two columns, so the second column follows the first on the same line.
        Some(_) => (&line[..indent], words, indent + 4),
        None if words.starts_with("- ") => (&line[..indent], words, indent + 2),
        None => (&line[..indent], words, indent),
    };
    fill(head, rest, width, hang)
}

/// Adds the words of a text to the beginning of a line. Breaks the line at `width` columns, and indents the lines
/// after the first one by `hang` columns.
pub(crate) fn fill(begin: &str, text: &str, width: usize, hang: usize) -> String {
    let mut out = begin.to_owned();
    let mut used = begin.width();
    for (nth, word) in text.split_whitespace().enumerate() {
        let len = anstream::adapter::strip_str(word).to_string().width();
        if nth > 0 && used + 1 + len > width {
            out.push_str(&format!("\n{}", " ".repeat(hang)));
            used = hang;
        } else if nth > 0 {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += len;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::complete;

    #[test]
    fn the_second_column_of_a_list_keeps_its_place() {
        let text = "A list of two:\n  one    the first of two\n  three  the other";
        let narrow = "A list of two:\n  one    the first\n         of two\n  three  the other";
        assert_eq!(text_of(text, 20), narrow);
        assert_eq!(
            text_of("  a long name   what it is", 20),
            "  a long name what\n      it is"
        );
    }

    /// Checks that no help text was wrapped twice. Such a text has a line that ends early, before a next line that
    /// begins in lower case.
    #[test]
    fn no_help_is_wrapped_twice() {
        fn check(of: &mut Command, width: usize) {
            let help = of.render_long_help().to_string();
            let lines: Vec<&str> = help.lines().collect();
            for (line, next) in lines.iter().zip(lines.iter().skip(1)) {
                assert!(
                    line.width() <= width || line.contains("Usage: ") || !line.trim().contains(' '),
                    "{line}"
                );
                let indent = |line: &str| line.len() - line.trim_start().len();
                let word = next.split_whitespace().next().unwrap_or_default();
                let goes_on = word.starts_with(|c: char| c.is_lowercase() && c != 'p')
                    && indent(line) == indent(next)
                    && line.ends_with(|c: char| c.is_alphanumeric() || c == ',');
                let has_room = line.width() + 1 + word.width() <= width;
                let is_list = [line, next]
                    .iter()
                    .any(|line| line.trim_start().contains("  "));
                assert!(
                    !goes_on || !has_room || is_list,
                    "{}: {line}\n{next}",
                    of.get_name()
                );
            }
            of.get_subcommands_mut()
                .for_each(|below| check(below, width));
        }
        for width in [60, 80, 100] {
            check(&mut complete(width), width);
        }
    }
}
