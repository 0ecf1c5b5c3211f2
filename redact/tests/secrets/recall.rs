//! Measures how many of the secrets of two lists are replaced, and how many texts without secrets stay unchanged.
//!
//! Somebody who did not know the rules wrote the lists, weighted as secrets are in recorded sessions of agents. Whoever
//! changes a rule may read `planted-open.toml`; `planted-held.toml` measures the change and must not be read for it.

use std::collections::BTreeMap;

use prosescope_redact::{Rules, SecretNames, replace};
use serde::Deserialize;

#[derive(Deserialize)]
struct Lists {
    /// Kind, description and text of each planted secret, which the text has between `⟦` and `⟧`.
    #[serde(default)]
    planted: Vec<(String, String, String)>,
    /// Kind and text of each text without secrets.
    #[serde(default)]
    innocent: Vec<(String, String)>,
}

fn lists(text: &str) -> Lists {
    toml::from_str(text).expect("lists of texts")
}

fn redacted(text: &str) -> String {
    replace(text, &Rules::new().scan(text, &mut SecretNames::new()))
}

/// Returns of how many secrets, of a hundred, no line of at least four characters stays.
fn recall(name: &str, text: &str) -> usize {
    let mut kinds: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    for (kind, what, shape) in lists(text).planted {
        let filled = prosescope_redact::shape::fill(&shape, 1);
        let (before, rest) = filled.split_once('⟦').expect("a secret begins");
        let (secret, behind) = rest.split_once('⟧').expect("a secret ends");
        let redacted = redacted(&[before, secret, behind].concat());
        let mut lines = secret.lines().map(str::trim).filter(|line| line.len() >= 4);
        let stays = lines.any(|line| redacted.contains(line));
        if stays && std::env::var_os("SHOW_MISSED").is_some() && name == "open" {
            eprintln!("{kind} ({what}): {redacted}\n");
        }
        let of = kinds.entry(kind).or_default();
        of[0] += usize::from(!stays);
        of[1] += 1;
    }
    let sum = |n: usize| kinds.values().map(|of| of[n]).sum::<usize>();
    for (kind, [found, all]) in &kinds {
        eprintln!("{name}: {kind} {found} of {all}");
    }
    eprintln!("{name}: {} of {}", sum(0), sum(1));
    sum(0) * 100 / sum(1)
}

/// The numbers are those of the day on which the lists were written; a change of the rules may only raise them.
#[test]
fn secrets_that_somebody_else_planted_are_replaced() {
    let open = recall("open", include_str!("planted-open.toml"));
    let held = recall("held", include_str!("planted-held.toml"));
    assert!(
        open >= OPEN && held >= HELD,
        "{open} and {held} of a hundred"
    );
}
const OPEN: usize = 99;
const HELD: usize = 86;

#[test]
fn texts_without_secrets_stay() {
    let innocent = lists(include_str!("innocent.toml")).innocent;
    let changed: Vec<_> = innocent
        .iter()
        .filter(|(_, text)| redacted(text) != *text)
        .map(|(kind, text)| format!("{kind}: {}", redacted(text)))
        .collect();
    eprintln!(
        "{} of {} changed: {changed:#?}",
        changed.len(),
        innocent.len()
    );
    assert!(changed.len() <= CHANGED);
}
const CHANGED: usize = 4;

/// What the documentation says is not found is not found: so the list is neither too long nor made up.
#[test]
fn what_is_missed_is_documented() {
    #[derive(Deserialize)]
    struct MissedFile {
        missed: Vec<(String, String)>,
    }
    let file: MissedFile = toml::from_str(include_str!("missed.toml")).expect("rows of two");
    let docs = include_str!("../../../docs/reference/sharing.md");
    for (what, text) in file.missed {
        assert_eq!(redacted(&text), text, "{what} is found");
        assert!(
            docs.contains(&format!("- {what};\n")),
            "{what} is not in the docs"
        );
    }
}
