use crate::check::Rule;

pub(super) const RULES: &[Rule] = &[
    Rule::warning("no-state-file", "The folder has no state file; what ran is told from its bindings.")
        .fix("Hand over the whole run folder. Where the program never wrote one, only the bindings tell how far it came.")
        .source("dialects, no state file")
        .files(&[("program.prose", "let a = session \"A\"\n"), ("bindings/a.md", "# a\n\nkind: let\n\n---\n\ntext\n")]),
    Rule::warning("unsafe-path", "A path leads out of the run, or may; it is not followed.")
        .fix("Paths inside a run are plain: no `..`, no drive, no leading `/`. Do not trust the folder that holds this one.")
        .source("reliability, untrusted files")
        .files(&[(
            "state.md",
            "# Execution State\n\nrun: r1\nprogram: p.prose\n\n## Index\n\n### Bindings\n\n| Name | Kind | Path | Execution ID |\n|---|---|---|---|\n| a | let | ../../secret.md | (root) |\n",
        )]),
    Rule::error("file-unreadable", "A file of the run cannot be read; what it says is missing.")
        .fix("Check that you may read it, and that it was not removed meanwhile.")
        .source("architecture, reading returns a value and issues")
        .told("A `state.md` without permission to read it.", "core/src/decode/folder/tree.rs"),
    Rule::warning("file-cut", "A file is longer than is read; its end is missing here.")
        .fix("Open the file itself for the rest.")
        .source("reliability, untrusted files")
        .told("A `state.md` of 17 MB.", "core/src/decode/folder/tree.rs"),
    Rule::warning("log-cut", "A log of the folder has more lines than are read.")
        .fix("The rest is not held; the file itself shows it.")
        .source("reliability, untrusted files")
        .told("A `gates/audit.jsonl` of over a million lines.", "core/src/decode/jsonl.rs"),
    Rule::info("unfinished-write", "A writer is in the middle of a change, or was killed there; the change is shown as done.")
        .fix("Nothing is lost. The next command that records finishes it.")
        .source("reliability, files")
        .files(&[
            ("state.md", "# Execution State\n\nrun: r1\nstatus: running\n"),
            ("x_journal.json", "[{\"Write\": {\"path\": \"state.md\", \"text\": \"# Execution State\\n\\nrun: r1\\nstatus: failed\\n\", \"keep\": null}}]"),
        ]),
    Rule::info("writer-leftover", "A file lies in the run that a writer had not yet put into its place.")
        .fix("Nothing has to be done: a writer is at work, or was killed there, and the next one removes it.")
        .source("reliability, files")
        .files(&[("state.md", "# Execution State\n\nrun: r1\nstatus: running\n"), (".tmp-file", "# a\n\nki")]),
    Rule::warning("unreadable-setting", "A line of `.prose/.env` is not KEY=value; it is left out.")
        .fix("Correct the line. Its text is not repeated, as it may hold a secret.")
        .source("errata, Folder form")
        .files(&[(".env", "USER_ID=user-a7\nmy secret\n"), ("runs/r1/program.prose", "session \"A\"\n")]),
    Rule::error("unreadable-folder", "A folder cannot be listed; files in it are missing.")
        .fix("Check that you may read it.")
        .source("architecture, reading returns a value and issues")
        .told("A `.prose/runs/r1/agents` without permission to list it.", "store/src/disk.rs"),
    Rule::warning("link-not-followed", "A link stands where a file or folder of the run would; what it leads to is missing.")
        .fix("What it leads to may lie outside of the run. Put that in its place, if it is the run's, or open it by its own path.")
        .source("reliability, untrusted files")
        .told("A `bindings` that is a link to a folder elsewhere.", "core/src/source.rs"),
    Rule::error("log-unreadable", "No line of a log can be read, or the log is empty and other files say that it was not: what was recorded there is not known.")
        .fix("Put back the file as it was, from a copy.")
        .source("reliability, untrusted files")
        .files(&[("program.prose", "session \"A\"\n"), ("x_events.jsonl", "\u{0}\u{0}\u{0}\n")]),
    Rule::info("folder-left-out", "Folders called .git, node_modules or target were not looked into.")
        .fix("Nothing has to be done. Name such a folder to look into it.")
        .source("dialects, runs without a state file")
        .told("A project with a `node_modules` beside its `.prose`.", "core/src/source.rs"),
    Rule::error("share-changed", "A shared file is not what its manifest says: something was changed, added or removed on the way.")
        .fix("Ask whoever shared it for the file again, and do not rely on this one.")
        .source("share, the file")
        .told("A shared page of which one byte of a value was changed.", "share/src/manifest.rs"),
    Rule::info("shared-copy", "The run was read from a file that `prosescope share` wrote, and each part of it has the bytes that were shared.")
        .fix("Nothing has to be done. The manifest tells what happened on the way, not who made the copy.")
        .source("share, the file")
        .told("`prosescope check run.html`.", "share/src/manifest.rs"),
    Rule::error("share-signature", "A shared file has a signature that does not fit what was shared; or `--allowed-signers` was given, and the file is not signed, or by none of them.")
        .fix("Ask whoever shared it for a signed file (`prosescope share --sign`) and, on another way, for the fingerprint of the key.")
        .source("share, threats")
        .told("`prosescope check run.html --allowed-signers signers`, where signers does not name the key that signed it.", "cli/src/signature/mod.rs"),
    Rule::info("share-signed", "The manifest of a shared file was signed: whoever holds that key signed exactly this manifest. It does not say that the run is true, nor that it is all of it.")
        .fix("Nothing has to be done. Without `--allowed-signers` nothing says whose key it is: anybody can make one.")
        .source("share, threats")
        .told("`prosescope check run.html` of a file that `prosescope share --sign` wrote.", "cli/src/signature/mod.rs"),
    Rule::warning("share-signers", "Lines of the file that names allowed signers are not understood, and do not count.")
        .fix("See `man ssh-keygen`, ALLOWED SIGNERS: each line has principals, options and a public key. Certificate authorities are not supported: name each key itself.")
        .source("share, threats")
        .told("A line `*@example.com cert-authority ssh-ed25519 AAAA…`.", "cli/src/signature/signers.rs"),
    Rule::info("names-hidden", "A browser was given a folder and may have kept files with unusual names back.")
        .fix("Use \u{201c}Open folder\u{2026}\u{201d} or `prosescope view` where files are missing.")
        .source("measured in Chromium")
        .told("A folder that is dropped on the viewer when that was opened from disk.", "core/src/source.rs"),
    Rule::warning("file-not-given", "A browser names a file of a dropped folder but does not give it; what it says is missing.")
        .fix("Check that you may read it and that its name is text, or use `prosescope view`.")
        .source("measured in Chromium")
        .told("A file whose name is not UTF-8.", "core/src/source.rs"),
    Rule::warning("listing-cut", "There are more files than are listed; the rest is not looked at.")
        .fix("Open the run's own folder instead of one far above it.")
        .source("reliability, untrusted files")
        .told("A home directory.", "store/src/disk.rs"),
    Rule::info("survey-cut", "There are more loose files than are looked into for runs.")
        .fix("Open a run folder or a database itself.")
        .source("reliability, untrusted files")
        .told("A folder with thousands of databases beside each other.", "core/src/session/survey.rs"),
    Rule::error("receipt-altered", "What a receipt holds does not have the hash that it records.")
        .fix("Compare the line of receipts.jsonl with a copy of the run: it was changed after it was written. The hash is SHA-256 over the receipt as compact JSON with sorted keys, without `content_hash`.")
        .source("measured on the receipts of a real project")
        .files(&[(
            "receipts.jsonl",
            "{\"content_hash\": \"sha256:0000000000000000000000000000000000000000000000000000000000000000\", \"prev\": null, \"statement_id\": \"s001\"}\n",
        )]),
    Rule::error("receipt-chain", "Receipts do not name the one before them, or run.json names another end than they have.")
        .fix("Find out who changed, removed or reordered lines of receipts.jsonl. What receipts hold is shown.")
        .source("dialects, D")
        .files(&[
            ("run.json", "{\"run_id\": \"r1\", \"status\": \"completed\", \"receipt_count\": 2}\n"),
            (
                "receipts.jsonl",
                "{\"content_hash\": \"sha256:1\", \"prev\": null}\n{\"content_hash\": \"sha256:2\", \"prev\": \"sha256:9\"}\n",
            ),
        ]),
];
