//! Seconds for each kind of text; `cargo run --release -p prosescope-redact --example speed`.
use std::time::Instant;

use prosescope_redact::{Exact, Names, Remains, Rules, replace, rules, shape};

fn main() {
    let start = Instant::now();
    let all = Rules::new();
    println!("built in {:?}", start.elapsed());
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
        let start = Instant::now();
        let mut names = Names::new();
        let hits = all.scan(text, &mut names);
        let scanned = start.elapsed();
        let out = replace(text, &hits);
        println!(
            "{what}: {} hits, scan {scanned:?}, with replacing {:?}, {}",
            hits.len(),
            start.elapsed(),
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
    let start = Instant::now();
    println!(
        "remains {:?} {:?}",
        Remains::of(&names).search(sources.as_bytes()),
        start.elapsed()
    );
    let mut slow: Vec<(f64, String)> = Vec::new();
    for rule in rules() {
        let shapes = rule
            .found
            .iter()
            .chain(&rule.kept)
            .map(|shape| shape::fill(shape, 1).replace(['⟦', '⟧'], ""));
        let cut = shapes.clone().map(|text| {
            text[..(0..text.len() - 1)
                .rev()
                .find(|at| text.is_char_boundary(*at))
                .unwrap_or(0)]
                .to_owned()
        });
        for text in rule
            .keywords_for_tests()
            .map(str::to_owned)
            .chain(shapes.clone())
            .chain(cut)
        {
            if text.is_empty() {
                continue;
            }
            let text = text.repeat(200_000 / text.len());
            let start = Instant::now();
            all.scan(&text, &mut Names::new());
            slow.push((
                start.elapsed().as_secs_f64(),
                format!("{} {:.60}", rule.id, text),
            ));
        }
    }
    slow.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (seconds, what) in slow.iter().take(25) {
        println!("{:.1} s/10MB {what:?}", seconds * 50.0);
    }
}
