//! Tests of the scanner with realistic and with absurd programs.
#![allow(clippy::disallowed_macros, clippy::disallowed_methods)] // a test may print, and measure

mod counts;
mod sources;
mod ties;

use std::time::Duration;

use proptest::prelude::*;
use prosescope_core::program::{LineRole, Listing, scan};
use prosescope_test_support::work::spent;
use sources::{Program, ours, real};

/// Checks the properties that the scanner's listing must have for any text.
fn sound(source: &str, listing: &Listing) -> Result<(), TestCaseError> {
    let source = source.strip_prefix('\u{feff}').unwrap_or(source);
    let lines: Vec<&str> = if source.contains('\n') {
        source.lines().collect()
    } else {
        source.split_terminator('\r').collect()
    };
    prop_assert_eq!(lines.len(), listing.lines.len());
    let mut begins = 0;
    for (at, (text, line)) in lines.iter().zip(&listing.lines).enumerate() {
        prop_assert_eq!(*text, line.text.as_str());
        let number = at as u32 + 1;
        match line.role {
            LineRole::Blank => prop_assert!(text.trim().is_empty()),
            LineRole::Comment => prop_assert!(text.trim_start().starts_with('#')),
            LineRole::Text => prop_assert!(line.statement.is_none()),
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
    }
    Ok(())
}

#[test]
fn programs_cut_anywhere_still_scan() {
    scan_when_cut(&ours());
}

#[test]
fn real_programs_cut_anywhere_still_scan() {
    if let Some(programs) = real() {
        scan_when_cut(&programs);
    }
}

fn scan_when_cut(programs: &[Program]) {
    for (file, text) in programs {
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

/// Generates pieces of odd programs.
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_scans(text in "(?s).{0,200}") {
        sound(&text, &scan(&text))?;
    }

    #[test]
    fn any_mix_of_pieces_scans(pieces in prop::collection::vec(piece(), 0..60)) {
        let text = pieces.concat();
        sound(&text, &scan(&text))?;
    }
}

/// Limit for the processor time of scanning a huge program; a quadratic algorithm would take minutes.
const MOST_TIME: Duration = Duration::from_secs(10);

#[test]
fn huge_programs_are_scanned() {
    let many = |line: &str| line.repeat(20_000);
    let deep: String = (0..2_000)
        .map(|at| format!("{}loop:\n", " ".repeat(at)))
        .collect();
    let long = "a ** b \"c\" (d [e {f".repeat(60_000);
    for (what, source) in [
        ("100,000 lines", "session \"x\"\n".repeat(100_000)),
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
        ("single quotes", " 'a".repeat(200_000)),
        ("curly quotes", " “a".repeat(200_000)),
        ("texts in texts", many("a: \"\"\"\n  prompt: \"\"\"\n")),
        ("bodies in braces", many("loop {\n")),
        ("closing braces", many("}\n")),
        (
            "objects",
            format!("session \"x\" {}\n", "{a: 1} ".repeat(100_000)),
        ),
        (
            "inline properties",
            format!("session \"x\" {}\n", "retry: 1 ".repeat(100_000)),
        ),
        ("a call in a call", format!("{}\n", "f(".repeat(200_000))),
        ("calls", format!("f(){}\n", ".a".repeat(200_000))),
        ("pipes with brackets", "| reduce(a, b)".repeat(100_000)),
        (
            "a list",
            format!("session \"x\"\n  skills: [{}]\n", "\"a\", ".repeat(100_000)),
        ),
        (
            "a list of lines",
            format!("session \"x\"\n  skills:\n{}", many("    - a\n")),
        ),
        ("fences", many("```prose\nthrow\n```\n")),
        ("fences in fences", many("~~~prose\n```prose\n")),
        (
            "escapes",
            format!("session \"{}\"\n", "\\n".repeat(300_000)),
        ),
        ("carriage returns", "throw\r".repeat(100_000)),
        (
            "text below a property",
            format!("session \"x\"\n  a: |\n{}", many("    b\n")),
        ),
    ] {
        let (listing, took) = spent(|| scan(&source));
        println!("{took:8.2?} {what}");
        assert!(took < MOST_TIME, "{what}: {took:?}");
        sound(&source, &listing).unwrap_or_else(|e| panic!("{what}: {e}"));
    }
}
