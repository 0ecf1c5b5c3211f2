use crate::check::Rule;

pub(super) const RULES: &[Rule] = &[
    Rule::warning("segment-without-agent", "Segments are recorded of an agent that has no row.")
        .fix("Write the agent's row with its first segment.")
        .source("errata A1")
        .sql("INSERT INTO agent_segments (agent_name, segment_number, prompt, summary)\nVALUES ('captain', 1, 'Review', 'Done');"),
    Rule::warning("unnumbered-segment", "A segment has no number.")
        .fix("Number an agent's segments from 1.")
        .source("filesystem.md, Segment Numbering")
        .sql("INSERT INTO agents (name, scope) VALUES ('captain', 'execution');\nINSERT INTO agent_segments (agent_name, summary) VALUES ('captain', 'Done');"),
    Rule::info("agent-missing", "The index gives an agent a folder that is not there.")
        .fix("It may not have been asked yet. If it was, its memory was not handed over with the run.")
        .source("filesystem.md, Agent Memory Files")
        .files(&[(
            "state.md",
            "# Execution State\n\nrun: r1\nprogram: p.prose\n\n## Index\n\n### Agents\n\n| Name | Scope | Path |\n|---|---|---|\n| captain | execution | agents/captain/ |\n",
        )]),
    Rule::info(
        "agent-in-two-stores",
        "An agent of the project or the user has a memory in `agents.db` and another one in `agents/`. A run uses the store of its own form.",
    )
        .fix("Move what is needed into one of the two stores, and remove the agent from the other.")
        .source("errata A1; recording")
        .told("An agent captain in `.prose/agents.db` and in `.prose/agents/captain/`.", "core/src/session/pages/agents.rs"),
    Rule::info("memory-of-another", "A memory's heading names another agent than its folder.")
        .fix("Look whether an agent wrote into the folder of another.")
        .source("filesystem.md, Agent Memory Files")
        .files(&[("agents/captain/memory.md", "# Agent Memory: pilot\n\n## Current Understanding\n")]),
    Rule::info("segment-number", "A segment's heading has another number than its file.")
        .fix("Rename the file, or correct its heading.")
        .source("filesystem.md, Segment Numbering")
        .files(&[(
            "agents/captain/captain-002.md",
            "# Segment 003\n\ntimestamp: 2026-01-15T14:32:15Z\nprompt: \"Review\"\n\n## Summary\n\n- Reviewed\n",
        )]),
    Rule::warning("duplicate-segment", "An agent has two segments of one number.")
        .fix("Compare them: two sessions of one agent may have run at once, and one memory may have overwritten the other.")
        .source("filesystem.md, Segment Numbering")
        .files(&[
            ("agents/captain/captain-001.md", "# Segment 001\n\nprompt: \"Review\"\n"),
            ("agents/captain/captain-0001.md", "# Segment 001\n\nprompt: \"Review again\"\n"),
        ]),
    Rule::warning("segments-cut", "There are more segments than are read.")
        .fix("The later ones are listed without their text; open the file to read one.")
        .source("reliability, untrusted files")
        .told("An agent's folder with 20,001 segments.", "core/src/decode/folder/agents.rs"),
];
