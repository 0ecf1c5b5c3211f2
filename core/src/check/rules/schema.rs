use crate::check::Rule;
use crate::issue::Severity::{Info, Warning};

pub(super) const RULES: &[Rule] = &[
    Rule::error(
        "table-not-read",
        "A view or a virtual table goes by the name of one of the documents' tables; it is not read.",
    )
    .fix("Its rows would be computed by the file's own SQL, which is not trusted. Ask the sender for the tables themselves.")
    .source("reliability, untrusted files")
    .database("CREATE TABLE execution (id INTEGER PRIMARY KEY);\nCREATE VIEW run AS SELECT 'r1' AS id;"),
    Rule::warning("missing-table", "A table of the documents is not there.")
        .or(&[Warning, Info])
        .fix("What it would say is not shown. The document's own CREATE of `bindings` fails in SQLite and takes the tables after it along: create them with a unique index instead.")
        .source("errata S1")
        .database("CREATE TABLE run (id TEXT PRIMARY KEY);\nCREATE TABLE execution (id INTEGER PRIMARY KEY, status TEXT);"),
    Rule::warning("missing-column", "A table lacks columns that the documents give it.")
        .fix("Add them with ALTER TABLE … ADD COLUMN, if the writer is yours.")
        .source("sqlite.md, Core Schema")
        .database("CREATE TABLE run (id TEXT PRIMARY KEY, status TEXT);"),
    Rule::info("odd-key", "A table has another primary key than the documents give it.")
        .fix("Use a unique index on bindings(name, IFNULL(execution_id, -1)), and the keys of the document elsewhere.")
        .source("errata S2, G1")
        .database("CREATE TABLE bindings (name TEXT, execution_id INTEGER, value TEXT,\n  PRIMARY KEY (name, execution_id));"),
    Rule::warning("computed-column", "A column is computed whenever it is read; that is not done for a foreign file.")
        .fix("Its value would come from the file's own SQL. Store the value in a plain column.")
        .source("reliability, untrusted files")
        .database("CREATE TABLE run (id TEXT PRIMARY KEY, status TEXT AS (upper(id)) VIRTUAL);"),
    Rule::info("unknown-column", "A table has columns that no document lists.")
        .fix("Nothing has to be done.")
        .source("sqlite.md, Flexibility Encouragement")
        .sql("ALTER TABLE bindings ADD COLUMN token_count INTEGER;"),
    Rule::info("foreign-table", "There is a table that no document lists and that is not named `x_…`.")
        .fix("Name extensions `x_…`.")
        .source("sqlite.md, Flexibility Encouragement")
        .sql("CREATE TABLE metrics (name TEXT, value REAL);"),
];
