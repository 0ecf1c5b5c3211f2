//! Describes the rule of each issue: what it means, why the fault is bad, what to do, and an input that produces it.
//!
//! An [`Issue`](crate::model::issue::Issue) contains the name of its rule, what was found, and what to do in that case.
//! The general meaning of a rule is described once, in the pages of the folder `rules`, one page for each area. This
//! module reads these pages for `prosescope check --explain`, SARIF and the viewer; `cargo xtask docs` copies them to
//! docs/reference/checks/. A new rule is a new entry in one of the pages.
//!
//! Tests ensure that the pages contain exactly the rules that the sources use (`tests/tests/e2e/rules.rs`), and that
//! each example produces an issue of its rule (`core/tests/checks`).

pub mod issues;
mod report;
mod sarif;
mod source;

use std::sync::LazyLock;

use crate::model::issue::Severity;
use crate::pages::view::{ExamplePart, RuleView};

pub use report::report;
pub use sarif::sarif;
pub use source::source;

/// The Markdown pages that describe the rules, in the order in which areas are listed.
const PAGES: [&str; 13] = [
    include_str!("rules/databases.md"),
    include_str!("rules/schema.md"),
    include_str!("rules/values.md"),
    include_str!("rules/bindings.md"),
    include_str!("rules/agents.md"),
    include_str!("rules/folders.md"),
    include_str!("rules/state-files.md"),
    include_str!("rules/logs.md"),
    include_str!("rules/program.md"),
    include_str!("rules/trace.md"),
    include_str!("rules/gates.md"),
    include_str!("rules/gate-records.md"),
    include_str!("rules/audit.md"),
];

static RULES: LazyLock<Vec<RuleView>> =
    LazyLock::new(|| PAGES.iter().flat_map(|page| read(page)).collect());

/// Returns every rule, in the order of the pages that describe them.
pub fn rules() -> &'static [RuleView] {
    &RULES
}

/// Returns the rule with this name.
pub fn rule(name: &str) -> Option<&'static RuleView> {
    rules().iter().find(|rule| rule.name == name)
}

/// Parses a page of rules. The page's title is the area. Each rule has a heading, a line with severities and source,
/// the meaning, why the fault is bad, what to do, and the parts of an example.
fn read(page: &str) -> Vec<RuleView> {
    let mut rules: Vec<RuleView> = Vec::new();
    let (mut area, mut title) = ("", "");
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_prefix("## ") {
            rules.push(RuleView {
                name: name.to_owned(),
                area: area.to_owned(),
                ..RuleView::default()
            });
        } else if let Some(heading) = line.strip_prefix("# ") {
            area = heading;
        }
        let Some(rule) = rules.last_mut().filter(|_| !line.starts_with('#')) else {
            continue;
        };
        let part = |title: &str, language: &str, text: &str| ExamplePart {
            title: title.to_owned(),
            language: language.to_owned(),
            text: text.to_owned(),
        };
        if rule.severities.is_empty() {
            if let Some((words, source)) = line.split_once(" · ") {
                rule.severities = words.split(" or ").map(severity).collect();
                rule.source = without_targets(source);
            }
        } else if rule.meaning.is_empty() {
            line.clone_into(&mut rule.meaning);
        } else if let Some(why) = line.strip_prefix("**Why is this bad:** ") {
            why.clone_into(&mut rule.why);
        } else if let Some(fix) = line.strip_prefix("**What to do:** ") {
            fix.clone_into(&mut rule.fix);
        } else if let Some(words) = line.strip_prefix("Example: ") {
            rule.example.push(part("", "", words));
        } else if line.starts_with("```") {
            let language = line.trim_start_matches('`');
            let end = line.strip_suffix(language).unwrap_or(line);
            let text: Vec<&str> = lines.by_ref().take_while(|line| *line != end).collect();
            rule.example.push(part(title, language, &text.join("\n")));
        } else if !line.is_empty() {
            let path = line
                .strip_prefix('`')
                .and_then(|line| line.strip_suffix('`'));
            title = path.unwrap_or(line);
        }
    }
    rules
}

/// Returns a text in which each Markdown link is replaced by its words.
fn without_targets(text: &str) -> String {
    let mut parts = text.split('[');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let link = part.split_once("](");
        let (shown, rest) = link.unwrap_or((part, ""));
        plain.push_str(shown);
        plain.push_str(rest.split_once(')').map_or("", |(_, after)| after));
    }
    plain
}

fn severity(word: &str) -> Severity {
    let all = [Severity::Error, Severity::Warning, Severity::Note];
    let known = all.into_iter().find(|known| known.word() == word);
    known.unwrap_or(Severity::Note)
}
