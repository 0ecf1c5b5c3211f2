//! The words that say how a statement or a run stands: the one table for rows, state files, heads, logs, records and
//! receipts. What a store writes is the first word of a line, by [`Status::word`] and [`RunStatus::word`].

use super::{GateStatus, RunStatus, Status};

/// An enum of words, which keeps any other word in its variant `Other`: `word`, and after `parse` also the other way.
macro_rules! words {
    ($(#[$doc:meta])* pub enum $name:ident {
        $($(#[$of:meta])* $variant:ident = $word:literal,)*
    }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum $name {
            $($(#[$of])* $variant,)*
            /// Another word, as written; empty where there is none.
            Other($crate::model::Text),
        }

        impl $name {
            /// Those that are known.
            #[cfg(feature = "typescript")]
            pub const WORDS: &'static [&'static str] = &[$($word),*];

            /// The word, as the documents write it.
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
            /// Reads a word; only those of the documents are known, all else is kept as written.
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

/// Words, how a statement stands that bears one of them, and how a run stands. In lower case; `_` and `-` count as
/// blanks.
const WORDS: &[Row] = &[
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
        &["waiting", "blocked"],
        Some(Status::Waiting),
        Some(RunStatus::Waiting),
    ),
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

/// Words of one meaning.
type Row = (&'static [&'static str], Option<Status>, Option<RunStatus>);

/// A kind of skipping that does not end a statement (errata T2).
pub(crate) const DEFERRED: &str = "deferred";

/// Returns whether the reason of a skipped statement begins with that word.
pub(crate) fn says_deferred(reason: &str) -> bool {
    let reason = reason.trim_start_matches(['(', '*', ' ']);
    let end = reason
        .find(|c: char| !c.is_alphabetic())
        .unwrap_or(reason.len());
    reason
        .get(..end)
        .is_some_and(|word| word.eq_ignore_ascii_case(DEFERRED))
}

/// Returns how a statement stands, by one word (or the few of `in progress`) alone.
pub(crate) fn status(word: &str) -> Option<Status> {
    find(word).and_then(|(_, status, _)| status.clone())
}

/// Returns how a run stands, by one word alone.
pub(crate) fn run_status(word: &str) -> Option<RunStatus> {
    find(word).and_then(|(.., status)| status.clone())
}

/// Returns how a statement stands and the rest, by the words that a text begins with: `complete (bindings/a.md)`,
/// `✓ done`, `**executing**`.
pub(crate) fn leading_status(text: &str) -> Option<Status> {
    leading(text, |(_, status, _)| status.as_ref()).cloned()
}

/// Returns how a run stands, by the words that a text begins with.
pub(crate) fn leading_run_status(text: &str) -> Option<RunStatus> {
    leading(text, |(.., status)| status.as_ref()).cloned()
}

/// Returns what a text means that is a word of the table, or else begins with one; words that do not mean anything of that
/// kind are passed over.
fn leading<T>(
    text: &str,
    meaning: impl Fn(&'static Row) -> Option<&'static T>,
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

/// Returns each word for how a statement stands, with its meaning.
pub(crate) fn of_statements() -> impl Iterator<Item = (&'static str, &'static Status)> {
    WORDS.iter().flat_map(|(words, status, _)| {
        let status = status.as_ref();
        words.iter().filter_map(move |word| Some((*word, status?)))
    })
}

/// Returns what a word or mark after a gate's name decides. The table of gates has its own four words
/// ([`GateStatus::parse`]): a gate is never approved by a word that only resembles them.
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

fn find(word: &str) -> Option<&'static Row> {
    let word = word.trim();
    let known = |known: &&str| same(word, known);
    WORDS.iter().find(|(words, ..)| words.iter().any(known))
}

/// Whether a text is a word of the table; `in_progress` is `in progress`.
fn same(text: &str, word: &str) -> bool {
    text.len() == word.len()
        && text
            .bytes()
            .zip(word.bytes())
            .all(|(a, b)| a.eq_ignore_ascii_case(&b) || b == b' ' && matches!(a, b'_' | b'-'))
}

/// Whether a text goes on after a word of the table: `complete, 3 files`, but not `error-free`.
fn begins(text: &str, word: &str) -> bool {
    let Some((head, rest)) = text.split_at_checked(word.len()) else {
        return false;
    };
    same(head, word) && rest.starts_with([' ', '\t', ',', ';', ':', '.', '(', '*', '`'])
}

/// Removes what Markdown and check marks put around a word.
fn plain(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || "*`✓✔✅☑✗✘❌✖\u{fe0f}".contains(c))
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
