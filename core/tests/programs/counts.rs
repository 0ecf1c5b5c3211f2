//! Compares the scanner's results for realistic and real programs with an independent count. The count removes texts,
//! conditions and comments, and counts the lines that begin with a keyword.

use std::collections::BTreeMap;
use std::path::Path;

use prosescope_core::program::{Listing, StatementKind as Kind, ValueType, scan};

use crate::sources::{Program, ours, real};

/// Returns the source without texts in quotes and asterisks and without comments. The number of lines stays the same.
fn bare(source: &str) -> String {
    let mut out = String::new();
    let mut rest = source;
    let mut line_start = true;
    while let Some(sign) = rest.chars().next() {
        let marks = ["\"\"\"", "\"", "***", "**"];
        let mark = marks.into_iter().find(|mark| rest.starts_with(mark));
        let mut taken = sign.len_utf8();
        if let Some(mark) = mark {
            let inside = &rest[mark.len()..];
            let mut end = None;
            let mut at = 0;
            while let Some(found) = inside[at..].find(mark) {
                let here = at + found;
                if mark.starts_with('"') && inside[..here].ends_with('\\') {
                    at = here + 1;
                    continue;
                }
                end = Some(here + mark.len());
                break;
            }
            let end = end.unwrap_or(inside.len());
            out.push('"');
            out.extend(inside[..end].chars().filter(|c| *c == '\n'));
            out.push('"');
            taken = mark.len() + end;
        } else if sign == '#' && (line_start || out.ends_with([' ', '\t', '"', ')', ':'])) {
            taken = rest.find('\n').unwrap_or(rest.len());
        } else {
            out.push(sign);
        }
        line_start = sign == '\n' || line_start && sign.is_whitespace();
        rest = &rest[taken..];
    }
    out
}

/// Counts the lines of a source by their first word, after removing prefixes such as `let x =`.
fn words(source: &str) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for line in bare(source).lines() {
        let mut line = line.trim().trim_start_matches("-> ");
        for binds in ["let ", "const ", "output "] {
            if let Some(rest) = line.strip_prefix(binds) {
                line = rest.trim_start();
            }
        }
        let name = |c: char| c.is_alphanumeric() || "_-.".contains(c);
        let end = line.find(|c| !name(c)).unwrap_or(line.len());
        if let Some(right) = line[end..].trim_start().strip_prefix("= ") {
            line = right.trim_start();
        }
        let end = line.find(|c| !name(c)).unwrap_or(line.len());
        *counts.entry(line[..end].to_owned()).or_default() += 1;
        if line[end..].starts_with(':') {
            *counts.entry(format!("{}:", &line[..end])).or_default() += 1;
        }
    }
    counts
}

fn kinds(listing: &Listing) -> BTreeMap<Kind, usize> {
    let mut counts = BTreeMap::new();
    for statement in &listing.statements {
        *counts.entry(statement.kind).or_default() += 1;
    }
    counts
}

/// Counts the properties that have a line of their own, by their names.
fn properties(listing: &Listing) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for statement in &listing.statements {
        let below = statement
            .properties
            .iter()
            .filter(|p| p.line > statement.line);
        for property in below {
            *counts.entry(property.name.as_str()).or_default() += 1;
        }
    }
    counts
}

/// Returns the counts in words: `12 session, 3 agent`.
fn told(kinds: &BTreeMap<Kind, usize>) -> String {
    let one = |(kind, count): (&Kind, &usize)| format!("{count} {kind:?}").to_lowercase();
    kinds.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn short(file: &Path) -> String {
    let text = file.display().to_string();
    text.split_once("corpus/")
        .map_or(text.clone(), |(_, rest)| rest.to_owned())
}

#[test]
fn programs_are_understood() {
    let programs = ours();
    let all = understood(&programs);
    // Every kind must occur, so that the comparison is not empty.
    for kind in COUNTED.iter().flat_map(|(_, kinds)| *kinds) {
        assert!(all.contains_key(kind), "no {kind:?} in {all:?}");
    }
}

#[test]
fn real_programs_are_understood() {
    let Some(programs) = real() else { return };
    assert!(programs.len() > 100);
    let all = understood(&programs);
    for (kind, least) in [
        (Kind::Session, 1000),
        (Kind::Agent, 300),
        (Kind::If, 150),
        (Kind::Gate, 8),
    ] {
        assert!(all.get(&kind).is_some_and(|n| *n >= least), "{kind:?}");
    }
}

/// Fails if a program's statements differ from the independent count; returns the number of statements of each kind.
fn understood(programs: &[Program]) -> BTreeMap<Kind, usize> {
    let mut all: BTreeMap<Kind, usize> = BTreeMap::new();
    let mut others = Vec::new();
    let mut wrong = Vec::new();
    println!("lines statements other  program: kinds");
    for (file, text) in programs {
        let listing = scan(text);
        crate::sound(text, &listing).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let kinds = kinds(&listing);
        for (kind, count) in &kinds {
            *all.entry(*kind).or_default() += count;
        }
        let other = kinds.get(&Kind::Other).copied().unwrap_or(0);
        println!(
            "{:5} {:10} {other:5}  {}: {}",
            listing.lines.len(),
            listing.statements.len(),
            short(file),
            told(&kinds)
        );
        for statement in listing.statements.iter().filter(|s| s.kind == Kind::Other) {
            others.push(format!(
                "{}:{}: {}",
                short(file),
                statement.line,
                statement.text
            ));
        }
        assert!(
            other <= (listing.statements.len() * 4 / 100).max(1),
            "{}: {other}",
            file.display()
        );
        compare(&short(file), text, &listing, &mut wrong);
    }
    println!("{} programs: {}", programs.len(), told(&all));
    println!("lines of kind other:\n  {}", others.join("\n  "));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    all
}

/// The first words of lines, each with the kinds of statements that begin with the word.
const COUNTED: [(&str, &[Kind]); 20] = [
    // An arrow statement (a chain of sessions) also begins with the word `session`.
    ("session", &[Kind::Session, Kind::Arrow]),
    ("agent", &[Kind::Agent]),
    ("block", &[Kind::Block]),
    ("resume", &[Kind::Resume]),
    ("parallel", &[Kind::Parallel]),
    ("loop", &[Kind::Loop]),
    ("repeat", &[Kind::Repeat]),
    ("for", &[Kind::For]),
    ("try", &[Kind::Try]),
    ("catch", &[Kind::Catch]),
    ("finally", &[Kind::Finally]),
    ("throw", &[Kind::Throw]),
    ("choice", &[Kind::Choice]),
    ("option", &[Kind::Option]),
    ("if", &[Kind::If]),
    ("elif", &[Kind::Elif]),
    ("else", &[Kind::Else]),
    ("do", &[Kind::Do]),
    ("exec", &[Kind::Exec]),
    ("input", &[Kind::Input]),
];

fn compare(file: &str, text: &str, listing: &Listing, wrong: &mut Vec<String>) {
    let words = words(text);
    let (kinds, properties) = (kinds(listing), properties(listing));
    let word = |word: &str| words.get(word).copied().unwrap_or(0);
    let mut check = |what: &str, scanned: usize, counted: usize| {
        if scanned != counted {
            wrong.push(format!(
                "{file}: {what}: {scanned} scanned, {counted} counted"
            ));
        }
    };
    for (what, of) in COUNTED {
        let scanned = of.iter().filter_map(|kind| kinds.get(kind)).sum();
        check(what, scanned, word(what));
    }
    let one = |kind: Kind| kinds.get(&kind).copied().unwrap_or(0);
    check("gate", one(Kind::Gate), word("gate") + word("approve"));
    check("use", one(Kind::Use), word("use") + word("import"));
    for what in [
        "model",
        "prompt",
        "context",
        "retry",
        "backoff",
        "persist",
        "skills",
        "permissions",
        "evidence",
        "allow",
        "timeout",
        "on-fail",
        "on-reject",
        "early_exit",
    ] {
        let scanned = properties.get(what).copied().unwrap_or(0);
        check(what, scanned, word(&format!("{what}:")));
    }
}

/// Properties with a type in OpenProse have that type in every program, and no part of their text is lost.
#[test]
fn properties_of_programs_have_their_types() {
    let seen = typed(&ours());
    for (what, types) in [
        ("allow", &["list"][..]),
        ("context", &["", "list", "raw", "text", "word"]),
        ("early_exit", &["condition"]),
        ("evidence", &["word"]),
        ("max", &["number"]),
        ("persist", &["flag", "word"]),
        ("prompt", &["text"]),
        ("retry", &["number"]),
        ("skills", &["list"]),
        ("timeout", &["duration"]),
    ] {
        for value in types {
            let is_there = seen.contains_key(&format!("{what} {value}"));
            assert!(is_there, "no {what} is a {value}: {seen:?}");
        }
    }
}

#[test]
fn properties_of_real_programs_have_their_types() {
    let Some(programs) = real() else { return };
    for (what, count) in typed(&programs) {
        println!("{count:6} {what}");
    }
}

/// Fails if a property does not have its type; returns how often each property occurs with each type.
fn typed(programs: &[Program]) -> BTreeMap<String, usize> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for (file, text) in programs {
        for statement in scan(text).statements {
            for property in &statement.properties {
                let place = format!("{}:{}: {property:?}", short(file), property.line);
                let value = &property.value;
                let fits = match property.name.as_str() {
                    "retry" | "max" | "count" => {
                        matches!(value, ValueType::Number(_))
                            || statement.kind == Kind::Repeat && *value == ValueType::Word
                    }
                    "timeout" => matches!(value, ValueType::Duration(_)),
                    "skills" | "allow" | "params" => matches!(value, ValueType::List(_)),
                    "strategy" | "on-fail" | "on_fail" | "command" => {
                        matches!(value, ValueType::Text | ValueType::Word)
                    }
                    "condition" => matches!(
                        value,
                        ValueType::Condition | ValueType::Raw | ValueType::Word
                    ),
                    "persist" => matches!(
                        value,
                        ValueType::Flag(true) | ValueType::Word | ValueType::Text
                    ),
                    "model" | "each" | "as" | "check" => *value == ValueType::Word,
                    "prompt" | "label" | "message" | "description" => {
                        matches!(value, ValueType::Text | ValueType::Condition)
                    }
                    "context" => matches!(
                        value,
                        ValueType::List(_)
                            | ValueType::Word
                            | ValueType::Text
                            | ValueType::Raw
                            | ValueType::Nothing
                    ),
                    _ => true,
                };
                assert!(fits, "{place}");
                let one = matches!(
                    value,
                    ValueType::Text | ValueType::Condition | ValueType::Word
                );
                assert!(!one || !property.text.starts_with(['"', '*']), "{place}");
                *seen
                    .entry(format!("{} {}", property.name, value.word()))
                    .or_default() += 1;
            }
        }
    }
    seen
}
