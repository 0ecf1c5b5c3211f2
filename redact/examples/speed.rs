//! Prints the processor time for each kind of text: `cargo run --release -p prosescope-redact --example speed`.
use prosescope_test_support::work::spent;

use prosescope_redact::{Exact, Remains, Rules, SecretNames, replace, rules, shape};

fn main() {
    let (all, built) = spent(Rules::new);
    println!("built in {built:?}");
    let mut sources = String::new();
    let mut open = vec![std::path::PathBuf::from(
        std::env::args().nth(1).unwrap_or("docs".into()),
    )];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            if entry.path().is_dir() {
                open.push(entry.path());
            } else if let Ok(text) = std::fs::read_to_string(entry.path()) {
                sources.push_str(&text);
            }
        }
    }
    while sources.len() < 10_000_000 {
        let more = sources.clone();
        sources.push_str(&more);
    }
    let to = (10_000_000..)
        .find(|at| sources.is_char_boundary(*at))
        .expect("a boundary");
    sources.truncate(to);
    let time = |what: &str, all: &Rules, text: &str| {
        let mut names = SecretNames::new();
        let (hits, scanned) = spent(|| all.scan(text, &mut names));
        let (out, replaced) = spent(|| replace(text, &hits));
        println!(
            "{what}: {} hits, scanned in {scanned:?}, replaced in {replaced:?}, {} bytes",
            hits.len(),
            out.len()
        );
        names
    };
    time("10 MB", &all, &sources);
    let mut exact = Rules::new();
    for n in 0..100 {
        exact
            .exact(Exact::secret("A", &shape::fill("{A:40}", n)))
            .expect("long");
    }
    time("10 MB, 100 values", &exact, &sources);
    let mut pattern = Rules::new();
    pattern
        .asked("/(?i)customer [A-Z][a-z]{1,40} (gmbh|inc)/")
        .expect("a pattern");
    time("10 MB, a pattern", &pattern, &sources);
    let mut pattern = Rules::new();
    pattern.asked("/(a?b?c?d?e?f?){8}z/").expect("a pattern");
    time("1 MB, a costly pattern", &pattern, &sources[..1_000_000]);
    let mut planted = String::new();
    for rule in rules() {
        for text in rule.examples().0 {
            planted.push_str(&text);
            planted.push('\n');
        }
    }
    let planted = planted.repeat(10_000_000 / planted.len());
    let names = time("10 MB of secrets", &all, &planted);
    let found = spent(|| Remains::of(&names).search(sources.as_bytes()));
    println!("remains: {found:?}");
    // These texts repeat a keyword, an example, or the beginning of an example; a pattern that fails late is slow on
    // such a text.
    let mut slow = Vec::new();
    for rule in rules() {
        let shapes = rule.found.iter().chain(&rule.kept);
        let shapes = shapes.map(|shape| shape::fill(shape, 1).replace(['⟦', '⟧'], ""));
        let cut = shapes
            .clone()
            .filter_map(|text| text.get(..text.len() - 1).map(str::to_owned));
        let keywords = rule.keywords.iter().cloned();
        for text in keywords.chain(shapes.clone()).chain(cut) {
            let repeated = text.repeat(100_000 / text.len().max(1));
            let (_, spent) = spent(|| all.scan(&repeated, &mut SecretNames::new()));
            slow.push((spent, &rule.id, text));
        }
    }
    slow.sort();
    for (_, id, text) in slow.iter().rev().take(40) {
        let repeated = text.repeat(1_000_000 / text.len().max(1));
        let (hits, spent) = spent(|| all.scan(&repeated, &mut SecretNames::new()));
        println!(
            "{spent:?} for 1 MB of {id}, {} hits: {text:.60?}",
            hits.len()
        );
    }
}
