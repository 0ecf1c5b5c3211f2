//! Checks the links of the pages: each leads to a file of the checkout, a heading of a page, or a public address.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use prosescope_test_support::needs;

use crate::{PROJECT, blocks};

/// Pages of OpenProse, which readers of these docs may not have. The docs link to errata.md instead, which describes
/// these pages.
const NOT_OURS: &[&str] = &[
    "filesystem.md",
    "memoria.md",
    "postgres.md",
    "prose.md",
    "sqlite.md",
];
const OF_DECISIONS: &str = "docs/contribute/errata.md";

/// Returns the lines of a page that are outside of fenced blocks.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut fence = None;
    text.lines().filter(move |line| {
        let ticks = line.chars().take_while(|c| *c == '`').count();
        match fence {
            Some(open) if ticks == open && line.len() == ticks => {
                fence = None;
                false
            }
            Some(_) => false,
            None if ticks >= 3 => {
                fence = Some(ticks);
                false
            }
            None => true,
        }
    })
}

/// Returns a line without its code spans.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join(" ")
}

/// Returns the anchors of a page's headings, by GitHub's rules.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    let headings = prose(text).filter_map(|line| {
        let title = line.trim_start_matches('#');
        line.starts_with('#').then(|| title.strip_prefix(' '))?
    });
    headings
        .map(|title| {
            let name = anchor(title);
            let seen = times.entry(name.clone()).or_default();
            *seen += 1;
            match *seen {
                1 => name,
                n => format!("{name}-{}", n - 1),
            }
        })
        .collect()
}

fn anchor(title: &str) -> String {
    let lower = title.trim().to_lowercase();
    let kept = lower
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Returns the targets of a page's links.
fn links(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in prose(text) {
        for rest in without_code(line).split("](").skip(1) {
            found.extend(rest.split_once(')').map(|(target, _)| target.to_owned()));
        }
    }
    found
}

/// Resolves `..` in a path, without reading the disk.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(out.pop()),
            part => out.push(part),
        }
    }
    out
}

/// Returns the error of a link, if it has one.
fn wrong(page: &str, link: &str) -> Option<String> {
    if link.contains("://") {
        let known = link.starts_with("https://") || link.starts_with(PROJECT);
        return (!known).then(|| "not https".to_owned());
    }
    let (path, heading) = link.split_once('#').unwrap_or((link, ""));
    let folder = Path::new(page).parent().expect("a folder");
    let target = match path {
        "" => PathBuf::from(page),
        path => plain(&folder.join(path)),
    };
    let there = needs::root().join(&target);
    if !there.exists() {
        return Some("no such file".to_owned());
    }
    if heading.is_empty() {
        return None;
    }
    let text = std::fs::read_to_string(&there).unwrap_or_default();
    (!anchors(&text).contains(heading)).then(|| "no such heading".to_owned())
}

#[test]
fn every_link_of_a_page_leads_somewhere() {
    let (mut found, mut seen) = (Vec::new(), 0);
    for page in blocks::pages() {
        let text = std::fs::read_to_string(needs::root().join(&page)).expect("a page");
        for link in links(&text) {
            seen += 1;
            let why = wrong(&page, &link);
            found.extend(why.map(|why| format!("{page}: {link}: {why}")));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(seen > 150, "only {seen} links");
}

#[test]
fn no_page_names_a_document_that_its_reader_does_not_have() {
    let mut found = Vec::new();
    for page in blocks::pages().iter().filter(|page| *page != OF_DECISIONS) {
        let text = std::fs::read_to_string(needs::root().join(page)).expect("a page");
        for line in prose(&text) {
            // The test searches for names of OpenProse's documents, such as `sqlite.md`. The target of a link to a
            // Markdown file is skipped, because it is a page of these docs and may have such a name.
            let shown = line.split("](").map(|part| match part.split_once(')') {
                Some((target, rest)) if target.contains(".md") => rest,
                _ => part,
            });
            for shown in shown {
                let words = shown.split(|c: char| !c.is_alphanumeric() && !"._/{}-".contains(c));
                let names = words.map(|word| word.trim_end_matches('.'));
                let theirs = names.filter(|name| NOT_OURS.contains(name));
                found.extend(theirs.map(|name| format!("{page}: {name}: {line}")));
                let vague = ["the documents", "the document "]
                    .iter()
                    .any(|words| shown.to_lowercase().contains(words));
                found.extend(vague.then(|| format!("{page}: which document? {line}")));
            }
        }
        let cites = prose(&text).any(|line| line.contains("errata "));
        let leads = links(&text).iter().any(|link| link.contains("errata.md"));
        found.extend((cites && !leads).then(|| format!("{page}: cites errata, links no page")));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn headings_are_linked_by_their_names() {
    let page = "# A page: `x_y`, of 2\n```sh\n# none\n```\n## Again\n## Again\n";
    let expected = ["a-page-x_y-of-2", "again", "again-1"].map(str::to_owned);
    assert_eq!(anchors(page), BTreeSet::from(expected));
    assert_eq!(links("[a](b.md#c) `[no](no)` [d](e)"), ["b.md#c", "e"]);
}
