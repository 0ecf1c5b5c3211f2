use crate::decode::state_md::escape::escape;
use crate::decode::state_md::table::{AGENTS, BINDINGS, STACK, Table};
use crate::decode::state_md::{annotation, carried};
use crate::model::{
    CallFrame, IndexedAgent, IndexedBinding, LoopState, ParallelState, StateFile, Status, Text,
    TraceLine,
};
use crate::render::binding_md::ticks;
use crate::time::Stamp;

/// The column where annotations begin, from 0; behind a longer line there are three blanks.
const ANNOTATION_COLUMN: usize = 45;

/// Writes a state file, exactly as the form's sample is written.
///
/// Sections with nothing in them are left out, but Index. Annotations, header keys, columns and sections that
/// were read from a real file are written as they were, as long as they still say what the fields say. What would be
/// read as something else is carried in a last line that nobody need read.
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
        out.push_str(&format!("\n## {}\n", escape(name, &[])));
        if !text.is_empty() {
            out.push_str(&format!("\n{text}\n"));
        }
    }
    carried::carry(out, file)
}

fn header(out: &mut String, file: &StateFile) {
    let time = |at: &Option<Stamp>| at.as_ref().map(|at| at.to_string().into());
    let own = [
        ("run", file.run.clone()),
        ("program", file.program.clone()),
        ("started", time(&file.started)),
        ("updated", time(&file.updated)),
        (
            "status",
            file.status.as_ref().map(|status| status.word().into()),
        ),
    ];
    let own = own
        .into_iter()
        .filter_map(|(key, said)| Some((key.into(), said?)));
    let all: Vec<(Text, Text)> = own.chain(file.extra.iter().cloned()).collect();
    if !all.is_empty() {
        out.push('\n');
    }
    for (key, said) in all {
        out.push_str(&format!(
            "{}: {}\n",
            escape(&key, &[':']),
            escape(&said, &[])
        ));
    }
}

fn trace(out: &mut String, lines: &[TraceLine]) {
    if lines.is_empty() {
        return;
    }
    let ticks = ticks(lines.iter().flat_map(|line| line.text.split('\n')));
    out.push_str(&format!("\n## Execution Trace\n\n{ticks}prose\n"));
    for line in lines {
        // A statement's text may have several lines where there is no program: the first one is annotated.
        let mut parts = line.text.split('\n').map(str::trim_end);
        let first = parts.next().unwrap_or_default();
        out.push_str(first);
        if let Some(annotation) = &line.annotation {
            let width = first.chars().count();
            let gap = ANNOTATION_COLUMN.saturating_sub(width).max(3);
            out.push_str(&format!("{:gap$}# {}", "", annotation::write(annotation)));
        }
        out.push('\n');
        for more in parts {
            out.push_str(more);
            out.push('\n');
        }
    }
    out.push_str(&ticks);
    out.push('\n');
}

fn constructs(out: &mut String, parallels: &[ParallelState], loops: &[LoopState]) {
    if parallels.is_empty() && loops.is_empty() {
        return;
    }
    out.push_str("\n## Active Constructs\n");
    for parallel in parallels {
        construct_heading(out, "Parallel", parallel.lines);
        for (key, said) in &parallel.extra {
            item(out, key, said);
        }
        for (branch, status) in &parallel.branches {
            item(out, branch, word(status));
        }
    }
    for state in loops {
        construct_heading(out, "Loop", state.lines);
        if !state.status.is_empty() {
            item(out, "status", &state.status);
        }
        match (state.iteration, state.max) {
            (Some(n), Some(max)) => item(out, "iteration", &format!("{n}/{max}")),
            (Some(n), None) => item(out, "iteration", &n.to_string()),
            (None, Some(max)) => item(out, "max", &max.to_string()),
            (None, None) => {}
        }
        if let Some(condition) = &state.condition {
            item(out, "condition", condition);
        }
        for (key, said) in &state.extra {
            item(out, key, said);
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
    let line = format!("- {}: {}", escape(key, &[':']), escape(said, &[]));
    out.push_str(line.trim_end());
    out.push('\n');
}

/// How a status is written under "Active Constructs" and in the call stack; `complete` is the form's word.
fn word(status: &Status) -> &str {
    match status {
        Status::Completed => "complete",
        other => other.word(),
    }
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
            cell(word(&frame.status)),
        ];
        table_row(out, cells, &[], &[]);
    }
}

fn cell(text: &str) -> String {
    escape(text, &['|'])
}

/// Columns of no document, in the order in which rows name them.
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
    let heads: Vec<String> = own.chain(more.iter().map(|name| cell(name))).collect();
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
