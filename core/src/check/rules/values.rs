use crate::check::Rule;

pub(super) const RULES: &[Rule] = &[
    Rule::warning("malformed-json", "A text that should be JSON is not; its row or line is read without it.")
        .fix("Correct the text where it was written. Bind parameters instead of pasting values into SQL or JSON.")
        .source("errata X13")
        .sql("INSERT INTO execution (statement_text, status, metadata)\nVALUES ('loop', 'started', '{\"loop_id\": l1}');"),
    Rule::info("blob-in-text", "A text is stored as a BLOB.")
        .fix("Nothing has to be done.")
        .source("reliability, untrusted files")
        .sql("INSERT INTO execution (statement_text, status) VALUES (x'73657373696f6e', 'completed');"),
    Rule::warning("invalid-utf8", "Bytes of a text or a file are no UTF-8; they are shown as \u{fffd}.")
        .fix("Whoever wrote it used another encoding, or cut a character in two. The bytes themselves are untouched.")
        .source("reliability, untrusted files")
        .sql("INSERT INTO execution (statement_text, status) VALUES (CAST(x'61ff62' AS TEXT), 'completed');"),
    Rule::info("number-in-text", "A text is stored as a number.")
        .fix("Quote texts in SQL: leading zeros may have been lost when it was written.")
        .source("reliability, untrusted files")
        .database("CREATE TABLE run (id, status);\nINSERT INTO run VALUES (20260115, 'running');"),
    Rule::warning("not-a-number", "A column for whole numbers holds something else; it is read as empty.")
        .fix("Write row ids and indexes as numbers.")
        .source("reliability, untrusted files")
        .database("CREATE TABLE execution (id INTEGER PRIMARY KEY, statement_index, status);\nINSERT INTO execution VALUES (1, 'third', 'completed');"),
    Rule::info("numeric-time", "A time is stored as a number; it was read as seconds, milliseconds or a Julian day.")
        .fix("Write times as datetime('now') does, so that every tool reads the same.")
        .source("sqlite.md, Schema Conventions")
        .sql("INSERT INTO run (id, started_at) VALUES ('r1', 1768471200);"),
    Rule::warning("unreadable-time", "A time cannot be read; it is shown as written and orders nothing.")
        .fix("Write times in ISO 8601, as datetime('now') does.")
        .source("sqlite.md, Schema Conventions")
        .sql("INSERT INTO run (id, started_at) VALUES ('r1', 'this morning');"),
    Rule::info("mixed-times", "One column writes times in two forms, with a blank and with a T.")
        .fix("Both are read. As texts they do not sort, and the documents' own deadline queries compare them as texts: write one form.")
        .source("errata G5")
        .sql("INSERT INTO execution (id, status, started_at) VALUES\n  (1, 'completed', '2026-01-15 10:00:00'),\n  (2, 'completed', '2026-01-15T10:05:00Z');"),
    Rule::info("times-not-recorded", "No execution row carries a time, so there are no durations.")
        .fix("Write started_at and completed_at to have durations.")
        .source("errata X14")
        .sql("INSERT INTO execution (statement_text, status) VALUES ('session \"A\"', 'completed');"),
    Rule::warning("missing-id", "A row of `execution` has no id of its own; its rowid is used.")
        .fix("Make the id INTEGER PRIMARY KEY.")
        .source("sqlite.md, Core Schema")
        .database("CREATE TABLE execution (id INT, statement_text TEXT, status TEXT);\nINSERT INTO execution VALUES (NULL, 'session \"A\"', 'completed');"),
    Rule::warning("duplicate-id", "Two rows of `execution` carry one id.")
        .fix("Make the id INTEGER PRIMARY KEY.")
        .source("sqlite.md, Core Schema")
        .database("CREATE TABLE execution (id INT, statement_text TEXT, status TEXT);\nINSERT INTO execution VALUES (1, 'session \"A\"', 'completed'), (1, 'session \"B\"', 'completed');"),
];
