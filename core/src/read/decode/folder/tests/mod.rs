//! Tests of whole run folders, grouped by topic.

mod beside;
mod caps;
mod dialects;
mod forms;
mod index;
mod mounted;

use super::*;
use crate::model::{BindingKind, FolderForm, Form, RunStatus, ValueAt};
use crate::read::sqlite::MemorySource;

fn folder(files: &[(&str, &str)]) -> MemorySource {
    MemorySource::new(
        "dropped",
        files
            .iter()
            .map(|(p, t)| ((*p).to_owned(), t.as_bytes().to_vec())),
    )
}

fn run(files: &[(&str, &str)]) -> Run {
    decode(&folder(files), "")
}

fn rules(run: &Run) -> Vec<&str> {
    run.issues
        .iter()
        .map(|i| i.rule.as_str())
        .filter(|r| *r != "state-file-incomplete")
        .collect()
}

/// Describes bindings in a few words: name, frame, kind, location.
fn bindings(run: &Run) -> Vec<String> {
    run.bindings
        .iter()
        .map(|b| {
            let frame = b
                .execution_id
                .map_or(String::new(), |id| format!(" of {id}"));
            let at = match &b.value {
                ValueAt::File { path, start, .. } => format!("{path}+{start}"),
                _ => "missing".to_owned(),
            };
            let gone = if b.superseded { " superseded" } else { "" };
            format!("{}{frame} {} {at}{gone}", b.name, b.kind.word())
        })
        .collect()
}

const STATE: &str = "# Execution State\n\nrun: r1\nprogram: p.prose\nstarted: 2026-01-15T14:30:52Z\nupdated: 2026-01-15T14:35:22Z\n";

#[test]
fn reads_a_whole_folder() {
    let state = format!(
        "{STATE}\n## Index\n\n### Bindings\n\n| Name | Kind | Path | Execution ID |\n|---|---|---|---|\n\
         | result | let | bindings/result__43.md | 43 |\n| a | let | bindings/a.md | (root) |\n\n### Agents\n\n\
         | Name | Scope | Path |\n|---|---|---|\n| captain | execution | agents/captain/ |\n| mate | execution | agents/mate/ |\n| far | project | .prose/agents/far/ |\n"
    );
    let source = folder(&[
        (".prose/.env", "USER_ID=me\nAPI_KEY=hush\n"),
        (".prose/runs/r1/state.md", &state),
        (".prose/runs/r1/program.prose", "let a = session \"A\"\n"),
        (
            ".prose/runs/r1/bindings/a.md",
            "# a\n\nkind: let\n\n---\n\nvalue",
        ),
        (
            ".prose/runs/r1/bindings/result__43.md",
            "# result\n\nkind: let\nexecution_id: 43\nparent_execution_id: 42\n\n---\n\nv",
        ),
        (
            ".prose/runs/r1/agents/captain/memory.md",
            "# Agent Memory: captain\n",
        ),
        (
            ".prose/runs/r1/agents/captain/captain-1000.md",
            "# Segment 1000\n",
        ),
        (
            ".prose/runs/r1/agents/captain/captain-002.md",
            "# Segment 002\n\nprompt: \"go\"\n\ndone\n",
        ),
        (".prose/runs/r1/imports/r--research/state.md", STATE),
        (
            ".prose/runs/r1/imports/r--research/bindings/findings.md",
            "# findings\nkind: output\n---\nx",
        ),
        (
            ".prose/runs/r1/imports/r--research/bindings/inner.md",
            "# inner\nkind: let\n---\nx",
        ),
        (".prose/runs/r1/attachments/big.md", "big"),
        (
            ".prose/runs/r1/gates/deploy.pending.json",
            "{\"prompt\":\"Go?\"}",
        ),
        (".prose/runs/r1/notes.txt", "?"),
        (".prose/runs/r2/state.md", STATE),
    ]);
    let run = decode(&source, ".prose/runs/r1/");
    assert_eq!(
        run.form,
        Form::Folder {
            form: FolderForm::StateMd
        }
    );
    assert_eq!(
        (
            &*run.id,
            run.program.path.as_deref(),
            run.program.source_from.as_deref()
        ),
        ("r1", Some("p.prose"), Some("program.prose"))
    );
    assert_eq!(
        bindings(&run),
        [
            // The bindings come in the order of the index. Bindings that are only on disk follow, and then the import's
            // output (errata B12).
            "result of 43 let .prose/runs/r1/bindings/result__43.md+67",
            "a let .prose/runs/r1/bindings/a.md+21",
            "r.findings output .prose/runs/r1/imports/r--research/bindings/findings.md+28",
        ]
    );
    assert_eq!(run.bindings[0].parent_execution_id, Some(42));
    let agents: Vec<_> = run
        .agents
        .iter()
        .map(|a| (&*a.name, &*a.store, a.segments.len(), a.memory.len()))
        .collect();
    assert_eq!(
        agents,
        [
            ("captain", "agents/captain/", 2, Some(24)),
            ("mate", "agents/mate/", 0, None)
        ]
    );
    assert_eq!(
        run.agents[0]
            .segments
            .iter()
            .map(|s| s.number)
            .collect::<Vec<_>>(),
        [2, 1000]
    );
    assert_eq!(
        run.imports[0].nested.as_deref(),
        Some("imports/r--research")
    );
    assert_eq!(run.gates[0].prompt.as_deref(), Some("Go?"));
    assert_eq!(run.files.len(), 13);
    assert_eq!(
        run.files
            .iter()
            .find(|f| f.path == "notes.txt")
            .map(|f| f.role.clone()),
        Some(None)
    );
    assert_eq!(rules(&run), ["agent-missing"]);
    // The nested run of an import opens as a run of its own.
    assert_eq!(
        decode(&source, ".prose/runs/r1/imports/r--research")
            .bindings
            .len(),
        2
    );
}

#[test]
fn the_program_goes_by_many_names() {
    for (files, expected) in [
        (
            &[("program.prose", "1"), ("current.prose", "2")][..],
            Some("program.prose"),
        ),
        (&[("current.prose", "1")], Some("current.prose")),
        (&[("a.prose", "1"), ("p.prose", "2")], Some("p.prose")),
        (&[("a.prose", "1")], Some("a.prose")),
        (&[("sub/a.prose", "1")], None),
    ] {
        let mut all = vec![("state.md", STATE)];
        all.extend(files);
        let run = run(&all);
        assert_eq!(
            (
                run.program.path.as_deref(),
                run.program.source_from.as_deref()
            ),
            (Some("p.prose"), expected),
            "{files:?}"
        );
    }
    let sealed = run(&[("program.prose", "{\n\t\"data\": \"ENC[x]\"\n}\n")]);
    assert_eq!(sealed.program.source, None);
    assert_eq!(rules(&sealed), ["program-encrypted", "no-state-file"]);
    let source = folder(&[("a.prose", "1"), ("b.prose", "2")]);
    let (program, issues) = program_of(&source, "", None);
    assert_eq!(
        (program.source.as_deref(), issues[0].rule.as_str()),
        (Some("1"), "several-programs")
    );
    assert_eq!(files_of(&source, "").len(), 2);
}

/// The reader follows only paths of plain components, so that a run cannot lead the reader to other files (errata R4,
/// R5).
#[test]
fn paths_that_leave_the_run_are_not_read() {
    let run = run(&[
        ("../up.md", "x"),
        ("bindings/../../secret.md", "x"),
        ("bindings/a//b.md", "x"),
        (
            "state.md",
            &format!("{STATE}\n## Index\n\n- s: ../../secret.md\n"),
        ),
    ]);
    assert_eq!(bindings(&run), ["s  missing"]);
    assert_eq!(
        rules(&run),
        ["unsafe-path", "unsafe-path", "binding-missing"]
    );
    assert_eq!(
        run.issues[0].message,
        "the path ../up.md and 2 others are not safe, so these files are not read"
    );
    assert_eq!(run.files.len(), 1);
}

#[test]
fn agents_of_the_project() {
    let source = folder(&[
        (".prose/agents/captain/memory.md", "# Agent Memory: mate\n"),
        (".prose/agents/captain/captain-001.md", "# Segment 002\n"),
        (".prose/agents/captain/captain-1.md", "x"),
        (".prose/agents/stray.md", "x"),
    ]);
    let (agents, issues) = agents(&source, ".prose/agents/", AgentScope::Project);
    assert_eq!(
        (agents.len(), &*agents[0].store, agents[0].scope.word()),
        (1, ".prose/agents/captain/", "project")
    );
    let found: Vec<_> = issues
        .iter()
        .map(|i| {
            (
                i.rule.as_str(),
                i.location.file.as_deref().unwrap_or_default(),
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            ("segment-number", ".prose/agents/captain/captain-001.md"),
            ("memory-of-another", ".prose/agents/captain/memory.md"),
            ("duplicate-segment", ".prose/agents/captain/"),
        ]
    );
}

#[test]
fn unreadable_files_and_odd_bytes_are_issues() {
    let source = MemorySource::new(
        "d",
        [
            (
                "state.md".to_owned(),
                b"# Execution State\r\nrun: r\xff1\r\n".to_vec(),
            ),
            ("bindings/a.md".to_owned(), b"\xff\xfe".to_vec()),
        ],
    );
    let run = decode(&source, "");
    assert_eq!((&*run.id, run.bindings.len()), ("r\u{fffd}1", 1));
    assert_eq!(rules(&run)[0], "invalid-utf8");
    assert_eq!(run.bindings[0].kind, BindingKind::Other("".into()));
}
