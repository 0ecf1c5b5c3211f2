//! Each rule's example yields the rule, at a severity that the rule has.
#![allow(clippy::disallowed_methods)] // a test makes the databases that it reads

use std::path::Path;
use std::rc::Rc;

use prosescope_core::check::{AREAS, Example, Rule};
use prosescope_core::issue::Issue;
use prosescope_core::schema::STATE_SQL;
use prosescope_core::session::{Options, Session};
use prosescope_core::source::{MemorySource, Source};

/// Long after every time in the examples.
const NOW: i64 = 1_800_000_000_000;

#[test]
fn each_example_yields_its_rule() {
    let mut wrong = Vec::new();
    for rule in AREAS.iter().flat_map(|area| area.rules) {
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
        "these rules of core/src/check/rules have an example that does not show them:\n  {}",
        wrong.join("\n  ")
    );
}

#[test]
fn every_rule_says_what_it_means_and_what_to_do() {
    let mut names = std::collections::BTreeSet::new();
    for rule in AREAS.iter().flat_map(|area| area.rules) {
        let name = rule.name;
        assert!(names.insert(name), "{name} is registered twice");
        assert!(!rule.severities.is_empty(), "{name} has no severity");
        for (what, text) in [("meaning", rule.meaning), ("fix", rule.fix)] {
            assert!(text.ends_with('.'), "the {what} of {name} is no sentence");
        }
        assert!(!rule.source.is_empty(), "{name} does not say its source");
        if let Example::Told(words, place) = rule.example {
            let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(place);
            let text = std::fs::read_to_string(&place).unwrap_or_default();
            assert!(words.ends_with('.'), "the example of {name} is no sentence");
            assert!(
                text.contains(&format!("\"{name}\"")),
                "{} does not speak of {name}",
                place.display()
            );
        }
    }
}

/// The issues of a rule's example; `None` where it is told in words.
fn yielded(rule: &Rule) -> Result<Option<Vec<Issue>>, String> {
    let texts = |files: &[(&str, &str)]| -> Vec<(String, Vec<u8>)> {
        files
            .iter()
            .map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()))
            .collect()
    };
    let files = match rule.example {
        Example::Told(..) => return Ok(None),
        Example::Sql(sql) | Example::Resolve(sql, ..) => vec![state_db(STATE_SQL, sql)?],
        Example::Database(sql) => vec![state_db("", sql)?],
        Example::Files(files) => texts(files),
        Example::Beside(sql, files) => {
            let mut all = texts(files);
            all.push(state_db(STATE_SQL, sql)?);
            all
        }
    };
    let place = match &files[..] {
        _ if files.iter().any(|(path, _)| path.starts_with("runs/r1/")) => "runs/r1".to_owned(),
        [(only, _)] if only == "kept.md" => only.clone(),
        _ => String::new(),
    };
    let source: Rc<dyn Source> = Rc::new(MemorySource::new("example", files));
    let options = Options {
        now: Some(NOW),
        ..Options::default()
    };
    let session = Session::open(source, &place, &options).map_err(|e| e.to_string())?;
    let mut issues = session.check(options.now);
    if let Example::Resolve(_, name, from) = rule.example {
        issues.extend(session.resolve(name, from).issues);
    }
    Ok(Some(issues))
}

fn state_db(schema: &str, sql: &str) -> Result<(String, Vec<u8>), String> {
    let dir = tempfile::tempdir().map_err(|e| e.to_string())?;
    let path = dir.path().join("state.db");
    let conn = rusqlite::Connection::open(&path).map_err(|e| e.to_string())?;
    // As the sqlite3 program has them.
    conn.pragma_update(None, "foreign_keys", false)
        .and_then(|()| conn.pragma_update(None, "synchronous", "off"))
        .and_then(|()| conn.execute_batch(schema))
        .and_then(|()| conn.execute_batch(sql))
        .map_err(|e| e.to_string())?;
    drop(conn);
    let bytes = std::fs::read(&path).map_err(|e| e.to_string())?;
    Ok(("state.db".to_owned(), bytes))
}
