//! Tests every function and operator of SQLite in every place of a schema that may contain an expression. Each command
//! ends within 2 s of processor time and 256 MB. If a recording command refuses the run, `check` reports the reason
//! (security.md, X3 and X19). CI runs a sample; with `PROSE_SWEEP` all combinations run.

use std::path::Path;
use std::process::Output;

use rusqlite::Connection;
use rusqlite::config::DbConfig;

use crate::project::{Project, text};
use crate::schemas::{base, limited};

/// Expressions that are not function calls, with `A` and `B` as their arguments.
const OPERATORS: &[&str] = &[
    "A || B",
    "A LIKE B",
    "A NOT LIKE B ESCAPE 'x'",
    "A GLOB B",
    "A -> B",
    "A ->> B",
    "A = B COLLATE NOCASE",
    "A < B COLLATE RTRIM",
    "A IN (A, B, A, B)",
    "A BETWEEN B AND A",
    "CASE A WHEN B THEN A ELSE B END",
    "CAST(A AS REAL) + CAST(B AS INTEGER)",
    "A & B | ~A",
    "A IS NOT DISTINCT FROM B",
];

/// Function calls whose arguments make the function slow.
const HARD: &[&str] = &[
    "hex(zeroblob(480000000))",
    "hex(randomblob(60000000))",
    "printf('%.*c', 60000000, 'x')",
    "format('%*d', 60000000, 1)",
    "replace(hex(zeroblob(9000000)), '0', hex(zeroblob(20)))",
    "instr(zeroblob(20000000), zeroblob(10000000))",
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' LIKE '%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%b'",
    "json_valid(replace(hex(zeroblob(30000000)), '0', '['))",
];

/// A place in a schema for an expression: its name, the SQL that creates it, the table or index whose text is changed,
/// the text to replace, and the replacement.
struct Place {
    name: &'static str,
    make: &'static str,
    object: &'static str,
    was: &'static str,
    is: &'static str,
    /// The two columns that an expression in this place may use.
    columns: [&'static str; 2],
}

const VALUE: [&str; 2] = ["value", "value"];
const NONE: [&str; 2] = ["", ""];

const PLACES: &[Place] = &[
    Place {
        name: "a CHECK",
        make: "",
        object: "bindings",
        was: "value TEXT",
        is: "value TEXT CHECK ((EXPR) IS NOT 7.5)",
        columns: VALUE,
    },
    Place {
        name: "a CHECK on a gate",
        make: "",
        object: "gates",
        was: "resolved_by TEXT",
        is: "resolved_by TEXT CHECK ((EXPR) IS NOT 7.5)",
        columns: ["prompt", "prompt"],
    },
    Place {
        name: "a default",
        make: "ALTER TABLE bindings ADD COLUMN extra DEFAULT NULL",
        object: "bindings",
        was: "extra DEFAULT NULL",
        is: "extra DEFAULT (EXPR)",
        columns: NONE,
    },
    Place {
        name: "a computed column",
        make: "ALTER TABLE bindings ADD COLUMN extra AS (1) VIRTUAL",
        object: "bindings",
        was: "extra AS (1)",
        is: "extra AS (EXPR)",
        columns: VALUE,
    },
    Place {
        name: "a computed column that is stored",
        make: "ALTER TABLE bindings ADD COLUMN extra AS (1) VIRTUAL",
        object: "bindings",
        was: "extra AS (1) VIRTUAL",
        is: "extra AS (EXPR) STORED",
        columns: VALUE,
    },
    Place {
        name: "an index",
        make: "CREATE INDEX evil ON bindings(length(value))",
        object: "evil",
        was: "length(value)",
        is: "EXPR",
        columns: VALUE,
    },
    Place {
        name: "a partial index",
        make: "CREATE INDEX evil ON bindings(name) WHERE value IS NULL",
        object: "evil",
        was: "value IS NULL",
        is: "(EXPR) IS NOT 7.5",
        columns: VALUE,
    },
    Place {
        name: "a table of nobody",
        make: "CREATE TABLE other(value TEXT, extra AS (1) VIRTUAL); INSERT INTO other SELECT value FROM bindings",
        object: "other",
        was: "extra AS (1)",
        is: "extra AS (EXPR)",
        columns: VALUE,
    },
    Place {
        name: "a trigger",
        make: "CREATE TRIGGER evil AFTER INSERT ON bindings BEGIN SELECT 1; END",
        object: "evil",
        was: "SELECT 1",
        is: "SELECT EXPR",
        columns: ["new.value", "new.value"],
    },
    Place {
        name: "a view",
        make: "ALTER TABLE imports RENAME TO old_imports; CREATE VIEW imports AS SELECT 1 AS alias FROM bindings",
        object: "imports",
        was: "SELECT 1 AS alias",
        is: "SELECT EXPR AS alias",
        columns: VALUE,
    },
];

/// Returns calls of every function of this SQLite, and operators.
fn expressions() -> Vec<String> {
    let conn = Connection::open_in_memory().expect("memory");
    let mut listed = conn
        .prepare("SELECT DISTINCT name, narg FROM pragma_function_list WHERE type <> 'w' OR narg < 0 ORDER BY 1, 2")
        .expect("it lists them");
    let functions = listed.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
    let functions = functions.expect("rows").map(|row| row.expect("a row"));
    let calls = functions.flat_map(|(name, most): (String, i64)| {
        let some = match most {
            0.. => vec![most],
            _ => vec![1, 2, 3],
        };
        some.into_iter().map(move |count| {
            let given = ["A", "B"].into_iter().cycle();
            let count = usize::try_from(count).expect("a number");
            format!(
                "{name}({})",
                given.take(count).collect::<Vec<_>>().join(", ")
            )
        })
    });
    let others = OPERATORS.iter().chain(HARD).map(|text| (*text).to_owned());
    calls.chain(others).collect()
}

/// Returns an expression with `A` and `B` replaced by two long arguments: columns, or texts that are slow to compare.
fn filled(expression: &str, [a, b]: [&str; 2]) -> String {
    let mut text = String::new();
    for part in expression.split_inclusive(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
        let (word, end) = match part.char_indices().last() {
            Some((at, c)) if !c.is_ascii_alphanumeric() && c != '_' => part.split_at(at),
            _ => (part, ""),
        };
        text.push_str(match word {
            "A" => a,
            "B" => b,
            word => word,
        });
        text.push_str(end);
    }
    text
}

/// Writes the run's database with an expression in a place of its schema. Returns false if this SQLite does not support
/// the place.
fn placed(bytes: &[u8], place: &Place, expression: &str, to: &Path) -> bool {
    std::fs::write(to, bytes).expect("a file");
    let conn = Connection::open(to).expect("it opens");
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false)
        .expect("it is set");
    conn.execute_batch("PRAGMA writable_schema = ON")
        .expect("on");
    conn.execute_batch(place.make).expect(place.name);
    let changed = conn.execute(
        "UPDATE sqlite_schema SET sql = replace(sql, ?1, ?2) WHERE name = ?3 AND instr(sql, ?1)",
        [
            place.was,
            &place.is.replace("EXPR", expression),
            place.object,
        ],
    );
    changed == Ok(1)
}

fn output_of(out: &Output) -> String {
    format!(
        "{:?}\n{}{}",
        out.status,
        text(&out.stdout),
        text(&out.stderr)
    )
}

/// Runs commands on the changed run. Returns a description of the first command that a limit or a crash ended, or of a
/// refusal whose reason `check` does not report.
fn wrong_ending(project: &Project, run: &str, what: &str) -> Option<String> {
    let put = limited(project, &["put", "Note", "--run", run], b"007");
    let check = limited(project, &["check", run], b"");
    let others = [
        limited(project, &["approve", run, "publish", "--as", "me"], b""),
        limited(project, &["show", run], b""),
        limited(project, &["check", run, "--fix"], b""),
    ];
    for out in [&put, &check].into_iter().chain(&others) {
        if !matches!(out.status.code(), Some(0..=7)) {
            return Some(format!("{what}: {}", output_of(out)));
        }
    }
    let names = ["foreign-code", "foreign-trigger", "disguised-schema"];
    let told = text(&check.stdout);
    let is_named = names.iter().any(|rule| told.contains(rule)) || check.status.code() != Some(0);
    let why = text(&put.stderr);
    let refused = why.contains("would run") || why.contains("nothing was written");
    (refused && !is_named).then(|| format!("{what}: {}{}", output_of(&put), output_of(&check)))
}

#[test]
fn whatever_a_schema_calls_each_command_ends() {
    let Some((project, run, bytes)) = base() else {
        return;
    };
    let path = project.run_dir(&run).join("state.db");
    std::fs::write(&path, &bytes).expect("a file");
    // SQLite takes long to compare these values with themselves.
    project.put(&run, "long", "a".repeat(90_000).as_bytes());
    let bytes = std::fs::read(&path).expect("a file");
    let texts = [
        "a".repeat(40_000),
        format!("{}{}", "b".repeat(20_000), "a".repeat(20_000)),
    ];
    let [a, b] = texts.map(|text| format!("'{text}'"));
    let whole = std::env::var_os("PROSE_SWEEP").is_some();
    let all = expressions();
    assert!(all.len() > 150, "{}", all.len());
    let slow = ["rtrim(A, B)", "json_patch(A, B)", "glob(A, B)", "length(A)"];
    let (mut wrong, mut done) = (Vec::new(), 0);
    for (n, expression) in all.iter().enumerate() {
        for (m, place) in PLACES.iter().enumerate() {
            let always = slow.contains(&&**expression) && [0, 3, 5].contains(&m);
            if !whole && !always && !(n * PLACES.len() + m).is_multiple_of(97) {
                continue;
            }
            for arguments in [[a.as_str(), b.as_str()], place.columns] {
                if arguments == NONE {
                    continue;
                }
                let what = format!("{expression} in {}, {}", place.name, arguments[0].len());
                let expression = filled(expression, arguments);
                if placed(&bytes, place, &expression, &path) {
                    done += 1;
                    wrong.extend(wrong_ending(&project, &run, &what));
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {done}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(done >= 40, "{done}");
}

/// Checks schema texts that take long to compile, or long to run without a jump. SQLite can interrupt only at a jump.
#[test]
fn however_long_a_schema_is_each_command_ends() {
    let Some((project, run, bytes)) = base() else {
        return;
    };
    let path = project.run_dir(&run).join("state.db");
    let terms = |count: usize, term: &dyn Fn(usize) -> String| -> String {
        let mut terms: Vec<String> = (0..count).map(term).collect();
        // The terms are joined to a balanced tree, because SQLite limits the depth of an expression.
        while terms.len() > 1 {
            terms = terms
                .chunks(2)
                .map(|two| format!("({})", two.join(" + ")))
                .collect();
        }
        terms.remove(0)
    };
    let cases: Vec<String> = (0..3_000).map(|n| format!("WHEN {n} THEN 1")).collect();
    let mut wrong = Vec::new();
    for (what, expression) in [
        ("constants", terms(30_000, &|n| format!("abs({n})"))),
        (
            "comparisons",
            terms(5_000, &|_| "(value = value)".to_owned()),
        ),
        (
            "a few comparisons",
            terms(700, &|_| "(value = value COLLATE NOCASE)".to_owned()),
        ),
        ("cases", format!("CASE value {} END", cases.join(" "))),
        ("a text", format!("rtrim('{}', value)", "a".repeat(300_000))),
    ] {
        for place in [&PLACES[0], &PLACES[3], &PLACES[5]] {
            if placed(&bytes, place, &expression, &path) {
                wrong.extend(wrong_ending(
                    &project,
                    &run,
                    &format!("{what} in {}", place.name),
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
