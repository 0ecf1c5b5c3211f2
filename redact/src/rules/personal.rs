//! Rules for personal data: home directories and e-mail addresses. The caller passes user and host names as exact
//! values.

use std::ops::Range;

use crate::hit::floor;
use crate::rule::Rule;

pub(super) const RULES: &[Rule] = &[
    Rule::place(
        "home",
        "Home directories: /home/…, /Users/…, C:\\Users\\…, also in URLs, in JSON, and in the folder names of Claude's projects",
        &["/home/", "/Users/", "\\Users\\", "%2fhome%2f", "%2fUsers%2f", "/-home-", "/-Users-"],
        r#"((?:[A-Za-z](?::|%3[Aa])[\\/]{0,4}|/mnt/[a-z]|/[a-z]|/var|/export)?(?:/home/|/Users/|(?:\\{1,4})?Users\\{1,4}|%2[Ff]home%2[Ff]|%2[Ff]Users%2[Ff])[^\s/\\"'`<>|:;,(){}\[\]*?%$&#@!=.…-][^\s/\\"'`<>|:;,(){}\[\]*?%$&#@!=…]{0,62})|/(-(?:home|Users)-[A-Za-z0-9_]{1,62})"#,
        ["cd ⟦/home/mira⟧/work/x.md", "{\"cwd\": \"⟦C:\\\\Users\\\\mira⟧\\\\x\"}"],
        ["/home/user/x", "https://example.com/users"],
    )
    .check(person)
    .back(&[8, 7, 6, 5, 4, 3, 2, 1, 0])
    .begin()
    .personal(),
    Rule::code(
        "email",
        "E-mail addresses",
        &["@"],
        |text, at| Ok(address(text, at)),
        [
            "Write to ⟦mira.k+news@mail.example-firm.de⟧.",
            "<⟦x@uni-bonn.de⟧>",
        ],
        ["git@github.com:x/y.git", "someone@example.com"],
    )
    .personal(),
];

/// Names of accounts that do not belong to a person: accounts of images, of services, of examples.
const NOBODY: [&str; 40] = [
    "user",
    "users",
    "username",
    "you",
    "your",
    "me",
    "name",
    "x",
    "xxx",
    "foo",
    "someone",
    "somebody",
    "runner",
    "runneradmin",
    "node",
    "ubuntu",
    "debian",
    "vscode",
    "app",
    "root",
    "admin",
    "shared",
    "public",
    "default",
    "guest",
    "alice",
    "bob",
    "test",
    "jovyan",
    "circleci",
    "gitpod",
    "codespace",
    "coder",
    "ec2-user",
    "vagrant",
    "linuxbrew",
    "git",
    "www-data",
    "sandbox",
    "containeradministrator",
];

/// Returns whether a home directory belongs to a person's account.
fn person(value: &str) -> bool {
    let name = value.rsplit(['/', '\\', '-']).next().unwrap_or_default();
    let name = name
        .rsplit("%2F")
        .next()
        .unwrap_or(name)
        .rsplit("%2f")
        .next()
        .unwrap_or(name);
    let lower = name.trim_end_matches('.').to_lowercase();
    !lower.is_empty()
        && !NOBODY.contains(&lower.as_str())
        && !lower.starts_with("your")
        && !lower.chars().all(|c| c == 'x' || c == '.')
}

/// Returns the e-mail address around an `@`, if the address can be a person's.
fn address(text: &str, at: Range<usize>) -> Option<Range<usize>> {
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
    (!url && person_at(local, domain)).then(|| start..at.end + domain.len())
}

/// Returns whether an e-mail address can be a person's: not an example, not a service (`git@`), not a file name.
fn person_at(local: &str, domain: &str) -> bool {
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
    let example = [
        "example.com",
        "example.org",
        "example.net",
        "domain.com",
        "email.com",
    ]
    .iter()
    .any(|e| domain == *e || domain.ends_with(&format!(".{e}")))
        || [
            "example",
            "test",
            "invalid",
            "localhost",
            "local",
            "internal",
        ]
        .contains(&top);
    let file = [
        "png", "jpg", "jpeg", "svg", "gif", "webp", "js", "ts", "tsx", "jsx", "mjs", "css", "html",
        "md", "json", "rs", "py", "prose", "yaml", "yml", "toml", "txt", "zip", "tgz", "gz", "whl",
        "lock", "go", "java", "rb", "sh",
    ]
    .contains(&top);
    let service = [
        "git",
        "noreply",
        "no-reply",
        "donotreply",
        "do-not-reply",
        "hg",
        "svn",
        "mailer-daemon",
    ]
    .contains(&local.as_str());
    formed && !(example || file || service)
}
