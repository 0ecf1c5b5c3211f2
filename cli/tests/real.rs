//! Tests of what `show`, `trace`, `resume` and `check` print about small runs that imitate the records of real runs.
//! The cases are in core/tests/fixtures/real.json and real-more.json; `core/tests/real` checks the facts of the same
//! cases.

#[path = "shared/habits.rs"]
mod habits;

use habits::{RUN, project, run};
use serde_json::Value;
use tempfile::TempDir;

/// Puts the files of a case into a run folder of a project, and returns all that the commands print about the run.
fn printed(files: &Value) -> String {
    let texts = files.as_object().expect("paths and texts").iter();
    let texts = texts.map(|(path, text)| (&**path, text.as_str().expect("a text")));
    let project = project(texts);
    let mut printed = String::new();
    for command in ["show", "trace", "resume", "check"] {
        let (code, said) = said(&project, &[command, RUN]);
        assert!(matches!(code, 0 | 1), "{said}");
        printed.push_str(&said);
    }
    printed
}

/// Runs a command in a project. Returns its exit code and all its output.
fn said(project: &TempDir, args: &[&str]) -> (i32, String) {
    let out = run(project, args);
    let said = format!(
        "$ prosescope {}\n{}{}",
        args.join(" "),
        String::from_utf8_lossy(&out.stdout),
        String::from_utf8_lossy(&out.stderr)
    );
    (out.status.code().unwrap_or(-1), said)
}

fn texts<'c>(expect: &'c Value, key: &str) -> Vec<&'c str> {
    let list = expect[key].as_array().map(Vec::as_slice);
    let list = list.unwrap_or_default().iter();
    list.map(|text| text.as_str().expect("a text")).collect()
}

/// With `PROSE_PRINTED=name`, the test prints the whole output of the cases whose names contain that text.
#[test]
fn what_a_person_reads_from_real_habits_is_printed() {
    let files = [
        include_str!("../../core/tests/fixtures/real.json"),
        include_str!("../../core/tests/fixtures/real-more.json"),
    ];
    let files: [Value; 2] =
        files.map(|text| serde_json::from_str(text).expect("the fixture is JSON"));
    let mut problems = Vec::new();
    for case in files
        .iter()
        .flat_map(|file| file["cases"].as_array().expect("it lists cases"))
    {
        let (name, expect) = (case["name"].as_str().expect("a name"), &case["expect"]);
        let printed = printed(&case["files"]);
        if std::env::var("PROSE_PRINTED").is_ok_and(|part| name.contains(&part)) {
            println!("{name}\n{printed}");
        }
        // Commands wrap lines, so the texts are compared without line breaks.
        let printed: Vec<&str> = printed.split_whitespace().collect();
        let printed = printed.join(" ");
        let lower = printed.to_lowercase();
        let mut problem = |key: &str, why: String| {
            problems.push(format!("{name}: {key}: {why}"));
        };
        for (key, of) in [("text", "text"), ("notes printed", "notes")] {
            let missing: Vec<&str> = texts(expect, of)
                .into_iter()
                .filter(|text| !printed.contains(text))
                .collect();
            if !missing.is_empty() {
                problem(key, format!("{missing:?} is not in what is printed"));
            }
        }
        let there: Vec<&str> = texts(expect, "text_absent")
            .into_iter()
            .filter(|text| lower.contains(&text.to_lowercase()))
            .collect();
        if !there.is_empty() {
            problem("text_absent", format!("{there:?} is printed"));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

const LOG: &[(&str, &str)] = &[
    (
        "program.prose",
        "let a = session \"A\"\nlet b = session \"B\"\nlet c = session \"C\"\n",
    ),
    (
        "state.md",
        "# run:20260104-101500-case01 p.prose\n7→ a ✓\n9→ loop:1/4\n9→ b ✓\n9→ loop:2/4\n8→ c ⊘ deferred (no key)\n",
    ),
];

const FOREIGN: &[(&str, &str)] = &[
    ("program.prose", "let a = session \"A\"\n"),
    (
        "state.md",
        "# Execution State\n\nrun: 20260104-101500-case01\nprogram: p.prose\n\n## Execution Trace\n\n```prose\nfetch the list   # (complete)\nlet b = session \"B\"   # --> bindings/b.md\nsort it   # <-- EXECUTING\n```\n",
    ),
];

const OTHERS: &[(&str, &str)] = &[
    ("program.prose", "let a = session \"A\"\n"),
    (
        "state.md",
        "# run:20260104-101500-case01 p.prose\n1→ [input] topic ✓\n4→ fetch ✓\n5→ sort ✗ no disk\n---error 2026-01-04T10:20:00Z\n",
    ),
];

const SEALED: &[(&str, &str)] = &[
    (
        "state.md",
        "{\n\t\"data\": \"ENC[AES256_GCM,data:x]\",\n\t\"sops\": {}\n}\n",
    ),
    ("bindings/plan.md", "A plan.\n"),
];

const RECEIPTS: &[(&str, &str)] = &[
    (
        "run.json",
        "{\"run_id\": \"20260104-101500-case01\", \"status\": \"completed\", \"receipt_count\": 3}\n",
    ),
    (
        "receipts.jsonl",
        "{\"content_hash\": \"sha256:1\", \"prev\": null}\n{\"content_hash\": \"sha256:2\", \"prev\": \"sha256:1\"}\n",
    ),
];

const REACTOR: &[(&str, &str)] = &[(
    "receipts.json",
    "[{\"content_hash\":\"sha256:1\",\"schema\":\"openprose.receipt\"}]\n",
)];

/// Exit codes and outputs for runs that the other cases do not cover.
#[test]
fn commands_say_what_is_there_and_end_so() {
    type Files = &'static [(&'static str, &'static str)];
    type Texts = &'static [&'static str];
    /// A case: the files of a run, a command, its exit code, texts that it prints, and texts that it must not print.
    type Habit = (Files, Texts, i32, Texts, Texts);
    let cases: &[Habit] = &[
        // If a recorded statement is missing in the program, `state` still prints the statement, without an invented
        // status (W6).
        (
            FOREIGN,
            &["state", RUN],
            0,
            &[
                "fetch the list",
                "# --> bindings/b.md",
                "sort it",
                "# <-- EXECUTING",
            ],
            &["status:", "[...next...]"],
        ),
        (
            OTHERS,
            &["state", RUN],
            0,
            &[
                "status: failed",
                "fetch ",
                "# (complete)",
                "sort ",
                "# (failed: no disk)",
            ],
            &["topic ", "[...next...]"],
        ),
        // A ledger that lacks one of its receipts is an error (W8).
        (RECEIPTS, &["check", RUN], 1, &["counts 3 receipts"], &[]),
        // A row without an execution number has a place `~N`, and commands take this place (W11).
        (LOG, &["trace", RUN], 0, &["~0", "~1"], &[]),
        (
            LOG,
            &["trace", RUN, "--node", "~0"],
            0,
            &["let a = session"],
            &[],
        ),
        (
            LOG,
            &["trace", RUN, "--node", "1"],
            3,
            &["a place from ~0 to ~5"],
            &[],
        ),
        (
            LOG,
            &["trace", RUN, "--node", "~99"],
            3,
            &["place ~99 does not exist"],
            &[],
        ),
        // An encrypted run hides the statements that ran, but shows which files exist (W12).
        (SEALED, &["get", "plan", "--run", RUN], 0, &["A plan."], &[]),
        (
            SEALED,
            &["get", "nope", "--run", RUN],
            3,
            &["no binding nope"],
            &[],
        ),
        (
            SEALED,
            &["get", "nope", "--run", RUN, "--from", "4"],
            5,
            &["encrypted"],
            &[],
        ),
        // The receipts of a reactor are shown under their own name (W14).
        (
            REACTOR,
            &["show", ".prose/runs/20260104-101500-case01/receipts.json"],
            5,
            &["receipts of a reactor"],
            &[],
        ),
    ];
    let mut problems = Vec::new();
    for (files, args, code, wanted, unwanted) in cases {
        let project = project(files.iter().copied());
        let (got, said) = said(&project, args);
        let missing: Vec<_> = wanted
            .iter()
            .filter(|text| !said.contains(**text))
            .collect();
        let there: Vec<_> = unwanted
            .iter()
            .filter(|text| said.contains(**text))
            .collect();
        if got != *code || !missing.is_empty() || !there.is_empty() {
            problems.push(format!(
                "{code} wanted, {got} got; {missing:?} missing, {there:?} there:\n{said}"
            ));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// openclaw-prose writes the list of chats beside its runs. The list is read for a run by its id and by its path.
#[test]
fn the_list_of_chats_beside_a_run_names_its_writer() {
    let chats = format!("{{\"agent:main:web\": \"{RUN}\"}}");
    let state = format!("# run:{RUN} p.prose\n1→ a ✓\n---end 2026-01-04T10:20:00Z\n");
    let files = [("state.md", &*state), ("../sessions.json", &chats)];
    let project = project(files);
    let path = format!(".prose/runs/{RUN}");
    let file = format!("{path}/state.md");
    for run in [RUN, &path, &file] {
        let (_, said) = said(&project, &["show", run]);
        assert!(said.contains("openclaw-prose"), "{said}");
        assert!(said.contains("agent:main:web"), "{said}");
    }
}
