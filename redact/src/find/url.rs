//! Finds passwords and tokens before the host of a URL.

use std::ops::Range;

use crate::hit::floor;
use crate::plausible;

/// The longest user and password that are searched for in a URL, in bytes.
const LONGEST: usize = 1024;

/// Returns the password before the host of a URL, or the user name if the user name is a token.
pub(super) fn password(text: &str, start: usize) -> Option<Range<usize>> {
    let window = &text[start..floor(text, start + LONGEST)];
    let end = window.find(|c: char| c.is_whitespace() || "/\"'`<>\\".contains(c));
    // A password can itself contain an `@`, so the last `@` before the host ends the password.
    let user = &window[..window[..end.unwrap_or(window.len())].rfind('@')?];
    let (at, secret) = match user.split_once(':') {
        Some((token, "" | "x-oauth-basic" | "x-token-auth")) => (0, token),
        Some((name, password)) => (name.len() + 1, password),
        None => (0, user),
    };
    let real = if at > 0 {
        // A leading `:` is another part of a URL.
        secret.len() >= 2 && !plausible::placeholder(secret) && !secret.starts_with(':')
    } else {
        secret.len() >= 20 && plausible::random(secret)
    };
    real.then(|| start + at..start + at + secret.len())
}
