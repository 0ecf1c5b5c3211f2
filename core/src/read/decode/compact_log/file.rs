//! Parses a whole compact log: a header, then one event per line. An encrypted envelope may precede the header.

use std::borrow::Cow;

use serde::de::IgnoredAny;

use super::{headings, line};
use crate::model::issue::Issue;
use crate::model::time::Stamp;
use crate::model::{CompactLog, LogEvent, LogLine, RunStatus};
use crate::read::decode::state_md::lines::{Lines, fence, heading};
use crate::read::decode::{preamble, sealed};

/// Maximum number of parsed lines; the rest of a longer file is only shown as text.
const MOST_LINES: usize = 200_000;
/// Maximum number of lines of the header, which is searched at the start of a log, before the first event.
const HEADER_LINES: u32 = 40;

/// Whether a text is a compact log, judged by its first line or by the lines after an envelope.
pub fn looks_like(text: &str) -> bool {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let text = preamble::front_matter(text).map_or(text, |(_, rest)| rest);
    let (sealed, body) = body(text);
    let mut lines = body.lines().map(str::trim).filter(|line| !line.is_empty());
    let Some(first) = lines.next() else {
        return false;
    };
    if title(first).is_some()
        || first.starts_with(line::POSITION)
        || line::is_event(first)
        || line::is_trailer(first)
    {
        return true;
    }
    // Other texts may have the title of a log, so an event must follow the title.
    if heading(first).is_some_and(|(_, title)| is_log_title(title)) {
        return lines.take(HEADER_LINES as usize).any(line::is_event);
    }
    // After an envelope, the first line may be any text. A later trailer or event still identifies a log.
    let is_record = |text: &str| line::is_event(text) || line::is_trailer(text);
    sealed && (is_record(first) || lines.take(HEADER_LINES as usize).any(is_record))
}

/// Whether one of the first lines of a state file without a known title is an event of a log.
pub(crate) fn has_events(text: &str) -> bool {
    let mut lines = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .take(HEADER_LINES as usize);
    !text.trim_start().starts_with('{') && lines.any(line::is_event)
}

/// Returns a log without the parts that belong to other runs, and an issue for each other run. A part begins with a
/// heading `# run:{id}`. The parts with the id `folder` are the run's own; without such a part, those with the first id.
/// The lines of other parts become blank, so that line numbers stay.
pub(crate) fn own_part<'t>(text: &'t str, folder: &str) -> (Cow<'t, str>, Vec<Issue>) {
    let id = |line: &'t str| title(line.trim())?.split_whitespace().next();
    let mut ids: Vec<&str> = text.lines().filter_map(id).collect();
    ids.dedup();
    let Some(own) = ids
        .iter()
        .find(|id| **id == folder)
        .or(ids.first())
        .copied()
    else {
        return (Cow::Borrowed(text), Vec::new());
    };
    if ids.len() == 1 {
        return (Cow::Borrowed(text), Vec::new());
    }
    let (mut kept, mut issues) = (String::with_capacity(text.len()), Vec::new());
    let mut current = ids.first().copied().unwrap_or(own);
    for (number, line) in (1..).zip(text.lines()) {
        let before = current;
        current = id(line).unwrap_or(current);
        if current == own {
            kept.push_str(line);
        } else if issues.len() < 10 && (current != before || number == 1) {
            let message = format!("the log continues with another run, {current}");
            issues.push(
                Issue::warning("another-run", message)
                    .at_line(number)
                    .hint("The lines of the other run are not read. Keep a folder for each run."),
            );
        }
        kept.push('\n');
    }
    (Cow::Owned(kept), issues)
}

/// Parses a compact log. Never fails: each defect becomes an issue with a line, but not yet with a file.
pub fn parse(text: &str) -> (CompactLog, Vec<Issue>) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let matter = preamble::front_matter(text);
    let (sealed, body) = body(matter.map_or(text, |(_, rest)| rest));
    let skipped = text.len().saturating_sub(body.len());
    let before = text.get(..skipped).unwrap_or_default();
    let mut reader = LogReader {
        log: CompactLog {
            sealed,
            ..CompactLog::default()
        },
        issues: Vec::new(),
        position: None,
        resumed: false,
        ended: None,
        cut: false,
    };
    for line in matter.map_or("", |(head, _)| head).lines() {
        if let Some(pair) = preamble::pair(line) {
            reader.pair(&pair, true);
        }
    }
    if sealed {
        reader.issues.push(
            Issue::warning("log-sealed", "the beginning of the log is encrypted")
                .at_line(1)
                .hint("Decrypt the log. Until then, only the lines after the encrypted part are read, and only bindings show what ran before."),
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
            reader.named(text);
            reader.take(number, text);
        }
    }
    reader.finish()
}

/// Returns whether an encrypted envelope begins the text, and the log after the envelope. The envelope ends where its
/// JSON or its armor ends.
fn body(text: &str) -> (bool, &str) {
    if let Some(end) = sealed::armor_end(text) {
        return (true, text.get(end..).unwrap_or_default());
    }
    if !text.trim_start().starts_with('{') {
        return (false, text);
    }
    let mut json = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    let end = match json.next() {
        Some(Ok(_)) => json.byte_offset(),
        // If the JSON is cut or damaged, the envelope ends at the last line that begins with `}`.
        _ => text.rfind("\n}").map_or(0, |at| at + 2),
    };
    match text.split_at_checked(end) {
        Some((envelope, rest)) if sealed::is_sealed(envelope) => (true, rest),
        _ => (false, text),
    }
}

/// Whether a heading is the title of a log: `vm.log`, `VM Log`, `VM execution log`.
pub(crate) fn is_log_title(title: &str) -> bool {
    log_title(title).is_some()
}

/// Returns the text after the name of a log in a title, such as ` — layoffs run r1` for `vm.log — layoffs run r1`.
fn log_title(title: &str) -> Option<&str> {
    ["vm.log", "vm log", "vm execution log"]
        .iter()
        .find_map(|name| {
            let (head, rest) = title.split_at_checked(name.len())?;
            head.eq_ignore_ascii_case(name).then_some(rest)
        })
}

/// Returns the text after `# run:`; `None` for any other line.
fn title(line: &str) -> Option<&str> {
    let (_, title) = heading(line)?;
    let (word, rest) = title.split_once(':')?;
    word.trim_end()
        .eq_ignore_ascii_case("run")
        .then(|| rest.trim_start())
}

struct LogReader {
    log: CompactLog,
    issues: Vec<Issue>,
    /// The statement number of the last `[Position]` line of OpenProse's older narration.
    position: Option<u32>,
    /// Whether the last trailer is a `---resume`.
    resumed: bool,
    /// Time of the last trailer; `None` if the last trailer is a `---resume`.
    ended: Option<Stamp>,
    cut: bool,
}

impl LogReader {
    /// Reads a line of the header; returns `false` if the line does not belong to the header.
    fn header(&mut self, text: &str) -> bool {
        if let Some(title) = title(text) {
            if self.log.head.run.is_some() {
                return false;
            }
            let (id, program) = title.split_once(char::is_whitespace).unwrap_or((title, ""));
            self.log.head.take("run", id);
            // A program in the title takes precedence over a program in front matter.
            let before = self.log.head.program.take();
            self.log.head.take("program", program);
            self.log.head.program = self.log.head.program.take().or(before);
            return true;
        }
        if let Some((level, title)) = heading(text) {
            if let Some(rest) = log_title(title) {
                self.titled(rest);
                return true;
            }
            // `# Program: p.prose` is a header field. Other headings of level 1 are titles without data, and deeper
            // headings belong to the log's body.
            let pair = preamble::pair(title);
            return pair.map_or(level == 1, |pair| self.pair(&pair, false));
        }
        if line::read(text).is_event() {
            return false;
        }
        preamble::pair(text).is_some_and(|pair| self.pair(&pair, pair.marked))
    }

    /// Reads the program and the run's id from a title such as `# vm.log — layoffs run 20260104-101500-abc123`. `rest`
    /// is the text after `vm.log`.
    fn titled(&mut self, rest: &str) {
        let rest = rest.trim_start().strip_prefix(['—', '–', '-', ':']);
        let Some((program, id)) = rest.and_then(|rest| rest.split_once(" run ")) else {
            return;
        };
        self.log.head.take("program", program);
        self.log.head.take("run", id);
    }

    /// Reads the program from a line such as `- system: layoffs` at the top of a log, unless the program is already
    /// known.
    fn named(&mut self, text: &str) {
        let is_top = self.log.lines.len() < HEADER_LINES as usize;
        let pair = preamble::pair(text).filter(|pair| is_top && pair.marked);
        if let Some(pair) = pair.filter(|pair| matches!(pair.key, "system" | "program")) {
            self.log.head.take("program", pair.value);
        }
    }

    /// Reads a key of the header; returns `false` for an unknown key. With `keep`, an unknown key is kept as a fact
    /// of the run.
    fn pair(&mut self, pair: &preamble::Pair<'_>, keep: bool) -> bool {
        // A comment may follow the value: `root: x  # always present`.
        let value = pair.value.split(" #").next().unwrap_or_default();
        let head = &mut self.log.head;
        if keep {
            head.take_or_keep(pair.key, value)
        } else {
            head.take(pair.key, value)
        }
    }

    fn take(&mut self, number: u32, text: &str) {
        if self.log.lines.len() >= MOST_LINES {
            if !self.cut {
                self.cut = true;
                let message = format!("the log has more than {MOST_LINES} lines");
                self.issues.push(
                    Issue::warning("log-cut", message).at_line(number).hint(
                        "The remaining lines are not read. Open the file itself to see them.",
                    ),
                );
            }
            // Lines after the maximum are still searched for trailers, because the last trailer determines the status.
            let parsed = line::read(text).at(number, text);
            if let LogEvent::Trailer { .. } = parsed.event {
                self.trailer(&parsed);
                self.log.lines.push(parsed);
            }
            return;
        }
        if let Some(parsed) = line::narrated(text, &mut self.position) {
            self.add_line(parsed.at(number, text));
            return;
        }
        let pieces = line::pieces(text);
        if pieces.is_empty() {
            self.add_line(line::read(text).at(number, text));
        }
        for piece in pieces {
            self.add_line(line::read(&piece).at(number, text));
        }
    }

    fn add_line(&mut self, told: LogLine) {
        self.trailer(&told);
        self.log.lines.push(told);
    }

    /// Keeps the status of the newest trailer, because a resumed run continues after an earlier trailer.
    fn trailer(&mut self, told: &LogLine) {
        let LogEvent::Trailer { status, at } = &told.event else {
            return;
        };
        self.resumed = *status == RunStatus::Running;
        (self.log.status, self.log.trailer) = match status {
            RunStatus::Running => (None, None),
            status => (
                Some(status.clone()),
                u32::try_from(self.log.lines.len()).ok(),
            ),
        };
        self.ended = at.clone().filter(|_| !self.resumed);
    }

    fn finish(mut self) -> (CompactLog, Vec<Issue>) {
        self.status_in_last_line();
        headings::read(&mut self.log);
        let reopened = self.after_the_end();
        // A status in the head was written before the run resumed. In a resumed run, only `completed` still counts.
        let log = &mut self.log;
        let completed = log.head.status == Some(RunStatus::Completed);
        if log.status.is_none() && (completed || !(self.resumed || reopened)) {
            log.status.clone_from(&log.head.status);
            log.ended.clone_from(&log.head.ended);
        } else {
            log.ended = self.ended.take();
        }
        (self.log, self.issues)
    }

    /// Reads the run's status from a last line such as `- outcome: shortfall`.
    fn status_in_last_line(&mut self) {
        let last = self.log.lines.last();
        let pair = last.filter(|line| line.event == LogEvent::Note);
        let pair = pair.and_then(|line| preamble::pair(&line.raw));
        if let Some(pair) = pair.filter(|pair| pair.key.eq_ignore_ascii_case("outcome")) {
            self.log.head.take(pair.key, pair.value);
        }
    }

    /// Detects statements after `---end` or `---error` without a `---resume` in between. Such a run continued after its
    /// recorded end, and its real end is not recorded.
    fn after_the_end(&mut self) -> bool {
        let Some(trailer) = self.log.trailer else {
            return false;
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
            told && !line.event.is_skipped()
        });
        let Some(line) = goes_on else { return false };
        let end = self.log.lines.get(trailer as usize).map_or("", |l| &*l.raw);
        let message = format!(
            "the log continues after its end, \u{201c}{end}\u{201d}, without a line `---resume`"
        );
        self.issues.push(
            Issue::warning("log-after-end", message)
                .at_line(line.line)
                .hint(
                    "The later lines are shown, so the run counts as continued, and its end as not recorded.",
                ),
        );
        (self.log.status, self.log.trailer, self.ended) = (None, None, None);
        true
    }
}
