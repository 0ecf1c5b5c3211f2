//! What the rows and items of each section say.

use super::annotation::read_number;
use super::escape::{escape, escape_first, unescape};
use super::read::{Heading, Reader, Section, short};
use super::table::{cell_path, cell_text};
use crate::decode::text::is_nothing;
use crate::issue::Issue;
use crate::model::{AgentScope, CallFrame, IndexedAgent, IndexedBinding, Status, Text, words};

/// Keys of a parallel's section that are no branches.
const PARALLEL_KEYS: [&str; 6] = [
    "strategy", "on-fail", "on_fail", "count", "branches", "lines",
];

/// A column of a table of the form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Name,
    Kind,
    Path,
    Frame,
    Scope,
    Block,
    Depth,
    Status,
    Other,
}

/// What a table's heading means in a section; `None`: it is no heading of that table.
fn column(section: Section, name: &str) -> Column {
    match (section, name) {
        (Section::Stack, "execution id" | "id" | "execution" | "frame") => Column::Frame,
        (Section::Stack, "block") => Column::Block,
        (Section::Stack, "depth") => Column::Depth,
        (Section::Stack, "status") => Column::Status,
        (Section::Stack, _) => Column::Other,
        (_, "name" | "binding" | "agent") => Column::Name,
        (_, "path" | "file" | "location") => Column::Path,
        (Section::Agents, "scope") => Column::Scope,
        (Section::Bindings | Section::Index, "kind" | "type") => Column::Kind,
        (Section::Bindings | Section::Index, "execution id" | "execution" | "frame") => {
            Column::Frame
        }
        _ => Column::Other,
    }
}

/// Whether a heading, in lower case and with blanks, names a column of the index.
pub(crate) fn is_index_column(agents: bool, name: &str) -> bool {
    let section = if agents {
        Section::Agents
    } else {
        Section::Bindings
    };
    column(section, name) != Column::Other
}

impl Reader<'_> {
    /// Takes note of a table's headings: a table straight under "Index" says by them what it lists.
    pub(super) fn index_columns(&mut self, names: &[Heading]) {
        let has = |name: &str| names.iter().any(|n| n.name == name);
        if self.section == Section::Index && (has("scope") || has("model")) {
            self.section = Section::Agents;
        }
        if matches!(self.section, Section::Index | Section::Bindings)
            && !names
                .iter()
                .any(|n| column(Section::Bindings, &n.name) == Column::Frame)
        {
            self.issue(
                Issue::info(
                    "index-without-frames",
                    "the index of bindings has no column Execution ID",
                )
                .hint("Frames are taken from the names of the files."),
            );
        }
    }

    /// One row of the open table; `false` when it cannot be what the table lists.
    pub(super) fn table_row(&mut self, cells: &[&str]) -> bool {
        match self.section {
            Section::Index | Section::Bindings => {
                let row = Row::new(self, cells, &["name", "kind", "path", "execution id"]);
                self.binding(row)
            }
            Section::Agents => {
                let row = Row::new(self, cells, &["name", "scope", "path"]);
                self.agent(row)
            }
            Section::Stack => {
                let row = Row::new(self, cells, &["execution id", "block", "depth", "status"]);
                self.frame(row)
            }
            _ => false,
        }
    }

    fn binding(&mut self, row: Row) -> bool {
        let name = row.get(Column::Name).unwrap_or_default();
        let path = row
            .get(Column::Path)
            .filter(|p| !is_nothing(p))
            .map(cell_path)
            .unwrap_or_default();
        if name.is_empty() && path.is_empty() {
            return false;
        }
        if !self.room(self.file.bindings.len()) {
            return true;
        }
        let mut other = row.other();
        let execution_id = match row.get(Column::Frame) {
            Some(raw) => match frame(raw) {
                Ok(id) => id,
                Err(raw) => {
                    let message = format!("\u{201c}{}\u{201d} is no execution id", short(raw));
                    self.issue(
                        Issue::warning("unreadable-frame", message)
                            .hint("The binding is taken for one of the root."),
                    );
                    other.push(("Execution ID as written".into(), unescape(raw).into()));
                    None
                }
            },
            None => frame_of_path(&cell_text(name), &path),
        };
        self.file.bindings.push(IndexedBinding {
            name: cell_text(name).as_ref().into(),
            kind: row.text(Column::Kind).unwrap_or_default(),
            path: path.as_ref().into(),
            execution_id,
            other,
        });
        true
    }

    fn agent(&mut self, row: Row) -> bool {
        let name = row.get(Column::Name).unwrap_or_default();
        let path: Option<Text> = row
            .get(Column::Path)
            .filter(|p| !is_nothing(p))
            .map(|p| cell_path(p).as_ref().into());
        if name.is_empty() && path.is_none() {
            return false;
        }
        if self.room(self.file.agents.len()) {
            self.file.agents.push(IndexedAgent {
                name: cell_text(name).as_ref().into(),
                scope: row.text(Column::Scope).map(|word| AgentScope::parse(&word)),
                path,
                other: row.other(),
            });
        }
        true
    }

    fn frame(&mut self, row: Row) -> bool {
        let id = row.get(Column::Frame).map(|raw| frame(raw));
        // A row of the root is where every stack begins: `(root)`, `-`, `0`, or nothing.
        let is_root = match id {
            None | Some(Ok(None)) => true,
            Some(Ok(Some(0))) => {
                row.get(Column::Depth).is_some_and(|depth| depth == "0")
                    || row
                        .get(Column::Block)
                        .is_none_or(|block| frame(block) == Ok(None))
            }
            _ => false,
        };
        if is_root {
            let status = row.get(Column::Status).filter(|raw| !is_nothing(raw));
            self.file.root = status.map(read_status);
            return true;
        }
        let Some(Ok(Some(execution_id))) = id else {
            self.issue(
                Issue::warning(
                    "unreadable-frame",
                    "a row of the call stack has an execution id that is no number",
                )
                .hint("It is kept as text."),
            );
            return false;
        };
        if self.room(self.file.call_stack.len()) {
            self.file.call_stack.push(CallFrame {
                execution_id,
                block: row.text(Column::Block).unwrap_or_default(),
                depth: row.get(Column::Depth).and_then(|raw| raw.parse().ok()),
                status: read_status(row.get(Column::Status).unwrap_or_default()),
            });
        }
        true
    }

    /// `- a: complete`, `- iteration: 2/5` under "Active Constructs".
    pub(super) fn construct_item(&mut self, line: &str) {
        let Some((raw_key, raw)) = self.item(line) else {
            self.keep(line);
            return;
        };
        let key = cell_text(raw_key);
        let value = || -> Text { cell_text(raw).as_ref().into() };
        if self.section == Section::Parallel {
            let Some(parallel) = self.file.parallels.last_mut() else {
                self.keep(line);
                return;
            };
            if PARALLEL_KEYS.contains(&raw_key.to_lowercase().as_str()) {
                parallel.extra.push((key.as_ref().into(), value()));
            } else {
                let branch = (key.as_ref().into(), read_status(raw));
                let held = parallel.branches.len();
                if self.room(held)
                    && let Some(parallel) = self.file.parallels.last_mut()
                {
                    parallel.branches.push(branch);
                }
            }
            return;
        }
        let Some(state) = self.file.loops.last_mut() else {
            self.keep(line);
            return;
        };
        match raw_key.to_lowercase().as_str() {
            "status" if state.status.is_empty() => state.status = value(),
            "iteration" | "round" if state.iteration.is_none() && read_number(raw).is_some() => {
                let (iteration, rest) = read_number(raw).unwrap_or((0, ""));
                state.iteration = Some(iteration);
                let rest = rest.trim_start();
                let most = rest.strip_prefix('/').or_else(|| rest.strip_prefix("of"));
                state.max = state.max.or(most
                    .and_then(|m| read_number(m.trim_start()))
                    .map(|(max, _)| max));
            }
            "max" | "max_iterations" if state.max.is_none() && read_number(raw).is_some() => {
                state.max = read_number(raw).map(|(max, _)| max);
            }
            "condition" if state.condition.is_none() => {
                state.condition = Some(value()).filter(|c| !c.is_empty());
            }
            _ if state.extra.len() < super::MOST_EXTRAS => {
                state.extra.push((key.as_ref().into(), value()));
            }
            _ => self.keep(line),
        }
    }

    /// `- spec: bindings/spec.md`, `- round1: (pending)` under "Index".
    pub(super) fn index_item(&mut self, line: &str) {
        let Some((raw_key, raw)) = self.item(line).filter(|(key, _)| !key.is_empty()) else {
            self.keep(line);
            return;
        };
        let name: Text = cell_text(raw_key).as_ref().into();
        let said = raw.strip_prefix('(').and_then(|r| r.strip_suffix(')'));
        let mut other = Vec::new();
        if let Some(said) = said.filter(|s| !is_nothing(s)) {
            other.push(("Status".into(), unescape(said).into()));
        }
        let (path, note) = match raw.split_once(" (") {
            Some((path, note)) => (path.trim_end(), note.strip_suffix(')').unwrap_or(note)),
            None => (raw, ""),
        };
        let path: Text = if said.is_some() || is_nothing(path) {
            "".into()
        } else {
            cell_path(path).as_ref().into()
        };
        if self.section == Section::Agents {
            if self.room(self.file.agents.len()) {
                let path = Some(path).filter(|p| !p.is_empty());
                self.file.agents.push(IndexedAgent {
                    name,
                    scope: None,
                    path,
                    other,
                });
            }
            return;
        }
        let kinds = ["input", "output", "let", "const"];
        let kind: Text = if kinds.contains(&note) {
            note.into()
        } else {
            "".into()
        };
        if kind.is_empty() && said.is_none() && !note.is_empty() {
            other.push(("Note".into(), unescape(note).into()));
        }
        if self.room(self.file.bindings.len()) {
            let execution_id = frame_of_path(&name, &path);
            self.file.bindings.push(IndexedBinding {
                name,
                kind,
                path,
                execution_id,
                other,
            });
        }
    }
}

/// The cells of a row under the headings of its table.
struct Row<'c> {
    cells: Vec<(Column, Text, &'c str)>,
}

impl<'c> Row<'c> {
    fn new(reader: &Reader<'_>, cells: &[&'c str], default: &[&str]) -> Row<'c> {
        let named = reader.columns.as_deref().filter(|names| !names.is_empty());
        let cells = cells
            .iter()
            .enumerate()
            .map(|(i, raw)| {
                let (name, shown) = match named {
                    Some(names) => names
                        .get(i)
                        .map_or(("", "".into()), |h| (h.name.as_str(), h.shown.clone())),
                    None => (default.get(i).copied().unwrap_or_default(), "".into()),
                };
                (column(reader.section, name), shown, *raw)
            })
            .collect();
        Row { cells }
    }

    /// The cell as written, when it is there.
    fn get(&self, column: Column) -> Option<&'c str> {
        self.cells
            .iter()
            .find(|(c, ..)| *c == column)
            .map(|(.., raw)| *raw)
            .filter(|raw| !raw.is_empty())
    }

    fn text(&self, column: Column) -> Option<Text> {
        self.get(column)
            .filter(|raw| !is_nothing(raw))
            .map(|raw| cell_text(raw).as_ref().into())
    }

    fn other(&self) -> Vec<(Text, Text)> {
        self.cells
            .iter()
            .filter(|(c, _, raw)| *c == Column::Other && !is_nothing(raw))
            .map(|(_, name, raw)| (name.clone(), cell_text(raw).as_ref().into()))
            .collect()
    }
}

/// `(root)`, `43`, `#43`.
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

/// The frame that a file's name gives: `bindings/result__43.md` holds `result` of frame 43.
fn frame_of_path(name: &str, path: &str) -> Option<i64> {
    let stem = path.rsplit('/').next()?.strip_suffix(".md")?;
    stem.strip_prefix(name)?.strip_prefix("__")?.parse().ok()
}

/// A status word of a branch or a frame, as real files write it: `complete`, `✓ complete`, `**executing**`,
/// `complete (bindings/a.md)`.
pub(crate) fn read_status(raw: &str) -> Status {
    words::leading_status(raw).unwrap_or_else(|| Status::Other(unescape(raw).as_ref().into()))
}

/// How a status is written under "Active Constructs" and in the call stack; `complete` is the form's word.
pub(crate) fn write_status(status: &Status, special: &[char]) -> String {
    if *status == Status::Completed {
        return "complete".to_owned();
    }
    let written = escape(status.word(), special);
    if read_status(&written) == *status
        && !(written.starts_with('|') || is_nothing(&written) && !written.is_empty())
    {
        written
    } else {
        escape_first(status.word(), special)
    }
}

/// Whether a branch of that name, as written, would be read as something else.
pub(crate) fn is_parallel_key(raw: &str) -> bool {
    PARALLEL_KEYS.contains(&raw.to_lowercase().as_str())
}

/// Keys of a loop's section that the form knows.
pub(crate) fn is_loop_key(raw: &str) -> bool {
    [
        "status",
        "iteration",
        "round",
        "max",
        "max_iterations",
        "condition",
    ]
    .contains(&raw.to_lowercase().as_str())
}
