use crate::check::Rule;

pub(super) const RULES: &[Rule] = &[
    Rule::error(
        "audit-row-edited",
        "A sealed row of the log was changed after it was written.",
    )
    .fix("Do not rely on the log. Compare it with a copy, or with the head that was printed when the gate was decided.")
    .source("errata G7")
    .sql(r#"INSERT INTO gate_audit_log (id, gate_id, run_id, event_type, principal, comment, timestamp, metadata) VALUES
  (1, 'deploy', 'r1', 'created', 'system', NULL, '2026-01-25 12:00:00',
   '{"chain":{"seq":1,"prev":"0000000000000000000000000000000000000000000000000000000000000000","hash":"23a9865d4ad306f7c3e29ecf6de70d45642d0611fa4c135ce88a48669968db87"}}'),
  (2, 'deploy', 'r1', 'approved', 'mallory', NULL, '2026-01-25 13:00:00',
   '{"chain":{"seq":2,"prev":"23a9865d4ad306f7c3e29ecf6de70d45642d0611fa4c135ce88a48669968db87","hash":"6a99076ffea9a2227042a84ab0e14ff564c35b52ef53459273951e8a7c533f0b"}}');"#),
    Rule::error(
        "audit-log-gone",
        "The audit log has no row, and an execution names the place of one in its chain: the log was removed.",
    )
    .fix("Put back the log as it was, from a copy: nothing is recorded in the run without it. Where there is none, run the program anew: what was decided in this run cannot be verified.")
    .source("errata G7")
    .sql(r#"INSERT INTO run (id) VALUES ('r1');
INSERT INTO execution (id, statement_index, statement_text, status, metadata)
VALUES (1, 1, 'approve deploy:', 'pending', '{"gate_id":"deploy","audit_seq":1}');
INSERT INTO gates (id, run_id, execution_id, status, created_at)
VALUES ('deploy', 'r1', 1, 'pending', '2026-01-25 12:00:00');"#),
    Rule::error(
        "audit-row-missing",
        "Rows are missing from the middle of the log.",
    )
    .fix("Do not rely on the log. The message names the places of the chain that are gone; look for them in a copy.")
    .source("errata G7")
    .sql(r#"INSERT INTO gate_audit_log (id, gate_id, run_id, event_type, principal, comment, timestamp, metadata) VALUES
  (1, 'deploy', 'r1', 'created', 'system', NULL, '2026-01-25 12:00:00',
   '{"chain":{"seq":1,"prev":"0000000000000000000000000000000000000000000000000000000000000000","hash":"23a9865d4ad306f7c3e29ecf6de70d45642d0611fa4c135ce88a48669968db87"}}'),
  (3, 'deploy', 'r1', 'resumed', 'system', NULL, '2026-01-25 14:00:00',
   '{"chain":{"seq":3,"prev":"6a99076ffea9a2227042a84ab0e14ff564c35b52ef53459273951e8a7c533f0b","hash":"87d17daa056b531471ea67170fe6ddf9f9fa55a4f1bf9ca437c66679ce890963"}}');"#),
    Rule::error(
        "audit-row-moved",
        "A row of the log stands behind rows that were written after it.",
    )
    .fix("Do not rely on the log: somebody gave rows other ids.")
    .source("errata G7")
    .sql(r#"INSERT INTO gate_audit_log (id, gate_id, run_id, event_type, principal, comment, timestamp, metadata) VALUES
  (1, 'deploy', 'r1', 'created', 'system', NULL, '2026-01-25 12:00:00',
   '{"chain":{"seq":1,"prev":"0000000000000000000000000000000000000000000000000000000000000000","hash":"23a9865d4ad306f7c3e29ecf6de70d45642d0611fa4c135ce88a48669968db87"}}'),
  (2, 'deploy', 'r1', 'resumed', 'system', NULL, '2026-01-25 13:00:00',
   '{"chain":{"seq":3,"prev":"3e1efae823c85d6b1830aed96882896725ef4b4c59f1198d7d80c2fbe386aeb5","hash":"96d90713a89848c05d9309321f920397e93097f73630b3792b442e283017ad5c"}}'),
  (3, 'deploy', 'r1', 'approved', 'raymond', NULL, '2026-01-25 14:00:00',
   '{"chain":{"seq":2,"prev":"23a9865d4ad306f7c3e29ecf6de70d45642d0611fa4c135ce88a48669968db87","hash":"3e1efae823c85d6b1830aed96882896725ef4b4c59f1198d7d80c2fbe386aeb5"}}');"#),
    Rule::error(
        "audit-row-repeated",
        "Two rows have one place of the chain.",
    )
    .fix("Do not rely on the log. Two tools may have sealed at once without a transaction, or a row was written over.")
    .source("errata G7")
    .sql(r#"INSERT INTO gate_audit_log (id, gate_id, run_id, event_type, principal, comment, timestamp, metadata) VALUES
  (1, 'deploy', 'r1', 'created', 'system', NULL, '2026-01-25 12:00:00',
   '{"chain":{"seq":1,"prev":"0000000000000000000000000000000000000000000000000000000000000000","hash":"23a9865d4ad306f7c3e29ecf6de70d45642d0611fa4c135ce88a48669968db87"}}'),
  (2, 'deploy', 'r1', 'approved', 'raymond', NULL, '2026-01-25 13:00:00',
   '{"chain":{"seq":1,"prev":"0000000000000000000000000000000000000000000000000000000000000000","hash":"cb449087b77580202c57604b3ca3a22ed4d01edfbc4ae5b990850d0802e02f55"}}');"#),
    Rule::error(
        "audit-row-replaced",
        "A row follows another row than the one that stands before it: one of them was exchanged.",
    )
    .fix("Do not rely on the log. Compare it with a copy.")
    .source("errata G7")
    .sql(r#"INSERT INTO gate_audit_log (id, gate_id, run_id, event_type, principal, comment, timestamp, metadata) VALUES
  (1, 'deploy', 'r1', 'created', 'system', NULL, '2026-01-25 12:00:00',
   '{"chain":{"seq":1,"prev":"0000000000000000000000000000000000000000000000000000000000000000","hash":"23a9865d4ad306f7c3e29ecf6de70d45642d0611fa4c135ce88a48669968db87"}}'),
  (2, 'deploy', 'r1', 'approved', 'raymond', NULL, '2026-01-25 13:00:00',
   '{"chain":{"seq":2,"prev":"abababababababababababababababababababababababababababababababab","hash":"c103ff1306c11db50fe9ee36e67597817c1f752bba39951c7e7adcf95f522428"}}');"#),
    Rule::error(
        "audit-chain-malformed",
        "A row names a chain that cannot be read.",
    )
    .fix("Do not rely on the log. Only a tool that seals rows should write metadata.chain.")
    .source("errata G7")
    .sql(r#"INSERT INTO gate_audit_log (id, gate_id, run_id, event_type, principal, comment, timestamp, metadata) VALUES
  (1, 'deploy', 'r1', 'created', 'system', NULL, '2026-01-25 12:00:00',
   '{"chain":"sealed"}');"#),
    Rule::info(
        "audit-row-unsealed",
        "Some rows carry no chain while others do: a change of them would not show.",
    )
    .fix("Other tools wrote them; the documents' own commands keep no chain. Decide gates with `prosescope` to seal every row.")
    .source("errata G7")
    .sql(r#"INSERT INTO gate_audit_log (id, gate_id, run_id, event_type, principal, comment, timestamp, metadata) VALUES
  (1, 'deploy', 'r1', 'created', 'system', NULL, '2026-01-25 12:00:00',
   '{"chain":{"seq":1,"prev":"0000000000000000000000000000000000000000000000000000000000000000","hash":"23a9865d4ad306f7c3e29ecf6de70d45642d0611fa4c135ce88a48669968db87"}}'),
  (2, 'deploy', 'r1', 'approved', 'raymond', NULL, '2026-01-25 13:00:00',
   NULL);"#),
    Rule::warning(
        "audit-unguarded",
        "Rows of the log are sealed, but triggers that keep the log from being changed are gone, or were made harmless.",
    )
    .fix("Verify the log against a head that was noted elsewhere (`prosescope audit verify --expect-head`): a change that its chain does not show would be found so.")
    .source("errata G7")
    .sql(r#"DROP TRIGGER gate_audit_log_no_delete;
INSERT INTO gate_audit_log (id, gate_id, run_id, event_type, principal, comment, timestamp, metadata) VALUES
  (1, 'deploy', 'r1', 'created', 'system', NULL, '2026-01-25 12:00:00',
   '{"chain":{"seq":1,"prev":"0000000000000000000000000000000000000000000000000000000000000000","hash":"23a9865d4ad306f7c3e29ecf6de70d45642d0611fa4c135ce88a48669968db87"}}');"#),
    Rule::error(
        "audit-lines-unread",
        "Lines of the audit log of a folder cannot be read: the rest of it is no whole chain, and is not verified.",
    )
    .fix("Put back the file as it was, from a copy.")
    .source("reliability, untrusted files")
    .files(&[
        ("program.prose", "approve deploy:\n"),
        ("gates/audit.jsonl", "{\"id\": 1, \"gate_id\": \"deploy\", \"event_type\": \"created\"}\n{\"id\": 2, \"ga\n"),
    ]),
    Rule::warning(
        "audit-row-unchecked",
        "A sealed row is too long to be read whole, so only its link was checked.",
    )
    .fix("Read the row itself. Values do not belong into comments or metadata.")
    .source("errata G7")
    .sql(r#"INSERT INTO gate_audit_log (id, gate_id, run_id, event_type, principal, comment, timestamp, metadata) VALUES
  (1, 'deploy', 'r1', 'created', 'system', printf('%.*c', 1100000, 'x'), '2026-01-25 12:00:00',
   '{"chain":{"seq":1,"prev":"0000000000000000000000000000000000000000000000000000000000000000","hash":"23a9865d4ad306f7c3e29ecf6de70d45642d0611fa4c135ce88a48669968db87"}}');"#),
    Rule::warning(
        "audit-row-too-long",
        "Rows of the log are too long to be read whole; their chain is not checked.",
    )
    .fix("Read the rows themselves. Values do not belong into comments or metadata.")
    .source("errata G7")
    .sql(r#"INSERT INTO gate_audit_log (gate_id, run_id, event_type, comment)
VALUES ('deploy', 'r1', 'viewed', printf('%.*c', 1100000, 'x'));"#),
    Rule::error(
        "audit-tail-cut",
        "The chain ends before the head that somebody noted: rows at its end were deleted.",
    )
    .fix("Do not rely on the log. Restore it from a copy that still has the noted head.")
    .source("errata G7")
    .told(
        "A log of three sealed rows, verified against a noted head of five.",
        "core/src/gate/audit.rs",
    ),
    Rule::error(
        "audit-head-differs",
        "The row at the noted place of the chain has another hash: the log was written anew since.",
    )
    .fix("Do not rely on the log. Restore it from a copy that still has the noted head.")
    .source("errata G7")
    .told(
        "A log that somebody sealed anew from its first row, verified against the head that was noted before.",
        "core/src/gate/audit.rs",
    ),
    Rule::info(
        "audit-more-findings",
        "The log has more findings than are listed.",
    )
    .fix("The first hundred show what kind they are.")
    .source("errata G7")
    .told(
        "A log of over a hundred changed rows.",
        "core/src/gate/audit.rs",
    ),
];
