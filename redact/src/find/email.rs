//! Finds e-mail addresses.

use std::ops::Range;

use crate::hit::floor;
use crate::words::{WORDS, has};

/// Returns the e-mail address around an `@`, if the address can be a person's.
pub(super) fn address(text: &str, at: Range<usize>) -> Option<Range<usize>> {
    let letter = |c: char| c.is_ascii_alphanumeric() || ('\u{C0}'..='\u{24F}').contains(&c);
    let before = &text[floor(text, at.start.saturating_sub(64))..at.start];
    let local = before
        .rfind(|c: char| !(letter(c) || "._%+-".contains(c)))
        .map_or(before, |end| {
            let width = before[end..].chars().next().map_or(1, char::len_utf8);
            &before[end + width..]
        });
    // In JSON, the `n` of the escape `\n` is not part of the name.
    let escaped =
        text[..at.start - local.len()].ends_with('\\') && local.starts_with(['n', 't', 'r']);
    let local = if escaped { &local[1..] } else { local };
    let local = local.trim_start_matches(['.', '%', '+', '-', '_']);
    let start = at.start - local.len();
    let ahead = &text[at.end..floor(text, at.end + 255)];
    let domain = ahead
        .find(|c: char| !(letter(c) || c == '.' || c == '-'))
        .map_or(ahead, |end| &ahead[..end]);
    let domain = domain.trim_end_matches(['.', '-']);
    // In a URL, a user name and possibly a password precede the `@`; other rules find these, so this rule skips them.
    let token = text[floor(text, start.saturating_sub(128))..start]
        .rsplit(char::is_whitespace)
        .next()?;
    let url = token
        .rfind("://")
        .is_some_and(|slashes| !token[slashes + 3..].contains(['/', '?', '"', '\'', '<']));
    (!url && is_person(local, domain)).then(|| start..at.end + domain.len())
}

/// Returns the name of a person that an e-mail address reveals: `Anna Meier` of `anna.meier@…`.
pub(crate) fn person(address: &str) -> Option<String> {
    let (local, _) = address.split_once('@')?;
    let (first, last) = local.split_once('.')?;
    if has("email_thing", first) || has("email_thing", last) {
        return None;
    }
    let capital = |word: &str| {
        let mut letters = word.chars();
        let first = letters.next().filter(|c| c.is_alphabetic())?;
        let rest: String = letters.collect();
        let word = rest.chars().all(char::is_alphabetic) && !rest.is_empty();
        word.then(|| first.to_uppercase().chain(rest.chars()).collect::<String>())
    };
    Some(format!("{} {}", capital(first)?, capital(last)?))
}

/// Returns whether an e-mail address can be a person's: not an example, not a service (`git@`), not a file name.
fn is_person(local: &str, domain: &str) -> bool {
    let (local, domain) = (local.to_lowercase(), domain.to_lowercase());
    let labels: Vec<&str> = domain.split('.').collect();
    let top = labels.last().copied().unwrap_or_default();
    let formed = !local.is_empty()
        && !local.ends_with('.')
        && labels.len() >= 2
        && labels
            .iter()
            .all(|label| !label.is_empty() && !label.starts_with('-') && !label.ends_with('-'))
        && (2..=24).contains(&top.len())
        && top.bytes().all(|b| b.is_ascii_alphabetic());
    let example = WORDS["email_example"].iter().any(|of| {
        domain == *of
            || top == of
            || domain
                .strip_suffix(of.as_str())
                .is_some_and(|at| at.ends_with('.'))
    });
    let file = has("email_file", top);
    let service = has("email_service", &local);
    formed && !(example || file || service)
}
