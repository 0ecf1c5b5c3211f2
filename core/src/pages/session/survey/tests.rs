use super::*;
use crate::read::sqlite::MemorySource;

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

/// Each case tests that the remaining files of a run are enough to find the run, in one of the forms of
/// docs/reference/formats.md.
#[test]
fn runs_are_found_by_what_is_left_of_them() {
    use FoundKind::{RunFolder, StateFile};
    // Program files without a state file, with each of their names. In a folder of runs, any name is enough.
    for name in [
        "program.prose",
        "current.prose",
        "root.prose.md",
        "check-upstream.prose",
    ] {
        let path = format!("examples/a/.prose/runs/20260213-102121-d28237/{name}");
        check(
            &[(&path, "session \"x\"")],
            &[(RunFolder, "examples/a/.prose/runs/20260213-102121-d28237")],
        );
        let path = format!(".prose/runs/mine/{name}");
        check(
            &[(&path, "session \"x\"")],
            &[(RunFolder, ".prose/runs/mine")],
        );
    }
    // A run that only has bindings.
    check(
        &[("p/.prose/runs/x/bindings/a.md", "v")],
        &[(RunFolder, "p/.prose/runs/x")],
    );
    check(
        &[("20260120-090541-thermo/bindings/s/a.md", "v")],
        &[(RunFolder, "20260120-090541-thermo")],
    );
    // A run of contract 2, a reactor and a download, each with one of its signs.
    for path in [
        "runs/x/receipts/a.jsonl",
        "runs/x/world-model/a/b.md",
        "runs/x/compiled-intent.json",
    ] {
        check(&[(path, "{}")], &[(RunFolder, "runs/x")]);
    }
    check(
        &[("r/receipts.json", "[]"), ("r/compile/topology.json", "{}")],
        &[(RunFolder, "r")],
    );
    check(&[("d/.prose-run-manifest.json", "{}")], &[(RunFolder, "d")]);
    // Other folders may have receipts, too.
    check(&[("shop/receipts/2026.jsonl", "{}")], &[]);
    // A state.md directly in `.prose/runs/` is a run's only if bindings are beside it.
    check(
        &[(".prose/runs/state.md", "# Execution State\n")],
        &[(StateFile, ".prose/runs/state.md")],
    );
    check(
        &[
            (".prose/runs/state.md", "# Execution State\n"),
            (".prose/runs/bindings/a.md", "v"),
        ],
        &[(RunFolder, ".prose/runs")],
    );
    check(
        &[
            (".prose/runs/state.md", "# run:r p\n"),
            (".prose/runs/bindings/a.md", "v"),
            (".prose/runs/b/state.md", "anything"),
        ],
        &[
            (RunFolder, ".prose/runs/b"),
            (StateFile, ".prose/runs/state.md"),
        ],
    );
    // Runs of which only a log or a record is left.
    check(&[("x/vm.log.md", "")], &[(RunFolder, "x")]);
    check(&[("x/STATE.md", "1→ a ✓\n")], &[(RunFolder, "x")]);
    check(
        &[("x/run.json", "{\"run_id\": \"r\"}")],
        &[(RunFolder, "x")],
    );
    check(
        &[("x/receipts.jsonl", "{\"content_hash\":\"sha256:1\"}")],
        &[(RunFolder, "x")],
    );
}

#[test]
fn what_only_looks_like_a_run_is_none() {
    check(
        &[
            // This is a configuration file, not a run.
            (".prose/state.json", "{\"run_id\": \"x\"}"),
            (".prose/current.prose", "session \"x\""),
            ("docs/state.md", "# State machines\n"),
            ("web/run.json", "{\"name\": \"x\"}"),
            ("shop/receipts.jsonl", "{\"total\": 3}"),
            ("programs/program.prose", "session \"x\""),
        ],
        &[],
    );
    // An output that looks like a state file belongs to its run.
    check(
        &[
            ("runs/r/vm.log.md", ""),
            ("runs/r/bindings/writer/state.md", "# Execution State\n"),
            ("runs/r/workspace/writer/state.md", "# run:x y\n"),
        ],
        &[(FoundKind::RunFolder, "runs/r")],
    );
}

#[test]
fn loose_files_of_a_prose_folder_are_looked_into_before_those_of_a_project() {
    let mut files: Vec<(String, String)> = (0..1_000)
        .map(|n| (format!("docs/{n}.md"), "# Text".to_owned()))
        .collect();
    files.push((
        "z/.prose/old.md".to_owned(),
        "# Execution State\n".to_owned(),
    ));
    let pairs: Vec<(&str, &str)> = files
        .iter()
        .map(|(p, t)| (p.as_str(), t.as_str()))
        .collect();
    check(&pairs, &[(FoundKind::StateFile, "z/.prose/old.md")]);
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

/// The folder `state` of a project has truth, ledgers and agents of all its runs (contract-2.md, "Roots").
#[test]
fn what_all_runs_share_is_not_a_run() {
    let receipt = "{\"content_hash\": \"sha256:1\", \"node\": \"x\"}\n";
    check(
        &[
            ("runs/r1/compiled-intent.json", "{}"),
            ("runs/r1/state/world-model/x/receipts.jsonl", receipt),
            ("state/world-model/x/receipts.jsonl", receipt),
            ("state/world-model/x/published/a.md", "a"),
            ("state/world-models/x/world-model/y/a.md", "a"),
            ("state/responsibilities/r/receipts.jsonl", receipt),
            ("state/agents/bob/memory.md", "# Bob"),
            ("state/runs/r2/state.md", "# Execution State"),
        ],
        &[
            (FoundKind::RunFolder, "runs/r1"),
            (FoundKind::RunFolder, "state/runs/r2"),
        ],
    );
}
