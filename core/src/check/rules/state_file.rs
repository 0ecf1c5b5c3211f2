use crate::check::{Example, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule::info("state-file-incomplete", "The state file lacks parts that its form has.")
        .fix("What is missing is told from the disk as far as it can be.")
        .source("filesystem.md, state.md")
        .files(&[("state.md", "# Execution State\n\nrun: r1\n")]),
    Rule::warning("state-file-title", "The state file has another title than its form, and was read as that form by its sections.")
        .fix("Begin it with `# Execution State`.")
        .source("filesystem.md, state.md")
        .files(&[("state.md", "# My run\n\nrun: r1\n\n## Execution Trace\n\n```prose\nsession \"A\"   # (complete)\n```\n")]),
    Rule::warning("state-file-cut", "The state file is longer than is held.")
        .fix("The file itself shows the rest.")
        .source("reliability, untrusted files")
        .told("A trace of over 100,000 lines.", "core/src/decode/state_md/tests.rs"),
    Rule::warning("state-file-encrypted", "The state file is encrypted: how the run stands and what was executed are not readable.")
        .fix("Decrypt the file and read the run again.")
        .source("dialects, B")
        .files(&[("state.md", "-----BEGIN AGE ENCRYPTED FILE-----\nYWdl\n-----END AGE ENCRYPTED FILE-----\n")]),
    Rule::warning("state-file-foreign", "The state file is of no known form: JSON, other text.")
        .fix("Read the file itself: `prosescope view` shows it.")
        .source("dialects, A to D")
        .files(&[("state.md", "We are about half way through.\n")]),
    Rule::info("state-file-not-read", "The state file is of a form whose head is read and whose body is shown as text.")
        .fix("Nothing has to be done.")
        .source("dialects, A to D")
        .files(&[("vm.log.md", "# VM Log\n\n- started\n"), ("root.prose.md", "session \"A\"\n")]),
    Rule::info("state-file-alone", "Only the state file was given: bindings and memories are named, but not here.")
        .fix("Give the whole run folder to see them.")
        .source("viewer, Opening")
        .files(&[("kept.md", "# Execution State\n\nrun: r1\nprogram: p.prose\n")]),
    Rule::info("elided-trace", "The execution trace leaves lines out (`...remaining stages...`).")
        .fix("Keep program.prose with the run.")
        .source("dialects, A")
        .files(&[(
            "state.md",
            "# Execution State\n\nrun: r1\nprogram: p.prose\n\n## Execution Trace\n\n```prose\nlet a = session \"A\"   # (complete)\n...remaining stages...\n```\n",
        )]),
    Rule::info("extra-section", "The state file has a section that no document lists.")
        .fix("Nothing has to be done.")
        .source("dialects, A")
        .files(&[("state.md", "# Execution State\n\nrun: r1\nprogram: p.prose\n\n## Results Summary\n\nAll is well.\n")]),
    Rule::info("unfenced-trace", "The execution trace stands without a code fence.")
        .fix("Put it between ```prose and ```: a Markdown formatter will mangle it otherwise.")
        .source("filesystem.md, state.md")
        .files(&[(
            "state.md",
            "# Execution State\n\nrun: r1\nprogram: p.prose\n\n## Execution Trace\n\nsession \"A\"   # (complete)\n",
        )]),
    Rule::info("index-without-frames", "The index of bindings has no column Execution ID.")
        .fix("Add the column Execution ID, with `(root)` or the frame's id.")
        .source("dialects, A")
        .files(&[(
            "state.md",
            "# Execution State\n\nrun: r1\nprogram: p.prose\n\n## Index\n\n### Bindings\n\n| Name | Kind | Path |\n|---|---|---|\n| a | let | bindings/a.md |\n",
        )]),
    Rule::warning("another-run", "The state file beside a database, or run.json, speaks of another run.")
        .fix("Find out which file was copied into the wrong folder, or keep a folder for each run.")
        .source("dialects, A to D")
        .example(Example::Beside(
            "INSERT INTO run (id) VALUES ('r1');",
            &[("state.md", "# Execution State\n\nrun: r2\nprogram: p.prose\n")],
        )),
    Rule::warning("state-file-contradicts-rows", "The state file and the rows of the database beside it say different things.")
        .fix("Find out which was written later. Keep one of them: a run is told once.")
        .source("dialects, state.db; trace rule 10")
        .example(Example::Beside(
            "INSERT INTO run (id, program_path) VALUES ('r1', 'a.prose');",
            &[("state.md", "# Execution State\n\nrun: r1\nprogram: b.prose\n")],
        )),
    Rule::warning("state-file-behind", "Bindings are on disk whose statements the state file does not mark.")
        .fix("Do not run these statements again. Mark them as done when you go on.")
        .source("trace rule 10; dialects, A")
        .files(&[
            ("program.prose", "let a = session \"A\"\nlet b = session \"B\"\n"),
            (
                "state.md",
                "# Execution State\n\nrun: r1\nprogram: program.prose\n\n## Execution Trace\n\n```prose\nlet a = session \"A\"   # --> bindings/a.md\nlet b = session \"B\"\n```\n",
            ),
            ("bindings/a.md", "# a\n\nkind: let\n\n---\n\none\n"),
            ("bindings/b.md", "# b\n\nkind: let\n\n---\n\ntwo\n"),
        ]),
    Rule::warning("marker-contradicts-disk", "A statement is marked as running, but its binding is written.")
        .fix("Do not run the statement again. Mark it as done when you go on.")
        .source("trace rule 10; dialects, A")
        .files(&[
            ("program.prose", "let a = session \"A\"\n"),
            (
                "state.md",
                "# Execution State\n\nrun: r1\nprogram: program.prose\n\n## Execution Trace\n\n```prose\nlet a = session \"A\"   # <-- EXECUTING\n```\n",
            ),
            ("bindings/a.md", "# a\n\nkind: let\n\n---\n\none\n"),
        ]),
    Rule::warning("round-behind-disk", "The state file is at an earlier round of a loop than the bindings on disk.")
        .fix("Do not run the earlier rounds again.")
        .source("trace rule 10; dialects, bindings")
        .files(&[
            ("program.prose", "loop until **done** (max: 5):\n  verify = session \"Verify\"\n"),
            (
                "state.md",
                "# Execution State\n\nrun: r1\nprogram: program.prose\n\n## Execution Trace\n\n```prose\nloop until **done** (max: 5):   # <-- EXECUTING\n  verify = session \"Verify\"\n```\n\n## Active Constructs\n\n### Loop (lines 1-2)\n\n- status: executing\n- iteration: 1/5\n",
            ),
            ("bindings/verify_round3.md", "# verify_round3\n\nkind: let\n\n---\n\nok\n"),
        ]),
    Rule::info("trace-beyond-program", "Annotated lines of the state file are not in the program.")
        .fix("Keep the program that was run with the run.")
        .source("dialects, A")
        .files(&[
            ("program.prose", "let a = session \"A\"\n"),
            (
                "state.md",
                "# Execution State\n\nrun: r1\nprogram: program.prose\n\n## Execution Trace\n\n```prose\nlet a = session \"A\"   # (complete)\nsession \"Water the orchids twice\"   # (complete)\n```\n",
            ),
        ]),
    Rule::warning("log-sealed", "An encrypted envelope stands before the lines of a log: what it holds is not known.")
        .fix("Decrypt the file, if it is yours. Until then bindings tell what ran before the lines.")
        .source("dialects, B")
        .files(&[(
            "state.md",
            "{\n  \"data\": \"ENC[AES256_GCM,data:WY==,type:str]\",\n  \"sops\": {\"version\": \"3.11.0\"}\n}\n12→ encrypt ✓\n---end 2026-02-15T06:51:30Z\n",
        )]),
    Rule::warning("log-after-end", "A log goes on behind its end, and no `---resume` stands between.")
        .fix("Find out whether the run went on. A run that is taken up again should say `---resume` first.")
        .source("dialects, B")
        .files(&[("state.md", "# run:r1 p.prose\n1→ plan ✓\n---end 2026-02-13T10:57:50Z\n2→ code ✓\n")]),
    Rule::info("log-frame-unknown", "A line of a log speaks of a frame that nothing entered.")
        .fix("Nothing has to be done. Writers should say `block:name#1` before they speak of `#1`.")
        .source("dialects, B")
        .files(&[("state.md", "# run:r1 p.prose\n5→ #1 impl ✓\n")]),
    Rule::info("log-frame-twice", "A frame of a log is entered again after it was left.")
        .fix("Give each invocation an id of its own: the scope of its bindings hangs on it.")
        .source("dialects, B")
        .files(&[("state.md", "# run:r1 p.prose\n5→ block:implement#1\n5→ #1 done\n6→ block:implement#1\n")]),
    Rule::info("branch-not-announced", "A branch of a log runs that its parallel did not announce.")
        .fix("Nothing has to be done. Writers should name all branches behind `∥start`.")
        .source("dialects, B")
        .files(&[("state.md", "# run:r1 p.prose\n3→ ∥start a,b\n3c→ c ✓\n")]),
];
