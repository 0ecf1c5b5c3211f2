use crate::check::{Example, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule::warning("abandoned", "The run is over, but a statement was never closed.")
        .fix("Look for its binding to see whether it did its work. Writers should close every statement before they end the run.")
        .source("trace rule 7")
        .sql("INSERT INTO run (id, status) VALUES ('r1', 'completed');\nINSERT INTO execution (statement_text, status) VALUES ('session \"A\"', 'executing');"),
    Rule::warning("open-under-closed", "A statement stands open inside of something that was closed after it.")
        .fix("Write the end of a branch before that of its parallel.")
        .source("trace rule 8")
        .sql("INSERT INTO execution (id, parent_id, statement_text, status, metadata) VALUES\n  (1, NULL, 'parallel:', 'started', '{\"parallel_id\": \"p1\", \"branches\": [\"a\"]}'),\n  (2, 1, 'parallel:a', 'executing', '{\"parallel_id\": \"p1\", \"branch\": \"a\"}'),\n  (3, NULL, 'parallel:', 'joined', '{\"parallel_id\": \"p1\"}'),\n  (4, NULL, 'session \"B\"', 'executing', NULL);"),
    Rule::warning("status-disagrees", "The run's row and its state file say different things of its status.")
        .fix("Correct the one that is not believed; the message says which is.")
        .source("trace rule 10")
        .example(Example::Beside(
            "INSERT INTO run (id, status) VALUES ('r1', 'completed');",
            &[("state.md", "# Execution State\n\nrun: r1\nprogram: p.prose\nstatus: running\n")],
        )),
    Rule::warning("condition-contradicted", "Something is recorded in a body whose condition did not hold, or in two ways of which one runs.")
        .fix("Correct the record that is wrong; both are shown as they are.")
        .source("one-fold.md, rule 3")
        .sql("INSERT INTO run (id, program_source) VALUES ('r1', 'if **it rains**:\n  session \"Stay in\"\nelse:\n  session \"Go out\"');\nINSERT INTO execution (statement_index, statement_text, status) VALUES\n  (2, 'session \"Stay in\"', 'completed'),\n  (4, 'session \"Go out\"', 'completed');"),
    Rule::warning("orphan-parent", "A row names a parent that does not exist.")
        .fix("Write the parent's row id into parent_id, not its statement index.")
        .source("errata X2")
        .sql("INSERT INTO execution (id, parent_id, statement_text, status)\nVALUES (1, 99, 'session \"A\"', 'completed');"),
    Rule::warning("self-parent", "A row names itself as its parent.")
        .fix("Write the parent's row id into parent_id, not a statement index.")
        .source("errata X2")
        .sql("INSERT INTO execution (id, parent_id, statement_text, status)\nVALUES (1, 1, 'session \"A\"', 'completed');"),
    Rule::warning("parent-cycle", "The parents of some rows lead in a circle.")
        .fix("Correct the parent_id of one of the rows.")
        .source("errata B2; trace rule 11")
        .sql("INSERT INTO execution (id, parent_id, statement_text, status) VALUES\n  (1, 2, 'do a()', 'completed'),\n  (2, 1, 'do b()', 'completed');"),
    Rule::warning("contradicting-parent", "A row names one parent, but its metadata puts it into another.")
        .fix("Write row ids into parent_id, not statement indexes.")
        .source("errata X2")
        .sql("INSERT INTO execution (id, parent_id, statement_text, status, metadata) VALUES\n  (1, NULL, 'session \"A\"', 'completed', NULL),\n  (2, NULL, 'parallel:', 'started', '{\"parallel_id\": \"p1\", \"branches\": [\"a\"]}'),\n  (3, 1, 'parallel:a', 'completed', '{\"parallel_id\": \"p1\", \"branch\": \"a\"}');"),
    Rule::warning("missing-parent", "A frame says that it lies deeper, but names no parent: names are looked up past the frames around it.")
        .fix("Write the id of the calling frame's row into parent_id.")
        .source("errata B3")
        .example(Example::Resolve(
            "INSERT INTO execution (id, statement_text, status, metadata)\nVALUES (43, 'do process(half)', 'executing', '{\"block\": \"process\", \"depth\": 3}');",
            "result",
            Some(43),
        )),
    Rule::warning("unknown-frame", "A name was asked for from a frame that does not exist; only the root was searched.")
        .fix("Ask from the id of an execution row; `prosescope trace` shows them.")
        .source("errata B5")
        .example(Example::Resolve(
            "INSERT INTO bindings (name, kind, value) VALUES ('result', 'let', 'text');",
            "result",
            Some(43),
        )),
    Rule::warning("depth-mismatch", "A frame's recorded depth is not what its parents add up to.")
        .fix("Look for a missing or wrong parent_id.")
        .source("trace rule 6")
        .sql("INSERT INTO execution (id, statement_text, status, metadata)\nVALUES (1, 'do process(data)', 'executing', '{\"block\": \"process\", \"depth\": 3}');"),
    Rule::warning("round-number", "A loop ends a round that ended before, or counts more rounds than its maximum.")
        .fix("A loop that begins again should write a started row of its own.")
        .source("trace rule 5; errata X10")
        .sql("INSERT INTO execution (id, parent_id, statement_text, status, metadata) VALUES\n  (1, NULL, 'loop', 'started', '{\"loop_id\": \"l1\"}'),\n  (2, NULL, 'loop', 'iteration', '{\"loop_id\": \"l1\", \"iteration\": 2}'),\n  (3, 1, 'session \"A\"', 'completed', NULL),\n  (4, NULL, 'loop', 'iteration', '{\"loop_id\": \"l1\", \"iteration\": 1}');"),
    Rule::info("rounds-not-listed", "A loop counts so many rounds that those without rows are not listed.")
        .fix("Nothing has to be done.")
        .source("trace rule 5")
        .sql("INSERT INTO execution (statement_text, status, metadata)\nVALUES ('loop', 'executing', '{\"loop_id\": \"l1\", \"current_iteration\": 1000000}');"),
    Rule::info("branches-not-listed", "A parallel announces so many branches that those without rows are not listed.")
        .fix("Nothing has to be done.")
        .source("trace rule 4")
        .sql("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6000),\n  b(list) AS (SELECT json_group_array('b' || i) FROM n)\nINSERT INTO execution (statement_text, status, metadata)\nSELECT 'parallel:', 'started', '{\"parallel_id\": \"' || p || '\", \"branches\": ' || list || '}'\nFROM b, (SELECT 'p1' AS p UNION ALL SELECT 'p2');"),
    Rule::warning("no-sign-of-life", "The run was left running by a record of it, or by what it marks as under way, and nothing was written for a day or longer.")
        .fix("`prosescope resume` says where it stands and what to do next. Mark it as interrupted.")
        .source("trace rule 10")
        .sql("INSERT INTO run (id, status, started_at, updated_at)\nVALUES ('r1', 'running', '2026-01-15 10:00:00', '2026-01-15 10:00:00');\nINSERT INTO execution (statement_text, status, started_at)\nVALUES ('session \"A\"', 'executing', '2026-01-15 10:00:00');"),
    Rule::warning("end-before-start", "The recorded end of the run lies before its start.")
        .fix("Correct the time that is wrong, or write both in UTC.")
        .source("dialects.md, B")
        .sql("INSERT INTO run (id, status, started_at, updated_at)\nVALUES ('r1', 'completed', '2026-01-15 10:49:00', '2026-01-15 10:00:00');"),
    Rule::info("failure-without-message", "What failed first left no message.")
        .fix("Its binding or its agent's last segment may tell why. Writers should record error_message.")
        .source("sqlite.md, Error Handling")
        .sql("INSERT INTO run (id, status) VALUES ('r1', 'failed');\nINSERT INTO execution (statement_text, status) VALUES ('session \"A\"', 'failed');"),
];
