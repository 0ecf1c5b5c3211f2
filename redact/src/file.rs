//! Reads a user's file of rules, which has the form of `rules.toml`, and tests each rule by its examples.

use std::collections::BTreeSet;

use serde::Deserialize;
use toml::Spanned;

use crate::exact::ASKED;
use crate::merge::RawHit;
use crate::pattern::{self, RejectedPattern};
use crate::rule::Rule;
use crate::shape;
use crate::table::RuleTable;

/// The longest file that is read, in bytes.
pub const LONGEST_FILE: u64 = 256 << 10;
/// The most rules of a file. Together with the limit on each pattern, this bounds the memory and time to compile them.
const MOST: usize = 500;

/// The reason why a file of rules is rejected, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}{}: {what}", rule.as_ref().map(|id| format!(", rule {id}")).unwrap_or_default())]
pub struct WrongFile {
    /// The line of the fault, or that on which the rule with the fault begins.
    line: usize,
    rule: Option<String>,
    what: String,
}

/// Parses the rules of a file and tests them. `taken` contains the ids of other rules.
pub(crate) fn read(bytes: &[u8], taken: &BTreeSet<&str>) -> Result<RuleTable, WrongFile> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct RulesFile {
        rule: Vec<Spanned<toml::Table>>,
    }
    let wrong = |at: usize, rule: Option<&str>, what: String| WrongFile {
        line: 1 + bytes.iter().take(at).filter(|b| **b == b'\n').count(),
        rule: rule.map(str::to_owned),
        what,
    };
    let most = LONGEST_FILE >> 10;
    let large = format!(
        "the file is too large: at most {MOST} rules and {most} KB are allowed. Next: keep only the rules that you need"
    );
    if bytes.len() as u64 > LONGEST_FILE {
        return Err(wrong(0, None, large));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let what = "the file is not UTF-8 text. Next: save the file as UTF-8";
        wrong(error.valid_up_to(), None, what.to_owned())
    })?;
    let file: RulesFile = toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        let why = error.message();
        let what = format!("{why}. Next: correct this line; each rule begins with [[rule]]");
        wrong(at, None, what)
    })?;
    if file.rule.len() > MOST {
        return Err(wrong(0, None, large));
    }
    let mut rules: Vec<Rule> = Vec::new();
    let mut places = Vec::new();
    for table in file.rule {
        let at = table.span().start;
        let table = table.into_inner();
        let id = table.get("id").and_then(toml::Value::as_str);
        let id = id.map(str::to_owned);
        let fail = |what| wrong(at, id.as_deref(), what);
        let rule = Rule::deserialize(table).map_err(|error| {
            fail(format!(
                "{}. Next: correct the rule; docs/reference/sharing.md explains its keys",
                error.message().trim_end()
            ))
        })?;
        rule.valid().map_err(fail)?;
        if taken.contains(&*rule.id) || rules.iter().any(|known| known.id == rule.id) {
            return Err(fail(
                "another rule has this id. Next: choose another id".to_owned(),
            ));
        }
        rules.push(rule);
        places.push(at);
    }
    let table = RuleTable::new(rules);
    for (rule, at) in table.rules.iter().zip(places) {
        table
            .test(rule)
            .map_err(|what| wrong(at, Some(&rule.id), what))?;
    }
    Ok(table)
}

impl Rule {
    /// Checks everything but the examples. The error contains the next step.
    fn valid(&self) -> Result<(), String> {
        let in_id = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        let id = (1..=48).contains(&self.id.len()) && self.id.bytes().all(in_id);
        let short = |keyword: &String| keyword.chars().count() < 2 && self.find.is_none();
        let none = self.keywords.is_empty() && self.options.is_empty();
        let keywords = !none && !self.keywords.iter().any(short);
        let before =
            (1..=16).contains(&self.before.len()) && self.before.iter().all(|at| *at <= 256);
        let refusal = match (&self.pattern, self.find) {
            _ if !id || ["exact", "pattern", ASKED].contains(&self.id.as_str()) => {
                "this id cannot be used. Next: write at most 48 small letters, digits and hyphens, and not exact, pattern or asked"
            }
            _ if !keywords => {
                "a keyword is missing, or has only one character. Next: give texts, one of which each match contains"
            }
            _ if !before => {
                "before cannot be used. Next: give 1 to 16 numbers of at most 256, or leave the key out"
            }
            _ if self.found.is_empty() || self.kept.is_empty() => {
                "an example is missing. Next: add at least one text to found and one to kept"
            }
            (Some(pattern), None) => {
                return self
                    .compiles(pattern)
                    .map_err(|refused| refused.to_string());
            }
            (None, Some(_)) => return Ok(()),
            _ => "pattern and find are both given or both missing. Next: give one of them",
        };
        Err(refusal.to_owned())
    }

    fn compiles(&self, pattern: &str) -> Result<(), RejectedPattern> {
        pattern::unless_empty(pattern::compile(pattern, pattern::OF_RULE)?)?;
        for except in &self.except {
            pattern::compile(except, pattern::OF_RULE)?;
        }
        self.compile(pattern).map(|_| ())
    }
}

impl RuleTable {
    /// Tests a rule of this table by its examples. The error contains the next step.
    fn test(&self, rule: &Rule) -> Result<(), String> {
        let found = rule.found.iter().zip(1..).map(|of| ("found", of));
        let kept = rule.kept.iter().zip(1..).map(|of| ("kept", of));
        for (key, (shape, n)) in found.chain(kept) {
            let mut expected = shape::fill(shape, 1);
            if key == "found" && !expected.contains('⟦') {
                expected = format!("⟦{expected}⟧");
            }
            let text = expected.replace(['⟦', '⟧'], "");
            let hits = self.find(&text, &BTreeSet::new());
            let finds = match hits.into_iter().find(|hit| hit.rule == rule.id) {
                Some(RawHit { range, .. }) => {
                    let (before, after) = (&text[..range.start], &text[range.end..]);
                    format!("{before}⟦{}⟧{after}", &text[range])
                }
                None => text,
            };
            if finds != expected {
                return Err(format!(
                    "text {n} of {key} is to give {expected:.200?}, but the rule gives {finds:.200?}. Next: correct the text or the rule; a match begins at a keyword, or as before says, and passes check and except"
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_rules_are_a_valid_file_whose_examples_hold() {
        let read = read(include_bytes!("../rules.toml"), &BTreeSet::new());
        assert_eq!(read.err().map(|wrong| wrong.to_string()), None);
    }

    const RULE: &str = r#"
[[rule]]
id = "acme-key"
title = "Acme: API keys"
keywords = ["acme_"]
pattern = 'acme_[A-Za-z0-9]{20}'
found = ["key ⟦acme_{A:20}⟧ is new"]
kept = ["acme_short"]
"#;

    #[test]
    fn a_wrong_file_is_refused_with_its_line_and_its_rule() {
        let taken = BTreeSet::from(["taken"]);
        assert!(read(RULE.as_bytes(), &taken).is_ok());
        let many = RULE.repeat(501);
        for (from, to, says) in [
            ("[[rule]]", "[[rule]", "line 2: "),
            (
                "[[rule]]",
                "[[rules]]",
                "line 2: unknown field `rules`, expected `rule`",
            ),
            (RULE, "", "line 1: missing field `rule`"),
            (RULE, "rule = 1", "line 1: invalid type: integer"),
            (RULE, &many, "line 1: the file is too large"),
            (RULE, &"#".repeat(300_000), "line 1: the file is too large"),
            (
                "\"acme-key\"",
                "\"Acme key\"",
                "line 2, rule Acme key: this id cannot be used",
            ),
            ("\"acme-key\"", "\"asked\"", "this id cannot be used"),
            (
                "\"acme-key\"",
                "\"taken\"",
                "rule taken: another rule has this id",
            ),
            (
                RULE,
                &RULE.repeat(2),
                "line 10, rule acme-key: another rule has this id",
            ),
            ("\"acme-key\"", "7", "line 2: invalid type: integer"),
            (
                "title",
                "titel",
                "line 2, rule acme-key: unknown field `titel`, expected one of `id`",
            ),
            ("kept = [\"acme_short\"]", "", "missing field `kept`"),
            ("[\"acme_short\"]", "[]", "an example is missing"),
            ("[\"acme_\"]", "[]", "a keyword is missing"),
            (
                "[\"acme_\"]",
                "[\"a\"]",
                "a keyword is missing, or has only one character",
            ),
            ("[\"acme_\"]", "[\"key\"]", "but the rule gives"),
            ("{20}'", "{20'", "not a regular expression"),
            ("{20}'", "{20})|(x'", "not a regular expression"),
            ("{20}'", "{20}{1000}'", "too large"),
            ("acme_[A-Za-z0-9]{20}'", "(acme_)?'", "empty text"),
            ("pattern", "find = \"email\"\npattern", "both given"),
            (
                "pattern = 'acme_[A-Za-z0-9]{20}'",
                "find = \"luhn\"",
                "unknown variant `luhn`, expected one of `assigned-value`",
            ),
            (
                "found",
                "check = \"luhn\"\nfound",
                "unknown variant `luhn`, expected one of `token`",
            ),
            ("found", "except = [')']\nfound", "not a regular expression"),
            ("found", "except = ['^acme']\nfound", "text 1 of found"),
            ("found", "before = [-1]\nfound", "invalid value"),
            ("found", "before = []\nfound", "before cannot be used"),
            ("acme_short", "acme_{A:20}", "text 1 of kept"),
        ] {
            let text = RULE.replacen(from, to, 1);
            let wrong = read(text.as_bytes(), &taken).err().expect(says).to_string();
            assert!(
                wrong.contains(says) && wrong.contains("Next: "),
                "{wrong}\n{text}"
            );
        }
    }
}
