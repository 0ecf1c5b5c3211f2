//! Prints a state file as Markdown.

use crate::decode::state_md::annotation;
use crate::decode::state_md::escape::{escape, escape_first};
use crate::decode::state_md::header::{header_key, write_run_status};
use crate::decode::state_md::lines::{closes, fence, heading};
use crate::decode::state_md::read::is_known_heading;
use crate::decode::state_md::rows::{is_loop_key, is_parallel_key, write_status};
use crate::decode::state_md::table::{AGENTS, BINDINGS, Column, STACK, Table, column, is_marked};
use crate::model::{
    Annotation, CallFrame, IndexedAgent, IndexedBinding, LoopState, ParallelState, StateFile, Text,
    TraceLine,
};
use crate::render::binding_md::ticks;
use crate::time::Stamp;

/// The column at which annotations begin, from 0. After a longer line, an annotation follows three blanks.
const ANNOTATION_COLUMN: usize = 45;

/// Prints a state file exactly like the sample in OpenProse's description.
///
/// Empty sections are left out, except Index. Annotations, header keys, columns and sections that were read from a file
/// are printed unchanged, as long as they agree with the fields.
pub fn from_state_file(file: &StateFile) -> String {
    let mut out = String::from("# Execution State\n");
    header(&mut out, file);
    trace(&mut out, &file.trace);
    constructs(&mut out, &file.parallels, &file.loops);
    out.push_str("\n## Index\n");
    bindings(&mut out, &file.bindings);
    agents(&mut out, &file.agents);
    call_stack(&mut out, &file.call_stack);
    for (name, text) in &file.sections {
        section(&mut out, name, text);
    }
    out
}

fn header(out: &mut String, file: &StateFile) {
    let start = out.len();
    for key in ["run", "program", "started", "updated", "status"] {
        if let Some(said) = field(file, key) {
            out.push_str(&format!("{key}: {said}\n"));
        }
    }
    for (key, said) in &file.extra {
        // A key that OpenProse defines is escaped, unless its field is set. Otherwise the key would be read back as
        // that field.
        let key = guarded(key, &[':'], |raw| {
            raw.is_empty()
                || raw.starts_with(['#', '`', '~', '*', '-', '+', '|'])
                || header_key(raw).is_some_and(|key| field(file, key).is_none())
        });
        out.push_str(format!("{key}: {}", value(said)).trim_end());
        out.push('\n');
    }
    if out.len() > start {
        out.insert(start, '\n');
    }
}

/// Returns the printed value of one of the header keys that OpenProse defines.
fn field(file: &StateFile, key: &str) -> Option<String> {
    let time = |at: &Option<Stamp>| at.as_ref().map(|at| value(at.to_string().trim()));
    let said = match key {
        "run" => file.run.as_deref().map(value),
        "program" => file.program.as_deref().map(value),
        "started" => time(&file.started),
        "status" => file.status.as_ref().map(write_run_status),
        _ => time(&file.updated),
    };
    said.filter(|said| !said.is_empty())
}

fn value(text: &str) -> String {
    guarded(text, &[], |raw| !raw.is_empty() && is_marked(raw))
}

/// Escapes a text. The first character becomes a reference, such as `&#35;`, if the text would otherwise be read as
/// something else.
fn guarded(text: &str, special: &[char], is_special: impl Fn(&str) -> bool) -> String {
    let raw = escape(text, special);
    if is_special(&raw) {
        escape_first(text, special)
    } else {
        raw
    }
}

fn trace(out: &mut String, lines: &[TraceLine]) {
    if lines.is_empty() {
        return;
    }
    let ticks = ticks(lines.iter().flat_map(|line| line.text.split('\n')));
    out.push_str(&format!("\n## Execution Trace\n\n{ticks}prose\n"));
    for line in lines {
        // Without a program, a statement's text may have several lines, and only the first one is annotated.
        let mut parts = line.text.split('\n').map(str::trim_end);
        let first = parts.next().unwrap_or_default();
        match line.line.is_none() && line.annotation.is_none() && annotation::elides(first) {
            true => out.push_str(first),
            false => out.push_str(&trace_line(first, line.annotation.as_ref())),
        }
        out.push('\n');
        for more in parts {
            out.push_str(&trace_line(more, None));
            out.push('\n');
        }
    }
    out.push_str(&ticks);
    out.push('\n');
}

fn trace_line(source: &str, annotation: Option<&Annotation>) -> String {
    let width = source.chars().count();
    let gap = ANNOTATION_COLUMN.saturating_sub(width).max(3);
    annotation::write(source, annotation, |said| {
        format!("{source}{:gap$}# {said}", "")
    })
}

fn constructs(out: &mut String, parallels: &[ParallelState], loops: &[LoopState]) {
    if parallels.is_empty() && loops.is_empty() {
        return;
    }
    out.push_str("\n## Active Constructs\n");
    for parallel in parallels {
        construct_heading(out, "Parallel", parallel.lines);
        for (key, said) in parallel
            .extra
            .iter()
            .filter(|(key, _)| is_parallel_key(key))
        {
            item(out, &escape(key, &[':']), &value(said));
        }
        for (branch, status) in &parallel.branches {
            let name = guarded(branch, &[':'], |raw| {
                is_parallel_key(raw) || !raw.is_empty() && is_marked(raw)
            });
            item(out, &name, &write_status(status, &[]));
        }
    }
    for state in loops {
        construct_heading(out, "Loop", state.lines);
        if !state.status.is_empty() {
            item(out, "status", &value(&state.status));
        }
        match (state.iteration, state.max) {
            (Some(n), Some(max)) => item(out, "iteration", &format!("{n}/{max}")),
            (Some(n), None) => item(out, "iteration", &n.to_string()),
            (None, Some(max)) => item(out, "max", &max.to_string()),
            (None, None) => {}
        }
        if let Some(condition) = state.condition.as_deref().filter(|c| !c.is_empty()) {
            item(out, "condition", &value(condition));
        }
        for (key, said) in &state.extra {
            let key = guarded(key, &[':'], |raw| {
                is_loop_key(raw) || !raw.is_empty() && is_marked(raw)
            });
            item(out, &key, &value(said));
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
    out.push_str(format!("- {key}: {said}").trim_end());
    out.push('\n');
}

fn bindings(out: &mut String, rows: &[IndexedBinding]) {
    out.push_str("\n### Bindings\n\n");
    let more = other_columns(rows.iter().map(|row| row.other.as_slice()));
    table_head(out, BINDINGS, &more);
    for row in rows {
        let frame = row
            .execution_id
            .map_or_else(|| "(root)".to_owned(), |id| id.to_string());
        let cells = vec![cell(&row.name), cell(&row.kind), cell(&row.path), frame];
        table_row(out, cells, &more, &row.other);
    }
}

fn agents(out: &mut String, rows: &[IndexedAgent]) {
    if rows.is_empty() {
        return;
    }
    out.push_str("\n### Agents\n\n");
    let more = other_columns(rows.iter().map(|row| row.other.as_slice()));
    table_head(out, AGENTS, &more);
    for row in rows {
        let scope = row
            .scope
            .as_ref()
            .map(|scope| cell(scope.word()))
            .unwrap_or_default();
        let path = row.path.as_deref().map(cell).unwrap_or_default();
        table_row(out, vec![cell(&row.name), scope, path], &more, &row.other);
    }
}

fn call_stack(out: &mut String, frames: &[CallFrame]) {
    if frames.is_empty() {
        return;
    }
    out.push_str("\n## Call Stack\n\n");
    table_head(out, STACK, &[]);
    for frame in frames {
        let depth = frame.depth.map(|d| d.to_string()).unwrap_or_default();
        let cells = vec![
            frame.execution_id.to_string(),
            cell(&frame.block),
            depth,
            write_status(&frame.status, &['|']),
        ];
        table_row(out, cells, &[], &[]);
    }
}

fn cell(text: &str) -> String {
    guarded(text, &['|'], |raw| !raw.is_empty() && is_marked(raw))
}

/// Returns the columns that OpenProse does not define, in the order in which rows name them.
fn other_columns<'a>(rows: impl Iterator<Item = &'a [(Text, Text)]>) -> Vec<Text> {
    let mut seen = std::collections::BTreeSet::new();
    let mut columns = Vec::new();
    for (name, said) in rows.flatten() {
        if !said.trim().is_empty() && seen.insert(name.clone()) {
            columns.push(name.clone());
        }
    }
    columns
}

fn table_head(out: &mut String, table: &Table, more: &[Text]) {
    let own = table.iter().map(|(_, heading, _)| (*heading).to_owned());
    let more = more.iter().map(|name| match column(table, name) {
        Column::Other => cell(name),
        _ => cell(&format!("other {name}")),
    });
    let heads: Vec<String> = own.chain(more).collect();
    let rules: Vec<String> = heads
        .iter()
        .map(|h| "-".repeat(h.chars().count() + 2))
        .collect();
    out.push_str(&format!("| {} |\n", heads.join(" | ")));
    out.push_str(&format!("|{}|\n", rules.join("|")));
}

fn table_row(out: &mut String, mut cells: Vec<String>, more: &[Text], other: &[(Text, Text)]) {
    cells.extend(more.iter().map(|name| {
        let said = other
            .iter()
            .find(|(key, said)| key == name && !said.trim().is_empty());
        said.map(|(_, said)| cell(said)).unwrap_or_default()
    }));
    out.push_str(&format!("| {} |\n", cells.join(" | ")));
}

/// Prints a section that OpenProse does not define. A heading in its text that would end the section is escaped.
fn section(out: &mut String, name: &str, text: &str) {
    let name = guarded(name, &[], is_known_heading);
    out.push_str(format!("\n## {name}").trim_end());
    out.push('\n');
    let text = text.trim_matches(['\n', '\r']).trim_end();
    if text.is_empty() {
        return;
    }
    out.push('\n');
    let mut open = None;
    for line in text.split('\n').map(|line| line.trim_end_matches('\r')) {
        match open {
            Some((mark, count)) if closes(line, mark, count) => open = None,
            Some(_) => {}
            None => {
                if let Some((mark, count, _)) = fence(line) {
                    open = Some((mark, count));
                } else if heading(line).is_some_and(|(level, _)| level <= 2)
                    || line.starts_with('\\') && line.trim_start_matches('\\').starts_with('#')
                {
                    out.push('\\');
                }
            }
        }
        out.push_str(line);
        out.push('\n');
    }
    if let Some((mark, count)) = open {
        out.push_str(&char::from(mark).to_string().repeat(count));
        out.push('\n');
    }
}
