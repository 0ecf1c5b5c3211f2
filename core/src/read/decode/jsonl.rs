//! Reads logs with one JSON object per line: `gates/audit.jsonl`, `x_events.jsonl`, `receipts.jsonl`.
//!
//! A line that is not JSON becomes an issue, and all other lines are still read. The JSON reader limits the nesting
//! depth, so a hostile line cannot overflow the stack.

use serde_json::{Map, Value};

use super::fields::Fields;
use crate::model::Text;
use crate::model::issue::{Issue, Issues};

/// Maximum number of lines read of a log.
const MOST_LINES: usize = 1_000_000;

/// Passes each line that is a JSON object to `take`, with its line number. Other lines, and lines for which `take`
/// returns an error, become issues.
pub(crate) fn lines(
    log: &str,
    mut take: impl FnMut(i64, Map<String, Value>) -> Result<(), String>,
) -> Vec<Issue> {
    with_text(log, |number, _, object| take(number, object)).issues
}

/// Defects of a log's lines.
pub(crate) struct LineDefects {
    pub(crate) issues: Vec<Issue>,
    /// Whether the last line is not readable and has no line end, because its writing was interrupted.
    pub(crate) torn: bool,
}

/// Passes each line that is a JSON object to `take`, with its number and its text.
pub(crate) fn with_text(
    log: &str,
    mut take: impl FnMut(i64, &str, Map<String, Value>) -> Result<(), String>,
) -> LineDefects {
    let mut torn = false;
    let mut issues = Issues::default();
    let log = log.strip_prefix('\u{feff}').unwrap_or(log);
    let mut all = (1..).zip(log.lines()).peekable();
    while let Some((number, line)) = all.next() {
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        if number > MOST_LINES as i64 {
            let message = format!("the log has more than {MOST_LINES} lines");
            issues.add(
                Issue::warning("log-cut", message)
                    .hint("The remaining lines are not read. Open the file itself to see them."),
            );
            break;
        }
        let why = match serde_json::from_str(line) {
            Ok(Value::Object(object)) => take(number, line, object).err(),
            Ok(_) => Some("the line is JSON, but not an object".to_owned()),
            Err(error) => Some(error.to_string()),
        };
        if let Some(why) = why {
            torn = all.peek().is_none() && !log.ends_with('\n');
            let at = u32::try_from(number).unwrap_or(u32::MAX);
            let which = if torn {
                "the last line is cut off"
            } else {
                "a line is not readable"
            };
            issues.add(malformed(format!("{which}: {why}")).at_line(at));
        }
    }
    let issues = issues.finish();
    LineDefects { issues, torn }
}

pub(super) fn malformed(message: String) -> Issue {
    Issue::warning("malformed-json", message)
        .hint("The unreadable part was skipped. Open the file itself to see that part.")
}

/// Converts a JSON value to the text that a database stores for it in a TEXT column; `None` for null.
pub(crate) fn text(value: &Value) -> Option<Text> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.as_str().into()),
        other => Some(other.to_string().into()),
    }
}

pub(crate) fn integer(value: &Value) -> Option<i64> {
    text(value)?.trim().parse().ok()
}

/// A JSON object whose keys are the columns of an OpenProse table.
impl Fields for Map<String, Value> {
    fn text(&mut self, column: &str) -> Option<Text> {
        self.get(column).and_then(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_log_without_an_end_the_first_million_lines_are_read() {
        let mut taken = 0;
        let issues = lines(&"{}\n".repeat(1_000_002), |_, _| {
            taken += 1;
            Ok(())
        });
        assert_eq!(taken, 1_000_000);
        let rules: Vec<&str> = issues.iter().map(|issue| issue.rule.as_str()).collect();
        assert_eq!(rules, ["log-cut"]);
    }
}
