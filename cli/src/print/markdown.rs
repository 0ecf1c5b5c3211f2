//! Formats a run, or a comparison of two runs, as Markdown for a comment at a pull request or for the summary of a job.
//! Texts of the run cannot become Markdown, HTML or a mention of somebody.

use std::fmt::Write as _;

use prosescope_core::model::text::{counted, short};
use prosescope_core::pages::view::{
    BindingsPage, CompareView, ComparedNode, ComparedRow, Overview, icon,
};
use prosescope_core::record::render::text::escape;

use super::bytes;

/// The largest number of entries of a list, and of characters of an error.
const LISTED: usize = 50;
const ERROR: usize = 2_000;

/// Formats the verdict of a run, what failed, what it cost, and its values, folded.
pub(crate) fn shown(view: &Overview, values: &BindingsPage) -> String {
    let mut out = format!("### {} {}\n\n", icon(&view.status), inline(&view.headline));
    let program = view.program.as_deref().unwrap_or("program not recorded");
    let _ = writeln!(out, "{}, run {}\n", code(program), code(&view.run));
    if !view.story.is_empty() {
        let _ = writeln!(out, "{}\n", inline(&view.story.join(" ")));
    }
    if !view.left.is_empty() {
        let _ = writeln!(out, "- left: {}", inline(&view.left));
    }
    if let Some(took) = &view.duration {
        let _ = writeln!(out, "- took: {}", inline(took));
    }
    let counts = &view.issues;
    if counts.error + counts.warning > 0 {
        let errors = counted(counts.error.into(), "error", "errors");
        let warnings = counted(counts.warning.into(), "warning", "warnings");
        let _ = writeln!(out, "- in its records: {errors}, {warnings}");
    }
    if let Some(failure) = &view.failure {
        let _ = writeln!(out, "\n**First cause:** {}", code(&failure.cause.text));
        if let Some(error) = &failure.error {
            out.push_str(&block(&short(error, ERROR)));
        }
    }
    for gate in view.pending_gates.iter().take(LISTED) {
        let _ = writeln!(out, "\n**Waits for a decision:** {}\n", code(&gate.id));
        // Each line is a paragraph of the quote, so that none looks like a line of this program.
        let lines = gate.prompt.lines().map(inline).collect::<Vec<_>>();
        let _ = writeln!(out, "> {}", lines.join("\n>\n> "));
    }
    if values.total > 0 {
        let many = counted(values.total.into(), "value", "values");
        let _ = writeln!(
            out,
            "\n<details><summary>{many}</summary>\n\n| value | kind | size |\n|---|---|---|"
        );
        for value in &values.rows {
            let size = value.len.map_or("missing".to_owned(), bytes);
            let _ = writeln!(
                out,
                "| {} | {} | {size} |",
                code(&value.name),
                inline(&value.kind)
            );
        }
        more(&mut out, values.total as usize, values.rows.len());
        out.push_str("\n</details>\n");
    }
    out
}

/// Formats how two runs differ.
pub(crate) fn compared(view: &CompareView) -> String {
    let mut out = format!(
        "### {}\n\n{}\n\n",
        inline(&view.headline),
        inline(&view.found)
    );
    out.push_str("| | run | status | took |\n|---|---|---|---|\n");
    for (name, of) in [("A", &view.a), ("B", &view.b)] {
        let took = of.duration.as_deref().unwrap_or("not recorded");
        let _ = writeln!(
            out,
            "| {name} | {} | {} | {} |",
            code(&of.run),
            inline(&of.status),
            inline(took)
        );
    }
    let rows = view.rows.iter().filter(|row| !row.differs.is_empty());
    let rows: Vec<String> = rows.map(row).collect();
    if !rows.is_empty() {
        let many = counted(rows.len() as u64, "row differs", "rows differ");
        let _ = writeln!(
            out,
            "\n<details open><summary>{many}</summary>\n\n| row | A | B |\n|---|---|---|"
        );
        for row in rows.iter().take(LISTED) {
            let _ = writeln!(out, "{row}");
        }
        more(&mut out, rows.len(), LISTED);
        out.push_str("\n</details>\n");
    }
    let values = view.values.iter().chain(&view.memories);
    let mut names: Vec<String> = values.map(|value| code(&value.name)).collect();
    let records = view.records.iter();
    names.extend(records.map(|of| code(&format!("{} {}", of.kind, of.name))));
    names.extend(view.outputs.iter().map(|name| code(name)));
    names.dedup();
    if !names.is_empty() {
        let all = names.len();
        names.truncate(LISTED);
        let _ = writeln!(
            out,
            "\n**Values and records that differ:** {}",
            names.join(", ")
        );
        more(&mut out, all, LISTED);
    }
    for note in &view.notes {
        let _ = writeln!(out, "\n> {}", inline(note));
    }
    out
}

fn row(row: &ComparedRow) -> String {
    let status = |node: &Option<ComparedNode>| {
        let node = node.as_ref();
        node.map_or("–".to_owned(), |node| inline(&node.at.status))
    };
    let text = row
        .a
        .as_ref()
        .or(row.b.as_ref())
        .map_or("", |node| &node.at.text);
    let (a, b) = (status(&row.a), status(&row.b));
    format!("| {} | {a} | {b} |", code(&short(text, 100)))
}

fn more(out: &mut String, all: usize, shown: usize) {
    if let Some(left @ 1..) = all.checked_sub(shown) {
        let _ = writeln!(out, "\n… and {left} more");
    }
}

/// Escapes a text of one line.
fn inline(text: &str) -> String {
    let mut line = String::new();
    for sign in escape(text, false).chars() {
        match sign {
            '&' => line.push_str("&amp;"),
            '<' => line.push_str("&lt;"),
            '>' => line.push_str("&gt;"),
            // A mention would tell somebody of a run that is none of their business.
            '@' => line.push_str("&#64;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '!' => line.extend(['\\', sign]),
            sign => line.push(sign),
        }
    }
    line
}

/// Returns a text of one line as code.
fn code(text: &str) -> String {
    let text = escape(text, false).replace('|', "\u{2223}");
    let ticks = fence(&text, 1);
    let space = if text.starts_with('`') || text.ends_with('`') {
        " "
    } else {
        ""
    };
    format!("{ticks}{space}{text}{space}{ticks}")
}

/// Returns a text of several lines as a block of code.
fn block(text: &str) -> String {
    let text = escape(text, true);
    let ticks = fence(&text, 3);
    format!("\n{ticks}text\n{}\n{ticks}\n", text.trim_end())
}

/// Returns backticks that the text does not contain.
fn fence(text: &str, least: usize) -> String {
    let longest = text.split(|sign| sign != '`').map(str::len).max();
    "`".repeat((longest.unwrap_or(0) + 1).max(least))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_the_run_stays_a_text() {
        assert_eq!(
            inline("**<b>@all</b>** [x](y)"),
            "\\*\\*&lt;b&gt;&#64;all&lt;/b&gt;\\*\\* \\[x\\](y)"
        );
        assert_eq!(code("a `b`"), "`` a `b` ``");
        assert_eq!(block("x\n```\ny\n"), "\n````text\nx\n```\ny\n````\n");
    }
}
