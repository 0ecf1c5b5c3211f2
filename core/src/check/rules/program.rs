use crate::check::Rule;

pub(super) const RULES: &[Rule] = &[
    Rule::info(
        "several-programs",
        "The folder holds several programs and none is called program.prose.",
    )
    .fix("Name the run's copy program.prose.")
    .source("filesystem.md, Directory Structure")
    .files(&[
        ("first.prose", "session \"A\"\n"),
        ("second.prose", "session \"B\"\n"),
    ]),
    Rule::warning(
        "program-encrypted",
        "The program is an encrypted envelope: nothing can be tied to its lines.",
    )
    .fix("Decrypt the run's copy, if it is yours.")
    .source("dialects, B")
    .files(&[
        ("bindings/a.md", "# a\n\nkind: let\n\n---\n\ntext\n"),
        (
            "program.prose",
            "{\n\t\"data\": \"ENC[AES256_GCM,data:AAAA,tag:BBBB,type:str]\"\n}\n",
        ),
    ]),
    Rule::info(
        "import-name",
        "A folder of an import is not named `{handle}--{slug}`.",
    )
    .fix("Name it so, or `handle.name` will not find it.")
    .source("filesystem.md, Imports Recursive Structure")
    .files(&[
        ("program.prose", "session \"A\"\n"),
        ("imports/survey/program.prose", "session \"B\"\n"),
    ]),
    Rule::info(
        "import-binding",
        "A dotted name belongs to an import whose own run has to be opened to see it.",
    )
    .fix("Open the nested run; its bindings are there.")
    .source("errata B12")
    .told(
        "`prosescope get survey.demand` where the nested run has no binding `demand`.",
        "core/src/scope/tests.rs",
    ),
    Rule::info("no-program", "The run holds no program: nothing is tied to lines, and what would run next is not known.")
        .fix("Keep a copy of the program with the run: in `run.program_source`, or as program.prose.")
        .source("filesystem.md, Directory Structure")
        .sql("INSERT INTO run (id) VALUES ('r1');\nINSERT INTO execution (statement_text, status) VALUES ('session \"A\"', 'completed');"),
    Rule::info("guessed-tie", "A statement that ran is tied to its line of the program by a guess.")
        .fix("Look whether the line is right where it matters. Writers should record the whole first line of a statement.")
        .source("trace rule 5; errata X6")
        .sql("INSERT INTO run (id, program_source) VALUES ('r1', 'session \"Ask the librarian for every book on bees\"');\nINSERT INTO execution (statement_text, status) VALUES ('session \"Ask the librarian...', 'completed');"),
    Rule::info("untied-row", "Rows fit no line of the program.")
        .fix("Keep the program that was run with the run.")
        .source("trace rule 5")
        .sql("INSERT INTO run (id, program_source) VALUES ('r1', 'session \"A\"');\nINSERT INTO execution (statement_text, status) VALUES ('water the orchids twice', 'completed');"),
    Rule::warning("gate-against-program", "A gate admits others, or waits longer or shorter, than the program says.")
        .fix("Look who created it so, before you rely on its decision: `prosescope gate create --line N` takes all of it from the program.")
        .source("errata G4; sqlite.md, Approval Gates")
        .sql("INSERT INTO run (id, program_source) VALUES ('r1', 'approve deploy:\n  prompt: \"Go?\"\n  allow: [\"legal\"]\n  timeout: \"30m\"');\nINSERT INTO execution (id, statement_text, status, metadata)\nVALUES (1, 'approve deploy:', 'pending', '{\"gate_id\": \"deploy\"}');\nINSERT INTO gates (id, run_id, execution_id, allow, status) VALUES ('deploy', 'r1', 1, '[\"user\"]', 'pending');"),
    Rule::warning("loop-against-program", "A loop had more rounds than the program allows.")
        .fix("Look whether its later rounds were wanted. `prosescope loop iterate` refuses them.")
        .source("sqlite.md, Loop Tracking")
        .sql("INSERT INTO run (id, program_source) VALUES ('r1', 'repeat 1:\n  session \"A\"');\nINSERT INTO execution (statement_index, statement_text, status, metadata) VALUES\n  (1, 'repeat 1:', 'started', '{\"loop_id\": \"l1\"}'),\n  (1, 'repeat 1:', 'iteration', '{\"loop_id\": \"l1\", \"iteration\": 1}'),\n  (1, 'repeat 1:', 'iteration', '{\"loop_id\": \"l1\", \"iteration\": 2}');"),
    Rule::warning("retry-against-program", "A statement had more attempts than the program allows.")
        .fix("Look whether its last attempt was wanted. `prosescope exec retry` refuses it.")
        .source("sqlite.md, Error Handling")
        .sql("INSERT INTO run (id, program_source) VALUES ('r1', 'session \"Risky\"\n  retry: 1');\nINSERT INTO execution (statement_index, statement_text, status, metadata) VALUES\n  (1, 'session \"Risky\"', 'failed', '{}'),\n  (1, 'session \"Risky\"', 'retry', '{\"attempt\": 2}'),\n  (1, 'session \"Risky\"', 'completed', '{\"attempt\": 2}');"),
    Rule::info("recorded-by-force", "Something was recorded out of sequence, because its writer insisted.")
        .fix("Look whether what was passed by was meant to be.")
        .source("docs/recording.md")
        .sql("INSERT INTO execution (statement_text, status, metadata) VALUES ('session \"A\"', 'completed', '{\"forced\": [\"children-open\"]}');"),
    Rule::info("recorded-by-override", "Something was recorded otherwise than the program says, because its writer insisted.")
        .fix("Compare the execution's metadata with the line of the program.")
        .source("docs/recording.md")
        .sql("INSERT INTO execution (statement_text, status, metadata) VALUES ('loop:', 'started', '{\"loop_id\": \"l1\", \"max\": 5, \"override\": {\"max\": {\"program\": 3, \"given\": 5}}}');"),
    Rule::warning("output-missing", "The run is completed, but an output of its program is not there.")
        .fix("Do not use the run's result without it.")
        .source("filesystem.md, bindings/{name}.md")
        .sql("INSERT INTO run (id, status, program_source)\nVALUES ('r1', 'completed', 'output report = session \"Report\"');"),
    Rule::warning("import-cycle", "An import imports its own program, or lies deeper than fifty runs.")
        .fix("Break the circle in the programs. What lies deeper is not looked at.")
        .source("viewer, Imports")
        .told(
            "A nested run whose table `imports` names the program that it runs itself.",
            "core/src/session/pages/check.rs",
        ),
    Rule::error("import-unreadable", "The nested run of an import is there, but cannot be opened.")
        .fix("Open it by itself to see why; its values are missing here.")
        .source("filesystem.md, Imports Recursive Structure")
        .files(&[
            ("program.prose", "use \"survey.prose\" as survey\n"),
            ("imports/survey--survey/notes.txt", "nothing of a run\n"),
        ]),
    Rule::warning("import-unfinished", "The run is completed, but the run of one of its imports is not.")
        .fix("Its values may be partial, or its last word was never written. Look into the nested run.")
        .source("filesystem.md, Imports Recursive Structure")
        .files(&[
            ("program.prose", "use \"survey.prose\" as survey\n"),
            ("state.md", "# Execution State\n\nrun: r1\nprogram: program.prose\nstatus: completed\n"),
            ("imports/survey--survey/program.prose", "session \"Look\"\n"),
            (
                "imports/survey--survey/state.md",
                "# Execution State\n\nrun: r2\nprogram: survey.prose\nstatus: running\n\n## Execution Trace\n\n```prose\nsession \"Look\"   # <-- EXECUTING\n```\n",
            ),
        ]),
    Rule::warning("import-without-result", "The run is completed, and a program that it imports left neither a run nor a value.")
        .fix("It was never called, or its run was not handed over. Remove the import if it is not needed.")
        .source("sqlite.md, Core Schema")
        .sql("INSERT INTO run (id, status, program_source)\nVALUES ('r1', 'completed', 'use \"survey.prose\" as survey\nlet r = survey(topic: \"A\")');\nINSERT INTO execution (statement_index, statement_text, status) VALUES (2, 'let r = survey(topic: \"A\")', 'completed');"),
    Rule::warning(
        "unresolved-name",
        "A statement ahead uses a name that no binding has, and that no statement before it makes.",
    )
    .fix("Give it a value before the run goes on, or find out why its statement left none. `prosescope resume` says what else the rest needs.")
    .source("filesystem.md, Resuming Execution")
    .sql("INSERT INTO run (id, program_source)\nVALUES ('r1', 'let plan = session \"Plan\"\nsession \"Build\"\n  context: { plan, budget }');\nINSERT INTO execution (statement_index, statement_text, status) VALUES (1, 'let plan = session \"Plan\"', 'completed');\nINSERT INTO bindings (name, kind, value) VALUES ('plan', 'let', 'p');"),
    Rule::warning(
        "agent-without-memory",
        "A statement ahead resumes an agent that spoke in this run and whose memory is not there.",
    )
    .fix("Hand over the agent's memory: of scope project or user it lies outside of the run. Otherwise let a session begin it anew.")
    .source("filesystem.md, Memory Scoping for Persistent Agents")
    .sql("INSERT INTO run (id, program_source)\nVALUES ('r1', 'let plan = session: captain\nresume: captain\n  prompt: \"Judge it\"');\nINSERT INTO execution (statement_index, statement_text, status) VALUES (1, 'let plan = session: captain', 'completed');"),
];
