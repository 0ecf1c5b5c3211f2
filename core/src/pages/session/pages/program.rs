//! Builds the page of the program: its lines, each with its result.

use std::collections::BTreeMap;

use super::index::short;
use super::trace::count;
use super::trace::status_word;
use super::unrecorded::Unrecorded;
use super::writes::wrote;
use crate::model::{Text, TraceLine};
use crate::pages::session::{Opened, Session};
use crate::pages::view::{ProgramLine, ProgramView, PropertyView};
use crate::program::{Property, SourceLine, Statement, StatementKind, ValueType};
use crate::trace::Node;

/// The largest number of characters that are shown of a property's value.
const PROPERTY_TEXT: usize = 400;

/// The largest number of links of one line.
const LINKS: usize = 50;

/// Builds a part of the program's lines with their results. Without a source, the lines are the state file's trace.
pub fn program_page(session: &Session, from: u32, len: u32) -> ProgramView {
    let _snapshot = session.snapshot();
    let program = &session.run.program;
    let text = |text: &Option<Text>| text.as_deref().map(str::to_owned);
    let view = ProgramView {
        path: text(&program.path),
        from,
        ..ProgramView::default()
    };
    let (skipped, len) = (from as usize, len as usize);
    let numbers = from.saturating_add(1)..;
    if let Some(listing) = &session.listing {
        let unrecorded = Unrecorded::of(session);
        let line = |(line, number): (&SourceLine, u32)| {
            let own = listing.begun_at(number);
            let begins = own.and_then(|at| listing.get(at));
            let kind = begins.map_or_else(String::new, |s| word(&s.kind));
            let mut line = line_of(session, number, &line.text, kind, word(&line.role));
            line.properties = begins.map_or_else(Vec::new, properties);
            if let Some(at) = own.filter(|_| line.node_count == 0) {
                line.status = unrecorded.word(listing, at).to_owned();
                line.annotation.clone_from(&line.status);
            }
            line
        };
        let lines = listing.lines.iter().skip(skipped).take(len);
        return ProgramView {
            source_from: text(&program.source_from),
            total: listing.lines.len() as u32,
            lines: lines.zip(numbers).map(line).collect(),
            ..view
        };
    }
    let state = session.run.state_file.as_ref();
    let Some(state) = state.filter(|s| !s.trace.is_empty()) else {
        return ProgramView {
            note: Some("no program in this run".to_owned()),
            ..view
        };
    };
    let line = |(at, number): (&TraceLine, u32)| {
        let (number, role) = (at.line.unwrap_or(number), "statement".to_owned());
        let mut line = line_of(session, number, &at.text, String::new(), role);
        if let (true, Some(annotation)) = (line.annotation.is_empty(), &at.annotation) {
            line.annotation = annotation.raw.to_string();
            let status = annotation.status.as_ref();
            line.status = status.map_or_else(String::new, |s| s.word().to_owned());
        }
        line
    };
    let note = "the lines are the trace in the run's state file";
    let lines = state.trace.iter().skip(skipped).take(len);
    ProgramView {
        note: Some(format!("{}; {note}", program.missing())),
        total: state.trace.len() as u32,
        lines: lines.zip(numbers).map(line).collect(),
        ..view
    }
}

fn line_of(session: &Session, number: u32, text: &str, kind: String, role: String) -> ProgramLine {
    let mut line = ProgramLine {
        line: number,
        text: text.to_owned(),
        kind,
        role,
        ..ProgramLine::default()
    };
    let mut statuses: BTreeMap<&str, u32> = BTreeMap::new();
    let mut latest = None;
    for node in session.index.at_line(number) {
        let Some(at) = session.node(node) else {
            continue;
        };
        line.node_count += 1;
        line.guessed |= at.line_guessed;
        let word = status_word(session, at);
        *statuses.entry(word).or_default() += 1;
        latest = Some(word);
        if line.nodes.len() < LINKS {
            line.nodes.push(node.get());
            let wrote = wrote(session, node).into_iter();
            line.bindings.extend(wrote.filter(|b| !b.overwritten));
        }
        line.position |= session.trace.positions.binary_search(&node).is_ok();
    }
    line.bindings.truncate(LINKS);
    if let Some(latest) = latest {
        // A failure on the line is more important than a later success. Without a failure, the latest node counts.
        let failed = statuses.contains_key("failed");
        line.status = if failed { "failed" } else { latest }.to_owned();
        let counts = statuses.iter().map(|(word, n)| format!("{n} × {word}"));
        line.annotation = match line.node_count {
            1 => latest.to_owned(),
            _ => counts.collect::<Vec<_>>().join(", "),
        };
    }
    line
}

/// Returns the statement of a node.
pub(super) fn statement_of<'o>(opened: &'o Opened, node: &Node) -> Option<&'o Statement> {
    node.statement(opened.listing.as_ref())
}

/// Counts the statements of the program that may run, without declarations and clauses.
pub(super) fn runnable_statements(opened: &Opened) -> Option<u32> {
    let listing = opened.listing.as_ref()?;
    let runs = listing.statements.iter().filter(|s| may_run(s.kind));
    Some(runs.count() as u32)
}

/// Returns whether a kind of statement may run. Declarations, and clauses such as `else`, do not run.
pub(super) fn may_run(kind: StatementKind) -> bool {
    use StatementKind as K;
    !matches!(
        kind,
        K::Use
            | K::Input
            | K::Agent
            | K::Block
            | K::Label
            | K::Catch
            | K::Finally
            | K::Else
            | K::Elif
            | K::Option
            | K::Other
    )
}

/// Returns a statement's properties, without those that Prosescope derives from parts of the statement's first line.
pub(super) fn properties(statement: &Statement) -> Vec<PropertyView> {
    let plain = |name: &str| {
        matches!(
            name,
            "check" | "each" | "index" | "in" | "op" | "args" | "label"
        )
    };
    let view = |property: &Property| PropertyView {
        name: property.name.clone(),
        text: match &property.value {
            ValueType::List(entries) => short(&entries.join(", "), PROPERTY_TEXT),
            _ => short(&property.text, PROPERTY_TEXT),
        },
        kind: property.value.word().to_owned(),
        line: property.line,
    };
    let stated = statement.properties.iter().filter(|p| !plain(&p.name));
    stated.take(LINKS).map(view).collect()
}

/// Returns the kebab-case word of an enum's unit variant.
fn word<T: serde::Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

/// Counts statements in words: `3 statements`.
pub(super) fn statements(n: u32) -> String {
    count(n, "statement", "statements")
}

#[cfg(test)]
mod tests {
    use crate::pages::session::pages;
    use std::rc::Rc;

    use super::*;
    use crate::pages::session::Options;
    use crate::read::sqlite::MemorySource;
    use crate::trace::NodeId;

    const PROGRAM: &str = "agent a:\n  model: opus\n  permissions:\n    bash: deny\nparallel (\"first\"):\n  x = session \"A\"\n    retry: 3\nloop until **it is good** (max: 4):\n  session \"Same\"\nsession \"Same\"\napprove go:\n  allow: [\"user\", \"ops\"]\n  timeout: 4h\n";

    fn session() -> Session {
        let state = "# Execution State\n\nrun: 20260101-000000-abcdef\nprogram: p.prose\n\n## Execution Trace\n\n```prose\nparallel (\"first\"):  # (complete)\n  x = session \"A\"  # (complete)\nsession \"Sa...\"  # <-- EXECUTING\n```\n";
        let files = [("program.prose", PROGRAM), ("state.md", state)];
        let files = files.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()));
        let source = Rc::new(MemorySource::new("run", files));
        Session::open(source, "", &Options::default()).unwrap()
    }

    #[test]
    fn lines_say_what_their_statements_say_of_themselves() {
        let page = pages::program_page(&session(), 0, 100);
        let told: Vec<String> = page
            .lines
            .iter()
            .flat_map(|line| &line.properties)
            .map(|p| format!("{} {}={} ({})", p.line, p.name, p.text, p.kind))
            .collect();
        assert_eq!(
            told,
            [
                "2 model=opus (word)",
                "3 permissions= ()",
                "4 permissions.bash=deny (word)",
                "5 strategy=first (text)",
                "7 retry=3 (number)",
                "8 condition=it is good (condition)",
                "8 max=4 (number)",
                "12 allow=user, ops (list)",
                "13 timeout=4h (duration)",
            ]
        );
    }

    #[test]
    fn a_node_says_what_its_statement_says_and_why_a_tie_is_a_guess() {
        let session = session();
        let rows = pages::trace_page(&session, &Default::default(), 0, 100).rows;
        let node = |text: &str| {
            let row = rows.iter().find(|row| row.text.contains(text));
            pages::node_detail(&session, NodeId::new(row.map_or(99, |row| row.node)))
        };
        let parallel = node("parallel").unwrap();
        assert_eq!(parallel.row.detail, "first · 1 branch");
        assert_eq!(parallel.properties[0].text, "first");
        assert_eq!(
            (parallel.row.line_guessed, parallel.line_why),
            (false, None)
        );
        let same = node("Sa").unwrap();
        assert!(same.row.line_guessed);
        assert_eq!(same.line_why.as_deref(), Some("the text is shortened"));
    }
}
