use crate::check::Rule;

pub(super) const RULES: &[Rule] = &[
    Rule::warning("gate-of-unknown-run", "A gate belongs to a run that has no row here.")
        .fix("Write the run's row.")
        .source("errata G11")
        .database("CREATE TABLE gates (id TEXT PRIMARY KEY, run_id TEXT, status TEXT);\nINSERT INTO gates VALUES ('deploy', 'r9', 'pending');"),
    Rule::warning("unknown-gate-status", "A gate's status is none of pending, approved, rejected and timeout.")
        .fix("It counts neither as pending nor as decided. Correct the word.")
        .source("sqlite.md, Gate Lifecycle")
        .sql("INSERT INTO run (id) VALUES ('r1');\nINSERT INTO gates (id, run_id, status) VALUES ('deploy', 'r1', 'paused');"),
    Rule::warning("gate-twice", "One gate stands more than once in its run.")
        .fix("Give the later one an id of its own, `id#2`.")
        .source("errata G1")
        .database("CREATE TABLE run (id TEXT PRIMARY KEY);\nCREATE TABLE gates (id TEXT, run_id TEXT, status TEXT);\nINSERT INTO run VALUES ('r1');\nINSERT INTO gates VALUES ('deploy', 'r1', 'approved'), ('deploy', 'r1', 'pending');"),
    Rule::warning("gate-id-differs", "A gate's file gives itself another id than its name does.")
        .fix("Find out which gate it is, and rename the file or correct its id. It is shown by the id in the file, and nobody can decide it: whoever may decide one gate must not be said by the file of another.")
        .source("errata, Folder form")
        .files(&[
            ("program.prose", "approve deploy:\n"),
            ("gates/deploy.pending.json", "{\"id\": \"production\", \"status\": \"pending\"}"),
        ]),
    Rule::warning("gate-allow-unreadable", "A gate's list of who may decide is no list of names: it admits nobody.")
        .fix("Write a JSON array of names, such as [\"user\"]; until then nobody is let through.")
        .source("errata G4")
        .sql("INSERT INTO run (id) VALUES ('r1');\nINSERT INTO gates (id, run_id, allow) VALUES ('deploy', 'r1', '{\"ops-team\": true}');"),
    Rule::warning("gate-deadline-unreadable", "A gate's deadline is no time: it is shown without one.")
        .fix("Write timeout_at as datetime('now', '+4 hours') does.")
        .source("errata G5")
        .sql("INSERT INTO run (id) VALUES ('r1');\nINSERT INTO gates (id, run_id, timeout_at) VALUES ('deploy', 'r1', 'tonight');"),
    Rule::warning("gate-timeout-unreadable", "A gate's timeout is no duration.")
        .fix("Write whole numbers with d, h, m, s, the largest first: `2h30m`.")
        .source("errata, Timeouts")
        .sql("INSERT INTO run (id) VALUES ('r1');\nINSERT INTO gates (id, run_id, timeout) VALUES ('deploy', 'r1', 'half an hour');"),
    Rule::warning("gate-deadline-missing", "A pending gate has a timeout and no deadline: it will never expire.")
        .fix("Write timeout_at when the gate is created. SQLite's datetime('now', '+2 hours +30 minutes') is NULL: give one modifier each.")
        .source("errata G12")
        .sql("INSERT INTO run (id) VALUES ('r1');\nINSERT INTO gates (id, run_id, timeout, created_at) VALUES ('deploy', 'r1', '2h30m', '2026-01-25 12:00:00');"),
    Rule::info("gate-deadline-differs", "A gate's deadline is not when its timeout ends.")
        .fix("The recorded deadline counts. A local time written as UTC is the usual cause.")
        .source("errata G5")
        .sql("INSERT INTO run (id) VALUES ('r1');\nINSERT INTO gates (id, run_id, timeout, created_at, timeout_at)\nVALUES ('deploy', 'r1', '4h', '2026-01-25 12:00:00', '2026-01-25 18:00:00');"),
    Rule::warning("gate-decided-by-stranger", "Who decided a gate is not among those who may.")
        .fix("Find out who it was: names are claims, and the documents' own commands do not look at the list.")
        .source("errata G4")
        .sql("INSERT INTO run (id) VALUES ('r1');\nINSERT INTO gates (id, run_id, allow, status, resolved_by)\nVALUES ('deploy', 'r1', '[\"ops-team\"]', 'approved', 'raymond');"),
    Rule::warning("gate-decided-late", "A gate was decided after its deadline, when it could only time out.")
        .fix("Ask whether the decision stands. The documents' UPDATE does not look at the deadline.")
        .source("errata G3")
        .sql("INSERT INTO run (id) VALUES ('r1');\nINSERT INTO gates (id, run_id, status, timeout_at, resolved_at)\nVALUES ('deploy', 'r1', 'approved', '2026-01-25 16:00:00', '2026-01-25 17:30:00');"),
    Rule::warning("gate-resolved-twice", "The log resolves one gate more than once.")
        .fix("The gate's own row counts. Two people decided at once: an UPDATE should say `AND status = 'pending'`.")
        .source("errata G3, G10")
        .sql("INSERT INTO run (id) VALUES ('r1');\nINSERT INTO gates (id, run_id, status) VALUES ('deploy', 'r1', 'approved');\nINSERT INTO gate_audit_log (gate_id, run_id, event_type) VALUES\n  ('deploy', 'r1', 'rejected'),\n  ('deploy', 'r1', 'approved');"),
    Rule::info("gate-not-logged", "A gate was decided, and the log does not say so.")
        .fix("Write the log row first, then change the gate.")
        .source("sqlite.md, Gate Audit Logging")
        .sql("INSERT INTO run (id) VALUES ('r1');\nINSERT INTO gates (id, run_id, status) VALUES ('deploy', 'r1', 'approved');"),
    Rule::warning("gate-log-ahead", "The log says that a gate was decided, but it is still pending.")
        .fix("Decide the gate again: its own row counts.")
        .source("errata G6, G9")
        .sql("INSERT INTO run (id) VALUES ('r1');\nINSERT INTO gates (id, run_id, status) VALUES ('deploy', 'r1', 'pending');\nINSERT INTO gate_audit_log (gate_id, run_id, event_type) VALUES ('deploy', 'r1', 'approved');"),
    Rule::warning("gate-log-disagrees", "The log and the gate's row say different things of its decision.")
        .fix("Find out who changed the gate: the log is only appended to.")
        .source("errata G3")
        .sql("INSERT INTO run (id) VALUES ('r1');\nINSERT INTO gates (id, run_id, status) VALUES ('deploy', 'r1', 'approved');\nINSERT INTO gate_audit_log (gate_id, run_id, event_type) VALUES ('deploy', 'r1', 'rejected');"),
    Rule::error("gate-changed", "A gate is not what its sealed rows of the log record: a column of it, such as who may decide it, who decided it or when, was changed without the log.")
        .fix("Find out who changed the gate, and ask whether its decision stands. docs/audit.md lists which columns are compared.")
        .source("errata G7")
        .sql("INSERT INTO run (id) VALUES ('r1');\nINSERT INTO gates (id, run_id, status, prompt, allow) VALUES ('deploy', 'r1', 'pending', 'Go?', '[\"user\", \"mallory\"]');\nINSERT INTO gate_audit_log (id, gate_id, run_id, event_type, principal, timestamp, metadata)\nVALUES (1, 'deploy', 'r1', 'created', 'system', '2026-01-25 12:00:00',\n  '{\"allow\":[\"user\"],\"chain\":{\"seq\":1,\"prev\":\"0000000000000000000000000000000000000000000000000000000000000000\",\"hash\":\"23a9865d4ad306f7c3e29ecf6de70d45642d0611fa4c135ce88a48669968db87\"}}');"),
    Rule::warning("gate-decision-unsealed", "`prosescope` created a gate, and it was decided without a sealed row of the log.")
        .fix("Ask who decided it: another tool changed the gate, or added a row to the log. Decide gates with `prosescope approve` and `prosescope reject`.")
        .source("errata G7")
        .sql("INSERT INTO run (id) VALUES ('r1');\nINSERT INTO gates (id, run_id, status, created_at) VALUES ('deploy', 'r1', 'approved', '2026-01-25 12:00:00');\nINSERT INTO gate_audit_log (id, gate_id, run_id, event_type, principal, timestamp, metadata)\nVALUES (1, 'deploy', 'r1', 'created', 'system', '2026-01-25 12:00:00',\n  '{\"chain\":{\"seq\":1,\"prev\":\"0000000000000000000000000000000000000000000000000000000000000000\",\"hash\":\"23a9865d4ad306f7c3e29ecf6de70d45642d0611fa4c135ce88a48669968db87\"}}');"),
    Rule::warning("gate-creation-unsealed", "No sealed row of the log records the creation of a gate, and the run's log seals creations. Either another tool created the gate, or the row that says who may decide it was removed.")
        .fix("Ask who created it, and compare the log with a head that was noted. `prosescope approve`, `reject` and `gates expire` decide such a gate with --override only, and the log records who did. Create gates with `prosescope gate create`.")
        .source("errata G7")
        .sql("INSERT INTO run (id) VALUES ('r1');\nINSERT INTO gates (id, run_id, status, created_at) VALUES ('deploy', 'r1', 'pending', '2026-01-25 12:00:00'), ('publish', 'r1', 'pending', '2026-01-25 12:00:00');\nINSERT INTO gate_audit_log (id, gate_id, run_id, event_type, principal, timestamp, metadata)\nVALUES (1, 'deploy', 'r1', 'created', 'system', '2026-01-25 12:00:00',\n  '{\"chain\":{\"seq\":1,\"prev\":\"0000000000000000000000000000000000000000000000000000000000000000\",\"hash\":\"23a9865d4ad306f7c3e29ecf6de70d45642d0611fa4c135ce88a48669968db87\"}}');"),
    Rule::error("gate-removed", "A sealed row of the log records a gate that has no row.")
        .fix("Do not go on past such a gate before you know its decision: its row was deleted or renamed. Look for it in a copy.")
        .source("errata G7")
        .sql("INSERT INTO run (id) VALUES ('r1');\nINSERT INTO gate_audit_log (id, gate_id, run_id, event_type, principal, timestamp, metadata)\nVALUES (1, 'deploy', 'r1', 'created', 'system', '2026-01-25 12:00:00',\n  '{\"chain\":{\"seq\":1,\"prev\":\"0000000000000000000000000000000000000000000000000000000000000000\",\"hash\":\"23a9865d4ad306f7c3e29ecf6de70d45642d0611fa4c135ce88a48669968db87\"}}');"),
    Rule::error("gate-files-disagree", "The two files of a gate, or two keys of one of them, record different things of it.")
        .fix("Find out which is right: `resolved_by` and `principal`, `status` and `decision` are two names of one fact, and the resolved file repeats the metadata of the pending one.")
        .source("errata, Folder form")
        .files(&[
            ("program.prose", "approve deploy:\n"),
            ("gates/deploy.pending.json", "{\"id\": \"deploy\", \"status\": \"pending\"}"),
            ("gates/deploy.resolved.json", "{\"id\": \"deploy\", \"decision\": \"approved\", \"status\": \"rejected\"}"),
        ]),
    Rule::error("json-key-twice", "A gate's file or metadata, or a row of the log, has a JSON key twice: programs differ in which of the two they take.")
        .fix("Find out who wrote it, and which of the two was meant. Nothing is decided by it: ask anew with `prosescope gate create`.")
        .source("errata, Folder form")
        .files(&[
            ("program.prose", "approve deploy:\n"),
            ("gates/deploy.pending.json", "{\"id\": \"deploy\", \"status\": \"pending\", \"allow\": [\"ann\"], \"allow\": [\"eve\"]}"),
        ]),
    Rule::warning("gate-row-missing", "Rows of the log that carry no seal name a gate that has no row.")
        .fix("Do not go on past such a gate before you know what became of it.")
        .source("sqlite.md, Gate Audit Logging")
        .sql("INSERT INTO run (id) VALUES ('r1');\nINSERT INTO gate_audit_log (gate_id, run_id, event_type) VALUES ('deploy', 'r1', 'created');"),
    Rule::warning("gate-without-row", "The run stands at a gate that the gates table does not have: nobody can decide it.")
        .fix("Write the gate's row together with its execution row.")
        .source("errata G2")
        .sql("INSERT INTO execution (statement_text, status, metadata)\nVALUES ('approve deploy:', 'pending', '{\"gate_id\": \"deploy\"}');"),
    Rule::warning("gate-without-execution", "A gate is recorded, but no execution row waits at it.")
        .fix("Write the execution row, with metadata.gate_id.")
        .source("errata G2")
        .sql("INSERT INTO run (id) VALUES ('r1');\nINSERT INTO execution (statement_text, status) VALUES ('session \"A\"', 'completed');\nINSERT INTO gates (id, run_id, status) VALUES ('deploy', 'r1', 'pending');"),
    Rule::warning("gate-disagrees", "An execution row says that its gate is over, but the gate is still pending.")
        .fix("The run may have gone on without a decision: find out who let it.")
        .source("trace rule 7")
        .sql("INSERT INTO run (id) VALUES ('r1');\nINSERT INTO execution (id, statement_text, status, metadata)\nVALUES (1, 'approve deploy:', 'completed', '{\"gate_id\": \"deploy\"}');\nINSERT INTO gates (id, run_id, execution_id, status) VALUES ('deploy', 'r1', 1, 'pending');"),
    Rule::warning("gate-overdue", "A gate is past its deadline and still pending.")
        .fix("Record the time-out; the program then does what on_reject says.")
        .source("errata G3, G6")
        .sql("INSERT INTO run (id) VALUES ('r1');\nINSERT INTO gates (id, run_id, timeout, created_at, timeout_at)\nVALUES ('deploy', 'r1', '4h', '2026-01-25 12:00:00', '2026-01-25 16:00:00');"),
    Rule::warning("gate-admits-nobody", "A gate is pending, and its list of who may decide is empty.")
        .fix("Nobody can approve or reject it. Correct `allow` in the program, and the gate's row.")
        .source("errata G4")
        .sql("INSERT INTO run (id) VALUES ('r1');\nINSERT INTO gates (id, run_id, allow) VALUES ('deploy', 'r1', '[]');"),
];
