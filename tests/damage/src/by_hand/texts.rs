//! Cases with malicious texts in run folders: sizes, depths, encodings (errata R4, R5).

use super::{Make, folder};
use crate::Case;
use crate::Outcome::{self, Either, Shown};

const HEAD: &str = "# Execution State\n\nrun: 20260115-143052-a7b3c9\nprogram: a.prose\nstarted: 2026-01-15T14:30:52Z\n";

/// Returns a case with a state file of this text, and a program.
fn state(name: &str, outcome: Outcome, text: String) -> Case {
    folder(
        name,
        outcome,
        &[("program.prose", "let a = session \"A\"\n")],
    )
    .file("state.md", text)
}

/// Returns a state file with a trace of this text.
fn trace(text: &str) -> String {
    format!("{HEAD}\n## Execution Trace\n\n```prose\n{text}\n```\n")
}

/// Builds a text.
type Text = fn() -> String;

/// Cases with a state file: name, required outcome, and the text of the file.
const STATES: &[(&str, Outcome, Text)] = &[
    (
        "a state file of one line of five megabytes",
        Shown(&[]),
        || format!("{HEAD}{}", "x".repeat(5_000_000)),
    ),
    (
        "a state file of twenty megabytes",
        Shown(&["file-cut"]),
        || format!("{HEAD}{}", "another line\n".repeat(1_600_000)),
    ),
    ("sixty kilobytes of nested quotes", Shown(&[]), || {
        format!("{HEAD}\n{}x\n", ">".repeat(60_000))
    }),
    ("an index of thirty thousand rows", Shown(&[]), || {
        let mut text =
            format!("{HEAD}\n## Index\n\n### Bindings\n\n| Name | Kind | Path |\n|---|---|---|\n");
        for n in 0..30_000 {
            text.push_str(&format!("| a{n} | let | bindings/a{n}.md |\n"));
        }
        text
    }),
    ("a row of two hundred thousand cells", Shown(&[]), || {
        format!(
            "{HEAD}\n## Index\n\n### Bindings\n\n| Name |{}\n",
            " x |".repeat(200_000)
        )
    }),
    ("headings without end", Shown(&[]), || {
        format!(
            "{HEAD}{}",
            "\n## Active Constructs\n\n### Parallel: p (lines 1-2)\n".repeat(20_000)
        )
    }),
    ("fences in fences", Shown(&[]), || {
        format!(
            "{HEAD}\n## Execution Trace\n\n{}",
            "```prose\n````\n~~~\n".repeat(20_000)
        )
    }),
    (
        "a trace of blocks in blocks, four thousand of them",
        Shown(&[]),
        || {
            let lines: Vec<String> = (0..4_000)
                .map(|n| format!("{}do a():  # <-- EXECUTING", " ".repeat(n % 1_000)))
                .collect();
            trace(&lines.join("\n"))
        },
    ),
    ("a trace indented ever deeper", Shown(&[]), || {
        let lines: Vec<String> = (0..1_900)
            .map(|n| format!("{}loop:", " ".repeat(n)))
            .collect();
        trace(&lines.join("\n"))
    }),
    (
        "a trace of a hundred thousand statements",
        Shown(&[]),
        || trace(&"session \"A\"  # (complete)\n".repeat(100_000)),
    ),
    ("a trace of annotations on annotations", Shown(&[]), || {
        trace(&format!(
            "session \"A\" {}",
            "# --> x # (complete) # <-- EXECUTING ".repeat(20_000)
        ))
    }),
    ("a trace of open quotes and brackets", Shown(&[]), || {
        trace(&"session \"\"\"((([[[{{{ ** \n".repeat(20_000))
    }),
    ("numbers of a hundred thousand digits", Shown(&[]), || {
        let n = "9".repeat(100_000);
        format!(
            "{HEAD}\n## Execution Trace\n\n```prose\nrepeat {n} as i:  # iteration {n}/{n}\nloop (max: {n}):\n```\n\n## Call Stack\n\n| execution_id | depth |\n|---|---|\n| {n} | {n} |\n"
        )
    }),
    ("a state file in UTF-16", Shown(&["utf16"]), String::new),
    ("a state file with carriage returns alone", Either, || {
        HEAD.replace('\n', "\r")
    }),
    ("a log of a hundred thousand lines", Shown(&[]), || {
        let mut log = String::from("# run:20260213-113205-0fbf7c a.prose\n");
        for n in 0..100_000 {
            log.push_str(&format!("{}→ s{} ✓\n", n % 50, n % 7));
        }
        log
    }),
    (
        "a log of blocks in blocks, fifty thousand deep",
        Shown(&[]),
        || {
            let mut log = String::from("# run:20260213-113205-0fbf7c a.prose\n");
            for n in 0..50_000 {
                log.push_str(&format!("5→ #{n} block:b#{} X\n", n + 1));
            }
            log
        },
    ),
    ("a log of branches by the thousand", Shown(&[]), || {
        let names: Vec<String> = (0..20_000).map(|n| format!("b{n}")).collect();
        let mut log = format!(
            "# run:20260213-113205-0fbf7c a.prose\n3→ ∥start {}\n",
            names.join(",")
        );
        for n in 0..20_000 {
            log.push_str(&format!("3{}→ b{n} ✓\n", char::from(b'a' + (n % 26) as u8)));
        }
        log
    }),
    ("a log of rounds in rounds", Shown(&[]), || {
        let mut log = String::from("# run:20260213-113205-0fbf7c a.prose\n");
        for n in 0..30_000 {
            log.push_str(&format!(
                "5→ loop:{n}/99999999999\n6→ loop:{}/1 exit(**x**)\n",
                n % 3
            ));
        }
        log
    }),
    ("a log of one line of three megabytes", Shown(&[]), || {
        format!(
            "# run:20260213-113205-0fbf7c a.prose\n1→ {} ✓\n",
            "∥".repeat(1_000_000)
        )
    }),
];

/// Cases with a program beside a healthy state file: name, and the text of the program.
const PROGRAMS: &[(&str, Text)] = &[
    ("a program of a hundred thousand lines", || {
        "let a = session \"A\"\n".repeat(100_000)
    }),
    ("a program of blocks in blocks", || {
        (0..1_900)
            .map(|n| format!("{}if **x**:\n", "  ".repeat(n)))
            .collect()
    }),
    ("a program of one line of two megabytes", || {
        format!("let a = {}", "session | map | ".repeat(130_000))
    }),
    ("a program of arrows and pipes", || {
        format!("let a = {}x", "b -> c | pmap(".repeat(100_000))
    }),
    ("a program of open texts", || {
        "session \"\"\"\nprompt: \"\n".repeat(50_000)
    }),
    ("a program of blocks that call each other", || {
        (0..5_000)
            .map(|n| {
                format!(
                    "block b{n}(a) (max_depth: 99999999999):\n  do b{}(a)\n",
                    (n + 1) % 5_000
                )
            })
            .collect()
    }),
];

pub(super) fn cases() -> Vec<Make> {
    let mut cases: Vec<Make> = Vec::new();
    for (name, outcome, text) in STATES {
        cases.push(Box::new(move || {
            let case = state(name, *outcome, text());
            if !name.ends_with("UTF-16") {
                return case;
            }
            let units = HEAD.encode_utf16().flat_map(u16::to_le_bytes);
            let bytes: Vec<u8> = [0xff, 0xfe]
                .into_iter()
                .chain(units)
                .chain([0xd8])
                .collect();
            Case::new(*name, *outcome).file("state.md", bytes)
        }));
    }
    for (name, text) in PROGRAMS {
        cases.push(Box::new(move || {
            folder(name, Shown(&[]), &[("state.md", HEAD)]).file("program.prose", text())
        }));
    }
    cases.push(Box::new(|| {
        folder(
            "values of twenty megabytes, with and without a header",
            Shown(&[]),
            &[("state.md", HEAD)],
        )
        .file("bindings/a.md", "x\n".repeat(10_000_000))
        .file(
            "bindings/b.md",
            format!(
                "# b\n\nkind: let\n\nsource:\n```prose\n{}",
                "y\n".repeat(5_000_000)
            ),
        )
        .file(
            "bindings/c.md",
            format!("# c\n\nkind: let\n\n---\n\n{}", "[".repeat(10_000_000)),
        )
    }));
    cases.push(Box::new(|| {
        let deep = "[".repeat(400_000);
        folder(
            "JSON nested beyond any stack",
            Shown(&[]),
            &[
                ("state.md", HEAD),
                ("gates/a.pending.json", &deep),
                ("gates/audit.jsonl", &deep),
                ("x_events.jsonl", &deep),
                ("run.json", &deep),
            ],
        )
        .file("receipts.jsonl", format!("{{\"a\":{}", deep))
    }));
    cases.push(Box::new(|| {
        let mut case = folder("ten thousand bindings", Shown(&[]), &[("state.md", HEAD)]);
        for n in 0..10_000 {
            case = case.file(
                format!("bindings/b{}__{n}.md", n % 10),
                *b"# b\n\nkind: let\n\n---\n\nx\n",
            );
        }
        case
    }));
    cases.push(Box::new(|| {
        let log: String = (0..50_000)
            .map(|n| format!("{{\"alias\":\"i{n:05}\",\"source_url\":\"u\"}}\n"))
            .collect();
        let mut case = folder(
            "tens of thousands of imports, thousands of their runs",
            Shown(&[]),
            &[("state.md", HEAD), ("x_imports.jsonl", &log)],
        );
        for n in 0..5_000 {
            case = case.file(format!("imports/i{:05}--u/state.md", 49_999 - n), *b"x\n");
        }
        case
    }));
    cases.push(Box::new(|| {
        let mut case = folder(
            "agents with thousands of segments",
            Shown(&[]),
            &[("state.md", HEAD)],
        );
        for n in 0..5_000 {
            case = case.file(
                format!("agents/a/a-{n:05}.md"),
                *b"# Segment 1\n\nprompt: \"x\"\n\n## Summary\n\n- y\n",
            );
        }
        case.file("agents/a/memory.md", "m\n".repeat(2_000_000))
    }));
    cases.push(Box::new(|| {
        let line = "{\"kind\": \"session\", \"statement_id\": \"s1\", \"status\": \"rendered\", \"run_id\": \"r\"}\n";
        folder("receipts by the hundred thousand", Shown(&[]), &[
            ("state.md", "# Run State — r\n\n**Program:** a.prose\n"), ("run.json", "{\"run_id\": \"r\", \"program\": \"a.prose\"}")])
            .file("receipts.jsonl", line.repeat(100_000))
    }));
    cases.push(Box::new(|| {
        folder(
            "settings of one line of a megabyte",
            Shown(&[]),
            &[(".prose/runs/20260115-143052-a7b3c9/state.md", HEAD)],
        )
        .file(
            ".prose/.env",
            format!("A={}\n{}", "x".repeat(1_000_000), "B=\"\n".repeat(50_000)),
        )
    }));
    cases
}
