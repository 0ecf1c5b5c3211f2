//! Tests that each rule's example produces an issue of the rule, with one of the rule's severities.
#![allow(clippy::disallowed_methods)] // a test makes the databases that it reads

mod pages;

use std::path::Path;
use std::rc::Rc;

use prosescope_core::model::issue::{Issue, Severity};
use prosescope_core::model::schema::STATE_SQL;
use prosescope_core::model::source::Source;
use prosescope_core::pages::check::{report, rules, sarif};
use prosescope_core::pages::resume::prompt;
use prosescope_core::pages::session::{Options, Session, pages as views};
use prosescope_core::pages::view::{CheckedRun, RuleView};
use prosescope_core::read::sqlite::MemorySource;
use prosescope_test_support::example::{Example, example};

/// A time long after every time in the examples.
const NOW: i64 = 1_800_000_000_000;

#[test]
fn each_example_yields_its_rule() {
    let mut wrong = Vec::new();
    for rule in rules() {
        let issues = match yielded(rule) {
            Ok(Some(issues)) => issues,
            Ok(None) => continue,
            Err(error) => {
                wrong.push(format!("{}: {error}", rule.name));
                continue;
            }
        };
        let own: Vec<&Issue> = issues.iter().filter(|i| i.rule == rule.name).collect();
        if own.is_empty() {
            let others: Vec<&str> = issues.iter().map(|i| i.rule.as_str()).collect();
            wrong.push(format!("{}: not found; found {others:?}", rule.name));
        }
        for issue in own {
            if !rule.severities.contains(&issue.severity) {
                wrong.push(format!(
                    "{}: is {:?}, registered as {:?}",
                    rule.name, issue.severity, rule.severities
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "these rules of core/src/pages/check/rules have an example that does not show them:\n  {}",
        wrong.join("\n  ")
    );
}

#[test]
fn every_rule_says_what_it_means_why_that_is_bad_and_what_to_do() {
    let mut names = std::collections::BTreeSet::new();
    for rule in rules() {
        let name = &*rule.name;
        assert!(names.insert(name), "{name} is registered twice");
        assert!(!rule.severities.is_empty(), "{name} has no severity");
        for (what, text) in [
            ("meaning", &rule.meaning),
            ("why", &rule.why),
            ("fix", &rule.fix),
        ] {
            assert!(text.ends_with('.'), "the {what} of {name} is no sentence");
        }
        assert!(!rule.source.is_empty(), "{name} does not say its source");
        let told = example_of(rule).is_none();
        let words = rule.example.first().map(|part| &*part.text);
        assert!(
            !told || words.is_some_and(|words| words.ends_with('.')),
            "the example of {name} is no sentence"
        );
    }
}

/// Checks that damaged index pages are reported. Reading does not notice them, but `PRAGMA quick_check` does.
#[test]
fn damage_that_reading_does_not_see_is_looked_for() {
    let rows = "INSERT INTO run (id) VALUES ('r1');
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
        INSERT INTO bindings (name, kind, value) SELECT 'name_' || i, 'let', 'text' FROM n;";
    let (path, bytes) = state_db(STATE_SQL, rows).unwrap();
    let rules = |bytes: &[u8]| -> Vec<String> {
        let source = MemorySource::new("damaged", [(path.clone(), bytes.to_vec())]);
        let session = Session::open(Rc::new(source), "", &Options::default()).unwrap();
        views::check(&session, None)
            .into_iter()
            .map(|i| i.rule)
            .collect()
    };
    assert!(!rules(&bytes).contains(&"database-damaged".to_owned()));
    let pages = bytes.chunks(4096).enumerate();
    let found: Vec<Vec<String>> = pages
        .filter(|(_, page)| page.windows(8).any(|w| w == b"name_123"))
        .map(|(at, _)| {
            let mut damaged = bytes.clone();
            damaged[at * 4096..(at + 1) * 4096].fill(0);
            rules(&damaged)
        })
        .collect();
    let only_looked_for = |rules: &Vec<String>| {
        rules.iter().any(|r| r == "database-damaged") && rules.iter().all(|r| r != "table-damaged")
    };
    assert!(found.iter().any(only_looked_for), "{found:?}");
}

/// The check and the repair plan may report anything about damaged copies of the examples, but must not panic.
#[test]
fn damage_breaks_neither_check_nor_plan() {
    let mut seed: u64 = 0x5EED;
    let mut next = move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) as usize
    };
    let mut opened = 0;
    for rule in rules() {
        let Some((files, place)) = files_of(rule).unwrap() else {
            continue;
        };
        for _ in 0..3 {
            let mut files = files.clone();
            for (_, bytes) in &mut files {
                for _ in 0..4 {
                    if !bytes.is_empty() {
                        let at = next() % bytes.len();
                        bytes[at] = next() as u8;
                    }
                }
            }
            if let Ok(session) = session(files, &place) {
                opened += 1;
                views::check(&session, Some(NOW));
                let _ = prompt(&views::resume(&session, Some(NOW)));
            }
        }
    }
    assert!(opened > 200, "{opened}");
}

/// Checks that the SARIF log for the examples of all rules meets the requirements of SARIF 2.1.0 readers.
#[test]
fn sarif_of_every_rule_is_whole() {
    let mut runs = Vec::new();
    for rule in rules() {
        if let Ok(Some(session)) = opened(rule) {
            runs.push(views::check_page(&session, Some(NOW), "runs/an example"));
        }
    }
    runs.push(CheckedRun {
        run: "broken".to_owned(),
        error: Some("it is not a run".to_owned()),
        ..CheckedRun::default()
    });
    let log = sarif(&report(runs, &[], Severity::Note), "1.2.3");
    if let Some(path) = std::env::var_os("PROSE_SARIF_OUT") {
        // Writes the log to a file, which a person can validate with SARIF's own JSON schema.
        std::fs::write(path, log.to_string()).unwrap();
    }
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    assert_eq!(run["tool"]["driver"]["semanticVersion"], "1.2.3");
    assert_eq!(run["invocations"][0]["executionSuccessful"], false);
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    for rule in rules {
        for text in ["shortDescription", "fullDescription", "help"] {
            assert!(rule[text]["text"].as_str().is_some_and(|t| !t.is_empty()));
        }
        let level = rule["defaultConfiguration"]["level"].as_str().unwrap();
        assert!(["error", "warning", "note"].contains(&level));
    }
    let results = run["results"].as_array().unwrap();
    assert!(rules.len() > 80 && results.len() > rules.len());
    for result in results {
        let index = result["ruleIndex"].as_u64().unwrap() as usize;
        assert_eq!(rules[index]["id"], result["ruleId"]);
        assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap()));
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        let place = &result["locations"][0]["physicalLocation"];
        let uri = place["artifactLocation"]["uri"].as_str().unwrap();
        assert!(uri.starts_with("runs/an%20example/"), "{uri}");
        assert!(uri.bytes().all(|b| b.is_ascii_graphic()), "{uri}");
        if let Some(region) = place.get("region") {
            assert!(region["startLine"].as_u64().unwrap() > 0);
        }
        for logical in result["locations"][0]["logicalLocations"]
            .as_array()
            .into_iter()
            .flatten()
        {
            let name = logical["fullyQualifiedName"].as_str().unwrap();
            assert!(
                name.contains('/')
                    && ["table", "row", "column"].contains(&logical["kind"].as_str().unwrap())
            );
        }
    }
}

/// Checks that a rule without a small example refers to a test that exists and mentions the rule.
#[test]
fn what_shows_a_rule_speaks_of_it() {
    let mut name = "";
    let sources: String = pages::sources().into_values().collect();
    for line in sources.lines() {
        name = line.strip_prefix("## ").unwrap_or(name);
        let place = line.strip_prefix("<!-- shown by ");
        let Some(place) = place.and_then(|place| place.strip_suffix(" -->")) else {
            continue;
        };
        let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(place);
        let text = std::fs::read_to_string(&place).unwrap_or_default();
        assert!(
            text.contains(&format!("\"{name}\"")),
            "{} does not speak of {name}",
            place.display()
        );
    }
}

/// Returns the issues of a rule's example; `None` if the example is only described.
fn yielded(rule: &RuleView) -> Result<Option<Vec<Issue>>, String> {
    let Some(session) = opened(rule)? else {
        return Ok(None);
    };
    let mut issues = views::check(&session, Some(NOW));
    if let Some((name, from)) = example_of(rule).and_then(|example| example.asked) {
        issues.extend(views::resolve(&session, &name, from).issues);
    }
    Ok(Some(issues))
}

/// Opens the run of a rule's example.
fn opened(rule: &RuleView) -> Result<Option<Session>, String> {
    match files_of(rule)? {
        Some((files, place)) => session(files, &place).map(Some),
        None => Ok(None),
    }
}

type Files = Vec<(String, Vec<u8>)>;

fn example_of(rule: &RuleView) -> Option<Example> {
    let parts = rule.example.iter();
    example(parts.map(|part| (&*part.title, &*part.language, &*part.text)))
}

/// Returns the files of a rule's example, and the path of the run among these files.
fn files_of(rule: &RuleView) -> Result<Option<(Files, String)>, String> {
    let Some(example) = example_of(rule) else {
        return Ok(None);
    };
    let texts = example.files.into_iter();
    let mut files: Files = texts
        .map(|(path, text)| (path, text.into_bytes()))
        .collect();
    if let Some(sql) = &example.sql {
        let schema = if example.schema { STATE_SQL } else { "" };
        files.push(state_db(schema, sql)?);
    }
    let place = match &files[..] {
        _ if files.iter().any(|(path, _)| path.starts_with("runs/r1/")) => "runs/r1".to_owned(),
        [(only, _)] if only == "kept.md" => only.clone(),
        _ => String::new(),
    };
    Ok(Some((files, place)))
}

fn session(files: Files, place: &str) -> Result<Session, String> {
    let source: Rc<dyn Source> = Rc::new(MemorySource::new("example", files));
    let options = Options {
        now: Some(NOW),
        ..Options::default()
    };
    Session::open(source, place, &options).map_err(|e| e.to_string())
}

fn state_db(schema: &str, sql: &str) -> Result<(String, Vec<u8>), String> {
    let dir = tempfile::tempdir().map_err(|e| e.to_string())?;
    let path = dir.path().join("state.db");
    let conn = rusqlite::Connection::open(&path).map_err(|e| e.to_string())?;
    // Foreign keys are off by default in the sqlite3 program too.
    conn.pragma_update(None, "foreign_keys", false)
        .and_then(|()| conn.pragma_update(None, "synchronous", "off"))
        .and_then(|()| conn.execute_batch(schema))
        .and_then(|()| conn.execute_batch(sql))
        .map_err(|e| e.to_string())?;
    drop(conn);
    let bytes = std::fs::read(&path).map_err(|e| e.to_string())?;
    Ok(("state.db".to_owned(), bytes))
}
