//! The list of planted secrets.

mod planted;

#[test]
fn at_least_a_hundred_kinds_each_with_its_source_and_another_secret_by_seed() {
    let mut names: Vec<_> = planted::kinds().map(|kind| kind.0).collect();
    assert!(names.len() >= 100, "{} kinds", names.len());
    names.sort_unstable();
    names.dedup();
    assert_eq!(
        names.len(),
        planted::kinds().count(),
        "two kinds have one name"
    );
    for kind in planted::kinds() {
        assert!(!kind.1.is_empty(), "{} has no source", kind.0);
        let (one, other) = (planted::plant(kind, 1), planted::plant(kind, 2));
        assert!(
            one.text.contains(&one.secret) && one.secret != other.secret,
            "{}",
            kind.0
        );
    }
}
