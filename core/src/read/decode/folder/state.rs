//! Reads the state of a run folder: the state file in any format, `run.json`, and the receipts
//! (docs/reference/formats.md).

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::files::is_state_name;
use super::tree::RunTree;
use crate::model::issue::Issue;
use crate::model::source::FileEntry;
use crate::model::{CompactLog, FolderForm, RecordedStatus, Run, RunHead, Text};
use crate::read::decode::receipts::StatementReceipt;
use crate::read::decode::sealed::is_sealed;
use crate::read::decode::state_md::{self, lines};
use crate::read::decode::{compact_log, preamble, receipts};

/// Maximum bytes read of `run.json`.
const RECORD_MOST: usize = 1 << 20;
/// Maximum bytes read of a state file.
pub const STATE_FILE_MOST: usize = 8 << 20;

/// Returns the folder's state file; `state.md` takes precedence over other names.
pub(super) fn find<'a>(tree: &RunTree<'a>) -> Option<&'a FileEntry> {
    let own = tree
        .files()
        .iter()
        .copied()
        .filter(|f| is_state_name(tree.relative(f)));
    own.min_by_key(|f| match tree.relative(f) {
        "state.md" => 0,
        "vm.log.md" => 2,
        _ => 1,
    })
}

/// Reads the state file, `run.json` and `receipts.jsonl` into the run; returns the folder's form.
pub(super) fn read(tree: &mut RunTree<'_>, run: &mut Run) -> FolderForm {
    let mut form = FolderForm::Bare;
    if let Some(file) = find(tree) {
        let path = tree.relative(file);
        form = FolderForm::Foreign;
        if let Some(text) = tree.text(file, STATE_FILE_MOST) {
            let (found, issues) = from_text(run, path, &text, folder_of(&tree.root));
            form = found;
            tree.issues_of(path, issues);
        }
    }
    let record = tree
        .get("run.json")
        .and_then(|file| tree.text(file, RECORD_MOST))
        .and_then(|text| record(tree, run, &text));
    let receipts = receipts_of(tree, run, record.as_ref());
    if record
        .as_ref()
        .is_some_and(|record| record.is_of_a_component)
    {
        return FolderForm::Record;
    }
    if matches!(form, FolderForm::Bare | FolderForm::Foreign) && (record.is_some() || receipts) {
        form = FolderForm::Receipts;
    }
    form
}

/// Reads a state file's text into an empty run; returns the file's form and defects. `folder` is the name of the run's
/// folder, empty if unknown. A `vm.log.md` is recognised by its name, because no source defines how such a file begins.
pub(super) fn from_text(
    run: &mut Run,
    name: &str,
    text: &str,
    folder: &str,
) -> (FolderForm, Vec<Issue>) {
    let form = match name.rsplit('/').next() {
        _ if is_sealed(text) && !compact_log::looks_like(text) => {
            run.sealed = Some(name.into());
            let message = format!("{name} is not readable: it is encrypted");
            let issue = Issue::warning("state-file-encrypted", message)
                .hint("Decrypt the file and read the run again. Until then, only readable bindings show what ran.");
            return (FolderForm::Foreign, vec![issue]);
        }
        Some("vm.log.md") => FolderForm::VmLog,
        _ => match state_md::form(text) {
            FolderForm::Foreign if compact_log::has_events(text) => FolderForm::CompactLog,
            form => form,
        },
    };
    let mut issues = Vec::new();
    let foreign = |what| Issue::warning("state-file-foreign", format!("the state file {what}"));
    let shown = "The state file is shown as text; only the bindings show what ran.";
    let bare = text.trim_start_matches(['\u{feff}', ' ', '\n', '\r']);
    let is_json = bare.starts_with('{');
    match form {
        FolderForm::StateMd => {
            let (file, found) = state_md::parse(text);
            issues = found;
            if let Some(id) = &file.run {
                run.id = id.clone();
            }
            run.program.path = file.program.clone();
            run.started = file.started.clone();
            run.updated = file.updated.clone();
            run.state_file = Some(file);
        }
        FolderForm::CompactLog => issues = log(run, name, text, folder),
        // Later writers of form C use the marks of the compact log, so the text is parsed like one.
        FolderForm::VmLog if compact_log::looks_like(text) => issues = log(run, name, text, folder),
        FolderForm::Receipts => {
            run_state(run, text);
            let file = state_md::run_state::parse(text);
            if file.trace.is_empty() {
                issues.push(recognised("a run state with receipts"));
            } else {
                run.state_file = Some(file);
            }
        }
        FolderForm::Foreign | FolderForm::Bare if is_json => {
            issues.push(foreign("is JSON").hint(shown));
        }
        FolderForm::Foreign | FolderForm::Bare if text.trim().is_empty() => {
            issues.push(foreign("is empty").hint("Only the bindings show what ran."));
        }
        // Of a log, or of a text in a free form, only the head and the headings with a status are read.
        FolderForm::VmLog
        | FolderForm::Foreign
        | FolderForm::Bare
        | FolderForm::Mounted
        | FolderForm::Reactor
        | FolderForm::Record
        | FolderForm::Hosted => {
            issues = log(run, name, text, folder);
            let has_events = run.log.as_ref().is_some_and(CompactLog::has_events);
            if !has_events {
                remarks(run);
            }
            match form {
                FolderForm::VmLog if has_events => {}
                FolderForm::VmLog => issues.push(recognised("a VM log")),
                _ => {
                    let issue = foreign("is not in a known form");
                    issues
                        .push(issue.hint(
                            "The lines of the state file are shown as remarks in the trace.",
                        ));
                }
            }
        }
    }
    (form, issues)
}

fn recognised(what: &str) -> Issue {
    Issue::noted("state-file-not-read", format!("the state file is {what}"))
        .hint("The head of the state file is read, the rest is shown as text; only the bindings show what ran.")
}

/// Keeps the lines of a log without statements as the run's remarks. If the run has no time of its last update, uses
/// the time of the last line that begins with a time.
fn remarks(run: &mut Run) {
    let Some(log) = run.log.take() else { return };
    let mut lines = log.lines.iter().rev();
    let last = || lines.find_map(|line| compact_log::time_of(&line.raw));
    run.updated = run.updated.take().or_else(last);
    run.remarks = log.lines.into_iter().map(|line| line.raw).collect();
}

/// Returns the name of a run's folder.
fn folder_of(root: &str) -> &str {
    let root = root.trim_end_matches('/');
    root.rsplit('/').next().unwrap_or(root)
}

/// Parses a log, or a text in a free form, into the run; returns its defects.
fn log(run: &mut Run, name: &str, text: &str, folder: &str) -> Vec<Issue> {
    let (text, mut issues) = compact_log::own_part(text, folder);
    let (mut log, found) = compact_log::parse(&text);
    issues.extend(found);
    log.file = name.into();
    run.status = log.status.clone();
    let ended = log.ended.clone();
    take_head(
        run,
        RunHead {
            ended,
            ..log.head.clone()
        },
    );
    // A final status in the head that differs from the log's own status is kept as a separate record of the status.
    let other = log.head.status.clone().filter(|head| {
        head.is_finished() && log.status.as_ref().is_some_and(|status| status != head)
    });
    if let Some(status) = other {
        let (file, at) = (name.into(), None);
        run.recorded.push(RecordedStatus { file, status, at });
    }
    run.log = Some(log);
    issues
}

/// Copies the values from the beginning of a state file (run id, program, mode, start) into the run, unless the run
/// already has a value.
fn take_head(run: &mut Run, head: RunHead) {
    if run.id.is_empty() {
        run.id = head.run.unwrap_or_default();
    }
    let root = head.facts.iter().find(|(key, _)| &**key == "root");
    let program = head.program.or(root.map(|(_, root)| root.clone()));
    run.program.path = run.program.path.take().or(program);
    run.state_mode = run.state_mode.take().or(head.mode);
    run.started = run.started.take().or(head.started);
    run.updated = run.updated.take().or(head.ended);
    run.facts.extend(head.facts);
}

/// Copies the values of a JSON record of the run into the run: its status as a record of `file`, unknown keys as facts.
/// The keys in `without` tell a reader nothing.
pub(super) fn take_record(
    run: &mut Run,
    file: &str,
    record: &Map<String, Value>,
    without: &[&str],
) {
    let mut head = RunHead::default();
    let told = record
        .iter()
        .filter(|(key, _)| !without.contains(&key.as_str()));
    for (key, value) in told {
        match value {
            Value::String(text) => head.take_or_keep(key, text),
            Value::Null => head.take(key, ""),
            other => head.take_or_keep(key, &other.to_string()),
        };
    }
    if let Some(status) = head.status.take() {
        let (file, at) = (file.into(), head.ended.clone());
        run.recorded.push(RecordedStatus { file, status, at });
    }
    take_head(run, head);
}

/// Reads the head of form D: the heading `# Run State — {id}`, and lines such as `**Status:** completed` below.
fn run_state(run: &mut Run, text: &str) {
    let mut head = RunHead::default();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for line in text.lines().map(str::trim).take(60) {
        if let Some((1, title)) = lines::heading(line) {
            let title = title.get("run state".len()..).unwrap_or_default();
            head.take("run", title.trim_start_matches([' ', '-', '–', '—', ':']));
        } else if line.starts_with("## ") {
            break;
        } else if let Some(pair) = preamble::pair(line) {
            head.take(pair.key, pair.value);
        }
    }
    run.status = head.status.take();
    take_head(run, head);
}

/// The number of receipts and the hash of the last receipt, as recorded in `run.json`.
struct Anchor {
    /// Whether the record is of the form of April 2026.
    is_of_a_component: bool,
    count: Option<i64>,
    head: Option<String>,
}

/// Reads `run.json` of form D into the run; returns `None` if the file is not a record of a run with an id.
fn record(tree: &mut RunTree<'_>, run: &mut Run, text: &str) -> Option<Anchor> {
    let record = match serde_json::from_str(text) {
        Ok(Value::Object(record)) => record,
        Ok(_) => return None,
        Err(error) => {
            let message = format!("run.json is not readable: {error}");
            let issue = Issue::warning("malformed-json", message).at_file("run.json");
            tree.issue(
                issue.hint("Repair run.json. What the file records about the run is missing here."),
            );
            return None;
        }
    };
    let text = |key: &str| record.get(key).and_then(Value::as_str);
    let id = text("run_id").filter(|id| !id.trim().is_empty())?;
    if !run.id.is_empty() && *run.id != *id {
        let message = format!(
            "run.json belongs to run {id}, but the state file belongs to run {}",
            run.id
        );
        let issue = Issue::warning("another-run", message).at_file("run.json");
        tree.issue(issue.hint(
            "The id in the state file is used. Check whether both files are of the same run.",
        ));
    }
    take_record(run, "run.json", &record, &["v"]);
    Some(Anchor {
        is_of_a_component: record.contains_key("component_ref"),
        count: record.get("receipt_count").and_then(Value::as_i64),
        head: text("ledger_head").map(str::to_owned),
    })
}

/// Reads the receipts of form D into a table; returns `false` if the folder has no readable receipts file.
fn receipts_of(tree: &mut RunTree<'_>, run: &mut Run, anchor: Option<&Anchor>) -> bool {
    let file = tree.get(receipts::FILE);
    let Some(log) = file.and_then(|file| tree.text(file, receipts::MOST)) else {
        return false;
    };
    let (read, issues) = receipts::read(&log);
    tree.issues_of(receipts::FILE, issues);
    let issue =
        anchor.and_then(|anchor| receipts::anchored(&read, anchor.count, anchor.head.as_deref()));
    if let Some(issue) = issue {
        tree.issue(issue);
    }
    if let Some(status) = &read.status {
        let status = status.clone();
        run.recorded.push(RecordedStatus {
            file: receipts::FILE.into(),
            status,
            at: None,
        });
    }
    run.tables.push(read.table());
    run.facts.extend(reused(&read.statements));
    if run.state_file.is_none() && run.log.is_none() && run.remarks.is_empty() {
        run.state_file = Some(receipts::state_file(&read.statements));
    }
    true
}

/// Returns a fact for each earlier run whose results were taken, with the statements that were not run again.
fn reused(statements: &[StatementReceipt]) -> Vec<(Text, Text)> {
    let mut of: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for own in statements {
        if let Some(run) = &own.reused_from {
            of.entry(run).or_default().push(&own.id);
        }
    }
    let fact = |(run, ids): (&str, Vec<&str>)| {
        (
            "reused from".into(),
            format!("{run}: {}", ids.join(", ")).into(),
        )
    };
    of.into_iter().map(fact).collect()
}
