#!/bin/sh
# A finished run, append-only (sqlite.md): an import, a parallel with a retried branch, a loop of two rounds,
# a retried session, an agent with memory and segments, an attachment, an extension table and column.
. "$(dirname "$0")/lib.sh"
schema=$examples/../core/src/model/schema/state.sql

# event LINE TEXT STATUS METADATA [ERROR]: the VM appends what happened. Opening rows carry the time they began,
# closing ones the time they ended.
event() {
  case $3 in
  executing | started) begun="datetime('now')" ended=NULL ;;
  completed | failed | joined | exited) begun=NULL ended="datetime('now')" ;;
  *) begun=NULL ended=NULL ;;
  esac
  sql <<SQL
INSERT INTO execution (statement_index, statement_text, status, started_at, completed_at, error_message, metadata)
VALUES ($(line "$1"), $(text "$2"), '$3', $begun, $ended, nullif($(text "${5-}"), ''), $(text "$4"));
SQL
}

at 2026-01-12 09:14:07
open_run 20260112-091407-k3v8qd hunt-flaky-tests.prose "$schema"
echo "ALTER TABLE bindings ADD COLUMN token_count INTEGER;
CREATE TABLE x_metrics (
    execution_id INTEGER REFERENCES execution(id),
    metric_name TEXT,
    metric_value REAL,
    recorded_at TEXT DEFAULT (datetime('now'))
);" | sqlite3 -init /dev/null -bail "$db"

at 2026-01-12 09:14:09
sql <<'SQL'
INSERT INTO imports (alias, source_url, fetched_at, inputs_schema, outputs_schema)
VALUES ('history', '@ci-tools/history', datetime('now'),
  '{"suite": {"type": "string"}, "nights": {"type": "integer", "minimum": 1}}',
  '{"failures": {"type": "string"}, "nights_read": {"type": "integer"}}');
SQL
binding suite NULL input 'input suite: "The test suite to look at"' <<'END'
shop/checkout
END
binding nights NULL input 'input nights: "How many nights of history to read"' <<'END'
60
END

event 'let past' 'let past = history(suite: suite, nights: nights)' executing '{}'
at 2026-01-12 09:17:48
binding history.failures NULL let 'let past = history(suite: suite, nights: nights)' <<'END'
12 of 60 nights were red.

| night      | test                                   | message                                      |
|------------|----------------------------------------|----------------------------------------------|
| 2025-11-17 | cart_survives_restart                  | expected 3 lines, found 0                    |
| 2025-11-21 | cart_survives_restart                  | expected 3 lines, found 0                    |
| 2025-11-29 | voucher_expires_at_midnight            | voucher still valid at 00:00:00              |
| 2025-12-03 | cart_survives_restart                  | expected 3 lines, found 0                    |
| 2025-12-08 | cart_survives_restart, guest_can_pay   | expected 3 lines, found 0; cart is empty     |
| 2025-12-14 | cart_survives_restart                  | expected 3 lines, found 0                    |
| 2025-12-19 | guest_can_pay                          | cart is empty                                |
| 2025-12-22 | cart_survives_restart                  | expected 3 lines, found 0                    |
| 2025-12-27 | cart_survives_restart                  | expected 3 lines, found 0                    |
| 2026-01-02 | guest_can_pay                          | cart is empty                                |
| 2026-01-06 | cart_survives_restart                  | expected 3 lines, found 0                    |
| 2026-01-10 | cart_survives_restart                  | expected 3 lines, found 0                    |
END
binding history.nights_read NULL let 'let past = history(suite: suite, nights: nights)' <<'END'
60
END
binding past NULL let 'let past = history(suite: suite, nights: nights)' <<'END'
history.failures: 12 of 60 nights red, three tests, two messages.
history.nights_read: 60.
END
event 'let past' 'let past = history(suite: suite, nights: nights)' completed '{"import": "history"}'

event 'let case_file' 'let case_file = session: captain' executing '{}'
at 2026-01-12 09:19:30
binding case_file NULL let 'let case_file = session: captain
  prompt: "Open the case file. Which failures belong together?"
  context: past' <<'END'
## Case file: shop/checkout

Eleven of the twelve nights tell one story: **the cart is empty when it should not be**. The twelfth
(2025-11-29, a voucher at midnight) is another one and stays out of this case.

- Known: `cart_survives_restart` and `guest_can_pay` both read a cart that another process wrote.
- Suspected: a wait that is too short; the order of the tests; a service outside.
- Ruled out: nothing yet.
END
memory captain execution <<'END'
# Case: shop/checkout

One story: the cart is empty when it should not be. Voucher at midnight (2025-11-29) is not ours.
Open: timing, order, network. Three readings asked for.
END
segment captain 1 'Open the case file. Which failures belong together?' <<'END'
- Read: 60 nights, 12 red
- Found: eleven nights share one symptom, an empty cart
- Decided: the voucher at midnight is another case
- Next: three independent readings
END
event 'let case_file' 'let case_file = session: captain' completed '{"agent": "captain"}'

event 'parallel (on-fail' 'parallel (on-fail: "continue"):' started \
  '{"parallel_id": "p1", "strategy": "all", "on_fail": "continue", "branches": ["timing", "order", "network"]}'
at 2026-01-12 09:24:12
binding network NULL let 'network = session: detective
  prompt: "Does a test reach for something outside of the machine?"
  context: { past, case_file }' <<'END'
No. Every socket that the suite opened in the 60 recorded nights went to 127.0.0.1. The payment provider is a stub
in the same process: `provider=stub pid=self` in line 14 of each log.
END
event 'parallel (on-fail' 'parallel:network' completed '{"parallel_id": "p1", "branch": "network"}'
at 2026-01-12 09:25:03
event 'parallel (on-fail' 'parallel:order' failed '{"parallel_id": "p1", "branch": "order"}' \
  'The session ended without an answer: context of 212,480 tokens is larger than the model takes (200,000)'
event 'parallel (on-fail' 'parallel:order' retry '{"parallel_id": "p1", "branch": "order", "attempt": 2, "max": 2}'
at 2026-01-12 09:27:55
binding timing NULL let 'timing = session: detective
  prompt: "Does anything wait for a fixed time instead of for an event?"
  context: { past, case_file }' <<'END'
Yes, in one place. `cart_store.rs:118`:

    // the writer needs about 40 ms
    sleep(Duration::from_millis(50));

On green nights the line "cart flushed" comes 31 to 46 ms after the request. On the eleven red ones it comes after
54 to 210 ms, each time while the nightly backup runs ("backup: start" within the second before).
END
event 'parallel (on-fail' 'parallel:timing' completed '{"parallel_id": "p1", "branch": "timing"}'
at 2026-01-12 09:31:40
binding order NULL let 'order = session: detective
  prompt: "Does the order of the tests decide who fails?"
  context: { past, case_file }' <<'END'
No. The seeds of the red nights were rerun by day, in the same order: 11 of 11 green. Second attempt, with the logs of
the red nights only.
END
event 'parallel (on-fail' 'parallel:order' completed '{"parallel_id": "p1", "branch": "order", "attempt": 2}'
event 'parallel (on-fail' 'parallel (on-fail: "continue"):' joined '{"parallel_id": "p1"}'

event 'let theory' 'let theory = resume: captain' executing '{}'
at 2026-01-12 09:33:21
binding theory NULL const 'let theory = resume: captain
  prompt: "Weigh the three readings. Which one explains every red night?"
  context: { timing, order, network }' <<'END'
**Timing.** The cart is read 50 ms after it was written, whether it is there or not. On nights when the backup starts
at that moment the disk is busy and 50 ms are too few. This explains all eleven nights, and why nobody sees it by day.

What would disprove it: one red night without "backup: start" in the second before. There is none.
END
memory captain execution <<'END'
# Case: shop/checkout

Cause, as of now: `cart_store.rs:118` sleeps 50 ms instead of waiting for "cart flushed"; the backup makes it late.
Explains 11 of 11 nights. Order and network are ruled out.
Needed: a patch that waits for the event, and 50 green runs **while a backup runs**.
END
segment captain 2 'Weigh the three readings. Which one explains every red night?' <<'END'
- Weighed: timing, order, network
- Found: timing explains 11 of 11
- Decided: order and network ruled out
- Next: patch, then proof under a running backup
END
event 'let theory' 'let theory = resume: captain' completed '{"agent": "captain"}'

event 'loop until' 'loop until **the suite passes 50 times in a row** (max: 5):' started \
  '{"loop_id": "l1", "max": 5, "condition": "**the suite passes 50 times in a row**"}'
event 'let patch' 'let patch = session "Write the smallest patch that the theory asks for"' executing '{}'
at 2026-01-12 09:36:58
binding patch NULL let 'let patch = session "Write the smallest patch that the theory asks for"' <<'END'
```diff
--- a/cart_store.rs
+++ b/cart_store.rs
@@ -115,5 +115,4 @@
-    // the writer needs about 40 ms
-    sleep(Duration::from_millis(50));
+    self.flushed.recv_timeout(Duration::from_millis(100))?;
```
END
event 'let patch' 'let patch = session "Write the smallest patch that the theory asks for"' completed '{}'
event 'let proof' 'let proof = session "Apply the patch and run the suite 50 times"' executing '{}'
at 2026-01-12 09:44:10
binding proof NULL let 'let proof = session "Apply the patch and run the suite 50 times"' <<'END'
47 of 50 green, with a backup running all the time. Three runs ended in `Timeout` at `cart_store.rs:116`: 100 ms are
too few as well.
END
event 'let proof' 'let proof = session "Apply the patch and run the suite 50 times"' completed '{"green": 47, "runs": 50}'
event 'loop until' 'loop' iteration '{"loop_id": "l1", "iteration": 1}'
event 'let patch' 'let patch = session "Write the smallest patch that the theory asks for"' executing '{}'
at 2026-01-12 09:47:02
binding patch NULL let 'let patch = session "Write the smallest patch that the theory asks for"' <<'END'
```diff
--- a/cart_store.rs
+++ b/cart_store.rs
@@ -115,5 +115,4 @@
-    // the writer needs about 40 ms
-    sleep(Duration::from_millis(50));
+    self.flushed.recv()?;
```

Waits for the event, however long it takes. The suite's own limit of 60 s a test still ends a real hang.
END
event 'let patch' 'let patch = session "Write the smallest patch that the theory asks for"' completed '{}'
event 'let proof' 'let proof = session "Apply the patch and run the suite 50 times"' executing '{}'
at 2026-01-12 09:55:36
mkdir -p "$run/attachments"
awk 'BEGIN {
  print "# 50 runs of shop/checkout, a backup running all the time\n"
  for (run = 1; run <= 50; run++) {
    print "## Run " run "\n"
    for (test = 1; test <= 36; test++) {
      ms = 12 + (run * 31 + test * 17) % 89
      printf "- %02d:%02d:%02d checkout::case_%02d ... ok (%d ms, cart flushed after %d ms)\n",
        9 + int((47 * 60 + run * 10) / 3600), (47 + int(run * 10 / 60)) % 60, (run * 10 + test) % 60, test, ms, 30 + ms * 2
    }
    print "\n36 passed, 0 failed\n"
  }
}' >"$run/attachments/proof.md"
sql <<'SQL'
INSERT OR REPLACE INTO bindings (name, execution_id, kind, value, attachment_path, source_statement, created_at, updated_at)
VALUES ('proof', NULL, 'let',
  '50 of 50 green, a backup running all the time. Slowest flush: 230 ms. All 1,800 results: see the attachment.',
  'attachments/proof.md', 'let proof = session "Apply the patch and run the suite 50 times"',
  datetime('now'), datetime('now'));
SQL
event 'let proof' 'let proof = session "Apply the patch and run the suite 50 times"' completed '{"green": 50, "runs": 50}'
event 'loop until' 'loop' iteration '{"loop_id": "l1", "iteration": 2}'
event 'loop until' 'loop' exited '{"loop_id": "l1", "iteration": 2, "reason": "condition_satisfied"}'

event 'session "Open a draft' 'session "Open a draft pull request"' executing '{}'
at 2026-01-12 09:56:01
event 'session "Open a draft' 'session "Open a draft pull request"' failed '{}' 'git push: 502 Bad Gateway'
at 2026-01-12 09:56:05
event 'session "Open a draft' 'session "Open a draft pull request"' retry '{"attempt": 2, "max": 3}'
at 2026-01-12 09:57:12
binding anon_001 NULL let 'session "Open a draft pull request"' <<'END'
Draft 4127 "Wait for the cart instead of 50 ms" is open. It links the eleven nights and the 50 runs.
END
event 'session "Open a draft' 'session "Open a draft pull request"' completed '{"attempt": 2}'

event 'output verdict' 'output verdict = resume: captain' executing '{}'
at 2026-01-12 09:58:44
binding verdict NULL output 'output verdict = resume: captain
  prompt: "Close the case: cause, cure, proof, in five sentences"
  context: { theory, patch, proof }' <<'END'
The checkout suite was red on eleven of sixty nights because a test helper slept 50 ms instead of waiting for the cart
to be written. The nightly backup keeps the disk busy at just that time, which is why it never happened by day. The
helper now waits for the writer's own signal (draft 4127, one line). Fifty runs under a running backup were green, the
slowest flush took 230 ms. The voucher that was still valid at midnight on 2025-11-29 is another bug and has its own
issue.
END
memory captain execution <<'END'
# Case: shop/checkout (closed 2026-01-12)

Cause: `cart_store.rs:118` slept 50 ms instead of waiting for "cart flushed"; the backup made it late.
Cure: draft 4127. Proof: 50 of 50 under a running backup; round 1 (100 ms) gave 47 of 50.
Not ours: voucher_expires_at_midnight, 2025-11-29.
END
segment captain 3 'Close the case: cause, cure, proof, in five sentences' <<'END'
- Wrote: the verdict
- Learned: never replace one fixed wait by a longer one
- Next: nothing, the case is closed
END
event 'output verdict' 'output verdict = resume: captain' completed '{"agent": "captain"}'
sql <<'SQL'
UPDATE bindings SET token_count = length(value) / 4;
INSERT INTO x_metrics (execution_id, metric_name, metric_value, recorded_at)
SELECT id, 'cost_usd', 0.01 * (1 + id % 7), completed_at FROM execution WHERE status = 'completed';
SQL
run_status completed
