//! Suggests similar names when the command line contains an unknown name.

/// Minimum similarity of a suggestion, from 0 to 1. It allows one wrong, missing or swapped letter in a short name.
const ALIKE: f64 = 0.85;

/// Maximum number of names in a message.
const MOST: usize = 5;

/// Returns the names that are similar to `name`, the most similar first, without duplicates.
pub(crate) fn names<'n>(name: &str, all: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    let name = name.to_lowercase();
    let mut near: Vec<(f64, &str)> = all
        .into_iter()
        .map(|other| (strsim::jaro_winkler(&name, &other.to_lowercase()), other))
        .filter(|(alike, _)| *alike >= ALIKE)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    near.dedup_by_key(|(_, other)| *other);
    near.truncate(MOST);
    near.into_iter().map(|(_, other)| other).collect()
}

/// Returns a hint for an unknown name: similar names, else examples of existing names. Empty if no names exist.
pub(crate) fn hint<'n>(name: &str, all: impl IntoIterator<Item = &'n str>, what: &str) -> String {
    let mut all: Vec<&str> = all.into_iter().collect();
    all.sort_unstable();
    all.dedup();
    match (names(name, all.iter().copied()).as_slice(), all.len()) {
        ([], 0) => String::new(),
        ([], count) if count <= MOST => format!("{what}: {}", all.join(", ")),
        ([], count) => {
            all.truncate(MOST);
            format!("there are {count} {what}, such as {}", all.join(", "))
        }
        ([one], _) => format!("did you mean {one}?"),
        (near, _) => format!("did you mean one of {}?", near.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::hint;

    #[test]
    fn a_wrong_name_is_answered_with_those_that_are_nearly_it() {
        let some = ["research", "report", "Draft", "draft"];
        let many = ["a1", "b2", "c3", "d4", "e5", "f6"];
        for (name, all, said) in [
            ("reserch", &some[..], "did you mean research?"),
            ("DRAFT", &some, "did you mean one of Draft, draft?"),
            ("zzz", &some, "bindings: Draft, draft, report, research"),
            (
                "zzz",
                &many,
                "there are 6 bindings, such as a1, b2, c3, d4, e5",
            ),
            ("zzz", &[], ""),
        ] {
            assert_eq!(hint(name, all.iter().copied(), "bindings"), said, "{name}");
        }
    }
}
