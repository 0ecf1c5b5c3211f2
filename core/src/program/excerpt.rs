//! Finds out whether a copy of a program is only its beginning, because the copy itself says that more follows.

use super::{LineRole, Listing};

/// Words that say that something is missing.
const MISSING: [&str; 12] = [
    "abbreviated",
    "continued",
    "continues",
    "cut",
    "elided",
    "excerpt",
    "follows",
    "omitted",
    "shortened",
    "snip",
    "snipped",
    "truncated",
];

/// Words that may stand beside those of [`MISSING`] in a line that says nothing else.
const BESIDE: [&str; 29] = [
    "and",
    "are",
    "been",
    "brevity",
    "code",
    "end",
    "file",
    "for",
    "has",
    "here",
    "is",
    "it",
    "left",
    "line",
    "lines",
    "listing",
    "more",
    "of",
    "off",
    "out",
    "program",
    "remainder",
    "remaining",
    "rest",
    "source",
    "statements",
    "the",
    "this",
    "was",
];

impl Listing {
    /// Returns the last line of a program if that line says that more follows: `# ... rest of the program left out ...`,
    /// `# (continues)`, `# [truncated]`, `...`. The statements after it are then unknown.
    ///
    /// Only a whole line counts that says nothing else, because a comment may speak of a text that is truncated, or of a
    /// loop that continues.
    pub(crate) fn cut_at(&self) -> Option<u32> {
        let mut lines = self.lines.iter().enumerate().rev();
        let (at, last) = lines.find(|(_, line)| line.role != LineRole::Blank)?;
        let said = last.text.trim();
        let is_cut = match last.role {
            LineRole::Comment => says_cut(said.trim_start_matches('#')),
            LineRole::Statement => words(said).next().is_none() && has_ellipsis(said),
            _ => false,
        };
        is_cut.then_some(at as u32 + 1)
    }
}

fn says_cut(comment: &str) -> bool {
    let said = comment.trim_start_matches(|c: char| !is_mark(c) && !c.is_alphanumeric());
    if said.starts_with("...") || said.starts_with('…') {
        return true;
    }
    let all: Vec<String> = words(said).collect();
    let is = |list: &[&str], word: &String| list.contains(&word.as_str());
    let is_known = |word: &String| {
        let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
        is_number || is(&MISSING, word) || is(&BESIDE, word)
    };
    let mut pairs = all.windows(2);
    let has_phrase = pairs.any(|two| two == ["rest", "of"] || two == ["left", "out"]);
    all.iter().all(is_known) && (has_phrase || all.iter().any(|word| is(&MISSING, word)))
}

fn is_mark(c: char) -> bool {
    matches!(c, '.' | '…')
}

fn has_ellipsis(text: &str) -> bool {
    text.contains("...") || text.contains('…')
}

fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty());
    words.map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use crate::program::scan;

    fn cut_at(last: &str) -> Option<u32> {
        scan(&format!("let a = session \"A\"\n{last}\n\n")).cut_at()
    }

    #[test]
    fn a_program_that_says_that_more_follows_is_cut() {
        for last in [
            "# ... rest of the program left out ...",
            "# ...",
            "# …",
            "  # [...]",
            "# --- truncated ---",
            "# (continues)",
            "# [truncated]",
            "# Rest of the program omitted for brevity",
            "# 12 more lines omitted",
            "# ... (phases 3 to 7)",
            "# --- snip ---",
            "...",
            "[…]",
        ] {
            assert_eq!(cut_at(last), Some(2), "{last}");
        }
    }

    #[test]
    fn a_comment_that_says_something_else_does_not_cut() {
        for last in [
            "# do gt_status",
            "# The loop continues until the critic agrees",
            "# Long outputs are truncated by the agent",
            "# Continue with the rest of the feature",
            "# end of the program",
            "# Done.",
            "# left",
            "# Then the captain waits...",
            "# --- Execution ---",
            "#",
            "session \"Write the rest of the program ...\"",
        ] {
            assert_eq!(cut_at(last), None, "{last}");
        }
        // Only the end of a program counts.
        assert_eq!(cut_at("# ...\nlet b = session \"B\""), None);
        assert_eq!(scan("").cut_at(), None);
    }
}
