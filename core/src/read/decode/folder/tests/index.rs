//! Tests which source is used when a binding's file name, its header and the index differ.

use super::*;

/// A file `result__43.md` is the binding `result` of frame 43 only if its header does not contradict that (errata,
/// "Folder form" and B11).
#[test]
fn a_scoped_name_is_believed_only_when_its_header_agrees() {
    for (path, text, expected, rule) in [
        (
            "bindings/r__43.md",
            "# r\nkind: let\nexecution_id: 43\n---\nv",
            "r of 43 let bindings/r__43.md+35",
            None,
        ),
        (
            "bindings/r__43.md",
            "# r\nkind: let\n---\nv",
            "r of 43 let bindings/r__43.md+18",
            None,
        ),
        (
            "bindings/r__43.md",
            "# r\nkind: let\nexecution_id: 44\n---\nv",
            "r of 44 let bindings/r__43.md+35",
            Some("binding-frame"),
        ),
        (
            "bindings/r__43.md",
            "# r__43\nkind: let\nexecution_id: (root)\n---\nv",
            "r__43 let bindings/r__43.md+43",
            Some("binding-frame"),
        ),
        (
            "bindings/r.md",
            "# r\nkind: let\nexecution_id: 7\n---\nv",
            "r of 7 let bindings/r.md+34",
            Some("binding-frame"),
        ),
        (
            "bindings/__43.md",
            "# x\nkind: let\n---\nv",
            "__43 let bindings/__43.md+18",
            Some("binding-heading"),
        ),
        ("bindings/r__x.md", "v", "r__x  bindings/r__x.md+0", None),
        (
            "bindings/service/out.md",
            "v",
            "service/out  bindings/service/out.md+0",
            None,
        ),
        (
            "bindings/data.json",
            "{}",
            "data.json  bindings/data.json+0",
            None,
        ),
    ] {
        let run = run(&[("state.md", STATE), (path, text)]);
        assert_eq!(bindings(&run), [expected], "{path}: {text}");
        let found: Vec<_> = rules(&run)
            .into_iter()
            .filter(|r| *r != "binding-not-indexed")
            .collect();
        assert_eq!(
            found,
            rule.into_iter().collect::<Vec<_>>(),
            "{path}: {text}"
        );
    }
    let told = run(&[(
        "bindings/r__43.md",
        "# r\nkind: let\nexecution_id: 44\n---\nv",
    )]);
    let issue = told
        .issues
        .iter()
        .find(|i| i.rule == "binding-frame")
        .unwrap();
    assert_eq!(
        issue.message,
        "the name of bindings/r__43.md contains frame 43, but its header names frame 44"
    );
}

#[test]
fn contradictions_of_index_and_disk_are_reported() {
    let index = |rows: &str| {
        format!(
            "{STATE}\n## Index\n\n| Name | Kind | Path | Execution ID |\n|---|---|---|---|\n{rows}"
        )
    };
    let check =
        |rows: &str, files: &[(&str, &str)], expected: &[&str], rule: &str, message: &str| {
            let state = index(rows);
            let mut all = vec![("state.md", state.as_str())];
            all.extend(files);
            let run = run(&all);
            assert_eq!(bindings(&run), expected, "{rows}");
            let found: Vec<_> = run
                .issues
                .iter()
                .filter(|i| i.rule != "state-file-incomplete")
                .map(|i| (i.rule.as_str(), i.message.as_str()))
                .collect();
            assert_eq!(found, [(rule, message)], "{rows}");
        };
    let a = ("bindings/a.md", "# a\nkind: let\n---\nv");
    check(
        "| b | let | bindings/b.md | (root) |\n",
        &[],
        &["b let missing"],
        "binding-missing",
        "the index of state.md names b, but there is no such file",
    );
    check(
        "",
        &[a],
        &["a let bindings/a.md+18"],
        "binding-not-indexed",
        "bindings/a.md is on disk, but not in the index of state.md",
    );
    check(
        "| a | const | bindings/a.md | 7 |\n",
        &[a],
        &["a let bindings/a.md+18"],
        "index-disagrees",
        "the index and the file bindings/a.md differ: the index has frame 7, the file the root; the index has the kind const, the file let",
    );
    let state = index(
        "| c | let | ./bindings/c.md | (root) |\n| a | let | .prose/runs/r1/bindings/a.md | (root) |\n",
    );
    let run = run(&[
        ("state.md", &state),
        a,
        ("bindings/C.md", "x"),
        ("bindings/c.md", "x"),
    ]);
    assert_eq!(
        bindings(&run),
        [
            "c  bindings/c.md+0",
            "a let bindings/a.md+18",
            "C  bindings/C.md+0"
        ]
    );
    assert_eq!(rules(&run), ["binding-not-indexed"]);
}

#[test]
fn files_that_repeat() {
    let run = run(&[
        ("bindings/A.md", "x"),
        ("bindings/a.md", "x"),
        ("bindings/r__043.md", "x"),
        ("bindings/r__43.md", "x"),
        ("bindings/s.md", "# s\nkind: session (anonymous)\n---\nx"),
    ]);
    assert_eq!(
        bindings(&run),
        [
            "A  bindings/A.md+0",
            "a  bindings/a.md+0",
            "r of 43  bindings/r__043.md+0 superseded",
            "r of 43  bindings/r__43.md+0",
            "s session (anonymous) bindings/s.md+34",
        ]
    );
    assert_eq!(
        rules(&run),
        ["unknown-kind", "duplicate-binding", "no-state-file"]
    );
    assert_eq!(
        run.issues[1].message,
        "bindings/r__043.md and bindings/r__43.md both contain the binding r of frame 43"
    );
}
