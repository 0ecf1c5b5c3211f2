//! Healthy run folders, one of each form (docs/reference/formats.md).

/// The files of a folder, each with its path and its text.
pub(crate) type Files = &'static [(&'static str, &'static str)];

/// The healthy folders, each with its name.
pub(crate) const RUNS: &[(&str, Files)] = &[
    ("form A", A),
    ("form B", B),
    ("form A, gates", A_GATES),
    ("form B, blocks", B_BLOCKS),
    ("form C", C),
    ("form D", D),
    ("a .prose folder", PROSE),
    ("no state file", BARE),
    ("agents", AGENTS),
    ("nested", NESTED),
];

pub(crate) const A: Files = &[
    (
        "state.md",
        "# Execution State

run: 20260115-143052-a7b3c9
program: harbour.prose
started: 2026-01-15T14:30:52Z
updated: 2026-01-15T14:33:30Z

## Execution Trace

```prose
agent pilot:
  model: sonnet

let tide = session \"Read the tide\"         # --> bindings/tide.md

parallel:                                  # <-- EXECUTING
  north = session: pilot                   # --> bindings/north.md (complete)
    prompt: \"Sound the north\"
  south = session: pilot                   # <-- EXECUTING
  east = session: pilot                    # (failed: no wind)

loop until **calm** (max: 5):              # iteration 2/5
  let sea = session \"Look at the sea\"      # --> bindings/sea__3.md
```

## Active Constructs

### Parallel: p1 (lines 6-11)

| Branch | Status | Started |
|--------|--------|---------|
| north | complete | 14:31:00 |
| south | executing | 14:31:00 |

### Loop: l1 (lines 13-14)

- iteration: 2/5
- condition: **calm**

## Index

### Bindings

| Name | Kind | Path | Execution ID |
|------|------|------|--------------|
| tide | let | bindings/tide.md | (root) |
| north | let | bindings/north.md | (root) |
| sea | let | bindings/sea__3.md | 3 |

### Agents

| Name | Scope | Path |
|------|-------|------|
| pilot | execution | agents/pilot/ |

## Call Stack

| execution_id | block | depth | status |
|---|---|---|---|
| 3 | sail | 1 | executing |
",
    ),
    (
        "program.prose",
        "agent pilot:
  model: sonnet

let tide = session \"Read the tide\"

parallel:
  north = session: pilot
    prompt: \"Sound the north\"
  south = session: pilot
  east = session: pilot

loop until **calm** (max: 5):
  let sea = session \"Look at the sea\"
",
    ),
    (
        "bindings/tide.md",
        "# tide\n\nkind: let\n\nsource:\n```prose\nlet tide = session \"Read the tide\"\n```\n\n---\n\nHigh water at six.\n",
    ),
    (
        "bindings/north.md",
        "# north\n\nkind: session (parallel branch)\n\nsource:\n```prose\nnorth = session: pilot\n```\nagent: pilot\nexit_code: 0\n\n---\n\n# Soundings\n\n---\n\nFour fathoms.\n",
    ),
    (
        "bindings/sea__3.md",
        "# sea\n\nkind: let\nexecution_id: 3\nparent_execution_id: 1\n\n---\n\nRough.\n",
    ),
    ("bindings/plain.md", "Only a value, without any header.\n"),
    (
        "agents/pilot/memory.md",
        "# Agent Memory: pilot\n\nReefs to the east.\n",
    ),
    (
        "agents/pilot/pilot-001.md",
        "# Segment 001\n\ntimestamp: 2026-01-15T14:32:15Z\nprompt: \"Sound the north\"\n\n## Summary\n\n- fine\n",
    ),
];

const A_GATES: Files = &[
    (
        "state.md",
        "# Execution State

run: 20260115-143052-a7b3c9
program: harbour.prose
status: running

## Execution Trace

```prose
approve cast_off:                          # <-- WAITING (gate cast_off)
  prompt: \"Ready?\"
  timeout: 4h
```

## Index

(none yet)
",
    ),
    ("program.prose", "approve cast_off:\n  prompt: \"Ready?\"\n  timeout: 4h\n"),
    (
        "gates/cast_off.pending.json",
        "{\"id\": \"cast_off\", \"run_id\": \"20260115-143052-a7b3c9\", \"prompt\": \"Ready?\", \"allow\": [\"user\"], \"timeout\": \"4h\", \"created_at\": \"2026-01-15T14:30:52Z\"}",
    ),
    (
        "gates/cast_off.resolved.json",
        "{\"gate_id\": \"cast_off\", \"decision\": \"approved\", \"principal\": \"user\", \"timestamp\": \"2026-01-15T15:30:52Z\"}",
    ),
    (
        "gates/audit.jsonl",
        "{\"id\": 1, \"gate_id\": \"cast_off\", \"run_id\": \"20260115-143052-a7b3c9\", \"event_type\": \"created\", \"principal\": \"system\"}
{\"id\": 2, \"gate_id\": \"cast_off\", \"run_id\": \"20260115-143052-a7b3c9\", \"event_type\": \"approved\", \"principal\": \"user\"}
",
    ),
    (
        "x_events.jsonl",
        "{\"id\": 1, \"statement_index\": 1, \"statement_text\": \"approve cast_off:\", \"status\": \"waiting\", \"started_at\": \"2026-01-15T14:30:52Z\"}
{\"id\": 2, \"statement_index\": 1, \"statement_text\": \"approve cast_off:\", \"status\": \"completed\", \"metadata\": {\"gate_id\": \"cast_off\"}}
",
    ),
];

pub(crate) const B: Files = &[
    (
        "state.md",
        "# run:20260213-113205-0fbf7c harbour.prose
upstream: [20260212-000000-aaaaaa]
1→ plan ✓
2→ ✓
3→ ∥start north,south
3a→ north ✓
3b→ south ✗ no wind
3→ ∥done
4→ retry:2/3
4→ sail ✓
5→ loop:1/5
5→ loop:2/5 exit(**calm**)
6→ gate:fast_tests ✓ approved
7→ if(false) skip
8→ exec .version ✓
8→ commit:abc1234 1234567
[outage] the wind stopped
---end 2026-02-13T10:57:50-05:00
",
    ),
    (
        "program.prose",
        "let plan = session \"Plan\"\n\nparallel:\n  north = session \"N\"\n  south = session \"S\"\n",
    ),
    (
        "bindings/plan.md",
        "# plan\n\nkind: let\n\n---\n\nSail at six.\n",
    ),
    ("bindings/verify_round2_final.md", "Verified.\n"),
];

const B_BLOCKS: Files = &[
    (
        "state.md",
        "# run:20260213-113205- implement.prose
program: implement.prose
root: /home/somebody
5-> block:implement#1 TASK-001
5-> #1 impl ✓
5-> #1 block:review#2
5-> #2 read ✓
5-> #2 done
5-> #1 done
5→ block:implement#3 TASK-002
5→ #3 impl ✗ err
---error 2026-02-13T10:57:50Z it broke
---resume 2026-02-13T11:57:50Z (by hand)
5→ #3 impl ✓
5→ #3 ⊘ deferred (later)
",
    ),
    ("bindings/impl.md", "# impl\n\nkind: let\n\n---\n\nDone.\n"),
    (
        "bindings/secret.md",
        "{\"data\": \"ENC[AES256_GCM,data:abc,iv:def,tag:ghi,type:str]\", \"sops\": {\"version\": \"3.9\"}}",
    ),
];

pub(crate) const C: Files = &[
    (
        "vm.log.md",
        "# VM log\n\n- started\n- service harbour: ok\n",
    ),
    ("root.prose.md", "# Harbour\n\nRun the services.\n"),
    ("manifest.md", "# Manifest\n\n- harbour\n"),
    ("sources/harbour.md", "# harbour\n"),
    ("services/harbour.md", "# harbour\n"),
    ("bindings/harbour/output.md", "The ship is in.\n"),
    ("bindings/caller/request.md", "Bring the ship in.\n"),
];

pub(crate) const D: Files = &[
    (
        "state.md",
        "# Run State — 20260716-082519-hak1oi\n\n**Program:** harbour.prose\n**Status:** completed\n**Started:** 2026-07-16T08:25:19Z\n\n## Receipts\n\nSee receipts.jsonl.\n",
    ),
    (
        "run.json",
        "{\"run_id\": \"20260716-082519-hak1oi\", \"program\": \"harbour.prose\", \"status\": \"completed\", \"state_backend\": \"filesystem\"}",
    ),
    (
        "receipts.jsonl",
        "{\"kind\": \"control\", \"run_id\": \"20260716-082519-hak1oi\", \"statement_id\": \"run\", \"detail\": {\"event\": \"run_start\"}, \"prev\": null}
{\"kind\": \"session\", \"run_id\": \"20260716-082519-hak1oi\", \"statement_id\": \"s1\", \"status\": \"rendered\", \"usage\": {\"input_tokens\": 0}}
",
    ),
    ("bindings/anon_001.md", "# anon_001\n\nkind: session (anonymous)\n\n---\n\nIn.\n"),
];

/// A `.prose` folder with settings, agents and two runs.
const PROSE: Files = &[
    (
        ".prose/.env",
        "# settings\nexport USER_ID=user-1\nOPENPROSE_POSTGRES_URL=postgresql://me:secret@localhost/prose\nAPI_KEY='abc'\n",
    ),
    (".prose/state.json", "{\"telemetry\": \"enabled\"}"),
    (
        ".prose/agents/captain/memory.md",
        "# Agent Memory: captain\n\nReefs.\n",
    ),
    (
        ".prose/runs/20260115-143052-a7b3c9/state.md",
        "# Execution State\n\nrun: 20260115-143052-a7b3c9\nprogram: a.prose\nstatus: COMPLETE\n\n## Execution Trace\n\n```prose\nsession \"A\"  # (complete)\n```\n",
    ),
    (
        ".prose/runs/20260115-143052-a7b3c9/bindings/a.md",
        "# a\n\nkind: output\n\n---\n\nA.\n",
    ),
    (
        ".prose/runs/20260213-113205-0fbf7c/state.md",
        "# run:20260213-113205-0fbf7c b.prose\n1→ b ✓\n---end 2026-02-13T10:57:50Z\n",
    ),
    (
        ".prose/runs/20260213-113205-0fbf7c/program.prose",
        "let b = session \"B\"\n",
    ),
];

const BARE: Files = &[
    ("program.prose", "let plan = session \"Plan\"\n"),
    (
        "bindings/plan.md",
        "# plan\n\nkind: let\n\n---\n\nSail at six.\n",
    ),
    ("agents/pilot/memory.md", "Reefs.\n"),
    ("attachments/chart.md", "# Chart\n"),
];

pub(crate) const AGENTS: Files = &[
    (
        "agents/captain/memory.md",
        "# Agent Memory: captain\n\nReefs to the east.\n",
    ),
    (
        "agents/captain/captain-001.md",
        "# Segment 001\n\nprompt: \"Plan\"\n\n## Summary\n\n- planned\n",
    ),
    (
        "agents/captain/captain-002.md",
        "# Segment 002\n\nprompt: \"Sail\"\n\n## Summary\n\n- sailed\n",
    ),
    ("agents/pilot/memory.md", "Shoals.\n"),
];

const NESTED: Files = &[
    (
        "state.md",
        "# Execution State\n\nrun: outer\nprogram: outer.prose\n\n## Execution Trace\n\n```prose\nuse \"@a/b\" as survey\nlet x = survey()  # --> bindings/x.md\n```\n",
    ),
    ("bindings/x.md", "# x\n\nkind: let\n\n---\n\nX.\n"),
    (
        "imports/survey--b/state.md",
        "# Execution State\n\nrun: inner\nprogram: b.prose\n\n## Execution Trace\n\n```prose\noutput y = session \"Y\"  # <-- EXECUTING\n```\n",
    ),
    (
        "imports/survey--b/bindings/y.md",
        "# y\n\nkind: output\n\n---\n\nY.\n",
    ),
    (
        "imports/survey--b/imports/deep--c/state.md",
        "# run:deep c.prose\n1→ c ✓\n",
    ),
];
