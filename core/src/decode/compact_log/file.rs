//! A whole compact log: header, lines, and the encrypted envelope that may stand before them.

use serde::de::IgnoredAny;

use super::narration::{Narrator, POSITION};
use super::{line, words};
use crate::decode::state_md::lines::{Lines, fence, heading};
use crate::issue::Issue;
use crate::model::{CompactLog, LogEvent, LogLine, RunStatus, Status, Text};

/// Lines that are held; a longer file is shown as its text.
const MOST_LINES: usize = 200_000;
/// Lines before the first event that may belong to the header.
const HEADER_LINES: u32 = 40;

/// Whether a text is a compact log: by its first line, or by the lines behind an envelope.
pub fn looks_like(text: &str) -> bool {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (sealed, body) = body(text);
    let mut lines = body.lines().map(str::trim).filter(|line| !line.is_empty());
    let Some(first) = lines.next() else {
        return false;
    };
    if title(first).is_some() || first.starts_with(POSITION) || line::is_event(first) {
        return true;
    }
    // Behind an envelope anything may come first; a trailer or an event is a log all the same.
    let told = |text: &str| line::is_event(text) || text.starts_with(words::TRAILER);
    sealed && (told(first) || lines.take(HEADER_LINES as usize).any(told))
}

/// Reads a compact log. Never fails: what is odd is an issue (located by line, not yet by file).
pub fn parse(text: &str) -> (CompactLog, Vec<Issue>) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (sealed, body) = body(text);
    let skipped = text.len().saturating_sub(body.len());
    let before = text.get(..skipped).unwrap_or_default();
    let mut reader = Reader {
        log: CompactLog {
            sealed,
            ..CompactLog::default()
        },
        issues: Vec::new(),
        narrator: Narrator::default(),
        cut: false,
    };
    if sealed {
        reader.issues.push(
            Issue::warning("log-sealed", "an encrypted envelope stands before the lines of the log")
                .at_line(1)
                .hint("What it holds is not known; the lines behind it are read, and bindings tell what ran before."),
        );
    }
    let first = u32::try_from(before.matches('\n').count()).unwrap_or(u32::MAX);
    let mut lines = Lines::new(body);
    let mut in_header = true;
    while let Some(text) = lines.next() {
        let number = lines.number.saturating_add(first);
        let text = text.trim();
        if text.is_empty() || fence(text).is_some() {
            continue;
        }
        in_header = in_header && lines.number <= HEADER_LINES && reader.log.lines.is_empty();
        if !(in_header && reader.header(text)) {
            reader.take(number, text);
        }
    }
    reader.finish()
}

/// An envelope's text ends where its JSON does; the log stands behind it.
fn body(text: &str) -> (bool, &str) {
    if !text.trim_start().starts_with('{') {
        return (false, text);
    }
    let mut json = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    let end = match json.next() {
        Some(Ok(_)) => json.byte_offset(),
        // Cut, or damaged: its last line is a bracket alone.
        _ => text.rfind("\n}").map_or(0, |at| at + 2),
    };
    match text.split_at_checked(end) {
        Some((envelope, rest)) if envelope.contains("ENC[") || envelope.contains("\"sops\"") => {
            (true, rest)
        }
        _ => (false, text),
    }
}

/// What stands behind `# run:`.
fn title(line: &str) -> Option<&str> {
    let (_, title) = heading(line)?;
    let (word, rest) = title.split_once(':')?;
    word.trim_end()
        .eq_ignore_ascii_case("run")
        .then(|| rest.trim_start())
}

struct Reader {
    log: CompactLog,
    issues: Vec<Issue>,
    narrator: Narrator,
    cut: bool,
}

impl Reader {
    /// Takes a line of the header; `false` when it is none.
    fn header(&mut self, text: &str) -> bool {
        let word = |text: &str| Some(text.trim()).filter(|t| !t.is_empty()).map(Text::from);
        if let Some(title) = title(text) {
            if self.log.run.is_some() {
                return false;
            }
            let (id, program) = title.split_once(char::is_whitespace).unwrap_or((title, ""));
            self.log.run = Some(id.into());
            self.log.program = word(program);
            return true;
        }
        let Some((key, value)) = text.split_once(':') else {
            return false;
        };
        // `root: x  # always present`
        let value = value.split(" #").next().unwrap_or_default();
        match key.trim().to_ascii_lowercase().as_str() {
            "program" => self.log.program = self.log.program.take().or_else(|| word(value)),
            "root" => self.log.root = word(value),
            "upstream" => {
                let ids = value.trim().trim_matches(['[', ']']).split(',');
                self.log.upstream = ids.filter_map(word).collect();
            }
            _ => return false,
        }
        true
    }

    fn take(&mut self, number: u32, text: &str) {
        if self.log.lines.len() >= MOST_LINES {
            if !self.cut {
                self.cut = true;
                let message = format!("the log has more than {MOST_LINES} lines");
                self.issues.push(
                    Issue::warning("log-cut", message)
                        .at_line(number)
                        .hint("The rest is not held; the file itself shows it."),
                );
            }
            // The last trailer counts wherever it stands.
            let told = line::read(text).at(number, text);
            if let LogEvent::Trailer { .. } = told.event {
                self.trailer(&told);
                self.log.lines.push(told);
            }
            return;
        }
        let told = match self.narrator.read(number, text) {
            Some(told) => told,
            None => line::read(text).at(number, text),
        };
        self.trailer(&told);
        self.log.lines.push(told);
    }

    /// The newest trailer counts: a resumed run goes on behind an earlier one.
    fn trailer(&mut self, told: &LogLine) {
        let LogEvent::Trailer { status, at } = &told.event else {
            return;
        };
        let at = at.clone();
        (self.log.status, self.log.ended, self.log.trailer) = match status {
            RunStatus::Running => (None, None, None),
            status => (
                Some(status.clone()),
                at,
                u32::try_from(self.log.lines.len()).ok(),
            ),
        };
    }

    fn finish(mut self) -> (CompactLog, Vec<Issue>) {
        self.after_the_end();
        (self.log, self.issues)
    }

    /// Statements behind `---end` or `---error`, and no `---resume` between.
    fn after_the_end(&mut self) {
        let Some(trailer) = self.log.trailer else {
            return;
        };
        let later = self
            .log
            .lines
            .get(trailer as usize + 1..)
            .unwrap_or_default();
        let goes_on = later.iter().find(|line| {
            let told = !matches!(
                line.event,
                LogEvent::Note
                    | LogEvent::Trailer { .. }
                    | LogEvent::Statement { status: None, .. }
            );
            told && !matches!(
                line.event,
                LogEvent::Statement {
                    status: Some(Status::Skipped),
                    ..
                }
            )
        });
        let Some(line) = goes_on else { return };
        let end = self.log.lines.get(trailer as usize).map_or("", |l| &*l.raw);
        let message = format!(
            "the log goes on behind \u{201c}{end}\u{201d}, and no ---resume stands between"
        );
        self.issues.push(
            Issue::warning("log-after-end", message)
                .at_line(line.line)
                .hint("The later lines are shown; the trailer is believed for the run's status."),
        );
    }
}
