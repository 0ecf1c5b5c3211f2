//! Tests that docs/reference/checks contains a copy of each page of rules, and an index.
//! `PROSE_WRITE_DOCS=1` (`cargo xtask docs`) writes them anew.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use prosescope_core::pages::check::rules;
use prosescope_core::pages::view::RuleView;

const INDEX: &str = "# Checks

The rules of issues: those of `prosescope check`, of the other commands, and of the viewer. Reading never fails on any of
them. A rule's name is stable: scripts may rely on it. `prosescope check --explain RULE` prints what is written here.

- **error**: something could not be read, or contradicts itself so that a fact shown may be wrong.
- **warning**: a deviation that was read around; what is shown may be incomplete.
- **note**: worth knowing; nothing is lost.

The line below a rule's name gives its severity and its source: a numbered [decision](../../contribute/errata.md), another
page, or a chapter of [OpenProse's documents](../../contribute/errata.md#the-documents-of-openprose). An example shows the
least that yields the rule. SQL runs on a fresh `state.db` of OpenProse's schema, or on an empty database where that is said.
";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns the pages of rules, by name.
pub(crate) fn sources() -> BTreeMap<String, String> {
    let folder = root().join("core/src/pages/check/rules");
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let page = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().unwrap();
        (name, fs::read_to_string(entry.path()).unwrap())
    };
    entries.map(page).collect()
}

/// Returns the title of a page, and the text between its title and its first rule.
fn head(page: &str) -> (&str, &str) {
    let (head, _) = page.split_once("\n## ").unwrap();
    let (title, about) = head.split_once('\n').unwrap();
    (title.strip_prefix("# ").unwrap(), about.trim())
}

fn severities(rule: &RuleView) -> String {
    let words: Vec<&str> = rule.severities.iter().map(|s| s.word()).collect();
    words.join(" or ")
}

/// Returns the index page: the areas in the order of the rules, then all rules by name.
fn index(sources: &BTreeMap<String, String>) -> String {
    let mut page = INDEX.to_owned();
    let files: BTreeMap<&str, (&str, &str)> = sources
        .iter()
        .map(|(file, text)| (head(text).0, (file.as_str(), head(text).1)))
        .collect();
    page.push_str("\n## Pages\n\n");
    let mut area = "";
    for rule in rules() {
        if rule.area != area {
            area = &rule.area;
            let (file, about) = files[area];
            let _ = writeln!(page, "- [{area}]({file}): {about}");
        }
    }
    page.push_str("\n## By name\n\n| rule | severity | meaning |\n|---|---|---|\n");
    let by_name: BTreeMap<&str, &RuleView> =
        rules().iter().map(|rule| (&*rule.name, rule)).collect();
    for (name, rule) in by_name {
        let (file, _) = files[&*rule.area];
        let (severity, meaning) = (severities(rule), rule.meaning.replace('|', "\\|"));
        let _ = writeln!(page, "| [{name}]({file}#{name}) | {severity} | {meaning} |");
    }
    page
}

#[test]
fn the_reference_has_the_pages_of_rules() {
    let sources = sources();
    let index = index(&sources);
    let copy = |(name, text): (String, String)| {
        // The links of the source page lead to docs from its own place.
        let text = text
            .replace("](../../../../../docs/reference/", "](../")
            .replace("](../../../../../docs/", "](../../");
        let from = format!("<!-- A copy of core/src/pages/check/rules/{name}: edit that page. -->");
        let page = format!("{from}\n\n{text}\nSee also: [all checks by name](README.md)\n");
        (name, page)
    };
    let mut pages: BTreeMap<String, String> = sources.into_iter().map(copy).collect();
    pages.insert("README.md".to_owned(), index);
    let folder = root().join("docs/reference/checks");
    if std::env::var_os("PROSE_WRITE_DOCS").is_some() {
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        for (name, text) in &pages {
            fs::write(folder.join(name), text).unwrap();
        }
    }
    for (name, text) in &pages {
        let written = fs::read_to_string(folder.join(name)).unwrap_or_default();
        assert!(
            written == *text,
            "docs/reference/checks/{name} is out of date: run `cargo xtask docs`"
        );
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), pages.len());
}

#[test]
fn every_page_of_rules_is_read_whole() {
    let mut read = 0;
    for (file, text) in sources() {
        let (area, _) = head(&text);
        let is_read = |line: &&str| !line.starts_with("<!-- shown by ");
        let lines = text.split_inclusive('\n').filter(is_read);
        let text: String = lines.map(without_targets).collect();
        let (head, _) = text.split_once("\n## ").unwrap();
        let mut expected = head.to_owned();
        for rule in rules().iter().filter(|rule| rule.area == area) {
            read += 1;
            expected.push_str(&entry(rule));
        }
        let squeezed = |text: &str| text.trim_end().to_owned();
        let differs = text.lines().zip(expected.lines()).find(|(a, b)| a != b);
        assert!(
            squeezed(&text) == squeezed(&expected),
            "{file}: {differs:?}"
        );
    }
    assert_eq!(read, rules().len(), "a page of rules is not included");
}

/// Returns a line in which each link is replaced by its words.
fn without_targets(line: &str) -> String {
    if !line.contains(" · ") {
        return line.to_owned();
    }
    let parts = line.split("](").enumerate();
    let words = parts.map(|(n, part)| match part.split_once(')') {
        Some((_, after)) if n > 0 => after,
        _ => part,
    });
    words.collect::<String>().replace('[', "")
}

/// Returns the text about a rule, as the rule's Markdown page must contain it.
fn entry(rule: &RuleView) -> String {
    let mut out = format!(
        "\n## {}\n\n{} · {}\n\n{}\n\n**Why is this bad:** {}\n\n**What to do:** {}\n",
        rule.name,
        severities(rule),
        rule.source,
        rule.meaning,
        rule.why,
        rule.fix
    );
    for part in &rule.example {
        if part.language.is_empty() {
            let _ = write!(out, "\nExample: {}\n", part.text);
            continue;
        }
        let title = if part.title.starts_with("SQL") {
            part.title.clone()
        } else {
            format!("`{}`", part.title)
        };
        let ticks = "`".repeat(if part.text.contains("```") { 4 } else { 3 });
        let (language, text) = (&part.language, &part.text);
        let _ = write!(out, "\n{title}\n\n{ticks}{language}\n{text}\n{ticks}\n");
    }
    out
}
