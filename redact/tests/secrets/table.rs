//! Tests each rule by its own examples.

use std::collections::BTreeSet;

use prosescope_redact::{Rules, SecretNames, replace, rules, shape};

#[test]
fn each_rule_finds_its_examples_and_keeps_the_others() {
    let all = Rules::new();
    let mut wrong = Vec::new();
    for rule in rules() {
        if rule.found.is_empty() || rule.kept.is_empty() {
            wrong.push(format!("{} has no examples of both kinds", rule.id));
        }
        for (index, shape) in rule.found.iter().enumerate() {
            let marked = shape::fill(shape, 1);
            let text = marked.replace(['⟦', '⟧'], "");
            let secret = match marked.split_once('⟦') {
                Some((_, rest)) => rest.split('⟧').next().unwrap_or_default(),
                None => &text,
            };
            let hits = all.scan(&text, &mut SecretNames::new());
            let hit = hits.iter().find(|hit| hit.rule == rule.id);
            if hit.is_none_or(|hit| &text[hit.range.clone()] != secret) {
                wrong.push(format!("{} misses its example {index}: {hits:?}", rule.id));
            }
        }
        for (index, text) in rule.examples().1.iter().enumerate() {
            let hits = all.scan(text, &mut SecretNames::new());
            if hits.iter().any(|hit| hit.rule == rule.id) {
                wrong.push(format!(
                    "{} takes its counterexample {index}: {}",
                    rule.id,
                    replace(text, &hits)
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn ids_are_unique_and_fit_into_a_replacement() {
    let ids: Vec<_> = rules().map(|rule| rule.id.as_str()).collect();
    let unique: BTreeSet<_> = ids.iter().collect();
    assert_eq!(unique.len(), ids.len());
    for id in ids {
        assert!(
            id.bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'),
            "{id}"
        );
    }
}
