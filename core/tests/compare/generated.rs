//! Tests of generated runs: every change in a copy is reported, and nothing else; comparing many rows takes linear
//! time.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use prosescope_core::pages::view::{CompareView, Difference};
use prosescope_test_support::work::{pace, spent};

use crate::make::{compared, database};

/// A small random generator; the same seed gives the same numbers.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

/// Returns a program with `statements` statements that bind names, the last third in a block that is called twice, and
/// its run.
fn generated(statements: u64) -> (String, String) {
    let (mut program, mut sql) = (String::from("block work(x):\n"), String::new());
    let inside = statements / 3 + 1;
    for n in 0..inside {
        let _ = writeln!(program, "  let w{n} = session \"Inside {n}\"");
    }
    for n in 0..statements {
        let _ = writeln!(program, "let v{n} = session \"Outside {n}\"");
    }
    program.push_str("do work(1)\ndo work(2)\n");
    let mut add = |id: u64, line: u64, text: &str, parent: &str, name: &str| {
        let meta = if name.is_empty() {
            "'{\"block\":\"work\"}'"
        } else {
            "NULL"
        };
        let at = |second: u64| {
            format!(
                "2026-01-25 {:02}:{:02}:{:02}",
                1 + second / 3600,
                second / 60 % 60,
                second % 60
            )
        };
        let _ = writeln!(
            sql,
            "INSERT INTO execution (id, statement_index, statement_text, status, started_at, completed_at, parent_id, metadata)
             VALUES ({id}, {line}, '{text}', 'completed', '{}', '{}', {parent}, {meta});",
            at(id * 5), at(id * 5 + 4)
        );
        if !name.is_empty() {
            let _ = writeln!(
                sql,
                "INSERT INTO bindings (name, execution_id, kind, value, created_at, updated_at)
                 VALUES ('{name}', {parent}, 'let', 'a{id}\nb{id}\n', '{}', '{}');",
                at(id * 5 + 4),
                at(id * 5 + 4)
            );
        }
    };
    let mut id = 1;
    for n in 0..statements {
        let text = format!("let v{n} = session \"Outside {n}\"");
        add(id, 2 + inside + n, &text, "NULL", &format!("v{n}"));
        id += 1;
    }
    for call in 1..=2 {
        let frame = id;
        add(
            id,
            1 + inside + statements + call,
            &format!("do work({call})"),
            "NULL",
            "",
        );
        id += 1;
        for n in 0..inside {
            let text = format!("let w{n} = session \"Inside {n}\"");
            add(id, 2 + n, &text, &frame.to_string(), &format!("w{n}"));
            id += 1;
        }
    }
    (program, sql)
}

/// Returns the execution ids of differing rows, each with its kind of difference.
fn named(view: &CompareView) -> BTreeSet<(i64, Difference)> {
    let rows = view.rows.iter();
    rows.flat_map(|row| {
        let id = row.a.as_ref().or(row.b.as_ref()).and_then(|at| at.at.id);
        row.differs.iter().map(move |of| (id.unwrap_or(-1), *of))
    })
    .collect()
}

#[test]
fn what_is_changed_in_a_copy_is_named_and_nothing_else() {
    for seed in 0..60 {
        let mut chance = Chance(seed);
        let statements = 1 + chance.below(12);
        let (program, sql) = generated(statements);
        let inside = statements / 3 + 1;
        // Rows of block calls contain other rows and write no value.
        let calls = [statements + 1, statements + 2 + inside];
        let rows = statements + 2 + 2 * inside;
        let (mut change, mut expected) = (String::new(), BTreeSet::new());
        for _ in 0..chance.below(5) {
            let id = 1 + chance.below(rows);
            if calls.contains(&id) {
                continue;
            }
            let (what, set) = match chance.below(4) {
                0 => (Difference::Status, "status = 'skipped'"),
                1 => (Difference::Attempts, "metadata = '{\"retry_attempt\":2}'"),
                2 => (Difference::Error, "error_message = 'Lost'"),
                _ => (Difference::Values, ""),
            };
            let _ = match what {
                Difference::Values => writeln!(
                    change,
                    "UPDATE bindings SET value = value || 'c' WHERE value LIKE 'a{id}' || char(10) || '%';"
                ),
                _ => writeln!(change, "UPDATE execution SET {set} WHERE id = {id};"),
            };
            expected.insert((id as i64, what));
        }
        let a = database("p.prose", &program, &sql);
        let b = database("p.prose", &program, &format!("{sql}{change}"));
        let view = compared(&a, &b).unwrap();
        let skipped: BTreeSet<i64> = expected
            .iter()
            .filter(|(_, what)| *what == Difference::Status)
            .map(|(id, _)| *id)
            .collect();
        let mut found = named(&view);
        // Values of skipped statements have no known writer, but the comparison includes them.
        let loose = view.values.len();
        let unknown = expected
            .iter()
            .filter(|(id, what)| *what == Difference::Values && skipped.contains(id))
            .count();
        if loose > 0 {
            assert_eq!(loose, unknown, "{seed}: {change}");
            found.extend(
                expected
                    .iter()
                    .filter(|(id, what)| *what == Difference::Values && skipped.contains(id)),
            );
        }
        assert_eq!(found, expected, "{seed}: {change}");
        assert_eq!(view.equal, expected.is_empty(), "{seed}: {change}");
    }
}

/// Returns `rows` rounds of a loop with one statement each, or `rows` sibling rows with the same text.
fn many(rows: u64, rounds: bool) -> (String, String) {
    let program = format!("repeat {rows}:\n  session \"Again\"\n");
    let program = if rounds { program } else { String::new() };
    let parent = if rounds { "1" } else { "NULL" };
    let mut sql = String::new();
    if rounds {
        sql.push_str("INSERT INTO execution (id, statement_index, statement_text, status, metadata) VALUES (1, 1, 'repeat:', 'completed', '{\"loop_id\":\"l\"}');\n");
    }
    let _ = writeln!(
        sql,
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows})
         INSERT INTO execution (id, statement_index, statement_text, status, started_at, completed_at, parent_id, metadata)
         SELECT i + 1, 2, 'session \"Again\"', 'completed', '2026-01-25 15:00:00', '2026-01-25 15:00:09', {parent}, json_object('loop_id', 'l', 'iteration', i) FROM n;",
    );
    let _ = writeln!(
        sql,
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows})
         INSERT INTO bindings (name, kind, value) SELECT 'v' || i, 'let', 'value ' || i FROM n;",
    );
    (program, sql)
}

#[test]
fn fifty_thousand_rows_beside_each_other_are_compared_quickly() {
    for rounds in [true, false] {
        let (program, sql) = many(50_000, rounds);
        let a = database("p.prose", &program, &sql);
        let change = "UPDATE execution SET status = 'failed' WHERE id % 5000 = 0; DELETE FROM execution WHERE id % 5000 = 7;
                      UPDATE bindings SET value = 'other' WHERE name = 'v77';";
        let b = database("p.prose", &program, &format!("{sql}{change}"));
        let (view, took) = spent(|| compared(&a, &b).unwrap());
        let limit = 4.0 * pace();
        assert!(took.as_secs_f64() < limit, "{rounds}: {took:?}");
        assert!(
            view.counts.paired > 49_000 && !view.equal,
            "{:?}",
            view.counts
        );
        assert_eq!(view.counts.values_differ, 1);
    }
}
