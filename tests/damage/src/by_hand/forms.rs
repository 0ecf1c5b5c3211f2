//! Cases with run folders in real and possible states: outdated, mixed, inconsistent.

use super::{Make, RUN, documents, folder};
use crate::Outcome::{self, Either, Refused, Shown};
use crate::folders::{A, AGENTS, B, C, D, Files};

/// Returns a state file with a head, followed by the given text.
macro_rules! state {
    ($rest:expr) => {
        concat!(
            "# Execution State\n\nrun: 20260115-143052-a7b3c9\nprogram: a.prose\n",
            $rest
        )
    };
}

/// Each case: its name, the required outcome, and the files of the folder.
const FOLDERS: &[(&str, Outcome, Files)] = &[
    (
        "executing by its file, done by its disk",
        Shown(&[]),
        &[
            (
                "state.md",
                state!(
                    "\n## Execution Trace\n\n```prose\nlet a = session \"A\"  # <-- EXECUTING\nlet b = session \"B\"\nlet c = session \"C\"\n```\n"
                ),
            ),
            (
                "program.prose",
                "let a = session \"A\"\nlet b = session \"B\"\nlet c = session \"C\"\n",
            ),
            ("bindings/a.md", "# a\n\nkind: let\n\n---\n\nA\n"),
            ("bindings/b.md", "# b\n\nkind: let\n\n---\n\nB\n"),
            ("bindings/c.md", "C\n"),
        ],
    ),
    (
        "round one by its file, four by its disk",
        Shown(&[]),
        &[
            (
                "state.md",
                state!(
                    "status: running\n\n## Execution Trace\n\n```prose\nloop until **ok** (max: 9):  # round 1/9\n  let v = session \"V\"  # <-- EXECUTING\n```\n"
                ),
            ),
            ("bindings/v_round1.md", "1"),
            ("bindings/v_round2.md", "2"),
            ("bindings/v_round3.md", "3"),
            ("bindings/v_round4_final.md", "4"),
        ],
    ),
    (
        "keys that the document does not have",
        Shown(&[]),
        &[(
            "state.md",
            state!(
                "status: COMPLETED\ncompleted: 2026-01-15T14:33:30Z\nmood: good\n: no key\nno value:\n\n## Results Summary\n\nAll fine.\n\n## Outputs\n\n- x\n"
            ),
        )],
    ),
    (
        "nothing, said in every way",
        Shown(&[]),
        &[(
            "state.md",
            state!(
                "\n## Active Constructs\n\n(none - execution complete)\n\n## Index\n\n### Bindings\n\n| Name | Kind | Path |\n|---|---|---|\n| (none yet) | | |\n\n### Agents\n\nNone\n\n## Call Stack\n\nEmpty (root scope)\n"
            ),
        )],
    ),
    (
        "an index in every form",
        Shown(&[]),
        &[
            (
                "state.md",
                state!(
                    "\n## Index\n\n### Bindings\n\n- spec: bindings/spec.md\n- round1: (pending)\n\n| Name | Kind | Path | Status |\n|---|---|---|---|\n| a | let | bindings/a.md | done | extra | more |\n| b |\n||||||\n\n### Agents\n\n| Name | Model | Prompt |\n|---|---|---|\n| pilot | sonnet | Sail. |\n"
                ),
            ),
            ("bindings/spec.md", "spec"),
        ],
    ),
    (
        "a trace that is no program",
        Shown(&[]),
        &[
            (
                "state.md",
                state!(
                    "\n## Execution Trace\n\n```prose\n...remaining stages...\n✓ DONE\n✓ defined\n}}}} # [registered]\n# --> exceptions.py created\n)(*&^ # (complete - APPROVED)\n```\n"
                ),
            ),
            ("program.prose", "let a = session \"A\"\n"),
        ],
    ),
    (
        "a trace whose fence never closes",
        Shown(&[]),
        &[
            (
                "state.md",
                state!(
                    "\n## Execution Trace\n\n```prose\nlet a = session \"A\"\n\n## Index\n\n- a: bindings/a.md\n"
                ),
            ),
            ("bindings/a.md", "a"),
        ],
    ),
    (
        "frames in a circle",
        Shown(&[]),
        &[
            (
                "state.md",
                state!(
                    "\n## Call Stack\n\n| execution_id | block | depth | parent |\n|---|---|---|---|\n| 1 | a | 1 | 2 |\n| 2 | b | 2 | 1 |\n| 3 | c | 3 | 3 |\n"
                ),
            ),
            (
                "bindings/x__1.md",
                "# x\n\nexecution_id: 1\nparent_execution_id: 2\n\n---\n\nx\n",
            ),
            (
                "bindings/x__2.md",
                "# x\n\nexecution_id: 2\nparent_execution_id: 1\n\n---\n\nx\n",
            ),
            (
                "bindings/x__3.md",
                "# x\n\nexecution_id: 3\nparent_execution_id: 3\n\n---\n\nx\n",
            ),
        ],
    ),
    (
        "names and headers that disagree",
        Shown(&[]),
        &[
            ("state.md", state!("")),
            (
                "bindings/x__43.md",
                "# y\n\nkind: let\nexecution_id: 44\n\n---\n\nx\n",
            ),
            (
                "bindings/result\\_\\_43.md",
                "# result\\_\\_43\n\nkind: let\n\n---\n\nx\n",
            ),
            ("bindings/x__99999999999999999999.md", "x"),
            ("bindings/__.md", "x"),
            ("bindings/.md", "x"),
            ("bindings/x", "x"),
            ("bindings/X__43.md", "x"),
        ],
    ),
    (
        "values with rules and headings in them",
        Shown(&[]),
        &[
            ("state.md", state!("")),
            (
                "bindings/a.md",
                "# a\n\nkind: let\n\nsource:\n```prose\nlet a = session\n```\nstderr: x\n\n---\n\n# Heading\n\n---\n\n---\n\n# run:x\n",
            ),
            ("bindings/b.md", "---\n---\n---\n"),
            (
                "bindings/c.md",
                "# c\n\nkind: let\nsource:\n```prose\nnever closed\n\n---\n\nvalue\n",
            ),
            ("bindings/d.md", "# d\n\nkind: let\nno rule, no value"),
        ],
    ),
    (
        "encrypted values and logs",
        Shown(&[]),
        &[
            (
                "state.md",
                "{\"data\": \"ENC[AES256_GCM,data:abc,type:str]\", \"sops\": {\"mac\": \"x\"}}\n7→ plan ✓\n---end 2026-02-13T10:57:50Z\n",
            ),
            (
                "bindings/a.md",
                "{\"data\": \"ENC[AES256_GCM,data:abc,type:str]\", \"sops\": {}}",
            ),
            ("program.prose", "{\"data\": \"ENC[x]\", \"sops\": {}}"),
        ],
    ),
    (
        "a log that crashed after its head",
        Shown(&[]),
        &[("state.md", "# run:20260213-064959- check-upstream.prose\n")],
    ),
    (
        "a log with every kind of line, twice and backwards",
        Shown(&[]),
        &[(
            "state.md",
            "# run:20260213-113205-0fbf7c a.prose\n5→ #1 done\n5→ block:b#1 X\n3→ ∥done\n3z→ z ✓\n3→ ∥start a,b\n3→ ∥start a,b\n3→ ∥start\n5→ loop:9/5 exit(**\n5→ loop:/\n5→ loop:-1/0\n→ ✓\n-> ✗\n99999999999999999999→ x ✓\n4→ retry:3/2\n⊘ deferred (\n---end\n---end 2026-02-13T10:57:50Z\n---error\n---resume\n1→ again ✓\n",
        )],
    ),
    (
        "a database in a run folder that says otherwise",
        Shown(&[]),
        &[
            (
                "state.md",
                state!(
                    "status: completed\n\n## Execution Trace\n\n```prose\nlet z = session \"Z\"  # <-- EXECUTING\n```\n"
                ),
            ),
            ("bindings/z.md", "z"),
        ],
    ),
    (
        "gates that were decided twice, by files that are none",
        Shown(&[]),
        &[
            ("state.md", state!("")),
            (
                "gates/a.pending.json",
                "{\"id\": 1, \"prompt\": [], \"allow\": {}, \"timeout\": -1}",
            ),
            ("gates/a.resolved.json", "{\"decision\": \"maybe\"}"),
            ("gates/b.resolved.json", "[1, 2"),
            ("gates/.pending.json", "null"),
            (
                "gates/audit.jsonl",
                "{}\n[]\nnull\n{\"id\": \"x\"}\n\u{0}\n{\"id\": 1e999}\n",
            ),
            (
                "x_events.jsonl",
                "{\"id\": 9223372036854775807, \"parent_id\": 9223372036854775807}\n{\"id\": 1.5}\n{\"status\": {}}\n",
            ),
        ],
    ),
    (
        "settings of every kind",
        Shown(&[]),
        &[
            (
                ".prose/.env",
                "export A='x\nB=\"y\n=z\nC\nKEY=\u{0}\nOPENPROSE_POSTGRES_URL=postgresql://a:b@c:d/e?f#g\n\u{feff}D=1\nE=postgres://:@\nPASSWORD=\"\"\"\nexport export export F=1\n",
            ),
            (".prose/runs/20260115-143052-a7b3c9/state.md", state!("")),
        ],
    ),
    (
        "configuration in place of a run",
        Refused(""),
        &[(".prose/state.json", "{\"telemetry\": \"enabled\"}")],
    ),
    (
        "a folder of somebody else",
        Refused(""),
        &[("notes.md", "# Shopping\n"), ("a/b/c.txt", "x")],
    ),
    (
        "run.json that is no record",
        Either,
        &[
            ("run.json", "{\"run_id\": [], \"status\": {}}"),
            ("receipts.jsonl", "[[[[\nnull\n{}\n"),
            ("state.md", "# Run State — \n\n**Status**\n**Program:**\n"),
        ],
    ),
];

pub(super) fn cases() -> Vec<Make> {
    let mut cases: Vec<Make> = Vec::new();
    for (name, outcome, files) in FOLDERS {
        cases.push(Box::new(move || {
            let case = folder(name, *outcome, files);
            if name.starts_with("a database in") {
                case.file("state.db", documents(RUN))
            } else {
                case
            }
        }));
    }
    for (name, files) in [
        ("a state.db that is no database beside form A", A),
        ("a state.db that is no database beside form B", B),
        ("a state.db that is no database beside form C", C),
        ("a state.db that is no database beside form D", D),
    ] {
        cases.push(Box::new(move || {
            folder(name, Shown(&["database-unreadable"]), files)
                .file("state.db", *b"SQLite format 3\0 and no more")
        }));
    }
    cases.push(Box::new(|| {
        folder(
            "an agents.db that is no database",
            Shown(&["agents-unreadable"]),
            &[(".prose/runs/20260115-143052-a7b3c9/state.md", state!(""))],
        )
        .file(".prose/agents.db", *b"SQLite format 3\0")
    }));
    cases.push(Box::new(|| {
        folder("agents and nothing else", Shown(&[]), AGENTS)
    }));
    cases.push(Box::new(|| {
        let mut case = folder(
            "nested runs, two hundred deep",
            Shown(&[]),
            &[("state.md", state!(""))],
        );
        let mut path = String::new();
        for n in 0..200 {
            path.push_str(&format!("imports/a--b{n}/"));
            case = case.file(format!("{path}state.md"), *b"# Execution State\n\nrun: x\n");
        }
        case
    }));
    cases
}
