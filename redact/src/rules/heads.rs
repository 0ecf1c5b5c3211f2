//! Rules for HTTP headers, cookies, URLs and connection strings. Sources: RFC 6750, 7617, 9110, 6265, 3986; the pages
//! of libpq, MongoDB, Redis, RabbitMQ, SqlClient and JDBC on connection strings; the key URI of one-time passwords.

use std::ops::Range;

use crate::hit::floor;
use crate::plausible;
use crate::rule::Rule;

pub(super) const RULES: &[Rule] = &[
    Rule::place(
        "authorization",
        "The HTTP headers Authorization and Proxy-Authorization, of any scheme",
        &["authorization"],
        r#"(?i)authorization["'`\\]{0,4}\s{0,4}[:=,]{1,2}\s{0,4}["'`\\]{0,4}(?:(?:bearer|basic|token|digest|negotiate|ssws|apikey|api-key|api-token|key|bot|splunk|flyv1|genie-?key|klaviyo-api-key|aws4-hmac-sha256)[ :]{1,4}["'`]?)?([A-Za-z0-9._~+/=:|-]{8,})"#,
        ["Authorization: Bearer ⟦{w:40}⟧", "{\"authorization\": \"Basic ⟦{b:26}==⟧\"}"],
        ["Authorization: Bearer <your token>", "Authorization: required"],
    )
    .begin()
    .check(credential),
    Rule::place(
        "bearer-token",
        "Bearer tokens outside an HTTP header",
        &["bearer "],
        r"(?i)bearer\s{1,4}([A-Za-z0-9._~+/-]{20,}={0,2})",
        ["-H 'x: Bearer ⟦{A:40}⟧'", "bearer ⟦{A:24}⟧"],
        ["bearer authentication is required", "Bearer YOUR_TOKEN"],
    )
    .begin()
    .check(plausible::random),
    Rule::place(
        "api-key-head",
        "HTTP headers with API keys: X-API-Key, X-Auth-Token, Api-Key, PRIVATE-TOKEN and the like",
        &["x-api-key", "x-auth-token", "api-key", "private-token", "x-access-token", "x-vault-token", "xi-api-key", "job-token", "apikey", "x-csrf-token"],
        r#"(?i)(?:x-api-key|x-auth-token|api-key|private-token|x-access-token|x-vault-token|xi-api-key|job-token|apikey|x-csrf-token)["'`\\]{0,4}\s{0,4}[:=,]\s{0,4}["'`\\]{0,4}([A-Za-z0-9._~+/=|-]{12,})"#,
        ["X-API-Key: ⟦{A:32}⟧", "curl -H 'PRIVATE-TOKEN: ⟦{w:30}⟧'"],
        ["X-API-Key: your-api-key-here", "api-key: required"],
    )
    .check(plausible::random),
    Rule::place(
        "cookie",
        "The HTTP headers Cookie and Set-Cookie",
        &["cookie:", "cookie\":", "cookie':", "_session="],
        r#"(?i)(?:cookie["']?:\s{0,4}["'\\]{0,3}([^\s"'\\;,=]{1,64}=[^\s"'\\;,]{6,}(?:;\s?[^\s"'\\;,=]{1,64}=[^\s"'\\;,]+)*)|_session=([A-Za-z0-9%._+/=-]{16,}))"#,
        ["Cookie: ⟦sessionid={a:32}; csrftoken={A:32}⟧", "_gitlab_session=⟦{h:32}⟧"],
        ["Cookie: none", "Cookie: theme=x"],
    )
    .check(cookie),
    Rule::code(
        "url-password",
        "Passwords in URLs of databases, brokers, code hosts and others, and tokens in place of a user name",
        &["://"],
        |text, slashes| Ok(user_of_url(text, slashes.end)),
        [
            "postgres://app:⟦{A:16}⟧@db.internal:5432/app",
            "https://⟦{A:40}⟧@github.com/x/y",
        ],
        [
            "postgres://user:password@localhost/app",
            "https://a-long-name-of-somebody@example.com:8080/a@b",
        ],
    ),
    Rule::place(
        "curl-user",
        "Passwords in curl's option -u",
        &["-u ", "--user "],
        r#"(?:-u|--user)\s{1,4}["']?[A-Za-z0-9_.@-]{1,64}:([^\s"'`]{6,})"#,
        ["curl -u admin:⟦{A:14}⟧ https://example.com/", "curl --user 'me:⟦{p:14}⟧' x"],
        ["curl -u user:password x", "docker run -u 1000:1000 image"],
    )
    .check(user_password),
    Rule::place(
        "netrc-password",
        "Passwords in .netrc",
        &["machine "],
        r"machine\s{1,4}\S{1,255}\s{1,8}login\s{1,4}\S{1,255}\s{1,8}password\s{1,4}(\S{6,256})",
        ["machine api.example.com login me password ⟦{A:18}⟧", "machine h\n  login me\n  password ⟦{A:18}⟧"],
        ["machine learning login", "machine h login me password <password>"],
    ),
    Rule::place(
        "otp-secret",
        "Secrets of one-time passwords in otpauth:// URIs",
        &["otpauth://"],
        r#"otpauth://[^\s"'<>]{1,256}?secret=([A-Za-z2-7]{16,})"#,
        ["otpauth://totp/x:me?secret=⟦{32:32}⟧&issuer=x", "otpauth://hotp/a?counter=1&secret=⟦{32:16}⟧"],
        ["otpauth://totp/x:me", "otpauth://totp/x?secret=ABC"],
    ),
    Rule::place(
        "jwk-private",
        "Private parts of JSON Web Keys",
        &["\"d\""],
        r#""d"\s{0,4}:\s{0,4}"([A-Za-z0-9_-]{40,})""#,
        ["{\"kty\":\"EC\",\"d\":\"⟦{w:43}⟧\"}", "\"d\": \"⟦{w:43}⟧\""],
        ["{\"d\":\"short\"}", "{\"x\":\"{w:43}\"}"],
    )
    .check(plausible::random),
    Rule::place(
        "password-hash",
        "Hashed passwords: bcrypt, crypt, Argon2, Apache",
        &["$2a$", "$2b$", "$2y$", "$5$", "$6$", "$y$", "$apr1$", "$argon2"],
        r"\$(?:2[aby]\$[0-9]{2}\$[./A-Za-z0-9]{53}|[56]\$(?:rounds=[0-9]+\$)?[./A-Za-z0-9]{4,16}\$[./A-Za-z0-9]{43,86}|y\$[./A-Za-z0-9$]{40,}|apr1\$?[./A-Za-z0-9]{4,8}\$?[./A-Za-z0-9]{22}|argon2(?:id|i|d)\$v=[0-9]+\$[a-z0-9=,]+\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]{20,})",
        ["$2b$12${A:53}", "$6${A:16}${A:86}"],
        ["$2b$12", "cost $5$ each"],
    )
    .check(plausible::any),
];

/// Accepts the credentials of an HTTP scheme, of any length, if they look random and not like words.
fn credential(value: &str) -> bool {
    !plausible::placeholder(value)
        && value
            .bytes()
            .any(|b| b.is_ascii_digit() || matches!(b, b'=' | b'+' | b'/'))
        && plausible::random(value)
}

/// Accepts a cookie of at least 16 characters with a digit: a shorter cookie is usually a setting.
fn cookie(value: &str) -> bool {
    !plausible::placeholder(value) && value.len() >= 16 && value.bytes().any(|b| b.is_ascii_digit())
}

/// The longest user and password that are searched for in a URL, in bytes.
const LONGEST_USER: usize = 1024;

/// Returns the password before the host of a URL, or the user name if the user name is a token.
fn user_of_url(text: &str, start: usize) -> Option<Range<usize>> {
    let window = &text[start..floor(text, start + LONGEST_USER)];
    let end = window.find(|c: char| c.is_whitespace() || "/\"'`<>\\".contains(c));
    // A password can itself contain an `@`, so the last `@` before the host ends the password.
    let user = &window[..window[..end.unwrap_or(window.len())].rfind('@')?];
    let (at, secret) = match user.split_once(':') {
        Some((token, "" | "x-oauth-basic" | "x-token-auth")) => (0, token),
        Some((name, password)) => (name.len() + 1, password),
        None => (0, user),
    };
    let real = if at > 0 {
        secret.len() >= 2 && url_password(secret)
    } else {
        secret.len() >= 20 && plausible::random(secret)
    };
    real.then(|| start + at..start + at + secret.len())
}

/// Rejects placeholders, and texts with `//` or a leading `:`, which are another part of a URL.
fn url_password(value: &str) -> bool {
    !plausible::placeholder(value) && !value.starts_with(':') && !value.contains("//")
}

/// Accepts a password as [`url_password`] does, but rejects a number: `docker run -u 1000:1000` passes the ids of a
/// user and a group.
fn user_password(value: &str) -> bool {
    url_password(value) && !value.bytes().all(|b| b.is_ascii_digit())
}
