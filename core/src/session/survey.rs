use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::{Filter, Options, Order, Session};
use crate::decode::state_md;
use crate::decode::text::lossy;
use crate::issue::Issue;
use crate::model::FolderForm;
use crate::run_id;
use crate::source::Source;
use crate::view::{RunList, RunSummary};

/// What a source holds: runs, agents, lone files. Content decides, names only help.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Survey {
    /// What can be opened, in order of path.
    pub found: Vec<Found>,
    /// What was odd while looking.
    pub issues: Vec<Issue>,
}

/// Something that can be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// What it is.
    pub kind: FoundKind,
    /// Its place: a folder's path (empty for the source itself) or a file's. What [`Session::open`] takes.
    pub place: String,
    /// The last part of the place, or the source's label.
    pub name: String,
}

/// What a place is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoundKind {
    /// A run folder.
    RunFolder,
    /// A database outside of a run folder.
    Database,
    /// A state file outside of a run folder.
    StateFile,
    /// An `agents.db`, or a folder of agents: no run.
    Agents,
}

/// Files whose presence makes a folder a run folder (filesystem.md; dialects.md, the four formats).
const RUN_MARKS: &[&str] = &[
    "state.md",
    "state.db",
    "vm.log.md",
    "receipts.jsonl",
    "run.json",
    "program.prose",
];

/// How many loose files are sniffed: a folder of ten thousand others is none of our business.
const SNIFF_MOST: usize = 400;

/// Looks through a source: run folders at any depth, loose databases and state files, agents.
///
/// Nested runs (`imports/{handle}--{slug}/`) belong to their run and are not listed.
pub fn survey(source: &dyn Source) -> Survey {
    let mut survey = Survey::default();
    let mut dirs: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for file in source.files() {
        let (dir, name) = split(&file.path);
        dirs.entry(dir).or_default().insert(name);
    }
    let mut run_dirs: BTreeSet<&str> = BTreeSet::new();
    for (dir, names) in &dirs {
        if is_nested(dir) || !names.iter().any(|n| RUN_MARKS.contains(n)) {
            continue;
        }
        // `.prose/runs/state.md` and a program in a folder of programs are no run folders (dialects.md).
        let holds_runs = last(dir) == "runs";
        let only_program = !names
            .iter()
            .any(|n| RUN_MARKS.contains(n) && *n != "program.prose");
        let has_parts = ["bindings/", "agents/", "imports/", "attachments/"]
            .iter()
            .any(|part| {
                let below = join(dir, part);
                dirs.range(&*below..)
                    .next()
                    .is_some_and(|(d, _)| d.starts_with(&*below) || **d == below[..below.len() - 1])
            });
        let dated = run_id::RunId::parse(last(dir)).millis().is_some();
        if holds_runs || (only_program && !has_parts && !dated && !dir.is_empty()) {
            continue;
        }
        run_dirs.insert(dir);
        survey.found.push(Found {
            kind: FoundKind::RunFolder,
            place: (*dir).to_owned(),
            name: name_of(source, dir),
        });
    }
    let mut sniffed = 0;
    for file in source.files() {
        let (dir, name) = split(&file.path);
        if inside_run(dir, &run_dirs)
            || is_nested(dir)
            || name.ends_with("-wal")
            || name.ends_with("-shm")
            || name.ends_with("-journal")
        {
            continue;
        }
        let promising = [".db", ".sqlite", ".sqlite3", ".md"]
            .iter()
            .any(|end| name.ends_with(end));
        if !promising && source.files().len() > 32 {
            continue;
        }
        sniffed += 1;
        if sniffed > SNIFF_MOST {
            survey.issues.push(
                Issue::info(
                    "survey-cut",
                    format!("only the first {SNIFF_MOST} loose files were looked into"),
                )
                .hint("open a run folder or a database itself"),
            );
            break;
        }
        let head = source.read(&file.path, 0, 64).unwrap_or_default();
        let kind = if head.starts_with(b"SQLite format 3\0") {
            if name == "agents.db" {
                FoundKind::Agents
            } else {
                FoundKind::Database
            }
        } else if is_state_file(&head) {
            FoundKind::StateFile
        } else {
            continue;
        };
        survey.found.push(Found {
            kind,
            place: file.path.clone(),
            name: name.to_owned(),
        });
    }
    if survey.found.iter().all(|f| f.kind == FoundKind::Agents)
        && let Some(place) = agents_folder(&dirs)
    {
        survey.found.push(Found {
            kind: FoundKind::Agents,
            name: name_of(source, &place),
            place,
        });
    }
    survey.found.sort_by(|a, b| a.place.cmp(&b.place));
    survey
}

impl Session {
    /// The runs of a source, newest first (by the time in the id, else `started`, else the last sign of life): each
    /// is opened, summed up and closed again, of a large database only the head is read.
    pub fn list(source: &Rc<dyn Source>, options: &Options) -> RunList {
        Session::list_where(source, options, &Filter::default(), Order::default())
    }

    /// The same of the runs that are wanted, in another order.
    pub fn list_where(
        source: &Rc<dyn Source>,
        options: &Options,
        filter: &Filter,
        order: Order,
    ) -> RunList {
        let (mut list, _) = list(source, options, filter);
        order.sort(&mut list.runs);
        list
    }

    /// All runs, and the session that was opened last: where there is one run, whoever asks for it next need not
    /// read it again. Of a large database no session is left.
    pub fn list_and_last(source: &Rc<dyn Source>, options: &Options) -> (RunList, Option<Session>) {
        let (mut list, last) = list(source, options, &Filter::default());
        Order::default().sort(&mut list.runs);
        (list, last)
    }
}

fn list(source: &Rc<dyn Source>, options: &Options, filter: &Filter) -> (RunList, Option<Session>) {
    let mut last = None;
    let found = survey(source.as_ref());
    let mut list = RunList {
        label: source.label(),
        issues: found.issues,
        ..RunList::default()
    };
    // Stores of agents are listed only where there is nothing else: runs show them on their own pages.
    let only_agents = found.found.iter().all(|f| f.kind == FoundKind::Agents);
    let alone = found.found.len() == 1;
    for place in found.found {
        if place.kind == FoundKind::Agents && !only_agents {
            continue;
        }
        list.total += 1;
        if !filter.may_want(&place.name) {
            continue;
        }
        // One at a time.
        drop(last.take());
        let line = match super::summary::of_head(source, &place, options) {
            Some(line) => line,
            None => match Session::open_inside(Rc::clone(source), &place.place, options, alone) {
                Ok(session) => {
                    let summary = session.summary();
                    last = Some(session);
                    summary
                }
                Err(error) => RunSummary {
                    id: place.name,
                    place: place.place,
                    error: Some(error.to_string()),
                    ..RunSummary::default()
                },
            },
        };
        if filter.wants(&line) {
            list.runs.push(line);
        }
    }
    (list, last)
}

fn is_state_file(head: &[u8]) -> bool {
    let text = lossy(head).0;
    let known = state_md::form(&text) != FolderForm::Foreign;
    known && !text.trim_start().starts_with('{')
}

/// `agents/{name}/memory.md` without any run around it.
fn agents_folder(dirs: &BTreeMap<&str, BTreeSet<&str>>) -> Option<String> {
    dirs.iter().find_map(|(dir, names)| {
        let (above, _) = split(dir);
        (names.contains("memory.md") && last(above) == "agents").then(|| split(above).0.to_owned())
    })
}

fn inside_run(dir: &str, runs: &BTreeSet<&str>) -> bool {
    let mut at = dir;
    loop {
        if runs.contains(at) {
            return true;
        }
        if at.is_empty() {
            return false;
        }
        at = split(at).0;
    }
}

fn is_nested(dir: &str) -> bool {
    let mut parts = dir.split('/').peekable();
    while let Some(part) = parts.next() {
        if part == "imports" && parts.peek().is_some_and(|next| next.contains("--")) {
            return true;
        }
    }
    false
}

fn name_of(source: &dyn Source, dir: &str) -> String {
    let last = last(dir);
    if last.is_empty() {
        source.label()
    } else {
        last.to_owned()
    }
}

pub(super) fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

fn last(path: &str) -> &str {
    split(path).1
}

pub(super) fn join(dir: &str, name: &str) -> String {
    if dir.is_empty() {
        name.to_owned()
    } else {
        format!("{dir}/{name}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::MemorySource;

    fn check(files: &[(&str, &str)], expected: &[(FoundKind, &str)]) {
        let source = MemorySource::new(
            "dropped",
            files
                .iter()
                .map(|(p, t)| ((*p).to_owned(), t.as_bytes().to_vec())),
        );
        let found: Vec<(FoundKind, String)> = survey(&source)
            .found
            .into_iter()
            .map(|f| (f.kind, f.place))
            .collect();
        let expected: Vec<(FoundKind, String)> = expected
            .iter()
            .map(|(k, p)| (*k, (*p).to_owned()))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn finds_run_folders_at_any_depth_and_leaves_nested_imports_to_their_run() {
        check(
            &[
                (
                    ".prose/runs/20260115-143052-a7b3c9/state.md",
                    "# Execution State",
                ),
                (
                    ".prose/runs/20260115-143052-a7b3c9/imports/r--research/state.md",
                    "# Execution State",
                ),
                ("examples/x/.prose/runs/b/state.db", "SQLite format 3\0"),
                (".prose/agents.db", "SQLite format 3\0"),
                (".prose/programs/program.prose", "session \"x\""),
            ],
            &[
                (FoundKind::Agents, ".prose/agents.db"),
                (FoundKind::RunFolder, ".prose/runs/20260115-143052-a7b3c9"),
                (FoundKind::RunFolder, "examples/x/.prose/runs/b"),
            ],
        );
    }

    #[test]
    fn a_dropped_folder_without_a_parent_is_the_run_itself() {
        check(
            &[
                ("state.md", "# Execution State\n"),
                ("bindings/a.md", "# a"),
            ],
            &[(FoundKind::RunFolder, "")],
        );
        check(
            &[("program.prose", "session \"x\"")],
            &[(FoundKind::RunFolder, "")],
        );
    }

    #[test]
    fn content_decides_over_names() {
        check(
            &[
                ("backup.bin", "SQLite format 3\0 and more"),
                ("notes.md", "# Notes"),
            ],
            &[(FoundKind::Database, "backup.bin")],
        );
        check(
            &[("old.md", "\u{feff}# Execution State\n")],
            &[(FoundKind::StateFile, "old.md")],
        );
        check(
            &[("runs/state.md", "# run:x y.prose\n")],
            &[(FoundKind::StateFile, "runs/state.md")],
        );
        check(&[("photo.png", "\u{89}PNG")], &[]);
    }
}
