//! Measures how many planted secrets the rules find, by kind.
//!
//! Whoever wrote the lists did not see the rules. A row has a kind, what the text is, and the text, a shape whose part
//! between `⟦` and `⟧` is the secret. `planted-open.toml` may be used while rules are written; `planted-held.toml`, if
//! it is there, only measures them.

use std::collections::BTreeMap;
use std::path::Path;

use prosescope_redact::{Rules, SecretNames, replace};
use serde::Deserialize;

use crate::planted::{Kind, plant};

#[derive(Deserialize)]
struct PlantedFile {
    planted: Vec<Kind>,
}

/// The number of different secrets that are planted in each text.
const SEEDS: u64 = 5;
/// The share of secrets, in percent, that the rules find at least: of all, and of each kind.
const LEAST: (usize, usize) = (92, 75);

/// Returns whether a part of the secret remains that is worth something: the first or the last half of its longest line.
fn remains(redacted: &str, secret: &str) -> bool {
    let line = secret.lines().max_by_key(|line| line.len());
    let line = line.unwrap_or_default().trim();
    let half = (line.len() / 2..=line.len()).find(|at| line.is_char_boundary(*at));
    let (first, last) = line.split_at(half.unwrap_or_default());
    let long = |part: &str| part.len() >= 8 && redacted.contains(part);
    redacted.contains(line) || long(first) || long(last)
}

/// Plants each secret of a list, and returns by kind how many there are and how many are found.
fn measure(planted: &[Kind]) -> BTreeMap<&str, [usize; 2]> {
    let mut kinds = BTreeMap::<&str, [usize; 2]>::new();
    for row in planted {
        let mut missed = None;
        for seed in 0..SEEDS {
            let planted = plant(row, seed);
            let hits = Rules::new().scan(&planted.text, &mut SecretNames::new());
            let redacted = replace(&planted.text, &hits);
            let [all, found] = kinds.entry(&row.0).or_default();
            *all += 1;
            if remains(&redacted, &planted.secret) {
                missed.get_or_insert(redacted);
            } else {
                *found += 1;
            }
        }
        if let Some(missed) = missed {
            eprintln!("missed: {}, {}:\n{}\n", row.0, row.1, missed.trim_end());
        }
    }
    kinds
}

#[test]
fn most_secrets_of_every_kind_are_found_in_texts_written_without_the_rules() {
    for name in ["planted-open.toml", "planted-held.toml"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/secrets");
        let Ok(text) = std::fs::read_to_string(path.join(name)) else {
            assert_ne!(
                name, "planted-open.toml",
                "the open list is in the repository"
            );
            continue;
        };
        let file: PlantedFile = toml::from_str(&text).expect("rows of three texts");
        let kinds = measure(&file.planted);
        let [all, found] = kinds
            .values()
            .fold([0, 0], |sum, of| [sum[0] + of[0], sum[1] + of[1]]);
        let few = |[all, found]: [usize; 2], least: usize| found * 100 < all * least;
        let mut wrong = Vec::new();
        for (kind, of) in &kinds {
            eprintln!("{name} {kind}: {} of {}", of[1], of[0]);
            if few(*of, LEAST.1) {
                wrong.push(format!("{kind}: {} of {}", of[1], of[0]));
            }
        }
        eprintln!(
            "{name}: {found} of {all}, {:.1} %",
            found as f64 * 100.0 / all as f64
        );
        assert!(
            wrong.is_empty() && !few([all, found], LEAST.0),
            "{name}: {found} of {all}; too few of {wrong:#?}"
        );
    }
}
