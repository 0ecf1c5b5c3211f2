//! Real runs, read in place: what is understood of each. Skipped with a message where the corpus is not there.

use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use prosescope_core::model::{FolderForm, Form, RunStatus};
use prosescope_core::session::{Options, Session};
use prosescope_core::source::{MemorySource, Source};
use prosescope_core::trace::NodeStatus;
use prosescope_core::{decode, program, render, trace};

/// The corpus: named by the environment, else beside the checkout.
fn runs() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let named = std::env::var_os("PROSESCOPE_SHARED").map(PathBuf::from);
    let places = [
        named,
        Some(root.join("../shared")),
        Some(root.join("../../shared")),
    ];
    places
        .into_iter()
        .flatten()
        .map(|p| p.join("corpus/runs"))
        .find(|p| p.is_dir())
}

fn files(dir: &Path, prefix: &str, out: &mut Vec<(String, Vec<u8>)>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            files(&entry.path(), &format!("{name}/"), out);
        } else if let Ok(bytes) = fs::read(entry.path()) {
            out.push((name, bytes));
        }
    }
}

/// What a person reads in each run: form, what its status is believed to be, statements that completed, bindings.
const READ: &[(&str, &str, &str, usize, usize)] = &[
    ("20260119-204900-a7b3c9", "StateMd", "completed", 1, 1),
    ("20260119-205230-b8c4d2", "StateMd", "completed", 5, 4),
    ("20260119-212315-f8g2h4", "StateMd", "completed", 6, 0),
    ("20260119-215202-51e737", "StateMd", "running", 8, 8),
    ("20260120-090541-thermo", "StateMd", "completed", 6, 5),
    ("20260716-082519-hak1oi", "Receipts", "completed", 1, 1),
    ("broken-chain", "Receipts", "completed", 0, 0),
    ("20260213-064959-", "CompactLog", "", 0, 0),
    ("20260213-102121-d28237", "Bare", "", 0, 0),
    ("20260213-105319-63068c", "CompactLog", "", 0, 0),
    ("20260213-105500-96b3cb", "CompactLog", "completed", 3, 4),
    ("20260213-113205-0fbf7c", "CompactLog", "completed", 9, 9),
    ("20260213-121934-2a6fd3", "Foreign", "", 0, 8),
    ("20260215-065027-48dfb7", "CompactLog", "completed", 5, 9),
];

#[test]
fn real_runs_are_understood() {
    let Some(dir) = runs() else {
        println!("skipped: there is no corpus of real runs beside this checkout");
        return;
    };
    let mut all = Vec::new();
    files(&dir, "", &mut all);
    let source = MemorySource::new("corpus", all);
    let mut roots: Vec<String> = source
        .files()
        .iter()
        .filter(|f| {
            ["state.md", "run.json", "program.prose"]
                .iter()
                .any(|n| f.path.ends_with(&format!("/{n}")))
        })
        .filter_map(|f| Some(f.path.rsplit_once('/')?.0.to_owned()))
        .collect();
    roots.dedup();
    println!(
        "{:<24} {:<11} {:<10} {:>5} {:>5} {:>4}  issues",
        "run", "form", "status", "nodes", "done", "bind"
    );
    let mut wrong = Vec::new();
    for root in &roots {
        let run = decode::folder::decode(&source, root);
        let listing = run.program.source.as_deref().map(program::scan);
        let folded = trace::fold(&run, listing.as_ref(), None);
        let done = folded
            .nodes
            .iter()
            .filter(|n| n.status == NodeStatus::Completed)
            .count();
        let form = match run.form {
            Form::Folder { form } => format!("{form:?}"),
            _ => "?".to_owned(),
        };
        let rules: Vec<&str> = run
            .issues
            .iter()
            .chain(&folded.issues)
            .map(|i| i.rule.as_str())
            .collect();
        let name = root.rsplit('/').next().unwrap_or(root);
        let status = folded.verdict.status.clone();
        println!(
            "{name:<24} {form:<11} {status:<10} {:>5} {done:>5} {:>4}  {}",
            folded.nodes.len(),
            run.bindings.len(),
            rules.join(" ")
        );
        let found = (
            name,
            form.as_str(),
            status.as_str(),
            done,
            run.bindings.len(),
        );
        match READ.iter().find(|(known, ..)| *known == name) {
            Some(expected) if *expected != found => {
                wrong.push(format!("{found:?}, expected {expected:?}"));
            }
            _ => {}
        }

        // What is rendered of it is a run that says the same.
        let text = render::state_md::from_run(
            &run,
            &folded,
            listing.as_ref(),
            &render::state_md::RenderOptions::default(),
        );
        let (read, _) = decode::state_md::parse(&text);
        assert_eq!(render::state_md::from_state_file(&read), text, "{name}");
        assert_eq!(
            read.status.as_ref().map_or("", RunStatus::word),
            status,
            "{name}"
        );
        if form == format!("{:?}", FolderForm::StateMd) {
            let again = decode::folder::lone_state_file("state.md", &text);
            let trace_again = trace::fold(&again, listing.as_ref(), None);
            let text_again = render::state_md::from_run(
                &again,
                &trace_again,
                listing.as_ref(),
                &render::state_md::RenderOptions::default(),
            );
            assert_eq!(text_again, text, "{name}");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(roots.len() >= READ.len(), "{} runs", roots.len());
}

/// The folder example is kept as we would write it, with its nested runs: what is read is what is written.
#[test]
fn the_folder_example_is_what_we_write() {
    let mut all = Vec::new();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    files(&examples, "", &mut all);
    let source: Rc<dyn Source> = Rc::new(MemorySource::new("examples", all));
    let places: Vec<String> = source
        .files()
        .iter()
        .filter_map(|f| Some(f.path.strip_suffix("state.md")?.to_owned()))
        .collect();
    assert_eq!(places.len(), 3, "{places:?}");
    for place in places {
        let session = Session::open(Rc::clone(&source), &place, &Options::default()).unwrap();
        let page = session.state_page(false);
        assert_eq!(page.own.as_deref(), Some(page.rendered.as_str()), "{place}");
        assert!(!page.differs);
    }
}
