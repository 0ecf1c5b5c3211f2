//! Personal data: home directories and e-mail addresses. User and host names are exact values that a caller gives.

use crate::rule::Rule;

pub(super) const RULES: &[Rule] = &[
    Rule::place(
        "home",
        "Home directories: /home/…, /Users/…, C:\\Users\\…, and these in URLs, in JSON, and in names of Claude's projects",
        &["/home/", "/Users/", "\\Users\\", "%2fhome%2f", "%2fUsers%2f", "/-home-", "/-Users-"],
        r#"((?:[A-Za-z](?::|%3[Aa])[\\/]{1,4}|/mnt/[a-z]|/[a-z]|/var|/export)?(?:/home/|/Users/|(?:\\{1,4})?Users\\{1,4}|%2[Ff]home%2[Ff]|%2[Ff]Users%2[Ff])[^\s/\\"'`<>|:;,(){}\[\]*?%$&#@!=.…-][^\s/\\"'`<>|:;,(){}\[\]*?%$&#@!=…]{0,62})|/(-(?:home|Users)-[A-Za-z0-9_]{1,62})"#,
        ["cd ⟦/home/mira⟧/work/x.md", "{\"cwd\": \"⟦C:\\\\Users\\\\mira⟧\\\\x\"}"],
        ["/home/user/x", "https://example.com/users"],
    )
    .check(person)
    .back(14)
    .begin()
    .personal(),
    Rule::place(
        "email",
        "E-mail addresses",
        &["@"],
        r"://[^\s/@]{0,200}@|[A-Za-z0-9\x{C0}-\x{24F}](?:[A-Za-z0-9\x{C0}-\x{24F}._%+-]{0,62}[A-Za-z0-9\x{C0}-\x{24F}_+-])?@(?:[A-Za-z0-9\x{C0}-\x{24F}](?:[A-Za-z0-9\x{C0}-\x{24F}-]{0,61}[A-Za-z0-9\x{C0}-\x{24F}])?\.){1,8}[A-Za-z]{2,24}",
        ["Write to ⟦mira.k+news@mail.example-firm.de⟧.", "<⟦x@uni-bonn.de⟧>"],
        ["git@github.com:x/y.git", "someone@example.com"],
    )
    .check(address)
    .back(128)
    .begin()
    .personal(),
];

/// Accounts that are nobody's: of images, of services, of examples.
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

/// A home directory whose account is a person's.
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

/// An address that can be a person's: no example, no host of code, no file's name.
fn address(value: &str) -> bool {
    // Before a host in a URL stands a user, and maybe a password: other rules look at these.
    let Some((local, domain)) = value.split_once('@').filter(|_| !value.starts_with("://")) else {
        return false;
    };
    let (local, domain) = (local.to_lowercase(), domain.to_lowercase());
    let top = domain.rsplit('.').next().unwrap_or_default();
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
    .contains(&local.as_str())
        || domain == "users.noreply.github.com" && local.ends_with("[bot]")
        || local.starts_with("noreply");
    !(example || file || service)
}
