//! Parses the keys under the title of a state.md.

use super::MOST_EXTRAS;
use super::read::{SHOWN, StateReader};
use super::table::cell_text;
use crate::model::issue::Issue;
use crate::model::text::short;
use crate::model::time::Stamp;
use crate::model::{RunStatus, Text, words};
use crate::read::decode::preamble::unbold;
use crate::read::decode::text::{is_nothing, unescape};

/// Maximum bytes of a key; a colon after more text belongs to a sentence.
const LONGEST_KEY: usize = 400;

impl StateReader<'_> {
    pub(super) fn header(&mut self, text: &str) {
        let item = text
            .strip_prefix("- ")
            .or_else(|| text.strip_prefix("* "))
            .unwrap_or(text);
        let item = unbold(item);
        let Some((key, value)) = item
            .split_once(':')
            .filter(|(key, _)| !key.trim().is_empty() && key.len() <= LONGEST_KEY)
        else {
            self.keep(text);
            return;
        };
        let raw = value.trim();
        let value: Option<Text> = (!is_nothing(raw)).then(|| cell_text(raw));
        let key = key.trim();
        match header_key(key).unwrap_or_default() {
            "run" if self.file.run.is_none() => self.file.run = value,
            "program" if self.file.program.is_none() => self.file.program = value,
            "started" if self.file.started.is_none() => self.file.started = self.time(key, value),
            "updated" if !self.seen.updated => {
                self.seen.updated = true;
                // `updated:` takes precedence over an earlier `completed:`, whose time is kept under an extra key.
                if let Some(before) = self.file.updated.take() {
                    self.file
                        .extra
                        .push(("completed".into(), before.to_string().into()));
                }
                self.file.updated = self.time(key, value);
            }
            "completed" if self.file.updated.is_none() && !self.seen.updated => {
                self.file.updated = self.time(key, value);
            }
            "status" if self.file.status.is_none() => {
                self.file.status = value.map(|_| run_status(raw));
            }
            _ if self.file.extra.len() < MOST_EXTRAS => {
                self.file
                    .extra
                    .push((unescape(key).into(), value.unwrap_or_default()));
            }
            _ => self.keep(text),
        }
    }

    fn time(&mut self, key: &str, value: Option<Text>) -> Option<Stamp> {
        let stamp = Stamp::parse(&value?);
        if let Stamp::Odd(text) = &stamp {
            let message = format!(
                "\u{201c}{}\u{201d} under `{}` is not a time",
                short(text, SHOWN),
                short(key, SHOWN)
            );
            self.issue(
                Issue::warning("unreadable-time", message).hint("The text is shown as written."),
            );
        }
        Some(stamp)
    }
}

/// Returns a header key as state.md spells it, if it is one of the keys that OpenProse defines.
pub(crate) fn header_key(raw: &str) -> Option<&'static str> {
    Some(
        match raw.trim().to_lowercase().replace([' ', '-'], "_").as_str() {
            "run" | "run_id" => "run",
            "program" => "program",
            "started" | "started_at" => "started",
            "updated" | "updated_at" => "updated",
            "completed" | "completed_at" | "ended" | "ended_at" | "finished" | "finished_at" => {
                "completed"
            }
            "status" => "status",
            _ => return None,
        },
    )
}

/// Parses a run's status from the first words of a text. Other texts become [`RunStatus::Other`].
pub(crate) fn run_status(raw: &str) -> RunStatus {
    words::leading_run_status(raw).unwrap_or_else(|| RunStatus::Other(cell_text(raw)))
}
