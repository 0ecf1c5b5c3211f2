//! Prints a state file as Markdown.
//!
//! Names and messages are data: [`plain`], [`message`] and [`plain_path`] change the few characters with which such a
//! text could look like another line, row or annotation.

use crate::model::text::is_hazard;
use crate::model::{
    Annotation, CallFrame, IndexedAgent, IndexedBinding, LoopState, ParallelState, RunStatus,
    StateFile, Status, TraceLine,
};
use crate::read::decode::state_md::annotation::{DECISIONS, split};
use crate::read::decode::state_md::header::header_key;
use crate::read::decode::state_md::lines::fence;
use crate::read::decode::state_md::table::{AGENTS, BINDINGS, STACK, TableHeadings};
use crate::record::render::binding_md::ticks;

/// The column at which annotations begin, from 0. After a longer line, an annotation follows three blanks.
const ANNOTATION_COLUMN: usize = 45;

/// The two annotations of a statement that was not reached: of a construct, and of any other statement.
pub(super) const NOT_ENTERED: &str = "[not yet entered]";
pub(super) const NEXT: &str = "[...next...]";

/// Prints a state file exactly like the sample in OpenProse's description. Empty sections are left out, except Index.
pub fn from_state_file(file: &StateFile) -> String {
    let mut out = String::from("# Execution State\n");
    header(&mut out, file);
    trace(&mut out, &file.trace);
    constructs(&mut out, &file.parallels, &file.loops);
    out.push_str("\n## Index\n");
    bindings(&mut out, &file.bindings);
    agents(&mut out, &file.agents);
    call_stack(&mut out, &file.call_stack);
    out
}

/// Sets the status and the time of the last update in the header of a state file; the rest of the text stays. An empty
/// value removes its line.
pub fn with_head(text: &str, status: Option<&str>, updated: Option<&str>) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let is_head = |line: &&String| !line.starts_with("## ") && fence(line).is_none();
    let key_of = |line: &String| header_key(line.split_once(':')?.0.trim_matches(OF_KEYS));
    for (key, value) in [("updated", updated), ("status", status)] {
        let Some(value) = value else { continue };
        let head: Vec<_> = lines.iter().take_while(is_head).map(key_of).collect();
        let old = head.iter().position(|of| *of == Some(key));
        let last = head.iter().rposition(Option::is_some);
        let at = old.or(last.map(|last| last + 1));
        let at = at.unwrap_or(head.len().min(1));
        let new = (!value.is_empty()).then(|| format!("{key}: {}", plain(value)));
        lines.splice(at..at + usize::from(old.is_some()), new);
    }
    lines.join("\n") + "\n"
}

/// The characters around a header's key: those of a list item and of bold text.
const OF_KEYS: [char; 3] = ['-', '*', ' '];

fn header(out: &mut String, file: &StateFile) {
    let start = out.len();
    let status = file.status.as_ref().map(RunStatus::word);
    for (key, said) in [
        ("run", file.run.as_deref().map(plain)),
        ("program", file.program.as_deref().map(plain)),
        (
            "started",
            file.started.as_ref().map(|at| plain(&at.to_string())),
        ),
        (
            "updated",
            file.updated.as_ref().map(|at| plain(&at.to_string())),
        ),
        ("status", status.map(plain)),
    ] {
        if let Some(said) = said.filter(|said| !said.is_empty()) {
            out.push_str(&format!("{key}: {said}\n"));
        }
    }
    if out.len() > start {
        out.insert(start, '\n');
    }
}

fn trace(out: &mut String, lines: &[TraceLine]) {
    if lines.is_empty() {
        return;
    }
    let ticks = ticks(lines.iter().map(|line| &*line.text));
    out.push_str(&format!("\n## Execution Trace\n\n{ticks}prose\n"));
    for line in lines {
        let source = line.text.trim_end();
        match &line.annotation {
            Some(said) => {
                let width = source.chars().count();
                let gap = ANNOTATION_COLUMN.saturating_sub(width).max(3);
                out.push_str(&format!("{source}{:gap$}# {}\n", "", annotation(said)));
            }
            None => {
                out.push_str(without_annotations(source));
                out.push('\n');
            }
        }
    }
    out.push_str(&ticks);
    out.push('\n');
}

/// Returns a source line without comments of its own that would be read as the run's annotations.
fn without_annotations(mut source: &str) -> &str {
    while let (rest, Some(_)) = split(source) {
        source = rest;
    }
    source
}

fn annotation(said: &Annotation) -> String {
    let attempt = said.attempt.map(|(attempt, most)| match most {
        Some(most) => format!("attempt {attempt}/{most}"),
        None => format!("attempt {attempt}"),
    });
    let group = |attempt: Option<String>| attempt.map_or(String::new(), |a| format!(" ({a})"));
    let phrase = |word: &str| {
        let attempt = attempt.as_ref().map(|a| format!(", {a}"));
        let error = said
            .error
            .as_deref()
            .map(message)
            .filter(|error| !error.is_empty());
        let error = error.map(|error| format!(": {error}"));
        let (attempt, error) = (attempt.unwrap_or_default(), error.unwrap_or_default());
        format!("({word}{attempt}{error})")
    };
    if let Some(path) = &said.path {
        let word = said.status.as_ref().map(phrase_word);
        let word = word.or(attempt.is_some().then_some("complete"));
        let behind = word.map_or(String::new(), |word| format!(" {}", phrase(word)));
        return format!("--> {}{behind}", plain_path(path));
    }
    if said.ahead {
        let next = &*said.raw == NEXT;
        return if next { NEXT } else { NOT_ENTERED }.to_owned();
    }
    match &said.status {
        Some(Status::Waiting) if said.gate.is_some() => {
            let gate = said.gate.as_deref().unwrap_or_default();
            format!("<-- WAITING (gate {})", message(gate))
        }
        Some(Status::Retry) => format!("<-- RETRYING{}", group(attempt)),
        Some(
            status @ (Status::Executing | Status::Waiting | Status::Started | Status::Iteration),
        ) => format!("<-- {}{}", status.word().to_uppercase(), group(attempt)),
        Some(Status::Other(word)) if !DECISIONS.contains(&&**word) => {
            format!("<-- {}{}", message(word), group(attempt))
        }
        status => phrase(status.as_ref().map_or("complete", phrase_word)),
    }
}

/// Returns a status as the phrases in brackets spell it.
fn phrase_word(status: &Status) -> &str {
    match status {
        Status::Completed => "complete",
        status => status.word(),
    }
}

fn constructs(out: &mut String, parallels: &[ParallelState], loops: &[LoopState]) {
    if parallels.is_empty() && loops.is_empty() {
        return;
    }
    out.push_str("\n## Active Constructs\n");
    for parallel in parallels {
        construct_heading(out, "Parallel", parallel.lines);
        for (branch, status) in &parallel.branches {
            let name = plain(branch).replace(':', "·");
            item(out, &name, phrase_word(status));
        }
    }
    for state in loops {
        construct_heading(out, "Loop", state.lines);
        item(out, "status", &state.status);
        match (state.iteration, state.max) {
            (Some(n), Some(max)) => item(out, "iteration", &format!("{n}/{max}")),
            (Some(n), None) => item(out, "iteration", &n.to_string()),
            (None, Some(max)) => item(out, "max", &max.to_string()),
            (None, None) => {}
        }
        if let Some(condition) = &state.condition {
            item(out, "condition", condition);
        }
    }
}

fn construct_heading(out: &mut String, word: &str, lines: Option<(u32, u32)>) {
    match lines {
        Some((first, last)) => out.push_str(&format!("\n### {word} (lines {first}-{last})\n\n")),
        None => out.push_str(&format!("\n### {word}\n\n")),
    }
}

fn item(out: &mut String, key: &str, said: &str) {
    out.push_str(format!("- {key}: {}", plain(said)).trim_end());
    out.push('\n');
}

fn bindings(out: &mut String, rows: &[IndexedBinding]) {
    out.push_str("\n### Bindings\n\n");
    table_head(out, BINDINGS);
    for row in rows {
        let frame = row
            .execution_id
            .map_or("(root)".to_owned(), |id| id.to_string());
        table_row(out, &[&row.name, &row.kind, &row.path, &frame]);
    }
}

fn agents(out: &mut String, rows: &[IndexedAgent]) {
    if rows.is_empty() {
        return;
    }
    out.push_str("\n### Agents\n\n");
    table_head(out, AGENTS);
    for row in rows {
        let scope = row.scope.as_ref().map_or("", |scope| scope.word());
        table_row(out, &[&row.name, scope, row.path.as_deref().unwrap_or("")]);
    }
}

fn call_stack(out: &mut String, frames: &[CallFrame]) {
    if frames.is_empty() {
        return;
    }
    out.push_str("\n## Call Stack\n\n");
    table_head(out, STACK);
    for frame in frames {
        let depth = frame.depth.map(|d| d.to_string()).unwrap_or_default();
        let id = frame.execution_id.to_string();
        table_row(
            out,
            &[&id, &frame.block, &depth, phrase_word(&frame.status)],
        );
    }
}

fn table_head(out: &mut String, table: &TableHeadings) {
    let heads: Vec<&str> = table.iter().map(|(_, heading, _)| *heading).collect();
    let rules: Vec<String> = heads.iter().map(|h| "-".repeat(h.len() + 2)).collect();
    out.push_str(&format!(
        "| {} |\n|{}|\n",
        heads.join(" | "),
        rules.join("|")
    ));
}

fn table_row(out: &mut String, cells: &[&str]) {
    let cells: Vec<String> = cells
        .iter()
        .map(|cell| plain(cell).replace('|', "¦"))
        .collect();
    out.push_str(&format!("| {} |\n", cells.join(" | ")));
}

/// Returns a text on one line, with a blank for each control or invisible character.
fn one_line(text: &str) -> String {
    text.replace(is_hazard, " ").trim().to_owned()
}

/// Returns a text on one line that begins no HTML tag or comment, which could hide the lines after it.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in one_line(text).chars() {
        if out.ends_with('<') && (c.is_ascii_alphabetic() || matches!(c, '!' | '/' | '?')) {
            out.push(' ');
        }
        out.push(c);
    }
    out
}

/// Returns a text for an annotation, in which no `#` begins another comment and no quotation mark hides one.
fn message(text: &str) -> String {
    let line = one_line(text).replace('"', "'");
    let words = line
        .split_whitespace()
        .map(|word| word.trim_start_matches('#'));
    words.collect::<Vec<_>>().join(" ")
}

/// Returns a path in an annotation, as one word.
fn plain_path(path: &str) -> String {
    let ends = |c: char| c.is_whitespace() || is_hazard(c) || "()\"`,#".contains(c);
    path.chars()
        .map(|c| if ends(c) { '_' } else { c })
        .collect()
}
