//! Lists known disagreements between pages, which do not fail the tests. A test fails if a listed disagreement no
//! longer occurs, so that the list gets shorter.

/// Pairs of a run's name and the beginning of the report of its disagreement.
const KNOWN: &[(&str, &str)] = &[];

/// Removes the known disagreements of a run, and adds a report for each of them that no longer occurs.
pub(crate) fn without(run: &str, told: Vec<String>) -> Vec<String> {
    let known = KNOWN.iter().filter(|(of, _)| *of == run);
    let gone = known
        .clone()
        .filter(|(_, begins)| !told.iter().any(|told| told.starts_with(begins)))
        .map(|(_, begins)| format!("agrees now, remove it from KNOWN: {begins}"));
    let gone: Vec<String> = gone.collect();
    let is_known = |told: &String| known.clone().any(|(_, begins)| told.starts_with(begins));
    let new = told.iter().filter(|told| !is_known(told)).cloned();
    new.chain(gone).collect()
}
