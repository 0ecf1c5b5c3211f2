//! Parses the table rows and list items in the sections of a state.md.

use super::annotation::read_number;
use super::read::{SHOWN, Section, StateReader, item};
use super::table::{BINDINGS, ColumnMeaning, cell_text, column, folded};
use crate::model::issue::Issue;
use crate::model::text::short;
use crate::model::{
    AgentScope, BindingKind, CallFrame, IndexedAgent, IndexedBinding, Status, Text, words,
};
use crate::read::decode::text::{is_nothing, unescape};

/// Keys of a parallel block's section that are not the names of branches.
const PARALLEL_KEYS: [&str; 4] = ["strategy", "on-fail", "on_fail", "count"];

impl StateReader<'_> {
    /// Sets the current section from a table's headings. A table directly under "Index" lists agents if it has a column
    /// `Scope` or `Model`.
    pub(super) fn index_columns(&mut self, headings: &[Text]) {
        let has = |name: &str| headings.iter().any(|heading| folded(heading) == name);
        if self.section == Section::Index && (has("scope") || has("model")) {
            self.section = Section::Agents;
        }
        let framed = |heading: &Text| column(BINDINGS, heading) == ColumnMeaning::Frame;
        if matches!(self.section, Section::Index | Section::Bindings)
            && !headings.iter().any(framed)
        {
            let what = "the index of bindings has no column `Execution ID`";
            let issue = Issue::noted("index-without-frames", what);
            self.issue(issue.hint("Frames are taken from the names of the files."));
        }
    }

    /// Reads one row of the current table; returns `false` if the row does not fit the table.
    pub(super) fn table_row(&mut self, cells: &[&str]) -> bool {
        let row = TableCells::new(self, cells);
        match self.section {
            Section::Index | Section::Bindings => self.binding(&row),
            Section::Agents => self.agent(&row),
            Section::Stack => self.frame(&row),
            _ => false,
        }
    }

    fn binding(&mut self, row: &TableCells<'_>) -> bool {
        let name = row.get(ColumnMeaning::Name).unwrap_or_default();
        let path = row.text(ColumnMeaning::Path).unwrap_or_default();
        if name.is_empty() && path.is_empty() {
            return false;
        }
        let name = cell_text(name);
        let execution_id = match row.get(ColumnMeaning::Frame).map(frame) {
            Some(Ok(id)) => id,
            Some(Err(raw)) => {
                let message = format!(
                    "\u{201c}{}\u{201d} in the index is not an execution id",
                    short(raw, SHOWN)
                );
                self.issue(
                    Issue::warning("unreadable-frame", message)
                        .hint("The binding is treated as a binding of the root."),
                );
                None
            }
            None => frame_of_path(&name, &path),
        };
        let binding = IndexedBinding {
            name,
            kind: row.text(ColumnMeaning::Kind).unwrap_or_default(),
            path,
            execution_id,
        };
        self.hold(|file| &mut file.bindings, binding);
        true
    }

    fn agent(&mut self, row: &TableCells<'_>) -> bool {
        let name = row.get(ColumnMeaning::Name).unwrap_or_default();
        let path = row.text(ColumnMeaning::Path);
        if name.is_empty() && path.is_none() {
            return false;
        }
        let agent = IndexedAgent {
            name: cell_text(name),
            scope: row
                .text(ColumnMeaning::Scope)
                .map(|word| AgentScope::parse(&word)),
            path,
        };
        self.hold(|file| &mut file.agents, agent);
        true
    }

    fn frame(&mut self, row: &TableCells<'_>) -> bool {
        let id = row.get(ColumnMeaning::Frame).map(frame);
        // The first row of a stack may be the root: `(root)`, `-`, `0`, or empty.
        let is_root = match id {
            None | Some(Ok(None)) => true,
            Some(Ok(Some(0))) => {
                row.get(ColumnMeaning::Depth)
                    .is_some_and(|depth| depth == "0")
                    || row
                        .get(ColumnMeaning::Block)
                        .is_none_or(|block| frame(block) == Ok(None))
            }
            _ => false,
        };
        if is_root {
            let status = row
                .get(ColumnMeaning::Status)
                .filter(|raw| !is_nothing(raw));
            self.file.root = status.map(read_status);
            return true;
        }
        let Some(Ok(Some(execution_id))) = id else {
            let what = "a row of the call stack has an execution id that is not a number";
            self.issue(Issue::warning("unreadable-frame", what).hint("The row is shown as text."));
            return false;
        };
        let frame = CallFrame {
            execution_id,
            block: row.text(ColumnMeaning::Block).unwrap_or_default(),
            depth: row
                .get(ColumnMeaning::Depth)
                .and_then(|raw| raw.parse().ok()),
            status: read_status(row.get(ColumnMeaning::Status).unwrap_or_default()),
        };
        self.hold(|file| &mut file.call_stack, frame);
        true
    }

    /// Reads an item under "Active Constructs": `- a: complete`, `- iteration: 2/5`.
    pub(super) fn construct_item(&mut self, line: &str) {
        let understood = item(line).is_some_and(|(key, said)| match self.section {
            Section::Parallel => self.parallel_item(key, said),
            _ => self.loop_item(key, said),
        });
        if !understood {
            self.keep(line);
        }
    }

    fn parallel_item(&mut self, key: &str, said: &str) -> bool {
        let Some(parallel) = self.file.parallels.last_mut() else {
            return false;
        };
        if PARALLEL_KEYS.contains(&key.to_lowercase().as_str()) {
            return true;
        }
        if parallel.branches.len() < super::MOST_ROWS {
            parallel.branches.push((cell_text(key), read_status(said)));
        } else {
            self.cut();
        }
        true
    }

    fn loop_item(&mut self, key: &str, said: &str) -> bool {
        let Some(state) = self.file.loops.last_mut() else {
            return false;
        };
        let number = read_number(said);
        match (&*key.to_lowercase(), number) {
            ("status", _) if state.status.is_empty() => state.status = cell_text(said),
            ("iteration" | "round", Some((round, rest))) if state.iteration.is_none() => {
                state.iteration = Some(round);
                let rest = rest.trim_start();
                let most = rest.strip_prefix('/').or_else(|| rest.strip_prefix("of"));
                let most = most.and_then(|most| read_number(most.trim_start()));
                state.max = state.max.or(most.map(|(max, _)| max));
            }
            ("max" | "max_iterations", Some((max, _))) if state.max.is_none() => {
                state.max = Some(max);
            }
            ("condition", _) if state.condition.is_none() => {
                state.condition = Some(cell_text(said)).filter(|c| !c.is_empty());
            }
            _ => {}
        }
        true
    }

    /// Reads an item under "Index": `- spec: bindings/spec.md`, `- round1: (pending)`.
    pub(super) fn index_item(&mut self, line: &str) {
        let Some((raw_key, raw)) = item(line).filter(|(key, _)| !key.is_empty()) else {
            self.keep(line);
            return;
        };
        let name = cell_text(raw_key);
        let bracketed = raw.strip_prefix('(').and_then(|r| r.strip_suffix(')'));
        let (path, note) = match raw.split_once(" (") {
            Some((path, note)) => (path.trim_end(), note.strip_suffix(')').unwrap_or(note)),
            None => (raw, ""),
        };
        let path = Some(path).filter(|path| bracketed.is_none() && !is_nothing(path));
        let path = path.map(cell_text);
        if self.section == Section::Agents {
            let agent = IndexedAgent {
                name,
                scope: None,
                path: path.filter(|p| !p.is_empty()),
            };
            self.hold(|file| &mut file.agents, agent);
            return;
        }
        let path = path.unwrap_or_default();
        let is_kind = !matches!(BindingKind::parse(note), BindingKind::Other(_));
        let binding = IndexedBinding {
            execution_id: frame_of_path(&name, &path),
            name,
            kind: if is_kind { note } else { "" }.into(),
            path,
        };
        self.hold(|file| &mut file.bindings, binding);
    }
}

/// The cells of a row as written, each with its column.
struct TableCells<'c>(Vec<(ColumnMeaning, &'c str)>);

impl<'c> TableCells<'c> {
    fn new(reader: &StateReader<'_>, cells: &[&'c str]) -> TableCells<'c> {
        let table = reader.section.table();
        let named = reader
            .columns
            .as_deref()
            .filter(|columns| !columns.is_empty());
        let column = |at: usize| match named {
            Some(columns) => columns.get(at).copied(),
            None => table.get(at).map(|(column, ..)| *column),
        };
        let cells = cells.iter().enumerate();
        TableCells(
            cells
                .map(|(at, raw)| (column(at).unwrap_or(ColumnMeaning::Other), *raw))
                .collect(),
        )
    }

    /// Returns a cell as written; `None` if it is missing or empty.
    fn get(&self, column: ColumnMeaning) -> Option<&'c str> {
        let cell = self.0.iter().find(|(c, _)| *c == column);
        cell.map(|(_, raw)| *raw).filter(|raw| !raw.is_empty())
    }

    fn text(&self, column: ColumnMeaning) -> Option<Text> {
        let cell = self.get(column).filter(|raw| !is_nothing(raw));
        cell.map(cell_text)
    }
}

/// Parses a frame: `(root)`, `43`, `#43`.
fn frame(raw: &str) -> Result<Option<i64>, &str> {
    let word = raw.trim_matches(['(', ')', '`', '*', ' ']);
    if is_nothing(raw) || word.eq_ignore_ascii_case("root") {
        return Ok(None);
    }
    word.strip_prefix('#')
        .unwrap_or(word)
        .parse()
        .map(Some)
        .map_err(|_| raw)
}

/// Returns the frame in a file's name: `bindings/result__43.md` contains `result` of frame 43.
fn frame_of_path(name: &str, path: &str) -> Option<i64> {
    let stem = path.rsplit('/').next()?.strip_suffix(".md")?;
    stem.strip_prefix(name)?.strip_prefix("__")?.parse().ok()
}

/// Parses the status of a branch or a frame in any notation of real files: `complete`, `✓ complete`, `**executing**`,
/// `complete (bindings/a.md)`.
pub(crate) fn read_status(raw: &str) -> Status {
    words::leading_status(raw).unwrap_or_else(|| Status::Other(unescape(raw).as_ref().into()))
}
