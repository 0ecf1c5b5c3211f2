//! The state file of a run folder, whichever of the formats it has (dialects.md).

use serde_json::Value;

use super::files::is_state_name;
use super::tree::Tree;
use crate::decode::compact_log;
use crate::decode::state_md::{self, lines};
use crate::issue::Issue;
use crate::model::{FolderForm, Form, Program, Run, RunStatus};
use crate::source::FileEntry;
use crate::time::Stamp;

/// Bytes of a state file that are read.
pub const STATE_FILE_MOST: usize = 16 << 20;

/// The folder's state file: `state.md` before others.
pub(super) fn find<'a>(tree: &Tree<'a>) -> Option<&'a FileEntry> {
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

/// Reads the state file and what stands for one into the run; says which form the folder has.
pub(super) fn read(tree: &mut Tree<'_>, run: &mut Run) -> FolderForm {
    let mut form = FolderForm::Bare;
    if let Some(file) = find(tree) {
        let path = tree.relative(file);
        form = FolderForm::Foreign;
        if let Some(text) = tree.text(file, STATE_FILE_MOST) {
            let (found, issues) = from_text(run, path, &text);
            form = found;
            for issue in issues {
                tree.issue(issue.at_file(path));
            }
        }
    }
    if let Some(record) = tree
        .get("run.json")
        .and_then(|file| tree.text(file, 1 << 20))
    {
        let receipts = tree.get("receipts.jsonl").is_some();
        if run_record(run, &record)
            && (receipts || form == FolderForm::Receipts)
            && form != FolderForm::StateMd
        {
            form = FolderForm::Receipts;
        }
    }
    form
}

/// Reads a state file's text into a run that has none; its form, and what was odd. A log goes by its name as well:
/// no document says how a `vm.log.md` begins.
pub(super) fn from_text(run: &mut Run, name: &str, text: &str) -> (FolderForm, Vec<Issue>) {
    let form = match name.rsplit('/').next() {
        Some("vm.log.md") => FolderForm::VmLog,
        _ => state_md::form(text),
    };
    let mut issues = Vec::new();
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
        FolderForm::CompactLog => issues = log(run, name, text),
        // Its later writers use the marks of the compact log.
        FolderForm::VmLog if compact_log::looks_like(text) => issues = log(run, name, text),
        FolderForm::Receipts => {
            receipts(run, text);
            issues.push(recognised("a run state with receipts"));
        }
        FolderForm::VmLog => issues.push(recognised("a VM log")),
        FolderForm::Foreign | FolderForm::Bare
            if text
                .trim_start_matches(['\u{feff}', ' ', '\n', '\r'])
                .starts_with('{') =>
        {
            let encrypted = text.contains("\"ENC[") || text.contains("\"sops\"");
            let what = if encrypted {
                "an encrypted envelope"
            } else {
                "JSON"
            };
            issues.push(
                Issue::warning("state-file-foreign", format!("the state file is {what}"))
                    .hint("It is shown as text; what ran is told from the bindings."),
            );
        }
        FolderForm::Foreign | FolderForm::Bare => {
            let what = if text.trim().is_empty() {
                "is empty"
            } else {
                "has none of the known forms"
            };
            issues.push(
                Issue::warning("state-file-foreign", format!("the state file {what}"))
                    .hint("It is shown as text; what ran is told from the bindings."),
            );
        }
    }
    (form, issues)
}

fn recognised(what: &str) -> Issue {
    Issue::info("state-file-not-read", format!("the state file is {what}"))
        .hint("Its head is read and its text shown; what ran is told from the bindings.")
}

/// A log of form B.
fn log(run: &mut Run, name: &str, text: &str) -> Vec<Issue> {
    let (mut log, issues) = compact_log::parse(text);
    log.file = name.into();
    if let Some(id) = &log.run {
        run.id = id.clone();
    }
    run.program.path = log.program.clone().or_else(|| log.root.clone());
    run.status = log.status.clone();
    run.updated = log.ended.clone();
    run.log = Some(log);
    issues
}

/// The head of form D: `# Run State — {id}` and its bold keys.
fn receipts(run: &mut Run, text: &str) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for line in text.lines().map(str::trim).take(60) {
        if let Some((1, title)) = lines::heading(line) {
            let title = title.get("run state".len()..).unwrap_or_default();
            let id = title.trim_start_matches([' ', '-', '–', '—', ':']);
            run.id = id.into();
        } else if line.starts_with("## ") {
            break;
        } else if let Some((key, value)) = line.replacen("**", "", 2).split_once(':') {
            let value = value.trim();
            match key.trim().to_lowercase().as_str() {
                "program" if run.program.path.is_none() => run.program.path = Some(value.into()),
                "status" if run.status.is_none() => run.status = Some(RunStatus::parse(value)),
                "state backend" => run.state_mode = Some(value.into()),
                "started" => run.started = Some(Stamp::parse(value)),
                "updated" | "completed" | "ended" => run.updated = Some(Stamp::parse(value)),
                _ => {}
            }
        }
    }
}

/// Reads `run.json` of form D; `false` when it is no such record.
fn run_record(run: &mut Run, text: &str) -> bool {
    let Ok(Value::Object(record)) = serde_json::from_str(text) else {
        return false;
    };
    let get = |key: &str| {
        record
            .get(key)
            .and_then(Value::as_str)
            .filter(|t| !t.is_empty())
    };
    if get("run_id").is_none() {
        return false;
    }
    if let Some(id) = get("run_id").filter(|_| run.id.is_empty()) {
        run.id = id.into();
    }
    if run.program.path.is_none() {
        run.program = Program {
            path: get("program").map(Into::into),
            ..run.program.clone()
        };
    }
    if run.status.is_none() && run.state_file.is_none() {
        run.status = get("status").map(RunStatus::parse);
    }
    if run.state_mode.is_none() {
        run.state_mode = get("state_backend").map(Into::into);
    }
    true
}

/// The form as the model has it.
pub(super) fn form_of(form: FolderForm) -> Form {
    Form::Folder { form }
}
