use crate::check::{Example, Rule};
use crate::issue::Severity::{Info, Warning};

pub(super) const RULES: &[Rule] = &[
    Rule::warning("duplicate-binding", "Two rows or files claim one name in one frame.")
        .fix("Delete the one that does not count, and use a unique index on (name, IFNULL(execution_id, -1)): a key of (name, execution_id) lets it happen at the root, since NULLs are never equal.")
        .source("errata S2")
        .database("CREATE TABLE bindings (name TEXT, execution_id INTEGER, kind TEXT, value TEXT,\n  PRIMARY KEY (name, execution_id));\nINSERT INTO bindings VALUES ('research', NULL, 'let', 'first'), ('research', NULL, 'let', 'second');"),
    Rule::warning("unnamed-binding", "A binding has no name, so no statement can mean it.")
        .fix("Delete the row, or give it the name that its statement binds.")
        .source("sqlite.md, Core Schema")
        .sql("INSERT INTO bindings (name, kind, value) VALUES (NULL, 'let', 'text');"),
    Rule::warning("unknown-kind", "A binding's kind is none of input, output, let and const.")
        .or(&[Warning, Info])
        .fix("Say more in the statement, not in the kind.")
        .source("errata B10")
        .sql("INSERT INTO bindings (name, kind, value) VALUES ('a', 'session (anonymous)', 'text');"),
    Rule::warning("unknown-execution", "A binding belongs to a frame that no execution row records.")
        .fix("Write the row of the frame first, and its id as execution_id; NULL is the root.")
        .source("errata B10")
        .sql("INSERT INTO bindings (name, execution_id, kind, value) VALUES ('a', 43, 'let', 'text');"),
    Rule::info("odd-name", "A name looks like something else: a frame's, a path, or no name at all.")
        .fix("Use letters, digits, `_`, `-` and `.`, not ending in `__` and digits.")
        .source("errata B11")
        .sql("INSERT INTO bindings (name, kind, value) VALUES ('result__43', 'let', 'text');"),
    Rule::info("name-clash", "Two names differ only in case: on some file systems they are one file.")
        .fix("Rename one of them before the folder moves to such a file system.")
        .source("errata B11")
        .files(&[
            ("bindings/Report.md", "# Report\n\nkind: let\n\n---\n\none\n"),
            ("bindings/report.md", "# report\n\nkind: let\n\n---\n\ntwo\n"),
        ]),
    Rule::warning("binding-frame", "A file's name and its header disagree on the frame that it belongs to.")
        .fix("Name a frame's binding `{name}__{execution_id}.md`, and say the same in `execution_id:`.")
        .source("errata, Folder form")
        .files(&[("bindings/result__43.md", "# result\n\nkind: let\nexecution_id: 44\n\n---\n\ntext\n")]),
    Rule::info("binding-heading", "A binding's heading is another name than its file's, and the index does not explain it.")
        .fix("Head the file with the binding's name; `kind:` and `source:` say what else it is.")
        .source("dialects, bindings")
        .files(&[("bindings/a.md", "# Something else\n\nkind: let\n\n---\n\ntext\n")]),
    Rule::warning("binding-header-unended", "No `---` ends a binding's header; where the value begins is a guess.")
        .fix("Put a line `---` between the header and the value.")
        .source("filesystem.md, bindings/{name}.md")
        .files(&[("bindings/a.md", "# a\n\nkind: let\n\nThe value without a line before it.\n")]),
    Rule::warning("unclosed-fence", "A code fence in a header or around the trace is never closed.")
        .fix("Close it with the same number of backticks, alone on a line.")
        .source("filesystem.md, File Formats")
        .files(&[("bindings/a.md", "# a\n\nkind: let\n\nsource:\n```prose\nlet a = session \"A\"\n\n---\n\ntext\n")]),
    Rule::warning("unreadable-frame", "A frame's id is no number; the binding is taken for one of the root.")
        .fix("Write the id of the execution, or `(root)`.")
        .source("filesystem.md, Scoped Bindings")
        .files(&[("bindings/a.md", "# a\n\nkind: let\nexecution_id: third\n\n---\n\ntext\n")]),
    Rule::info("encrypted-value", "A binding is an encrypted envelope; it is shown as it is.")
        .fix("Only its owner can open it. Decrypt the run's copy before sending it, if it should be read.")
        .source("dialects, bindings")
        .files(&[("bindings/a.md", "{\n\t\"data\": \"ENC[AES256_GCM,data:AAAA,tag:BBBB,type:str]\",\n\t\"sops\": {\"version\": \"3.9.0\"}\n}\n")]),
    Rule::info("empty-value", "The file of a binding holds no value.")
        .fix("Look whether its statement was to write nothing; else run that statement again.")
        .source("filesystem.md, bindings/{name}.md")
        .files(&[
            ("state.md", "# Execution State\n\nrun: r1\nprogram: p.prose\n"),
            ("bindings/result.md", "# result\n\nkind: let\n\n---\n\n"),
        ]),
    Rule::warning("bindings-cut", "There are more binding files than are read.")
        .fix("The others are listed as files; open one to read it.")
        .source("reliability, untrusted files")
        .told("A folder with 100,001 files in `bindings/`.", "core/src/decode/folder/bindings.rs"),
    Rule::info("bindings-beside-database", "The folder holds binding files beside a database that has bindings of its own.")
        .fix("Keep values in one place.")
        .source("dialects, A to D")
        .example(Example::Beside(
            "INSERT INTO run (id) VALUES ('r1');",
            &[("bindings/a.md", "# a\n\nkind: let\n\n---\n\ntext\n")],
        )),
    Rule::warning("binding-missing", "The index names a binding, but there is no such file.")
        .fix("Hand over the whole run folder. If the file was never written, its statement has to run again.")
        .source("filesystem.md, state.md")
        .files(&[(
            "state.md",
            "# Execution State\n\nrun: r1\nprogram: p.prose\n\n## Index\n\n### Bindings\n\n| Name | Kind | Path | Execution ID |\n|---|---|---|---|\n| a | let | bindings/a.md | (root) |\n",
        )]),
    Rule::warning("binding-not-indexed", "A binding is on disk, but the index does not name it.")
        .fix("Update the index after each binding; for this run the disk counts.")
        .source("filesystem.md, VM Update Protocol")
        .files(&[
            (
                "state.md",
                "# Execution State\n\nrun: r1\nprogram: p.prose\n\n## Index\n\n### Bindings\n\n| Name | Kind | Path | Execution ID |\n|---|---|---|---|\n",
            ),
            ("bindings/a.md", "# a\n\nkind: let\n\n---\n\ntext\n"),
        ]),
    Rule::warning("index-disagrees", "The index and a binding's header disagree on its kind or frame.")
        .fix("The file is believed. Correct the row of the index.")
        .source("filesystem.md, state.md")
        .files(&[
            (
                "state.md",
                "# Execution State\n\nrun: r1\nprogram: p.prose\n\n## Index\n\n### Bindings\n\n| Name | Kind | Path | Execution ID |\n|---|---|---|---|\n| a | const | bindings/a.md | (root) |\n",
            ),
            ("bindings/a.md", "# a\n\nkind: let\n\n---\n\ntext\n"),
        ]),
    Rule::error("attachment-missing", "A binding names an attachment that is not there: its value is lost here.")
        .fix("Hand over the folder `attachments/` with the run. If the file was never written, the statement has to run again.")
        .source("sqlite.md, Large Outputs")
        .sql("INSERT INTO bindings (name, kind, value, attachment_path)\nVALUES ('report', 'let', 'Full report (847KB)', 'attachments/report.md');"),
    Rule::warning("attachment-shared", "Two bindings name one attachment: the later one has overwritten the earlier one's value.")
        .fix("Name an attachment after its frame, `{name}__{execution_id}.md`, and never write over one.")
        .source("errata B8")
        .example(Example::Beside(
            "INSERT INTO execution (id, statement_text, status) VALUES (1, 'do half()', 'completed');\nINSERT INTO bindings (name, execution_id, kind, attachment_path) VALUES\n  ('report', NULL, 'let', 'attachments/report.md'),\n  ('report', 1, 'let', 'attachments/report.md');",
            &[("attachments/report.md", "which of the two?\n")],
        )),
];
