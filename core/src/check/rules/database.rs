use crate::check::Rule;
use crate::issue::Severity::{Error, Info, Warning};

pub(super) const RULES: &[Rule] = &[
    Rule::error(
        "database-unreadable",
        "The folder has a `state.db` that cannot be opened, so only its other files are shown.",
    )
    .fix("The message says what was found instead and what to do next. Ask the sender for a whole copy, with `state.db-wal` where there is one.")
    .source("reliability, untrusted files")
    .files(&[
        ("state.db", "404: Not Found"),
        ("state.md", "# Execution State\n\nrun: r1\n"),
    ]),
    Rule::info(
        "stray-database",
        "A folder that keeps its run in files also has a `state.db` without any table of a run. The database is ignored.",
    )
    .fix("Remove it if no other program needs it. `sqlite3 state.db` creates such a file where there was none.")
    .source("dialects, state.db")
    .files(&[
        ("state.db", ""),
        ("state.md", "# Execution State\n\nrun: r1\n"),
    ]),
    Rule::warning(
        "agents-unreadable",
        "An `agents.db` around the run cannot be opened; agents of that scope are missing.",
    )
    .fix("Repair or remove the `agents.db` of the project or the user; the run itself is unharmed.")
    .source("sqlite.md, Project-Scoped and User-Scoped Agents")
    .files(&[
        ("agents.db", "404: Not Found"),
        ("runs/r1/program.prose", "session \"Hello\"\n"),
    ]),
    Rule::error(
        "table-damaged",
        "A table could not be read to its end: pages of the file are damaged or missing.",
    )
    .fix("What was read before the damage is shown. Restore the file from a copy, or save what is left with `.recover` of the sqlite3 program.")
    .source("reliability, untrusted files")
    .told(
        "A `state.db` with a page of its table overwritten, or cut in the middle.",
        "core/tests/sqlite/damage.rs",
    ),
    Rule::error(
        "reading-failed",
        "A table could not be read to its end, or a database could not be opened: another program holds it, or the system refused a read. A warning where it is an `agents.db` around the run.",
    )
    .or(&[Error, Warning])
    .fix("What was read is shown. Repeat the command when the writer is done; check the disk if it stays so.")
    .source("reliability, many writers")
    .told(
        "A database that a program holds a lock on while it is read.",
        "core/src/decode/rows/reader.rs",
    ),
    Rule::error(
        "reading-stopped",
        "Reading a table took longer than is allowed, or was cancelled.",
    )
    .fix("Open it again with more time; a file that does this every time was made to.")
    .source("reliability, untrusted files")
    .told(
        "A database of many gigabytes on a slow disk, or Cancel in the viewer.",
        "core/tests/sqlite/oddities.rs",
    ),
    Rule::error(
        "too-many-rows",
        "A table, or the gates or a log of a folder, has more rows than are held: about 160 MB of all rows, their texts and the program. The rest is not shown, and a command that needs the table ends with exit code 6.",
    )
    .fix("Look at the table itself under files and tables, or with sqlite3.")
    .source("reliability, untrusted files")
    .told(
        "An `execution` table of 400,000 rows.",
        "core/src/decode/room.rs",
    ),
    Rule::info(
        "wal-missing",
        "The database is in WAL mode and there is no `-wal`: rows are missing if it was copied while a program had it open. Beside a `-shm` that is left they are, and it is a warning.",
    )
    .or(&[Info, Warning])
    .fix("Copy `state.db-wal` together with `state.db`, or let the writer run `PRAGMA wal_checkpoint(TRUNCATE)` before copying. After a clean end of its writer nothing is missing.")
    .source("reliability, many writers")
    .sql("PRAGMA journal_mode = WAL;\nINSERT INTO run (id) VALUES ('r1');"),
    Rule::warning(
        "hot-journal",
        "The last writer stopped in the middle of a change; the change is left out, as SQLite would.",
    )
    .fix("Nothing is lost that was committed. The next program that writes to the database will clean up.")
    .source("reliability, many writers")
    .told(
        "A `state.db` beside a `state.db-journal` that its writer left when it was killed.",
        "store/tests/without_a_trace.rs",
    ),
    Rule::warning(
        "beside-no-file",
        "Beside a database lies a link, a pipe or a device by a name that SQLite would open.",
    )
    .fix("It is not followed, and rows that were there are missing. Copy the database again with what belongs to it; do not trust a folder that was made so.")
    .source("reliability, untrusted files")
    .told(
        "A `state.db` beside a `state.db-wal` that is a named pipe.",
        "store/tests/without_a_trace.rs",
    ),
    Rule::error(
        "changed-while-reading",
        "Somebody wrote to the database while it was read without locks; what is shown may be of two times.",
    )
    .fix("Open it again.")
    .source("architecture, opening never writes")
    .told(
        "A database in WAL mode without its shared memory, written to by another program at that moment.",
        "store/tests/without_a_trace.rs",
    ),
    Rule::info("utf16", "Texts are stored as UTF-16, not as UTF-8.")
        .fix("Nothing has to be done: they are read. Opening a database is slower, as lengths are only known after reading.")
        .source("dialects, state.db")
        .database("PRAGMA encoding = 'UTF-16';\nCREATE TABLE run (id TEXT PRIMARY KEY);"),
    Rule::warning("no-run-row", "The table `run` is empty: program, start and status are not recorded.")
        .fix("Insert the run's row before anything else.")
        .source("errata G11")
        .sql("INSERT INTO execution (statement_text, status) VALUES ('session \"A\"', 'completed');"),
    Rule::warning("several-runs", "One database holds the rows of several runs.")
        .fix("Open another of them by its id. Keep one database a run: executions and bindings do not say which run they belong to.")
        .source("dialects, state.db")
        .sql("INSERT INTO run (id, started_at) VALUES\n  ('r1', '2026-01-15 10:00:00'),\n  ('r2', '2026-01-16 10:00:00');"),
    Rule::warning("unnamed-run", "The row of `run` has no id.")
        .fix("Give the run an id.")
        .source("sqlite.md, Core Schema")
        .sql("INSERT INTO run (id, status) VALUES (NULL, 'running');"),
    Rule::info("long-text", "A text is so long that only its beginning is shown in lists.")
        .or(&[Info, Warning])
        .fix("Put values into bindings or attachments, not into statements and messages.")
        .source("sqlite.md, Large Outputs")
        .sql("INSERT INTO execution (statement_text, status)\nVALUES (printf('%.*c', 70000, 'x'), 'completed');"),
    Rule::error(
        "database-damaged",
        "SQLite finds the file damaged (`PRAGMA quick_check`): pages of it contradict each other. Only `prosescope check` looks.",
    )
    .fix("Restore the file from a copy, or save what is left with `.recover` of the sqlite3 program.")
    .source("reliability, untrusted files")
    .told(
        "A `state.db` whose pages were written over by something else.",
        "core/tests/checks.rs",
    ),
    Rule::error(
        "disguised-schema",
        "A row of `sqlite_schema` is not plain text: it was changed by hand (`PRAGMA writable_schema`), so that readers of its text do not see what SQLite runs. Only `prosescope check` looks.",
    )
    .fix("Do not trust the file; `prosescope check RUN --fix` writes a copy with the documents' tables alone.")
    .source("reliability, untrusted files")
    .sql("PRAGMA writable_schema = ON;\nUPDATE sqlite_schema SET sql = CAST(sql AS BLOB) WHERE name = 'imports';"),
    Rule::warning(
        "foreign-trigger",
        "A trigger of nobody's documents fires when a table of the run is written to: other writers run it, `prosescope` does not. Only `prosescope check` looks.",
    )
    .fix("Drop the trigger, or write a copy without it: `prosescope check RUN --fix`.")
    .source("reliability, untrusted files")
    .sql("CREATE TRIGGER approve_all AFTER INSERT ON gates BEGIN\n  UPDATE gates SET status = 'approved';\nEND;"),
    Rule::warning(
        "foreign-code",
        "The schema brings code of its own that each write would run: in a CHECK, a default, an index, a computed column, or a view where a table is expected; in PostgreSQL also a rule, a domain or a cast that calls somebody's functions. It may not end, and may change what is recorded: `prosescope` refuses to record in this database. Only `prosescope check` looks.",
    )
    .fix("Write a copy without it: `prosescope check RUN --fix`; of a run in PostgreSQL, `prosescope pull RUN`, or remove what the message names.")
    .source("reliability, untrusted files")
    .sql("CREATE INDEX by_text ON bindings(replace(value, 'a', name));"),
    Rule::warning(
        "odd-type",
        "A column of a run's tables in PostgreSQL has another type than the schema gives it: a value may read otherwise than it was written. `prosescope` reads back what it writes, and refuses what was changed. Only `prosescope check` looks.",
    )
    .fix("Give the column the type that `prosescope postgres setup` prints.")
    .source("postgres, core schema")
    .told(
        "`openprose.bindings.value` declared `char(300)`.",
        "cli/tests/postgres/foreign.rs",
    ),
    Rule::info(
        "database-not-looked-through",
        "SQLite's own look at the file (`PRAGMA quick_check`) did not come to its end.")
    .fix("Run `PRAGMA quick_check` on the file with the sqlite3 program, if you do not trust its disk.")
    .source("reliability, untrusted files")
    .told(
        "A database so large that looking through it takes longer than is allowed.",
        "core/src/sqlite/intact.rs",
    ),
];
