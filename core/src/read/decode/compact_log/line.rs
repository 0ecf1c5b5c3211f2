//! Parses one line of a compact log, such as `3→ plan ✓`, into an event.

use super::words;
use crate::model::time::Stamp;
use crate::model::words::{self as listed, DEFERRED, says_deferred};
use crate::model::{GateStatus, LogEvent, LogLine, RunStatus, Status, Text};

/// The separator between several statements that share one line.
const SEVERAL: &str = " | ";

/// An event, and the note after it.
type NotedEvent<'t> = (LogEvent, Option<&'t str>);

/// The content of a line, before its position in the log is known.
pub(super) struct ParsedLine<'t> {
    number: Option<u32>,
    branch: Option<&'t str>,
    frame: Option<i64>,
    held: Option<bool>,
    event: LogEvent,
    note: Option<&'t str>,
}

impl<'t> ParsedLine<'t> {
    /// Returns a line with an event and a note, but without a branch or frame. `number` is the statement's number.
    pub(super) fn of(
        number: Option<u32>,
        event: LogEvent,
        note: Option<&'t str>,
    ) -> ParsedLine<'t> {
        ParsedLine {
            number,
            branch: None,
            frame: None,
            held: None,
            event,
            note,
        }
    }

    /// Whether the line is more than a remark.
    pub(super) fn is_event(&self) -> bool {
        self.event != LogEvent::Note
    }

    /// Returns the status of the statement on this line.
    pub(super) fn status(&self) -> Option<&Status> {
        match &self.event {
            LogEvent::Statement { status, .. } => status.as_ref(),
            _ => None,
        }
    }

    pub(super) fn at(self, line: u32, raw: &str) -> LogLine {
        let note = self.note.map(str::trim).filter(|n| !n.is_empty());
        let skipped = self.event.is_skipped();
        LogLine {
            line,
            number: self.number,
            branch: self.branch.map(Text::from),
            frame: self.frame,
            held: self.held,
            deferred: skipped && note.is_some_and(says_deferred),
            event: self.event,
            note: note.map(Text::from),
            raw: raw.into(),
        }
    }
}

/// A kind of line: an example, its parser, and the condition under which the kind applies.
type LineKind = (&'static str, fn(&str) -> Option<NotedEvent<'_>>, When);

/// The condition under which a line without a statement number counts as a line of a kind.
#[derive(Clone, Copy, PartialEq)]
enum When {
    /// The line always counts, because its text is unambiguous.
    Always,
    /// The line counts only if it has a frame such as `#1`. Even a line with a statement number needs the frame.
    Framed,
    /// The line counts if it has an arrow or a frame, and its event has a name.
    Named,
    /// The line counts under the same condition as `Named`. The line also records whether a condition held.
    Held,
    /// The line never counts: this kind needs a statement number.
    Numbered,
}
use When::{Always, Framed, Held, Named, Numbered};

/// The kinds of text after an arrow. The first kind that matches a line is used. If no kind matches, the line is a
/// statement's text or a remark.
const KINDS: &[LineKind] = &[
    ("7→ if(false) skip", condition, Held),
    ("5→ #1 done", leave, Framed),
    ("3→ ∥start a,b", fork, Always),
    ("3→ ∥done", join, Always),
    ("5→ retry:2/3", retry, Always),
    ("5→ research retry:2/3", retry_of, Numbered),
    ("5→ loop:2/5", round, Always),
    ("5→ loop exit(**done**)", left_loop, Numbered),
    ("5→ block:implement#1 TASK-001", block, Always),
    ("6→ gate:tests ✓ approved", gate, Always),
    ("6→ gate **all pass** ✗ 3 fail", unnamed_gate, Named),
    ("1→ [input] question ✓", tagged, Named),
    ("5→ [outage] API down", bracketed, Numbered),
    ("9→ exit_condition: every item is done", remark, Numbered),
    ("1→ plan ✓", statement, Named),
];

/// Parses a trimmed line that is not blank. Never fails: unknown text becomes a [`LogEvent::Note`].
pub(super) fn read(line: &str) -> ParsedLine<'_> {
    if let Some(told) = trailer(line) {
        return told;
    }
    let item = line.strip_prefix("- ").or_else(|| line.strip_prefix("* "));
    let item = item.map_or(line, str::trim_start);
    let (number, branch, rest) = numbered(item).unwrap_or((None, None, item));
    let arrow = !std::ptr::eq(rest, item);
    if let Some(status) = ending(rest) {
        return ParsedLine::of(number, LogEvent::Trailer { status, at: None }, None);
    }
    let (frame, rest) = frame(rest);
    let may_be = |when: When| when != Framed || frame.is_some();
    let kinds = KINDS.iter().filter(|(.., when)| may_be(*when));
    let found = kinds
        .into_iter()
        .find_map(|(_, read, when)| Some((*when, read(rest)?)));
    let text = || (Numbered, (LogEvent::statement(rest, None), None));
    let (when, (event, note)) = found.unwrap_or_else(text);
    let is_event = match when {
        _ if number.is_some() => true,
        Always | Framed => true,
        Named | Held => (arrow || frame.is_some()) && event.names_something(),
        Numbered => false,
    };
    if !is_event {
        return ParsedLine::of(None, LogEvent::Note, None);
    }
    ParsedLine {
        branch,
        frame,
        held: (when == Held).then(|| !event.is_skipped()),
        ..ParsedLine::of(number, event, note)
    }
}

/// Reads an end of the run written in words instead of a trailer: `PROGRAM COMPLETE`.
fn ending(text: &str) -> Option<RunStatus> {
    let (what, word) = text
        .trim_matches(['*', '=', '.', '!', ' ', '✓'])
        .split_once(' ')?;
    let is_run = ["program", "workflow", "execution"];
    let is_run = is_run.iter().any(|name| name.eq_ignore_ascii_case(what));
    listed::run_status(word).filter(|status| is_run && status.is_finished())
}

/// Splits `3→ a ✓ | b ✓` into one line per statement: `3→ a ✓` and `3→ b ✓`. Returns an empty list for a line with one
/// statement. A final `(parallel)` makes the statements branches; lines for the start and the end of a parallel block
/// then enclose them.
pub(super) fn pieces(line: &str) -> Vec<String> {
    let Some((_, _, rest)) = numbered(line).filter(|_| line.contains(SEVERAL)) else {
        return Vec::new();
    };
    let pieces = rest.split(SEVERAL).map(str::trim);
    if !pieces.clone().all(|piece| marked(piece).is_some()) {
        return Vec::new();
    }
    let before = line.strip_suffix(rest).unwrap_or_default();
    let parallel = ["(parallel)", "(in parallel)"];
    let Some(rest) = parallel.iter().find_map(|word| rest.strip_suffix(word)) else {
        return pieces.map(|piece| format!("{before}{piece}")).collect();
    };
    let branches = || rest.split(SEVERAL).map(str::trim);
    let names = branches().filter_map(|piece| Some(marked(piece)?.0));
    let names: Vec<&str> = names.collect();
    let mark = words::PARALLEL.first().copied().unwrap_or_default();
    let mut all = vec![format!("{before}{mark}start {}", names.join(","))];
    all.extend(branches().map(|piece| format!("{before}{piece}")));
    all.push(format!("{before}{mark}done"));
    all
}

/// Whether a line is an event with a number and an arrow.
pub(super) fn is_event(line: &str) -> bool {
    numbered(line).is_some_and(|(number, ..)| number.is_some())
}

/// Whether a line is a trailer: `---end`, `---error …`.
pub(super) fn is_trailer(line: &str) -> bool {
    trailer(line).is_some()
}

/// Splits `3a→ rest` into the number, the branch after it, and the rest. An arrow alone has no number.
fn numbered(line: &str) -> Option<(Option<u32>, Option<&str>, &str)> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    if digits > 9 {
        return None;
    }
    let (number, after) = line.split_at_checked(digits)?;
    let end = after
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_')))
        .unwrap_or(after.len());
    let (branch, after) = after.split_at_checked(end)?;
    // A branch has at most eight bytes and follows a number, so `Step->` is text.
    if branch.len() > 8 || (digits == 0 && !branch.is_empty()) {
        return None;
    }
    let after = after.trim_start();
    let rest = begins(after, words::ARROWS)?;
    let branch = Some(branch.trim_matches('.')).filter(|b| !b.is_empty());
    Some((number.parse().ok(), branch, rest.trim()))
}

/// Splits off the frames at the start of a text such as `#1 rest`. Of several frames, returns the last, which is the
/// innermost.
fn frame(text: &str) -> (Option<i64>, &str) {
    let (mut frame, mut rest) = (None, text);
    while let Some((id, after)) = rest.strip_prefix('#').and_then(integer) {
        if !after.is_empty() && !after.starts_with([' ', '\t', ':']) {
            break;
        }
        frame = i64::try_from(id).ok();
        rest = after.trim_start_matches(':').trim_start();
    }
    (frame, rest)
}

/// Reads the end of a frame: `#1 done`, `#1 failed (timeout)`. (`#1 ✓` is an anonymous statement of the frame.)
fn leave(text: &str) -> Option<NotedEvent<'_>> {
    let completed = |word: &str| listed::status(word) == Some(Status::Completed);
    let (status, note) = match marked(text) {
        Some((left, status, note)) if completed(left) => (status, note),
        Some(_) => return None,
        // In `#1 done COMPLETE`, the word `done` ends the frame, whatever text follows it.
        None => {
            let (word, note) = text.split_once([' ', '\t']).unwrap_or((text, ""));
            (listed::status(word)?, Some(plain_reason(note)))
        }
    };
    matches!(status, Status::Completed | Status::Failed)
        .then_some((LogEvent::Leave { status }, note))
}

/// Returns the word after the mark of a parallel block, in lower case, and the text after it: `start` and `a,b` for
/// `∥start a,b`.
fn parallel(text: &str) -> Option<(String, &str)> {
    let (word, rest) = lead(begins(text, words::PARALLEL)?.trim_start());
    let rest = rest.trim_start_matches(':').trim();
    Some((word.to_ascii_lowercase(), rest))
}

/// Reads the start of a parallel block: `∥start a,b`, `∥start [a, b] (first)`.
fn fork(text: &str) -> Option<NotedEvent<'_>> {
    let (word, rest) = parallel(text)?;
    if listed::status(&word) != Some(Status::Started) && word != "begin" {
        return None;
    }
    let (list, note) = noted(rest);
    let names = list.trim_matches(['[', ']', ' ']).split([',', ';']);
    let names = names.map(str::trim).filter(|name| !name.is_empty());
    let branches = names.map(Text::from).collect();
    Some((LogEvent::Fork { branches }, note))
}

/// Reads the end of a parallel block: `∥done`, `∥done ✗`, `∥failed no quorum`.
fn join(text: &str) -> Option<NotedEvent<'_>> {
    let (word, rest) = parallel(text)?;
    let failed = || marked(rest).is_some_and(|(_, status, _)| status == Status::Failed);
    let status = match listed::status(&word) {
        Some(Status::Failed) => Status::Failed,
        None if !matches!(&*word, "end" | "ended" | "join") => return None,
        None | Some(Status::Completed | Status::Joined) if failed() => Status::Failed,
        None | Some(Status::Completed | Status::Joined) => Status::Joined,
        _ => return None,
    };
    let note = rest.trim_start_matches(['✓', '✗', ' ']);
    Some((LogEvent::Join { status }, Some(note)))
}

/// Reads a retry of the numbered statement: `retry:2/3`, `retrying 2 of 3`.
fn retry(text: &str) -> Option<NotedEvent<'_>> {
    let rest = begins(text, &["retrying", "retry"])?;
    let (attempt, max, note) = fraction(rest.strip_prefix([':', ' '])?.trim_start())?;
    let (text, attempt) = (Text::default(), Some(attempt));
    Some((LogEvent::Retry { text, attempt, max }, Some(note)))
}

/// Reads a retry of a named statement: `research retry:2/3`. A sentence that mentions a retry is not an event.
fn retry_of(text: &str) -> Option<NotedEvent<'_>> {
    let (name, rest) = text.split_once([' ', '\t'])?;
    let (mut event, note) = retry(rest.trim_start())?;
    if let LogEvent::Retry { text, .. } = &mut event {
        *text = name.trim_end_matches(':').into();
    }
    Some((event, note))
}

/// Reads a round of a loop: `loop:2/5`, `loop:2/5 exit(**done**)`.
fn round(text: &str) -> Option<NotedEvent<'_>> {
    let counted = begins(text, words::LOOP)?.strip_prefix(':')?;
    let (n, max, rest) = fraction(counted.trim_start())?;
    Some(passed(Some(n), max, rest))
}

/// Reads the end of a loop without a round number: `loop exit(…)`, `loop ✓`.
fn left_loop(text: &str) -> Option<NotedEvent<'_>> {
    let rest = begins(text, words::LOOP).filter(|rest| rest.starts_with([' ', ':']))?;
    let (event, note) = passed(None, None, rest.trim_start_matches(':').trim_start());
    matches!(event, LogEvent::Round { exit: true, .. }).then_some((event, note))
}

/// Returns the event of a round. `rest`, the text after the round's number, determines whether the round or loop ended.
fn passed(n: Option<u32>, max: Option<u32>, rest: &str) -> NotedEvent<'_> {
    let (word, after) = lead(rest);
    let exit = ["exit", "exited", "break"].contains(&&*word.to_ascii_lowercase());
    let completed =
        |(left, status, _): (&str, _, _)| left.is_empty() && status == Status::Completed;
    let over =
        marked(rest).is_some_and(completed) || listed::status(word) == Some(Status::Completed);
    let note = if exit {
        after
    } else {
        rest.trim_start_matches('✓')
    };
    let exit = exit || (n.is_none() && over);
    (
        LogEvent::Round { n, max, over, exit },
        Some(plain_reason(note)),
    )
}

/// Returns a reason without brackets and asterisks: `(**done**)` becomes `done`.
pub(super) fn plain_reason(text: &str) -> &str {
    unbracketed(text.trim()).trim().trim_matches('*').trim()
}

/// Returns a text without the brackets around it.
fn unbracketed(text: &str) -> &str {
    let inner = text.strip_prefix('(').and_then(|t| t.strip_suffix(')'));
    inner.unwrap_or(text)
}

/// Splits off the letters at the start of a text.
fn lead(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_alphabetic());
    text.split_at_checked(end.unwrap_or(text.len()))
        .unwrap_or((text, ""))
}

/// Splits off a note in brackets at the end of a text.
fn noted(text: &str) -> (&str, Option<&str>) {
    match text.strip_suffix(')').and_then(|t| t.rsplit_once(" (")) {
        Some((text, note)) => (text.trim_end(), Some(note)),
        None => (text, None),
    }
}

/// Reads the start of a frame: `block:implement#1 TASK-001`.
fn block(text: &str) -> Option<NotedEvent<'_>> {
    let rest = keyed(text, words::BLOCK)?;
    let end = rest
        .find(|c: char| c.is_whitespace() || c == '#' || c == '(')
        .unwrap_or(rest.len());
    let (block, after) = rest
        .split_at_checked(end)
        .filter(|(name, _)| !name.is_empty())?;
    let (id, after) = match after.strip_prefix('#').and_then(integer) {
        Some((id, after)) => (i64::try_from(id).ok(), after),
        None => (None, after),
    };
    let after = after.trim();
    let (status, note) = match marked(after)
        .or_else(|| worded(after).filter(|(left, ..)| left.is_empty()))
    {
        Some((left, status, note)) => (Some(status), Some(left).filter(|l| !l.is_empty()).or(note)),
        None => (None, Some(after)),
    };
    let block = block.into();
    Some((LogEvent::Enter { block, id, status }, note))
}

/// Reads a gate: `gate:fast_tests ✓ approved`, `gate:"fast tests" pending`.
fn gate(text: &str) -> Option<NotedEvent<'_>> {
    let rest = keyed(text, words::GATE)?;
    let quoted = rest.strip_prefix('"').and_then(|r| r.split_once('"'));
    let (name, rest) = quoted.unwrap_or_else(|| {
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        rest.split_at(end)
    });
    let (status, note) = decision(rest.trim());
    let gate = name.into();
    Some((LogEvent::Gate { gate, status }, Some(note)))
}

/// Reads a gate without an id: `gate ✓ (72/72 tests pass)`, `gate **all tests pass** ✗`.
fn unnamed_gate(text: &str) -> Option<NotedEvent<'_>> {
    let rest = begins(text, words::GATE).filter(|rest| rest.starts_with([' ', '\t']))?;
    let (left, ..) = marked(rest).or_else(|| worded(rest))?;
    let left = left.trim();
    let (status, note) = decision(rest.trim_start().strip_prefix(left)?.trim());
    let gate = left.trim_matches('*').into();
    Some((LogEvent::Gate { gate, status }, Some(note)))
}

/// Reads a gate's decision, and the text after it: `✓ approved by ops`.
fn decision(text: &str) -> (GateStatus, &str) {
    let (mut rest, mut by_mark) = (text, None);
    if let Some((left, status, note)) = marked(text)
        && left.is_empty()
    {
        by_mark = match status {
            Status::Completed => Some(GateStatus::Approved),
            Status::Failed => Some(GateStatus::Rejected),
            _ => Some(GateStatus::Pending),
        };
        rest = note.unwrap_or_default();
    }
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let (word, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
    match listed::gate(word) {
        Some(status) => (status, after),
        None => (by_mark.unwrap_or(GateStatus::Pending), rest),
    }
}

/// Reads a marked statement after a tag, such as `[input] question ✓`, without the tag. A name of several words needs
/// the mark at the end of the line: elsewhere the mark may be part of a sentence.
fn tagged(text: &str) -> Option<NotedEvent<'_>> {
    let (_, rest) = text.strip_prefix('[')?.split_once(']')?;
    let (name, status, note) = marked(rest).filter(|(name, ..)| !name.is_empty())?;
    let is_name = !name.contains([' ', '\t']) || note.is_none_or(str::is_empty);
    is_name.then(|| (LogEvent::statement(name, Some(status)), note))
}

/// Reads a remark: `[outage] …`.
fn bracketed(text: &str) -> Option<NotedEvent<'_>> {
    text.strip_prefix('[')?.split_once(']')?;
    Some((LogEvent::Note, Some(text)))
}

/// Reads a remark with a key, even if it ends in a status word: `exit_condition: every item is done`.
fn remark(text: &str) -> Option<NotedEvent<'_>> {
    let (key, _) = text.split_once(':')?;
    let key = key.trim().to_ascii_lowercase().replace([' ', '-'], "_");
    words::REMARKS
        .contains(&&*key)
        .then_some((LogEvent::Note, Some(text)))
}

/// Reads whether a condition held: `if(false) skip`, `if: false (n is 4)`, `else not executed`, `if (x) -> true`. The
/// event is a statement with the condition as its text and the reason as its note.
fn condition(text: &str) -> Option<NotedEvent<'_>> {
    let word = words::CONDITIONS.iter().find(|word| {
        text.strip_prefix(**word)
            .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    })?;
    let rest = text.get(word.len()..)?;
    // The condition is written in brackets, in asterisks, or only as a value.
    let open = rest.trim_start();
    let end = match (open.strip_prefix('('), open.strip_prefix("**")) {
        (Some(_), _) => rest.len() - open.len() + closing(open)?,
        (_, Some(inner)) => rest.len() - inner.len() + inner.find("**")? + 2,
        _ => 0,
    };
    let (inner, outcome) = rest.split_at_checked(end)?;
    let inner = inner.trim().trim_matches(['(', ')']);
    let outcome = outcome.trim_start_matches([':', '=', '-', '>', '→', '⇒', ' ', '\t']);
    let (held, note) = match (verdict(outcome), verdict(inner)) {
        (Some((held, note)), _) => (held, note),
        // A value without further text: `if(true)`, `if(false) ✓`.
        (None, Some((held, ""))) => (held, outcome),
        _ => return None,
    };
    let note = note.trim_start_matches(|c: char| words::mark(c).is_some());
    let note = plain_reason(note.trim_start_matches([':', ',', ';', ' ']));
    let status = if held {
        Status::Completed
    } else {
        Status::Skipped
    };
    let text = text.get(..word.len() + end)?.trim();
    Some((LogEvent::statement(text, Some(status)), Some(note)))
}

/// Reads from a text's first words whether a condition held or its body ran. Also returns the text after these words.
fn verdict(text: &str) -> Option<(bool, &str)> {
    let text = text.trim();
    let after = |word: &str| {
        let (head, rest) = text.split_at_checked(word.len())?;
        let ends = !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        (head.eq_ignore_ascii_case(word) && ends).then_some(rest.trim_start())
    };
    let passed = words::PASSED_OVER
        .iter()
        .find_map(|word| Some((false, after(word)?)));
    passed.or_else(|| {
        words::HELD.iter().find_map(|(word, held)| {
            // In `no tests yet`, the word `no` begins a text and is not a value.
            let rest = after(word)?;
            let ends = !rest.starts_with(|c: char| c.is_alphanumeric());
            (ends || rest.starts_with("skip")).then_some((*held, rest))
        })
    })
}

/// Returns the offset after the `)` that closes the `(` at the text's start.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_u32;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth = depth.saturating_add(1),
            ')' if depth <= 1 => return Some(at + 1),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

fn statement(text: &str) -> Option<NotedEvent<'_>> {
    let found = marked(text).or_else(|| written(text));
    let (left, status, note) = found.or_else(|| worded(text))?;
    Some((LogEvent::statement(left, Some(status)), note))
}

/// Returns the name and the status in a line such as `3→ gate ✓ rendered`, also if the name is a keyword.
pub(crate) fn marked_name(line: &str) -> Option<(&str, Status)> {
    let (name, status, _) = marked(numbered(line)?.2)?;
    Some((name, status))
}

/// Splits at the first mark outside of brackets: the text before, the status, and the text after.
fn marked(text: &str) -> Option<(&str, Status, Option<&str>)> {
    let mut depth = 0_u32;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => depth = depth.saturating_add(1),
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > 0 {
            continue;
        }
        if let Some(status) = words::mark(c) {
            let left = text
                .get(..at)?
                .trim()
                .trim_end_matches([':', '='])
                .trim_end();
            let after = text
                .get(at + c.len_utf8()..)?
                .trim_start_matches('\u{fe0f}')
                .trim();
            let note = after.trim_start_matches([':', '—', '–']).trim();
            return Some((left, status, Some(note)));
        }
    }
    None
}

/// Reads the path of a written binding, which means completion like a `✓`: `draft → bindings/draft.md`,
/// `→ bindings/draft.md`.
fn written(text: &str) -> Option<(&str, Status, Option<&str>)> {
    if text.starts_with("bindings/") {
        return Some(("", Status::Completed, Some(text)));
    }
    let at = text.find(" bindings/")?;
    let left = text.get(..at)?.trim_end();
    let name = words::ARROWS
        .iter()
        .find_map(|arrow| left.strip_suffix(arrow))?;
    let name = name.trim_end_matches(['-', ' ', '\t']);
    (!name.contains([' ', '\t'])).then(|| (name, Status::Completed, text.get(at..)))
}

/// Reads a status word in the place of a mark, after one name or a keyword: `research done`.
fn worded(text: &str) -> Option<(&str, Status, Option<&str>)> {
    let (text, note) = noted(text);
    let (left, word) = text.rsplit_once([' ', '\t']).unwrap_or(("", text));
    let status = listed::status(word)?;
    // `publish deferred` gives no other reason, so the word `deferred` becomes the note.
    let note = note.or(word.eq_ignore_ascii_case(DEFERRED).then_some(word));
    let left = left.trim();
    let lead = left.split([' ', '(']).next().unwrap_or_default();
    // The words `ALL DONE` do not name a statement.
    let named = !left.contains([' ', '\t']) && !left.eq_ignore_ascii_case("all");
    let is_keyword = matches!(
        lead,
        "if" | "elif"
            | "else"
            | "choice"
            | "option"
            | "exec"
            | "session"
            | "resume"
            | "let"
            | "const"
            | "output"
    );
    (named || is_keyword).then_some((left, status, note))
}

/// The first marker of OpenProse's older narration. A file whose first line begins with this marker is read as a log.
pub(super) const POSITION: &str = "[Position]";

/// Reads the older markers `[Position] Statement 3: let research = …`, `[Success] …` and `[Binding] …`. Older
/// OpenProse texts require them of a VM (sqlite-earlier.md, postgres.md). A marker without a number refers to the
/// statement of the last `[Position]`.
pub(super) fn narrated<'t>(text: &'t str, position: &mut Option<u32>) -> Option<ParsedLine<'t>> {
    let (word, rest) = text.strip_prefix('[')?.split_once(']')?;
    let rest = rest.trim();
    let (event, note) = match word {
        "Position" => {
            let rest = rest.strip_prefix("Statement").unwrap_or(rest);
            let found = integer(rest.trim_start());
            *position = found.and_then(|(number, _)| u32::try_from(number).ok());
            let said = found.map_or("", |(_, said)| said.trim_start_matches(':').trim());
            (LogEvent::statement(said, Some(Status::Executing)), None)
        }
        "Success" => (LogEvent::statement("", Some(Status::Completed)), Some(rest)),
        "Error" | "Failure" => (LogEvent::statement("", Some(Status::Failed)), Some(rest)),
        "Binding" => (LogEvent::Note, Some(rest)),
        _ => return None,
    };
    // A success without an earlier position does not refer to a statement, so the line is a remark.
    let event = position.map_or(LogEvent::Note, |_| event);
    Some(ParsedLine::of(*position, event, note))
}

/// Reads a trailer: `---end 2026-02-13T10:57:50-05:00`, `---resume TS (note)`.
/// The words after a time may correct the word of the trailer.
fn trailer(line: &str) -> Option<ParsedLine<'_>> {
    let rest = line.strip_prefix(words::TRAILER)?.trim_start_matches('-');
    let (word, after) = lead(rest);
    let after = after.trim_start_matches(':').trim();
    let status = match (listed::run_status(word), word.to_ascii_lowercase().as_str()) {
        (Some(status), _) => status,
        (None, "test") if after.to_ascii_uppercase().starts_with("FAIL") => RunStatus::Failed,
        (None, "test") if after.to_ascii_uppercase().starts_with("PASS") => RunStatus::Completed,
        _ => return None,
    };
    let (at, note) = stamp(after);
    // `---end 2026-01-04T10:20:00Z FAILED` is the end of a run that failed.
    let said = listed::leading_run_status(note.trim_start_matches('('));
    let said = said.filter(|said| {
        status == RunStatus::Completed && (said.is_finished() || *said == RunStatus::Interrupted)
    });
    let status = said.unwrap_or(status);
    let event = LogEvent::Trailer { status, at };
    Some(ParsedLine::of(None, event, Some(unbracketed(note))))
}

/// Returns the time at the start of a list item: `- 2026-01-04T10:15:00Z: deployed`.
pub(crate) fn time_of(line: &str) -> Option<Stamp> {
    stamp(line.trim_start_matches(['-', '*', '[', ' '])).0
}

/// Splits off a time of one or two words at the start of a text.
fn stamp(text: &str) -> (Option<Stamp>, &str) {
    let cuts = text.match_indices([' ', '\t']).map(|(at, _)| at).take(2);
    let mut found = (None, text);
    for cut in cuts.chain([text.len()]) {
        let Some((head, rest)) = text.split_at_checked(cut) else {
            continue;
        };
        // Two words count as one time only if they parse together, as a date and a time of day do.
        let at = Stamp::parse(head.trim_end_matches([',', ';', ':', ']']));
        if at.millis().is_some() {
            found = (Some(at), rest.trim());
        }
    }
    found
}

/// Returns the text after its prefix, which must be one of `words`. The first match in `words` is used.
fn begins<'t>(text: &'t str, words: &[&str]) -> Option<&'t str> {
    words.iter().find_map(|word| text.strip_prefix(word))
}

/// Returns the text after one of the keys and a colon, such as `tests` for `gate:tests`; `None` if that text is empty.
fn keyed<'t>(text: &'t str, keys: &[&str]) -> Option<&'t str> {
    let rest = begins(text, keys)?.strip_prefix(':')?.trim_start();
    Some(rest).filter(|rest| !rest.is_empty())
}

/// Reads a number, the maximum, and the rest: `2/5 rest`.
fn fraction(text: &str) -> Option<(u32, Option<u32>, &str)> {
    let (n, rest) = integer(text)?;
    let n = u32::try_from(n).ok()?;
    let Some(after) = rest.strip_prefix('/').or_else(|| rest.strip_prefix(" of ")) else {
        return Some((n, None, rest.trim()));
    };
    match integer(after) {
        Some((max, rest)) => Some((n, u32::try_from(max).ok(), rest.trim())),
        // `loop:2/∞` is a loop without a maximum.
        None => Some((n, None, after.trim_start_matches(['∞', '?', '*', '-', ' ']))),
    }
}

fn integer(text: &str) -> Option<(u64, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at_checked(digits)?;
    Some((number.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn each_kind_has_an_example_of_its_own_which_the_documents_show() {
        // The published crate lacks the repository's folder `docs`. Tests of that crate skip the comparison.
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
        let page = docs.is_dir().then(|| {
            let page = docs.join("reference/formats.md");
            std::fs::read_to_string(page).expect("the page of formats")
        });
        for (at, (example, ..)) in KINDS.iter().enumerate() {
            let (_, _, rest) = numbered(example).unwrap();
            let (frame, rest) = frame(rest);
            let reads = |(_, read, when): &LineKind| {
                (*when != Framed || frame.is_some()) && read(rest).is_some()
            };
            assert_eq!(KINDS.iter().position(reads), Some(at), "{example}");
            if let Some(page) = &page {
                assert!(page.contains(&format!("`{example}`")), "{example}");
            }
        }
    }
}
