//! Reads a state.md line by line: finds its sections, the trace, and the text that belongs to no known section.

use std::collections::BTreeMap;

use super::annotation::{elides, read_number, split};
use super::lines::{Lines, closes, fence, heading};
use super::table::{
    AGENTS, BINDINGS, ColumnMeaning, STACK, TableHeadings, cell_text, cells, column, folded,
    is_rule,
};
use super::{MOST_EXTRAS, MOST_LINES, MOST_ROWS};
use crate::model::issue::{Issue, Issues};
use crate::model::text::short;
use crate::model::{LoopState, ParallelState, StateFile, Text, TraceLine};
use crate::read::decode::text::{is_nothing, unescape};

/// Maximum characters of a quoted text in an issue.
pub(super) const SHOWN: usize = 60;
/// Maximum number of searches for the end of a trace. A search may read to the end of the file, so this limit keeps the
/// time linear.
const MOST_SEARCHES: u32 = 16;

/// Prefix of the headings under which unknown parts of "Active Constructs" are kept.
pub(crate) const ACTIVE: &str = "Active Constructs: ";

/// The section that the reader is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    Header,
    Trace,
    Constructs,
    Parallel,
    Loop,
    Index,
    Bindings,
    Agents,
    Stack,
    /// An unknown section: its index in `kept`, and the known section that contains it, if any. A heading of level 3
    /// ends an unknown section that is contained in a known section.
    Extra(usize, Option<UnknownSectionPart>),
}

/// A known section that contains an unknown part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnknownSectionPart {
    Constructs,
    Index,
}

impl Section {
    /// Returns the known section with this heading, as written in the file.
    fn known(name: &str) -> Option<Section> {
        Some(
            match name
                .trim_end_matches(':')
                .trim_end()
                .to_lowercase()
                .as_str()
            {
                "execution trace" => Section::Trace,
                "active constructs" => Section::Constructs,
                "index" => Section::Index,
                "bindings" => Section::Bindings,
                "agents" => Section::Agents,
                "call stack" => Section::Stack,
                _ => return None,
            },
        )
    }

    /// Returns the columns of the section's table; none for a section without a table.
    pub(super) fn table(self) -> &'static TableHeadings {
        match self {
            Section::Index | Section::Bindings => BINDINGS,
            Section::Agents => AGENTS,
            Section::Stack => STACK,
            _ => &[],
        }
    }

    fn word(self) -> &'static str {
        match self {
            Section::Header => "Header",
            Section::Trace => "Execution Trace",
            Section::Constructs | Section::Parallel | Section::Loop => "Active Constructs",
            Section::Index | Section::Bindings | Section::Agents => "Index",
            Section::Stack => "Call Stack",
            Section::Extra(..) => "",
        }
    }
}

pub(super) struct StateReader<'a> {
    lines: Lines<'a>,
    pub(super) file: StateFile,
    issues: Issues,
    pub(super) section: Section,
    /// The unknown sections, each with its heading and its text.
    kept: Vec<(String, String)>,
    /// Index in `kept` of the unknown lines of each known section.
    leftovers: BTreeMap<&'static str, usize>,
    /// The columns of the current table.
    pub(super) columns: Option<Vec<ColumnMeaning>>,
    /// The open fence in an unknown section.
    fence: Option<(u8, usize)>,
    pub(super) seen: SeenSections,
    elided: bool,
    searches: u32,
    lines_cut: bool,
    /// Whether any list reached its maximum, so that rows were left out.
    full: bool,
}

#[derive(Default)]
pub(super) struct SeenSections {
    title: bool,
    trace: bool,
    index: bool,
    pub(super) updated: bool,
}

impl<'a> StateReader<'a> {
    pub(super) fn new(text: &'a str) -> StateReader<'a> {
        StateReader {
            lines: Lines::new(text),
            file: StateFile::default(),
            issues: Issues::listing(MOST_EXTRAS),
            section: Section::Header,
            kept: Vec::new(),
            leftovers: BTreeMap::new(),
            columns: None,
            fence: None,
            seen: SeenSections::default(),
            elided: false,
            searches: 0,
            lines_cut: false,
            full: false,
        }
    }

    pub(super) fn read(mut self) -> (StateFile, Vec<Issue>) {
        while let Some(line) = self.lines.next() {
            self.line(line);
        }
        self.finish();
        (self.file, self.issues.finish())
    }

    pub(super) fn issue(&mut self, issue: Issue) {
        self.issues.add(issue.at_line(self.lines.number));
    }

    fn line(&mut self, line: &'a str) {
        if let Some((mark, count)) = self.fence {
            if closes(line, mark, count) {
                self.fence = None;
            }
            self.keep(line);
            return;
        }
        if let Some((mark, count, info)) = fence(line) {
            let is_trace = match self.section {
                Section::Trace => true,
                Section::Header => {
                    !self.seen.trace && (info.is_empty() || info.starts_with("prose"))
                }
                _ => false,
            };
            if is_trace {
                self.section = Section::Trace;
                self.seen.trace = true;
                self.trace(mark, count);
            } else {
                self.fence = Some((mark, count));
                self.keep(line);
            }
            return;
        }
        if let Some((level, name)) = heading(line)
            && self.heading(level, name)
        {
            self.columns = None;
            return;
        }
        self.body(line);
    }

    /// Enters the section of a heading; returns `false` if the heading is only text of the current section.
    fn heading(&mut self, level: usize, name: &str) -> bool {
        if !self.seen.title && level == 1 {
            self.seen.title = true;
            if !name.to_lowercase().starts_with("execution state") {
                let name = short(name, SHOWN);
                let what =
                    format!("the title of the state file is “{name}”, not “Execution State”");
                self.issue(Issue::warning("state-file-title", what));
            }
            return true;
        }
        let part = match self.section {
            Section::Extra(_, None) if level > 2 => return false,
            Section::Extra(_, Some(_)) if level > 3 => return false,
            Section::Extra(_, part) if level > 2 => part,
            Section::Constructs | Section::Parallel | Section::Loop if level > 2 => {
                Some(UnknownSectionPart::Constructs)
            }
            Section::Index | Section::Bindings | Section::Agents if level > 2 => {
                Some(UnknownSectionPart::Index)
            }
            _ => None,
        };
        let lower = name.to_lowercase();
        let constructs = part == Some(UnknownSectionPart::Constructs);
        let begins = |words: &[&str]| constructs && words.iter().any(|w| lower.starts_with(w));
        if begins(&["parallel"]) {
            self.section = Section::Parallel;
            let parallel = ParallelState {
                lines: line_range(&lower),
                ..ParallelState::default()
            };
            self.hold(|file| &mut file.parallels, parallel);
        } else if begins(&["loop", "repeat", "for"]) {
            self.section = Section::Loop;
            let looped = LoopState {
                lines: line_range(&lower),
                ..LoopState::default()
            };
            self.hold(|file| &mut file.loops, looped);
        } else if let Some(section) = Section::known(name) {
            self.seen.index |= matches!(section, Section::Index | Section::Bindings);
            self.section = section;
        } else {
            let heading = match part {
                Some(UnknownSectionPart::Constructs) => format!("{ACTIVE}{}", unescape(name)),
                Some(UnknownSectionPart::Index) => format!("Index: {}", unescape(name)),
                None => unescape(name).into_owned(),
            };
            let what = format!(
                "the section “{}” is unknown to OpenProse",
                short(name, SHOWN)
            );
            self.issue(Issue::noted("extra-section", what).hint("The section is shown as text."));
            let at = self.kept_at(heading);
            self.section = Section::Extra(at, part);
        }
        true
    }

    /// Adds an unknown section and returns its index. Beyond the maximum, returns the index of the last section.
    fn kept_at(&mut self, heading: String) -> usize {
        if self.kept.len() < MOST_EXTRAS {
            self.kept.push((heading, String::new()));
        }
        self.kept.len().saturating_sub(1)
    }

    /// Keeps an unknown line as text of the current section.
    pub(super) fn keep(&mut self, line: &str) {
        let at = match self.section {
            Section::Extra(at, _) => at,
            known => match self.leftovers.get(known.word()) {
                Some(&at) => at,
                None => {
                    let at = self.kept_at(format!("{} (text)", known.word()));
                    self.leftovers.insert(known.word(), at);
                    at
                }
            },
        };
        if let Some((_, text)) = self.kept.get_mut(at) {
            text.push_str(line);
            text.push('\n');
        }
    }

    fn body(&mut self, line: &'a str) {
        let text = line.trim();
        match self.section {
            Section::Extra(..) => self.keep(line),
            _ if text.is_empty() => self.columns = None,
            // The `---` lines around front matter are skipped.
            Section::Header if text == "---" && !self.seen.title => {}
            Section::Header => self.header(text),
            Section::Trace => self.keep(line),
            _ if text.contains('|') && !text.starts_with(['-', '*', '+']) => self.row(text),
            _ if is_nothing(text.trim_start_matches(['-', '*', '+'])) => {}
            Section::Constructs | Section::Stack => self.keep(line),
            Section::Parallel | Section::Loop => self.construct_item(line),
            Section::Index | Section::Bindings | Section::Agents => self.index_item(line),
        }
    }

    /// Reads the trace after its opening fence.
    fn trace(&mut self, mark: u8, count: usize) {
        let end = self.trace_end(mark, count);
        while self.lines.number + 1 < end
            && let Some(line) = self.lines.next()
        {
            self.trace_line(line);
        }
        // Skip the closing fence. An unclosed trace ends before a heading, which is read next.
        let mut ahead = self.lines;
        if ahead.next().is_some_and(|line| closes(line, mark, count)) {
            self.lines = ahead;
        }
    }

    /// Returns the number of the line that ends the trace: its closing fence, otherwise the next known heading.
    fn trace_end(&mut self, mark: u8, count: usize) -> u32 {
        self.searches += 1;
        let mut section = None;
        let mut other_fence = false;
        if self.searches <= MOST_SEARCHES {
            let mut ahead = self.lines;
            while let Some(line) = ahead.next() {
                if closes(line, mark, count) {
                    // Another fence opened after a section's heading, so the trace's own fence was never closed.
                    if let (Some(at), true) = (section, other_fence) {
                        return self.unclosed(at);
                    }
                    return ahead.number;
                }
                if section.is_none()
                    && heading(line)
                        .is_some_and(|(level, name)| level == 2 && Section::known(name).is_some())
                {
                    section = Some(ahead.number);
                }
                other_fence |= section.is_some()
                    && fence(line).is_some_and(|(m, n, _)| m == mark && n >= count);
            }
        }
        self.unclosed(section.unwrap_or(u32::MAX))
    }

    fn unclosed(&mut self, at: u32) -> u32 {
        self.issue(
            Issue::warning(
                "unclosed-fence",
                "the code fence of the execution trace is not closed",
            )
            .hint("The trace was read up to the next known section."),
        );
        at
    }

    fn trace_line(&mut self, line: &str) {
        if self.file.trace.len() >= MOST_LINES {
            if !self.lines_cut {
                self.lines_cut = true;
                let message = format!("the execution trace has more than {MOST_LINES} lines");
                self.issue(
                    Issue::warning("state-file-cut", message).hint(
                        "The remaining lines are not read. Open the file itself to see them.",
                    ),
                );
            }
            return;
        }
        let (source, annotation) = split(line);
        // The line numbers after omitted lines are unknown.
        let stands_for_many = annotation.is_none() && elides(line);
        if stands_for_many && !self.elided {
            self.elided = true;
            self.issue(
                Issue::noted(
                    "elided-trace",
                    "the execution trace leaves out lines of the program",
                )
                .hint("The lines after the gap are matched to the program by their text."),
            );
        }
        let line = u32::try_from(self.file.trace.len() + 1)
            .ok()
            .filter(|_| !self.elided);
        self.file.trace.push(TraceLine {
            line,
            text: source.into(),
            annotation,
        });
    }

    /// Adds an entry to a list unless the list is full.
    pub(super) fn hold<T>(&mut self, list: impl Fn(&mut StateFile) -> &mut Vec<T>, entry: T) {
        let list = list(&mut self.file);
        if list.len() < MOST_ROWS {
            list.push(entry);
        } else {
            self.cut();
        }
    }

    /// Adds an issue about a full list. Only the first full list of a file gets an issue.
    pub(super) fn cut(&mut self) {
        if !std::mem::replace(&mut self.full, true) {
            let message = format!("{} has more than {MOST_ROWS} entries", self.section.word());
            self.issue(
                Issue::warning("state-file-cut", message)
                    .hint("The remaining lines are not read. Open the file itself to see them."),
            );
        }
    }

    fn row(&mut self, text: &str) {
        let cells = cells(text);
        if is_rule(&cells) {
            return;
        }
        if self.columns.is_none() {
            let mut ahead = self.lines;
            let ruled = ahead
                .next()
                .is_some_and(|next| next.contains('-') && is_rule(&self::cells(next)));
            let headings: Vec<Text> = cells.iter().map(|raw| cell_text(raw)).collect();
            let known = |name: &Text| matches!(&*folded(name), "name" | "execution id");
            if ruled || headings.iter().any(known) {
                self.index_columns(&headings);
                let table = self.section.table();
                let columns = headings.iter().map(|name| column(table, name));
                self.columns = Some(columns.collect());
                return;
            }
            self.columns = Some(Vec::new());
        }
        if cells.iter().all(|c| is_nothing(c)) {
            return;
        }
        if !self.table_row(&cells) {
            self.keep(text);
        }
    }

    fn finish(&mut self) {
        let missing: Vec<&str> = [
            ("the run's id", self.file.run.is_none()),
            ("the program", self.file.program.is_none()),
            ("the start time", self.file.started.is_none()),
            ("the time of the last update", self.file.updated.is_none()),
            ("the execution trace", self.file.trace.is_empty()),
            ("the index", !self.seen.index),
        ]
        .into_iter()
        .filter_map(|(what, missing)| missing.then_some(what))
        .collect();
        if !missing.is_empty() {
            let message = format!("the state file does not contain {}", missing.join(", "));
            self.issues
                .add(Issue::noted("state-file-incomplete", message));
        }
        self.file.sections = std::mem::take(&mut self.kept)
            .into_iter()
            .map(|(heading, text)| {
                (
                    heading.into(),
                    text.trim_matches(['\n', '\r']).trim_end().into(),
                )
            })
            .collect();
    }
}

/// Splits a list item into key and value.
pub(super) fn item(line: &str) -> Option<(&str, &str)> {
    let item = line.trim().strip_prefix(['-', '*', '+'])?.trim();
    let (key, value) = item.split_once(':').unwrap_or((item, ""));
    Some((key.trim(), value.trim()))
}

/// Parses `(lines 8-10)` or `(line 12)`, with any kind of dash.
fn line_range(heading: &str) -> Option<(u32, u32)> {
    let (_, tail) = heading.split_once("line")?;
    let tail = tail.strip_prefix('s').unwrap_or(tail).trim_start();
    let (first, rest) = read_number(tail)?;
    let rest = rest.trim_start().trim_start_matches(['-', '–', '—']);
    let last = read_number(rest).map_or(first, |(last, _)| last);
    Some((first, last))
}
