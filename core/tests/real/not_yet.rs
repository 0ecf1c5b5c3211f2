//! Which facts of `fixtures/real.json` do not come out yet. The list can only get shorter: a test fails when a fact that
//! is listed here comes out.

/// Name of the case, key of its `expect`. `notes printed` are its notes in what the commands print.
pub(crate) const NOT_YET: &[(&str, &str)] = &[];

/// Keys that `cli/tests/real.rs` checks, as they are about what the commands print.
pub(crate) const PRINTED: [&str; 3] = ["text", "text_absent", "notes printed"];

/// Compares the facts that fail with the listed ones; `problems` says what is wrong with each that fails.
pub(crate) fn compare(printed: bool, problems: &[(String, String, String)]) -> Result<(), String> {
    let listed: Vec<(&str, &str)> = NOT_YET
        .iter()
        .copied()
        .filter(|(_, key)| PRINTED.contains(key) == printed)
        .collect();
    let fails = |(case, key): &(&str, &str)| {
        problems
            .iter()
            .any(|(failed, of, _)| failed == case && of == key)
    };
    let mut told: Vec<String> = problems
        .iter()
        .filter(|(case, key, _)| !listed.contains(&(case, key)))
        .map(|(case, key, why)| format!("{case}: {key}: {why}"))
        .collect();
    told.extend(
        listed
            .iter()
            .filter(|entry| !fails(entry))
            .map(|(case, key)| format!("{case}: {key} comes out now: remove it from NOT_YET")),
    );
    if told.is_empty() {
        Ok(())
    } else {
        Err(told.join("\n"))
    }
}
