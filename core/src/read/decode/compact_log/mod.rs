//! Parses the compact log of form B, one event per line (docs/reference/formats.md), and the older narration of
//! OpenProse (sqlite-earlier.md and postgres.md, "What the VM Must Narrate").
//!
//! ```
//! use prosescope_core::read::decode::compact_log;
//! use prosescope_core::model::{LogEvent, RunStatus};
//! let (log, issues) = compact_log::parse("# run:r1 p.prose\n1→ plan ✓\n---end 2026-02-13T10:57:50-05:00\n");
//! assert_eq!((log.head.run.as_deref(), log.status, issues.len()), (Some("r1"), Some(RunStatus::Completed), 0));
//! assert!(matches!(&log.lines[0].event, LogEvent::Statement { text, .. } if &**text == "plan"));
//! ```
//!
//! `words` lists the marks and keywords for reading and writing; `line` parses single lines, including the older
//! markers; `headings` parses logs without marks; `file` parses a whole text. Most lines follow this grammar:
//!
//! ```text
//! log       header? line*                          an encrypted JSON envelope may replace the header
//! header    "# run:" id program?, then "program:" | "root:" | "upstream: [" id,* "]"
//! line      event | trailer | narration | text
//! event     number branch? arrow ("#" frame)? told note?
//! arrow     "→" | "->"
//! told      name? "✓" | name? "✗" error | "⊘" reason | condition "skip"
//!           "∥start" name,* | "∥done"
//!           "loop:" n "/" max ("exit(" reason ")")? | "retry:" n "/" max
//!           "block:" name ("#" frame)? argument? | "done"              (the latter after "#" frame)
//!           "gate:" name ("✓ approved" | "✗ rejected" | "pending" | …)
//!           text
//! trailer   "---end" time | "---error" time message | "---resume" time note
//! narration "[Position] Statement " n ": " text | "[Success]" text | "[Binding]" text
//! ```
//!
//! Real logs extend the grammar freely, so parsing never fails: an unknown line is kept as a note.

mod file;
mod headings;
mod line;
#[cfg(test)]
mod tests;
pub(crate) mod words;

pub(crate) use file::{has_events, is_log_title, own_part};
pub use file::{looks_like, parse};
pub(crate) use line::{marked_name, time_of};
