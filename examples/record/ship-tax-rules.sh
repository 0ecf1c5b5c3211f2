#!/bin/sh
# A run that waits at a gate, append-only (sqlite.md): one gate timed out and went on, one was approved, one is
# pending. The execution rows carry no times, as the document writes them. The reviewer's memory belongs to the
# project: it lives in agents.db.
. "$(dirname "$0")/lib.sh"
schema=$examples/../core/src/model/schema

# event LINE TEXT STATUS METADATA
event() {
  sql <<SQL
INSERT INTO execution (statement_index, statement_text, status, metadata)
VALUES ($(line "$1"), $(text "$2"), '$3', $(text "$4"));
SQL
}

# gate ID LINE ALLOW TIMEOUT MODIFIERS ON_REJECT <prompt: the execution row first (errata G2), then the gate and its
# first audit row.
gate() {
  prompt=$(text -)
  sql <<SQL
BEGIN;
INSERT INTO execution (statement_index, statement_text, status, metadata)
VALUES ($(line "$2"), 'approve $1:', 'pending', '{"gate_id": "$1"}');
INSERT INTO gates (id, run_id, execution_id, prompt, allow, timeout, timeout_at, on_reject, status, created_at)
VALUES ('$1', '$id', last_insert_rowid(), $prompt, '$3', '$4', datetime('now', $5), $(text "$6"), 'pending', datetime('now'));
INSERT INTO gate_audit_log (gate_id, run_id, event_type, principal, timestamp, metadata)
VALUES ('$1', '$id', 'created', 'system', datetime('now'), '{"allow": $3}');
COMMIT;
SQL
}

# audit GATE EVENT PRINCIPAL METADATA [COMMENT]
audit() {
  sql <<SQL
INSERT INTO gate_audit_log (gate_id, run_id, event_type, principal, comment, timestamp, metadata)
VALUES ('$1', '$id', '$2', '$3', nullif($(text "${5-}"), ''), datetime('now'), $(text "$4"));
SQL
}

at 2026-01-25 12:55:06
open_run 20260125-125506-p7r2mx ship-tax-rules.prose "$schema/state.sql"
binding version NULL input 'input version: "The version to ship"' <<'END'
7.3.0
END

event 'let changes' 'let changes = session: builder' executing '{}'
at 2026-01-25 12:58:40
binding changes NULL let 'let changes = session: builder
  prompt: "What changed since the last release? Group it by who will notice."' <<'END'
**Customers** in Austria: books are taxed at 10 %, not at 20 %. In Germany: nothing.

**Accounting**: the export has a new column `tax_rule`, at the end.

**Developers**: `Tax::for_line` takes the date of delivery, not of the order. 41 call sites were changed, all by the
compiler's word.
END
event 'let changes' 'let changes = session: builder' completed '{}'

gate legal_note 'approve legal_note' '["legal"]' 30m "'+30 minutes'" 'continue' <<'END'
The wording of the invoice footer changes in Austria. Does legal want to see it first?
END
at 2026-01-25 13:28:41
audit legal_note timeout system '{"timeout_at": "2026-01-25T13:28:40Z", "on_reject": "continue"}'
echo "UPDATE gates SET status = 'timeout', resolved_at = datetime('now'), resolved_by = 'system'
WHERE id = 'legal_note' AND run_id = '$id';" | sql

event 'parallel:' 'parallel:' started '{"parallel_id": "p1", "branches": ["unit", "replay", "load"]}'
at 2026-01-25 13:31:02
binding unit NULL let 'unit = session: builder
  prompt: "Run the unit tests"' <<'END'
2,318 passed, 0 failed, 4 ignored (the four that need the scanner in the warehouse).
END
event 'parallel:' 'parallel:unit' completed '{"parallel_id": "p1", "branch": "unit"}'
at 2026-01-25 13:39:20
binding load NULL let 'load = session: builder
  prompt: "Drive the cart with 400 requests a second for ten minutes"' <<'END'
400 requests a second for 600 s: 240,000 answered, 0 refused. Median 38 ms (before: 37), 99th of a hundred 122 ms
(before: 119).
END
event 'parallel:' 'parallel:load' completed '{"parallel_id": "p1", "branch": "load"}'
at 2026-01-25 13:44:57
binding replay NULL let 'replay = session: builder
  prompt: "Compute 10,000 recorded orders with the old and with the new rules. List every cent of difference."' <<'END'
10,000 orders, 10,000 computed by both. **214 differ**, all of them in Austria and all of them with a book:

| order   | old tax | new tax | difference |
|---------|--------:|--------:|-----------:|
| A-40117 |  €4.80  |  €2.62  |   −€2.18   |
| A-40233 |  €2.00  |  €1.09  |   −€0.91   |
| A-40258 | €11.17  |  €8.02  |   −€3.15   |
| …       |         |         |            |

No order differs that should not. Rounding: 3 orders are a cent off against the sum of their lines, as before.
END
event 'parallel:' 'parallel:replay' completed '{"parallel_id": "p1", "branch": "replay"}'
event 'parallel:' 'parallel:' joined '{"parallel_id": "p1"}'

event 'let review' 'let review = session: reviewer' executing '{}'
at 2026-01-25 13:49:11
binding review NULL let 'let review = session: reviewer
  prompt: "Would you ship this?"
  context: { changes, unit, replay, load }' <<'END'
Yes, to staging. One thing first: in 7.1.0 the export's new column broke the accountants' import because it came in the
middle. This time it is at the end: good. I looked for the other thing of 7.1.0, a rule that starts at local midnight,
and did not find it: dates are compared in the shop's time zone.

Before production I want to see one real Austrian order with a book on staging.
END
event 'let review' 'let review = session: reviewer' completed '{"agent": "reviewer"}'

gate staging_deploy 'approve staging_deploy' '["user", "release-team"]' 2h30m "'+2 hours', '+30 minutes'" 'throw "Not even to staging"' <<'END'
Deploy 7.3.0 to staging?
END
at 2026-01-25 14:02:30
audit staging_deploy viewed mira '{"client": "cli"}'
at 2026-01-25 14:03:18
audit staging_deploy approved mira '{"client": "cli", "approval_time_seconds": 847}' "Numbers are plausible; replay is what I'd expect"
sql <<SQL
UPDATE gates SET
  status = 'approved',
  resolved_at = datetime('now'),
  resolved_by = 'mira',
  resolution_comment = 'Numbers are plausible; replay is what I''d expect'
WHERE id = 'staging_deploy' AND run_id = '$id';
SQL
at 2026-01-25 14:03:40
audit staging_deploy resumed system '{"resume_source": "cli", "previous_status": "approved"}'

event 'let staging' 'let staging = session "Deploy to staging and watch it for half an hour"' executing '{}'
at 2026-01-25 14:41:05
binding staging NULL let 'let staging = session "Deploy to staging and watch it for half an hour"
  context: review' <<'END'
7.3.0 is on staging since 14:09 UTC. 31 minutes watched: 0 errors, 12 orders by the testers. The reviewer's wish:
order S-881, one book to Graz, €14.90, of which €1.35 tax (10 %). Correct.
END
event 'let staging' 'let staging = session "Deploy to staging and watch it for half an hour"' completed '{}'

gate production_deploy 'approve production_deploy' '["ops-team", "raymond"]' 4h "'+4 hours'" 'throw "Deployment cancelled"' <<'END'
Deploy 7.3.0 to production? 7.3.0 is on staging since 14:09 UTC. 31 minutes watched: 0 errors, 12 orders by the testers.
The reviewer's wish: order S-881, one book to Graz, €14.90, of which €1.35 tax (10 %). Correct.
END
at 2026-01-25 15:20:12
audit production_deploy viewed raymond '{"client": "cli"}'

# The project's own agents: they outlive the run.
db=$prose/agents.db
rm -f "$db"
sqlite3 -init /dev/null -batch -bail "$db" <"$schema/agents.sql"
at 2025-12-09 10:12:44
memory reviewer project <<'END'
# Releases I have seen

7.1.0: the export's new column came in the middle and broke the accountants' import. Ask where columns go.
END
segment reviewer 1 'Would you ship 7.1.0?' <<'END'
- Said: yes
- Missed: the new column in the middle of the export
END
at 2026-01-09 16:40:20
segment reviewer 2 'What went wrong with 7.1.0 in Vienna?' <<'END'
- Found: a rule began at local midnight of the server, not of the shop
- Decided: look for both in each release from now on
END
at 2026-01-25 13:49:11
memory reviewer project <<'END'
# Releases I have seen

- 7.1.0: new column in the middle of the export broke the accountants' import; a rule began at the server's midnight.
- 7.3.0: both looked for, neither found. Asked for one real Austrian order with a book on staging.

Look at: where columns go, whose midnight it is, who reads the export.
END
segment reviewer 3 'Would you ship this?' <<'END'
- Reviewed: changes, unit, replay, load of 7.3.0
- Decided: staging yes; production after one real order with a book
END
