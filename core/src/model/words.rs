//! Maps the status words of statements and runs, such as `done` or `in progress`, to [`Status`] and [`RunStatus`]. The
//! readers of all forms use the same table. Writers use only the first word of a table entry ([`Status::word`],
//! [`RunStatus::word`]).

use super::{GateStatus, RunStatus, Status};

/// Defines an enum with one variant for each word, and a variant `Other` that keeps any other word. The enum's method
/// `word` returns the text. If the input begins with `parse`, the macro also generates the inverse function `parse`.
macro_rules! words {
    ($(#[$doc:meta])* pub enum $name:ident {
        $($(#[$of:meta])* $variant:ident = $word:literal,)*
    }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum $name {
            $($(#[$of])* $variant,)*
            /// Another word, as written; empty for an absent word.
            Other($crate::model::Text),
        }

        impl $name {
            /// The known words, from which the TypeScript types are generated.
            #[cfg(feature = "typescript")]
            pub const WORDS: &'static [&'static str] = &[$($word),*];

            /// Returns the word as OpenProse spells it.
            pub fn word(&self) -> &str {
                match self {
                    $($name::$variant => $word,)*
                    $name::Other(word) => word,
                }
            }
        }
    };
    (parse $(#[$doc:meta])* pub enum $name:ident {
        $($(#[$of:meta])* $variant:ident = $word:literal,)*
    }) => {
        $crate::model::words::words! { $(#[$doc])* pub enum $name {
            $($(#[$of])* $variant = $word,)*
        } }

        impl $name {
            /// Parses a word; a word that OpenProse does not define is kept as written in `Other`.
            pub fn parse(word: &str) -> $name {
                match word.trim() {
                    $($word => $name::$variant,)*
                    other => $name::Other(other.into()),
                }
            }
        }
    };
}
pub(super) use words;

/// The known words, each with the statement status and the run status that it means. The words are in lower case; a
/// blank in a word also matches `_` and `-`.
const WORDS: &[StatusWords] = &[
    (&["pending"], Some(Status::Pending), None),
    (
        &["executing", "running", "in progress", "active"],
        Some(Status::Executing),
        Some(RunStatus::Running),
    ),
    (
        &["current", "currently executing", "here", "you are here"],
        Some(Status::Executing),
        None,
    ),
    (
        &["started", "start"],
        Some(Status::Started),
        Some(RunStatus::Running),
    ),
    (
        &["resumed", "resume", "restart", "continue"],
        None,
        Some(RunStatus::Running),
    ),
    (
        &["waiting"],
        Some(Status::Waiting),
        Some(RunStatus::Waiting),
    ),
    // A blocked statement may wait, or may have been given up.
    (&["blocked"], None, Some(RunStatus::Waiting)),
    (
        &["paused"],
        Some(Status::Waiting),
        Some(RunStatus::Interrupted),
    ),
    (&["iteration"], Some(Status::Iteration), None),
    (&["retry", "retrying"], Some(Status::Retry), None),
    (
        &[
            "completed",
            "complete",
            "done",
            "finished",
            "success",
            "succeeded",
            "ok",
            "rendered",
        ],
        Some(Status::Completed),
        Some(RunStatus::Completed),
    ),
    (&["end", "ended"], None, Some(RunStatus::Completed)),
    (
        &["failed", "fail", "failure", "error"],
        Some(Status::Failed),
        Some(RunStatus::Failed),
    ),
    (&["skipped", "skip", DEFERRED], Some(Status::Skipped), None),
    (&["unchanged"], Some(Status::Unchanged), None),
    (&["joined"], Some(Status::Joined), None),
    (&["exited"], Some(Status::Exited), None),
    (
        &[
            "interrupted",
            "interrupt",
            "pause",
            "stopped",
            "stop",
            "aborted",
            "abort",
            "cancelled",
            "canceled",
            "cancel",
            "suspended",
        ],
        None,
        Some(RunStatus::Interrupted),
    ),
];

/// Synonymous words, with the status that they mean for a statement and for a run.
type StatusWords = (&'static [&'static str], Option<Status>, Option<RunStatus>);

/// The word for a statement that is skipped now and continues later (errata T2).
pub(crate) const DEFERRED: &str = "deferred";

/// Returns whether the reason for skipping a statement begins with [`DEFERRED`].
pub(crate) fn says_deferred(reason: &str) -> bool {
    let reason = reason.trim_start_matches(['(', '*', ' ']);
    let end = reason
        .find(|c: char| !c.is_alphabetic())
        .unwrap_or(reason.len());
    reason
        .get(..end)
        .is_some_and(|word| word.eq_ignore_ascii_case(DEFERRED))
}

/// Returns a statement's status if the whole text is one entry of the table, such as `done` or `in progress`.
pub(crate) fn status(word: &str) -> Option<Status> {
    find(word).and_then(|(_, status, _)| status.clone())
}

/// Returns a run's status if the whole text is one entry of the table, such as `done` or `in progress`.
pub(crate) fn run_status(word: &str) -> Option<RunStatus> {
    find(word).and_then(|(.., status)| status.clone())
}

/// Returns a statement's status from the first words of a text: `complete (bindings/a.md)`, `✓ done`,
/// `**executing**`.
pub(crate) fn leading_status(text: &str) -> Option<Status> {
    leading(text, |(_, status, _)| status.as_ref()).cloned()
}

/// Returns a run's status from the first words of a text.
pub(crate) fn leading_run_status(text: &str) -> Option<RunStatus> {
    leading(text, |(.., status)| status.as_ref()).cloned()
}

/// Returns the meaning of a text that equals or begins with an entry of the table. Entries without a meaning of the
/// wanted kind are skipped.
fn leading<T>(
    text: &str,
    meaning: impl Fn(&'static StatusWords) -> Option<&'static T>,
) -> Option<&'static T> {
    let text = plain(text);
    let begins = || {
        WORDS.iter().find_map(|row| {
            let meaning = meaning(row)?;
            row.0
                .iter()
                .any(|word| begins(text, word))
                .then_some(meaning)
        })
    };
    find(text).and_then(&meaning).or_else(begins)
}

/// Returns each word for a statement's status, with that status.
pub(crate) fn of_statements() -> impl Iterator<Item = (&'static str, &'static Status)> {
    WORDS.iter().flat_map(|(words, status, _)| {
        let status = status.as_ref();
        words.iter().filter_map(move |word| Some((*word, status?)))
    })
}

/// Returns the decision that a word after a gate's name in a log expresses. Rows of the `gates` table use
/// [`GateStatus::parse`] instead, which accepts only four words: a similar word must not approve a gate.
pub(crate) fn gate(word: &str) -> Option<GateStatus> {
    let word = word.trim_matches(|c: char| matches!(c, '(' | ')' | ',' | ':' | '.'));
    Some(match word.to_lowercase().as_str() {
        "approved" | "approve" | "granted" | "passed" => GateStatus::Approved,
        "rejected" | "reject" | "denied" => GateStatus::Rejected,
        "timeout" | "timed" | "timed_out" | "expired" => GateStatus::Timeout,
        "pending" | "waiting" | "awaiting" => GateStatus::Pending,
        _ => return None,
    })
}

fn find(word: &str) -> Option<&'static StatusWords> {
    let word = word.trim();
    let known = |known: &&str| same(word, known);
    WORDS.iter().find(|(words, ..)| words.iter().any(known))
}

/// Returns whether a text equals an entry of the table; `in_progress` equals `in progress`.
fn same(text: &str, word: &str) -> bool {
    text.len() == word.len()
        && text
            .bytes()
            .zip(word.bytes())
            .all(|(a, b)| a.eq_ignore_ascii_case(&b) || b == b' ' && matches!(a, b'_' | b'-'))
}

/// Returns whether an entry of the table is followed by more text: `complete, 3 files`, but not `error-free`.
fn begins(text: &str, word: &str) -> bool {
    let Some((head, rest)) = text.split_at_checked(word.len()) else {
        return false;
    };
    same(head, word) && rest.starts_with([' ', '\t', ',', ';', ':', '.', '(', '*', '`'])
}

/// Removes Markdown and check marks around a word.
fn plain(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || "*`✓✅✗❌\u{fe0f}".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_means_the_same_however_it_is_written() {
        for (text, expected) in [
            ("complete", Some(RunStatus::Completed)),
            ("COMPLETED", Some(RunStatus::Completed)),
            ("**done**", Some(RunStatus::Completed)),
            ("✅ Finished", Some(RunStatus::Completed)),
            ("succeeded: 3 files", Some(RunStatus::Completed)),
            ("failed (searcher)", Some(RunStatus::Failed)),
            ("`error`", Some(RunStatus::Failed)),
            ("in_progress", Some(RunStatus::Running)),
            ("In-Progress, round 2", Some(RunStatus::Running)),
            ("paused", Some(RunStatus::Interrupted)),
            ("error-free", None),
            ("completely unclear", None),
            ("pending", None),
            ("", None),
            ("✓", None),
        ] {
            assert_eq!(leading_run_status(text), expected, "{text:?}");
        }
    }

    #[test]
    fn words_of_statements_and_of_runs_agree() {
        for (word, status) in of_statements() {
            assert_eq!(Status::parse(word), *status, "{word}");
            let run = RunStatus::parse(word);
            let ended = matches!(status, Status::Completed | Status::Failed);
            assert_eq!(run.is_finished(), ended, "{word}");
        }
    }

    #[test]
    fn no_word_is_listed_twice() {
        let mut words: Vec<&str> = WORDS
            .iter()
            .flat_map(|(words, ..)| words.iter())
            .copied()
            .collect();
        let count = words.len();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), count);
    }
}
