//! One line of a compact log.

use super::words;
use crate::model::words::{self as listed, DEFERRED, says_deferred};
use crate::model::{GateStatus, LogEvent, LogLine, RunStatus, Status, Text};
use crate::time::Stamp;

/// Between the statements that one line tells of.
const SEVERAL: &str = " | ";

/// What is told, and the note behind it.
type Event<'t> = (LogEvent, Option<&'t str>);

/// What a line says, before it is put in its place.
pub(super) struct Told<'t> {
    number: Option<u32>,
    branch: Option<&'t str>,
    frame: Option<i64>,
    held: Option<bool>,
    event: LogEvent,
    note: Option<&'t str>,
}

impl<'t> Told<'t> {
    /// An event of a statement that is known by its number.
    pub(super) fn of(number: Option<u32>, event: LogEvent, note: Option<&'t str>) -> Told<'t> {
        Told {
            number,
            branch: None,
            frame: None,
            held: None,
            event,
            note,
        }
    }

    /// Whether it is more than a remark.
    pub(super) fn is_event(&self) -> bool {
        self.event != LogEvent::Note
    }

    /// How the statement that it tells of stands.
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

/// Reads a line that is not blank, trimmed. Never fails: what is not understood is a [`LogEvent::Note`].
pub(super) fn read(line: &str) -> Told<'_> {
    if let Some(told) = trailer(line) {
        return told;
    }
    let item = line.strip_prefix("- ").or_else(|| line.strip_prefix("* "));
    let item = item.map_or(line, str::trim_start);
    let (number, branch, rest) = match numbered(item) {
        Some((Some(number), branch, rest)) => (Some(number), branch, rest),
        // Without a number only what can be nothing else is an event: `∥done`, `loop:2/5`, `#1 done`.
        Some((None, _, rest)) => (None, None, rest),
        None => (None, None, item),
    };
    let arrow = !std::ptr::eq(rest, item);
    if let Some(status) = ending(rest) {
        return Told::of(number, LogEvent::Trailer { status, at: None }, None);
    }
    let (frame, rest) = frame(rest);
    let condition = condition(rest);
    let held = condition.as_ref().map(|(held, ..)| *held);
    let (event, note) = match condition {
        Some((_, event, note)) => (event, note),
        None => told(rest, frame.is_some()),
    };
    let certain = match &event {
        _ if number.is_some() => true,
        LogEvent::Statement { text, status } => {
            status.is_some() && !text.is_empty() && (arrow || frame.is_some())
        }
        LogEvent::Gate { gate, .. } => !gate.is_empty() && (arrow || rest.contains(':')),
        LogEvent::Round { n, .. } => n.is_some(),
        LogEvent::Retry { attempt, text, .. } => attempt.is_some() && text.is_empty(),
        LogEvent::Leave { .. } => frame.is_some(),
        LogEvent::Fork { .. } | LogEvent::Join { .. } | LogEvent::Enter { .. } => true,
        LogEvent::Trailer { .. } | LogEvent::Note => false,
    };
    if certain {
        Told {
            number,
            branch,
            frame,
            held,
            event,
            note,
        }
    } else {
        Told::of(None, LogEvent::Note, None)
    }
}

/// `PROGRAM COMPLETE`: the end in words, in a trailer's place.
fn ending(text: &str) -> Option<RunStatus> {
    let (what, word) = text
        .trim_matches(['*', '=', '.', '!', ' ', '✓'])
        .split_once(' ')?;
    let is_run = ["program", "workflow", "execution"];
    let is_run = is_run.iter().any(|name| name.eq_ignore_ascii_case(what));
    listed::run_status(word).filter(|status| is_run && status.is_finished())
}

/// `3→ a ✓ | b ✓`: several statements in one line, each under its number. Empty when there is one. Where `(parallel)` ends
/// the line they are branches, between the marks of a parallel.
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

/// `3a→ rest`: number, what stands behind it, and the rest. An arrow alone has no number.
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
    // `Step->` is a text; a branch is a letter or a few, or a step of a step.
    if branch.len() > 8 || (digits == 0 && !branch.is_empty()) {
        return None;
    }
    let after = after.trim_start();
    let rest = words::ARROWS
        .iter()
        .find_map(|arrow| after.strip_prefix(arrow))?;
    let branch = Some(branch.trim_matches('.')).filter(|b| !b.is_empty());
    Some((number.parse().ok(), branch, rest.trim()))
}

/// `#1 rest`: the frame that a line speaks of, the innermost where several are named.
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

/// What is told behind the arrow, and the note behind that.
fn told(text: &str, in_frame: bool) -> (LogEvent, Option<&str>) {
    if in_frame && let Some(left) = leave(text) {
        return left;
    }
    parallel(text)
        .or_else(|| retry(text))
        .or_else(|| round(text))
        .or_else(|| block(text))
        .or_else(|| gate(text))
        .or_else(|| bracketed(text))
        .or_else(|| remark(text))
        .unwrap_or_else(|| statement(text))
}

/// `#1 done`, `#1 failed (timeout)`. (`#1 ✓` is an anonymous statement of the frame.)
fn leave(text: &str) -> Option<Event<'_>> {
    let completed = |word: &str| listed::status(word) == Some(Status::Completed);
    let (status, note) = match marked(text) {
        Some((left, status, note)) if completed(left) => (status, note),
        Some(_) => return None,
        // `#1 done COMPLETE`: the first word ends the frame, whatever follows.
        None => {
            let (word, note) = text.split_once([' ', '\t']).unwrap_or((text, ""));
            (listed::status(word)?, Some(plain_reason(note)))
        }
    };
    matches!(status, Status::Completed | Status::Failed)
        .then_some((LogEvent::Leave { status }, note))
}

/// `∥start a,b`, `∥done`.
fn parallel(text: &str) -> Option<Event<'_>> {
    let rest = words::PARALLEL
        .iter()
        .find_map(|mark| text.strip_prefix(mark))?
        .trim_start();
    let (word, rest) = lead(rest);
    let rest = rest.trim_start_matches(':').trim();
    match word.to_ascii_lowercase().as_str() {
        "start" | "started" | "begin" => {
            let (list, note) = match rest.split_once(" (") {
                Some((list, note)) => (list, note.strip_suffix(')')),
                None => (rest, None),
            };
            let list = list.trim_matches(['[', ']', ' ']);
            let names = list
                .split([',', ';'])
                .map(str::trim)
                .filter(|name| !name.is_empty());
            let branches = names.map(Text::from).collect();
            Some((LogEvent::Fork { branches }, note))
        }
        "done" | "end" | "ended" | "join" | "joined" | "complete" | "completed" => {
            let failed = marked(rest).is_some_and(|(_, status, _)| status == Status::Failed);
            let status = if failed {
                Status::Failed
            } else {
                Status::Joined
            };
            Some((
                LogEvent::Join { status },
                Some(rest.trim_start_matches(['✓', '✗', ' '])),
            ))
        }
        "fail" | "failed" | "error" => {
            let status = Status::Failed;
            Some((LogEvent::Join { status }, Some(rest)))
        }
        _ => None,
    }
}

/// `retry:2/3`, also behind a name.
fn retry(text: &str) -> Option<Event<'_>> {
    let at = text.find("retry")?;
    let (before, rest) = text.split_at_checked(at)?;
    let rest = rest.strip_prefix("retry")?;
    let rest = rest.strip_prefix("ing").unwrap_or(rest);
    let counted = rest.strip_prefix([':', ' '])?;
    if !before.is_empty() && !before.ends_with([' ', '\t']) {
        return None;
    }
    let (attempt, max, note) = fraction(counted.trim_start())?;
    let name = before.trim().trim_end_matches(':');
    // A sentence that speaks of a retry is no event.
    if name.split_whitespace().count() > 1 {
        return None;
    }
    let event = LogEvent::Retry {
        text: name.into(),
        attempt: Some(attempt),
        max,
    };
    Some((event, Some(note)))
}

/// `loop:2/5`, `loop:2/5 exit(**done**)`, `loop exit(…)`.
fn round(text: &str) -> Option<Event<'_>> {
    let rest = words::LOOP
        .iter()
        .find_map(|word| text.strip_prefix(word))?;
    let (n, max, rest) = match rest
        .strip_prefix(':')
        .map(str::trim_start)
        .and_then(fraction)
    {
        Some((n, max, rest)) => (Some(n), max, rest),
        None if rest.starts_with([' ', ':']) || rest.is_empty() => {
            (None, None, rest.trim_start_matches(':').trim_start())
        }
        None => return None,
    };
    let (word, after) = lead(rest);
    let exit = matches!(
        word.to_ascii_lowercase().as_str(),
        "exit" | "exited" | "break"
    );
    let over = marked(rest)
        .is_some_and(|(left, status, _)| left.is_empty() && status == Status::Completed)
        || listed::status(word) == Some(Status::Completed);
    if n.is_none() && !exit && !over {
        return None;
    }
    let note = if exit {
        after
    } else {
        rest.trim_start_matches('✓')
    };
    let event = LogEvent::Round {
        n,
        max,
        over,
        exit: exit || (n.is_none() && over),
    };
    Some((event, Some(plain_reason(note))))
}

/// `(**done**)` is `done`.
pub(super) fn plain_reason(text: &str) -> &str {
    unbracketed(text.trim()).trim().trim_matches('*').trim()
}

/// A text without the brackets around it.
fn unbracketed(text: &str) -> &str {
    let inner = text.strip_prefix('(').and_then(|t| t.strip_suffix(')'));
    inner.unwrap_or(text)
}

/// The letters that a text begins with, and the rest.
fn lead(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_alphabetic());
    text.split_at_checked(end.unwrap_or(text.len()))
        .unwrap_or((text, ""))
}

/// A text, and the note in brackets that ends it.
fn noted(text: &str) -> (&str, Option<&str>) {
    match text.strip_suffix(')').and_then(|t| t.rsplit_once(" (")) {
        Some((text, note)) => (text.trim_end(), Some(note)),
        None => (text, None),
    }
}

/// `block:implement#1 TASK-001`.
fn block(text: &str) -> Option<Event<'_>> {
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

/// `gate:fast_tests ✓ approved`, `gate ✓ (72/72 tests pass)`, `gate **all tests pass** ✗`.
fn gate(text: &str) -> Option<Event<'_>> {
    let (name, rest) = if let Some(rest) = keyed(text, words::GATE) {
        match rest.strip_prefix('"').and_then(|r| r.split_once('"')) {
            Some(quoted) => quoted,
            None => rest.split_at_checked(rest.find(char::is_whitespace).unwrap_or(rest.len()))?,
        }
    } else {
        let rest = words::GATE
            .iter()
            .find_map(|word| text.strip_prefix(word))?;
        if !rest.is_empty() && !rest.starts_with([' ', '\t']) {
            return None;
        }
        let (left, ..) = marked(rest).or_else(|| worded(rest))?;
        let left = left.trim();
        (
            left.trim_matches('*'),
            rest.trim_start().strip_prefix(left)?,
        )
    };
    let (status, note) = decision(rest.trim());
    let gate = name.into();
    Some((LogEvent::Gate { gate, status }, Some(note)))
}

/// `✓ approved by ops`: the decision, and what stands behind it.
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

/// `[outage] …` is a remark; the tag before a marked name (`[input] question ✓`) is no part of the name.
fn bracketed(text: &str) -> Option<Event<'_>> {
    let (_, rest) = text.strip_prefix('[')?.split_once(']')?;
    // Of several words only a mark at the end is one: others stand in a sentence.
    let is_name = |name: &str| !name.is_empty() && !name.contains([' ', '\t']);
    let named = marked(rest).filter(|(name, _, note)| {
        is_name(name) || (!name.is_empty() && note.is_none_or(str::is_empty))
    });
    Some(match named {
        Some((name, status, note)) => (LogEvent::statement(name, Some(status)), note),
        None => (LogEvent::Note, Some(text)),
    })
}

/// `exit_condition: every item is done`: a remark, even where it ends in a word for a status.
fn remark(text: &str) -> Option<Event<'_>> {
    let (key, _) = text.split_once(':')?;
    let key = key.trim().to_ascii_lowercase().replace([' ', '-'], "_");
    words::REMARKS
        .contains(&&*key)
        .then_some((LogEvent::Note, Some(text)))
}

/// `if(false) skip`, `if: false (n is 4)`, `else not executed`, `if (x) -> true`: whether the condition held, as a
/// statement whose text is the condition, and the reason.
fn condition(text: &str) -> Option<(bool, LogEvent, Option<&str>)> {
    let word = words::CONDITIONS.iter().find(|word| {
        text.strip_prefix(**word)
            .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    })?;
    let rest = text.get(word.len()..)?;
    // The condition itself: in brackets, in asterisks, or a value alone.
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
        // `if(true)`, `if(false) ✓`
        (None, Some((held, ""))) => (held, outcome),
        _ => return last_words(text),
    };
    let event = event_of(held, text.get(..word.len() + end)?);
    let note = note.trim_start_matches(|c: char| words::mark(c).is_some());
    Some((
        held,
        event,
        Some(plain_reason(note.trim_start_matches([':', ',', ';', ' ']))),
    ))
}

/// `if x > 3 skip (no need)`, `option "slow" not taken`, `if x > 3 -> false`: the outcome stands last.
fn last_words(text: &str) -> Option<(bool, LogEvent, Option<&str>)> {
    let (text, note) = noted(text);
    let passed = words::PASSED_OVER.iter().find_map(|word| {
        let left = text.strip_suffix(word)?;
        left.ends_with([' ', '\t']).then_some((left, false))
    });
    let (left, held) = passed.or_else(|| {
        words::HELD.iter().find_map(|(word, held)| {
            let left = text.strip_suffix(word)?.trim_end();
            let marked = words::ARROWS
                .iter()
                .chain(&[":"])
                .any(|mark| left.ends_with(mark));
            marked.then_some((left, *held))
        })
    })?;
    let left = left
        .trim_end()
        .trim_end_matches([':', '-', '>', '=', '→', ' ']);
    Some((held, event_of(held, left), note))
}

fn event_of(held: bool, condition: &str) -> LogEvent {
    let status = if held {
        Status::Completed
    } else {
        Status::Skipped
    };
    LogEvent::statement(condition.trim(), Some(status))
}

/// Whether words say that a condition held or that its body ran, and the rest.
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
            // `no tests yet` is a text.
            let rest = after(word)?;
            let ends = !rest.starts_with(|c: char| c.is_alphanumeric());
            (ends || rest.starts_with("skip")).then_some((*held, rest))
        })
    })
}

/// The offset after the bracket that closes the one that a text begins with.
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

fn statement(text: &str) -> (LogEvent, Option<&str>) {
    let (left, status, note) = match marked(text)
        .or_else(|| written(text))
        .or_else(|| worded(text))
    {
        Some((left, status, note)) => (left, Some(status), note),
        None => (text, None, None),
    };
    (LogEvent::statement(left, status), note)
}

/// The first mark outside of brackets: what stands before it, what it says, and what stands behind.
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

/// `draft → bindings/draft.md`, `→ bindings/draft.md`: the binding that a statement wrote, in a mark's place.
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

/// `research done`: a word in the mark's place, behind one name or a keyword.
fn worded(text: &str) -> Option<(&str, Status, Option<&str>)> {
    let (text, note) = noted(text);
    let (left, word) = text.rsplit_once([' ', '\t']).unwrap_or(("", text));
    let status = listed::status(word)?;
    // The word alone says why: `publish deferred`.
    let note = note.or(word.eq_ignore_ascii_case(DEFERRED).then_some(word));
    let left = left.trim();
    let lead = left.split([' ', '(']).next().unwrap_or_default();
    // `ALL DONE` names no statement.
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

/// `---end 2026-02-13T10:57:50-05:00`, `---resume TS (note)`.
fn trailer(line: &str) -> Option<Told<'_>> {
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
    let event = LogEvent::Trailer { status, at };
    Some(Told::of(None, event, Some(unbracketed(note))))
}

/// Returns the time that a line of a list begins with: `- 2026-01-04T10:15:00Z: deployed`.
pub(crate) fn time_of(line: &str) -> Option<Stamp> {
    stamp(line.trim_start_matches(['-', '*', '[', ' '])).0
}

/// A time at the beginning of a text, in one word or two, and the rest.
fn stamp(text: &str) -> (Option<Stamp>, &str) {
    let cuts = text.match_indices([' ', '\t']).map(|(at, _)| at).take(2);
    let mut found = (None, text);
    for cut in cuts.chain([text.len()]) {
        let Some((head, rest)) = text.split_at_checked(cut) else {
            continue;
        };
        // Two words are a time only when both belong to it.
        let at = Stamp::parse(head.trim_end_matches([',', ';', ':', ']']));
        if at.millis().is_some() {
            found = (Some(at), rest.trim());
        }
    }
    found
}

/// `gate:name`: what stands behind one of these words and a colon.
fn keyed<'t>(text: &'t str, keys: &[&str]) -> Option<&'t str> {
    let rest = keys
        .iter()
        .find_map(|key| text.strip_prefix(key)?.strip_prefix(':'))?;
    Some(rest.trim_start()).filter(|rest| !rest.is_empty())
}

/// `2/5 rest`: a number, how many there may be, and the rest.
fn fraction(text: &str) -> Option<(u32, Option<u32>, &str)> {
    let (n, rest) = integer(text)?;
    let n = u32::try_from(n).ok()?;
    let Some(after) = rest.strip_prefix('/').or_else(|| rest.strip_prefix(" of ")) else {
        return Some((n, None, rest.trim()));
    };
    match integer(after) {
        Some((max, rest)) => Some((n, u32::try_from(max).ok(), rest.trim())),
        // `loop:2/∞`
        None => Some((n, None, after.trim_start_matches(['∞', '?', '*', '-', ' ']))),
    }
}

fn integer(text: &str) -> Option<(u64, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at_checked(digits)?;
    Some((number.parse().ok()?, rest))
}
