//! Suggestions for an unknown table, column or function in an SQL statement.

use super::QueryTable;

/// Returns a hint for an unknown name: the most similar known name, and a list of known names. `kind` is SQLite's
/// word for the unknown thing: `column`, `table` or `function`.
pub(crate) fn instead(kind: &str, name: &str, sql: &str, tables: &[QueryTable]) -> String {
    // A qualified name: `t.stauts`.
    let name = name.rsplit('.').next().unwrap_or(name);
    let (known, listed) = match kind {
        "table" => {
            let names: Vec<&str> = tables.iter().map(|table| table.name.as_str()).collect();
            let listed = format!("The tables are {}.", names.join(", "));
            (names, listed)
        }
        "column" => {
            let named = words(sql);
            let asked = |table: &&QueryTable| named.contains(&table.name.to_lowercase());
            let asked: Vec<&QueryTable> = tables.iter().filter(asked).collect();
            let names = |table: &QueryTable| -> Vec<String> {
                table.columns.iter().map(|c| c.name.clone()).collect()
            };
            let lists: Vec<String> = asked
                .iter()
                .map(|table| {
                    format!(
                        "The columns of `{}` are {}.",
                        table.name,
                        names(table).join(", ")
                    )
                })
                .collect();
            let known = asked.iter().flat_map(|table| &table.columns);
            let known = known.map(|column| column.name.as_str()).collect();
            (known, lists.join(" "))
        }
        _ => (Vec::new(), String::new()),
    };
    match nearest(name, &known) {
        Some(near) => format!("Did you mean {near}? {listed}").trim().to_owned(),
        None => listed,
    }
}

/// Returns the words of a statement in lower case; they include every name that needs no quotes.
pub(crate) fn words(sql: &str) -> std::collections::BTreeSet<String> {
    sql.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// Returns the most similar known name: up to a third of the letters may be wrong, missing or swapped.
fn nearest<'n>(name: &str, known: &[&'n str]) -> Option<&'n str> {
    let wanted: Vec<char> = name.to_lowercase().chars().take(64).collect();
    let far = |other: &str| {
        let other: Vec<char> = other.to_lowercase().chars().take(64).collect();
        distance(&wanted, &other)
    };
    let near = known.iter().map(|other| (far(other), *other)).min()?;
    (near.0 <= wanted.len().div_ceil(3)).then_some(near.1)
}

/// Returns the edit distance: letters that are wrong, missing, surplus, or swapped with their neighbour.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, to) in b.iter().enumerate() {
            let at = |row: &[usize], j: usize| row.get(j).copied().unwrap_or(usize::MAX - 1);
            let mut least = (at(&last, j) + usize::from(from != to))
                .min(at(&last, j + 1) + 1)
                .min(at(&row, j) + 1);
            let swapped = i > 0 && j > 0 && a.get(i - 1) == Some(to) && b.get(j - 1) == Some(from);
            if swapped {
                least = least.min(at(&before, j - 1) + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_name_is_answered_with_the_nearest() {
        for (name, near) in [
            ("stauts", Some("status")),
            ("STATUS_", Some("status")),
            ("kin", Some("kind")),
            ("zzzzzz", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, &["status", "kind", "text"]), near, "{name}");
        }
        assert_eq!(nearest("a", &[]), None);
    }
}
