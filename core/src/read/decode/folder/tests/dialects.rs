//! The oddities of real run folders in the order of docs/reference/formats.md (its parts "A: state.md" and
//! "Bindings"): each must be understood or reported. The parsers of single files have their own tests; the tests below
//! check the resulting run.

use super::*;
use crate::pages::session::pages;
use crate::pages::session::{Options, Session};

/// A short description of a folder: its status, finished statements, bindings, and the rules of its issues.
struct Read {
    status: String,
    done: usize,
    bindings: Vec<String>,
    rules: Vec<String>,
}

fn read(files: &[(&str, &str)]) -> Read {
    let run = run(files);
    let listing = run.program.source.as_deref().map(crate::program::scan);
    let trace = crate::trace::fold(&run, listing.as_ref(), None);
    let done = |n: &&crate::trace::Node| n.status == crate::trace::NodeStatus::Completed;
    Read {
        status: trace.verdict.status.clone(),
        done: trace.nodes.iter().filter(done).count(),
        bindings: bindings(&run),
        rules: run
            .issues
            .iter()
            .chain(&trace.issues)
            .map(|i| i.rule.clone())
            .collect(),
    }
}

/// Returns a complete state file of two statements, so that a case only contains its oddity.
fn whole(header: &str, trace: &str, sections: &str) -> String {
    format!(
        "# Execution State\n\nrun: r1\nprogram: p.prose\nstarted: 2026-01-15T14:30:52Z\n{header}\n\n## Execution Trace\n\n```prose\n{trace}\n```\n\n{sections}"
    )
}

const UPDATED: &str = "updated: 2026-01-15T14:35:22Z";
const DONE: &str =
    "let a = session \"A\"   # --> bindings/a.md (complete)\nsession \"B\"   # (complete)";
const INDEX: &str = "## Index\n\n### Bindings\n\n| Name | Kind | Path | Execution ID |\n|---|---|---|---|\n| a | let | bindings/a.md | (root) |\n";
const A: (&str, &str) = ("bindings/a.md", "# a\n\nkind: let\n\n---\n\nv");

#[test]
fn a_state_file_of_any_real_shape_tells_of_its_run() {
    let header = |keys: &str| whole(keys, DONE, INDEX);
    let index = |index: &str| whole(UPDATED, DONE, index);
    let trace = |trace: &str| whole(UPDATED, trace, INDEX);
    let open = "let a = session \"A\"   # --> bindings/a.md\nsession \"B\"   # <-- EXECUTING";
    // Each case: the name of the oddity; the folder's content; the status, finished statements and issues expected.
    let cases: &[(&str, String, &str, usize, &[&str])] = &[
        ("nothing odd", header(UPDATED), "completed", 2, &[]),
        (
            "status: complete",
            header(&format!("{UPDATED}\nstatus: complete")),
            "completed",
            2,
            &[],
        ),
        (
            "status: COMPLETE",
            header(&format!("{UPDATED}\nstatus: COMPLETE")),
            "completed",
            2,
            &[],
        ),
        (
            "status: COMPLETED",
            header(&format!("{UPDATED}\nstatus: COMPLETED")),
            "completed",
            2,
            &[],
        ),
        (
            "status: running",
            whole(&format!("{UPDATED}\nstatus: running"), open, INDEX),
            "running",
            1,
            &[],
        ),
        (
            "completed: in place of updated:",
            header("completed: 2026-01-15T14:35:22Z"),
            "completed",
            2,
            &[],
        ),
        (
            "some keys missing",
            header(""),
            "completed",
            2,
            &["state-file-incomplete"],
        ),
        (
            "neither Active Constructs nor Call Stack",
            header(UPDATED),
            "completed",
            2,
            &[],
        ),
        (
            "no Index",
            index(""),
            "completed",
            2,
            &["state-file-incomplete", "binding-not-indexed"],
        ),
        (
            "extra section: Results Summary",
            index(&format!(
                "{INDEX}\n## Results Summary\n\n### Files\n- x.py\n"
            )),
            "completed",
            2,
            &["extra-section"],
        ),
        (
            "extra section: Outputs",
            index(&format!("{INDEX}\n## Outputs\n\n| a | b |\n")),
            "completed",
            2,
            &["extra-section"],
        ),
        (
            "nothing: None",
            index(&format!("## Active Constructs\n\nNone\n\n{INDEX}")),
            "completed",
            2,
            &[],
        ),
        (
            "nothing: (none - execution complete)",
            index(&format!(
                "## Active Constructs\n\n(none - execution complete)\n\n{INDEX}"
            )),
            "completed",
            2,
            &[],
        ),
        (
            "nothing: Empty (root scope)",
            index(&format!("{INDEX}\n## Call Stack\n\nEmpty (root scope)\n")),
            "completed",
            2,
            &[],
        ),
        (
            "nothing: | (none yet) | | | |",
            index(&INDEX.replace(
                "| a | let | bindings/a.md | (root) |",
                "| (none yet) | | | |",
            )),
            "completed",
            2,
            &["binding-not-indexed"],
        ),
        (
            "index of three columns",
            index(
                "## Index\n\n### Bindings\n\n| Name | Kind | Path |\n|---|---|---|\n| a | let | bindings/a.md |\n",
            ),
            "completed",
            2,
            &["index-without-frames"],
        ),
        (
            "index with a fourth column Status",
            index(
                "## Index\n\n### Bindings\n\n| Name | Kind | Path | Status |\n|---|---|---|---|\n| a | let | bindings/a.md | written |\n",
            ),
            "completed",
            2,
            &["index-without-frames"],
        ),
        (
            "agents as Name | Model | Prompt",
            index(&format!(
                "{INDEX}\n### Agents\n\n| Name | Model | Prompt |\n|---|---|---|\n| x | sonnet | \"You | are\" |\n"
            )),
            "completed",
            2,
            &[],
        ),
        (
            "agents without a folder: (stateless)",
            index(&format!(
                "{INDEX}\n### Agents\n\n| Name | Scope | Path |\n|---|---|---|\n| x | session | (stateless) |\n| y | stateless | (none) |\n"
            )),
            "completed",
            2,
            &[],
        ),
        (
            "index as list items",
            index("## Index\n\n### Bindings\n\n- a: bindings/a.md\n- round1: (pending)\n"),
            "completed",
            2,
            &[],
        ),
        (
            "# [registered]",
            trace(&format!("agent x:   # [registered]\n{DONE}")),
            "completed",
            2,
            &[],
        ),
        (
            "# (registered)",
            trace(&format!("agent x:   # (registered)\n{DONE}")),
            "completed",
            2,
            &[],
        ),
        (
            "# (complete - APPROVED)",
            trace(&DONE.replace("\"B\"   # (complete)", "\"B\"   # (complete - APPROVED)")),
            "completed",
            2,
            &[],
        ),
        (
            "# --> exceptions.py created",
            trace(&DONE.replace(
                "\"B\"   # (complete)",
                "\"B\"   # --> exceptions.py created",
            )),
            "completed",
            2,
            &[],
        ),
        (
            "✓ DONE, without #",
            trace(&DONE.replace("# (complete)", "✓ DONE")),
            "completed",
            2,
            &[],
        ),
        (
            "✓ defined, without #",
            trace(&format!("agent x:   ✓ defined\n{DONE}")),
            "completed",
            2,
            &[],
        ),
        (
            // Statements in the omitted lines may not have run.
            "...remaining stages...",
            trace(&format!("{DONE}\n...remaining stages...")),
            "",
            2,
            &["elided-trace"],
        ),
    ];
    let mut wrong = Vec::new();
    for (oddity, state, status, done, told) in cases {
        let found = read(&[("state.md", state), A]);
        if (found.status.as_str(), found.done) != (*status, *done)
            || found.rules != *told
            || found.bindings.first().map(String::as_str) != Some("a let bindings/a.md+21")
        {
            wrong.push(format!(
                "{oddity}: {} {} {:?} {:?}",
                found.status, found.done, found.rules, found.bindings
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_stale_state_file_is_contradicted_by_the_disk_and_that_is_told() {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let program: String = names
        .map(|n| format!("let {n} = session \"{n}\"\n"))
        .concat();
    let marked = program.replacen("\"a\"", "\"a\"   # <-- EXECUTING", 1);
    let state = whole(UPDATED, marked.trim_end(), "## Index\n");
    let paths = names.map(|n| format!("bindings/{n}.md"));
    let mut files = vec![("state.md", state.as_str()), ("program.prose", &program)];
    files.extend(paths.iter().map(|p| (p.as_str(), "v")));
    let found = read(&files);
    assert_eq!((found.status.as_str(), found.done), ("completed", 8));
    assert!(found.rules.contains(&"marker-contradicts-disk".to_owned()));
    assert!(found.rules.contains(&"state-file-behind".to_owned()));
}

#[test]
fn a_binding_of_any_real_shape_is_a_name_and_a_value() {
    let kind = |kind: &str| format!("# x\n\nkind: {kind}\n\n---\n\nv");
    // Each case: the name of the oddity; path and content; the binding, its value and the issues expected.
    type Case<'c> = (&'c str, &'c str, String, &'c str, &'c str, &'c [&'c str]);
    let cases: &[Case<'_>] = &[
        ("nothing odd", "x.md", kind("let"), "x let", "v", &[]),
        ("no header at all: a report", "x.md", "# Stage Done\n\n## Summary\n\n---\n\ntext".into(), "x ", "# Stage Done\n\n## Summary\n\n---\n\ntext", &[]),
        ("no header at all: a value", "x.md", "42".into(), "x ", "42", &[]),
        ("an encrypted envelope", "x.md", "{\n\t\"data\": \"ENC[x]\",\n\t\"sops\": {}\n}\n".into(), "x ", "{\n\t\"data\": \"ENC[x]\",\n\t\"sops\": {}\n}\n", &["encrypted-value"]),
        ("kind: session (parallel branch)", "x.md", kind("session (parallel branch)"), "x session (parallel branch)", "v", &["unknown-kind"]),
        ("kind: session (anonymous)", "x.md", kind("session (anonymous)"), "x session (anonymous)", "v", &["unknown-kind"]),
        ("kind: let (reassigned in if-branch)", "x.md", kind("let (reassigned in if-branch)"), "x let (reassigned in if-branch)", "v", &["unknown-kind"]),
        ("fields before the source", "x.md", "# x\n\nkind: let\nagent: w\n\nsource:\n```prose\nx\n```\n\n---\n\nv".into(), "x let agent=w", "v", &[]),
        ("fields after the source", "x.md", "# x\n\nkind: let\n\nsource:\n```prose\nx\n```\n\nexit_code: 1\nstderr: (empty)\n\n---\n\nv".into(), "x let exit_code=1 stderr=(empty)", "v", &[]),
        ("source: caller", "x.md", "# x\n\nkind: input\nsource: caller\n\n---\n\nv".into(), "x input", "v", &[]),
        ("the heading differs from the file's name", "x.md", "# Something else\n\nkind: let\n\n---\n\nv".into(), "x let", "v", &["binding-heading"]),
        ("the heading differs in its spelling only", "my_report.md", "# My Report\n\nkind: let\n\n---\n\nv".into(), "my_report let", "v", &[]),
        ("--- in the body", "x.md", "# x\n\nkind: let\n\n---\n\na\n\n---\n\nb".into(), "x let", "a\n\n---\n\nb", &[]),
        ("# in the body", "x.md", "# x\n\nkind: let\n\n---\n\n# Title\n\nkind: none".into(), "x let", "# Title\n\nkind: none", &[]),
        ("a round of a loop", "verify_round2_final.md", "v".into(), "verify_round2_final ", "v", &[]),
        ("nested by service", "critic/out.md", kind("output").replace("# x", "# out"), "critic/out output", "v", &[]),
        ("nested: the caller's", "caller/request.md", "Go".into(), "caller/request ", "Go", &[]),
    ];
    let mut wrong = Vec::new();
    for (oddity, path, content, binding, value, told) in cases {
        let path = format!("bindings/{path}");
        let files = [(path.as_str(), content.as_str())];
        let source: std::rc::Rc<dyn Source> = std::rc::Rc::new(folder(&files));
        let session = Session::open(source, "", &Options::default()).unwrap();
        let row = pages::binding_row(&session, 0).unwrap();
        let fields: String = row
            .fields
            .iter()
            .map(|(k, v)| format!(" {k}={v}"))
            .collect();
        let said = format!("{} {}{fields}", row.name, row.kind);
        let view = session
            .value(&crate::pages::session::ValueOf::Binding(0), 1000)
            .unwrap();
        let rules: Vec<&str> = session
            .issues()
            .map(|i| i.rule.as_str())
            .filter(|r| *r != "no-state-file")
            .collect();
        if said != *binding || view.text != *value || rules != *told {
            wrong.push(format!("{oddity}: {said:?} {:?} {rules:?}", view.text));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A binding file may describe its kind in many words. The file contradicts the index only if both have a kind that
/// OpenProse defines, and the kinds differ.
#[test]
fn kinds_of_no_document_do_not_contradict_the_index() {
    for (kind, told) in [
        ("let", &[][..]),
        ("session (parallel branch)", &["unknown-kind"]),
        ("let (reassigned in if-branch)", &["unknown-kind"]),
        ("const", &["index-disagrees"]),
    ] {
        let file = format!("# a\n\nkind: {kind}\n\n---\n\nv");
        let found = read(&[
            ("state.md", &whole(UPDATED, DONE, INDEX)),
            ("bindings/a.md", &file),
        ]);
        assert_eq!(found.rules, told, "{kind}");
    }
}
