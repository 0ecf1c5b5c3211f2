//! The older markers, as the documents have a VM narrate (sqlite-earlier.md, postgres.md):
//!
//! ```text
//! [Position] Statement 3: let research = session: researcher
//! [Success] Session complete, binding written to DB
//! [Binding] research = <stored in state.db>
//! ```

use super::line::Told;
use crate::model::{LogEvent, LogLine, Status};

/// Begins the first of them: what such a file is known by.
pub(super) const POSITION: &str = "[Position]";

/// Reads narrated lines; what has no number speaks of the last position.
#[derive(Default)]
pub(super) struct Narrator {
    position: Option<u32>,
}

impl Narrator {
    /// The line as an event, when it is one of these.
    pub(super) fn read(&mut self, line: u32, text: &str) -> Option<LogLine> {
        let (word, rest) = text.strip_prefix('[')?.split_once(']')?;
        let rest = rest.trim();
        let (event, note) = match word {
            "Position" => {
                let (number, text) = position(rest);
                self.position = number;
                (LogEvent::statement(text, Some(Status::Executing)), None)
            }
            "Success" | "Error" | "Failure" => {
                let status = if word == "Success" {
                    Status::Completed
                } else {
                    Status::Failed
                };
                (LogEvent::statement("", Some(status)), Some(rest))
            }
            "Binding" => (LogEvent::Note, Some(rest)),
            _ => return None,
        };
        let number = self.position;
        // Without a position there is nothing that could have succeeded.
        let event = if number.is_none() {
            LogEvent::Note
        } else {
            event
        };
        Some(Told::of(number, event, note).at(line, text))
    }
}

/// `Statement 3: let research = …`.
fn position(text: &str) -> (Option<u32>, &str) {
    let rest = text.strip_prefix("Statement").unwrap_or(text).trim_start();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let Some((number, after)) = rest.split_at_checked(digits) else {
        return (None, text);
    };
    (number.parse().ok(), after.trim_start_matches(':').trim())
}
