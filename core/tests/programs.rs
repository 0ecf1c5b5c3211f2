//! Programs as people wrote them (the shared corpus, read in place) and programs that nobody would write.
#![allow(clippy::disallowed_macros, clippy::disallowed_methods)] // a test may print, and measure

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use prosescope_core::program::{LineRole, Listing, StatementKind, classify, scan};

fn shared() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let named = std::env::var_os("PROSESCOPE_SHARED").map(PathBuf::from);
    named
        .into_iter()
        .chain([root.join("../shared"), root.join("../../shared")])
        .find(|at| at.join("corpus").is_dir())
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|ext| ext == "prose") {
            found.push(path);
        }
    }
}

/// The programs of the corpus, but for encrypted envelopes.
fn corpus() -> Option<Vec<(PathBuf, String)>> {
    let Some(shared) = shared() else {
        println!("skipped: no shared corpus beside the checkout");
        return None;
    };
    let mut files = Vec::new();
    collect(&shared.join("corpus"), &mut files);
    files.sort();
    let read = |file: PathBuf| {
        let text = String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
        (!text.starts_with('{')).then_some((file, text))
    };
    Some(files.into_iter().filter_map(read).collect())
}

/// What holds for every listing of every text.
fn sound(source: &str, listing: &Listing) -> Result<(), TestCaseError> {
    let lines: Vec<&str> = source
        .strip_prefix('\u{feff}')
        .unwrap_or(source)
        .lines()
        .collect();
    prop_assert_eq!(lines.len(), listing.lines.len());
    let mut begins = 0;
    for (at, (text, line)) in lines.iter().zip(&listing.lines).enumerate() {
        prop_assert_eq!(*text, line.text.as_str());
        let number = at as u32 + 1;
        match line.role {
            LineRole::Blank => prop_assert!(text.trim().is_empty()),
            LineRole::Comment => prop_assert!(text.trim_start().starts_with('#')),
            _ => prop_assert!(line.statement.is_some(), "line {} of nothing", number),
        }
        if let Some(statement) = line.statement {
            let of = &listing.statements[statement as usize];
            prop_assert!(of.line <= number && number <= of.end, "line {}", number);
            let starts = line.role == LineRole::Statement;
            prop_assert_eq!(starts, of.line == number, "line {}", number);
            begins += usize::from(starts);
        }
    }
    prop_assert_eq!(begins, listing.statements.len());
    for (at, statement) in listing.statements.iter().enumerate() {
        let at = at as u32;
        prop_assert!(statement.line <= statement.end);
        prop_assert!(statement.end as usize <= lines.len());
        if let Some(after) = listing.get(at + 1) {
            prop_assert!(statement.line < after.line);
        }
        let depth = match statement.parent {
            None => 0,
            Some(parent) => {
                prop_assert!(parent < at);
                let outer = &listing.statements[parent as usize];
                prop_assert!(outer.line < statement.line && statement.end <= outer.end);
                prop_assert!(listing.contains(parent, at));
                outer.depth + 1
            }
        };
        prop_assert_eq!(statement.depth, depth);
        prop_assert_eq!(listing.enclosing(at).count(), depth as usize);
        if let Some(next) = listing.next_sibling(at) {
            prop_assert!(listing.statements[next as usize].line > statement.end);
        }
        if let Some(body) = listing.body_of(at) {
            prop_assert!(statement.line < *body.start() && *body.end() == statement.end);
            prop_assert!(listing.children(at).count() > 0);
        }
    }
    Ok(())
}

#[test]
fn real_programs_are_understood() {
    let Some(corpus) = corpus() else { return };
    assert!(corpus.len() > 100);
    let mut counts: BTreeMap<StatementKind, usize> = BTreeMap::new();
    for (file, text) in &corpus {
        let listing = scan(text);
        sound(text, &listing).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let mut others = Vec::new();
        for statement in &listing.statements {
            *counts.entry(statement.kind).or_default() += 1;
            if statement.kind == StatementKind::Other {
                others.push(format!("{}: {}", statement.line, statement.text));
            }
        }
        assert!(
            others.len() <= (listing.statements.len() * 4 / 100).max(1),
            "{}: {others:?}",
            file.display()
        );
    }
    println!("{} programs", corpus.len());
    for (kind, count) in &counts {
        println!("{count:6} {kind:?}");
    }
    // Nothing that the corpus has many of is taken for something else.
    for (kind, least) in [
        (StatementKind::Session, 1000),
        (StatementKind::Agent, 300),
        (StatementKind::Input, 150),
        (StatementKind::If, 150),
        (StatementKind::Parallel, 70),
        (StatementKind::Loop, 50),
        (StatementKind::Try, 25),
        (StatementKind::Gate, 8),
    ] {
        assert!(counts.get(&kind).is_some_and(|n| *n >= least), "{kind:?}");
    }
}

#[test]
fn programs_cut_anywhere_still_scan() {
    let Some(corpus) = corpus() else { return };
    for (file, text) in &corpus {
        for part in 1..8 {
            let mut end = text.len() * part / 8;
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            let (head, tail) = text.split_at(end);
            for piece in [head, tail] {
                sound(piece, &scan(piece)).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
            }
        }
    }
}

/// Pieces of which odd programs are made.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("\n".to_owned()),
        Just("\r\n".to_owned()),
        "[ \t]{0,6}",
        prop::sample::select(vec![
            "session",
            "let x = ",
            "parallel",
            "loop until ",
            "try:",
            "catch as e:",
            "prompt: ",
            "\"\"\"",
            "\"",
            "**",
            "***",
            "****",
            "(",
            ")",
            "[",
            "]",
            "{",
            "}",
            ":",
            "|",
            "| map:",
            "->",
            "#",
            "=",
            "\\",
            "\\\"",
            "on_reject:",
            "context:",
            "do f(",
            "if ",
            "- a",
            "\u{feff}",
            "\u{a0}",
            "é",
            "👩‍👩‍👧",
            "\u{0}",
            "\u{202e}",
            "output ",
            "for a, b in c:",
            "exec ",
            "gate g:",
        ])
        .prop_map(str::to_owned),
        "\\PC{0,8}",
    ]
}

/// Every statement of every program is found by its own text, and by half of it or the statement is one of
/// those that begin so.
#[test]
fn statements_of_real_programs_are_found_by_their_text() {
    let Some(corpus) = corpus() else { return };
    for (file, text) in &corpus {
        let listing = scan(text);
        let mut ties = listing.ties();
        for (at, statement) in listing.statements.iter().enumerate() {
            let place = format!("{}:{}", file.display(), statement.line);
            let tie = ties.tie(&statement.text, Some(i64::from(statement.line)));
            let tie = tie.unwrap_or_else(|| panic!("{place}: {}", statement.text));
            let found = &listing.statements[tie.statement as usize];
            let same = |a: &str, b: &str| {
                a.split_whitespace().eq(b.split_whitespace()) || a.trim_end_matches(':') == b
            };
            assert!(
                tie.statement as usize == at
                    || same(&found.text, &statement.text)
                    || found.text.to_lowercase() == statement.text.to_lowercase(),
                "{place}: {} tied to {}",
                statement.text,
                found.text
            );
        }
    }
}

/// The trace lines of real state files lie in their program, in its order.
#[test]
fn real_state_files_tie_to_their_program() {
    let Some(corpus) = corpus() else { return };
    let (mut tied, mut all) = (0, 0);
    for (file, text) in &corpus {
        let Ok(state) = std::fs::read_to_string(file.with_file_name("state.md")) else {
            continue;
        };
        let Some((_, trace)) = state.split_once("```prose\n") else {
            continue;
        };
        let trace = scan(trace.split("```").next().unwrap());
        let listing = scan(text);
        let mut ties = listing.ties();
        let mut after = None;
        for statement in &trace.statements {
            let tie = ties.tie_after(&statement.text, after);
            all += 1;
            match tie {
                Some(tie) => {
                    tied += 1;
                    let found = &listing.statements[tie.statement as usize];
                    assert_eq!(found.kind, statement.kind, "{}", statement.text);
                    assert_eq!(found.name, statement.name, "{}", statement.text);
                    after = Some(tie.statement);
                }
                None => println!("{}: {}", file.display(), statement.text),
            }
        }
    }
    println!("{tied} of {all} lines");
    assert!(all > 20 && tied * 10 >= all * 9, "{tied} of {all}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_scans(text in "(?s).{0,200}") {
        sound(&text, &scan(&text))?;
    }

    #[test]
    fn any_row_ties_within_the_program(
        program in prop::collection::vec(piece(), 0..40),
        rows in prop::collection::vec((prop::collection::vec(piece(), 0..6), any::<Option<i16>>()), 0..6),
    ) {
        let listing = scan(&program.concat());
        let rows: Vec<_> = rows
            .into_iter()
            .map(|(text, index)| (text.concat(), index.map(i64::from)))
            .collect();
        let mut ties = listing.ties();
        ties.learn(rows.iter().map(|(text, index)| (text.as_str(), *index)));
        for (text, index) in &rows {
            classify(text);
            for tie in [
                listing.tie(text, *index),
                ties.tie(text, *index),
                ties.tie_after(text, Some(0)),
            ] {
                prop_assert!(tie.is_none_or(|tie| listing.get(tie.statement).is_some()));
            }
        }
    }

    #[test]
    fn any_mix_of_pieces_scans(pieces in prop::collection::vec(piece(), 0..60)) {
        let text = pieces.concat();
        sound(&text, &scan(&text))?;
    }
}

/// Linear time: each of these takes seconds or minutes when something in it is quadratic.
#[test]
fn huge_programs_take_no_longer_than_their_length() {
    let many = |line: &str| line.repeat(60_000);
    let deep: String = (0..2_000)
        .map(|at| format!("{}loop:\n", " ".repeat(at)))
        .collect();
    let long = "a ** b \"c\" (d [e {f".repeat(60_000);
    for (what, source) in [
        ("200,000 lines", "session \"x\"\n".repeat(200_000)),
        (
            "a line of 1 MB",
            format!("session \"{}\"\n", "x".repeat(1 << 20)),
        ),
        ("a line of 1 MB of signs", long),
        ("blanks", format!("{}x\n", " ".repeat(1 << 20))),
        ("deep", deep),
        ("open brackets", many("x (\n")),
        ("open brackets and blanks", many("x (\n\n")),
        ("open texts", format!("prompt: \"\"\"\n{}", many("text\n"))),
        ("escaped quotes", many("\\\"\"\"\n")),
        ("texts", many("session \"\"\"\n")),
        ("conditions", many("if **a\n")),
        ("conditions of two kinds", many("if **a\nif ***b\n")),
        ("arrows and pipes", "a | map: -> ".repeat(100_000)),
        ("options", format!("loop ({})\n", "a: 1, ".repeat(100_000))),
        ("brackets", format!("do f({}\n", "(".repeat(500_000))),
        ("comments in a bracket", format!("x = [\n{}", many("# c\n"))),
        ("properties", format!("session \"x\"\n{}", many("  a: b\n"))),
        (
            "text below a property",
            format!("session \"x\"\n  a: |\n{}", many("    b\n")),
        ),
    ] {
        let started = std::time::Instant::now();
        let listing = scan(&source);
        let took = started.elapsed();
        println!("{took:8.2?} {what}");
        assert!(took.as_secs() < 15, "{what}: {took:?}");
        sound(&source, &listing).unwrap_or_else(|e| panic!("{what}: {e}"));
    }
}
