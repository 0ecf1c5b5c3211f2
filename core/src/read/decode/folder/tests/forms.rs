//! Tests the run folders whose state is not a state.md of form A (docs/reference/formats.md): form B (a compact log), C
//! (`vm.log.md`), D (receipts), and folders without a known form.

use super::*;
use crate::pages::session::pages;

#[test]
fn other_forms_are_recognised_and_their_heads_read() {
    let check = |files: &[(&str, &str)],
                 form: FolderForm,
                 id: &str,
                 program: Option<&str>,
                 status: Option<RunStatus>| {
        let run = run(files);
        assert_eq!(run.form, Form::Folder { form }, "{files:?}");
        assert_eq!(
            (&*run.id, run.program.path.as_deref(), run.status.clone()),
            (id, program, status),
            "{files:?}"
        );
        run
    };
    check(
        &[(
            "state.md",
            "# run:20260213-105319-63068c self-experiment.prose\n",
        )],
        FolderForm::CompactLog,
        "20260213-105319-63068c",
        Some("self-experiment.prose"),
        None,
    );
    let run = check(
        &[(
            "state.md",
            "\u{feff}# run:r\r\nprogram: p.prose\r\nroot: .\r\n1→ a ✓\r\n---error 2026-01-15T14:35:22Z no network\r\n",
        )],
        FolderForm::CompactLog,
        "r",
        Some("p.prose"),
        Some(RunStatus::Failed),
    );
    assert_eq!(
        run.updated.map(|t| t.to_string()).as_deref(),
        Some("2026-01-15T14:35:22Z")
    );
    assert_eq!(run.log.map(|log| log.lines.len()), Some(2));
    check(
        &[(
            "state.md",
            "# run:r p\n1→ a ✓\n---error x\n---resume y\n2→ b ✓\n",
        )],
        FolderForm::CompactLog,
        "r",
        Some("p"),
        None,
    );
    check(
        &[
            ("vm.log.md", "whatever"),
            ("root.prose.md", "x"),
            ("bindings/caller/request.md", "x"),
        ],
        FolderForm::VmLog,
        "",
        Some("root.prose.md"),
        None,
    );
    check(
        &[
            (
                "state.md",
                "# Run State — r9\n\n**Program:** p.prose\n**Status:** completed\n\n## Notes\n\n**Program:** other\n",
            ),
            ("receipts.jsonl", ""),
        ],
        FolderForm::Receipts,
        "r9",
        Some("p.prose"),
        Some(RunStatus::Completed),
    );
    check(
        &[
            (
                "run.json",
                "{\"run_id\":\"r\",\"program\":\"p.prose\",\"status\":\"failed\"}",
            ),
            ("receipts.jsonl", ""),
        ],
        FolderForm::Receipts,
        "r",
        Some("p.prose"),
        None,
    );
    let sealed = check(
        &[(
            "state.md",
            "{\n\t\"data\": \"ENC[x]\",\n\t\"sops\": {}\n}\n",
        )],
        FolderForm::Foreign,
        "",
        None,
        None,
    );
    assert_eq!(
        sealed.issues[0].message,
        "state.md is not readable: it is encrypted"
    );
    check(&[("state.md", "")], FolderForm::Foreign, "", None, None);
    check(
        &[("program.prose", "x")],
        FolderForm::Bare,
        "",
        Some("program.prose"),
        None,
    );
    check(&[], FolderForm::Bare, "", None, None);
}

#[test]
fn a_log_of_form_c_in_the_words_of_form_b_is_read_and_services_write_their_outputs() {
    let files = [
        (
            "vm.log.md",
            "# run:r9 deep-research\nroot: research/deep   # always\nupstream: [a, b]\n\n1→ [input] question ✓\n2→ researcher ✓\n3→ critic ✗ no-results\n---error 2026-03-17T14:35:22Z no-results\n",
        ),
        ("root.prose.md", "---\nname: deep\n---\n"),
        ("manifest.md", "# Manifest\n"),
        ("services/researcher.md", "x"),
        ("sources/root.md", "x"),
        ("workspace/researcher/draft.md", "x"),
        (
            "bindings/researcher/findings.md",
            "# findings\n\nkind: output\n\n---\n\ntext",
        ),
        ("bindings/caller/question.md", "What?"),
    ];
    let run = run(&files);
    assert_eq!(
        run.form,
        Form::Folder {
            form: FolderForm::VmLog
        }
    );
    assert_eq!(
        (&*run.id, run.program.path.as_deref()),
        ("r9", Some("deep-research"))
    );
    assert_eq!(
        bindings(&run),
        [
            "caller/question  bindings/caller/question.md+0",
            "researcher/findings output bindings/researcher/findings.md+31"
        ]
    );
    assert_eq!(rules(&run), [""; 0]);
    let roles: Vec<_> = run
        .files
        .iter()
        .map(|f| f.role.as_deref().unwrap_or_default())
        .collect();
    assert_eq!(
        roles,
        [
            "binding",
            "binding",
            "manifest",
            "program",
            "service",
            "source",
            "state file",
            "workspace"
        ]
    );
    let source: std::rc::Rc<dyn Source> = std::rc::Rc::new(folder(&files));
    let session = crate::pages::session::Session::open(source, "", &Default::default()).unwrap();
    let page = pages::trace_page(&session, &Default::default(), 0, 10);
    let wrote: Vec<_> = page
        .rows
        .iter()
        .map(|row| (row.text.as_str(), row.bindings.len()))
        .collect();
    assert_eq!(wrote, [("question", 1), ("researcher", 1), ("critic", 0)]);
    assert_eq!(page.rows[2].error.as_deref(), Some("no-results"));
    let facts = pages::overview(&session, None).facts;
    assert_eq!(
        facts,
        [
            ("written by".to_owned(), "OpenProse 0.9 or 0.10".to_owned()),
            ("root".to_owned(), "research/deep".to_owned()),
            ("upstream".to_owned(), "a, b".to_owned())
        ]
    );
}

const RECEIPTS: &str = concat!(
    "{\"content_hash\":\"sha256:1\",\"prev\":null,\"kind\":\"control\",\"detail\":{\"event\":\"run_start\"}}\n",
    "{\"content_hash\":\"sha256:2\",\"prev\":\"sha256:1\",\"kind\":\"session\",\"statement_id\":\"s001\"}\n",
    "{\"content_hash\":\"sha256:3\",\"prev\":\"sha256:2\",\"kind\":\"control\",\"detail\":{\"event\":\"run_end\",\"outcome\":\"completed\"}}\n",
);

#[test]
fn receipts_are_a_table_and_every_record_says_what_it_says() {
    let files = [
        (
            "state.md",
            "# Run State — r9\n\n**Program:** p.prose\n**Status:** running\n",
        ),
        (
            "run.json",
            "{\"v\":\"openprose.run.v1\",\"run_id\":\"r9\",\"status\":\"completed\",\"started_at\":\"2026-01-15T10:00:00Z\",\"receipt_count\":3,\"ledger_head\":\"sha256:3\",\"host\":{\"os\":\"x\"}}",
        ),
        ("receipts.jsonl", RECEIPTS),
    ];
    let source: std::rc::Rc<dyn Source> = std::rc::Rc::new(folder(&files));
    let session = crate::pages::session::Session::open(source, "", &Default::default()).unwrap();
    let view = pages::overview(&session, None);
    assert_eq!(
        (view.status.as_str(), view.status_source.as_str()),
        ("completed", "run.json")
    );
    let claims: Vec<_> = view
        .claims
        .iter()
        .map(|(s, w)| format!("{s}: {w}"))
        .collect();
    assert_eq!(
        claims,
        [
            "state file: running",
            "run.json: completed",
            "receipts.jsonl: completed"
        ]
    );
    assert_eq!(
        view.status_reason,
        "run.json says completed; the state file says running, but a recorded end counts more"
    );
    assert_eq!(
        view.started.map(|t| t.to_string()).as_deref(),
        Some("2026-01-15T10:00:00Z")
    );
    let facts: Vec<_> = view.facts.iter().map(|(k, v)| format!("{k}={v}")).collect();
    assert_eq!(
        facts,
        [
            "host={\"os\":\"x\"}",
            "ledger_head=sha256:3",
            "receipt_count=3"
        ]
    );
    let tables = pages::files(&session).tables;
    assert_eq!(
        (tables[0].name.as_str(), tables[0].rows, tables[0].known),
        ("receipts.jsonl", Some(3), true)
    );
    let page = pages::table_rows(&session, "receipts.jsonl", 1, 10).unwrap();
    assert_eq!(
        (page.total, page.rows.len(), page.columns[0].as_str()),
        (Some(3), 2, "statement_id")
    );
    assert_eq!(page.rows[0][0].text, "s001");
    assert!(pages::table_rows(&session, "run", 0, 1).is_err());
    assert!(session.issues().all(|i| i.rule != "receipt-chain"));
}

#[test]
fn records_that_contradict_or_are_torn_are_issues() {
    let messages = |files: &[(&str, &str)]| -> Vec<String> {
        run(files)
            .issues
            .into_iter()
            .map(|i| format!("{}: {}", i.rule, i.message))
            .collect()
    };
    assert_eq!(
        messages(&[
            ("state.md", "# Run State — r9\n"),
            ("run.json", "{\"run_id\":\"r8\",\"receipt_count\":5}"),
            ("receipts.jsonl", &format!("{RECEIPTS}{{\"content_ha")),
        ]),
        [
            "state-file-not-read: the state file is a run state with receipts",
            "another-run: run.json belongs to run r8, but the state file belongs to run r9",
            "malformed-json: the last line is cut off: EOF while parsing a string at line 1 column 12",
            "receipt-chain: run.json counts 5 receipts, but receipts.jsonl contains 3",
        ]
    );
    assert_eq!(
        messages(&[("run.json", &"[".repeat(10_000)), ("program.prose", "x")])[0]
            .split(':')
            .next(),
        Some("malformed-json")
    );
    // A run.json of another program is not a record of form D; receipts alone are a run.
    let other = run(&[("run.json", "{\"name\":\"x\"}"), ("program.prose", "x")]);
    assert_eq!(
        other.form,
        Form::Folder {
            form: FolderForm::Bare
        }
    );
    let alone = run(&[("receipts.jsonl", RECEIPTS)]);
    assert_eq!(
        alone.form,
        Form::Folder {
            form: FolderForm::Receipts
        }
    );
}

/// Only a log has a heading for each run. In a state file, such a line is a comment of the program.
#[test]
fn comments_of_a_program_are_no_headings_of_other_runs() {
    let state = "# Execution State\n\nrun: r1\nstatus: running\n\n## Execution Trace\n\n```prose\n# run: lint\nlet a = session \"A\"   # (complete)\n# run: tests\nlet b = session \"B\"   # (complete)\n```\n";
    let run = run(&[("state.md", state)]);
    let trace = run.state_file.as_ref().unwrap().trace.iter();
    assert_eq!(trace.filter(|line| line.annotation.is_some()).count(), 2);
    assert!(!rules(&run).contains(&"another-run"));
}
