//! Builds run folders with hostile texts in every line and in the name of every file.

use std::path::Path;

use serde_json::json;

use super::{Fill, joined, program, write};

/// Builds a folder with a state.md (header, trace, constructs, index, call stack, unknown sections), bindings, agents,
/// gates, imports, and unknown files.
pub fn execution_state(dir: &Path, fill: &mut Fill) {
    write(&dir.join("state.md"), &state_md(fill));
    write(&dir.join("program.prose"), &program(fill));
    write(&dir.join(".env"), &joined(&[b"KEY=", &fill.line(), b"\n"]));
    for row in 0..fill.rows() {
        fill.begin(row);
        binding(dir, fill);
        agent(&dir.join("agents"), fill);
        gate(dir, fill);
        if row.is_multiple_of(8) {
            // The folder also contains an import, and a file that is not a part of any run.
            let name = format!("h{row}--{}", fill.file_name());
            let import = dir.join("imports").join(name);
            write(&import.join("state.md"), &state_md(fill));
            fill.begin(row);
            binding(&import, fill);
            write(
                &dir.join(fill.file_name()).join(fill.file_name()),
                &fill.text(),
            );
            write(&dir.join(format!("{}.md", fill.file_name())), &fill.text());
            write(
                &dir.join(format!("{}.json", fill.file_name())),
                &fill.text(),
            );
        }
    }
}

/// Builds a folder with a compact log.
pub fn compact_log(dir: &Path, fill: &mut Fill) {
    fill.begin(0);
    let mut log = joined(&[
        b"# run:20260213-113205-",
        &fill.line(),
        b" ",
        &fill.line(),
        b"\n",
    ]);
    for row in 0..fill.rows() {
        fill.begin(row);
        let n = (row + 1).to_string();
        let n = n.as_bytes();
        let mut lines = |parts: &[&[u8]]| log.extend(joined(parts));
        if row < 3 {
            lines(&[&fill.line(), b": ", &fill.line(), b"\n"]);
        }
        let arrow = "→".as_bytes();
        lines(&[n, arrow, b" ", &fill.line(), " ✓\n".as_bytes()]);
        lines(&[n, arrow, " ∥start ".as_bytes(), &fill.line(), b",b\n"]);
        lines(&[n, b"a", arrow, b" b ", &fill.line(), " ✓\n".as_bytes()]);
        lines(&[n, arrow, " ∥done\n".as_bytes()]);
        lines(&[n, arrow, b" loop:1/2 exit(**", &fill.line(), b"**)\n"]);
        lines(&[
            n,
            arrow,
            b" block:",
            &fill.line(),
            b"#1 ",
            &fill.line(),
            b"\n",
        ]);
        lines(&[n, arrow, b" #1 ", &fill.line(), " ✓\n".as_bytes()]);
        lines(&[n, arrow, b" gate:", &fill.line(), b" ", &fill.line(), b"\n"]);
        lines(&[n, arrow, b" if(", &fill.line(), b") skip\n"]);
        lines(&[
            n,
            arrow,
            b" exec ",
            &fill.line(),
            " ✗ ".as_bytes(),
            &fill.line(),
            b"\n",
        ]);
        lines(&[&fill.line(), b"\n"]);
        binding(dir, fill);
    }
    log.extend(joined(&[
        b"---error 2026-02-13T10:57:50Z ",
        &fill.line(),
        b"\n",
    ]));
    write(&dir.join("state.md"), &log);
    write(&dir.join("program.prose"), &program(fill));
}

/// Builds a folder with execution rows as JSON Lines, but without a state file.
pub fn events(dir: &Path, fill: &mut Fill) {
    let mut log = Vec::new();
    for row in 0..fill.rows() {
        fill.begin(row);
        let event = json!({
            "id": row + 1, "statement_index": row, "statement_text": fill.json(),
            "status": String::from_utf8_lossy(&fill.or(&["completed", "failed"])),
            "started_at": fill.json(), "error_message": fill.json(), fill.name(): fill.json(),
            "metadata": {"loop_id": fill.json(), "condition": fill.json(), fill.name(): fill.json()},
        });
        log.extend(joined(&[event.to_string().as_bytes(), b"\n"]));
        // One line in eight is not JSON.
        if row % 8 == 7 {
            log.extend(joined(&[&fill.line(), b"\n"]));
        }
        gate(dir, fill);
    }
    write(&dir.join("x_events.jsonl"), &log);
    write(&dir.join("program.prose"), &program(fill));
    write(&dir.join("run.json"), &fill.text());
    write(&dir.join("vm.log.md"), &fill.text());
    write(&dir.join("manifest.md"), &fill.text());
}

fn state_md(fill: &mut Fill) -> Vec<u8> {
    fill.begin(0);
    let mut out = joined(&[
        b"# Execution State\n\nrun: ",
        &fill.line(),
        b"\nprogram: ",
        &fill.line(),
        b"\nstarted: 2026-01-15T08:32:14Z\nupdated: ",
        &fill.line(),
        b"\nstatus: ",
        &fill.line(),
        b"\n",
        &fill.line(),
        b": ",
        &fill.line(),
        b"\n\n## Execution Trace\n\n```prose\n",
    ]);
    for row in 0..fill.rows() {
        fill.begin(row);
        for (before, mark) in [
            ("session ", "  # (complete)"),
            ("let a = session ", "  # --> bindings/a.md"),
            ("do b ", "  # <-- EXECUTING"),
            ("session: ", "  # ✗ "),
            ("", "  # [...next...]"),
        ] {
            let line = fill.line();
            out.extend(joined(&[
                before.as_bytes(),
                b"\"",
                &line,
                b"\"",
                mark.as_bytes(),
                &fill.line(),
                b"\n",
            ]));
        }
    }
    out.extend_from_slice(b"```\n\n## Active Constructs\n");
    for row in 0..fill.rows() {
        fill.begin(row);
        out.extend(joined(&[
            b"\n### Loop (lines ",
            &fill.line(),
            b")\n\n- status: ",
            &fill.line(),
            b"\n- iteration: ",
            &fill.line(),
            b"\n- ",
            &fill.line(),
            b": ",
            &fill.line(),
            b"\n",
        ]));
    }
    for (heading, columns) in [
        (
            "## Index\n\n### Bindings",
            "| Name | Kind | Path | Execution ID |",
        ),
        ("### Agents", "| Name | Scope | Path | Note |"),
        ("## Call Stack", "| execution_id | block | depth | status |"),
    ] {
        out.extend_from_slice(format!("\n{heading}\n\n{columns}\n|--|--|--|--|\n").as_bytes());
        for row in 0..fill.rows() {
            fill.begin(row);
            out.extend(joined(&[
                b"| ",
                &cell(fill),
                b" | ",
                &cell(fill),
                b" | ",
                &cell(fill),
                b" | ",
                &cell(fill),
                b" |\n",
            ]));
        }
    }
    for row in 0..fill.rows().min(8) {
        fill.begin(row);
        out.extend(joined(&[
            b"\n## ",
            &fill.line(),
            b"\n\n",
            &fill.text(),
            b"\n",
        ]));
    }
    out
}

fn cell(fill: &mut Fill) -> Vec<u8> {
    let line = fill.line();
    String::from_utf8_lossy(&line)
        .replace('|', "\\|")
        .into_bytes()
}

fn binding(dir: &Path, fill: &mut Fill) {
    let file = dir
        .join("bindings")
        .join(format!("{}.md", fill.file_name()));
    let content = joined(&[
        b"# ",
        &fill.line(),
        b"\n\nkind: ",
        &fill.or(&["let", "input"]),
        b"\n",
        &fill.line(),
        b": ",
        &fill.line(),
        b"\n\nsource:\n```prose\n",
        &fill.text(),
        b"\n```\n\n---\n\n",
        &fill.text(),
        b"\n",
    ]);
    // One file in four is a value without a header.
    let content = if fill.row % 4 == 3 {
        fill.text()
    } else {
        content
    };
    write(&file, &content);
}

fn agent(dir: &Path, fill: &mut Fill) {
    let name = fill.file_name();
    write(
        &dir.join(&name).join("memory.md"),
        &joined(&[
            b"# Agent Memory: ",
            &fill.line(),
            b"\n\n",
            &fill.text(),
            b"\n",
        ]),
    );
    write(
        &dir.join(&name).join(format!("{name}-001.md")),
        &joined(&[
            b"# Segment 001\n\ntimestamp: ",
            &fill.line(),
            b"\nprompt: \"",
            &fill.line(),
            b"\"\n\n## Summary\n\n",
            &fill.text(),
            b"\n",
        ]),
    );
}

fn gate(dir: &Path, fill: &mut Fill) {
    let (folder, name) = (dir.join("gates"), fill.file_name());
    let pending = json!({
        "id": fill.json(), "run_id": fill.json(), "prompt": fill.json(), "allow": [fill.json(), fill.json()],
        "timeout": fill.json(), "timeout_at": fill.json(), "on_reject": fill.json(), "status": "pending",
        "created_at": fill.json(), "metadata": {fill.name(): fill.json()}, fill.name(): fill.json(),
    });
    write(
        &folder.join(format!("{name}.pending.json")),
        pending.to_string().as_bytes(),
    );
    if fill.row.is_multiple_of(2) {
        let resolved = json!({
            "gate_id": fill.json(), "decision": String::from_utf8_lossy(&fill.or(&["approved", "rejected"])),
            "principal": fill.json(), "comment": fill.json(), "timestamp": fill.json(),
        });
        write(
            &folder.join(format!("{name}.resolved.json")),
            resolved.to_string().as_bytes(),
        );
    }
    let audit = json!({
        "id": fill.row + 1, "gate_id": fill.json(), "run_id": fill.json(), "principal": fill.json(),
        "event_type": String::from_utf8_lossy(&fill.or(&["created", "approved"])), "comment": fill.json(),
        "timestamp": fill.json(), "metadata": fill.json(),
    });
    let file = folder.join("audit.jsonl");
    let before = std::fs::read(&file).unwrap_or_default();
    write(
        &file,
        &joined(&[&before, audit.to_string().as_bytes(), b"\n"]),
    );
}
